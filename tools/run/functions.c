/* SPDX-License-Identifier: MIT */
/* The hooks of `tach run --functions`, if libtach-functions.so is loaded too. */
#include <stdlib.h>
#include "compat/functions/face.h"
#include "core/os/sys.h"
#include "core/region/cost.h"
#include "core/region/region.h"
#include "tools/run/run.h"

static struct tach__functions *hooks;

/* At the first call of a function its hook does work that is not the program's. */
static void run_aside(void (*work)(void *), void *context)
{
	static const uint64_t none[TACH__SUMS];
	uint32_t level = TACH__LEVEL(tach__self->state);
	struct tach__cost cost;

	/* In a handler that interrupted the library. */
	if (tach__signals_held) {
		work(context);
		return;
	}
	tach__cost_begin(&cost, level);
	if (cost.record)
		tach__residue_ready(cost.record);
	work(context);
	tach__cost_end(&cost, none, level);
}

void run_functions_begin(void)
{
	struct tach__functions *found = NULL;

	if (getenv("TACH_FUNCTIONS"))
		found = dlsym(RTLD_DEFAULT, "tach__functions");
	if (!found || found->size < sizeof *found)
		return;
	hooks = found;
	hooks->aside = run_aside;
	hooks->prepare();
	tach__hooked_pair = hooks->pair;
}

void run_functions_end(void)
{
	if (hooks)
		hooks->close();
}
