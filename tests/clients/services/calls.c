/* SPDX-License-Identifier: MIT */
/*
 * Preloaded library: regions around the calls by which a server waits, reads and writes. The
 * program is not changed.
 */
#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <tach.h>

#define NEXT(name, ...)                                                                        \
	static __typeof__(&(name)) next;                                                       \
	__typeof__((name)(__VA_ARGS__)) result;                                                \
                                                                                               \
	if (!next)                                                                             \
		next = (__typeof__(next))dlsym(RTLD_NEXT, #name);                              \
	TACH_START(name);                                                                      \
	result = next(__VA_ARGS__);                                                            \
	TACH_STOP(name);                                                                       \
	return result

ssize_t read(int fd, void *to, size_t size)
{
	NEXT(read, fd, to, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
	NEXT(write, fd, from, size);
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
	NEXT(recv, fd, to, size, flags);
}

ssize_t writev(int fd, const struct iovec *from, int n)
{
	NEXT(writev, fd, from, n);
}

int epoll_wait(int fd, struct epoll_event *to, int most, int timeout)
{
	NEXT(epoll_wait, fd, to, most, timeout);
}
