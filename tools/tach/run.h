/* SPDX-License-Identifier: MIT */
/* `tach run`: what its files share. */
#ifndef TOOLS_TACH_RUN_H
#define TOOLS_TACH_RUN_H

#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tach/report.h>

#define RUN_OBJECT	"libtach-run.so"   /* what is preloaded */
#define RUN_OBJECT_MUSL "musl/" RUN_OBJECT /* by programs of musl, where this one is not */
#define RUN_LINK	"lib" /* to its folder, where that has what separates names in LD_PRELOAD */

/* Of tach run itself, as env(1) has them. */
enum { RUN_FAILED = 125, RUN_CANNOT = 126, RUN_MISSING = 127 };

/* What a row of threads is. */
enum run_rows { RUN_ALL, RUN_THREADS, RUN_PROCESSES, RUN_PROGRAMS };

struct run_arguments {
	const char *events, *metrics, *output, *format_name;
	const char *interrupts; /* TACH_INTERRUPTS */
	const char *ambient;
	const char *trace;
	char topdown[16]; /* "", or what --topdown is among metrics */
	enum tach_format format;
	enum run_rows rows;
	int outside, emulate;
	const char *turns; /* TACH_TURNS */
	int passes;	   /* 0: once; else as often as it takes */
	double bound;	   /* --passes: what instructions may differ by, a fraction */
	double interval;   /* -I: seconds; 0: no series */
	pid_t process;	   /* -p; 0: the program's */
	int repeat;	   /* -r: how often; 0: once */
	int apart;	   /* each rank of a parallel job has its report */
	char **program;
	const char *path; /* --emulate: where it is */
};

struct run_outcome {
	pid_t process;
	int status;	 /* as wait gives it */
	int exec_failed; /* errno of exec, which was printed; 0: the program ran */
	double seconds;
	struct rusage usage;
};

/* ---- run_arguments.c ---- */

/* 0; 1: the help was printed; else the exit status, and why was printed. */
int run_parse(struct run_arguments *a, int argc, char **argv);
/* Whether events and metrics can be used; RUN_FAILED: printed. */
int run_check_events(const struct run_arguments *a);

/* ---- run_find.c ---- */

/* Where RUN_OBJECT is: beside this program, or in the lib folder beside its folder. */
int run_find_object(char *path, size_t size);
int run_find_file(char *path, size_t size, const char *name); /* the same for another file */
/* As execvp looks for a program. */
int run_find_program(char *path, size_t size, const char *name);
/* Whether RUN_OBJECT can be loaded into a program: not without a dynamic linker, and not by
 * that of another C library or of 32-bit programs. RUN_MUSL: RUN_OBJECT_MUSL can. */
enum run_loading { RUN_LOADABLE, RUN_STATIC, RUN_FOREIGN, RUN_MUSL };

/* ---- run_outside.c: counters that are opened from outside and inherited ---- */

struct run_outside;
/* Whether this process, and so all it starts, would be killed for opening an event: printed. */
int run_outside_forbidden(void);
/* What a names, or the usual; NULL: printed. */
struct run_outside *run_outside_new(const struct run_arguments *a);
/* From the program's next exec on. NULL is fine for this and the next. */
void run_outside_open(struct run_outside *o, pid_t process);
/* The program has ended. */
void run_outside_end(struct run_outside *o);
/* One region of all processes, after their end; NULL: printed. */
struct tach_snapshot *run_outside_take(struct run_outside *o, double seconds);
void run_outside_free(struct run_outside *o); /* NULL is fine */
/* --ambient: boxes alone, and after a semicolon metrics of them; NULL: printed. They
 * are the row of the whole machine. */
struct run_outside *run_ambient_new(const char *list);
/* Those that are there. */
struct run_found;
struct run_series;
struct run_beside {
	struct run_outside *outside, *ambient; /* NULL: none */
	struct run_series *series;	       /* of outside; NULL: one report at the end */
};

/* ---- run_attach.c: counters of a process that runs ---- */

/* Of all threads of a->process, and those that they will make; other than 0: printed. */
int run_attach(struct run_outside *o, const struct run_arguments *a);
/* -p without a program; the exit status. */
int run_process(const struct run_arguments *a);

/* ---- run_series.c ---- */

struct run_series {
	double interval; /* 0: it only watches */
	double begun, next, at, seconds;
	enum tach_format format;
	FILE *to;
	int rows, code; /* code: the errno of what could not be written */
};
/* Other than 0: printed. */
int run_series_begin(struct run_series *s, const struct run_arguments *a);
int run_series_end(struct run_series *s, const struct run_arguments *a);
/* Until the process has ended or a signal came to that descriptor, -1: none is waited for. */
void run_series_watch(struct run_series *s, struct run_outside *o, pid_t process, int signals);
/* A descriptor that the signals which end tach run come to; they are blocked from now on. */
int run_series_signals(void);

/* ---- run_ranks.c: one report of a parallel job ---- */

/* Whether this is one rank of several, whose reports are to become one. */
int run_ranks_wanted(const struct run_arguments *a);
/* Adds this rank's, NULL where it has none; *all: of all of them, if it is the last, else NULL.
 * Other than 0: printed. */
int run_ranks_gather(const struct run_arguments *a, const struct tach_snapshot *mine,
		     struct tach_snapshot **all);
/* "%r" in the name of the report becomes the rank. */
void run_ranks_file(struct run_arguments *a);

/* ---- run_repeat.c ---- */

/* -r; the exit status. */
int run_repeat(struct run_arguments *a, const struct run_found *found);

/* ---- run_boxes.c ---- */

/* Whether a list has events of boxes, which count for the whole machine. */
int run_has_boxes(const char *events);

/* ---- run_child.c ---- */

/* Keeps the numbers of closed standard streams, so that no file of ours takes one. The
 * program's are closed. */
void run_hold_streams(void);

/*
 * object, directory: what to preload and where reports go; NULL: nothing is preloaded. Waits
 * for the program's end. -1: printed.
 */
int run_child(const struct run_arguments *a, const char *object, const char *directory,
	      const struct run_beside *beside, struct run_outcome *outcome);

/* ---- run.c ---- */

/* What there is to run, and to load into it. */
struct run_found {
	char object[4096], program[4096]; /* "": not looked for, or not there */
	enum run_loading loading;
};
/* How the program can be loaded; the object becomes that of its C library. */
void run_find_loading(struct run_found *found);
struct run_reports;
/*
 * Runs the program once; a: what it had to count otherwise than was asked for. 0, or the exit
 * status: why was printed.
 */
int run_once(struct run_arguments *a, const struct run_found *found,
	     struct run_reports *reports, struct run_outcome *outcome);
/* Writes what came of it; other than 0: printed. */
int run_report(const struct run_arguments *a, const struct run_outcome *o,
	       struct run_reports *reports);
int run_status(const struct run_outcome *o); /* the exit status that the program's end makes */

/* ---- run_passes.c ---- */

/* --turns: whether there are sets; RUN_FAILED: printed why not. */
int run_check_turns(const struct run_arguments *a);
/* --passes; the exit status. */
int run_passes(struct run_arguments *a, const struct run_found *found);

/* ---- run_results.c ---- */

struct run_reports;
/* A descriptor of memory for reports, told to the environment; -1: there is none. */
int run_results_open(void);
/* Hands each report to `take`; its code. */
int run_results_collect(int fd, struct run_reports *reports, pid_t program,
			int (*take)(void *, const char *, size_t), void *context);

/* ---- run_collect.c ---- */

enum { RUN_GONE = 4 };
struct run_reports {
	struct tach_snapshot *whole; /* of all; NULL: no process left any */
	int of_program;		     /* the program itself left one */
	int began, left;	     /* programs that were loaded, and those that left one */
	int running;		     /* processes that run on and have not */
	int gone[RUN_GONE];	     /* numbers of the first that did not; 0: no more */
	int confined;		     /* left one when a seccomp filter came */
	unsigned apart;		     /* programs that could not load the object */
	char first_apart[64];
};

/*
 * Reads and adds up what the processes left in that memory and that directory; deletes what is
 * in the directory.
 */
int run_collect(struct run_reports *reports, int results, const char *directory, pid_t program);
int run_collect_add(struct run_reports *reports, struct tach_snapshot *more);

#endif
