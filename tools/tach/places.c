/* SPDX-License-Identifier: MIT */
/*
 * Functions and lines of places in programs. addr2line (binutils) reads symbols and debug
 * information. Without it, or without symbols, a place keeps its object and offset.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/snapshot/callers.h"
#include "core/snapshot/choose.h"
#include "core/snapshot/teams.h"
#include "tools/tach/places.h"

extern char **environ;

enum { BATCH = 200, OFFSET = 24 }; /* offsets for one call of addr2line */

struct place {
	const char *file, *offset; /* of the region's name: "0x1234" */
	char *name, *function, *source;
	uint32_t line;
};

struct places {
	struct place *at;
	int n;
};

/*
 * Copies the offset in "parallel a.out+0x1234", if the region's file is an object's path.
 * Returns what follows it in the name: "", " [helpers]", or the caller of a function. NULL: the
 * region is no place.
 */
static const char *find_offset(const struct tach_region_info *info, char out[OFFSET])
{
	const char *plus = strrchr(info->of, '+'), *rest;
	const char *base = strrchr(info->file, '/');
	size_t n = base ? strlen(base + 1) : 0;

	if (!n || info->line || !plus || strncmp(plus, "+0x", 3) != 0)
		return NULL;
	rest = plus + 3 + strspn(plus + 3, "0123456789abcdef");
	if (rest - plus >= OFFSET ||
	    (*rest && strncmp(rest, " [", 2) != 0 && tach__callers_id(rest) != rest))
		return NULL;
	if ((size_t)(plus - info->of) < n || memcmp(plus - n, base + 1, n) != 0)
		return NULL;
	snprintf(out, OFFSET, "%.*s", (int)(rest - plus - 1), plus + 1);
	return rest;
}

/* ---- choice ---- */

static int is_of_kind(const void *context, const struct tach_region_info *info)
{
	const struct places_kind *kind = context;
	char offset[OFFSET];
	const char *rest;

	if (strncmp(info->of, kind->name, strlen(kind->name)) != 0)
		return 0;
	rest = find_offset(info, offset);
	return rest && (strcmp(rest, TACH__ALL_CALLERS) == 0) == kind->sums;
}

int places_count(const struct tach_snapshot *snapshot, const struct places_kind *kind)
{
	struct tach_region_info info = {0};
	int n = 0;

	for (int r = 0; tach_snapshot_region(snapshot, r, &info) == 0; r++)
		n += is_of_kind(kind, &info);
	return n;
}

int places_too_small(const struct tach_snapshot *snapshot, const struct places_kind *kind,
		     uint64_t least, uint64_t *calls)
{
	struct tach_region_info info = {0};
	struct tach_value self;
	int n = 0;

	*calls = 0;
	for (int r = 0; tach_snapshot_region(snapshot, r, &info) == 0; r++) {
		tach_snapshot_value(snapshot, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &self);
		if (!is_of_kind(kind, &info) || info.calls < least ||
		    !(self.flags & TACH_FLAG_SMALL))
			continue;
		*calls += info.calls;
		n++;
	}
	return n;
}

int places_sum_callers(struct tach_snapshot *snapshot, const char *kind, const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (tach__snapshot_sum_callers(snapshot, kind, &err) == 0)
		return 0;
	fprintf(stderr, "%s: %s\n", who, *err.text ? err.text : "out of memory");
	return -1;
}

void places_choose(struct tach_snapshot *snapshot, const struct places_kind *kind, int most)
{
	tach__snapshot_choose(snapshot, most, is_of_kind, kind);
}

/* ---- addr2line ---- */

/* Two lines for each offset: the function, and FILE:LINE; "??" if unknown. */
static void read_answer(struct place *p, FILE *from)
{
	char *function = NULL, *where = NULL, *colon;
	size_t size[2] = {0, 0};

	if (getline(&function, &size[0], from) > 0 && getline(&where, &size[1], from) > 0 &&
	    strncmp(function, "??", 2) != 0) {
		function[strcspn(function, "\n")] = '\0';
		/* gcc's name of a part of the function that the program contains */
		if (strstr(function, "._omp_fn."))
			*strstr(function, "._omp_fn.") = '\0';
		where[strcspn(where, "\n")] = '\0';
		colon = strrchr(where, ':');
		if (colon && strncmp(where, "??", 2) != 0) {
			*colon = '\0';
			p->line = (uint32_t)strtoul(colon + 1, NULL, 10);
			p->source = strdup(where);
		}
		p->function = function;
		function = NULL;
	}
	free(function);
	free(where);
}

/* Whether the object has its whole symbol table: of exported names alone the nearest may be
 * wrong. */
static int has_symbols(const char *file)
{
	Elf64_Ehdr head;
	Elf64_Shdr section;
	int fd = open(file, O_RDONLY | O_CLOEXEC), found = 0;

	if (fd < 0 || pread(fd, &head, sizeof head, 0) != sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof section)
		head.e_shnum = 0;
	for (int i = 0; i < head.e_shnum && !found; i++)
		found = pread(fd, &section, sizeof section,
			      (off_t)(head.e_shoff + (uint64_t)i * sizeof section)) ==
				sizeof section &&
			section.sh_type == SHT_SYMTAB;
	if (fd >= 0)
		close(fd);
	return found;
}

/* n places of one file. */
static void ask_file(struct place *p, int n)
{
	char *argv[BATCH + 6] = {"addr2line", "-f", "-C", "-e", (char *)p->file};
	posix_spawn_file_actions_t actions;
	int out[2], status;
	pid_t child;
	FILE *from;

	for (int i = 0; i < n; i++)
		argv[5 + i] = (char *)p[i].offset;
	if (pipe2(out, O_CLOEXEC) != 0)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&child, *argv, &actions, NULL, argv, environ) != 0)
		child = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	from = fdopen(out[0], "r");
	for (int i = 0; from && i < n && child > 0; i++)
		read_answer(&p[i], from);
	for (int i = 0, whole = has_symbols(p->file); i < n; i++)
		if (!whole && !p[i].source) {
			free(p[i].function);
			p[i].function = NULL;
		}
	if (from)
		fclose(from);
	else
		close(out[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}

/* ---- names ---- */

static int by_file(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : strcmp(x->offset, y->offset);
}

static int gather_places(struct places *all, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};

	all->at = calloc((size_t)tach_snapshot_nregions(s) + 1, sizeof *all->at);
	for (int r = 0; all->at && r < tach_snapshot_nregions(s); r++) {
		char offset[OFFSET];

		tach_snapshot_region(s, r, &info);
		/* Copies: the snapshot's own names change. */
		if (find_offset(&info, offset))
			all->at[all->n++] = (struct place){.file = strdup(info.file),
							   .offset = strdup(offset)};
	}
	return all->at ? 0 : -1;
}

/* A function has a row for each caller. */
static void sort_places(struct places *all)
{
	int n = 0;

	qsort(all->at, (size_t)all->n, sizeof *all->at, by_file);
	for (int i = 0; i < all->n; i++) {
		if (n && by_file(&all->at[n - 1], &all->at[i]) == 0) {
			free((char *)all->at[i].file);
			free((char *)all->at[i].offset);
		} else {
			all->at[n++] = all->at[i];
		}
	}
	all->n = n;
}

static void ask_all(struct places *all)
{
	sort_places(all);
	for (int i = 0, end; i < all->n; i = end) {
		for (end = i; end < all->n && end < i + BATCH &&
			      strcmp(all->at[i].file, all->at[end].file) == 0;
		     end++)
			;
		ask_file(&all->at[i], end - i);
	}
}

static int rename_place(void *context, struct tach__renamed *to)
{
	const struct places *all = context;
	struct tach_region_info info = {.of = to->name, .file = to->file, .line = to->line};
	char offset[OFFSET];
	const char *rest = find_offset(&info, offset), *base;
	struct place key = {.file = to->file, .offset = offset}, *p;
	int kind;

	to->spread = rest && !*rest && strncmp(to->name, "parallel ", 9) == 0;
	p = rest ? bsearch(&key, all->at, (size_t)all->n, sizeof key, by_file) : NULL;
	if (!p || !p->function)
		return 0;
	/* The usual kind of name needs no word. */
	kind = strncmp(to->name, "function ", 9) == 0 ? 0 : (int)strcspn(to->name, " ") + 1;
	free(p->name);
	base = p->source && strrchr(p->source, '/') ? strrchr(p->source, '/') + 1 : p->source;
	if (!base || !p->line
		    ? asprintf(&p->name, "%.*s%s (%s+%s)%s", kind, to->name, p->function,
			       strrchr(p->file, '/') + 1, p->offset, rest) < 0
		    : asprintf(&p->name, "%.*s%s (%s:%u)%s", kind, to->name, p->function, base,
			       p->line, rest) < 0) {
		p->name = NULL;
		return 0;
	}
	to->name = p->name;
	to->function = p->function;
	if (base && p->line) {
		to->file = p->source;
		to->line = p->line;
	}
	return 1;
}

int places_name(struct tach_snapshot **snapshot, int spread, const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *named = NULL;
	struct places all = {NULL, 0};
	int code = gather_places(&all, *snapshot);

	if (!code) {
		ask_all(&all);
		code = tach__snapshot_teams(*snapshot, spread, rename_place, &all, &named,
					    &err);
	}
	if (!code)
		code = tach__snapshot_name_callers(named, &err);
	if (code)
		fprintf(stderr, "%s: %s\n", who, *err.text ? err.text : "out of memory");
	for (int i = 0; i < all.n; i++) {
		free((char *)all.at[i].file);
		free((char *)all.at[i].offset);
		free(all.at[i].name);
		free(all.at[i].function);
		free(all.at[i].source);
	}
	free(all.at);
	if (code) {
		tach_snapshot_free(named);
		return -1;
	}
	tach_snapshot_free(*snapshot);
	*snapshot = named;
	return all.n;
}
