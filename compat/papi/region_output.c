/* SPDX-License-Identifier: MIT */
/* Regions by name: the file of results, as PAPI's papi_hl_output_writer.py reads it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "compat/papi/regions.h"

enum { RANKS = 1000000 };

/* ---- the folder ---- */

/* Processes of one run share the folder: renames it only if it is older than this process. */
static void set_aside(const char *folder)
{
	char stamp[32], to[PATH_MAX];
	time_t now = time(NULL);
	struct stat st;
	struct tm tm;

	if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_mtime >= now ||
	    !localtime_r(&now, &tm))
		return;
	strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
	if (snprintf(to, sizeof to, "%s-%s", folder, stamp) >= (int)sizeof to ||
	    rename(folder, to) != 0)
		pp_regions_say("Warning: %s cannot be renamed.\n", folder);
}

int pp_output_prepare(char **folder)
{
	const char *given = secure_getenv("PAPI_OUTPUT_DIRECTORY");
	char here[PATH_MAX];

	if (!given)
		given = getcwd(here, sizeof here);
	if (!given || asprintf(folder, "%s/papi_hl_output", given) < 0) {
		*folder = NULL;
		return PAPI_ENOMEM;
	}
	set_aside(*folder);
	return PAPI_OK;
}

static int make_folders(char *path)
{
	for (char *p = path + 1; *p; p++) {
		int ok;

		if (*p != '/')
			continue;
		*p = '\0';
		ok = mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
		*p = '/';
		if (!ok)
			return 0;
	}
	return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}

/* The rank of this process in its run, or a number that other processes rarely have. */
static int find_rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "ALPS_APP_PE", "PMI_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (secure_getenv(names[i]))
			return atoi(secure_getenv(names[i])) % RANKS;
	return getpid() % RANKS;
}

static FILE *create_file(char *path, size_t size)
{
	int rank = find_rank(), fd = -1;

	for (int i = 0; i < RANKS && fd < 0; i++) {
		if (snprintf(path, size, "%s/rank_%06d.json", pp_regions.folder,
			     (rank + i) % RANKS) >= (int)size)
			return NULL;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			return NULL;
	}
	return fd < 0 ? NULL : fdopen(fd, "w");
}

/* ---- JSON ---- */

static void write_indent(FILE *to, int n)
{
	fprintf(to, "\n%*s", 2 * n, "");
}

static void write_quoted(FILE *to, const char *text)
{
	putc('"', to);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p == '"' || *p == '\\')
			fprintf(to, "\\%c", *p);
		else if (*p < ' ')
			fprintf(to, "\\u%04x", *p);
		else
			putc(*p, to);
	putc('"', to);
}

/* Writes "key":"text". Spaces in a row become one space. */
static void put_text(FILE *to, int depth, const char *key, const char *text)
{
	char one[PAPI_MAX_STR_LEN];
	size_t n = 0;

	for (; *text && n < sizeof one - 1; text++)
		if (*text != ' ' || text[1] != ' ')
			one[n++] = *text;
	one[n] = '\0';
	write_indent(to, depth);
	fprintf(to, "\"%s\":", key);
	write_quoted(to, one);
	putc(',', to);
}

static void put_number(FILE *to, int depth, const char *key, long long value, const char *end)
{
	write_indent(to, depth);
	write_quoted(to, key);
	fprintf(to, ":\"%lld\"%s", value, end);
}

static void put_definitions(FILE *to)
{
	const struct pp_choice *choice = &pp_regions.choice;
	int at = 0;

	write_indent(to, 1);
	fputs("\"event_definitions\":{", to);
	for (int i = 0; i < choice->nsets; i++)
		for (int k = 0; k < choice->count[i]; k++, at++) {
			write_indent(to, 2);
			write_quoted(to, choice->name[at]);
			fputs(":{", to);
			put_text(to, 3, "component", pp_component(choice->component[i])->name);
			write_indent(to, 3);
			fprintf(to, "\"type\":\"%s\"",
				choice->instant[at] ? "instant" : "delta");
			write_indent(to, 2);
			fputs(at + 1 < choice->nevents ? "}," : "}", to);
		}
	write_indent(to, 1);
	fputs("},", to);
}

/* ---- records ---- */

static double ns_per_tick;

static long long ns_of(const struct pp_record *r)
{
	if (!pp_regions.clock_is_constant)
		return r->value[pp_regions.choice.nevents];
	return (long long)((double)r->clock * ns_per_tick);
}

/* Returns value n of a record: 0 is cycles, 1 is nanoseconds, and then come the events. */
static long long value_of(const struct pp_record *r, int n)
{
	if (n == 1)
		return ns_of(r);
#if defined(__x86_64__) || defined(__i386__)
	if (n == 0)
		return (long long)r->clock;
#else
	if (n == 0)
		return ns_of(r) * pp_hardware()->cpu_max_mhz / 1000;
#endif
	return r->value[n - 2];
}

/* Returns the next record, or NULL after the last. Records of the last block end at `free`. */
static struct pp_record *next_record(const struct pp_log *log, struct pp_block **block,
				     struct pp_record *r)
{
	char *at = r ? (char *)r + pp_regions.record_size : NULL;

	if (!at) {
		*block = log->first;
		return *block ? (struct pp_record *)(void *)(*block)->record : NULL;
	}
	if (at < (*block == log->last ? log->free : (*block)->end))
		return (struct pp_record *)(void *)at;
	*block = (*block)->next;
	return *block ? (struct pp_record *)(void *)(*block)->record : NULL;
}

static void put_reads(FILE *to, const struct pp_log *log, struct pp_block *block,
		      struct pp_record *entry, int n)
{
	struct pp_record *r = entry;
	int left = entry->reads;
	char key[32];

	putc('{', to);
	put_number(to, 6, "region_value", value_of(entry, n), ",");
	while (left && (r = next_record(log, &block, r))) {
		if (r->name || r->parent != entry)
			continue;
		snprintf(key, sizeof key, "read_%d", r->reads);
		put_number(to, 6, key, value_of(r, n), --left ? "," : "");
	}
	write_indent(to, 5);
	putc('}', to);
}

static void put_entry(FILE *to, const struct pp_log *log, struct pp_block *block,
		      struct pp_record *entry)
{
	const struct pp_choice *choice = &pp_regions.choice;

	write_indent(to, 4);
	fprintf(to, "\"%d\":{", entry->id);
	write_indent(to, 5);
	fputs("\"name\":", to);
	write_quoted(to, entry->name);
	putc(',', to);
	put_number(to, 5, "parent_region_id", entry->parent ? entry->parent->id : -1, ",");
	for (int n = 0; n < choice->nevents + 2; n++) {
		write_indent(to, 5);
		write_quoted(to, n == 0	  ? "cycles"
				 : n == 1 ? "real_time_nsec"
					  : choice->name[n - 2]);
		putc(':', to);
		if (entry->reads)
			put_reads(to, log, block, entry, n);
		else
			fprintf(to, "\"%lld\"", value_of(entry, n));
		if (n < choice->nevents + 1)
			putc(',', to);
	}
	write_indent(to, 4);
	putc('}', to);
}

static void put_log(FILE *to, const struct pp_log *log, int number)
{
	struct pp_block *block = NULL;
	struct pp_record *r = NULL;
	int first = 1;

	write_indent(to, 2);
	fprintf(to, "\"%d\":{", number);
	write_indent(to, 3);
	fputs("\"regions\":{", to);
	while ((r = next_record(log, &block, r))) {
		if (!r->name)
			continue;
		if (!first)
			putc(',', to);
		first = 0;
		put_entry(to, log, block, r);
	}
	write_indent(to, 3);
	putc('}', to);
	write_indent(to, 2);
	putc('}', to);
}

/* ---- threads ---- */

static int compare_logs(const void *a, const void *b)
{
	const struct pp_log *const *x = a, *const *y = b;

	return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

/* PAPI numbers all threads that it knows, in the order of their ids. It omits threads without a
 * region. */
static int count_below(const PAPI_thread_id_t *tids, int n, unsigned long tid)
{
	int below = 0;

	for (int i = 0; i < n; i++)
		below += tids[i] < tid;
	return below;
}

static void put_threads(FILE *to, struct pp_log **logs, int n)
{
	int known = 0, number = -1;
	PAPI_thread_id_t *tids = NULL;

	PAPI_list_threads(NULL, &known);
	if (known > 0)
		tids = calloc((size_t)known, sizeof(*tids));
	if (!tids || PAPI_list_threads(tids, &known) != PAPI_OK)
		known = 0;
	write_indent(to, 1);
	fputs("\"threads\":{", to);
	for (int i = 0; i < n; i++) {
		int at = count_below(tids, known, logs[i]->tid);

		number = at > number ? at : number + 1;
		put_log(to, logs[i], number);
		if (i + 1 < n)
			putc(',', to);
	}
	write_indent(to, 1);
	fputs("}\n}\n", to);
	free(tids);
}

static void put_all(FILE *to, struct pp_log **logs, int n)
{
	const PAPI_hw_info_t *machine = PAPI_get_hardware_info();

	putc('{', to);
	write_indent(to, 1);
	fprintf(to, "\"papi_version\":\"%d.%d.%d.%d\",", PAPI_VERSION_MAJOR(PAPI_VERSION),
		PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION),
		PAPI_VERSION_INCREMENT(PAPI_VERSION));
	if (machine) {
		put_text(to, 1, "cpu_info", machine->model_string);
		put_number(to, 1, "max_cpu_rate_mhz", machine->cpu_max_mhz, ",");
		put_number(to, 1, "min_cpu_rate_mhz", machine->cpu_min_mhz, ",");
	}
	put_definitions(to);
	put_threads(to, logs, n);
}

static void print_file(const char *path)
{
	FILE *from = fopen(path, "re");
	int c;

	if (!from)
		return;
	fputs("\n\nPAPI-HL Output:\n", stdout);
	while ((c = getc(from)) != EOF)
		putchar(c);
	putchar('\n');
	fclose(from);
}

static void write_file(struct pp_log **logs, int n)
{
	char path[PATH_MAX];
	FILE *to = make_folders(pp_regions.folder) ? create_file(path, sizeof path) : NULL;
	int lost;

	if (!to) {
		pp_regions_say("Error: no file can be created in %s: %s.\n", pp_regions.folder,
			       strerror(errno));
		return;
	}
	put_all(to, logs, n);
	lost = ferror(to);
	lost |= fclose(to) != 0;
	if (lost)
		pp_regions_say("Error: %s is not complete: %s.\n", path, strerror(errno));
	if (secure_getenv("PAPI_REPORT"))
		print_file(path);
}

void pp_output_write(void)
{
	uint64_t ticks = tach_clock() - pp_regions.first_clock;
	struct pp_log **logs, *log;
	int n = 0, open = 0;

	ns_per_tick =
		ticks ? (double)(pp_regions_ns() - pp_regions.first_ns) / (double)ticks : 0;
	for (log = pp_regions.logs; log; log = log->next)
		n++;
	logs = calloc((size_t)n + 1, sizeof(*logs));
	if (!logs)
		return;
	n = 0;
	for (log = pp_regions.logs; log; log = log->next)
		if (log->opened) {
			open += log->opened - log->closed;
			logs[n++] = log;
		}
	qsort(logs, (size_t)n, sizeof(*logs), compare_logs);
	if (open)
		pp_regions_say("Warning: no output, since %d regions have not ended.\n", open);
	else if (n)
		write_file(logs, n);
	free(logs);
}
