/* SPDX-License-Identifier: MIT */
/*
 * Teams: threads that work for a region of another thread, such as a pool's workers or the
 * threads of a parallel loop. A region counts only its own thread. A helper counts its own
 *work:
 *
 *	struct tach_team team;			in the owner, inside its regions
 *	tach_team_take(&team);			give the team to the helpers with the work
 *
 *	struct tach_help help;			in a helper, around the work
 *	tach_team_join(&team, &help);
 *	tach_team_leave(&help);
 *
 * In reports, the row `NAME [helpers]` has the sums of the helpers. `NAME [with team]` adds the
 * sums of the region itself. A thread counts once in a team: joining has no effect in a thread
 * that has the region open or helps already.
 */
#ifndef TACH_TEAM_H
#define TACH_TEAM_H

#include <tach/region.h>

#define TACH_TEAM_REGIONS 8 /* maximum number of regions in a team: the innermost ones */

/*
 * The regions that the owner had open, innermost first; NULL ends the list. You may copy a
 * team. It stays valid after the owner has ended its regions, and in a child of fork, because
 * the library never frees sites. Zeros are a team without regions.
 */
struct tach_team {
	struct tach_site *site[TACH_TEAM_REGIONS];
};

/* The state of a helper, owned by the caller, usually on the helper's stack. Do not move it.
 * Its content is private to the library. */
struct tach_help {
	struct tach_site site[TACH_TEAM_REGIONS]; /* copies: a region that does not begin is
						     switched off here */
	struct tach_region_mark mark[TACH_TEAM_REGIONS];
};

TACH_BEGIN_DECLS

/*
 * Fills *team with the open regions of the calling thread, and returns their number. Returns 0
 * if no region is open, or the open ones are not measured. A region that was entered several
 * times counts once. If more than TACH_TEAM_REGIONS are open, the outermost ones have no
 * helpers, and reports say so. Makes a system call only the first time for each region.
 */
/* MT-Safe race:team | AS-Safe | AC-Safe | allocates */
TACH_API int tach_team_take(struct tach_team *team) TACH_NONNULL(1);
/*
 * From this call on, the calling thread works for the team. It must call tach_team_leave
 * itself. The two calls are edges of regions: they nest with the thread's own regions, and from
 * the second entry of a thread on they make no system call. The owner of the team may end its
 * regions before its helpers leave.
 */
/* MT-Safe race:help | AS-Safe | AC-Safe | allocates */
TACH_API void tach_team_join(const struct tach_team *team, struct tach_help *help)
	TACH_NONNULL(1, 2);
/* Does nothing if *help contains zeros, or if the thread has left already. */
/* MT-Safe race:help | AS-Safe | AC-Safe | allocates */
TACH_API void tach_team_leave(struct tach_help *help) TACH_NONNULL(1);

/* Chooses the regions that begin. tach_team_join calls it before the measured code. */
TACH_API void tach__team_joining(const struct tach_team *team,
				 struct tach_help *help) TACH_NOTHROW;

TACH_END_DECLS

/*
 * The outermost region begins first. A region that does not begin has a site that is switched
 * off. So only code of edges, which calibration measures, runs between two regions that begin.
 * Therefore the counts of each region are exact.
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
