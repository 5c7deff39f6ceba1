/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of epoll. */
#include "executor/pollset.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <weir/executor.h>

#include "base/clock.h"
#include "base/costs.h"

static int open_set(struct weir__pollset *set)
{
	set->fd = epoll_create1(EPOLL_CLOEXEC);
	return set->fd < 0 ? -errno : 0;
}

static void close_set(struct weir__pollset *set)
{
	(void)close(set->fd);
	set->fd = -1;
}

static int control(struct weir__pollset *set, int op, int fd,
		   const struct epoll_event *event)
{
	struct epoll_event copy = event ? *event : (struct epoll_event){0};

	weir__costs_kernel_call();
	return epoll_ctl(set->fd, op, fd, &copy) < 0 ? -errno : 0;
}

static int set_events(struct weir__pollset *set, int fd,
		      const struct epoll_event *event, bool known)
{
	int rc = control(set, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, event);

	/* Closed since, and perhaps opened again: the kernel has forgotten. */
	return rc == -ENOENT ? control(set, EPOLL_CTL_ADD, fd, event) : rc;
}

static int remove_fd(struct weir__pollset *set, int fd)
{
	return control(set, EPOLL_CTL_DEL, fd, NULL);
}

/*
 * Until the set is readable, at most for a time that is not WEIR_FOREVER. False:
 * a signal came, or the time is up.
 */
static bool wait_readable(struct weir__pollset *set, uint64_t timeout_ns)
{
	struct timespec timeout = weir__clock_timespec(timeout_ns);
	struct pollfd ready = {.fd = set->fd, .events = POLLIN};

	weir__costs_kernel_call();
	return ppoll(&ready, 1, &timeout, NULL) > 0;
}

static uint32_t wait_events(struct weir__pollset *set,
			    struct epoll_event *events, uint32_t n,
			    uint64_t timeout_ns)
{
	bool endless = timeout_ns == WEIR_FOREVER;
	int told;

	/* epoll_wait itself has milliseconds only. */
	if (timeout_ns && !endless && !wait_readable(set, timeout_ns))
		return 0;
	weir__costs_kernel_call();
	told = epoll_wait(set->fd, events, (int)n, endless ? -1 : 0);
	return told > 0 ? (uint32_t)told : 0;
}

const struct weir__pollset_ops weir__epoll = {
	.open = open_set,
	.close = close_set,
	.set = set_events,
	.remove = remove_fd,
	.wait = wait_events,
};
