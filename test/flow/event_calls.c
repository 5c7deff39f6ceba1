/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that fail in turn, for programs that wrap all of these. */
#include "flow/event_kit.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <ck_pr.h>

static struct {
	bool on;
	uint32_t n, fail_at;
	int code;
} calls;

void calls_begin(uint32_t fail_at)
{
	calls.n = 0;
	calls.fail_at = fail_at;
	calls.code = EIO;
	calls.on = true;
}

void calls_fail_with(int code)
{
	calls.code = code;
}

uint32_t calls_end(void)
{
	calls.on = false;
	return calls.n;
}

void calls_go_on(void)
{
	calls.on = true;
}

bool call_fails(void)
{
	if (!calls.on || ++calls.n != calls.fail_at)
		return false;
	errno = calls.code;
	return true;
}

#define WRAP(type, name, parameters, ...) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return call_fails() ? -1 : __real_##name(__VA_ARGS__); \
	}

WRAP(ssize_t, read, (int fd, void *to, size_t n), fd, to, n)
WRAP(int, signalfd, (int fd, const sigset_t *set, int flags), fd, set, flags)
WRAP(int, inotify_init1, (int flags), flags)
WRAP(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), fd,
     path, mask)
WRAP(int, fstat64, (int fd, struct stat64 *status), fd, status)
WRAP(off64_t, lseek64, (int fd, off64_t at, int from), fd, at, from)
WRAP(int, epoll_ctl, (int set, int op, int fd, struct epoll_event *event), set,
     op, fd, event)
WRAP(int, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t n), fd, level,
     name, value, n)
WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n),
     fd, level, name, value, n)
WRAP(int, recvmmsg,
     (int fd, struct mmsghdr *to, unsigned n, int flags,
      struct timespec *timeout),
     fd, to, n, flags, timeout)
WRAP(int, sendmmsg, (int fd, struct mmsghdr *of, unsigned n, int flags), fd, of,
     n, flags)

/* No flag of it takes a mode here. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	return call_fails() ? -1 : __real_open64(path, flags);
}
