/* SPDX-License-Identifier: MIT */
/* Which process of a parallel job this is, as launchers of MPI and Slurm say in the
 * environment. */
#ifndef TACH_CORE_OS_RANK_H
#define TACH_CORE_OS_RANK_H

/* Looked up once. -1: of no job. */
int tach__rank(void);
/* How many ranks the job has; 1 where that is not said. Of those, on this machine: 0, unknown.
 */
int tach__rank_count(void);
int tach__rank_count_here(void);

#endif
