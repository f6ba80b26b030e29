/* SPDX-License-Identifier: MIT */
/*
 * `tach run --emulate` also emulates programs that an emulated program starts. But exec in an
 * emulator is the machine's own exec, which would run them natively and without counting. So
 * exec starts the command in TACH_EMULATE instead: `tach emulated FILE ARGUMENT...` runs FILE
 * in the emulator with these arguments; the first one is the program's name.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/os/emulator.h"
#include "tools/run/load.h"
#include "tools/run/run.h"

static const char *launcher(void)
{
	return run_measures() && tach__emulated_counts() ? getenv("TACH_EMULATE") : NULL;
}

/* If a program is started with an empty environment, it gets none of our variables. */
static int passes(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, "TACH_EMULATE=", 13) == 0)
			return 1;
	return 0;
}

/* Allocates with mmap: the caller may be a child of fork in a program with threads. */
void run_emulated(struct run_emulated *e, const char *file, char *const argv[],
		  char *const envp[])
{
	static char command[] = "emulated";
	static char self[4096];
	const char *by = launcher();
	size_t n = 0;
	ssize_t length;

	e->file = file;
	e->argv = argv;
	e->size = 0;
	if (!by || !passes(envp) || !argv || !argv[0])
		return;
	/* In the command that starts the emulator, /proc/self/exe would be that command. */
	if (strcmp(file, "/proc/self/exe") == 0 &&
	    (length = readlink(file, self, sizeof self - 1)) > 0) {
		self[length] = '\0';
		file = self;
	}
	while (argv[n])
		n++;
	e->size = (n + 4) * sizeof *argv;
	char **words =
		mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED) {
		e->size = 0;
		return;
	}
	words[0] = (char *)by;
	words[1] = command;
	words[2] = (char *)file;
	memcpy(words + 3, argv, (n + 1) * sizeof *argv);
	e->file = by;
	e->argv = words;
}

void run_emulated_not(const struct run_emulated *e)
{
	if (e->size)
		munmap((void *)e->argv, e->size);
}

int run_find(char *path, size_t size, const char *name)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return access(path, X_OK);
	}
	for (at = at ? at : "/bin:/usr/bin"; *at; at += *at == ':') {
		size_t n = strcspn(at, ":");

		snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
		if (access(path, X_OK) == 0)
			return 0;
		at += n;
	}
	return -1;
}

/* Fails in a program that is not emulated: there, exec itself searches PATH. */
int run_emulated_find(char *path, size_t size, const char *name)
{
	return launcher() ? run_find(path, size, name) : -1;
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict file,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		       char *const envp[restrict])
{
	struct run_emulated e;
	struct run_load l;
	int code;

	/*
	 * The program must get its own error, not that of the command; QEMU would lose it,
	 * because its vfork is a fork. Relative names with actions are skipped: the actions may
	 * change the folder first.
	 */
	if (launcher() && access(file, X_OK) != 0 && (!actions || *file == '/'))
		return errno;
	run_load(&l, AT_FDCWD, file, envp);
	run_emulated(&e, file, argv, l.envp);
	code = NEXT(posix_spawn)(pid, e.file, actions, attributes, e.argv, l.envp);
	run_emulated_not(&e);
	run_load_end(&l);
	return code;
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes,
			char *const argv[restrict], char *const envp[restrict])
{
	char path[4096];
	struct run_load l;
	int code;

	if (run_emulated_find(path, sizeof path, file) == 0)
		return posix_spawn(pid, path, actions, attributes, argv, envp);
	if (launcher())
		return ENOENT;
	run_load(&l, AT_FDCWD, run_find(path, sizeof path, file) == 0 ? path : file, envp);
	code = NEXT(posix_spawnp)(pid, file, actions, attributes, argv, l.envp);
	run_load_end(&l);
	return code;
}

/*
 * The C library starts /bin/sh by internal calls. So that shell runs natively, and then
 * executes its only word, our command. Returns NULL to leave the command unchanged.
 */
static char *shell_command(const char *command)
{
	const char *by = launcher();
	size_t size, n;
	char *text;

	if (!by || !command)
		return NULL;
	size = 4 * (strlen(by) + strlen(command)) + 64;
	text = malloc(size);
	if (!text)
		return NULL;
	n = (size_t)sprintf(text, "exec '");
	for (int second = 0; second < 2; second++) {
		for (const char *c = second ? command : by; *c; c++)
			n += (size_t)sprintf(text + n, *c == '\'' ? "'\\''" : "%c", *c);
		n += (size_t)sprintf(text + n, second ? "'" : "' emulated /bin/sh sh -c '");
	}
	return text;
}

EXPORT int system(const char *command)
{
	char *text = shell_command(command);
	int status;

	if (command)
		run_load_shell();
	status = NEXT(system)(text ? text : command);
	free(text);
	return status;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	char *text = shell_command(command);
	FILE *stream;

	run_load_shell();
	stream = NEXT(popen)(text ? text : command, mode);
	free(text);
	return stream;
}
