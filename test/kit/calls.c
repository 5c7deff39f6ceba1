/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit/calls.h"

#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <ck_pr.h>

#define FDS 1024
#define SETS 4

/* --- One after the other -------------------------------------------------- */

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

static bool call_fails(void)
{
	if (!calls.on || ++calls.n != calls.fail_at)
		return false;
	errno = calls.code;
	return true;
}

/* --- By a seed ------------------------------------------------------------ */

enum way { IN, OUT };

static struct {
	uint32_t on; /* atomic, as all numbers that follow */
	uint64_t seed, n_drawn, n_hindered;
	uint32_t spun;
	struct calls_laws laws;
} chance;

static __thread bool is_own;

/* What is known of a descriptor. */
static struct known {
	/* under the lock: how it is registered, with each executor */
	struct {
		int set; /* 0: with none */
		struct epoll_event event;
	} by[SETS];
	/* atomic */
	uint32_t storm[2]; /* how many more give EAGAIN */
	uint32_t told;	   /* that epoll has told of it */
	uint32_t again[2]; /* EAGAIN, whoever it was from */
} known[FDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool by_chance(void)
{
	return ck_pr_load_32(&chance.on) && !is_own;
}

static uint64_t draw(uint64_t bound)
{
	uint64_t at = chance.seed +
		      (ck_pr_faa_64(&chance.n_drawn, 1) << 1) * 0x9e3779b9u;

	return weir__splitmix(&at) % bound;
}

void calls_by_seed(uint64_t seed, const struct calls_laws *laws)
{
	int fd;

	calls_plain();
	for (fd = 0; fd < FDS; fd++) {
		memset(known[fd].storm, 0, sizeof(known[fd].storm));
		memset(known[fd].again, 0, sizeof(known[fd].again));
		known[fd].told = 0;
	}
	chance.seed = seed;
	chance.n_drawn = chance.n_hindered = 0;
	chance.spun = 0;
	chance.laws = *laws;
	ck_pr_fence_release();
	ck_pr_store_32(&chance.on, 1);
}

struct calls_laws calls_draw(uint64_t seed)
{
	uint64_t drawn = weir__splitmix(&seed);

	return (struct calls_laws){
		.interrupt = drawn & 1,
		.again = drawn & 2,
		.storm = drawn & 4,
		.less = drawn & 8,
		.bytewise = (drawn & 0x30) == 0x30,
		.lack = drawn & 0x40,
	};
}

void calls_plain(void)
{
	ck_pr_store_32(&chance.on, 0);
}

void calls_own(bool own)
{
	is_own = own;
}

int32_t calls_spun(void)
{
	return (int32_t)ck_pr_load_32(&chance.spun);
}

uint64_t calls_hindered(void)
{
	return ck_pr_load_64(&chance.n_hindered);
}

/* The system calls that are used here, too. */
int __real_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __real_fstat64(int fd, struct stat64 *status);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *n);

static void tell_again(int fd)
{
	int i;

	assert(pthread_mutex_lock(&lock) == 0);
	/* a registration for once is done, or tells in any case */
	for (i = 0; i < SETS; i++)
		if (known[fd].by[i].set > 0 &&
		    (known[fd].by[i].event.events & EPOLLET))
			(void)__real_epoll_ctl(known[fd].by[i].set,
					       EPOLL_CTL_MOD, fd,
					       &known[fd].by[i].event);
	assert(pthread_mutex_unlock(&lock) == 0);
}

/* That a call may give EAGAIN: by this flag, or the descriptor's mode. */
static bool may_wait(int fd, int flags)
{
	struct stat64 status;

	if (__real_fstat64(fd, &status) < 0 || S_ISREG(status.st_mode))
		return false;
	return (flags & MSG_DONTWAIT) || (fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* The poller's own eventfd, which is not read or written for its bytes. */
static bool is_event(int fd, size_t n)
{
	struct stat64 status;

	return n == sizeof(uint64_t) && __real_fstat64(fd, &status) == 0 &&
	       !(status.st_mode & S_IFMT);
}

static int hinder(int code)
{
	ck_pr_inc_64(&chance.n_hindered);
	errno = code;
	return code;
}

/* Takes one of the storm, if there is one. */
static bool storms(uint32_t *storm)
{
	uint32_t left = ck_pr_load_32(storm);

	while (left > 0)
		if (ck_pr_cas_32_value(storm, left, left - 1, &left))
			return true;
	return false;
}

/* Why the call does not get to the kernel: errno, or 0. */
static int hinders(int fd, enum way way, int flags)
{
	uint64_t drawn;

	if (!by_chance() || fd < 0 || fd >= FDS)
		return 0;
	drawn = draw(8);
	if (chance.laws.interrupt && drawn == 0)
		return hinder(EINTR);
	if (chance.laws.storm && drawn == 1)
		ck_pr_store_32(&known[fd].storm[way], (uint32_t)draw(30));
	if (!storms(&known[fd].storm[way]) && !(chance.laws.again && drawn < 4))
		return 0;
	if (!may_wait(fd, flags))
		return 0;
	tell_again(fd);
	return hinder(EAGAIN);
}

/* How many of `n` the kernel is asked for. */
static size_t fewer(size_t n)
{
	if (!by_chance() || n < 2 || !(chance.laws.less || draw(4) == 0))
		return n;
	if (chance.laws.bytewise)
		return 1;
	return chance.laws.less && draw(2) ? draw(n) + 1 : n;
}

/* What a call has given; it had asked for `some` of `n`. */
static ssize_t given(int fd, enum way way, ssize_t rc, size_t some, size_t n)
{
	int code = errno;

	if (!by_chance() || fd < 0 || fd >= FDS)
		return rc;
	if (rc < 0 && code == EAGAIN)
		ck_pr_inc_32(&known[fd].again[way]);
	if (rc > 0 && way == IN && some < n)
		tell_again(fd);
	errno = code;
	return rc;
}

#define REAL(type, name, parameters) \
	type __real_##name parameters; \
	type __wrap_##name parameters

/* Counts what was made up, too. */
#define TRY(fd, way, flags) \
	do { \
		if (call_fails()) \
			return -1; \
		if (hinders(fd, way, flags)) \
			return given(fd, way, -1, 0, 0); \
	} while (0)

/* --- Bytes ---------------------------------------------------------------- */

REAL(ssize_t, read, (int fd, void *to, size_t n));
REAL(ssize_t, write, (int fd, const void *from, size_t n));
REAL(ssize_t, writev, (int fd, const struct iovec *parts, int n));
REAL(ssize_t, recv, (int fd, void *to, size_t n, int flags));
REAL(ssize_t, send, (int fd, const void *from, size_t n, int flags));
REAL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags));
REAL(ssize_t, splice,
     (int from, off64_t *at, int to, off64_t *to_at, size_t n,
      unsigned int flags));

ssize_t __wrap_read(int fd, void *to, size_t n)
{
	struct stat64 status;
	size_t some = n;

	if (by_chance() && is_event(fd, n))
		return __real_read(fd, to, n);
	TRY(fd, IN, 0);
	/* of messages and events, all of one is read */
	if (by_chance() && __real_fstat64(fd, &status) == 0 &&
	    (status.st_mode & S_IFMT))
		some = fewer(n);
	return given(fd, IN, __real_read(fd, to, some), some, n);
}

ssize_t __wrap_write(int fd, const void *from, size_t n)
{
	if (by_chance() && is_event(fd, n))
		return __real_write(fd, from, n);
	TRY(fd, OUT, 0);
	return given(fd, OUT, __real_write(fd, from, fewer(n)), n, n);
}

/* Some of the first part, or all. */
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n)
{
	struct iovec part = parts[0];

	TRY(fd, OUT, 0);
	part.iov_len = fewer(part.iov_len);
	if (part.iov_len < parts[0].iov_len)
		return __real_writev(fd, &part, 1);
	return given(fd, OUT, __real_writev(fd, parts, n), 0, 0);
}

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	size_t some;

	TRY(fd, IN, flags);
	some = fewer(n);
	return given(fd, IN, __real_recv(fd, to, some, flags), some, n);
}

ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
	TRY(fd, OUT, flags);
	return given(fd, OUT, __real_send(fd, from, fewer(n), flags), 0, 0);
}

static bool is_stream(int fd)
{
	socklen_t length = sizeof(int);
	int type = 0;

	return __real_getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) ==
		       0 &&
	       type == SOCK_STREAM;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct msghdr some = *message;
	struct iovec part;

	TRY(fd, OUT, flags);
	if (by_chance() && message->msg_iovlen > 0 && is_stream(fd)) {
		part = message->msg_iov[0];
		part.iov_len = fewer(part.iov_len);
		some.msg_iov = &part;
		some.msg_iovlen = 1;
		if (part.iov_len == message->msg_iov[0].iov_len)
			some = *message;
	}
	return given(fd, OUT, __real_sendmsg(fd, &some, flags), 0, 0);
}

/* Of the two, the one that is no pipe. */
ssize_t __wrap_splice(int from, off64_t *at, int to, off64_t *to_at, size_t n,
		      unsigned int flags)
{
	bool in = is_stream(from);
	int fd = in ? from : to;
	enum way way = in ? IN : OUT;

	TRY(fd, way, MSG_DONTWAIT);
	return given(fd, way,
		     __real_splice(from, at, to, to_at, fewer(n), flags), 0, 0);
}

/* --- Messages ------------------------------------------------------------- */

REAL(int, recvmmsg,
     (int fd, struct mmsghdr *to, unsigned n, int flags,
      struct timespec *timeout));
REAL(int, sendmmsg, (int fd, struct mmsghdr *of, unsigned n, int flags));

int __wrap_recvmmsg(int fd, struct mmsghdr *to, unsigned n, int flags,
		    struct timespec *timeout)
{
	unsigned some;

	TRY(fd, IN, flags);
	some = (unsigned)fewer(n);
	return (int)given(fd, IN, __real_recvmmsg(fd, to, some, flags, timeout),
			  some, n);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *of, unsigned n, int flags)
{
	TRY(fd, OUT, flags);
	return (int)given(fd, OUT,
			  __real_sendmmsg(fd, of, (unsigned)fewer(n), flags), 0,
			  0);
}

/* --- Descriptors ---------------------------------------------------------- */

REAL(int, accept4, (int fd, struct sockaddr *at, socklen_t *n, int flags));
REAL(int, pipe2, (int fds[2], int flags));
REAL(int, close, (int fd));
REAL(int, epoll_wait,
     (int set, struct epoll_event *events, int most, int timeout_ms));
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_fstat64(int fd, struct stat64 *status);

/* True: there is none left. */
static bool lacks(void)
{
	static const int codes[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};

	if (!by_chance() || !chance.laws.lack || draw(4) > 0)
		return false;
	(void)hinder(codes[draw(4)]);
	return true;
}

int __wrap_accept4(int fd, struct sockaddr *at, socklen_t *n, int flags)
{
	TRY(fd, IN, 0);
	if (lacks())
		return -1;
	if (by_chance() && chance.laws.lack && draw(4) == 0) {
		(void)hinder(ECONNABORTED);
		return -1;
	}
	return (int)given(fd, IN, __real_accept4(fd, at, n, flags), 0, 0);
}

int __wrap_pipe2(int fds[2], int flags)
{
	if (call_fails() || (lacks() && (errno = EMFILE)))
		return -1;
	return __real_pipe2(fds, flags);
}

/* What is told of a descriptor: `data` begins with its generation. */
int __wrap_epoll_wait(int set, struct epoll_event *events, int most,
		      int timeout_ms)
{
	uint32_t fd;
	int n, i;

	if (by_chance() && chance.laws.interrupt && draw(8) == 0) {
		errno = EINTR;
		return -1;
	}
	n = __real_epoll_wait(set, events, most, timeout_ms);
	for (i = 0; i < n; i++) {
		fd = (uint32_t)events[i].data.u64;
		if (events[i].data.u64 >> 32 && fd < FDS)
			ck_pr_inc_32(&known[fd].told);
	}
	return n;
}

static void note_set(struct known *of, int set, const struct epoll_event *event)
{
	int i, at = -1;

	for (i = 0; i < SETS; i++)
		if (of->by[i].set == set || (at < 0 && !of->by[i].set))
			at = i;
	assert(at >= 0);
	of->by[at].set = event ? set : 0;
	if (event)
		of->by[at].event = *event;
}

int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	int rc;

	if (call_fails())
		return -1;
	if (fd < 0 || fd >= FDS)
		return __real_epoll_ctl(set, op, fd, event);
	assert(pthread_mutex_lock(&lock) == 0);
	rc = __real_epoll_ctl(set, op, fd, event);
	note_set(&known[fd], set,
		 rc == 0 && op != EPOLL_CTL_DEL ? event : NULL);
	assert(pthread_mutex_unlock(&lock) == 0);
	return rc;
}

static void count_spun(struct known *of, enum way way)
{
	int32_t more = (int32_t)(ck_pr_load_32(&of->again[way]) -
				 ck_pr_load_32(&of->told));

	if (more > calls_spun())
		ck_pr_store_32(&chance.spun, (uint32_t)more);
	ck_pr_store_32(&of->again[way], 0);
	ck_pr_store_32(&of->storm[way], 0);
}

int __wrap_close(int fd)
{
	int rc;

	if (fd < 0 || fd >= FDS)
		return __real_close(fd);
	assert(pthread_mutex_lock(&lock) == 0);
	memset(known[fd].by, 0, sizeof(known[fd].by));
	count_spun(&known[fd], IN);
	count_spun(&known[fd], OUT);
	ck_pr_store_32(&known[fd].told, 0);
	rc = __real_close(fd);
	assert(pthread_mutex_unlock(&lock) == 0);
	return rc;
}

/* --- Those that only fail ------------------------------------------------- */

#define WRAP(type, name, parameters, ...) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return call_fails() ? -1 : __real_##name(__VA_ARGS__); \
	}

WRAP(int, signalfd, (int fd, const sigset_t *set, int flags), fd, set, flags)
WRAP(int, inotify_init1, (int flags), flags)
WRAP(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), fd,
     path, mask)
WRAP(off64_t, lseek64, (int fd, off64_t at, int from), fd, at, from)
WRAP(int, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t n), fd, level,
     name, value, n)
WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n),
     fd, level, name, value, n)

int __wrap_fstat64(int fd, struct stat64 *status)
{
	return call_fails() ? -1 : __real_fstat64(fd, status);
}

/* No flag of it takes a mode here. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	return call_fails() ? -1 : __real_open64(path, flags);
}
