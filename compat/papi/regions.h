/* SPDX-License-Identifier: MIT */
/* Regions by name: shared by edges, choice of events and output. */
#ifndef COMPAT_PAPI_REGIONS_H
#define COMPAT_PAPI_REGIONS_H

#include "compat/papi/state.h"

/* One execution of a region, or one PAPI_hl_read in it. */
struct pp_record {
	const char *name; /* NULL: a read */
	struct pp_record *parent;
	int id, reads; /* reads: number of reads; in a read: its number */
	/* clock: when a region began; at its end, how long it was. In a read: time since the
	 * region began. Events follow in the same form, then nanoseconds if the clock's rate is
	 * not constant. */
	uint64_t clock;
	long long value[];
};

struct pp_block {
	struct pp_block *next;
	char *end; /* of the records in this block */
	_Alignas(16) char record[];
};

enum { PP_NAMES = 64 };

struct pp_name {
	struct pp_name *next;
	char text[];
};

/* The records of one thread. */
struct pp_log {
	struct pp_log *next;
	unsigned long tid;
	struct pp_set *only; /* its one set if the fast path can read it, or NULL */
	int set[PP_COMPONENTS];
	int running, opened, closed, broken;
	char *free, *end; /* of the last block */
	struct pp_record *open;
	struct pp_block *first, *last;
	/* Names are first compared by address. */
	struct {
		const char *given, *text;
	} known[PP_NAMES];
	struct pp_name *name[PP_NAMES];
};

struct pp_choice {
	int nsets, nevents;
	int component[PP_COMPONENTS], count[PP_COMPONENTS]; /* of each set */
	/* For each event; events of the first set come first. */
	char *name[PP_EVENTS];
	int code[PP_EVENTS];
	char instant[PP_EVENTS];
};

enum pp_region_state { PP_REGIONS_NEW, PP_REGIONS_READY, PP_REGIONS_BROKEN };

struct pp_regions {
	enum pp_region_state state;
	int begun; /* the library and the output folder are ready */
	int verbose, multiplexed, written;
	int clock_is_constant;
	size_t record_size;
	char *folder;
	struct pp_choice choice;
	struct pp_log *logs;
	uint64_t first_clock;
	long long first_ns;
};
extern struct pp_regions pp_regions;

/* Prints to standard output if PAPI_HL_VERBOSE is set. */
void pp_regions_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
long long pp_regions_ns(void);
int pp_clock_is_constant(void);

/* Adds a block for more records. Returns 0 if there is no memory. */
int pp_log_add_block(struct pp_log *log);
/* Returns the log's own copy of a name, or NULL without memory. Later lookups find the copy by
 * `text`. */
const char *pp_log_copy_name(struct pp_log *log, const char *text);

static inline unsigned pp_name_slot(const char *text)
{
	return (unsigned)(((uintptr_t)text ^ (uintptr_t)text >> 6) % PP_NAMES);
}

/* Takes the events in the text; NULL: events of PAPI_EVENTS, or PAPI's default. */
int pp_choice_make(struct pp_choice *choice, const char *events);
void pp_choice_forget(struct pp_choice *choice);
/* pp_choice_open makes and pp_choice_start starts this thread's sets of these events. */
int pp_choice_open(const struct pp_choice *choice, struct pp_log *log);
int pp_choice_start(const struct pp_choice *choice, struct pp_log *log);

/* Reads the counts of the only set since its counters were opened, or of all sets since their
 * start. All edges of a thread read in the same way while its sets run. */
int pp_events_read(const struct pp_log *log, long long *values);
/* Stores what was counted since the entry began in the record, which may be the entry's own. */
int pp_events_end(const struct pp_log *log, struct pp_record *record,
		  const struct pp_record *entry);

/* Makes the output folder; an older folder of that name is renamed. */
int pp_output_prepare(char **folder);
void pp_output_write(void);

#endif
