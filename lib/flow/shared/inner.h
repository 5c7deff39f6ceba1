/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two things: the source of a nested flow, which takes its items from the
 * operator around the nested flow (struct weir__inner); and a nested flow with
 * such a source and with a queue of items in front of it (struct
 * weir__substream).
 */
#ifndef WEIR_FLOW_SHARED_INNER_H
#define WEIR_FLOW_SHARED_INNER_H

#include "flow/engine/op.h"
#include "flow/shared/nest.h"

/* Belongs to the operator around the nested flow. The source's items are those
 * of the operator above `around`. */
struct weir__inner {
	struct weir__op *around;
	/*
	 * As a kind's pull(), for `source`. It may end `source`, but not
	 * `around`: that would free the nested flow that is being pulled.
	 */
	size_t (*pull)(struct weir__inner *inner, void **items, size_t room);
	struct weir__op *source; /* NULL: not made yet, or it wants no more */
};

/*
 * The source as a flow. It may be used in a nested flow of `inner->around` only
 * (else -EINVAL). `inner` must stay until that nested flow is closed. Never
 * NULL.
 */
struct weir_flow *weir__inner_flow(struct weir__inner *inner);

/*
 * True: the nested flow emits items only in the pull that takes them from the
 * source; so when it has filled the room, no item is left in it.
 */
bool weir__inner_passes_through(const struct weir__inner *inner,
				const struct weir__op *nested);

/*
 * A nested flow, and a queue of items for its source, which the operator around
 * it fills. weir__substream_init() begins it, and begins the next one behind
 * weir__substream_close().
 */
struct weir__substream {
	struct weir__inner inner;
	struct weir__nest nest;
	void **slots;
	size_t capacity, first, n; /* items that wait */
	bool over;		   /* no more items will be put */
	bool passes_through;	   /* it holds no items when none wait */
	struct weir_error *error;  /* how upstream ended; borrowed from it */
};

/* An empty queue. The caller opens the nested flow upon `inner`. */
void weir__substream_init(struct weir__substream *sub, struct weir__op *around,
			  void **slots, size_t capacity);
static inline bool weir__substream_is_full(const struct weir__substream *sub)
{
	return sub->n == sub->capacity;
}
/* Puts an item into a queue that is not full. An item that the nested flow does
 * not want any more is dropped. */
void weir__substream_put(struct weir__substream *sub, void *item);
/* No more items will be put: the source ends behind those that wait, with
 * `error` or well. */
void weir__substream_end(struct weir__substream *sub, struct weir_error *error);
/*
 * The operator around the nested flow has ended with `error`: the items that
 * wait are dropped, and the nested flow gets the error; the items that it emits
 * after that are dropped.
 */
void weir__substream_fail(struct weir__substream *sub,
			  struct weir_error *error);
/* As weir__nest_pull(). */
size_t weir__substream_pull(struct weir__substream *sub, void **items,
			    size_t room);
/* Cancels the nested flow if it has not ended, and drops the items that
 * wait. */
void weir__substream_close(struct weir__substream *sub);

#endif
