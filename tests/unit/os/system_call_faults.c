/* SPDX-License-Identifier: MIT */
/*
 * Every system call of a job fails once, in each possible way. Only some of the calls that one
 * place repeats fail (see refuse_worth). TACH_FAULTS=1: all). Each run must end with success or
 * an error code, keep errno, and give back every descriptor and mapping; on success it must
 * have done the whole work. (Allocations: tests/unit/os/allocation_faults.c; a simulated PMU:
 * tests/unit/reader/open_faults.c.)
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tach.h>
#include <tach/doctor.h>
#include <tach/fault.h>
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/unit/os/refuse.h"

static char folder[] = "/tmp/tach-faults.XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[4][256];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof path[i], "%s/%s", folder, name);
	return path[i];
}

/* ---- what a child holds ---- */

/* Mappings of counters and files; the C library's heaps are not counted. */
static int mappings(void)
{
	static char text[1 << 20];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), n = 0;
	ssize_t got, used = 0;

	while ((got = read(fd, text + used, sizeof text - 1 - (size_t)used)) > 0)
		used += got;
	close(fd);
	text[used] = 0;
	for (const char *at = text; (at = strstr(at, "anon_inode:")); at++)
		n++;
	return n;
}

/* ---- jobs: return 0 or an error number; *code is the library's code ---- */

struct job {
	const char *name;
	void (*before)(void);
	int (*run)(void);		/* runs between the marks; returns the library's code */
	const char *(*after)(int code); /* checks afterwards; returns NULL or an error text */
};

/* Descriptors that the job may keep until its thread ends: as many as without a fault. */
static int *kept;

/* Runs the job in the child; its exit status says what is wrong. */
static void live(const struct job *job, int at_all)
{
	int fds = descriptors(), maps = mappings(), code;
	const char *wrong = NULL;

	if (!refuse_me())
		_exit(77);
	if (job->before)
		job->before();
	refuse_mark();
	errno = 4711;
	code = job->run();
	/*
	 * musl's malloc changes errno if no memory is left, and the library does not restore
	 * it.
	 */
#ifdef __GLIBC__
	if (errno != 4711)
#else
	if (errno != 4711 && errno != ENOMEM)
#endif
		wrong = "errno is not what it was";
	refuse_mark();
	if (code > 0)
		wrong = "a code above 0";
	if (descriptors() > fds + *kept)
		wrong = "descriptors are left open";
	if (!at_all)
		*kept = descriptors() - fds;
	if (mappings() > maps + *kept)
		wrong = "mappings are left";
	if (!wrong && job->after)
		wrong = job->after(code);
	if (wrong)
		fprintf(stderr, "# %s (code %d)\n", wrong, code);
	_exit(wrong != NULL);
}

static void run_once(const struct job *job, struct refusal *r)
{
	pid_t pid = fork();

	if (pid == 0)
		live(job, r->at >= 0);
	refuse_follow(pid, r);
}

static void exhaust(const struct job *job)
{
	struct refusal r = {.at = -1};
	int every = getenv("TACH_FAULTS") != NULL;
	long calls, refused = 0;

	*kept = 8;
	run_once(job, &r);
	if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 77)
		SKIP("no process may trace another here");
	CHECK(r.status == 0, "%s without a fault: status %#x", job->name, (unsigned)r.status);
	calls = r.calls;
	for (long at = 0; at < calls; at++)
		for (int which = 0; refuse_worth(at, calls, every) && which < REFUSE_WAYS;
		     which++) {
			r.at = at;
			r.which = which;
			run_once(job, &r);
			refused += r.way != 0;
			CHECK(r.status == 0,
			      "%s, call %ld (number %ld) fails by %d: status %#x", job->name,
			      at, r.number, r.way, (unsigned)r.status);
			if (!r.way)
				break;
		}
	CHECK(refused > 0, "%s makes no calls", job->name);
	printf("# %s: %ld calls, %ld refusals\n", job->name, calls, refused);
}

/* Uses a reader of an event that every machine counts, from making its set to closing. */
static int count_run(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_reader *reader = NULL;
	struct tach_set *set = NULL;
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	int code;

	opt.events = "task-clock, page-faults";
	code = tach_set_create(&opt, &set, NULL);
	if (!code)
		code = tach_reader_open(set, &reader, NULL);
	if (!code) {
		uint32_t flags;

		tach_reader_begin(reader, &mark);
		flags = tach_reader_end(reader, &mark, delta);
		if (!(flags & (TACH_FLAG_LOST | TACH_FLAG_SYSCALL)))
			code = 1;
	}
	tach_reader_close(reader);
	tach_set_free(set);
	return code;
}

static void counting(void)
{
	exhaust(&(struct job){"counting", NULL, count_run, NULL});
}

/* ---- reports ---- */

static struct tach_snapshot *snapshot;
static int report_file = -1;
static off_t whole;
static enum tach_format format;

static void report_before(void)
{
	if (ftruncate(report_file, 0))
		_exit(2);
}

static int report_run(void)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = format};
	int code;

	code = tach_report_fd(snapshot, &opt, report_file, NULL);
	return code;
}

/* Success means that the report is complete. */
static const char *report_after(int code)
{
	struct stat st;

	fstat(report_file, &st);
	return code == 0 && whole && st.st_size != whole ? "not all of the report was written"
							 : NULL;
}

static void some_regions(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "", .histograms = 1};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		TACH_START(outer);
		TACH_START(inner);
		TACH_STOP(inner);
		TACH_STOP(outer);
	}
}

static void reports(void)
{
	struct stat st;

	some_regions();
	CHECK(tach_snapshot_take(&snapshot, NULL) == 0);
	for (format = TACH_FORMAT_TEXT; format <= TACH_FORMAT_PROMETHEUS; format++) {
		whole = 0;
		report_file = open(in_folder("report"), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC,
				   0600);
		report_before();
		CHECK(report_run() == 0);
		fstat(report_file, &st);
		whole = st.st_size;
		exhaust(&(struct job){"report", report_before, report_run, report_after});
		close(report_file);
	}
	tach_snapshot_free(snapshot);
	tach_regions_disable();
}

/* ---- regions: the start of a thread, its slots, a snapshot at the same time ---- */

static int regions_run(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = "page-faults", .histograms = 1};
	struct tach_snapshot *s = NULL;
	int code = tach_regions_configure(&opt, NULL);

	TACH_START(region);
	TACH_STOP(region);
	if (!code)
		code = tach_snapshot_take(&s, NULL);
	tach_snapshot_free(s);
	tach_regions_disable();
	return code;
}

/* A fork while regions count: the fork hooks in the parent, and counting in the child. */
static int fork_run(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "page-faults"};
	int code = tach_regions_configure(&opt, NULL), status = 0;
	pid_t child;

	TACH_START(forked);
	child = fork();
	if (child == 0) {
		TACH_START(in_the_child);
		TACH_STOP(in_the_child);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	TACH_STOP(forked);
	errno = 4711; /* fork may have failed and set errno */
	tach_regions_disable();
	return status ? 1 : code;
}

static void forks(void)
{
	exhaust(&(struct job){"fork", NULL, fork_run, NULL});
}

static void regions(void)
{
	exhaust(&(struct job){"regions", NULL, regions_run, NULL});
}

/* ---- the doctor, the handlers, definitions, benchmarks ---- */

static int doctor_run(void)
{
	struct tach_examination x = {.size = sizeof x};

	return tach_doctor_examine(NULL, &x, NULL);
}

static void doctor(void)
{
	exhaust(&(struct job){"doctor", NULL, doctor_run, NULL});
}

static int handlers_run(void)
{
	int code = tach_fault_install(NULL);

	if (code >= 0)
		tach_fault_remove();
	return code < 0 ? code : 0;
}

/* Either both signals have our handlers, or none has. */
static const char *handlers_after(int code)
{
	struct sigaction segv, ill;

	(void)code;
	sigaction(SIGSEGV, NULL, &segv);
	sigaction(SIGILL, NULL, &ill);
	return code < 0 && (segv.sa_handler != SIG_DFL || ill.sa_handler != SIG_DFL)
		       ? "a handler is left behind"
		       : NULL;
}

static void handlers(void)
{
	if (tach_fault_install(NULL) < 0)
		SKIP("no counter is read in user space on this architecture");
	tach_fault_remove();
	exhaust(&(struct job){"handlers", NULL, handlers_run, handlers_after});
}

static int derived_run(void)
{
	struct tach_derived *d = NULL;
	int code = tach_derived_create(NULL, &d, NULL);

	if (!code)
		code = tach_derived_load(d, in_folder("definitions"), NULL);
	tach_derived_free(d);
	return code > 0 ? 0 : code;
}

static void definitions(void)
{
	FILE *f = fopen(in_folder("definitions"), "we");

	fputs("CPU,skl\nPRESET,A,NOT_DERIVED,INST_RETIRED:ANY_P\n", f);
	for (int i = 0; i < 2000; i++)
		fprintf(f,
			"EVENT,E%d,DERIVED_ADD,INST_RETIRED:ANY_P,CPU_CLK_UNHALTED:THREAD_P\n",
			i);
	fclose(f);
	exhaust(&(struct job){"definitions", NULL, derived_run, NULL});
}

static void nothing(void *context, uint64_t n)
{
	(void)context;
	for (; n; n--)
		__asm__ volatile("" : : : "memory");
}

static int bench_run(void)
{
	struct tach_bench_options opt = {.size = sizeof opt, .events = "page-faults"};
	struct tach_bench *bench = NULL;
	int code;

	opt.samples = 5;
	opt.iterations = 10;
	code = tach_bench_run("nothing", nothing, NULL, &opt, &bench, NULL);
	tach_bench_free(bench);
	return code;
}

static void benchmarks(void)
{
	exhaust(&(struct job){"benchmark", NULL, bench_run, NULL});
}

/* ---- the command, from its start: it ends, and reports incomplete work ---- */

static void run_command(const char *const *argv, struct refusal *r)
{
	pid_t pid = fork();

	if (pid == 0) {
		int out = open(in_folder("output"), O_CREAT | O_WRONLY | O_TRUNC, 0600);

		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		close(out);
		if (!refuse_me())
			_exit(77);
		refuse_mark();
		execv(argv[0], (char *const *)argv);
		_exit(126);
	}
	refuse_follow(pid, r);
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(in_folder(name), &st) == 0 ? st.st_size : 0;
}

static void command(const char *const *argv, const char *file)
{
	/*
	 * The loader may crash on errors; glibc's unmaps its cache when it is done, musl's
	 * protects relocated data, so counting starts there.
	 */
#ifdef __GLIBC__
	struct refusal r = {.at = -1, .from = SYS_munmap};
#else
	struct refusal r = {.at = -1, .from = SYS_mprotect};
#endif
	int every = getenv("TACH_FAULTS") != NULL;
	off_t all;

	run_command(argv, &r);
	if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 77)
		SKIP("no process may trace another here");
	CHECK(r.status == 0 && r.calls > 0, "%s without a fault: status %#x, %ld calls",
	      argv[1], (unsigned)r.status, r.calls);
	all = size_of(file);
	printf("# %s: %ld calls, %ld bytes\n", argv[1], r.calls, (long)all);
	for (long at = 0, calls = r.calls; at < calls; at++)
		for (int which = 0; refuse_worth(at, calls, every) && which < REFUSE_WAYS;
		     which++) {
			r.at = at;
			r.which = which;
			run_command(argv, &r);
			CHECK(WIFEXITED(r.status), "%s, call %ld (number %ld) fails by %d: %#x",
			      argv[1], at, r.number, r.way, (unsigned)r.status);
			CHECK(r.status != 0 || !all || size_of(file) == all,
			      "%s, call %ld (number %ld) fails by %d: %ld bytes of %ld",
			      argv[1], at, r.number, r.way, (long)size_of(file), (long)all);
			if (!r.way)
				break;
		}
}

static void commands(void)
{
	static char tach[256], out[256], saved[256];
	const char *b = getenv("B");
	const char *encode[] = {tach, "encode", "skl::INST_RETIRED:ANY_P", NULL};
	const char *list[] = {tach, "list", "--pmu", "skl", "inst_retired", NULL};
	const char *report[] = {tach, "report", "-o", out, saved, NULL};

	snprintf(tach, sizeof tach, "%s/tach", b ? b : "build");
	snprintf(out, sizeof out, "%s", in_folder("out.json"));
	snprintf(saved, sizeof saved, "%s", in_folder("saved.json"));
	some_regions();
	if (tach_snapshot_take(&snapshot, NULL) == 0) {
		struct tach_report_options opt = {.size = sizeof opt,
						  .format = TACH_FORMAT_JSON};
		int fd = open(saved, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

		CHECK(tach_report_fd(snapshot, &opt, fd, NULL) == 0);
		close(fd);
	}
	tach_snapshot_free(snapshot);
	tach_regions_disable();
	command(encode, "output");
	command(list, "output");
	command(report, "out.json");
	unlink(saved);
	unlink(out);
	unlink(in_folder("output"));
}

/* Tracer and child run in turn: on one processor neither waits for the other to wake up. */
static void one_processor(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	puts("a sanitizer's own system calls would be refused, and it waits for them for ever");
	return 77;
#endif
	one_processor();
	kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (!mkdtemp(folder) || kept == MAP_FAILED)
		return 1;
	CASE(counting);
	CASE(regions);
	CASE(forks);
	CASE(reports);
	CASE(doctor);
	CASE(handlers);
	CASE(definitions);
	CASE(benchmarks);
	CASE(commands);
	unlink(in_folder("report"));
	unlink(in_folder("definitions"));
	rmdir(folder);
	return check_done();
}
