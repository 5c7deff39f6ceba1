/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors that are watched with a pollset: by watches that fire once per
 * arming, and by watches with `edges`, which stay. Any number of watches may be
 * on the same descriptor (a reader and a writer): the set takes a descriptor
 * once, so it is registered for the union of what they want. (Giving each its
 * own dup() would keep a socket open after its user's close.) No lock: the
 * poller and the simulator bring their own.
 *
 * A descriptor with a watch that stays is registered edge triggered; no other
 * system call is made for it until one of its watches comes or goes. Any other
 * one is registered one-shot: after an event nothing more comes until the next
 * registration.
 *
 * Each registration of a descriptor has a generation, which its events carry:
 * an event harvested before a watch was armed or cancelled has an old one and
 * says nothing. Nothing is lost by that: to register anew makes the set report
 * what is there, level and edge triggered alike.
 *
 * A watch that stays may be cancelled while it fires. Then it leaves the chain
 * of its descriptor at once, and its slot when the firing is over: take gives
 * it a last time, without events. One thread at a time takes, so one watch at a
 * time fires.
 */
#ifndef WEIR_EXECUTOR_WATCHES_H
#define WEIR_EXECUTOR_WATCHES_H

#include <weir/executor.h>

#include "executor/pollset.h"

/*
 * A watch is armed iff its `slot` is not 0; then slots[slot] points to it.
 * Free slots are chained from `free`.
 */
struct weir__watch_slot {
	struct weir_watch *watch; /* NULL: free */
	uint32_t next;		  /* slot in the same chain, 0: last */
	bool told;		  /* of the event that is being taken */
	bool over;		  /* cancelled while it fires: in no chain */
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
	uint32_t armed;		   /* how many watches are */
	uint32_t firing;	   /* slot of a watch that stays, 0: none */
	struct weir__pollset *set; /* borrowed, open when the first is armed */
};

/* `allocator` and `set` are borrowed until fini. Allocates nothing. */
void weir__watches_init(struct weir__watches *watches,
			const struct weir_allocator *allocator,
			struct weir__pollset *set);

/* Forgets watches that are still armed. */
void weir__watches_fini(struct weir__watches *watches);

/*
 * 0; -EALREADY: it is armed; -EBADF: no such descriptor; -EPERM: one that
 * cannot be watched, a regular file; -ENOMEM; or what else the pollset says.
 */
int weir__watches_arm(struct weir__watches *watches, struct weir_watch *watch);

/* True: the watch was armed; now it is not, and does not fire. */
bool weir__watches_cancel(struct weir__watches *watches,
			  struct weir_watch *watch);

/*
 * The next watch that the event concerns; *events says how. One that does not
 * stay is taken out. To be called again after firing it, until NULL. `data` and
 * `revents` are what the set has reported.
 */
struct weir_watch *weir__watches_take(struct weir__watches *watches,
				      uint64_t data, uint32_t revents,
				      short *events);

/*
 * No event of a watch has data below this number, so other events may use it.
 */
#define WEIR__WATCHES_DATA_MIN (UINT64_C(1) << 32)

#endif
