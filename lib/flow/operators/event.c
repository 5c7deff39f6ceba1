/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals, and descriptors that are ready. A descriptor is watched once for each
 * demand, and level-triggered: what was not read is told again.
 */
#include <weir/flow_event.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/bytes.h"
#include "flow/shared/op_fd.h"

/* --- Signals -------------------------------------------------------------- */

struct signals {
	struct weir__op_fd wait; /* must be first */
	int fd;			 /* or -1 */
	int code;      /* why it could not begin: it fails when it is pulled */
	int unblocked; /* that signal, or 0 */
	struct weir_flow_bytes *block; /* to read into, or NULL */
};

/* One of the set that this thread does not block, or 0. */
static int unblocked(const sigset_t *set)
{
	sigset_t blocked;
	int i;

	(void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (i = 1; i <= SIGRTMAX; i++)
		if (sigismember(set, i) == 1 && sigismember(&blocked, i) != 1)
			return i;
	return 0;
}

static int signals_open(struct weir__op *op)
{
	const sigset_t *set = weir__op_args(op);
	struct signals *self = weir__op_state(op);

	self->fd = -1;
	self->unblocked = unblocked(set);
	if (self->unblocked) {
		self->code = -EPERM;
		return 0;
	}
	self->fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
	self->code = self->fd < 0 ? -errno : 0;
	return 0;
}

static void signals_close(struct weir__op *op)
{
	struct signals *self = weir__op_state(op);

	weir__op_fd_off(&self->wait, op);
	weir_flow_bytes_unref(self->block);
	self->block = NULL;
	if (self->fd >= 0)
		(void)close(self->fd);
	self->fd = -1;
}

/* It could not begin. */
static void signals_fail(struct weir__op *op)
{
	struct signals *self = weir__op_state(op);
	struct weir_error *error;

	if (!self->unblocked) {
		weir__op_fail_code(op, self->code, "no signalfd");
		return;
	}
	error = weir__error_format(
		weir__op_allocator(op), self->code, weir__op_name(op),
		"signal %d is not blocked by the thread that "
		"has started the run",
		self->unblocked);
	weir__op_end(op, error);
	weir_error_unref(error);
}

/* A signal, or NULL: none now, or the operator has failed. */
static void *read_signal(struct weir__op *op)
{
	struct signals *self = weir__op_state(op);
	struct weir_flow_bytes *bytes = NULL;
	int rc, waits;

	do {
		waits = 1;
		rc = weir__bytes_read(&bytes, &self->block, self->fd,
				      sizeof(struct signalfd_siginfo),
				      weir__op_allocator(op));
		if (rc == -EAGAIN)
			waits = weir__op_fd_again(&self->wait, op, self->fd,
						  POLLIN);
	} while (waits == 0);
	if (rc > 0)
		return bytes;
	if (waits < 0)
		weir__op_fail_code(op, waits, "signals cannot be waited for");
	else if (rc != -EAGAIN && !self->block)
		weir__op_fail(op, rc, "no memory for a signal");
	else if (rc != -EAGAIN)
		weir__op_fail_code(op, rc, "signals cannot be read");
	return NULL;
}

static size_t signals_pull(struct weir__op *op, void **items, size_t room)
{
	struct signals *self = weir__op_state(op);
	size_t n = 0;

	if (self->code < 0) {
		signals_fail(op);
		return 0;
	}
	if (room == 0 || weir__op_fd_waits(&self->wait))
		return 0;
	while (n < room && (items[n] = read_signal(op)))
		n++;
	return n;
}

static const struct weir__kind signals_kind = {
	.name = "signals",
	.state_size = sizeof(struct signals),
	.items = weir__gives_bytes,
	.open = signals_open,
	.pull = signals_pull,
	.close = signals_close,
	.keeps = sizeof(struct weir__op_fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

static const char *wrong_set(const sigset_t *set)
{
	int i = 1;

	if (!set)
		return "set is NULL";
	while (i <= SIGRTMAX && sigismember(set, i) != 1)
		i++;
	if (i > SIGRTMAX)
		return "set is empty";
	return sigismember(set, SIGKILL) == 1 || sigismember(set, SIGSTOP) == 1
		       ? "SIGKILL and SIGSTOP cannot be blocked"
		       : NULL;
}

struct weir_flow *weir_flow_signals(const sigset_t *set)
{
	const char *wrong = wrong_set(set);
	struct weir_flow *flow =
		weir__flow_source(&signals_kind, set, sizeof(*set), !wrong);

	return weir__flow_wrong_as(flow, &signals_kind, wrong);
}

/* --- Readiness ------------------------------------------------------------ */

struct ready_of {
	int fd;
	short events;
};

struct readiness {
	struct weir__op_fd wait; /* must be first */
	bool asked;		 /* the watch was armed for a demand */
};

static void readiness_close(struct weir__op *op)
{
	struct readiness *self = weir__op_state(op);

	weir__op_fd_off(&self->wait, op);
}

/* Behind a POLLERR: a negative errno, or 1: it was none. */
static int error_behind(int fd)
{
	socklen_t length = sizeof(int);
	struct stat status;
	int code;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) == 0)
		return code > 0 ? -code : 1;
	if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode))
		return -EPIPE;
	return -EIO;
}

/* 1: these events are an item. 0: the end. A negative errno. */
static int judge(const struct ready_of *args, short events)
{
	int ready = events & args->events, left = 0;

	if (events & POLLNVAL)
		return -EBADF;
	if (!(events & (POLLERR | POLLHUP | POLLRDHUP)))
		return 1;
	/* the end can be read, too, and who writes gets an error */
	if ((ready & POLLIN) && ioctl(args->fd, FIONREAD, &left) == 0 &&
	    left == 0)
		ready &= ~POLLIN;
	if (events & (POLLERR | POLLHUP))
		ready &= ~POLLOUT;
	if (ready)
		return 1;
	return events & POLLERR ? error_behind(args->fd) : 0;
}

static void watch_once(struct weir__op *op)
{
	const struct ready_of *args = weir__op_args(op);
	struct readiness *self = weir__op_state(op);
	int ends = args->events & POLLIN ? POLLRDHUP : 0;

	self->asked = true;
	weir__op_fd_wait(&self->wait, op, args->fd,
			 (short)(args->events | ends));
}

static size_t readiness_pull(struct weir__op *op, void **items, size_t room)
{
	struct readiness *self = weir__op_state(op);
	short events;
	int rc;

	if (room == 0 || weir__op_fd_armed(&self->wait))
		return 0;
	if (!self->asked) {
		watch_once(op);
		return 0;
	}
	self->asked = false;
	events = weir__op_fd_fired(&self->wait);
	rc = judge(weir__op_args(op), events);
	if (rc < 0)
		weir__op_fail_code(op, rc, "the descriptor");
	else if (rc == 0)
		weir__op_end(op, NULL);
	items[0] = (void *)(uintptr_t)(unsigned short)events;
	return rc > 0;
}

static const struct weir__kind fd_kind = {
	.name = "fd",
	.state_size = sizeof(struct readiness),
	.pull = readiness_pull,
	.close = readiness_close,
	.keeps = sizeof(struct weir__op_fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

struct weir_flow *weir_flow_fd(int fd, short events)
{
	struct ready_of args = {fd, events};
	bool known = events && !(events & ~(POLLIN | POLLOUT | POLLPRI));
	struct weir_flow *flow = weir__flow_source(
		&fd_kind, &args, sizeof(args), fd >= 0 && known);

	if (!known)
		return weir__flow_wrong_as(
			flow, &fd_kind,
			"events are not of POLLIN, POLLOUT and POLLPRI");
	return weir__flow_wrong(flow, &fd_kind, "%d is no descriptor", fd);
}
