/* SPDX-License-Identifier: BSD-2-Clause */
/* Ready-made actors and chains of them. */
#include "actor/kit.h"

#include <weir/stage.h>
#include <weir/system.h>

#define MADE 100	  /* items that the producer makes */
#define LEDGER (8 * MADE) /* and what becomes of them */

/* The functions of the user that can fail. */
enum function { NONE, PRODUCE, SPLIT, FLUSH, PASS, CONSUME, N_FUNCTIONS };

/*
 * produce -> split -> pass -> consume. An item of value i becomes i % 4 new
 * ones, `most` at a time, and after the last one come `rest` more.
 */
struct chain {
	struct weir_producer producer;
	struct weir_transformer splitter, passer;
	struct weir_consumer consumer;
	struct weir_actor *actors[4];
	struct fate fates[4];
	struct ledger ledger;
	struct weir_sim *sim;
	size_t next;	 /* item to make */
	size_t produced; /* by the producer */
	size_t consumed, last;
	uint32_t most, pieces, rest;
	enum function fails; /* that one fails, */
	uint32_t calls_left; /* in its n-th call from now, */
	uint32_t again;	     /* and so many after that; 0: once */
	uint32_t faults, resets;
	bool reports; /* the splitter: itself, and wants its item again */
	const struct weir_lifecycle *lifecycle;
	size_t finish_after; /* the consumer has enough after that many */
	bool wrongly;	     /* a wrong result, instead of a failure */
	bool too_many;	     /* pieces at once */
	bool ends_stream;    /* the producer, with its 5th item */
	bool ends_output;    /* the splitter, with the first */
	uint32_t flushes;
	uint32_t live, most_live;
};

static int fault(struct chain *self, enum function function)
{
	if (self->fails != function || --self->calls_left)
		return 0;
	self->calls_left = self->again;
	self->faults++;
	return self->wrongly ? 3 : -EIO;
}

static void *make(struct chain *self)
{
	if (++self->live > self->most_live)
		self->most_live = self->live;
	return ledger_make(&self->ledger, ++self->next);
}

static void use(struct chain *self, void *item)
{
	self->live--;
	ledger_deliver(&self->ledger, item);
}

static int chain_produce(void **item, void *context)
{
	struct chain *self = context;
	int rc = fault(self, PRODUCE);

	if (rc)
		return rc;
	if (self->produced == MADE)
		return 0;
	if (++self->produced == 5 && self->ends_stream)
		assert_int_equal(weir_out_end(&self->producer.out, NULL), 0);
	*item = make(self);
	return 1;
}

static int put_pieces(struct chain *self, struct weir_out *out, uint32_t n)
{
	uint32_t i;

	if (self->too_many && n > 1)
		n = self->most + 1;
	for (i = 0; i < n; i++)
		assert_int_equal(weir_out_put(out, make(self)), 0);
	return 0;
}

static uint32_t at_most(const struct chain *self, uint32_t n)
{
	return n < self->most ? n : self->most;
}

static int chain_split(void *item, struct weir_out *out, void *context)
{
	struct chain *self = context;
	int rc = fault(self, SPLIT);
	uint32_t n;

	if (rc) {
		self->pieces = 0; /* of an item that is lost */
		if (!self->reports)
			return rc;
		assert_int_equal(
			weir_actor_fail_code(&self->splitter.actor, rc), 0);
		return WEIR_TRANSFORM_MORE;
	}
	if (self->ends_output) {
		(void)weir_out_end(out, NULL);
		use(self, item);
		return 0;
	}
	if (!self->pieces)
		self->pieces = (uintptr_t)item % 4;
	n = at_most(self, self->pieces);
	put_pieces(self, out, n);
	self->pieces -= n;
	if (self->pieces)
		return WEIR_TRANSFORM_MORE;
	use(self, item);
	return 0;
}

static int chain_flush(struct weir_out *out, void *context)
{
	struct chain *self = context;
	int rc = fault(self, FLUSH);
	uint32_t n = at_most(self, self->rest);

	if (rc)
		return rc;
	self->flushes++;
	put_pieces(self, out, n);
	self->rest -= n;
	return self->rest ? WEIR_TRANSFORM_MORE : 0;
}

static int chain_pass(void *item, struct weir_out *out, void *context)
{
	struct chain *self = context;
	int rc = fault(self, PASS);

	return rc ? rc : weir_out_put(out, item);
}

static int chain_consume(void *item, void *context)
{
	struct chain *self = context;
	int rc = fault(self, CONSUME);

	if (rc)
		return rc;
	assert_true((uintptr_t)item > self->last);
	self->last = (uintptr_t)item;
	use(self, item);
	if (++self->consumed == self->finish_after)
		weir_actor_end(&self->consumer.actor);
	return 0;
}

#define FATE_OF(stage, i) \
	static void stage##_done(struct weir_error *error, void *context) \
	{ \
		fate_stopped(&((struct chain *)context)->fates[i], error); \
	} \
	static void stage##_released(void *context) \
	{ \
		fate_released(&((struct chain *)context)->fates[i]); \
	}
FATE_OF(producer, 0)
FATE_OF(splitter, 1)
FATE_OF(passer, 2)
FATE_OF(consumer, 3)

static void chain_new(struct chain *self, uint64_t drawn)
{
	memset(self, 0, sizeof(*self));
	self->sim = sim_new(drawn);
	self->most = 1;
	ledger_init(&self->ledger, LEDGER);
}

static void init_ends(struct chain *self, size_t capacity, int64_t permits)
{
	struct weir_executor *executor = weir_sim_executor(self->sim);

	assert_int_equal(
		weir_producer_init(&self->producer, executor,
				   &(struct weir_producer_options){
					   .name = "produce",
					   .produce = chain_produce,
					   .done = producer_done,
					   .released = producer_released,
					   .context = self,
					   .makes = &self->ledger.items,
					   .permits = permits,
					   .lifecycle = self->lifecycle,
				   }),
		0);
	assert_int_equal(
		weir_consumer_init(
			&self->consumer, executor,
			&(struct weir_consumer_options){
				.name = "consume",
				.consume = chain_consume,
				.done = consumer_done,
				.released = consumer_released,
				.context = self,
				.capacity = capacity,
				.permits = permits ? &self->producer.permits
						   : NULL,
				.lifecycle = self->lifecycle,
			}),
		0);
}

static void init_middle(struct chain *self, size_t capacity)
{
	struct weir_executor *executor = weir_sim_executor(self->sim);

	assert_int_equal(
		weir_transformer_init(&self->splitter, executor,
				      &(struct weir_transformer_options){
					      .name = "split",
					      .transform = chain_split,
					      .flush = chain_flush,
					      .done = splitter_done,
					      .released = splitter_released,
					      .context = self,
					      .capacity = capacity,
					      .most = self->most,
					      .makes = &self->ledger.items,
					      .lifecycle = self->lifecycle,
				      }),
		0);
	assert_int_equal(
		weir_transformer_init(&self->passer, executor,
				      &(struct weir_transformer_options){
					      .name = "pass",
					      .transform = chain_pass,
					      .done = passer_done,
					      .released = passer_released,
					      .context = self,
					      .capacity = capacity,
					      .makes = &self->ledger.items,
					      .lifecycle = self->lifecycle,
				      }),
		0);
}

static void chain_init(struct chain *self, size_t capacity)
{
	init_ends(self, capacity, 0);
	init_middle(self, capacity);
	self->actors[0] = &self->producer.actor;
	self->actors[1] = &self->splitter.actor;
	self->actors[2] = &self->passer.actor;
	self->actors[3] = &self->consumer.actor;
}

/* Everybody has ended once, everything is accounted for. */
static void chain_end(struct chain *self)
{
	size_t i;

	for (i = 0; i < 4; i++) {
		if (!self->actors[i])
			continue;
		assert_int_equal(self->fates[i].stopped, 1);
		assert_int_equal(self->fates[i].released, 1);
	}
	ledger_check(&self->ledger);
	ledger_fini(&self->ledger);
	sim_free(self->sim);
}

static void chain_run(struct chain *self)
{
	assert_int_equal(weir_chain_start(self->actors, 4), 0);
	weir_sim_run(self->sim);
}

static void a_chain_delivers_all_in_order(void **state)
{
	struct chain chain;
	size_t i, items = MADE + 5;

	chain_new(&chain, 1);
	chain.rest = 5;
	chain_init(&chain, 4);
	chain_run(&chain);
	assert_int_equal(chain.produced, MADE);
	assert_int_equal(chain.flushes, 5);
	/* Pieces get numbers of their own, so count what was made. */
	items = ledger_sum(chain.ledger.made, LEDGER) - MADE;
	assert_int_equal(chain.consumed, items);
	assert_int_equal(ledger_dropped(&chain.ledger), 0);
	for (i = 0; i < 4; i++)
		fate_check(&chain.fates[i], 0);
	chain_end(&chain);
}

static void names_are_each_stages_own(void **state)
{
	struct chain chain;
	size_t i;

	chain_new(&chain, 1);
	chain_init(&chain, 4);
	assert_string_equal(weir_actor_name(chain.actors[0]), "produce");
	assert_string_equal(weir_actor_name(chain.actors[1]), "split");
	assert_string_equal(weir_actor_name(chain.actors[2]), "pass");
	assert_string_equal(weir_actor_name(chain.actors[3]), "consume");
	for (i = 0; i < 4; i++)
		weir_actor_stop(chain.actors[i]);
	for (i = 0; i < 4; i++)
		fate_check(&chain.fates[i], -ECANCELED);
	chain_end(&chain);
}

/* One run drawn from a seed: sizes, who fails when, who is stopped when. */
static void run_drawn(uint64_t drawn)
{
	struct chain chain;
	size_t capacity, victim, i;
	uint64_t steps;

	chain_new(&chain, drawn);
	capacity = (size_t)4 << weir_sim_random(chain.sim, 4);
	chain.most = 1 + (uint32_t)weir_sim_random(chain.sim, 4);
	chain.rest = (uint32_t)weir_sim_random(chain.sim, 10);
	chain.fails = (enum function)weir_sim_random(chain.sim, N_FUNCTIONS);
	chain.calls_left = 1 + (uint32_t)weir_sim_random(chain.sim, 2 * MADE);
	chain.finish_after = weir_sim_random(chain.sim, 4 * MADE);
	chain_init(&chain, capacity);
	victim = weir_sim_random(chain.sim, 8);
	steps = weir_sim_random(chain.sim, 200);
	for (i = 0; i < 4; i++)
		weir_actor_ref(chain.actors[i]);
	assert_int_equal(weir_chain_start(chain.actors, 4), 0);
	while (steps-- && weir_sim_step(chain.sim))
		;
	if (victim < 4)
		weir_actor_stop(chain.actors[victim]);
	for (i = 0; i < 4; i++)
		weir_actor_unref(chain.actors[i]);
	weir_sim_run(chain.sim);
	chain_end(&chain);
}

static void every_item_ends_once_whoever_fails_or_stops(void **state)
{
	for_each_seed(seed, test_count(10000))
		run_drawn(seed);
}

/* `function` fails in its 3rd call, or first if there is but one. */
static void run_failing(enum function function, bool wrongly, size_t failed)
{
	struct chain chain;
	int code = wrongly ? -EINVAL : -EIO;
	size_t i;

	chain_new(&chain, 1);
	chain.fails = function;
	chain.calls_left = 3;
	chain.rest = 5;
	chain.wrongly = wrongly;
	chain_init(&chain, 4);
	chain_run(&chain);
	/* down the chain goes the error, up it a cancel */
	for (i = failed; i < 4; i++)
		assert_int_equal(chain.fates[i].code, code);
	for (i = 0; i < failed; i++)
		assert_int_equal(chain.fates[i].code, 0);
	chain_end(&chain);
}

static void a_failure_goes_down_the_chain(void **state)
{
	run_failing(PRODUCE, false, 0);
	run_failing(SPLIT, false, 1);
	run_failing(FLUSH, false, 1);
	run_failing(PASS, false, 2);
	run_failing(CONSUME, false, 3);
}

static void results_of_no_meaning_fail_the_stage(void **state)
{
	run_failing(PRODUCE, true, 0);
	run_failing(SPLIT, true, 1);
	run_failing(FLUSH, true, 1);
	run_failing(PASS, true, 2);
	run_failing(CONSUME, true, 3);
}

static int consume_and_return_1(void *item, void *context)
{
	(void)context;
	(void)item;
	return 1; /* what a turn returns to finish, and no result here */
}

static void a_consumer_that_returns_1_fails_too(void **state)
{
	struct weir_consumer_options options = {.consume = consume_and_return_1,
						.capacity = 4};
	struct weir_consumer consumer;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_consumer_init(&consumer, weir_sim_executor(sim),
					    &options),
			 0);
	weir_actor_ref(&consumer.actor);
	assert_int_equal(weir_in_put(&consumer.in, NULL), 0);
	assert_int_equal(weir_actor_start(&consumer.actor), 0);
	weir_sim_run(sim);
	assert_non_null(consumer.actor.error);
	assert_int_equal(consumer.actor.error->code, -EINVAL);
	weir_actor_unref(&consumer.actor);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void an_error_is_not_followed_by_a_flush(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.fails = PRODUCE;
	chain.calls_left = 10;
	chain.rest = 5;
	chain_init(&chain, 4);
	chain_run(&chain);
	assert_int_equal(chain.flushes, 0);
	chain_end(&chain);
}

static void more_outputs_than_promised_fail_the_stage(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.most = 2;
	chain.too_many = true;
	chain_init(&chain, 16);
	chain_run(&chain);
	assert_int_equal(chain.fates[1].code, -EOVERFLOW);
	assert_int_equal(chain.fates[3].code, -EOVERFLOW);
	chain_end(&chain);
}

static void more_than_promised_in_the_last_flush_fails_too(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.most = 2;
	chain.rest = 2;
	chain.too_many = true;
	chain.produced = MADE;
	chain_init(&chain, 16);
	chain_run(&chain);
	assert_int_equal(chain.fates[1].code, -EOVERFLOW);
	assert_int_equal(chain.fates[3].code, -EOVERFLOW);
	chain_end(&chain);
}

static void an_item_for_an_ended_stream_is_dropped(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.ends_stream = true;
	chain_init(&chain, 4);
	chain_run(&chain);
	assert_int_equal(chain.produced, 5);
	assert_int_equal(ledger_dropped(&chain.ledger), 1);
	assert_int_equal(chain.fates[0].code, -EPIPE);
	assert_int_equal(chain.fates[3].code, 0);
	chain_end(&chain);
}

static void a_consumer_that_has_enough_ends_the_chain(void **state)
{
	struct chain chain;
	size_t i;

	chain_new(&chain, 1);
	chain.finish_after = 10;
	chain_init(&chain, 4);
	chain_run(&chain);
	assert_int_equal(chain.consumed, 10);
	assert_true(chain.produced < MADE);
	for (i = 0; i < 4; i++)
		fate_check(&chain.fates[i], 0);
	chain_end(&chain);
}

static void there_is_no_flush_into_an_ended_stream(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.ends_output = true;
	chain.rest = 5;
	chain_init(&chain, 4);
	chain_run(&chain);
	assert_int_equal(chain.produced, MADE);
	assert_int_equal(chain.flushes, 0);
	assert_int_equal(chain.fates[1].code, 0);
	chain_end(&chain);
}

static void flush_waits_for_room(void **state)
{
	struct chain chain;

	chain_new(&chain, 1);
	chain.rest = 10;
	chain.produced = MADE;
	chain_init(&chain, 4);
	weir_actor_ref(&chain.passer.actor);
	weir_actor_suspend(&chain.passer.actor);
	chain_run(&chain);
	assert_int_equal(chain.flushes, 4);
	weir_actor_resume(&chain.passer.actor);
	weir_actor_unref(&chain.passer.actor);
	weir_sim_run(chain.sim);
	assert_int_equal(chain.flushes, 10);
	assert_int_equal(chain.consumed, 10);
	chain_end(&chain);
}

/* Items pass one for one, so that permits come back by themselves. */
static void run_permitted(uint64_t drawn, int64_t permits)
{
	struct chain chain;

	chain_new(&chain, drawn);
	init_ends(&chain, 16, permits);
	init_middle(&chain, 16);
	weir_actor_stop(&chain.splitter.actor);
	chain.actors[0] = &chain.producer.actor;
	chain.actors[1] = &chain.passer.actor;
	chain.actors[2] = &chain.consumer.actor;
	assert_int_equal(weir_chain_start(chain.actors, 3), 0);
	weir_sim_run(chain.sim);
	assert_int_equal(chain.consumed, MADE);
	assert_true(chain.most_live <= permits);
	if (permits <= 16)
		assert_int_equal(chain.most_live, permits);
	chain.actors[3] = &chain.splitter.actor;
	chain_end(&chain);
}

static void permits_bound_what_is_under_way(void **state)
{
	for_each_seed(seed, test_count(500)) {
		run_permitted(seed, 1);
		run_permitted(seed, 3);
		run_permitted(seed, 20);
	}
}

static int no_item(void **item, void *context)
{
	return 0;
}

static int no_output(void *item, struct weir_out *out, void *context)
{
	return 0;
}

static int no_use(void *item, void *context)
{
	return 0;
}

static void bad_arguments_change_nothing_producer(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_producer producer, before;
	struct weir_producer_options good = {.produce = no_item}, bad = good;

	memset(&producer, 7, sizeof(producer));
	memcpy(&before, &producer, sizeof(before));
	assert_int_equal(weir_producer_init(NULL, executor, &good), -EINVAL);
	assert_int_equal(weir_producer_init(&producer, NULL, &good), -EINVAL);
	assert_int_equal(weir_producer_init(&producer, executor, NULL),
			 -EINVAL);
	bad.produce = NULL;
	assert_int_equal(weir_producer_init(&producer, executor, &bad),
			 -EINVAL);
	bad = good;
	bad.permits = -1;
	assert_int_equal(weir_producer_init(&producer, executor, &bad),
			 -EINVAL);
	assert_memory_equal(&producer, &before, sizeof(before));
	sim_free(sim);
}

static void bad_arguments_change_nothing_transformer(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_transformer stage, before;
	struct weir_transformer_options good = {.transform = no_output};
	struct weir_transformer_options bad[] = {
		{.flush = NULL},
		{.transform = no_output, .capacity = 3},
		{.transform = no_output, .capacity = WEIR_CAPACITY_MAX * 2},
		{.transform = no_output, .most = WEIR_BURST_MAX + 1},
	};
	size_t i;

	memset(&stage, 7, sizeof(stage));
	memcpy(&before, &stage, sizeof(before));
	assert_int_equal(weir_transformer_init(NULL, executor, &good), -EINVAL);
	assert_int_equal(weir_transformer_init(&stage, NULL, &good), -EINVAL);
	assert_int_equal(weir_transformer_init(&stage, executor, NULL),
			 -EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(weir_transformer_init(&stage, executor,
						       &bad[i]),
				 -EINVAL);
	assert_memory_equal(&stage, &before, sizeof(before));
	sim_free(sim);
}

static void bad_arguments_change_nothing_consumer(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_permits never = {.granted = 0};
	struct weir_consumer stage, before;
	struct weir_consumer_options good = {.consume = no_use};
	struct weir_consumer_options bad[] = {
		{.done = NULL},
		{.consume = no_use, .capacity = 3},
		{.consume = no_use, .capacity = WEIR_CAPACITY_MAX * 2},
		{.consume = no_use, .permits = &never},
	};
	size_t i;

	memset(&stage, 7, sizeof(stage));
	memcpy(&before, &stage, sizeof(before));
	assert_int_equal(weir_consumer_init(NULL, executor, &good), -EINVAL);
	assert_int_equal(weir_consumer_init(&stage, NULL, &good), -EINVAL);
	assert_int_equal(weir_consumer_init(&stage, executor, NULL), -EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(weir_consumer_init(&stage, executor, &bad[i]),
				 -EINVAL);
	assert_memory_equal(&stage, &before, sizeof(before));
	sim_free(sim);
}

/* A chain of the least that there is. */
struct plain {
	struct weir_producer producer;
	struct weir_transformer transformer;
	struct weir_consumer consumer;
	struct weir_actor *actors[3];
};

static int plain_init(struct plain *self, struct weir_executor *executor)
{
	const struct weir_producer_options producer = {.produce = no_item};
	const struct weir_transformer_options transformer = {
		.transform = no_output};
	const struct weir_consumer_options consumer = {.consume = no_use};
	int rc = weir_producer_init(&self->producer, executor, &producer);

	if (rc < 0)
		return rc;
	rc = weir_transformer_init(&self->transformer, executor, &transformer);
	if (rc < 0)
		goto stop_producer;
	rc = weir_consumer_init(&self->consumer, executor, &consumer);
	if (rc < 0)
		goto stop_transformer;
	self->actors[0] = &self->producer.actor;
	self->actors[1] = &self->transformer.actor;
	self->actors[2] = &self->consumer.actor;
	return 0;

stop_transformer:
	weir_actor_stop(&self->transformer.actor);
stop_producer:
	weir_actor_stop(&self->producer.actor);
	return rc;
}

static void stages_have_names_without_being_given_any(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct plain plain;

	assert_int_equal(plain_init(&plain, weir_sim_executor(sim)), 0);
	assert_string_equal(weir_actor_name(plain.actors[0]), "producer");
	assert_string_equal(weir_actor_name(plain.actors[1]), "transformer");
	assert_string_equal(weir_actor_name(plain.actors[2]), "consumer");
	assert_int_equal(weir_chain_start(plain.actors, 3), 0);
	weir_sim_run(sim);
	sim_free(sim);
}

static void no_memory_leaves_nothing_behind(void **state)
{
	struct weir_executor_options options = {0};
	struct weir_sim *sim;
	struct plain plain;
	struct heap heap;
	size_t fail = 0;
	int rc;

	do {
		heap_init(&heap, 0);
		options.allocator = &heap.allocator;
		assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
		heap.fail = heap.calls + ++fail;
		rc = plain_init(&plain, weir_sim_executor(sim));
		if (rc == 0)
			rc = weir_chain_start(plain.actors, 3);
		assert_true(rc == 0 || rc == -ENOMEM);
		weir_sim_run(sim);
		sim_free(sim);
		assert_int_equal(heap.live, 0);
	} while (rc < 0);
	assert_true(fail > 3);
}

/* After each misuse the same chain still starts. */
static void chains_that_cannot_be_change_nothing(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct plain plain;
	struct weir_actor **a = plain.actors;

	assert_int_equal(plain_init(&plain, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_chain_start(NULL, 3), -EINVAL);
	assert_int_equal(weir_chain_start(a, 0), -EINVAL);
	assert_int_equal(weir_chain_start((struct weir_actor *[]){a[0], NULL},
					  2),
			 -EINVAL);
	assert_int_equal(
		weir_chain_start((struct weir_actor *[]){a[0], a[1], a[0]}, 3),
		-EINVAL);
	assert_int_equal(weir_chain_start((struct weir_actor *[]){a[1], a[1]},
					  2),
			 -EINVAL);
	/* a consumer has no out-port, a producer no in-port */
	assert_int_equal(
		weir_chain_start((struct weir_actor *[]){a[0], a[2], a[1]}, 3),
		-EINVAL);
	assert_int_equal(weir_chain_start((struct weir_actor *[]){a[1], a[0]},
					  2),
			 -EINVAL);
	assert_int_equal(weir_chain_start(a, 3), 0);
	assert_int_equal(weir_chain_start(a, 3), -EALREADY);
	weir_sim_run(sim);
	sim_free(sim);
}

static void neighbours_that_cannot_be_linked_change_nothing(void **state)
{
	struct chain chain;
	struct weir_consumer other;
	const struct weir_items others = {.drop = NULL};
	const struct weir_consumer_options options = {
		.consume = no_use,
		.takes = &others,
	};
	struct weir_actor *actors[4];

	chain_new(&chain, 1);
	chain.most = 8;
	chain_init(&chain, 4); /* less than `most` */
	memcpy(actors, chain.actors, sizeof(actors));
	assert_int_equal(weir_chain_start(actors, 4), -EINVAL);
	assert_int_equal(weir_port_set_burst(&chain.splitter.out.port, 4), 0);
	assert_int_equal(weir_consumer_init(&other,
					    weir_sim_executor(chain.sim),
					    &options),
			 0);
	actors[3] = &other.actor;
	assert_int_equal(weir_chain_start(actors, 4), -EINVAL);
	weir_actor_stop(&other.actor);
	assert_int_equal(weir_port_set_burst(&chain.splitter.out.port, 1), 0);
	chain.most = 1;
	chain_run(&chain);
	assert_int_equal(chain.fates[3].code, 0);
	chain_end(&chain);
}

static void chain_done(struct weir_ending *drain)
{
}

static void a_chain_that_cannot_start_is_stopped(void **state)
{
	struct weir_ending drain = {.done = chain_done};
	struct chain chain;
	size_t i;

	chain_new(&chain, 1);
	chain_init(&chain, 4);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(chain.sim),
						 &drain, WEIR_FOREVER),
			 0);
	assert_int_equal(weir_chain_start(chain.actors, 4), -ESHUTDOWN);
	weir_sim_run(chain.sim);
	for (i = 0; i < 4; i++)
		fate_check(&chain.fates[i], -ECANCELED);
	assert_int_equal(chain.produced, 0);
	chain_end(&chain);
}

/* Hand-written actors and ready-made ones go together. */
static void actors_of_ones_own_make_chains_too(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_transformer passer;
	struct ledger ledger;
	struct source source;
	struct sink sink;
	struct chain chain = {.fails = NONE};

	ledger_init(&ledger, MADE);
	source_init(&source, executor, &ledger, 1, MADE);
	sink_init(&sink, executor, &ledger, 8);
	assert_int_equal(
		weir_transformer_init(&passer, executor,
				      &(struct weir_transformer_options){
					      .transform = chain_pass,
					      .context = &chain,
					      .makes = &ledger.items,
				      }),
		0);
	assert_int_equal(weir_chain_start((struct weir_actor *[]){&source.actor,
								  &passer.actor,
								  &sink.actor},
					  3),
			 0);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, MADE);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void an_actor_alone_is_a_chain(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct sink sink;
	struct weir_actor *actor = &sink.actor;

	ledger_init(&ledger, 2);
	sink_init(&sink, weir_sim_executor(sim), &ledger, 8);
	assert_int_equal(weir_in_put(&sink.in, ledger_make(&ledger, 1)), 0);
	assert_int_equal(weir_in_put(&sink.in, ledger_make(&ledger, 2)), 0);
	assert_int_equal(weir_in_end(&sink.in, NULL), 0);
	assert_int_equal(weir_chain_start(&actor, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 2);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void stats_count_what_each_stage_did(void **state)
{
	struct weir_stats stats[3], copy;
	struct chain chain;
	size_t i;

	memset(stats, 0, sizeof(stats));
	chain_new(&chain, 1);
	chain_init(&chain, 4);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_actor_set_stats(chain.actors[i + 1],
						      &stats[i]),
				 0);
	chain_run(&chain);
	weir_stats_read(&stats[0], &copy);
	assert_int_equal(copy.taken, MADE);
	assert_int_equal(copy.put, chain.consumed);
	weir_stats_read(&stats[2], &copy);
	assert_int_equal(copy.taken, chain.consumed);
	assert_int_equal(copy.turns, chain.consumed);
	chain_end(&chain);
}

/* Three items, the last of which says so. */
static int three(void **item, void *context)
{
	size_t *calls = context;

	*item = (void *)(uintptr_t)++ * calls;
	return *calls < 3 ? 1 : WEIR_PRODUCE_LAST;
}

static int sum_up(void *item, void *context)
{
	*(size_t *)context += (uintptr_t)item;
	return 0;
}

static void the_last_item_ends_the_stream(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_producer producer;
	struct weir_consumer consumer;
	struct weir_actor *actors[] = {&producer.actor, &consumer.actor};
	size_t calls = 0, sum = 0;

	assert_int_equal(weir_producer_init(&producer, weir_sim_executor(sim),
					    &(struct weir_producer_options){
						    .produce = three,
						    .context = &calls}),
			 0);
	assert_int_equal(
		weir_consumer_init(&consumer, weir_sim_executor(sim),
				   &(struct weir_consumer_options){
					   .consume = sum_up, .context = &sum}),
		0);
	assert_int_equal(weir_chain_start(actors, 2), 0);
	weir_sim_run(sim);
	assert_int_equal(calls, 3); /* and was not asked again */
	assert_int_equal(sum, 1 + 2 + 3);
	sim_free(sim);
}

/* --- In a system ---------------------------------------------------------- */

/* That of the test under way: a hook gets any of its stages. */
static struct chain *supervised;

static int count_reset(struct weir_actor *actor)
{
	supervised->resets++;
	return 0;
}

static const struct weir_lifecycle counts = {.reset = count_reset};

/* The stages are linked; they run as children of a new system, to their end. */
static void chain_run_supervised(struct chain *self, size_t n,
				 enum weir_directive directive)
{
	const struct weir_rule always = {.directive = directive};
	const struct weir_strategy strategy = {.rules = &always, .n_rules = 1};
	const struct weir_system_options options = {
		.strategy = &strategy, .event = weir_supervision_event_ignore};
	const struct weir_spawn_options none = {0};
	struct weir_system *system;
	size_t i;

	assert_int_equal(weir_system_new(&system, weir_sim_executor(self->sim),
					 &options),
			 0);
	for (i = n; i > 0; i--)
		assert_int_equal(weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
						   self->actors[i - 1], &none,
						   NULL),
				 0);
	weir_sim_run(self->sim);
	for (i = 0; i < n; i++)
		assert_int_equal(self->fates[i].released, 1);
	weir_system_stop(system);
	weir_sim_run(self->sim);
	assert_int_equal(weir_system_free(system), 0);
}

static void supervised_new(struct chain *self, uint64_t drawn)
{
	chain_new(self, drawn);
	self->lifecycle = &counts;
	supervised = self;
}

static void run_supervised_drawn(uint64_t drawn, enum function fails,
				 enum weir_directive directive)
{
	bool takes = fails == SPLIT || fails == PASS || fails == CONSUME;
	struct chain chain;
	size_t i;

	supervised_new(&chain, drawn);
	chain.most = 1 + (uint32_t)weir_sim_random(chain.sim, 4);
	chain.rest = 5 + (uint32_t)weir_sim_random(chain.sim, 10);
	chain.fails = fails;
	chain.calls_left = 1 + (uint32_t)weir_sim_random(chain.sim, 2);
	chain.again = 2 + (uint32_t)weir_sim_random(chain.sim, MADE);
	chain.reports = weir_sim_random(chain.sim, 2);
	chain_init(&chain, (size_t)4 << weir_sim_random(chain.sim, 4));
	assert_int_equal(weir_out_link(&chain.producer.out, &chain.splitter.in),
			 0);
	assert_int_equal(weir_out_link(&chain.splitter.out, &chain.passer.in),
			 0);
	assert_int_equal(weir_out_link(&chain.passer.out, &chain.consumer.in),
			 0);
	chain_run_supervised(&chain, 4, directive);
	/* the chain has run to its end, with nothing lost but what failed */
	assert_true(chain.faults > 0);
	assert_int_equal(chain.resets, directive == WEIR_DIRECTIVE_RESTART
					       ? chain.faults
					       : 0);
	assert_int_equal(chain.produced, MADE);
	assert_int_equal(chain.rest, 0);
	assert_int_equal(ledger_dropped(&chain.ledger),
			 takes ? chain.faults : 0);
	for (i = 0; i < 4; i++)
		fate_check(&chain.fates[i], 0);
	chain_end(&chain);
}

static void run_supervised(enum weir_directive directive)
{
	enum function fails;

	for_each_seed(seed, test_count(1000))
		for (fails = PRODUCE; fails < N_FUNCTIONS; fails++)
			run_supervised_drawn(seed, fails, directive);
}

static void b2_1_a_resumed_stage_goes_on_behind_what_failed(void **state)
{
	run_supervised(WEIR_DIRECTIVE_RESUME);
}

static void b4_a_restarted_stage_goes_on_behind_what_failed(void **state)
{
	run_supervised(WEIR_DIRECTIVE_RESTART);
}

/* A permit is used by an item, and comes back when that is gone. */
static void run_permitted_failing(uint64_t drawn, enum function fails,
				  enum weir_directive directive)
{
	struct chain chain;

	supervised_new(&chain, drawn);
	chain.fails = fails;
	chain.calls_left = 1;
	chain.again = 2;
	init_ends(&chain, 16, 3);
	init_middle(&chain, 16);
	weir_actor_stop(&chain.splitter.actor);
	chain.actors[0] = &chain.producer.actor;
	chain.actors[1] = &chain.passer.actor;
	chain.actors[2] = &chain.consumer.actor;
	assert_int_equal(weir_out_link(&chain.producer.out, &chain.passer.in),
			 0);
	assert_int_equal(weir_out_link(&chain.passer.out, &chain.consumer.in),
			 0);
	chain_run_supervised(&chain, 3, directive);
	assert_true(chain.faults >= MADE / 2);
	assert_int_equal(chain.consumed,
			 MADE - (fails == CONSUME ? chain.faults : 0));
	chain.actors[3] = &chain.splitter.actor;
	chain_end(&chain);
}

static void b1_1_a_failure_costs_no_permit(void **state)
{
	for_each_seed(seed, test_count(200)) {
		run_permitted_failing(seed, PRODUCE, WEIR_DIRECTIVE_RESUME);
		run_permitted_failing(seed, PRODUCE, WEIR_DIRECTIVE_RESTART);
		run_permitted_failing(seed, CONSUME, WEIR_DIRECTIVE_RESUME);
		run_permitted_failing(seed, CONSUME, WEIR_DIRECTIVE_RESTART);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_delivers_all_in_order),
		cmocka_unit_test(names_are_each_stages_own),
		cmocka_unit_test(every_item_ends_once_whoever_fails_or_stops),
		cmocka_unit_test(a_failure_goes_down_the_chain),
		cmocka_unit_test(results_of_no_meaning_fail_the_stage),
		cmocka_unit_test(a_consumer_that_returns_1_fails_too),
		cmocka_unit_test(an_error_is_not_followed_by_a_flush),
		cmocka_unit_test(more_outputs_than_promised_fail_the_stage),
		cmocka_unit_test(
			more_than_promised_in_the_last_flush_fails_too),
		cmocka_unit_test(an_item_for_an_ended_stream_is_dropped),
		cmocka_unit_test(a_consumer_that_has_enough_ends_the_chain),
		cmocka_unit_test(there_is_no_flush_into_an_ended_stream),
		cmocka_unit_test(flush_waits_for_room),
		cmocka_unit_test(permits_bound_what_is_under_way),
		cmocka_unit_test(bad_arguments_change_nothing_producer),
		cmocka_unit_test(bad_arguments_change_nothing_transformer),
		cmocka_unit_test(bad_arguments_change_nothing_consumer),
		cmocka_unit_test(stages_have_names_without_being_given_any),
		cmocka_unit_test(no_memory_leaves_nothing_behind),
		cmocka_unit_test(chains_that_cannot_be_change_nothing),
		cmocka_unit_test(
			neighbours_that_cannot_be_linked_change_nothing),
		cmocka_unit_test(a_chain_that_cannot_start_is_stopped),
		cmocka_unit_test(actors_of_ones_own_make_chains_too),
		cmocka_unit_test(an_actor_alone_is_a_chain),
		cmocka_unit_test(stats_count_what_each_stage_did),
		cmocka_unit_test(the_last_item_ends_the_stream),
		cmocka_unit_test(
			b2_1_a_resumed_stage_goes_on_behind_what_failed),
		cmocka_unit_test(
			b4_a_restarted_stage_goes_on_behind_what_failed),
		cmocka_unit_test(b1_1_a_failure_costs_no_permit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
