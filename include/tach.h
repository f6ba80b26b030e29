/* SPDX-License-Identifier: MIT */
/*
 * libtach: a thread reads its own hardware performance counters. This header has the whole
 * public API except <tach/dispatch.h> (register values for any PMU).
 */
#ifndef TACH_H
#define TACH_H

#include <tach/base.h>
#include <tach/bench.h>
#include <tach/change.h>
#include <tach/error.h>
#include <tach/pmu.h>
#include <tach/doctor.h>
#include <tach/schedule.h>
#include <tach/event.h>
#include <tach/derived.h>
#include <tach/formula.h>
#include <tach/set.h>
#include <tach/reader.h>
#include <tach/fault.h>
#include <tach/region.h>
#include <tach/task.h>
#include <tach/team.h>
#include <tach/snapshot.h>
#include <tach/report.h>
#include <tach/uncore.h>

#endif
