/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the ports of a channel need of it. Each of these functions takes the
 * channel's lock, and wakes the waiters that it has served.
 */
#ifndef WEIR_SYNC_CHANNEL_H
#define WEIR_SYNC_CHANNEL_H

#include <weir/channel.h>
#include <weir/inspect.h>

enum weir__side { WEIR__PUT, WEIR__TAKE };

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
