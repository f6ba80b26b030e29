/* SPDX-License-Identifier: MIT */
/* Blocking calls: each function returns the call's result. Of matrix.c. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 1000 }; /* seconds: for ever */

static const struct timespec long_time = {LONG, 0};
static const struct timeval long_timeval = {LONG, 0};
static int queue, semaphores; /* System V objects, which the first process removes */
static int pipes[2], sockets[2], other_thread_tid;
static pthread_t main_thread;
static char bytes[1 << 22];

static long by_poll(int timeout)
{
	struct pollfd fd = {pipes[0], POLLIN, 0};

	return poll(&fd, 1, timeout);
}
static long call_poll(void)
{
	return by_poll(-1);
}
static long call_poll_timeout(void)
{
	return by_poll(LONG * 1000);
}
static long call_ppoll(void)
{
	struct pollfd fd = {pipes[0], POLLIN, 0};

	return ppoll(&fd, 1, NULL, NULL);
}
static long by_select(struct timeval *timeout)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	return select(pipes[0] + 1, &set, NULL, NULL, timeout);
}
static long call_select(void)
{
	return by_select(NULL);
}
static long call_select_timeout(void)
{
	struct timeval timeout = long_timeval;

	return by_select(&timeout);
}
static long call_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	return pselect(pipes[0] + 1, &set, NULL, NULL, NULL, NULL);
}
static long call_epoll_wait(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, pipes[0], &event);
	return epoll_wait(fd, &event, 1, -1);
}
static long call_nanosleep(void)
{
	return nanosleep(&long_time, NULL);
}
static long call_clock_nanosleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
}
static long call_clock_nanosleep_absolute(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LONG;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
static long call_usleep(void)
{
	return usleep(LONG * 1000000u);
}
static long call_sleep(void)
{
	return sleep(LONG);
}
static long call_thrd_sleep(void)
{
	return thrd_sleep(&long_time, NULL);
}
static long call_pause(void)
{
	return pause();
}
static long call_sigsuspend_all(void)
{
	sigset_t set;

	sigfillset(&set);
	return sigsuspend(&set);
}
static long call_sigsuspend(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGSEGV);
	return sigsuspend(&set);
}
static void make_usr1(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
}
static long call_sigwaitinfo(void)
{
	siginfo_t info;
	sigset_t set;

	make_usr1(&set);
	return sigwaitinfo(&set, &info);
}
static long call_sigtimedwait(void)
{
	siginfo_t info;
	sigset_t set;

	make_usr1(&set);
	return sigtimedwait(&set, &info, &long_time);
}
/* Signals that no way to end sends. */
static void make_unsent(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, SIGTERM);
	sigdelset(set, SIGSEGV);
	sigdelset(set, SIGABRT);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}
static long call_sigwait(void)
{
	int number = 0;
	sigset_t set;

	make_unsent(&set);
	sigwait(&set, &number);
	return number;
}
static long call_signalfd(void)
{
	struct signalfd_siginfo info;
	sigset_t set;

	make_unsent(&set);
	return read(signalfd(-1, &set, 0), &info, sizeof info);
}
static long call_sem_wait(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	return sem_wait(&semaphore);
}
static long call_sem_timedwait(void)
{
	struct timespec until;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LONG;
	return sem_timedwait(&semaphore, &until);
}
static long call_futex(void)
{
	int word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static long call_futex_timeout(void)
{
	int word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time, NULL, 0);
}
static long call_cond_wait(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	return pthread_cond_wait(&cond, &mutex);
}
static long call_join(void)
{
	return pthread_join(main_thread, NULL);
}
static long call_read(void)
{
	return read(pipes[0], bytes, 1);
}
static long call_write(void)
{
	return write(pipes[1], bytes, sizeof bytes);
}
static long call_read_eventfd(void)
{
	return read(eventfd(0, 0), bytes, 8);
}
static long call_read_timerfd(void)
{
	struct itimerspec time = {.it_value = long_time};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &time, NULL);
	return read(fd, bytes, 8);
}
static long call_read_inotify(void)
{
	return read(inotify_init(), bytes, 64);
}
static long call_recv(void)
{
	return recv(sockets[0], bytes, 1, 0);
}
static long call_recv_timeout(void)
{
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &long_timeval, sizeof long_timeval);
	return recv(sockets[0], bytes, 1, 0);
}
static long call_recvmsg(void)
{
	struct iovec vector = {bytes, 1};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};

	return recvmsg(sockets[0], &message, 0);
}
static long call_recvmmsg_timeout(void)
{
	struct iovec vector = {bytes, 1};
	struct mmsghdr message = {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}};
	struct timespec time = long_time;

	return recvmmsg(sockets[0], &message, 1, 0, &time);
}
static long call_send_timeout(void)
{
	setsockopt(sockets[0], SOL_SOCKET, SO_SNDTIMEO, &long_timeval, sizeof long_timeval);
	return send(sockets[0], bytes, sizeof bytes, 0);
}
static long by_accept(int times_out)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (times_out)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &long_timeval, sizeof long_timeval);
	listen(fd, 1);
	return accept(fd, NULL, NULL);
}
static long call_accept(void)
{
	return by_accept(0);
}
static long call_accept_timeout(void)
{
	return by_accept(1);
}
static long call_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(sa_family_t);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	bind(fd, (void *)&address, length); /* the kernel chooses an abstract name */
	length = sizeof address;
	getsockname(fd, (void *)&address, &length);
	listen(fd, 0);
	for (;;) {
		int result = connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, length);

		if (result < 0)
			return result;
	}
}
static long call_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(queue, &message, sizeof message.text, 0, 0);
}
static long call_semop(void)
{
	struct sembuf down = {0, -1, 0};

	return semop(semaphores, &down, 1);
}
static long call_mq_receive(void)
{
	char name[32], text[8192];
	mqd_t mq;

	snprintf(name, sizeof name, "/matrix.%d", (int)getpid());
	mq = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
	mq_unlink(name);
	return mq < 0 ? pause() : mq_receive(mq, text, sizeof text, NULL);
}
static long call_flock(void)
{
	int first = memfd_create("lock", 0), second;
	char name[64];

	snprintf(name, sizeof name, "/proc/self/fd/%d", first);
	second = open(name, O_RDWR);
	flock(first, LOCK_EX);
	return flock(second, LOCK_EX);
}
static long call_setlkw(void)
{
	int first = memfd_create("lock", 0), second;
	struct flock lock = {.l_type = F_WRLCK};
	char name[64];

	snprintf(name, sizeof name, "/proc/self/fd/%d", first);
	second = open(name, O_RDWR);
	fcntl(first, F_OFD_SETLKW, &lock);
	return fcntl(second, F_OFD_SETLKW, &lock);
}
/* The child ends with this thread. */
static pid_t make_child(void)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	for (;;)
		pause();
}
static long call_waitpid(void)
{
	return waitpid(make_child(), NULL, 0);
}
static long call_waitid(void)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)make_child(), &info, WEXITED);
}
static long call_open_fifo(void)
{
	char name[64];

	snprintf(name, sizeof name, "fifo.%d", (int)getpid());
	mkfifo(name, 0600);
	return open(name, O_RDONLY);
}
static int make_ring(void)
{
	struct io_uring_params parameters = {0};

	return (int)syscall(SYS_io_uring_setup, 4, &parameters);
}
static long call_io_uring(void)
{
	int fd = make_ring();

	return fd < 0 ? pause()
		      : syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
static long call_io_uring_timeout(void)
{
	struct __kernel_timespec time = {LONG, 0};
	struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&time};
	int fd = make_ring();

	return fd < 0 ? pause()
		      : syscall(SYS_io_uring_enter, fd, 0, 1,
				IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
				sizeof argument);
}
static volatile int spins = 1;
static long call_spin(void)
{
	while (spins)
		;
	return 0;
}

#define CALL(name)                                                                             \
	{                                                                                      \
#name, call_##name                                                             \
	}
static const struct call {
	const char *name;
	long (*call)(void);
} calls[] = {
	CALL(poll),
	CALL(poll_timeout),
	CALL(ppoll),
	CALL(select),
	CALL(select_timeout),
	CALL(pselect),
	CALL(epoll_wait),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(clock_nanosleep_absolute),
	CALL(usleep),
	CALL(sleep),
	CALL(thrd_sleep),
	CALL(pause),
	CALL(sigsuspend),
	CALL(sigsuspend_all),
	CALL(sigwaitinfo),
	CALL(sigtimedwait),
	CALL(sigwait),
	CALL(signalfd),
	CALL(sem_wait),
	CALL(sem_timedwait),
	CALL(futex),
	CALL(futex_timeout),
	CALL(cond_wait),
	CALL(join),
	CALL(read),
	CALL(write),
	CALL(read_eventfd),
	CALL(read_timerfd),
	CALL(read_inotify),
	CALL(recv),
	CALL(recv_timeout),
	CALL(recvmsg),
	CALL(recvmmsg_timeout),
	CALL(send_timeout),
	CALL(accept),
	CALL(accept_timeout),
	CALL(connect),
	CALL(msgrcv),
	CALL(semop),
	CALL(mq_receive),
	CALL(flock),
	CALL(setlkw),
	CALL(waitpid),
	CALL(waitid),
	CALL(open_fifo),
	CALL(io_uring),
	CALL(io_uring_timeout),
	CALL(spin),
};
