/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of actors build from: a ledger that knows where every item
 * has gone, and a source, a stage and a sink that use it. Items are numbers
 * from 1 on (their place in the ledger), as pointers.
 */
#ifndef WEIR_TEST_ACTOR_KIT_H
#define WEIR_TEST_ACTOR_KIT_H

#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/sim.h>
#include <weir/weir.h>

#include "actor/gate.h"

/* Every item: made + shared = delivered + dropped, at the end exactly. */
struct ledger {
	uint32_t *made, *shared, *delivered, *dropped; /* any thread */
	size_t n;
	uint32_t share_fails; /* this many shares go well before one fails */
	struct weir_items items;
};

static inline void ledger_drop(void *item, void *context)
{
	struct ledger *ledger = context;

	assert_in_range((uintptr_t)item, 1, ledger->n);
	ck_pr_inc_32(&ledger->dropped[(uintptr_t)item - 1]);
}

static inline int ledger_share(void *item, void *context)
{
	struct ledger *ledger = context;

	assert_in_range((uintptr_t)item, 1, ledger->n);
	if (ledger->share_fails && --ledger->share_fails == 0)
		return -ENOMEM;
	ck_pr_inc_32(&ledger->shared[(uintptr_t)item - 1]);
	return 0;
}

static inline void ledger_init(struct ledger *ledger, size_t n)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->n = n;
	ledger->made = calloc(n, sizeof(uint32_t));
	ledger->shared = calloc(n, sizeof(uint32_t));
	ledger->delivered = calloc(n, sizeof(uint32_t));
	ledger->dropped = calloc(n, sizeof(uint32_t));
	assert_true(ledger->made && ledger->shared && ledger->delivered &&
		    ledger->dropped);
	ledger->items = (struct weir_items){
		.drop = ledger_drop,
		.share = ledger_share,
		.context = ledger,
	};
}

static inline void *ledger_make(struct ledger *ledger, size_t i)
{
	assert_in_range(i, 1, ledger->n);
	ck_pr_inc_32(&ledger->made[i - 1]);
	return (void *)i;
}

static inline size_t ledger_deliver(struct ledger *ledger, void *item)
{
	assert_in_range((uintptr_t)item, 1, ledger->n);
	ck_pr_inc_32(&ledger->delivered[(uintptr_t)item - 1]);
	return (uintptr_t)item;
}

static inline size_t ledger_sum(const uint32_t *counts, size_t n)
{
	size_t sum = 0, i;

	for (i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

static inline size_t ledger_delivered(const struct ledger *ledger)
{
	return ledger_sum(ledger->delivered, ledger->n);
}

static inline size_t ledger_dropped(const struct ledger *ledger)
{
	return ledger_sum(ledger->dropped, ledger->n);
}

/* Everything that was made has gone somewhere, once. */
static inline void ledger_check(const struct ledger *ledger)
{
	size_t i;

	for (i = 0; i < ledger->n; i++)
		assert_int_equal(ledger->made[i] + ledger->shared[i],
				 ledger->delivered[i] + ledger->dropped[i]);
}

static inline void ledger_fini(struct ledger *ledger)
{
	free(ledger->made);
	free(ledger->shared);
	free(ledger->delivered);
	free(ledger->dropped);
}

/* How an actor of a test has ended. */
struct fate {
	uint32_t stopped, released; /* calls; released is any thread's */
	int code;		    /* of the error, 0: none */
};

static inline void fate_stopped(struct fate *fate, struct weir_error *error)
{
	fate->stopped++;
	fate->code = error ? error->code : 0;
}

static inline void fate_released(struct fate *fate)
{
	assert_int_equal(fate->stopped, 1);
	ck_pr_inc_32(&fate->released);
}

static inline void fate_check(const struct fate *fate, int code)
{
	assert_int_equal(fate->stopped, 1);
	assert_int_equal(fate->released, 1);
	assert_int_equal(fate->code, code);
}

/* Makes items first, first + 1, ... last, then finishes. */
struct source {
	struct weir_actor actor;
	struct weir_out out;
	struct ledger *ledger;
	size_t next, last;
	size_t fail_at; /* fails instead of making that one */
	struct fate fate;
};

static inline int source_turn(struct weir_actor *actor)
{
	struct source *self = weir_container_of(actor, struct source, actor);

	if (self->next > self->last)
		return weir_actor_end(actor);
	if (self->next == self->fail_at)
		return -EIO;
	assert_int_equal(weir_out_put(&self->out,
				      ledger_make(self->ledger, self->next)),
			 0);
	self->next++;
	if (self->next > self->last)
		weir_actor_end(actor);
	return 0;
}
WEIR_TURN(source_turn)

static inline void source_stopped(struct weir_actor *actor,
				  struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct source, actor)->fate,
		     error);
}

static inline void source_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct source, actor)->fate);
}

static const struct weir_actor_ops source_ops = {
	.name = "source",
	.turns = source_turn_n,
	.stopped = source_stopped,
	.released = source_released,
};

static inline void source_init(struct source *self,
			       struct weir_executor *executor,
			       struct ledger *ledger, size_t first, size_t last)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	self->next = first;
	self->last = last;
	assert_int_equal(weir_actor_init(&self->actor, &source_ops, executor),
			 0);
	assert_int_equal(
		weir_out_init(&self->out, &self->actor, &ledger->items), 0);
}

/* Passes every item on. */
struct stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	size_t seen, fail_at; /* fails with that item taken */
	struct ledger *ledger;
	struct fate fate;
};

static inline int stage_turn(struct weir_actor *actor)
{
	struct stage *self = weir_container_of(actor, struct stage, actor);
	void *item = weir_in_take(&self->in);

	if (++self->seen == self->fail_at) {
		ledger_drop(item, self->ledger);
		return -EIO;
	}
	assert_int_equal(weir_out_put(&self->out, item), 0);
	return 0;
}
WEIR_TURN(stage_turn)

static inline void stage_stopped(struct weir_actor *actor,
				 struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct stage, actor)->fate,
		     error);
}

static inline void stage_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct stage, actor)->fate);
}

static const struct weir_actor_ops stage_ops = {
	.name = "stage",
	.turns = stage_turn_n,
	.stopped = stage_stopped,
	.released = stage_released,
};

static inline void stage_init(struct stage *self,
			      struct weir_executor *executor,
			      struct ledger *ledger, size_t capacity)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	assert_int_equal(weir_actor_init(&self->actor, &stage_ops, executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity, NULL),
			 0);
	assert_int_equal(
		weir_out_init(&self->out, &self->actor, &ledger->items), 0);
}

/* Takes every item; checks that they come in order if told to. */
struct sink {
	struct weir_actor actor;
	struct weir_in in;
	struct ledger *ledger;
	size_t seen, last, stop_at; /* finishes after that many */
	bool ordered;
	uint32_t ended; /* calls of the handler */
	int end_code;
	struct fate fate;
};

static inline int sink_turn(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);
	size_t i = ledger_deliver(self->ledger, weir_in_take(&self->in));

	if (self->ordered)
		assert_int_equal(i, self->last + 1);
	self->last = i;
	if (++self->seen == self->stop_at)
		weir_actor_end(actor);
	return 0;
}
WEIR_TURN(sink_turn)

static inline int sink_ended(struct weir_actor *actor, struct weir_in *in,
			     struct weir_error *error)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	assert_ptr_equal(in, &self->in);
	assert_int_equal(weir_in_count(in), 0);
	self->ended++;
	self->end_code = error ? error->code : 0;
	return weir_actor_end(actor);
}

static inline void sink_stopped(struct weir_actor *actor,
				struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct sink, actor)->fate,
		     error);
}

static inline void sink_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct sink, actor)->fate);
}

static const struct weir_actor_ops sink_ops = {
	.name = "sink",
	.turns = sink_turn_n,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = sink_released,
};

static inline void sink_init(struct sink *self, struct weir_executor *executor,
			     struct ledger *ledger, size_t capacity)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	assert_int_equal(weir_actor_init(&self->actor, &sink_ops, executor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity,
				      &ledger->items),
			 0);
}

/* source -> sink, linked and not started; most tests need no more. */
struct pair {
	struct ledger ledger;
	struct source source;
	struct sink sink;
};

static inline void pair_init(struct pair *pair, struct weir_executor *executor,
			     size_t n, size_t capacity)
{
	ledger_init(&pair->ledger, n ? n : 1);
	source_init(&pair->source, executor, &pair->ledger, 1, n);
	sink_init(&pair->sink, executor, &pair->ledger, capacity);
	pair->sink.ordered = true;
	assert_int_equal(weir_out_link(&pair->source.out, &pair->sink.in), 0);
}

static inline void pair_start(struct pair *pair)
{
	assert_int_equal(weir_actor_start(&pair->sink.actor), 0);
	assert_int_equal(weir_actor_start(&pair->source.actor), 0);
}

static inline void pair_fini(struct pair *pair)
{
	ledger_check(&pair->ledger);
	ledger_fini(&pair->ledger);
}

static inline struct weir_sim *sim_new(uint64_t seed)
{
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	return sim;
}

/* Nothing may be alive any more. */
static inline void sim_free(struct weir_sim *sim)
{
	assert_int_equal(weir_sim_free(sim), 0);
}

/*
 * An allocator that counts what is out, and fails the `fail`-th allocation
 * from 1 on (0: none). For one thread.
 */
struct heap {
	struct weir_allocator allocator;
	size_t calls, fail, live, bytes;
};

static inline void *heap_alloc(size_t size, void *context)
{
	struct heap *heap = context;

	if (++heap->calls == heap->fail)
		return NULL;
	heap->live++;
	heap->bytes += size;
	return malloc(size);
}

static inline void heap_free(void *memory, size_t size, void *context)
{
	struct heap *heap = context;

	assert_non_null(memory);
	heap->live--;
	heap->bytes -= size;
	free(memory);
}

static inline void heap_init(struct heap *heap, size_t fail)
{
	memset(heap, 0, sizeof(*heap));
	heap->fail = fail;
	heap->allocator = (struct weir_allocator){
		.alloc = heap_alloc,
		.free = heap_free,
		.context = heap,
	};
}

#endif
