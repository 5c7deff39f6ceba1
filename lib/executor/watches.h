/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors that are watched with epoll, once per arming. Any number of
 * watches may be on the same descriptor (a reader and a writer): epoll takes
 * a descriptor once, so it is registered for the union of what they want.
 * (Giving each its own dup() would keep a socket open after its user's close.)
 * No lock: the poller and the simulator bring their own.
 *
 * Each registration of a descriptor has a generation, which its events carry:
 * an event harvested before a watch was armed or cancelled has an old one and
 * says nothing. Nothing is lost by that: descriptors are registered level
 * triggered, so the newer registration reports the event again. And they are
 * registered one-shot: after an event nothing more comes until the next.
 */
#ifndef WEIR_EXECUTOR_WATCHES_H
#define WEIR_EXECUTOR_WATCHES_H

#include <weir/executor.h>

/*
 * A watch is armed iff its `slot` is not 0; then slots[slot] points to it.
 * Free slots are chained from `free`.
 */
struct weir__watch_slot {
	struct weir_watch *watch; /* NULL: free */
	uint32_t next;		  /* slot in the same chain, 0: last */
};

/* What is known of descriptor i, fds[i]. */
struct weir__watch_fd {
	uint32_t first;	     /* slot of its first watch, 0: none */
	uint32_t generation; /* of its last registration, 0: never */
};

struct weir__watches {
	const struct weir_allocator *allocator;
	struct weir__watch_slot *slots; /* [0] is not used */
	struct weir__watch_fd *fds;
	uint32_t n_slots, n_fds; /* lengths of the arrays */
	uint32_t free;
	uint32_t armed; /* how many watches are */
	int epoll_fd;	/* borrowed */
};

/* `allocator` and `epoll_fd` are borrowed until fini. Allocates nothing. */
void weir__watches_init(struct weir__watches *watches,
			const struct weir_allocator *allocator, int epoll_fd);

/* Forgets watches that are still armed. */
void weir__watches_fini(struct weir__watches *watches);

/*
 * 0; -EALREADY: it is armed; -EBADF: no such descriptor; -EPERM: one that
 * cannot be watched, a regular file; -ENOMEM; or what else epoll_ctl says.
 */
int weir__watches_arm(struct weir__watches *watches, struct weir_watch *watch);

/* True: the watch was armed; now it is not. */
bool weir__watches_cancel(struct weir__watches *watches,
			  struct weir_watch *watch);

/*
 * Takes out a watch that the event concerns; *events says how. To be called
 * again after firing it, until NULL. `data` and `revents` are what epoll has
 * reported.
 */
struct weir_watch *weir__watches_take(struct weir__watches *watches,
				      uint64_t data, uint32_t revents,
				      short *events);

/*
 * No event of a watch has data below this number, so other events may use it.
 */
#define WEIR__WATCHES_DATA_MIN (UINT64_C(1) << 32)

#endif
