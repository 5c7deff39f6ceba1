/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor port. The watch sets `ready`, the owner clears it; the watch
 * is armed when the port is waited for. An armed watch holds a reference on the
 * actor. The thread that takes the watch out drops it: the owner if cancel
 * returns true, otherwise the firing thread, after its last touch.
 *
 *	the watch is armed or fires  <=>  armed && !ready
 */
#include <weir/fd.h>

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"
#include "base/fence.h"

WEIR__CHECK_OTHER_PORT(struct weir_fd);

static void fd_fire(struct weir_watch *watch, short events)
{
	struct weir_fd *fd = weir_container_of(watch, struct weir_fd, watch);
	struct weir_actor *actor = fd->port.actor;

	/* release: our use of the watch is over, the owner may arm it again;
	 * pairs with the acquire in fd_available() */
	ck_pr_fence_release();
	ck_pr_store_32(&fd->ready, (uint32_t)(uint16_t)events + 1);
	/* store -> load, rule 2; pairs with the fence of the arming */
	weir__fence_full();
	weir__port_unblock(&fd->port);
	weir_actor_unref(actor);
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

int weir_fd_again(struct weir_fd *port)
{
	int rc = weir__port_check_owner(port ? &port->port : NULL);

	if (rc < 0)
		return rc;
	if (ck_pr_load_32(&port->ready)) {
		/* no order: the watch is not armed, only we write here */
		ck_pr_store_32(&port->ready, 0);
		port->armed = 0;
	}
	return 0;
}

short weir_fd_events(const struct weir_fd *port)
{
	uint32_t ready = port ? ck_pr_load_32(&port->ready) : 0;

	return ready ? (short)(ready - 1) : 0;
}

static uint32_t fd_available(struct weir_port *port)
{
	bool ready = ck_pr_load_32(&((struct weir_fd *)port)->ready) != 0;

	/* acquire: pairs with the release in fd_fire() */
	ck_pr_fence_acquire();
	return ready;
}

static int fd_arm(struct weir_port *port)
{
	struct weir_fd *fd = (struct weir_fd *)port;
	struct weir_executor *executor = port->actor->executor;
	int rc;

	if (fd->armed || fd_available(port))
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

static void fd_close(struct weir_port *port, struct weir_error *error)
{
	struct weir_fd *fd = (struct weir_fd *)port;
	struct weir_executor *executor = port->actor->executor;

	(void)error;
	if (fd->armed && !fd_available(port) &&
	    executor->ops->watch_cancel(executor, &fd->watch))
		weir_actor_unref(port->actor);
	fd->armed = 0;
}

static const struct weir__port_ops fd_ops = {
	.available = fd_available,
	.arm = fd_arm,
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
		.watch = {.fire = fd_fire, .fd = fd, .events = events},
	};
	weir__port_init(&port->port, actor, WEIR__PORT_OTHER);
	return 0;
}
