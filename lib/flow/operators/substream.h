/* SPDX-License-Identifier: BSD-2-Clause */
/* A part of a stream: a nested flow that takes items from the operator around
 * it, with a queue in front. */
#ifndef WEIR_FLOW_OPERATORS_SUBSTREAM_H
#define WEIR_FLOW_OPERATORS_SUBSTREAM_H

#include "base/deque.h"
#include "flow/shared/inner.h"
#include "flow/shared/nest.h"

/*
 * A nested flow, and a queue of items for its source, which the operator around
 * it fills. weir__substream_init() begins it, and begins the next one behind
 * weir__substream_close().
 */
struct weir__substream {
	struct weir__inner inner;
	struct weir__nest nest;
	void **slots;
	struct weir__deque waiting; /* the slots whose items wait */
	bool over;		    /* no more items will be put */
	bool passes_through;	    /* it holds no items when none wait */
	struct weir_error *error;   /* how upstream ended; borrowed from it */
};

/* An empty queue. The caller opens the nested flow upon `inner`. */
void weir__substream_init(struct weir__substream *sub, struct weir__op *around,
			  void **slots, size_t capacity);
static inline bool weir__substream_is_full(const struct weir__substream *sub)
{
	return weir__deque_is_full(&sub->waiting);
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
