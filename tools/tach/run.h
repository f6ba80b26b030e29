/* SPDX-License-Identifier: MIT */
/* `tach run`: declarations that its files share. */
#ifndef TOOLS_TACH_RUN_H
#define TOOLS_TACH_RUN_H

#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tach/report.h>
#include "tools/run/results.h"

#define RUN_OBJECT    "libtach-run.so"	     /* what is preloaded */
#define RUN_OPENMP    "libtach-openmp.so"    /* in the same folder, for --openmp */
#define RUN_FUNCTIONS "libtach-functions.so" /* the same, for --functions */
/* For programs of musl, if this command is not built with musl. */
#define RUN_OBJECT_MUSL "musl/" RUN_OBJECT
/*
 * A link to the object's folder, used if the folder's path contains a separator of LD_PRELOAD.
 */
#define RUN_LINK "lib"

/* Exit statuses of tach run itself, the same as env(1). */
enum { RUN_FAILED = 125, RUN_CANNOT = 126, RUN_MISSING = 127 };

/* Which threads share one row. */
enum run_rows { RUN_ALL, RUN_THREADS, RUN_PROCESSES, RUN_PROGRAMS };

struct run_arguments {
	const char *events, *metrics, *output, *format_name;
	const char *interrupts; /* TACH_INTERRUPTS */
	const char *ambient;
	const char *trace;
	char topdown[16]; /* "", or the metric that --topdown adds */
	enum tach_format format;
	enum run_rows rows;
	int outside, emulate;
	int openmp;
	const char *functions; /* globs, "": all; NULL: none */
	const char *turns;     /* TACH_TURNS */
	int passes;	       /* 0: one run; otherwise runs until all events are counted */
	double bound;	       /* --passes: tolerated difference of instructions, a fraction */
	double interval;       /* -I: seconds; 0: no series */
	pid_t process;	       /* -p; 0: the program's */
	int repeat;	       /* -r: how often; 0: once */
	size_t ncommands;      /* these follow each other from program on; a NULL ends each */
	int apart;	       /* each rank of a parallel job writes its own report */
	char **program;
	const char *path; /* --emulate: path of the program */
};

struct run_outcome {
	pid_t process;
	int status;	 /* from wait(2) */
	int exec_failed; /* errno of exec, already printed; 0: the program ran */
	double seconds;
	struct rusage usage;
};

/* ---- run_help.c ---- */

extern const char run_help[];

/* ---- run_arguments.c ---- */

/* Returns 0, 1 after printing the help, or an exit status after printing an error. */
int run_parse(struct run_arguments *a, int argc, char **argv);
/* Checks that events and metrics can be counted. Returns RUN_FAILED after printing why not. */
int run_check_events(const struct run_arguments *a);

/* ---- run_find.c ---- */

/* Finds RUN_OBJECT: in this program's folder, or in the lib folder next to it. */
int run_find_object(char *path, size_t size);
int run_find_file(char *path, size_t size, const char *name); /* the same for another file */
/* Searches PATH like execvp. */
int run_find_program(char *path, size_t size, const char *name);
/*
 * How RUN_OBJECT can be loaded into a program. It cannot be loaded without a dynamic linker, or
 * by the linker of another C library or of 32-bit programs. RUN_MUSL: RUN_OBJECT_MUSL can be
 * loaded.
 */
enum run_loading { RUN_LOADABLE, RUN_STATIC, RUN_FOREIGN, RUN_MUSL };

/* ---- run_outside.c: counters that are opened from outside and inherited ---- */

struct run_outside;
/*
 * Returns true, after printing it, if opening an event would kill this process and thus all
 * programs that it starts.
 */
int run_outside_forbidden(void);
/*
 * Prepares the events that `a` names, or the default events. Returns NULL after printing an
 * error.
 */
struct run_outside *run_outside_new(const struct run_arguments *a);
/* Counts from the program's next exec on. This function and the next one accept NULL. */
void run_outside_open(struct run_outside *o, pid_t process);
/* Call it when the program has ended. */
void run_outside_end(struct run_outside *o);
/* Returns one region for all processes, after their end, or NULL after printing an error. */
struct tach_snapshot *run_outside_take(struct run_outside *o, double seconds);
void run_outside_free(struct run_outside *o); /* NULL is fine */
/*
 * --ambient: only events of boxes, and metrics of them after a semicolon. They are in the row
 * of the whole machine. Returns NULL after printing an error.
 */
struct run_outside *run_ambient_new(const char *list);
/* Measurements that run next to the program, if requested. */
struct run_found;
struct run_series;
struct run_beside {
	struct run_outside *outside, *ambient; /* NULL: none */
	struct run_series *series; /* of outside; NULL: only one report at the end */
};

/* ---- run_attach.c: counters of a running process ---- */

/*
 * Counts all threads of a->process, and threads that they create. Returns nonzero after
 * printing an error.
 */
int run_attach(struct run_outside *o, const struct run_arguments *a);
/* --p without a program; returns the exit status. */
int run_process(const struct run_arguments *a);

/* ---- run_series.c ---- */

struct run_series {
	double interval; /* 0: it only watches */
	double begun, next, at, seconds;
	enum tach_format format;
	FILE *to;
	int rows, code; /* code: errno of a failed write */
};
/* Both return nonzero after printing an error. */
int run_series_begin(struct run_series *s, const struct run_arguments *a);
int run_series_end(struct run_series *s, const struct run_arguments *a);
/* Prints intervals until the process has ended or `signals` is readable (-1: no signals). */
void run_series_watch(struct run_series *s, struct run_outside *o, pid_t process, int signals);
/* Returns a descriptor for the signals that end tach run, and blocks these signals. */
int run_series_signals(void);

/* ---- run_ranks.c: one report of a parallel job ---- */

/* Returns true if this is one of several ranks that share one report. */
int run_ranks_wanted(const struct run_arguments *a);
/*
 * Adds this rank's report, or NULL. *all: the reports of all ranks if this is the
 * last one, else NULL. Returns nonzero after printing an error.
 */
int run_ranks_gather(const struct run_arguments *a, const struct tach_snapshot *mine,
		     struct tach_snapshot **all);
/* Replaces "%r" in the report's name by the rank. */
void run_ranks_file(struct run_arguments *a);

/* ---- run_repeat.c ---- */

/* -r; the exit status. */
int run_repeat(const struct run_arguments *a, const struct run_found *found);

/* ---- run_boxes.c ---- */

/* Returns true if a list contains events of boxes, which count for the whole machine. */
int run_has_boxes(const char *events);

/* ---- run_child.c ---- */

/*
 * Reserves the numbers of closed standard streams, so that none of our files gets one. They
 * stay closed for the program.
 */
void run_hold_streams(void);

/*
 * object, directory: what to preload, and where reports go; NULL: preload nothing. Waits for
 * the program's end. Returns -1 after printing an error.
 */
int run_child(const struct run_arguments *a, const char *object, const char *directory,
	      const struct run_beside *beside, struct run_outcome *outcome);

/* ---- run.c ---- */

/* The program to run and the object to preload. */
struct run_found {
	char object[4096], program[4096]; /* "": not searched, or not found */
	enum run_loading loading;
};
/*
 * Finds the program and the object to preload, unless it counts from outside. Returns 0, or
 * RUN_FAILED after printing an error.
 */
int run_find(const struct run_arguments *a, struct run_found *found);
struct run_reports;
/*
 * Runs the program once. `a` may be changed, for example to count from outside. Returns 0, or
 * the exit status after printing an error.
 */
int run_once(struct run_arguments *a, const struct run_found *found,
	     struct run_reports *reports, struct run_outcome *outcome);
/* Writes the report; returns nonzero after printing an error. */
int run_report(const struct run_arguments *a, const struct run_outcome *o,
	       struct run_reports *reports);
/* Returns the exit status for the way in which the program ended. */
int run_status(const struct run_outcome *o);

/* ---- run_places.c ---- */

/*
 * Names the regions of --openmp and --functions, and chooses those for text. Returns -1 after
 * printing an error.
 */
int run_name_places(const struct run_arguments *a, struct run_reports *reports);

/* ---- run_passes.c ---- */

/*
 * --turns: checks that the events make several sets. Returns RUN_FAILED after printing why not.
 */
int run_check_turns(const struct run_arguments *a);
/* ----passes; returns the exit status. */
int run_passes(struct run_arguments *a, const struct run_found *found);

/* ---- run_results.c ---- */

struct run_reports;
/*
 * Creates a descriptor of memory for reports and stores it in the environment. Returns -1 on
 * failure.
 */
int run_results_open(void);
/* Calls `take` for each report; returns its code. */
int run_results_collect(int fd, struct run_reports *reports, pid_t program,
			int (*take)(void *, const char *, size_t), void *context);

/* ---- run_collect.c ---- */

enum { RUN_GONE = 4 };
struct run_reports {
	struct tach_snapshot *whole; /* all reports added up; NULL: no process wrote a report */
	int of_program;		     /* set: the program itself wrote a report */
	int began, left; /* programs that were loaded, and how many of them wrote a report */
	int running;	 /* processes that still run and have not written a report */
	/* numbers of the first processes without a report; 0 ends the list */
	int gone[RUN_GONE];
	int confined; /* processes that wrote a report when they installed a seccomp filter */
	/* programs that ran unmeasured, by the reason, and the name of the first one */
	unsigned unmeasured[RUN_REASONS];
	char first_unmeasured[RUN_REASONS][64];
	int no_memory; /* processes without memory for their report */
};

/* ---- run_missing.c ---- */

/* Writes a note about missing processes into the report. */
void run_missing_note(const struct run_reports *reports);
/* Prints the note on standard error. */
void run_missing_print(const struct run_reports *reports);

/*
 * Reads and adds up the reports in that memory and that directory, and empties the directory.
 */
int run_collect(struct run_reports *reports, int results, const char *directory, pid_t program);
int run_collect_add(struct run_reports *reports, struct tach_snapshot *more);

#endif
