/* SPDX-License-Identifier: BSD-2-Clause */
/* A nested flow, and the items that wait for it. */
#include "flow/operators/substream.h"

#include <assert.h>

#include "flow/engine/island.h"

/* Takes the first item that waits. */
static void *next_of(struct weir__substream *sub)
{
	return sub->slots[weir__deque_pop(&sub->waiting)];
}

static size_t sub_take(struct weir__inner *inner, void **items, size_t room)
{
	struct weir__substream *sub =
		weir_container_of(inner, struct weir__substream, inner);
	size_t n;

	for (n = 0; n < room && sub->waiting.n > 0; n++)
		items[n] = next_of(sub);
	if (sub->over && sub->waiting.n == 0)
		weir__op_end(inner->source, sub->error);
	return n;
}

void weir__substream_init(struct weir__substream *sub, struct weir__op *around,
			  void **slots, size_t capacity)
{
	assert(capacity > 0);
	/* the nested flow before this one is closed */
	assert(!sub->nest.op && sub->waiting.n == 0);
	*sub = (struct weir__substream){
		.inner = {.around = around, .pull = sub_take},
		.slots = slots,
		.waiting = {.capacity = capacity},
	};
}

static void drop_waiting(struct weir__substream *sub)
{
	while (sub->waiting.n > 0)
		weir__op_drop_one(sub->inner.around->up[0], next_of(sub));
}

void weir__substream_put(struct weir__substream *sub, void *item)
{
	assert(!sub->over);
	assert(!weir__substream_is_full(sub));
	if (!sub->inner.source) {
		weir__op_drop_one(sub->inner.around->up[0], item);
		return;
	}
	sub->slots[weir__deque_push(&sub->waiting)] = item;
}

void weir__substream_end(struct weir__substream *sub, struct weir_error *error)
{
	if (sub->inner.source && !sub->over)
		sub->inner.source->island->n_wakes++; /* as any end does */
	sub->over = true;
	sub->error = error;
}

void weir__substream_fail(struct weir__substream *sub, struct weir_error *error)
{
	drop_waiting(sub);
	weir__substream_end(sub, error);
	weir__pull_none(sub->nest.op);
}

size_t weir__substream_pull(struct weir__substream *sub, void **items,
			    size_t room)
{
	struct weir__island *island = sub->nest.op->island;
	bool again = island->again, more = !sub->passes_through || room == 0;
	size_t n = 0;

	if (!more) {
		n = weir__pull(sub->nest.op, items, room);
		island->again = again;
		/* else the nested flow was asked for everything it has */
		more = n < room && (sub->waiting.n > 0 || !sub->inner.source);
	}
	if (more)
		n += weir__nest_pull(&sub->nest, items + n, room - n);
	if (!sub->inner.source)
		drop_waiting(sub);
	return n;
}

void weir__substream_close(struct weir__substream *sub)
{
	weir__nest_close(&sub->nest);
	/* the source was closed with the nested flow it was in */
	assert(!sub->inner.source);
	drop_waiting(sub);
}
