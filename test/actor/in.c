/* SPDX-License-Identifier: BSD-2-Clause */
/* In-ports: putting, taking, bursts, ends, merging. */
#include "actor/kit.h"

#include <weir/system.h>

#include "actor/in.h"
#include "actor/port.h"

/* A sink over a port that is put to. */
struct fixture {
	struct weir_sim *sim;
	struct ledger ledger;
	struct sink sink;
};

static void fixture_init(struct fixture *f, size_t n, size_t capacity)
{
	f->sim = sim_new(1);
	ledger_init(&f->ledger, n);
	sink_init(&f->sink, weir_sim_executor(f->sim), &f->ledger, capacity);
}

static void fixture_fini(struct fixture *f)
{
	ledger_check(&f->ledger);
	ledger_fini(&f->ledger);
	sim_free(f->sim);
}

static int put(struct fixture *f, size_t i)
{
	void *item = ledger_make(&f->ledger, i);
	int rc = weir_in_put(&f->sink.in, item);

	if (rc < 0)
		ledger_drop(item, &f->ledger);
	return rc;
}

static void bad_capacities_are_refused(void **state)
{
	static const size_t bad[] = {0, 3, 1000, (size_t)WEIR_CAPACITY_MAX * 2,
				     SIZE_MAX};
	struct weir_sim *sim = sim_new(1);
	struct weir_actor actor;
	struct weir_in in;
	size_t i;

	weir_actor_init(&actor, &sink_ops, weir_sim_executor(sim));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(weir_in_init(&in, &actor, bad[i], NULL),
				 -EINVAL);
	assert_int_equal(weir_in_init(NULL, &actor, 1, NULL), -EINVAL);
	assert_int_equal(weir_in_init(&in, NULL, 1, NULL), -EINVAL);
	assert_null(actor.ports);
	sim_free(sim);
}

static void a_full_port_refuses_and_overwrites_nothing(void **state)
{
	struct fixture f;
	size_t i;

	for (i = 1; i <= 8; i *= 2) {
		size_t k;

		fixture_init(&f, 9, i);
		f.sink.ordered = true;
		for (k = 1; k <= i; k++)
			assert_int_equal(put(&f, k), 0);
		assert_int_equal(put(&f, 9), -EAGAIN);
		assert_int_equal(weir_actor_start(&f.sink.actor), 0);
		weir_sim_run(f.sim);
		assert_int_equal(f.sink.seen, i);
		assert_int_equal(weir_in_end(&f.sink.in, NULL), 0);
		weir_sim_run(f.sim);
		fate_check(&f.sink.fate, 0);
		fixture_fini(&f);
	}
}

static void the_end_comes_behind_the_tokens_and_only_once(void **state)
{
	struct fixture f;

	fixture_init(&f, 4, 4);
	assert_int_equal(put(&f, 1), 0);
	assert_int_equal(put(&f, 2), 0);
	assert_int_equal(weir_in_end(&f.sink.in, weir_error_of(-EIO)), 0);
	assert_int_equal(weir_in_end(&f.sink.in, NULL), -EALREADY);
	assert_int_equal(put(&f, 3), -EPIPE);
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	weir_sim_run(f.sim);
	assert_int_equal(f.sink.seen, 2);
	assert_int_equal(f.sink.ended, 1);
	assert_int_equal(f.sink.end_code, -EIO);
	fixture_fini(&f);
}

static void a_stopped_port_refuses(void **state)
{
	struct fixture f;

	fixture_init(&f, 4, 4);
	weir_actor_ref(&f.sink.actor);
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	weir_actor_stop(&f.sink.actor);
	weir_sim_run(f.sim);
	assert_int_equal(put(&f, 1), -EPIPE);
	weir_actor_unref(&f.sink.actor);
	fixture_fini(&f);
}

static void taking_outside_a_turn_gives_nothing_and_changes_nothing(
	void **state)
{
	struct fixture f;

	fixture_init(&f, 4, 4);
	weir_actor_suspend(&f.sink.actor);
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	assert_int_equal(put(&f, 1), 0);
	weir_sim_run(f.sim);
	assert_null(weir_in_take(&f.sink.in));
	assert_null(weir_in_peek(&f.sink.in));
	weir_in_consume(&f.sink.in);
	assert_int_equal(weir_in_count(&f.sink.in), 0);
	weir_actor_resume(&f.sink.actor);
	assert_int_equal(weir_in_end(&f.sink.in, NULL), 0);
	weir_sim_run(f.sim);
	assert_int_equal(f.sink.seen, 1);
	fate_check(&f.sink.fate, 0);
	fixture_fini(&f);
}

/* Takes `takes` tokens a turn, whatever its burst says; notes how many. */
struct taker {
	struct weir_actor actor;
	struct weir_in in;
	struct ledger *ledger;
	uint32_t takes;
	uint32_t turns, counts[16];
	struct fate fate;
};

static inline int taker_turn(struct weir_actor *actor)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);
	uint32_t i, n = weir_in_count(&self->in);
	void *item;

	if (self->turns < 16)
		self->counts[self->turns] = n;
	self->turns++;
	for (i = 0; i < self->takes; i++) {
		item = weir_in_take(&self->in);
		if (item)
			ledger_deliver(self->ledger, item);
	}
	return 0;
}
WEIR_TURN(taker_turn)

static void taker_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct taker, actor)->fate,
		     error);
}

static void taker_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct taker, actor)->fate);
}

static const struct weir_actor_ops taker_ops = {
	.turns = taker_turn_n,
	.stopped = taker_stopped,
	.released = taker_released,
};

static void taker_init(struct taker *self, struct weir_sim *sim,
		       struct ledger *ledger, uint32_t burst, uint32_t takes)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	self->takes = takes;
	weir_actor_init(&self->actor, &taker_ops, weir_sim_executor(sim));
	assert_int_equal(
		weir_in_init(&self->in, &self->actor, 8, &ledger->items), 0);
	assert_int_equal(weir_port_set_burst(&self->in.port, burst), 0);
}

static void feed(struct taker *self, struct ledger *ledger, size_t from,
		 size_t to)
{
	for (; from <= to; from++)
		assert_int_equal(
			weir_in_put(&self->in, ledger_make(ledger, from)), 0);
}

static void a_turn_with_a_burst_waits_for_that_many(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;

	ledger_init(&ledger, 8);
	taker_init(&taker, sim, &ledger, 3, 3);
	assert_int_equal(weir_actor_start(&taker.actor), 0);
	feed(&taker, &ledger, 1, 2);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	assert_true(weir__actor_check(&taker.actor));
	feed(&taker, &ledger, 3, 3);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	/* the end lets one turn have the rest, which is less */
	feed(&taker, &ledger, 4, 5);
	assert_int_equal(weir_in_end(&taker.in, NULL), 0);
	taker.takes = 2;
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 2);
	assert_int_equal(taker.counts[1], 2);
	assert_int_equal(ledger_delivered(&ledger), 5);
	fate_check(&taker.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void a_rest_that_no_turn_wants_is_dropped_at_the_end(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;

	ledger_init(&ledger, 8);
	taker_init(&taker, sim, &ledger, 4, 0);
	feed(&taker, &ledger, 1, 3);
	assert_int_equal(weir_in_end(&taker.in, NULL), 0);
	assert_int_equal(weir_actor_start(&taker.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	assert_int_equal(ledger_dropped(&ledger), 3);
	fate_check(&taker.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void taking_more_than_there_is_fails_the_turn(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;

	ledger_init(&ledger, 8);
	taker_init(&taker, sim, &ledger, 1, 2);
	feed(&taker, &ledger, 1, 1);
	assert_int_equal(weir_actor_start(&taker.actor), 0);
	weir_sim_run(sim);
	fate_check(&taker.fate, -ENODATA);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void bad_bursts_are_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;

	ledger_init(&ledger, 8);
	taker_init(&taker, sim, &ledger, 8, 8);
	assert_int_equal(weir_port_set_burst(NULL, 1), -EINVAL);
	assert_int_equal(weir_port_set_burst(&taker.in.port, 0), -EINVAL);
	assert_int_equal(weir_port_set_burst(&taker.in.port, 9), -EINVAL);
	assert_int_equal(taker.in.port.burst, 8);
	weir_actor_stop(&taker.actor);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Two in-ports of burst 2; takes what is there of each. */
struct doubler {
	struct weir_actor actor;
	struct weir_in left, right;
	uint32_t turns, taken, ends;
};

static inline int doubler_turn(struct weir_actor *actor)
{
	struct doubler *self = weir_container_of(actor, struct doubler, actor);

	self->turns++;
	for (; weir_in_count(&self->left); self->taken++)
		weir_in_take(&self->left);
	for (; weir_in_count(&self->right); self->taken++)
		weir_in_take(&self->right);
	return 0;
}
WEIR_TURN(doubler_turn)

/* Found by test/model/eos.pml: the rest was ready, and still counted. */
static void a_rest_lets_a_turn_run_when_the_other_port_is_ready(void **state)
{
	static const struct weir_actor_ops ops = {.turns = doubler_turn_n};
	struct weir_sim *sim = sim_new(1);
	struct doubler doubler = {0};

	weir_actor_init(&doubler.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&doubler.left, &doubler.actor, 4, NULL);
	weir_in_init(&doubler.right, &doubler.actor, 4, NULL);
	assert_int_equal(weir_port_set_burst(&doubler.left.port, 2), 0);
	assert_int_equal(weir_port_set_burst(&doubler.right.port, 2), 0);
	assert_int_equal(weir_actor_start(&doubler.actor), 0);
	assert_int_equal(weir_in_put(&doubler.left, NULL), 0);
	assert_int_equal(weir_in_put(&doubler.right, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_in_end(&doubler.left, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(doubler.turns, 0);
	assert_int_equal(weir_in_put(&doubler.right, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(doubler.turns, 1);
	assert_int_equal(doubler.taken, 3);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 0);
	sim_free(sim);
}

/* Peeks, and fails before it has consumed. */
static inline int peeking_turn(struct weir_actor *actor)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);
	void *item = weir_in_peek(&self->in);

	assert_non_null(item);
	assert_ptr_equal(weir_in_peek(&self->in), item);
	if (++self->turns == 3)
		return -EIO;
	weir_in_consume(&self->in);
	ledger_deliver(self->ledger, item);
	return 0;
}
WEIR_TURN(peeking_turn)

static void a_token_peeked_at_and_not_consumed_is_dropped(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;

	ledger_init(&ledger, 8);
	taker_init(&taker, sim, &ledger, 1, 0);
	taker.actor.turns = peeking_turn_n;
	feed(&taker, &ledger, 1, 5);
	assert_int_equal(weir_actor_start(&taker.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(ledger_delivered(&ledger), 2);
	assert_int_equal(ledger_dropped(&ledger), 3);
	fate_check(&taker.fate, -EIO);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* What a turn does with the next token before the library asks for it. */
enum way { DELIVERS, PEEKS, PEEKS_AND_TAKES, PEEKS_AND_CONSUMES, LEAVES };

/* Does the next of `ways`, then what the library does when that fails. */
struct failer {
	struct sink sink; /* first */
	const enum way *ways;
	size_t turns;
	bool fails;
};

static inline int failer_turn(struct weir_actor *actor)
{
	struct failer *self =
		weir_container_of(actor, struct failer, sink.actor);
	struct sink *sink = &self->sink;
	enum way way = self->ways[self->turns++];

	if (way == PEEKS || way == PEEKS_AND_TAKES || way == PEEKS_AND_CONSUMES)
		assert_non_null(weir_in_peek(&sink->in));
	if (way == PEEKS_AND_CONSUMES) {
		ledger_deliver(sink->ledger, weir_in_peek(&sink->in));
		weir_in_consume(&sink->in);
	} else if (way == DELIVERS || way == PEEKS_AND_TAKES) {
		ledger_deliver(sink->ledger, weir_in_take(&sink->in));
	}
	if (self->fails) {
		weir__in_drop_failed(&sink->in);
		weir__in_drop_failed(&sink->in); /* there is nothing more */
	}
	return 0;
}
WEIR_TURN(failer_turn)

static int failer_signalled(struct weir_actor *actor)
{
	weir__in_drop_failed(&weir_container_of(actor, struct sink, actor)->in);
	return 0;
}

static void failer_init(struct failer *self, struct weir_executor *executor,
			struct ledger *ledger, size_t capacity,
			const enum way *ways)
{
	static struct weir_actor_ops ops;

	ops = sink_ops;
	ops.turns = failer_turn_n;
	ops.signalled = failer_signalled;
	memset(self, 0, sizeof(*self));
	sink_init(&self->sink, executor, ledger, capacity);
	self->sink.actor.ops = &ops;
	self->sink.actor.turns = ops.turns;
	self->ways = ways;
	self->fails = true;
}

static void b1_1_the_token_of_a_failed_turn_is_dropped_once(void **state)
{
	static const enum way ways[] = {DELIVERS, PEEKS, PEEKS, DELIVERS,
					PEEKS};
	struct ledger ledger;
	struct failer failer;
	struct weir_sim *sim;
	size_t capacity, i;

	for (capacity = 1; capacity <= 8; capacity *= 8) {
		sim = sim_new(1);
		ledger_init(&ledger, 5);
		failer_init(&failer, weir_sim_executor(sim), &ledger, capacity,
			    ways);
		assert_int_equal(weir_actor_start(&failer.sink.actor), 0);
		for (i = 1; i <= 5; i++) {
			assert_int_equal(weir_in_put(&failer.sink.in,
						     ledger_make(&ledger, i)),
					 0);
			if (capacity == 1)
				weir_sim_run(sim);
		}
		assert_int_equal(weir_in_end(&failer.sink.in, NULL), 0);
		weir_sim_run(sim);
		for (i = 0; i < 5; i++)
			assert_int_equal(ledger.dropped[i], ways[i] == PEEKS);
		assert_int_equal(failer.turns, 5);
		assert_int_equal(failer.sink.ended, 1);
		fate_check(&failer.sink.fate, 0);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

/* A system whose actors go on when they have failed; counts dead letters. */
struct tree {
	struct weir_sim *sim;
	struct weir_system *system;
	struct ledger ledger;
	size_t dead;
};

static void tree_dead_letter(struct weir_system *system,
			     struct weir_actor_id to, void *item, void *context)
{
	struct tree *tree = context;

	/* in their order, and it is still there */
	assert_int_equal(tree->ledger.dropped[(uintptr_t)item - 1], 0);
	assert_int_equal((uintptr_t)item, tree->ledger.n - tree->dead);
	tree->dead++;
}

static void tree_init(struct tree *self, uint64_t seed, size_t n)
{
	static const struct weir_rule resume = {
		.directive = WEIR_DIRECTIVE_RESUME};
	static const struct weir_strategy strategy = {.rules = &resume,
						      .n_rules = 1};
	const struct weir_system_options options = {
		.strategy = &strategy,
		.dead_letter = tree_dead_letter,
		.context = self,
		.event = weir_supervision_event_ignore,
	};

	self->dead = 0;
	self->sim = sim_new(seed);
	ledger_init(&self->ledger, n);
	assert_int_equal(weir_system_new(&self->system,
					 weir_sim_executor(self->sim),
					 &options),
			 0);
}

static void tree_spawn(struct tree *self, struct weir_actor *actor)
{
	const struct weir_spawn_options options = {0};

	assert_int_equal(weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
					   actor, &options, NULL),
			 0);
}

static void tree_fini(struct tree *self)
{
	weir_system_stop(self->system);
	weir_sim_run(self->sim);
	assert_int_equal(weir_system_free(self->system), 0);
	ledger_check(&self->ledger);
	ledger_fini(&self->ledger);
	sim_free(self->sim);
}

/* Fails with every second token, by its result or by a call. */
static inline int failing_turn(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	if (++self->seen % 2) {
		ledger_deliver(self->ledger, weir_in_take(&self->in));
		return 0;
	}
	assert_non_null(weir_in_peek(&self->in));
	if (self->seen % 4)
		return -EIO;
	assert_int_equal(weir_actor_fail_code(actor, -EIO), 0);
	return 0;
}
WEIR_TURN(failing_turn)

static void b1_1_a_resumed_actor_goes_on_behind_the_failed_token(void **state)
{
	struct failer failer;
	struct source source;
	struct tree tree;
	size_t i;

	for_each_seed(seed, test_count(300)) {
		tree_init(&tree, seed, 100);
		source_init(&source, weir_sim_executor(tree.sim), &tree.ledger,
			    1, 100);
		failer_init(&failer, weir_sim_executor(tree.sim), &tree.ledger,
			    (size_t)1 << seed % 6, NULL);
		failer.sink.actor.turns = failing_turn_n;
		if (seed % 2)
			assert_int_equal(weir_in_merge(&failer.sink.in,
						       WEIR_MERGE_ALL),
					 0);
		assert_int_equal(weir_out_link(&source.out, &failer.sink.in),
				 0);
		tree_spawn(&tree, &failer.sink.actor);
		tree_spawn(&tree, &source.actor);
		weir_sim_run(tree.sim);
		for (i = 0; i < 100; i++)
			assert_int_equal(tree.ledger.dropped[i], i % 2);
		assert_int_equal(failer.sink.seen, 100);
		fate_check(&failer.sink.fate, 0);
		assert_int_equal(tree.dead, 0);
		tree_fini(&tree);
	}
}

static void b1_1_tokens_that_a_failed_turn_did_not_peek_at_stay(void **state)
{
	static const enum way ways[] = {
		LEAVES,	  DELIVERS,	      LEAVES, PEEKS_AND_TAKES, LEAVES,
		DELIVERS, PEEKS_AND_CONSUMES, LEAVES, LEAVES,	       DELIVERS,
	};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct failer failer;
	size_t i;

	ledger_init(&ledger, 5);
	failer_init(&failer, weir_sim_executor(sim), &ledger, 8, ways);
	for (i = 1; i <= 5; i++)
		assert_int_equal(weir_in_put(&failer.sink.in,
					     ledger_make(&ledger, i)),
				 0);
	assert_int_equal(weir_in_end(&failer.sink.in, NULL), 0);
	assert_int_equal(weir_actor_start(&failer.sink.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(failer.turns, 10);
	assert_int_equal(ledger_delivered(&ledger), 5);
	fate_check(&failer.sink.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Between the runs of turns that did not fail there is no token in hand. */
static void b1_1_a_failed_handler_drops_no_token(void **state)
{
	enum way ways[64] = {PEEKS};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct failer failer;
	size_t i;

	ledger_init(&ledger, 1);
	failer_init(&failer, weir_sim_executor(sim), &ledger, 8, ways);
	for (i = 0; i < 32; i++)
		ways[i] = PEEKS;
	failer.fails = false;
	assert_int_equal(weir_in_put(&failer.sink.in, ledger_make(&ledger, 1)),
			 0);
	assert_int_equal(weir_actor_start(&failer.sink.actor), 0);
	while (!failer.turns)
		assert_true(weir_sim_step(sim));
	weir_actor_suspend(&failer.sink.actor);
	weir_actor_signal(&failer.sink.actor);
	weir_sim_run(sim);
	assert_true(failer.turns < 32);
	assert_int_equal(weir__in_queued(&failer.sink.in), 1);
	weir_actor_stop(&failer.sink.actor);
	weir_sim_run(sim);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void b1_1_who_waits_for_room_gets_that_of_a_dropped_token(void **state)
{
	enum way ways[100];
	struct ledger ledger;
	struct failer failer;
	struct source source;
	struct weir_sim *sim;
	size_t i;

	/* nothing but that is published */
	for (i = 0; i < 100; i++)
		ways[i] = PEEKS;
	for_each_seed(seed, test_count(100)) {
		sim = sim_new(seed);
		ledger_init(&ledger, 100);
		source_init(&source, weir_sim_executor(sim), &ledger, 1, 100);
		failer_init(&failer, weir_sim_executor(sim), &ledger, 1, ways);
		/* one of several is woken by who publishes, and at once */
		assert_int_equal(weir_in_merge(&failer.sink.in, WEIR_MERGE_ALL),
				 0);
		assert_int_equal(weir_out_link(&source.out, &failer.sink.in),
				 0);
		assert_int_equal(weir_actor_start(&source.actor), 0);
		assert_int_equal(weir_actor_start(&failer.sink.actor), 0);
		weir_sim_run(sim);
		assert_int_equal(ledger_dropped(&ledger), 100);
		fate_check(&failer.sink.fate, 0);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

static int cancel_in(struct weir_actor *actor)
{
	return weir_in_cancel(
		&weir_container_of(actor, struct sink, actor)->in);
}

static void e8_what_an_ended_actor_holds_are_dead_letters(void **state)
{
	static struct weir_actor_ops ops;
	struct tree tree;
	struct sink sink;
	size_t i;
	int way;

	ops = sink_ops;
	ops.signalled = cancel_in;
	/* Stopped; stopped before it could run; alive, but wants no more. */
	for (way = 0; way < 3; way++) {
		tree_init(&tree, 1, 5);
		sink_init(&sink, weir_sim_executor(tree.sim), &tree.ledger, 8);
		sink.actor.ops = &ops;
		weir_actor_suspend(&sink.actor);
		/* last first, as they are counted */
		for (i = 5; i > 0; i--)
			assert_int_equal(
				weir_in_put(&sink.in,
					    ledger_make(&tree.ledger, i)),
				0);
		tree_spawn(&tree, &sink.actor);
		if (way != 1)
			weir_sim_run(tree.sim);
		if (way == 2)
			weir_actor_signal(&sink.actor);
		else
			weir_actor_stop(&sink.actor);
		weir_sim_run(tree.sim);
		assert_int_equal(ledger_dropped(&tree.ledger), 5);
		assert_int_equal(tree.dead, way == 2 ? 0 : 5);
		tree_fini(&tree);
	}
}

/* Puts where it has reserved its places before the actor ended. */
static void put_late(struct tree *tree, uint32_t n, int expected)
{
	struct sink sink;
	uint32_t *tail, i;
	void *items[2];

	sink_init(&sink, weir_sim_executor(tree->sim), &tree->ledger, 8);
	tail = weir__lane_tail_at(&sink.in.lane);
	tree_spawn(tree, &sink.actor);
	weir_actor_ref(&sink.actor);
	weir_sim_run(tree->sim);
	*tail = weir__tail_word(n, false);
	weir_actor_stop(&sink.actor);
	weir_sim_run(tree->sim);
	assert_int_equal(sink.fate.stopped, 1);
	for (i = 0; i < n; i++)
		items[i] = ledger_make(&tree->ledger, i + 1);
	*tail = 0;
	assert_int_equal(weir__in_put(&sink.in, items, n), expected);
	weir_actor_unref(&sink.actor);
	assert_int_equal(sink.fate.released, 1);
}

static void e8_a_token_that_comes_too_late_stays_its_producers(void **state)
{
	struct tree tree;

	tree_init(&tree, 1, 1);
	put_late(&tree, 1, -EPIPE);
	assert_int_equal(ledger_dropped(&tree.ledger), 0);
	ledger_drop((void *)1, &tree.ledger);
	assert_int_equal(tree.dead, 0);
	tree_fini(&tree);
}

/* Others of them may have been taken, for all that is known. */
static void of_several_those_that_come_too_late_are_dropped(void **state)
{
	struct tree tree;

	tree_init(&tree, 1, 2);
	put_late(&tree, 2, 0);
	assert_int_equal(ledger_dropped(&tree.ledger), 2);
	assert_int_equal(tree.dead, 0);
	tree_fini(&tree);
}

static void cancel_drops_what_is_queued_and_ends_the_producer(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), 100, 4);
	assert_int_equal(weir_in_cancel(&pair.sink.in), 0);
	assert_int_equal(weir_in_cancel(&pair.sink.in), -EALREADY);
	pair_start(&pair);
	weir_sim_run(sim);
	fate_check(&pair.source.fate, 0);
	assert_int_equal(pair.sink.seen, 0);
	weir_actor_stop(&pair.sink.actor);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

static void lane_start_at(struct weir_in *in, uint32_t index)
{
	*weir__lane_tail_at(&in->lane) = weir__tail_word(index, false);
	*weir__lane_head_at(&in->lane) = index;
}

/* Indices are 31 bits and run over: start just before. */
static void indices_may_run_over(void **state)
{
	const uint32_t start = WEIR__INDEX_MASK - 5;
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), 100, 4);
	lane_start_at(&pair.sink.in, start);
	/* the same index, before the 32 bits of the cursors run over, too */
	pair.sink.in.taker.head = pair.sink.in.taker.limit = UINT32_MAX - 5;
	pair.source.out.putter.tail = pair.source.out.putter.limit = start;
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, 100);
	fate_check(&pair.sink.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

static void indices_of_puts_may_run_over(void **state)
{
	const uint32_t start = WEIR__INDEX_MASK - 5;
	struct fixture f;
	size_t i, capacity;

	for (capacity = 1; capacity <= 4; capacity *= 2) {
		fixture_init(&f, 100, capacity);
		f.sink.ordered = true;
		lane_start_at(&f.sink.in, start);
		if (capacity > 1)
			*weir__mpsc_seen_at(&f.sink.in.lane) = start;
		f.sink.in.taker.head = UINT32_MAX - 5;
		f.sink.in.taker.limit = UINT32_MAX - 5;
		assert_int_equal(weir_actor_start(&f.sink.actor), 0);
		for (i = 1; i <= 100; i++) {
			assert_int_equal(put(&f, i), 0);
			weir_sim_run(f.sim);
		}
		assert_int_equal(weir_in_end(&f.sink.in, NULL), 0);
		weir_sim_run(f.sim);
		assert_int_equal(f.sink.seen, 100);
		fate_check(&f.sink.fate, 0);
		fixture_fini(&f);
	}
}

/* So that a slice costs the same however many tokens wait. */
static void a_mark_is_looked_at_once(void **state)
{
	struct fixture f;
	size_t i;

	fixture_init(&f, 5, 8);
	f.sink.ordered = true;
	for (i = 1; i <= 4; i++)
		assert_int_equal(put(&f, i), 0);
	assert_int_equal(weir__port_turns(&f.sink.in.port), 4);
	memset(f.sink.in.lane.u.seqs, 0, 4 * sizeof(uint32_t));
	assert_int_equal(put(&f, 5), 0);
	assert_int_equal(weir__port_turns(&f.sink.in.port), 5);
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	weir_sim_run(f.sim);
	assert_int_equal(f.sink.seen, 5);
	assert_int_equal(weir_in_end(&f.sink.in, NULL), 0);
	weir_sim_run(f.sim);
	fate_check(&f.sink.fate, 0);
	fixture_fini(&f);
}

static void c7_puts_and_one_link_count_as_queued(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct fixture f;
	struct pair pair;

	fixture_init(&f, 3, 4);
	assert_int_equal(weir__in_queued(&f.sink.in), 0);
	assert_int_equal(put(&f, 1), 0);
	assert_int_equal(put(&f, 2), 0);
	assert_int_equal(weir__in_queued(&f.sink.in), 2);
	weir_actor_stop(&f.sink.actor);
	fixture_fini(&f);

	pair_init(&pair, weir_sim_executor(sim), 3, 4);
	weir_actor_suspend(&pair.sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(weir__in_queued(&pair.sink.in), 3);
	assert_true(weir__in_holds_from(&pair.sink.in, &pair.source.actor));
	weir_actor_stop(&pair.sink.actor);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_capacities_are_refused),
		cmocka_unit_test(a_full_port_refuses_and_overwrites_nothing),
		cmocka_unit_test(the_end_comes_behind_the_tokens_and_only_once),
		cmocka_unit_test(a_stopped_port_refuses),
		cmocka_unit_test(
			taking_outside_a_turn_gives_nothing_and_changes_nothing),
		cmocka_unit_test(a_turn_with_a_burst_waits_for_that_many),
		cmocka_unit_test(
			a_rest_that_no_turn_wants_is_dropped_at_the_end),
		cmocka_unit_test(
			a_rest_lets_a_turn_run_when_the_other_port_is_ready),
		cmocka_unit_test(taking_more_than_there_is_fails_the_turn),
		cmocka_unit_test(bad_bursts_are_refused),
		cmocka_unit_test(a_token_peeked_at_and_not_consumed_is_dropped),
		cmocka_unit_test(
			b1_1_the_token_of_a_failed_turn_is_dropped_once),
		cmocka_unit_test(
			b1_1_a_resumed_actor_goes_on_behind_the_failed_token),
		cmocka_unit_test(
			b1_1_tokens_that_a_failed_turn_did_not_peek_at_stay),
		cmocka_unit_test(b1_1_a_failed_handler_drops_no_token),
		cmocka_unit_test(
			b1_1_who_waits_for_room_gets_that_of_a_dropped_token),
		cmocka_unit_test(e8_what_an_ended_actor_holds_are_dead_letters),
		cmocka_unit_test(
			of_several_those_that_come_too_late_are_dropped),
		cmocka_unit_test(
			e8_a_token_that_comes_too_late_stays_its_producers),
		cmocka_unit_test(
			cancel_drops_what_is_queued_and_ends_the_producer),
		cmocka_unit_test(indices_may_run_over),
		cmocka_unit_test(indices_of_puts_may_run_over),
		cmocka_unit_test(a_mark_is_looked_at_once),
		cmocka_unit_test(c7_puts_and_one_link_count_as_queued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
