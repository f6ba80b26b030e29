/* SPDX-License-Identifier: MIT */
/*
 * The interface between core and arch/. work.h: one event string and its register words.
 * registers.h: events and their PMC and PMD registers. identify.h and schedule.h: the
 * description of a machine by its architecture. arch.h: the functions of an architecture.
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
