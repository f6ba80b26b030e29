/* SPDX-License-Identifier: MIT */
/* Signals, between what the program sees of them (signals.c) and what is there (deaths.c). */
#ifndef TOOLS_RUN_SIGNALS_H
#define TOOLS_RUN_SIGNALS_H

#include "tools/run/run.h"

/* ---- deaths.c ---- */

struct sigaction run_death_action(void);
int run_is_death_action(const struct sigaction *action);
int run_is_deadly(int number); /* by default it ends the process */

/* ---- signals.c ---- */

/* From now on deadly default actions are ours. The program sees the default. */
void run_signals_watch(void);

#endif
