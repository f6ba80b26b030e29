/* SPDX-License-Identifier: MIT */
/*
 * What arch/ gets and gives. The parts: work.h, one event string on its way to register words;
 * registers.h, events on their way to PMC and PMD registers; identify.h and schedule.h, what an
 * architecture tells of its machine; arch.h, what it provides.
 */
#ifndef TACH_CORE_PORT_H
#define TACH_CORE_PORT_H

#include "core/port/arch.h"
#include "core/port/identify.h"
#include "core/port/registers.h"
#include "core/port/schedule.h"
#include "core/port/solver.h"
#include "core/port/work.h"

#endif
