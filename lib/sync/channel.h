/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the ports of a channel need of it. Each of these functions takes the
 * channel's lock, and wakes the waiters that it has served.
 */
#ifndef WEIR_SYNC_CHANNEL_H
#define WEIR_SYNC_CHANNEL_H

#include <weir/channel.h>
#include <weir/inspect.h>
#include <weir/private.h>

#include "base/deque.h"
#include "base/fields.h"
#include "base/lock.h"

enum weir__side { WEIR__PUT, WEIR__TAKE };

/* For channel.c, and for what WEIR__CHANNEL_FIELDS is in. */
struct weir_channel {
	/* set up once */
	const struct weir_items *items;
	const struct weir_allocator *allocator;
	/* the rest is the lock's */
	struct weir__lock lock;
	bool ended;
	struct weir_error *error;
	struct weir__deque deque; /* which slots have items */
	size_t reserved_items, reserved_room;
	struct weir__waiters waiters[2]; /* by side */
	struct weir__waiters enders;	 /* for the end */
	void *slots[];
};

/* What readers of another process's memory find of it. */
#define WEIR__CHANNEL_FIELDS \
	WEIR__FIELD(OBJECT_TAKERS, struct weir_channel, \
		    waiters[WEIR__TAKE].head), \
		WEIR__FIELD(OBJECT_PUTTERS, struct weir_channel, \
			    waiters[WEIR__PUT].head), \
		WEIR__FIELD(OBJECT_FILL, struct weir_channel, deque.n), \
		WEIR__FIELD(OBJECT_CAPACITY, struct weir_channel, \
			    deque.capacity), \
		WEIR__FIELD(OBJECT_ENDED, struct weir_channel, ended)

/*
 * 0: granted: the item has moved, or if there is no `item` as much as `n` is
 * reserved. -EPIPE. -EAGAIN: not now; if `queue` the claim waits, or has been
 * woken already.
 */
int weir__channel_claim(struct weir_channel *self, enum weir__side side,
			struct weir__claim *claim, bool queue);

/* True: the claim was in the queue; claims behind it may be served now. */
bool weir__channel_cancel(struct weir_channel *self, enum weir__side side,
			  struct weir__claim *claim);

/* Returns a reservation of `n`. */
void weir__channel_return(struct weir_channel *self, enum weir__side side,
			  size_t n);

/* Moves an item from or to *item; uses a reservation of 1. 0 or -EPIPE. */
int weir__channel_move(struct weir_channel *self, enum weir__side side,
		       void **item);

/*
 * Wakes `waiter` when nothing is to be had any more: the channel has ended, and
 * all its items are taken. 0; -EPIPE: that is so already.
 */
int weir__channel_await_end(struct weir_channel *self,
			    struct weir__waiter *waiter);

/* True: the waiter was not woken, and will not be. */
bool weir__channel_forget_end(struct weir_channel *self,
			      struct weir__waiter *waiter);

/* What a look is told of it. */
void weir__channel_look(struct weir_channel *self,
			struct weir_seen_object *seen);

/* The capacity that the channel was made with. */
size_t weir__channel_capacity(const struct weir_channel *self);
const struct weir_items *weir__channel_items(const struct weir_channel *self);

#endif
