/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's set of descriptors that pollers and the simulator wait for, behind
 * a table of functions: epoll is one such table, and another may stand in its
 * place. Events are named and combined as epoll's are, with EPOLLET: told of
 * each change once, or EPOLLONESHOT: told once, and again when registered anew.
 * To register anew tells of what is there already.
 *
 * The caller sees to it that `set` and `remove` are not called at once; `wait` may
 * run together with them, and an event that it then tells of may be of what was
 * registered before.
 */
#ifndef WEIR_EXECUTOR_POLLSET_H
#define WEIR_EXECUTOR_POLLSET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct weir__pollset_ops;

struct weir__pollset {
	const struct weir__pollset_ops *ops;
	int fd; /* readable while `wait` has something to tell; -1: not open */
};

/* They return 0 or a negative errno. */
struct weir__pollset_ops {
	/* Makes the set, which is empty, and its `fd`. */
	int (*open)(struct weir__pollset *set);
	void (*close)(struct weir__pollset *set);
	/*
	 * Registers a descriptor, or registers it anew: `known`, it was before,
	 * but the kernel forgets it when it is closed. -EBADF: no such
	 * descriptor; -EPERM: a regular file; or what else the kernel says.
	 */
	int (*set)(struct weir__pollset *set, int fd,
		   const struct epoll_event *event, bool known);
	int (*remove)(struct weir__pollset *set, int fd);
	/*
	 * Waits for at most `timeout_ns`, 0: only looks; tells of up to `n`
	 * events, and returns how many. 0: none, or a signal came.
	 */
	uint32_t (*wait)(struct weir__pollset *set, struct epoll_event *events,
			 uint32_t n, uint64_t timeout_ns);
};

extern const struct weir__pollset_ops weir__epoll;

#endif
