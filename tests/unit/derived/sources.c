/* SPDX-License-Identifier: MIT */
/*
 * Sources of definitions: the user's files and their order, files of any size, the CPUs that a
 * name selects; and a registry's answers about the sources.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach.h>
#include "core/derived/files.h"
#include "core/derived/presets.h"
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/moved.h"

static char said[4096];
static size_t length;
static int context;

static void report(void *own, const struct tach_diagnostic *d)
{
	CHECK(own == &context && d->size == sizeof *d);
	length += (size_t)snprintf(said + length, sizeof said - length, "%s%s:%d:%d %d %s",
				   length ? "; " : "", d->file, d->line, d->column, d->level,
				   d->text);
}

/* Child processes inherit none of the descriptors. */
static const char *moved(const char *path, int flags, char *room, size_t size)
{
	(void)room, (void)size;
	CHECK((flags & (O_ACCMODE | O_CLOEXEC)) == (O_RDONLY | O_CLOEXEC), "%s: %#x", path,
	      (unsigned)flags);
	return path;
}

static struct tach_derived *registry(uint32_t flags)
{
	struct tach_derived_options opt = {
		.size = sizeof opt, .flags = flags, .report = report, .context = &context};
	struct tach_derived *d = NULL;

	length = 0;
	said[0] = '\0';
	errno = 77;
	CHECK(tach_derived_create(&opt, &d, NULL) == 0);
	CHECK(errno == 77, "%d", errno);
	return d;
}

/* Checks that FOLDER:LINE is the place of the definition that applies. */
static int is_from(struct tach_derived *d, const char *name, const char *file, int line)
{
	struct tach_derived_info info = {.size = sizeof info};

	if (tach_derived_find(d, tach_pmu_find("skl"), name, &info))
		return !file;
	return file && strstr(info.file, file) && info.line == line;
}

/* ---- files ---- */

static char folder[] = "/tmp/tach-sources.XXXXXX";

static const char *path(const char *name)
{
	static char whole[100];

	snprintf(whole, sizeof whole, "%s/%s", folder, name);
	return whole;
}

static void put(const char *name, const char *text, size_t size)
{
	FILE *out = fopen(path(name), "w");

	CHECK(out, "%s", name);
	if (!out)
		return;
	fwrite(text, 1, size, out);
	fclose(out);
}

static void write_file(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static const char *const folders[] = {"config", "config/tach", "home", "home/.config",
				      "home/.config/tach"};
static const char *const files[] = {"config/tach/b.derived",
				    "config/tach/a.derived",
				    "config/tach/c.derive",
				    "config/tach/.derived",
				    "config/tach/xderived",
				    "home/.config/tach/h.derived",
				    "one",
				    "two",
				    "large"};

static void make_files(void)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		mkdir(path(folders[i]), 0700);
	write_file("config/tach/b.derived", "EVENT,a,NOT_DERIVED,x\nEVENT,b,NOT_DERIVED,x\n");
	write_file("config/tach/a.derived", "\nEVENT,b,NOT_DERIVED,x\nEVENT,c,NOT_DERIVED,x\n");
	write_file("config/tach/c.derive", "EVENT,not,NOT_DERIVED,x\n");
	write_file("config/tach/.derived", "EVENT,not,NOT_DERIVED,x\n");
	write_file("config/tach/xderived", "EVENT,not,NOT_DERIVED,x\n");
	write_file("home/.config/tach/h.derived", "EVENT,a,NOT_DERIVED,x\n");
	write_file("one", "EVENT,c,NOT_DERIVED,x\n");
	write_file("two", "EVENT,d,NOT_DERIVED,x\nEVENT,d\n");
}

static void remove_files(void)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(path(files[i]));
	for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
		rmdir(path(folders[i]));
	rmdir(folder);
}

static void in_order(void)
{
	struct tach_derived *d;
	char list[400], want[600];

	setenv("HOME", path("home"), 1);
	setenv("XDG_CONFIG_HOME", path("config"), 1);
	unsetenv("TACH_DERIVED");
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "a", "/b.derived", 1) && is_from(d, "b", "/b.derived", 2) &&
	      is_from(d, "c", "/a.derived", 3) && is_from(d, "not", NULL, 0));
	snprintf(want, sizeof want,
		 "%s/config/tach/b.derived:2:7 0 replaces the definition of b in "
		 "%s/config/tach/a.derived:2",
		 folder, folder);
	CHECK(strcmp(said, want) == 0, "%s, want %s", said, want);
	tach_derived_free(d);
	/* The files of the list come next. */
	snprintf(list, sizeof list, ":%s/one::%s/two:%s/none:", folder, folder, folder);
	setenv("TACH_DERIVED", list, 1);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "a", "/h.derived", 1) && is_from(d, "b", NULL, 0) &&
	      is_from(d, "c", "/one", 1) && is_from(d, "d", "/two", 1));
	snprintf(want, sizeof want,
		 "%s/two:2:8 2 a derived type expected after the name; "
		 "%s/none:0:0 2 cannot read %s/none: No such file or directory",
		 folder, folder, folder);
	CHECK(strcmp(said, want) == 0, "%s, want %s", said, want);
	tach_derived_free(d);
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", "", 1);
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "a", NULL, 0) && is_from(d, "c", "/one", 1));
	tach_derived_free(d);
	/*
	 * Without both variables, no folder is searched, not even a folder that was read
	 * earlier.
	 */
	setenv("TACH_DERIVED", path("config/tach"), 1);
	for (int again = 0; again < 2; again++) {
		d = registry(TACH_DERIVED_USER);
		CHECK(is_from(d, "a", NULL, 0) && strstr(said, "Is a directory"), "%s", said);
		tach_derived_free(d);
	}
	d = registry(0);
	CHECK(is_from(d, "c", NULL, 0) && said[0] == '\0');
	tach_derived_free(d);
}

/*
 * PAPI's variables: a replacement for PAPI's own file comes first, the user's events come
 * later.
 */
static void papis_variables(void)
{
	static const char csv[] = "EVENT,p,NOT_DERIVED,x\n\nEVENT,q,NOT_DERIVED,x\n";
	static const char events[] = "EVENT,q,NOT_DERIVED,y\n";
	struct tach_derived *d;

	put("papi.csv", csv, sizeof csv - 1);
	put("mine", events, sizeof events - 1);
	unsetenv("TACH_DERIVED");
	setenv("PAPI_CSV_EVENT_FILE", path("papi.csv"), 1);
	setenv("PAPI_USER_EVENTS_FILE", path("mine"), 1);
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "p", "/papi.csv", 1) && is_from(d, "q", "/mine", 1), "%s", said);
	tach_derived_free(d);
	unsetenv("PAPI_CSV_EVENT_FILE");
	setenv("PAPI_USER_EVENTS_FILE", "/nonexistent", 1);
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "p", NULL, 0) && strstr(said, "cannot read /nonexistent"), "%s", said);
	tach_derived_free(d);
	unsetenv("PAPI_USER_EVENTS_FILE");
}

/* A text has the same size limit as a file. */
static void the_largest_text(void)
{
	const size_t limit = 4u << 20;
	char *text = malloc(limit + 1);
	struct tach_derived *d = registry(0);
	struct tach_error err = TACH_ERROR_INIT;

	memset(text, '\n', limit + 1);
	memcpy(text, "EVENT,p,NOT_DERIVED,x", 21);
	CHECK(tach_derived_load_text(d, "t", text, limit, &err) == 1);
	CHECK(tach_derived_load_text(d, "t", text, limit + 1, &err) == -EFBIG &&
		      strstr(err.text, "t has more than 4 MB"),
	      "%s", err.text);
	tach_derived_free(d);
	free(text);
}

/* A path that is too long is not used, even if a prefix of it exists. */
static void too_long_a_path(void)
{
	char *whole = malloc(3 * PATH_MAX);
	struct tach_derived *d;
	size_t n;

	strcpy(whole, path("config/tach"));
	for (n = strlen(whole); n < 2 * PATH_MAX; n += 2)
		memcpy(whole + n, "/.", 3);
	setenv("XDG_CONFIG_HOME", whole, 1);
	whole[PATH_MAX] = '\0';
	setenv("TACH_DERIVED", whole, 1);
	d = registry(TACH_DERIVED_USER);
	CHECK(is_from(d, "a", NULL, 0) && said[0] == '\0', "%.200s", said);
	tach_derived_free(d);
	free(whole);
}

/* Files are read in pieces; the first piece has 64 KiB. */
static void files_are_read_in_pieces(void)
{
	static const size_t cases[] = {0, 1, 65535, 65536, 65537, 196608, 196609, 400000};
	char *text = malloc(400000);
	struct tach_error err = TACH_ERROR_INIT;

	int before = descriptors();

	for (size_t i = 0; i < 400000; i++)
		text[i] = (char)('a' + i % 23);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *got = NULL;
		size_t n = 1;

		put("large", text, cases[i]);
		errno = 77;
		CHECK(tach__derived_slurp(path("large"), &got, &n, &err) == 0 && errno == 77,
		      "%s", err.text);
		CHECK(n == cases[i] && memcmp(got, text, n) == 0, "%zu of %zu", n, cases[i]);
		free(got);
	}
	free(text);
	text = NULL;
	CHECK(tach__derived_slurp(folder, &text, &(size_t){0}, &err) == -EISDIR &&
		      err.line == 0 && err.column == 0 && errno == 77 &&
		      strstr(err.text, "Is a directory"),
	      "%s", err.text);
	/* Reading an endless file ends with an error. */
	CHECK(tach__derived_slurp("/dev/zero", &text, &(size_t){0}, &err) == -EFBIG &&
		      strcmp(err.text,
			     "/dev/zero has more than 4 MB, the limit for definitions; "
			     "divide it") == 0,
	      "%s", err.text);
	CHECK(descriptors() == before, "%d of %d", descriptors(), before);
}

/* ---- the CPUs that a name selects ---- */

static void cpus(void)
{
	int pmu[64], n, skl = tach_pmu_find("skl"), icl = tach_pmu_find("icl");
	int zen4 = tach_pmu_find("amd64_fam19h_zen4"), has = 0;

	CHECK(tach__derived_cpu("skl", 3, pmu, 64) == 1 && pmu[0] == skl);
	CHECK(tach__derived_cpu("SKLx", 3, pmu, 64) == 1 && pmu[0] == skl);
	CHECK(tach__derived_cpu("sk", 2, pmu, 64) == 0);
	CHECK(tach__derived_cpu("skll", 4, pmu, 64) == 0);
	CHECK(tach__derived_cpu("", 0, pmu, 64) == 0);
	CHECK(tach__derived_cpu("amd64-FAM19h_zen4", 17, pmu, 64) == 1 && pmu[0] == zen4);
	/* The name of a PMU whose strings another PMU also accepts. */
	n = tach__derived_cpu("icl", 3, pmu, 64);
	for (int i = 0; i < n; i++)
		has |= pmu[i] == icl ? 1 : pmu[i] == tach_pmu_find("tgl") ? 2 : 0;
	CHECK(n >= 2 && has == 3, "%d", n);
	CHECK(tach__derived_cpu("icl", 3, pmu, 1) == 1);
	/* One of several names in PAPI's files. */
	n = tach__derived_cpu("Intel Pentium4", 14, pmu, 64);
	CHECK(n >= 2, "%d", n);
	for (int i = 0; i < n; i++)
		CHECK(pmu[i] >= 0 && (!i || pmu[i] != pmu[i - 1]));
	CHECK(tach__derived_cpu("intel pentium4", 14, pmu, n - 1) == n - 1);
	CHECK(tach__derived_cpu("Intel Pentium4", 13, pmu, 64) == 0);
	/* Behind all names. */
	CHECK(tach__derived_cpu("zzz", 3, pmu, 64) == 0);
}

/* ---- what a registry tells ---- */

static void loads(struct tach_derived *d, const char *text, int taken, const char *want)
{
	length = 0;
	said[0] = '\0';
	CHECK(tach_derived_load_text(d, "t", text, strlen(text), NULL) == taken, "%s", text);
	CHECK(strcmp(said, want) == 0, "%s: %s, want %s", text, said, want);
}

/* A list may repeat a name any number of times. */
static void long_lists(void)
{
	struct tach_derived *d = registry(0);
	char text[6000], *at = text;

	at += sprintf(at, "CPU,skl");
	for (int i = 0; i < 700; i++)
		at += sprintf(at, "|skl");
	at += sprintf(at, "|icl\nEVENT,a,NOT_DERIVED,x\n");
	loads(d, text, 1, "");
	CHECK(tach_derived_count(d, tach_pmu_find("skl")) == 1 &&
	      tach_derived_count(d, tach_pmu_find("icl")) == 1 &&
	      tach_derived_count(d, tach_pmu_find("skx")) == 0);
	/* A message shows a hundred bytes of a name. */
	for (int more = 0; more < 2; more++) {
		char want[200];

		snprintf(text, sizeof text, "CPU,%0*d\nEVENT,a,NOT_DERIVED,x\n", 100 + more, 0);
		snprintf(want, sizeof want, "t:1:5 0 no PMU here is called '%0100d'", 0);
		loads(d, text, 1, want);
	}
	tach_derived_free(d);
	/* All PMUs fit: core/derived/load.c, PMUS_MAX. */
	CHECK(tach_pmu_count() <= 512, "%d", tach_pmu_count());
}

static void unknown_cpu_gives_a_note(void)
{
	struct tach_derived *d = registry(TACH_DERIVED_PRESETS);

	loads(d, "CPU,nosuch\nEVENT,a,NOT_DERIVED,x\n", 1,
	      "t:1:5 0 no PMU here is called 'nosuch'");
	CHECK(is_from(d, "a", NULL, 0));
	loads(d, "CPU,nosuch|skl\nEVENT,a,NOT_DERIVED,x\nCPU,icl\nEVENT,a,NOT_DERIVED,x\n", 2,
	      "t:1:5 0 no PMU here is called 'nosuch'");
	CHECK(is_from(d, "a", "t", 2));
	loads(d, "CPU,skl|icl\n\nEVENT,A,NOT_DERIVED,y", 1,
	      "t:3:7 0 replaces the definition of a in t:2");
	loads(d, "CPU,skl|icl\nEVENT,ipc,NOT_DERIVED,y", 1,
	      "t:2:7 0 replaces the library's own ipc");
	/* A definition for every CPU does not replace a definition for one PMU. */
	loads(d, "EVENT,branch_mpki,NOT_DERIVED,y", 1, "");
	loads(d, "CPU,skl|icl|skl\nEVENT,twice,NOT_DERIVED,x", 1, "");
	loads(d, "CPU,|skl|\nEVENT,e,NOT_DERIVED,x", 1, "");
	CHECK(is_from(d, "e", "t", 2) && is_from(d, "branch_mpki", "t", 1));
	tach_derived_free(d);
}

static void arguments(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_derived *d = registry(TACH_DERIVED_PRESETS);
	struct tach_derived_info info = {.size = sizeof info}, small = {.size = 1};
	struct tach_derived_options opt = {.size = 3};
	struct tach_derived *none;
	int skl = tach_pmu_find("skl"), n = tach_derived_count(d, skl);

	CHECK(tach_derived_create(NULL, NULL, &err) == TACH_ERR_INVAL && !err.line &&
	      !err.column);
	CHECK(tach_derived_create(&opt, &none, &err) == TACH_ERR_INVAL);
	opt.size = sizeof opt;
	opt.flags = 8;
	CHECK(tach_derived_create(&opt, &none, &err) == TACH_ERR_INVAL && !err.line &&
		      !err.column && strcmp(err.text, "unknown flags 0x8") == 0,
	      "%s", err.text);
	CHECK(tach_derived_load_text(NULL, "t", "", 0, &err) == TACH_ERR_INVAL && !err.line &&
	      !err.column);
	CHECK(tach_derived_load_text(d, NULL, "", 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_derived_load_text(d, "t", NULL, 1, NULL) == TACH_ERR_INVAL);
	CHECK(tach_derived_load_text(d, "t", NULL, 0, NULL) == 0);
	CHECK(tach_derived_load(NULL, "t", &err) == TACH_ERR_INVAL && !err.line && !err.column);
	CHECK(tach_derived_load(d, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_derived_count(NULL, skl) == TACH_ERR_INVAL);
	CHECK(tach_derived_find(NULL, skl, "ipc", &info) == TACH_ERR_INVAL &&
	      tach_derived_find(d, skl, NULL, &info) == TACH_ERR_INVAL &&
	      tach_derived_find(d, skl, "ipc", NULL) == TACH_ERR_INVAL &&
	      tach_derived_find(d, skl, "ipc", &small) == TACH_ERR_INVAL);
	CHECK(tach_derived_find(d, skl, "nosuch", &info) == TACH_ERR_NOTFOUND);
	CHECK(tach_derived_at(NULL, skl, 0, &info) == TACH_ERR_INVAL &&
	      tach_derived_at(d, skl, 0, NULL) == TACH_ERR_INVAL &&
	      tach_derived_at(d, skl, -1, &info) == TACH_ERR_INVAL &&
	      tach_derived_at(d, skl, n, &info) == TACH_ERR_INVAL &&
	      tach_derived_at(d, skl, n - 1, &info) == 0 &&
	      tach_derived_at(d, skl, 0, &info) == 0);
	CHECK(tach_derived_count(d, 100000) == 0 &&
	      tach_derived_find(d, 100000, "ipc", &info) == TACH_ERR_NOTFOUND);
	tach_derived_free(NULL);
	tach_derived_free(d);
}

/*
 * The library's own definitions are for core PMUs only, and each CPU name selects one of them
 * or none.
 */
static void presets_are_for_core_pmus(void)
{
	static const char *const without[] = {"perf", "perf_raw", "skx_unc_imc0"};
	static const char *const names[] = {"", "!", "ip", "ipcx", "zzzz"};
	int skl = tach_pmu_find("skl"), n = tach__preset_count(skl);
	struct tach_derived_info info = {.size = sizeof info};

	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		int pmu = tach_pmu_find(without[i]);

		CHECK(pmu > 0 && tach__preset_count(pmu) == 0 &&
			      tach__preset_find(pmu, "ipc", 3) == -1,
		      "%s: %d", without[i], tach__preset_count(pmu));
	}
	CHECK(tach__preset_count(-1) == 0 && tach__preset_find(-1, "ipc", 3) == -1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(tach__preset_find(skl, names[i], strlen(names[i])) == -1, "%s", names[i]);
	CHECK(tach__preset_find(skl, "IPCx", 3) >= 0);
	for (int i = 0; i < n; i++) {
		tach__preset_at(skl, i, &info);
		CHECK(tach__preset_find(skl, info.name, strlen(info.name)) == i, "%s",
		      info.name);
	}
	CHECK(n > 60, "%d", n);
}

/* Sorted, each name once: a second definition replaces the first. */
static void listings_are_sorted_without_duplicates(void)
{
	struct tach_derived *d = registry(TACH_DERIVED_PRESETS);
	int skl = tach_pmu_find("skl"), icl = tach_pmu_find("icl");
	int of_skl = tach_derived_count(d, skl), of_icl = tach_derived_count(d, icl);
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *none = registry(0);

	loads(d,
	      "EVENT,IPC,NOT_DERIVED,y\nEVENT,00a,NOT_DERIVED,y\nCPU,skl\n"
	      "EVENT,00b,NOT_DERIVED,y\nEVENT,00A,NOT_DERIVED,z\n",
	      4, "");
	CHECK(tach_derived_count(d, skl) == of_skl + 2 &&
	      tach_derived_count(d, icl) == of_icl + 1);
	CHECK(tach_derived_at(d, skl, 0, &info) == 0 && strcmp(info.name, "00A") == 0 &&
	      strcmp(info.events, "z") == 0);
	CHECK(tach_derived_at(d, skl, 1, &info) == 0 && strcmp(info.name, "00b") == 0);
	CHECK(tach_derived_at(d, icl, 0, &info) == 0 && strcmp(info.name, "00a") == 0);
	loads(d, "EVENT,00a,NOT_DERIVED,w\n", 1,
	      "t:1:7 0 replaces the definition of 00a in t:2");
	CHECK(tach_derived_at(d, skl, 0, &info) == 0 && strcmp(info.events, "w") == 0);
	CHECK(tach_derived_count(d, skl) == of_skl + 2);
	loads(none,
	      "EVENT,b,NOT_DERIVED,y\nEVENT,a,NOT_DERIVED,y\nCPU,skl\n"
	      "EVENT,c,NOT_DERIVED,y\n",
	      3, "");
	CHECK(tach_derived_count(none, skl) == 3 && tach_derived_count(none, icl) == 2);
	CHECK(tach_derived_at(none, icl, 1, &info) == 0 && strcmp(info.name, "b") == 0);
	tach_derived_free(none);
	tach_derived_free(d);
}

static void events(void)
{
	static const char text[] = "EVENT,my_plain,NOT_DERIVED,INST_RETIRED:ANY_P\n"
				   "EVENT,my_two,DERIVED_ADD,cycles,branches\n"
				   "EVENT,my_same,DERIVED_ADD,INST_RETIRED:ANY_P\n";
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};
	struct tach_error err = TACH_ERROR_INIT;
	char name[300];

	CHECK(tach_derived_load_text(tach_derived_default(), "t", text, sizeof text - 1,
				     NULL) == 3);
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_event_encode("my_plain", &opt, &event, &err) == 0 && event.config == 0xc0,
	      "%s", err.text);
	CHECK(tach_event_encode("my_plain:c=1", &opt, &event, &err) == 0 &&
		      event.config == 0x10000c0,
	      "%s", err.text);
	for (int i = 0; i < 2; i++) {
		CHECK(tach_event_encode(i ? "my_two" : "my_same", &opt, &event, &err) ==
			      TACH_ERR_NOTSUPP,
		      "%d", err.code);
		CHECK(strstr(err.text, " is derived from several events: "), "%s", err.text);
	}
	snprintf(name, sizeof name, "%0*d", 256, 0);
	CHECK(tach_event_encode(name, &opt, &event, &err) < 0);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(cpus);
	if (mkdtemp(folder)) {
		make_files();
		CASE(in_order);
		CASE(too_long_a_path);
		CASE(papis_variables);
		CASE(the_largest_text);
		CASE(files_are_read_in_pieces);
		remove_files();
	}
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(unknown_cpu_gives_a_note);
	CASE(long_lists);
	CASE(arguments);
	CASE(presets_are_for_core_pmus);
	CASE(listings_are_sorted_without_duplicates);
	CASE(events);
	return check_done();
}
