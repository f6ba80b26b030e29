/* SPDX-License-Identifier: MIT */
/* libtach-openmp.so: declarations that its files share. */
#ifndef COMPAT_OPENMP_H
#define COMPAT_OPENMP_H

#include <tach.h>

#define OPENMP __attribute__((visibility("default")))

/* A place in the program that starts teams or tasks. Its sites are registered when entered. */
struct place {
	uintptr_t at;
	struct tach_site work, wait, task;
};

/* Returns the place of a return address, or NULL if there is no room. Makes no system call if
 * the place is known. */
struct place *openmp_place(const void *address);
/* Forgets all addresses: other code may be mapped there. */
void openmp_forget_places(void);

struct team {
	struct place *place;	 /* NULL: the team is not measured */
	struct tach_team around; /* the program's regions that enclose the team */
};

/* A thread's part in a team. */
struct member {
	struct team *team;
	int working, waiting;
	struct tach_help help; /* valid while working: for the regions around the team */
	struct tach_region_mark work, wait;
};

enum { OPENMP_DEPTH = 16, OPENMP_TASKS = 64 };

/* A task that a thread runs. */
struct task {
	/* joined, resumed: the thread works for the team only during the task */
	int measured, joined, resumed;
	struct tach_region_mark mark;
};

/* One thread, with its nested teams and tasks. Deeper ones are not measured. */
struct thread {
	unsigned depth, tasks, teams;
	struct member member[OPENMP_DEPTH];
	struct team team[OPENMP_DEPTH]; /* ompt.c: teams that it started */
	struct task task[OPENMP_TASKS];
	int is_worker; /* of the runtime: it is idle between its parts */
	int idle;
	struct tach_region_mark idling;
};

/* Returns a team that begins at that place, inside the open regions of the calling thread. */
struct team openmp_team(struct place *place);
/* Returns the calling thread's record, or NULL without memory. */
struct thread *openmp_thread(void);
/* The calling thread joins a team. is_worker: the thread has left all other teams. */
void openmp_join(struct team *team, int is_worker);
/* Ends the calling thread's part in its innermost team. is_waiting: it waits for the others. */
void openmp_finish(int is_waiting);
void openmp_leave(void);
/* Call both around a barrier inside the team's region. */
void openmp_wait_begin(void);
void openmp_wait_end(void);
/* Call both around a task, which may run after its thread has finished its part. */
void openmp_task_begin(struct place *place, struct team *team);
void openmp_task_end(void);

/* Set by ompt.c if the runtime calls it: then gomp.c must not measure the same team again. */
extern int openmp_has_tool;

#endif
