/* SPDX-License-Identifier: MIT */
/* Frees a snapshot. */
#include "core/os/memory.h"
#include "core/snapshot/snapshot.h"

void tach__snapshot_forget(struct tach_snapshot *s)
{
	struct tach__held held;

	tach__lock(&held);
	tach__config_drop(s->config);
	tach__unlock(&held);
	tach__plain_free_pages(&s->plain);
	tach__pages_free(s, sizeof *s);
}

void tach_snapshot_free(struct tach_snapshot *s)
{
	struct tach__held held;

	if (!s)
		return;
	if (s->config) {
		tach__lock(&held);
		tach__config_drop(s->config);
		tach__unlock(&held);
		tach__configs_sweep();
	}
	tach__plain_free(&s->plain);
	tach__pages_free(s, sizeof *s);
}
