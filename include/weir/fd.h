/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor port: unblocked while a file descriptor may be ready. Turns
 * read or write without blocking until they get EAGAIN, and then call
 * weir_fd_again(), which blocks the port until something has come.
 *
 * The descriptor is registered once, when the port is first waited for, edge
 * triggered, until the actor has ended. That the other end has gone is told at
 * once, also while the actor waits for something else: weir_actor_ops.hung_up.
 */
#ifndef WEIR_FD_H
#define WEIR_FD_H

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_fd {
	struct weir_port port;
	struct {
		const struct weir__port_ops *ops;
		struct weir_watch watch;
		/* any thread, atomically: poll(2) events and marks */
		uint32_t ready;
		uint32_t armed;
	} WEIR_PRIVATE;
};

/*
 * Sets up a port of `actor` over `fd`, which stays the caller's: close it when
 * the actor has stopped, not before, and connect it before the actor starts: an
 * unconnected socket has hung up. Several ports may be over the same
 * descriptor, one to read and one to write. `events`: POLLIN, POLLOUT or both. Blocked at first.
 * -EINVAL: null, other events. -EBADF. -EPERM: not the owner, or a descriptor
 * that cannot be waited for (a regular file: use a blocking executor).
 * -ENOTSUP: the executor watches no descriptors. Owner.
 */
WEIR_API int weir_fd_init(struct weir_fd *port, struct weir_actor *actor,
			  int fd, short events);

/*
 * Blocks the port until there is something new, because a call on the
 * descriptor has given EAGAIN in this turn. Without that call bytes that are
 * there already may wait for ever: nothing tells of them again. If something
 * has come since the turn began, the port stays unblocked. -EINVAL: null.
 * -EPERM. Owner.
 */
WEIR_API int weir_fd_again(struct weir_fd *port);

/*
 * As weir_fd_again(), without the call that gives EAGAIN: because a read or
 * write in this turn has moved less than it was asked for, though more than 0.
 * If the other end has hung up the port stays unblocked, for the end or the
 * error is still to be read. For TCP, for pipes and FIFOs but those of packets
 * (O_DIRECT), and for stream sockets of AF_UNIX that carry no descriptors and
 * no credentials. Nothing else says by that that nothing is left. -EINVAL:
 * null. -EPERM. Owner.
 */
WEIR_API int weir_fd_drained(struct weir_fd *port);

/*
 * The events that are known, as poll(2) has them: of POLLIN, POLLOUT, POLLERR,
 * POLLHUP and POLLRDHUP. weir_fd_again() forgets them. Owner.
 */
WEIR_API short weir_fd_events(const struct weir_fd *port);

#ifdef __cplusplus
}
#endif

#endif
