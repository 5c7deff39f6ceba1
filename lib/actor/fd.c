/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor port. Its watch is armed when the port is waited for first and
 * stays until the actor's final slice. While it is armed it holds a reference
 * on the actor, which is dropped by the owner if cancel returns true, otherwise
 * by the firing thread, in the last firing. executor/readiness.h has how
 * readiness comes and goes.
 */
#include <weir/fd.h>

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"
#include "executor/readiness.h"

WEIR__CHECK_OTHER_PORT(struct weir_fd);

static void fd_fire(struct weir_watch *watch, short events)
{
	struct weir_fd *fd = weir_container_of(watch, struct weir_fd, watch);
	struct weir_actor *actor = fd->port.actor;
	bool gone;

	if (!events) {
		weir_actor_unref(actor);
		return;
	}
	gone = weir__ready_add(&fd->ready, events);
	/* the swap -> load, rule 2; pairs with the fence of the arming */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&fd->port);
	if (gone && actor->ops->hung_up)
		weir__actor_signal(actor, 0);
}

static int check_fd(const struct weir_actor *actor, int fd, short events)
{
	struct stat status;

	if (!events || (events & ~(POLLIN | POLLOUT)))
		return -EINVAL;
	if (!actor->executor->ops->watch_arm)
		return -ENOTSUP;
	if (fstat(fd, &status) < 0)
		return -EBADF;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return -EPERM;
	return 0;
}

/* Of these the port waits for one: POLLRDHUP ends reading only. */
static uint32_t awaited(const struct weir_fd *fd)
{
	uint32_t events = (uint16_t)fd->watch.events;

	return events | POLLERR | POLLHUP | (events & POLLIN ? POLLRDHUP : 0);
}

int weir_fd_again(struct weir_fd *port)
{
	int rc = weir__port_check_owner(port ? &port->port : NULL);

	if (rc == 0)
		(void)weir__ready_clear(&port->ready);
	return rc;
}

int weir_fd_drained(struct weir_fd *port)
{
	int rc = weir__port_check_owner(port ? &port->port : NULL);

	if (rc == 0 && !(ck_pr_load_32(&port->ready) & WEIR__READY_MORE &
			 (awaited(port) | POLLPRI)))
		(void)weir__ready_clear(&port->ready);
	return rc;
}

short weir_fd_events(const struct weir_fd *port)
{
	uint32_t events = port ? ck_pr_load_32(&port->ready) : 0;

	return (short)(events & (POLLIN | POLLOUT | WEIR__READY_HANGUPS));
}

static uint32_t fd_available(struct weir_port *port)
{
	struct weir_fd *fd = (struct weir_fd *)port;

	return (weir__ready_look(&fd->ready) & awaited(fd)) != 0;
}

static int fd_arm(struct weir_port *port)
{
	struct weir_fd *fd = (struct weir_fd *)port;
	struct weir_executor *executor = port->actor->executor;
	int rc;

	if (WEIR_LIKELY(fd->armed))
		return 0;
	weir_actor_ref(port->actor);
	fd->armed = 1;
	rc = executor->ops->watch_arm(executor, &fd->watch);
	if (rc == 0)
		return 0;
	fd->armed = 0;
	weir_actor_unref(port->actor);
	return rc;
}

/* Rule 5. */
static int fd_signalled(struct weir_port *port)
{
	struct weir_fd *fd = (struct weir_fd *)port;
	struct weir_actor *actor = port->actor;
	int (*hung_up)(struct weir_actor *, struct weir_fd *, short) =
		actor->ops->hung_up;

	if (!hung_up || !weir__ready_gone(&fd->ready))
		return 0;
	return hung_up(actor, fd, weir_fd_events(fd));
}

static void fd_close(struct weir_port *port, struct weir_error *error)
{
	struct weir_fd *fd = (struct weir_fd *)port;
	struct weir_executor *executor = port->actor->executor;

	(void)error;
	if (fd->armed && executor->ops->watch_cancel(executor, &fd->watch))
		weir_actor_unref(port->actor);
	fd->armed = 0;
}

static void fd_look(const struct weir_port *port, struct weir__look *look)
{
	const struct weir_fd *fd = (const struct weir_fd *)port;

	look->seen->fd = fd->watch.fd;
	look->seen->events = fd->watch.events;
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__FIELD(PORT_FD, struct weir_fd, watch.fd),
			WEIR__FIELD(PORT_EVENTS, struct weir_fd, watch.events),
			{0},
		},
};

static const struct weir__port_ops fd_ops = {
	.awaits = WEIR_WAIT_FD,
	.look = fd_look,
	.layout = &layout,
	.available = fd_available,
	.arm = fd_arm,
	.signalled = fd_signalled,
	.close = fd_close,
};

int weir_fd_init(struct weir_fd *port, struct weir_actor *actor, int fd,
		 short events)
{
	int rc = weir__port_check_init(port, actor);

	if (rc == 0)
		rc = check_fd(actor, fd, events);
	if (rc < 0)
		return rc;
	*port = (struct weir_fd){
		.ops = &fd_ops,
		.watch = {.fire = fd_fire,
			  .fd = fd,
			  .events = events,
			  .edges = true},
	};
	weir__port_init(&port->port, actor, WEIR__PORT_OTHER);
	return 0;
}
