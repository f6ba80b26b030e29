/* SPDX-License-Identifier: MIT */
/*
 * Threads that work for a region of another thread: a pool's workers, the threads of a parallel
 * loop. A region counts its own thread. A helper counts its part in its own thread:
 *
 *	struct tach_team team;			in the owner, whose regions are open
 *	tach_team_take(&team);			hand it over with the work
 *
 *	struct tach_help help;			in a helper, around the work
 *	tach_team_join(&team, &help);
 *	tach_team_leave(&help);
 *
 * In reports, the row `NAME [helpers]` has the sums of the helpers, and `NAME [with team]` adds
 * those of the region itself. A thread counts once in a team: one that has the region open, or
 * helps already, may join without effect.
 */
#ifndef TACH_TEAM_H
#define TACH_TEAM_H

#include <tach/region.h>

#define TACH_TEAM_REGIONS 8 /* as many as a team names, the innermost ones */

/*
 * The regions that the owner had open, innermost first; NULL ends them. A value: copy it. The
 * sites belong to the library for ever, so it is valid after the owner has ended its regions,
 * and in a child of fork. Zeros are a team without regions.
 */
struct tach_team {
	struct tach_site *site[TACH_TEAM_REGIONS];
};

/* A helper's part, owned by the caller, usually on the helper's stack. It must not move. Its
 * content is private to the library. */
struct tach_help {
	struct tach_site
		site[TACH_TEAM_REGIONS]; /* copies, where the code of an edge expects */
	struct tach_region_mark mark[TACH_TEAM_REGIONS];
};

TACH_BEGIN_DECLS

/*
 * Fills *team with the open regions of the calling thread, and returns their number; 0: none is
 * open or measured. A region that is entered several times counts once. If more than
 * TACH_TEAM_REGIONS are open, the outermost ones have no helpers, and reports say so. No system
 * call, except the first time for each region.
 */
/* MT-Safe race:team | AS-Safe | AC-Safe | allocates */
TACH_API int tach_team_take(struct tach_team *team) TACH_NONNULL(1);
/*
 * The calling thread works for the team until tach_team_leave, on the same thread. The two are
 * edges of regions: without a system call from the second entry of a thread on, and nested with
 * the thread's own regions. The owner of the team may end its regions before its helpers leave.
 */
/* MT-Safe race:help | AS-Safe | AC-Safe | allocates */
TACH_API void tach_team_join(const struct tach_team *team, struct tach_help *help)
	TACH_NONNULL(1, 2);
/* A second call, and one without a join of zeros, does nothing. */
/* MT-Safe race:help | AS-Safe | AC-Safe | allocates */
TACH_API void tach_team_leave(struct tach_help *help) TACH_NONNULL(1);

/* Called by the inline, before the measured code: chooses the regions that begin. */
TACH_API void tach__team_joining(const struct tach_team *team,
				 struct tach_help *help) TACH_NOTHROW;

TACH_END_DECLS

/*
 * The outermost region begins first. Regions that do not begin have a site that is switched
 * off. So between two that begin is only the code of the edges, which is calibrated, and the
 * counts of each are exact.
 */
#define TACH__TEAM_START(i)                                                                    \
	TACH__CLEAR(help->mark[i].end);                                                        \
	TACH_UNLESS(help->site[i].id, off##i);                                                 \
	TACH_ADDRESS_PAD();                                                                    \
	help->site[i].begin(&help->site[i], &help->mark[i]);                                   \
	off##i:
#define TACH__TEAM_STOP(i)                                                                     \
	TACH_UNLESS(help->mark[i].end, off##i);                                                \
	help->mark[i].end(&help->mark[i]);                                                     \
	off##i:

TACH_API_INLINE void tach_team_join(const struct tach_team *team, struct tach_help *help)
{
	tach__team_joining(team, help);
	TACH__TEAM_START(7)
	TACH__TEAM_START(6)
	TACH__TEAM_START(5)
	TACH__TEAM_START(4)
	TACH__TEAM_START(3)
	TACH__TEAM_START(2)
	TACH__TEAM_START(1)
	TACH__TEAM_START(0);
}
TACH_STATIC_ASSERT(TACH_TEAM_REGIONS == 8, "tach_team_join begins all");

TACH_API_INLINE void tach_team_leave(struct tach_help *help)
{
	TACH__TEAM_STOP(0)
	TACH__TEAM_STOP(1)
	TACH__TEAM_STOP(2)
	TACH__TEAM_STOP(3)
	TACH__TEAM_STOP(4)
	TACH__TEAM_STOP(5)
	TACH__TEAM_STOP(6)
	TACH__TEAM_STOP(7);
}
#undef TACH__TEAM_START
#undef TACH__TEAM_STOP
#endif
