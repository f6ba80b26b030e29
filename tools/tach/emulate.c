/* SPDX-License-Identifier: MIT */
/* `tach run --emulate`: runs programs in QEMU's user mode, with the counting plugin. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/emulate.h"
#include "tools/tach/run.h"

#define PLUGIN "libtach-emulate.so"
enum { SCRIPTS_MAX = 5, LINE_MAX_ = 256 }; /* limits of the kernel (fs/exec.c, binfmts.h) */

#if defined(__aarch64__)
#define HERE EM_AARCH64
#else
#define HERE EM_X86_64
#endif

/* Machine names in the names of QEMU's programs, and in Linux's uname(2). NULL: unsupported. */
static const char *machine_name(int machine)
{
	return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : NULL;
}

/*
 * Examines a file as the kernel does. Returns EM_*; 0 for a script, with its first line in
 * *line; -1 with errno.
 */
static int examine_file(const char *file, char *line)
{
	union {
		Elf64_Ehdr elf;
		char text[LINE_MAX_];
	} head;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &head, sizeof head - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	head.text[n] = '\0';
	*line = '\0';
	if (n >= 2 && memcmp(head.text, "#!", 2) == 0) {
		snprintf(line, LINE_MAX_, "%.*s", (int)strcspn(head.text + 2, "\n"),
			 head.text + 2);
		return 0;
	}
	if (n < (ssize_t)sizeof head.elf || memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return head.elf.e_ident[EI_CLASS] == ELFCLASS64 ? head.elf.e_machine : EM_NONE - 2;
}

/* ---- finding QEMU ---- */

static int run_quietly(const char *file, const char *option, char *text, size_t size)
{
	size_t length = 0;
	int out[2], status;
	ssize_t n;
	pid_t child;

	if (pipe2(out, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		dup2(out[1], 1);
		execl(file, file, option, (char *)NULL);
		_exit(RUN_MISSING);
	}
	close(out[1]);
	while ((n = read(out[0], text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(out[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* Debian 13's QEMU is statically linked, so it cannot load plugins. */
static int takes_plugins(const char *qemu)
{
	static char help[65536];

	return run_quietly(qemu, "-help", help, sizeof help) == 0 &&
	       strstr(help, "\n-plugin ") != NULL;
}

/*
 * We execute programs from the cache, so other users must not be able to write to it
 * (tools/cache).
 */
static int is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Finds the QEMU that `make qemu-user` built: tools/emulate/qemu. */
static int find_built(char *path, size_t size, const char *name)
{
	const char *cache = getenv("TACH_CACHE"), *user = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char folder[4000];

	if (cache && *cache)
		snprintf(folder, sizeof folder, "%s/qemu-user", cache);
	else if (user && *user)
		snprintf(folder, sizeof folder, "%s/tach/qemu-user", user);
	else if (home && *home)
		snprintf(folder, sizeof folder, "%s/.cache/tach/qemu-user", home);
	else
		return -1;
	snprintf(path, size, "%s/%s", folder, name);
	return is_ours(folder) && is_ours(path) && access(path, X_OK) == 0 ? 0 : -1;
}

/*
 * Searches TACH_QEMU (the folder of QEMU's programs), PATH, then the cache. Returns 0, or an
 * error after printing what is missing.
 */
static int find_qemu(char *folder, size_t size, const char *machine)
{
	const char *given = getenv("TACH_QEMU");
	char name[64], path[4096];
	int found, takes;

	snprintf(name, sizeof name, "qemu-%s", machine);
	if (given && *given) {
		snprintf(path, sizeof path, "%s/%s", given, name);
		found = access(path, X_OK) == 0;
	} else {
		found = run_find_program(path, sizeof path, name) == 0;
	}
	takes = found && takes_plugins(path);
	if (!takes && !(given && *given))
		takes = find_built(path, sizeof path, name) == 0 && takes_plugins(path);
	if (takes) {
		*strrchr(path, '/') = '\0';
		snprintf(folder, size, "%s", path);
		return 0;
	}
	fprintf(stderr,
		"tach run: --emulate takes %s with plugins, %s; Debian 12 has it in its "
		"package qemu-user; elsewhere 'make qemu-user' in libtach's sources builds "
		"it from Debian's, or build QEMU with --enable-plugins "
		"--target-list=%s-linux-user and let TACH_QEMU name the folder\n",
		name,
		!found	? "which is not there"
		: given ? "and that in TACH_QEMU takes none"
			: "and that in PATH takes none (Debian 13's)",
		machine);
	return -1;
}

static int self_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	if (n <= 0)
		return -1;
	path[n] = '\0';
	return 0;
}

int emulate_ready(const char *program)
{
	char line[LINE_MAX_], folder[4096], object[4096], self[4096];
	int machine = examine_file(program, line);
	const char *name = machine_name(machine > 0 ? machine : HERE);

	if (machine < -1 || !name) {
		fprintf(stderr, "tach run: %s: --emulate is for programs of x86-64 and arm64\n",
			program);
		return -1;
	}
	if (run_find_file(object, sizeof object, PLUGIN) != 0) {
		fprintf(stderr,
			"tach run: " PLUGIN " is neither in the folder of this program nor in "
			"../lib/tach\n");
		return -1;
	}
	if (find_qemu(folder, sizeof folder, name) != 0 || self_path(self, sizeof self) != 0)
		return -1;
	setenv("TACH_EMULATE", self, 1);
	setenv("TACH_QEMU", folder, 1);
	setenv("TACH_PLUGIN", object, 1);
	return machine > 0 && machine != HERE;
}

/* ---- the command line ---- */

struct line {
	char **word;
	size_t n, room;
};

static void put(struct line *l, const char *word)
{
	if (l->n + 2 > l->room) {
		l->room = 2 * l->room + 16;
		l->word = realloc(l->word, l->room * sizeof *l->word);
		if (!l->word)
			_exit(RUN_FAILED);
	}
	l->word[l->n++] = (char *)word;
	l->word[l->n] = NULL;
}

/*
 * QEMU expects commas doubled (its option -plugin). The requested names decide whether loads
 * and stores are counted, which doubles the cost.
 */
static char *plugin_option(void)
{
	const char *names[] = {getenv("TACH_EVENTS"), getenv("TACH_METRICS")};
	const char *path = getenv("TACH_PLUGIN");
	char *option = malloc(2 * strlen(path) + 32), *to = option;
	int memory = 0;

	if (!option)
		_exit(RUN_FAILED);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		memory |= names[i] && strcasestr(names[i], "L1");
	for (; *path; path++) {
		*to++ = *path;
		if (*path == ',')
			*to++ = ',';
	}
	strcpy(to, memory ? ",memory=on" : "");
	return option;
}

/* Objects to preload into the program must not be preloaded into QEMU. */
static void put_preload(struct line *l, int machine)
{
	const char *preload = getenv("LD_PRELOAD");
	char *option;

	/* The clock has the rate of this machine's architecture. */
	if (machine != HERE)
		unsetenv("TACH_CLOCK");
	else if (preload && *preload && asprintf(&option, "LD_PRELOAD=%s", preload) > 0) {
		put(l, "-E");
		put(l, option);
	}
	unsetenv("LD_PRELOAD");
}

static void put_qemu(struct line *l, int machine)
{
	char *qemu;

	if (asprintf(&qemu, "%s/qemu-%s", getenv("TACH_QEMU"), machine_name(machine)) < 0)
		_exit(RUN_FAILED);
	put(l, qemu);
	/*
	 * The emulated CPU is the same on every machine, unless QEMU_CPU, QEMU's own variable,
	 * is set.
	 */
	if (!getenv("QEMU_CPU")) {
		put(l, "-cpu");
		put(l, "max");
	}
	put(l, "-plugin");
	put(l, plugin_option());
	put_preload(l, machine);
}

/* "#! INTERPRETER [ARGUMENT]": replaces the script's name by these words. */
static char **script(const char *file, char *line, char **argv, const char **interpreter)
{
	struct line l = {0};
	char *rest;

	line += strspn(line, " \t");
	rest = line + strcspn(line, " \t");
	*interpreter = line;
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	for (size_t n = strlen(rest); n && strchr(" \t", rest[n - 1]);)
		rest[--n] = '\0';
	/* If a file is neither ELF nor a script, a shell runs it, as in execvp(3). */
	if (!*line)
		*interpreter = "/bin/sh";
	put(&l, *interpreter);
	if (*rest)
		put(&l, rest);
	put(&l, file);
	for (argv++; *argv; argv++)
		put(&l, *argv);
	return l.word;
}

int emulate_exec(const char *file, char **argv)
{
	struct line l = {0};
	int machine = 0;

	for (int depth = 0; depth < SCRIPTS_MAX && !machine; depth++) {
		char *line = malloc(LINE_MAX_);

		machine = line ? examine_file(file, line) : -1;
		if (machine == 0)
			argv = script(file, line, argv, &file);
	}
	if (machine == -1)
		return -1;
	if (machine <= 0 || !machine_name(machine)) {
		errno = ENOEXEC;
		return -1;
	}
	if (access(file, X_OK) != 0)
		return -1;
	put_qemu(&l, machine);
	put(&l, "-0");
	put(&l, argv[0] ? argv[0] : file);
	put(&l, file);
	for (size_t i = 1; argv[0] && argv[i]; i++)
		put(&l, argv[i]);
	execv(l.word[0], l.word);
	return -1;
}

/* The emulator counts other events than this machine, so the check runs in the emulator. */
int emulate_check(const struct run_arguments *a)
{
	char self[] = "tach", command[] = "emulated", option[] = "--check";
	char *argv[] = {self, command, option, NULL};
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		unsetenv("LD_PRELOAD");
		unsetenv("TACH_EVENTS");
		unsetenv("TACH_METRICS");
		if (a->events)
			setenv("TACH_EVENTS", a->events, 1);
		if (a->metrics)
			setenv("TACH_METRICS", a->metrics, 1);
		emulate_exec(getenv("TACH_EMULATE"), argv);
		fprintf(stderr, "tach run: %s: %s\n", getenv("TACH_QEMU"), strerror(errno));
		_exit(RUN_FAILED);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : RUN_FAILED;
}

static int check_emulation(void)
{
	struct run_arguments a = {.events = getenv("TACH_EVENTS"),
				  .metrics = getenv("TACH_METRICS")};

	return run_check_events(&a);
}

/*
 * The command for programs that an emulated program starts: tools/run/emulate.c. Users do not
 * call it.
 */
int cmd_emulated(int argc, char **argv)
{
	if (argc < 2 || !getenv("TACH_QEMU") || !getenv("TACH_PLUGIN")) {
		fprintf(stderr, "tach emulated: tach run --emulate starts this\n");
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--check") == 0)
		return check_emulation();
	emulate_exec(argv[1], argv + 2);
	/* A program that cannot be emulated (32 bits) runs natively, and is not counted. */
	execv(argv[1], argv + 2);
	fprintf(stderr, "tach run: %s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT ? RUN_MISSING : RUN_CANNOT;
}
