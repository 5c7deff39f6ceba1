/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source inside of a nested flow, which takes what the operator around it has
 * for it; and a nested flow with such a source and items that wait for it.
 */
#ifndef WEIR_FLOW_INNER_H
#define WEIR_FLOW_INNER_H

#include "flow/nest.h"

/* Of the operator around it, whose items are those above that. */
struct weir__inner {
	struct weir__op *around;
	/*
	 * As a kind's pull(), for `source`, which it may end. It must not end
	 * `around`: the nested flow that is being pulled would go with it.
	 */
	size_t (*pull)(struct weir__inner *inner, void **items, size_t room);
	struct weir__op *source; /* NULL: none yet, or it wants no more */
};

/*
 * The source as a flow, to be put in a nested flow of `inner->around` and nowhere
 * else (-EINVAL). `inner` stays until that nested flow is closed. Never NULL.
 */
struct weir_flow *weir__inner_flow(struct weir__inner *inner);

/*
 * The nested flow puts out items only in the pull that takes them from the
 * source: when it has filled the room, nothing is left in it.
 */
bool weir__inner_is_linear(const struct weir__inner *inner,
			   const struct weir__op *nested);

/*
 * A nested flow whose source takes what the operator puts there for it. Begun by
 * weir__substream_init(), which also begins the next one behind
 * weir__substream_close().
 */
struct weir__substream {
	struct weir__inner inner;
	struct weir__nest nest;
	void **slots;
	size_t capacity, first, n; /* items that wait */
	bool over;		   /* no more come behind those */
	bool linear; /* has nothing when nothing waits, as it holds nothing */
	struct weir_error *error; /* then; borrowed of who is above */
};

/* Nothing waits, and its nested flow is to be opened upon `inner`. */
void weir__substream_init(struct weir__substream *sub, struct weir__op *around,
			  void **slots, size_t capacity);
static inline bool weir__substream_is_full(const struct weir__substream *sub)
{
	return sub->n == sub->capacity;
}
/* Of one that is not full. What it does not want any more is dropped. */
void weir__substream_put(struct weir__substream *sub, void *item);
/* Nothing more is put; the source ends so behind what waits. */
void weir__substream_end(struct weir__substream *sub, struct weir_error *error);
/*
 * The operator around it has ended with this: what waits is dropped, and the
 * nested flow is told; what it still has to put out has nowhere to go.
 */
void weir__substream_fail(struct weir__substream *sub,
			  struct weir_error *error);
/* As weir__nest_pull(). */
size_t weir__substream_pull(struct weir__substream *sub, void **items,
			    size_t room);
/* Cancels the nested flow if it has not ended; drops what waits. */
void weir__substream_close(struct weir__substream *sub);

#endif
