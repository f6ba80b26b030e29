/* SPDX-License-Identifier: MIT */
/* The rank of this process in a parallel job, from the variables of MPI and Slurm launchers. */
#ifndef TACH_CORE_OS_RANK_H
#define TACH_CORE_OS_RANK_H

/* Returns the rank, looked up once, or -1 if the process belongs to no job. */
int tach__rank(void);
/* The first returns the number of ranks in the job; 1 if unknown. The second returns the number
 * of ranks on this machine; 0 if unknown. */
int tach__rank_count(void);
int tach__rank_count_here(void);

#endif
