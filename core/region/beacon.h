/* SPDX-License-Identifier: MIT */
/*
 * A process has one registry, even if it contains several copies of the library: the shared
 * library, and copies linked into the program or plugins. Each copy has a beacon. A note in its
 * ELF file leads to the beacon (name "tach", type TACH__BEACON_NOTE). The descriptor has 8
 * bytes: the beacon's address minus the descriptor's address. The first copy that is
 * initialised owns the regions. Copies with the same layout hand their regions over to it;
 * others switch regions off, and the owner's report says so.
 *
 * A reader in another process finds the same note in the files that /proc/PID/maps names, and
 * recognizes the owner by `state`. The fields before `abi` never change. The fields after it
 * may change with `layout`, and `registry` with `registry_layout`.
 */
#ifndef TACH_CORE_REGION_BEACON_H
#define TACH_CORE_REGION_BEACON_H

#include <tach/region.h>
#include <tach/report.h>

#define TACH__BEACON_NOTE   2
#define TACH__BEACON_MAGIC  0x68636174u /* "tach" in memory */
#define TACH__BEACON_LAYOUT 1

enum { TACH__BEACON_ASLEEP, TACH__BEACON_OWNER, TACH__BEACON_JOINED, TACH__BEACON_EXCLUDED };

/* State of a copy before it is initialised. The build of `tach run` defines another state: its
 * copy owns the regions even if the loader initialises another copy first. */
#ifndef TACH__BEACON_BORN
#define TACH__BEACON_BORN TACH__BEACON_ASLEEP
#endif

struct tach_task;
struct tach_team;
struct tach_help;
struct tach__beacon {
	uint32_t magic, layout;
	uint32_t size;	/* of this struct */
	uint32_t state; /* TACH__BEACON_*, atomic */
	char version[32];
	char others[256]; /* messages of copies with another layout; for the owner's reports */
	uint32_t abi; /* version of the layout of sites and marks: the number in tach__abi_1 */
	uint32_t registry_layout; /* 0: other processes cannot read the registry */
	const void *registry;
	void (*begin[2])(struct tach_site *, struct tach_region_mark *) TACH_NOTHROW;
	int (*configure)(const struct tach_regions_options *opt, struct tach_error *err);
	void (*disable)(void);
	int (*enabled)(void);
	struct tach_site *(*site_get)(const char *name);
	int (*json)(tach_sink sink, void *context, struct tach_error *err); /* a snapshot */
	int (*report_now)(struct tach_error *err);
	void (*tag)(uint64_t tag);
	void (*task_resuming)(struct tach_task *task);
	void (*task_suspended)(struct tach_task *task);
	void (*task_ended)(struct tach_task *task);
	int (*read)(const struct tach_region_mark *mark, uint64_t *values, int n,
		    uint32_t *flags, uint32_t *generation);
	int (*team_take)(struct tach_team *team);
	void (*team_join)(const struct tach_team *team, struct tach_help *help);
};
extern struct tach__beacon tach__beacon;

/* Defines the note: Elf64_Nhdr, name and descriptor. It needs no relocation at run time. */
#define TACH__BEACON_ASM                                                                       \
	__asm__(".pushsection .note.tach,\"a\",%note\n"                                        \
		"	.balign 4\n"                                                                 \
		"	.long 5, 8, 2\n" /* TACH__BEACON_NOTE */                               \
		"	.asciz \"tach\"\n"                                                           \
		"	.balign 4\n"                                                                 \
		"1:	.quad tach__beacon - 1b\n"                                                 \
		"	.popsection\n")

/* Implemented in core/startup. */
int tach__beacon_json(tach_sink sink, void *context, struct tach_error *err);
int tach__report_now_here(struct tach_error *err);
void tach__tag_here(uint64_t tag);
uint64_t tach__tag_now(void);
void tach__task_resuming_here(struct tach_task *task);
void tach__task_suspended_here(struct tach_task *task);
void tach__task_ended_here(struct tach_task *task);
int tach__team_take_here(struct tach_team *team);
void tach__team_join_here(const struct tach_team *team, struct tach_help *help);

/* Functions of this copy, whichever copy owns the regions. */
void tach__begin_here(struct tach_site *site, struct tach_region_mark *mark) TACH_NOTHROW;
void tach__begin_fenced_here(struct tach_site *site,
			     struct tach_region_mark *mark) TACH_NOTHROW;
int tach__configure_here(const struct tach_regions_options *opt, struct tach_error *err);
void tach__disable_here(void);
int tach__enabled_here(void);
struct tach_site *tach__site_get_here(const char *name);
int tach__region_read_here(const struct tach_region_mark *mark, uint64_t *values, int n,
			   uint32_t *flags, uint32_t *generation);
int tach__snapshot_take_here(struct tach_snapshot **out, struct tach_error *err);

/* Call it once, before any other region function; takes the loader's lock. */
void tach__beacon_claim(void);
/* Returns the owner if this copy has joined another one, else NULL. */
const struct tach__beacon *tach__beacon_owner(void);
/* Returns 1 if the owner has another layout, so that this copy must not run regions. */
int tach__beacon_is_excluded(void);
/* Keeps the code of regions mapped from now on, even after dlclose. */
void tach__beacon_keep_loaded(void);
/* Returns TACH_ERR_STATE, and writes the reason. */
int tach__beacon_refuse(struct tach_error *err);

#endif
