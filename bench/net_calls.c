/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts system calls without a tracer: the program has the functions of the C
 * library by which servers read, write and wait, for itself and for the shared
 * libraries that it links. Under the sanitizers, which have these themselves,
 * nothing is counted.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net.h"

static uint64_t n_calls; /* atomic, relaxed: a figure */
static __thread bool left_out;

void net_calls_leave_out(bool leave_out)
{
	left_out = leave_out;
}

uint64_t net_calls(void)
{
	return __atomic_load_n(&n_calls, __ATOMIC_RELAXED);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define SIGSET_SIZE 8 /* the kernel's */

static void called(void)
{
	if (!left_out)
		__atomic_fetch_add(&n_calls, 1, __ATOMIC_RELAXED);
}

ssize_t read(int fd, void *data, size_t n)
{
	called();
	return syscall(SYS_read, fd, data, n);
}

ssize_t write(int fd, const void *data, size_t n)
{
	called();
	return syscall(SYS_write, fd, data, n);
}

ssize_t readv(int fd, const struct iovec *pieces, int n)
{
	called();
	return syscall(SYS_readv, fd, pieces, n);
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
	called();
	return syscall(SYS_writev, fd, pieces, n);
}

ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
	       unsigned flags)
{
	called();
	return syscall(SYS_splice, from, from_at, to, to_at, n, flags);
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
	called();
	return syscall(SYS_recvfrom, fd, data, n, flags, NULL, NULL);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
	called();
	return syscall(SYS_sendto, fd, data, n, flags, NULL, 0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	called();
	return syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	called();
	return syscall(SYS_sendmsg, fd, message, flags);
}

int epoll_wait(int epoll, struct epoll_event *events, int n, int timeout)
{
	called();
	return (int)syscall(SYS_epoll_pwait, epoll, events, n, timeout, NULL,
			    SIGSET_SIZE);
}

int epoll_pwait(int epoll, struct epoll_event *events, int n, int timeout,
		const sigset_t *signals)
{
	called();
	return (int)syscall(SYS_epoll_pwait, epoll, events, n, timeout, signals,
			    SIGSET_SIZE);
}

int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	called();
	return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at,
		    struct itimerspec *before)
{
	called();
	return (int)syscall(SYS_timerfd_settime, fd, flags, at, before);
}

#endif
