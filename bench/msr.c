/* SPDX-License-Identifier: MIT */
/*
 * Provides what LIKWID needs in a guest (bench/likwid-guest): the msr module and its device
 * node. When called as "sh", it answers the only question that LIKWID asks a shell: the path of
 * its access daemon, which is not used.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MSR_MAJOR = 202 }; /* Linux, Documentation/admin-guide/devices.txt */

int main(int argc, char **argv)
{
	int fd;

	(void)argc;
	if (strcmp(argv[0] + strlen(argv[0]) - 2, "sh") == 0) {
		fputs("/bin/likwid-accessD", stdout);
		return 0;
	}
	fd = open("/bin/msr.ko", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "allow_writes=on", 0) != 0) {
		perror("msr.ko");
		return 1;
	}
	mkdir("/var", 0755);
	mkdir("/var/run", 0755);
	mkdir("/dev/cpu", 0755);
	mkdir("/dev/cpu/0", 0755);
	if (mknod("/dev/cpu/0/msr", S_IFCHR | 0600, makedev(MSR_MAJOR, 0)) != 0) {
		perror("/dev/cpu/0/msr");
		return 1;
	}
	return 0;
}
