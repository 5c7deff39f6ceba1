/* SPDX-License-Identifier: BSD-2-Clause */
#include "actor/kit.h"

void ledger_drop(void *item, void *context)
{
	struct ledger *ledger = context;

	assert_in_range((uintptr_t)item, 1, ledger->n);
	ck_pr_inc_32(&ledger->dropped[(uintptr_t)item - 1]);
}

static int ledger_share(void *item, void *context)
{
	struct ledger *ledger = context;

	assert_in_range((uintptr_t)item, 1, ledger->n);
	if (ledger->share_fails && --ledger->share_fails == 0)
		return -ENOMEM;
	ck_pr_inc_32(&ledger->shared[(uintptr_t)item - 1]);
	return 0;
}

void ledger_init(struct ledger *ledger, size_t n)
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

void *ledger_make(struct ledger *ledger, size_t i)
{
	assert_in_range(i, 1, ledger->n);
	ck_pr_inc_32(&ledger->made[i - 1]);
	return (void *)i;
}

size_t ledger_deliver(struct ledger *ledger, void *item)
{
	assert_in_range((uintptr_t)item, 1, ledger->n);
	ck_pr_inc_32(&ledger->delivered[(uintptr_t)item - 1]);
	return (uintptr_t)item;
}

size_t ledger_sum(const uint32_t *counts, size_t n)
{
	size_t sum = 0, i;

	for (i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

size_t ledger_delivered(const struct ledger *ledger)
{
	return ledger_sum(ledger->delivered, ledger->n);
}

size_t ledger_dropped(const struct ledger *ledger)
{
	return ledger_sum(ledger->dropped, ledger->n);
}

void ledger_check(const struct ledger *ledger)
{
	size_t i;

	for (i = 0; i < ledger->n; i++)
		assert_int_equal(ledger->made[i] + ledger->shared[i],
				 ledger->delivered[i] + ledger->dropped[i]);
}

void ledger_fini(struct ledger *ledger)
{
	free(ledger->made);
	free(ledger->shared);
	free(ledger->delivered);
	free(ledger->dropped);
}

void fate_stopped(struct fate *fate, struct weir_error *error)
{
	fate->stopped++;
	fate->code = error ? error->code : 0;
}

void fate_released(struct fate *fate)
{
	assert_int_equal(fate->stopped, 1);
	ck_pr_inc_32(&fate->released);
}

void fate_check(const struct fate *fate, int code)
{
	assert_int_equal(fate->stopped, 1);
	assert_int_equal(fate->released, 1);
	assert_int_equal(fate->code, code);
}

static int source_turn(struct weir_actor *actor)
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

uint32_t source_turns(struct weir_actor *actor, uint32_t n)
{
	return source_turn_n(actor, n);
}

void source_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct source, actor)->fate,
		     error);
}

void source_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct source, actor)->fate);
}

const struct weir_actor_ops source_ops = {
	.name = "source",
	.turns = source_turn_n,
	.stopped = source_stopped,
	.released = source_released,
};

void source_init(struct source *self, struct weir_executor *executor,
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

static int stage_turn(struct weir_actor *actor)
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

static void stage_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct stage, actor)->fate,
		     error);
}

void stage_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct stage, actor)->fate);
}

const struct weir_actor_ops stage_ops = {
	.name = "stage",
	.turns = stage_turn_n,
	.stopped = stage_stopped,
	.released = stage_released,
};

void stage_init(struct stage *self, struct weir_executor *executor,
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

static int sink_turn(struct weir_actor *actor)
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

uint32_t sink_turns(struct weir_actor *actor, uint32_t n)
{
	return sink_turn_n(actor, n);
}

int sink_ended(struct weir_actor *actor, struct weir_in *in,
	       struct weir_error *error)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	assert_ptr_equal(in, &self->in);
	assert_int_equal(weir_in_count(in), 0);
	self->ended++;
	self->end_code = error ? error->code : 0;
	return weir_actor_end(actor);
}

void sink_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct sink, actor)->fate,
		     error);
}

void sink_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct sink, actor)->fate);
}

const struct weir_actor_ops sink_ops = {
	.name = "sink",
	.turns = sink_turn_n,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = sink_released,
};

void sink_init(struct sink *self, struct weir_executor *executor,
	       struct ledger *ledger, size_t capacity)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	assert_int_equal(weir_actor_init(&self->actor, &sink_ops, executor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity,
				      &ledger->items),
			 0);
}

void pair_init(struct pair *pair, struct weir_executor *executor, size_t n,
	       size_t capacity)
{
	ledger_init(&pair->ledger, n ? n : 1);
	source_init(&pair->source, executor, &pair->ledger, 1, n);
	sink_init(&pair->sink, executor, &pair->ledger, capacity);
	pair->sink.ordered = true;
	assert_int_equal(weir_out_link(&pair->source.out, &pair->sink.in), 0);
}

void pair_start(struct pair *pair)
{
	assert_int_equal(weir_actor_start(&pair->sink.actor), 0);
	assert_int_equal(weir_actor_start(&pair->source.actor), 0);
}

void pair_fini(struct pair *pair)
{
	ledger_check(&pair->ledger);
	ledger_fini(&pair->ledger);
}

struct weir_sim *sim_new(uint64_t seed)
{
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	return sim;
}

void sim_free(struct weir_sim *sim)
{
	assert_int_equal(weir_sim_free(sim), 0);
}

void *heap_alloc(size_t size, void *context)
{
	struct heap *heap = context;

	if (++heap->calls == heap->fail)
		return NULL;
	heap->live++;
	heap->bytes += size;
	return malloc(size);
}

void heap_free(void *memory, size_t size, void *context)
{
	struct heap *heap = context;

	assert_non_null(memory);
	heap->live--;
	heap->bytes -= size;
	free(memory);
}

void heap_init(struct heap *heap, size_t fail)
{
	memset(heap, 0, sizeof(*heap));
	heap->fail = fail;
	heap->allocator = (struct weir_allocator){
		.alloc = heap_alloc,
		.free = heap_free,
		.context = heap,
	};
}
