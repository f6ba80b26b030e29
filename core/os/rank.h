/* SPDX-License-Identifier: MIT */
/* The rank of this process in a parallel job, from the variables of MPI and Slurm launchers. */
#ifndef TACH_CORE_OS_RANK_H
#define TACH_CORE_OS_RANK_H

/* Looked up once. -1: of no job. */
int tach__rank(void);
/* The number of ranks in the job; 1 if unknown. Ranks on this machine: 0 if unknown. */
int tach__rank_count(void);
int tach__rank_count_here(void);

#endif
