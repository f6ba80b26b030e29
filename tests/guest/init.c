/* SPDX-License-Identifier: MIT */
/*
 * Process 1 of a test guest, the same for every architecture: mounts the file systems that
 * programs expect, runs the commands of /run.list one after the other, and resets the machine.
 * tests/guest/boot measures time, because it knows how much of a processor the guest gets: a
 * line that it writes to the console ends the running program.
 *
 * Lines on the console for tests/guest/boot:
 *
 *     @@ run COMMAND	  the program's own output follows
 *     @@ exit STATUS	  as a shell counts: 128 + signal when killed, 124 when killed for boot
 *     @@ end STATUS	  the first status that is neither 0 nor 77, or 0: all ran
 *
 * Variables given on the kernel's command line (NAME=VALUE) reach the programs as environment.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_WORDS = 64, SKIPPED = 77, OUT_OF_TIME = 124 };

static void mount_all(void)
{
	static const struct {
		const char *type, *where;
	} list[] = {
		{"proc", "/proc"},	     {"sysfs", "/sys"},
		{"devtmpfs", "/dev"},	     {"tmpfs", "/tmp"},
		{"tmpfs", "/dev/shm"},	     {"tracefs", "/sys/kernel/tracing"},
		{"tmpfs", "/sys/fs/cgroup"},
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		mkdir(list[i].where, 0755);
		mount(list[i].type, list[i].where, list[i].type, 0, NULL);
	}
}

static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR);
	struct termios terminal;

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tcgetattr(STDIN_FILENO, &terminal) == 0) {
		terminal.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

/*
 * The kernel changes its code when the first event of a kind is opened and when the last one is
 * closed. Debian's QEMU 7.2 translates code while another processor changes it, and may then
 * execute the old code permanently (README.md): events then do not count, or are not switched
 * with their thread. So one event of each kind stays open, as on a machine with a permanent
 * profiler. The QEMU of x86 has a fix.
 */
static void keep_events_open(void)
{
#if !defined(__x86_64__)
	struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE};

	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		return;
	for (; attr.config < PERF_COUNT_SW_MAX; attr.config++)
		syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
#endif
}

static void nothing(int number)
{
	(void)number;
}

static void show_file(const char *pid, const char *name)
{
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.16s/%s", pid, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		printf("# %s %s: %.*s\n", pid, name, (int)strcspn(line, "\n"), line);
	if (file)
		fclose(file);
}

/*
 * Before a program is killed, prints where it and its children are, to distinguish a rare
 * deadlock from slowness. Kernel threads are skipped.
 */
static void show_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[64], target[8];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof path, "/proc/%.16s/exe", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    readlink(path, target, sizeof target) < 0)
			continue;
		show_file(entry->d_name, "stat");
		show_file(entry->d_name, "syscall");
		show_file(entry->d_name, "stack");
	}
	if (dir)
		closedir(dir);
}

/* Prints the kernel's messages about a death: they are not on the console. */
static void show_messages(int messages)
{
	char record[8192];
	ssize_t n;

	/*
	 * Each read(2) returns one record; "priority,number,microseconds,flags;text". EPIPE:
	 * later records were overwritten.
	 */
	while ((n = read(messages, record, sizeof record - 1)) > 0 ||
	       (n < 0 && errno == EPIPE)) {
		char *text;

		record[n > 0 ? n : 0] = 0;
		text = strchr(record, ';');
		if (text)
			printf("# kernel: %.*s\n", (int)strcspn(text + 1, "\n"), text + 1);
	}
}

/* Waits for the child, or kills it and its session when a line comes from outside. */
static int wait_for(pid_t child)
{
	struct pollfd console = {.fd = STDIN_FILENO, .events = POLLIN};
	sigset_t none;
	int status, killed = 0;
	char line[64];

	sigemptyset(&none);
	for (;;) {
		pid_t done;

		while ((done = waitpid(-1, &status, WNOHANG)) > 0) {
			if (done != child)
				continue;
			if (killed)
				return OUT_OF_TIME;
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
		/* SIGCHLD is blocked except here, so no signal is missed. */
		if (ppoll(&console, 1, NULL, &none) > 0 &&
		    read(STDIN_FILENO, line, sizeof line) > 0) {
			killed = 1;
			show_processes();
			kill(-child, SIGKILL);
			kill(child, SIGKILL);
		}
	}
}

static int run(char *command)
{
	char *argv[MAX_WORDS + 1];
	int argc = 0, status, messages = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pid_t child;

	lseek(messages, 0, SEEK_END);
	printf("@@ run %s\n", command);
	for (char *w = strtok(command, " "); w && argc < MAX_WORDS; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	child = fork();
	if (child == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		/* Only process 1 reads the console. */
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
		execvp(argv[0], argv);
		printf("# %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	status = wait_for(child);
	if (status > 128)
		show_messages(messages);
	close(messages);
	return status;
}

int main(void)
{
	int first = 0;
	char line[4096];
	sigset_t chld;
	FILE *list;

	mount_all();
	open_console();
	keep_events_open();
	/* Show where a program died by a signal: arm64 does not show it by default. */
	write_file("/proc/sys/debug/exception-trace", "1");
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	signal(SIGCHLD, nothing);
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/tmp", 1);

	list = fopen("/run.list", "re");
	while (list && fgets(line, sizeof line, list)) {
		int status;

		line[strcspn(line, "\n")] = 0;
		if (!line[0])
			continue;
		/*
		 * Without these settings no counter is readable in user space: arm64's is off
		 * after boot, and a program that dies may leave either one off.
		 */
		write_file("/proc/sys/kernel/perf_user_access", "1");
		write_file("/sys/bus/event_source/devices/cpu/rdpmc", "1");
		status = run(line);
		printf("@@ exit %d\n", status);
		if (first == 0 && status != SKIPPED)
			first = status;
	}
	printf("@@ end %d\n", first);
	/*
	 * Another processor may still be sending output, and might get no time before the end.
	 */
	tcdrain(STDOUT_FILENO);
	sync();
	/* QEMU runs with -no-reboot: a reset ends it, on every machine type. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
