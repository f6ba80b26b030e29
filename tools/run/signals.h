/* SPDX-License-Identifier: MIT */
/*
 * Interface between the program's view of signals (signals.c) and the installed handlers
 * (deaths.c).
 */
#ifndef TOOLS_RUN_SIGNALS_H
#define TOOLS_RUN_SIGNALS_H

#include "tools/run/run.h"

/* ---- deaths.c ---- */

struct sigaction run_death_action(void);
int run_is_death_action(const struct sigaction *action);
int run_is_deadly(int number); /* returns 1 if the signal ends the process by default */

/* ---- signals.c ---- */

/*
 * After this we handle fatal signals that have their default action. The program still sees the
 * default.
 */
void run_signals_watch(void);

#endif
