/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor port: unblocked while a file descriptor may be ready. Turns
 * read or write without blocking until they get EAGAIN, and then call
 * weir_fd_again(), which blocks the port until the descriptor is ready again.
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
		/* any thread, atomically: poll(2) events + 1, or 0 */
		uint32_t ready;
		uint32_t armed;
	} WEIR_PRIVATE;
};

/*
 * Sets up a port of `actor` over `fd`, which stays the caller's: close it when
 * the actor has stopped. `events`: POLLIN, POLLOUT or both. Blocked at first.
 * -EINVAL: null, other events. -EBADF. -EPERM: not the owner, or a descriptor
 * that cannot be waited for (a regular file: use a blocking executor).
 * -ENOTSUP: the executor watches no descriptors. Owner.
 */
WEIR_API int weir_fd_init(struct weir_fd *port, struct weir_actor *actor,
			  int fd, short events);

/* Blocks the port until the descriptor is ready again. -EINVAL: null. -EPERM.
 * Owner. */
WEIR_API int weir_fd_again(struct weir_fd *port);

/* The events that were ready last, as poll(2) has them. Owner. */
WEIR_API short weir_fd_events(const struct weir_fd *port);

#ifdef __cplusplus
}
#endif

#endif
