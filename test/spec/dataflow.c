/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the dataflow idea must do, and the faults of its Java originals
 * (AsyncSemaphore, DF4J) that must not come back: a test for each that
 * concerns this layer, named after it. The numbers are those of
 * docs/dataflow.md. The originals asserted only that a wait returns; these
 * assert count, order and values.
 */
#include "actor/kit.h"

#define MS UINT64_C(1000000)

/* --- The original's own scenarios ---------------------------------------- */

/*
 * Producer, two transformers, consumer; `delay` between turns. The consumer
 * gives back the producer's permit when it is done with an item.
 */
struct paced {
	struct weir_actor actor;
	struct weir_delay delay;
	struct weir_permits permits; /* the producer's */
	struct weir_in in;
	struct weir_out out;
	struct paced *head; /* the producer */
	uint64_t pause;
	uintptr_t next, last; /* the producer's */
	uintptr_t got[64];    /* the consumer's */
	size_t n_got;
	int64_t live, most_live; /* in flight, the producer's */
	uint32_t ends;
};

static int paced_pause(struct paced *self)
{
	return self->pause ? weir_delay_for(&self->delay, self->pause) : 0;
}

static inline int producing_turn(struct weir_actor *actor)
{
	struct paced *self = weir_container_of(actor, struct paced, actor);
	int rc = weir_permits_use(&self->permits, 1);

	if (self->next > self->last)
		return weir_actor_end(actor);
	if (++self->live > self->most_live)
		self->most_live = self->live;
	rc = rc ? rc : weir_out_put(&self->out, (void *)self->next);
	if (self->next++ == self->last)
		weir_actor_end(actor);
	return rc ? rc : paced_pause(self);
}
WEIR_TURN(producing_turn)

static inline int transforming_turn(struct weir_actor *actor)
{
	struct paced *self = weir_container_of(actor, struct paced, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(transforming_turn)

static inline int consuming_turn(struct weir_actor *actor)
{
	struct paced *self = weir_container_of(actor, struct paced, actor);

	self->got[self->n_got++] = (uintptr_t)weir_in_take(&self->in);
	self->head->live--;
	(void)weir_permits_release(&self->head->permits, 1);
	return paced_pause(self);
}
WEIR_TURN(consuming_turn)

static int consuming_ended(struct weir_actor *actor, struct weir_in *in,
			   struct weir_error *error)
{
	assert_null(error);
	weir_container_of(actor, struct paced, actor)->ends++;
	return weir_actor_end(actor);
}

static const struct weir_actor_ops producing_ops = {.turns = producing_turn_n};
static const struct weir_actor_ops transforming_ops = {
	.turns = transforming_turn_n};
static const struct weir_actor_ops consuming_ops = {.turns = consuming_turn_n,
						    .ended = consuming_ended};

struct original {
	struct paced stages[4];
};

static void original_init(struct original *o, struct weir_sim *sim,
			  size_t count, int64_t permits, uint64_t pause_first,
			  uint64_t pause_last)
{
	static const struct weir_actor_ops *const ops[] = {&producing_ops,
							   &transforming_ops,
							   &transforming_ops,
							   &consuming_ops};
	size_t i;

	memset(o, 0, sizeof(*o));
	for (i = 0; i < 4; i++) {
		struct paced *stage = &o->stages[i];

		weir_actor_init(&stage->actor, ops[i], weir_sim_executor(sim));
		stage->head = &o->stages[0];
		if (i > 0)
			weir_in_init(&stage->in, &stage->actor, 16, NULL);
		if (i < 3)
			weir_out_init(&stage->out, &stage->actor, NULL);
		if (i > 0)
			assert_int_equal(weir_out_link(&o->stages[i - 1].out,
						       &stage->in),
					 0);
		stage->pause = i == 0 ? pause_first : i == 3 ? pause_last : 0;
		if (!stage->pause)
			continue;
		weir_delay_init(&stage->delay, &stage->actor);
		weir_delay_until(&stage->delay, 0);
	}
	o->stages[0].next = 1;
	o->stages[0].last = count;
	weir_permits_init(&o->stages[0].permits, &o->stages[0].actor, permits);
	for (i = 0; i < 4; i++)
		assert_int_equal(weir_actor_start(&o->stages[i].actor), 0);
}

static void original_check(struct original *o, size_t count)
{
	struct paced *last = &o->stages[3];
	size_t i;

	assert_int_equal(last->n_got, count);
	for (i = 0; i < count; i++)
		assert_int_equal(last->got[i], i + 1);
	assert_int_equal(last->ends, 1);
	assert_int_equal(o->stages[0].live, 0);
}

static void original_case(size_t count, uint64_t pause_first,
			  uint64_t pause_last, uint64_t expected_ns)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct original o;

		original_init(&o, sim, count, 1, pause_first, pause_last);
		weir_sim_run(sim);
		original_check(&o, count);
		assert_int_equal(weir_executor_now(weir_sim_executor(sim)),
				 expected_ns);
		sim_free(sim);
	}
}

static void original_no_item(void **state)
{
	original_case(0, 0, 0, 0);
}

static void original_five_items_without_delays(void **state)
{
	original_case(5, 0, 0, 0);
}

static void original_five_items_of_a_slow_producer(void **state)
{
	/* the pause after the last item is not waited for */
	original_case(5, 100 * MS, 0, 400 * MS);
}

static void original_five_items_to_a_slow_consumer(void **state)
{
	original_case(5, 0, 50 * MS, 200 * MS);
}

/* --- Faults, by number ---------------------------------------------------- */

static void fault_01_cancel_against_completion_ends_both(void **state)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct pair pair;

		pair_init(&pair, weir_sim_executor(sim), 3, 4);
		weir_actor_ref(&pair.sink.actor);
		pair_start(&pair);
		weir_sim_run_until(sim, 1, seed % 8);
		weir_actor_stop(&pair.sink.actor);
		weir_sim_run(sim);
		weir_actor_unref(&pair.sink.actor);
		assert_int_equal(pair.source.fate.released, 1);
		assert_int_equal(pair.sink.fate.released, 1);
		pair_fini(&pair);
		sim_free(sim);
	}
}

/* Two stages in a ring that complete together. */
static void fault_01_two_in_a_ring_may_stop_together(void **state)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct ledger ledger;
		struct stage stages[2];
		int i;

		ledger_init(&ledger, 1);
		for (i = 0; i < 2; i++)
			stage_init(&stages[i], weir_sim_executor(sim), &ledger,
				   2);
		stages[0].in.items = &ledger.items;
		assert_int_equal(
			weir_in_put(&stages[0].in, ledger_make(&ledger, 1)), 0);
		assert_int_equal(weir_out_link(&stages[1].out, &stages[0].in),
				 0);
		assert_int_equal(weir_out_link(&stages[0].out, &stages[1].in),
				 0);
		for (i = 0; i < 2; i++)
			assert_int_equal(weir_actor_start(&stages[i].actor), 0);
		weir_sim_run_until(sim, 1, seed % 16);
		weir_actor_stop(&stages[0].actor);
		weir_actor_stop(&stages[1].actor);
		weir_sim_run(sim);
		for (i = 0; i < 2; i++)
			fate_check(&stages[i].fate, -ECANCELED);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

static void fault_04_stop_in_a_turn_loses_no_item(void **state)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct pair pair;

		pair_init(&pair, weir_sim_executor(sim), 300, 8);
		pair.sink.stop_at = 1 + seed % 299;
		pair_start(&pair);
		weir_sim_run(sim);
		assert_int_equal(pair.sink.seen, pair.sink.stop_at);
		fate_check(&pair.source.fate, 0);
		pair_fini(&pair);
		sim_free(sim);
	}
}

static void fault_05_no_turn_runs_after_the_end(void **state)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct pair pair;
		size_t seen;

		pair_init(&pair, weir_sim_executor(sim), 100, 8);
		weir_actor_ref(&pair.sink.actor);
		pair_start(&pair);
		weir_sim_run_until(sim, 1, seed % 20);
		weir_actor_stop(&pair.sink.actor);
		seen = pair.sink.seen;
		weir_sim_run(sim);
		assert_int_equal(pair.sink.seen, seen);
		weir_actor_unref(&pair.sink.actor);
		pair_fini(&pair);
		sim_free(sim);
	}
}

static void fault_07_windows_above_one_neither_overflow_nor_lose(void **state)
{
	static const int64_t windows[] = {1, 2, 3, 8, 16};
	size_t i;

	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct weir_sim *sim = sim_new(i + 1);
		struct original o;

		original_init(&o, sim, 50, windows[i], 0, 0);
		weir_sim_run(sim);
		original_check(&o, 50);
		sim_free(sim);
	}
}

/* Looking, however often, asks for nothing: room is what the slots say. */
static void fault_08_looking_at_an_empty_port_adds_no_demand(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;
	int i;

	pair_init(&pair, weir_sim_executor(sim), 100, 1);
	assert_int_equal(weir_actor_start(&pair.sink.actor), 0);
	for (i = 0; i < 5; i++) {
		weir_actor_signal(&pair.sink.actor);
		weir_sim_run(sim);
	}
	weir_actor_suspend(&pair.sink.actor);
	assert_int_equal(weir_actor_start(&pair.source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(pair.source.next, 2);
	weir_actor_resume(&pair.sink.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, 100);
	pair_fini(&pair);
	sim_free(sim);
}

static void fault_09_w_permits_mean_w_live_items_over_all_stages(void **state)
{
	static const int64_t windows[] = {1, 2, 4, 8};
	uint64_t spent[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		struct weir_sim *sim = sim_new(i + 1);
		struct original o;

		/* the consumer is slow: the window is always full */
		original_init(&o, sim, 40, windows[i], 0, 1 * MS);
		weir_sim_run(sim);
		original_check(&o, 40);
		assert_int_equal(o.stages[0].most_live, windows[i]);
		spent[i] = weir_executor_now(weir_sim_executor(sim));
		sim_free(sim);
	}
	assert_int_equal(spent[0], 39 * MS);
}

/* Takes an item, holds it for 1 ms, puts it: two turns, with other ports. */
struct holder {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_delay delay;
	struct weir_out out;
	void *held;
};

static inline int hold_turn(struct weir_actor *actor);
static inline int pass_turn(struct weir_actor *actor);
WEIR_TURN(hold_turn)
WEIR_TURN(pass_turn)

static inline int hold_turn(struct weir_actor *actor)
{
	struct holder *self = weir_container_of(actor, struct holder, actor);
	struct weir_port *ports[] = {&self->delay.port, &self->out.port};

	self->held = weir_in_take(&self->in);
	assert_int_equal(weir_delay_for(&self->delay, 1 * MS), 0);
	return weir_actor_become(actor, pass_turn_n, ports, 2);
}

static inline int pass_turn(struct weir_actor *actor)
{
	struct holder *self = weir_container_of(actor, struct holder, actor);
	struct weir_port *ports[] = {&self->in.port};

	assert_int_equal(weir_out_put(&self->out, self->held), 0);
	return weir_actor_become(actor, hold_turn_n, ports, 1);
}

static const struct weir_actor_ops holding_ops = {.turns = hold_turn_n};

/* Three holders between a producer with `window` permits and a consumer. */
static uint64_t time_of_30_items(int64_t window)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct paced first = {.head = &first, .next = 1, .last = 30};
	struct paced last = {.head = &first};
	struct holder holders[3] = {0};
	struct weir_out *out = &first.out;
	struct weir_port *port;
	uint64_t spent;
	int i;

	weir_actor_init(&first.actor, &producing_ops, executor);
	weir_permits_init(&first.permits, &first.actor, window);
	weir_out_init(&first.out, &first.actor, NULL);
	for (i = 0; i < 3; i++) {
		weir_actor_init(&holders[i].actor, &holding_ops, executor);
		weir_in_init(&holders[i].in, &holders[i].actor, 16, NULL);
		weir_delay_init(&holders[i].delay, &holders[i].actor);
		weir_out_init(&holders[i].out, &holders[i].actor, NULL);
		port = &holders[i].in.port;
		weir_actor_become(&holders[i].actor, hold_turn_n, &port, 1);
		assert_int_equal(weir_out_link(out, &holders[i].in), 0);
		out = &holders[i].out;
	}
	weir_actor_init(&last.actor, &consuming_ops, executor);
	weir_in_init(&last.in, &last.actor, 16, NULL);
	assert_int_equal(weir_out_link(out, &last.in), 0);
	weir_actor_start(&last.actor);
	for (i = 0; i < 3; i++)
		weir_actor_start(&holders[i].actor);
	weir_actor_start(&first.actor);
	weir_sim_run(sim);
	assert_int_equal(last.n_got, 30);
	for (i = 0; i < 30; i++)
		assert_int_equal(last.got[i], i + 1);
	assert_int_equal(first.most_live, window);
	spent = weir_executor_now(executor);
	sim_free(sim);
	return spent;
}

static void throughput_grows_with_the_window(void **state)
{
	/* each item is on its way for 3 ms; `window` of them at once */
	assert_int_equal(time_of_30_items(1), 90 * MS);
	assert_int_equal(time_of_30_items(2), 46 * MS);
	assert_int_equal(time_of_30_items(3), 32 * MS);
}

static void fault_10_the_end_needs_no_room(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	/* exactly as many as there is room for, and the end behind them */
	pair_init(&pair, weir_sim_executor(sim), 4, 4);
	weir_actor_suspend(&pair.sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.source.fate.stopped, 1);
	weir_actor_resume(&pair.sink.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, 4);
	assert_int_equal(pair.sink.ended, 1);
	pair_fini(&pair);
	sim_free(sim);
}

static void fault_10_an_error_passes_a_stage_whose_output_is_full(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct ledger ledger;
	struct source source;
	struct stage stage;
	struct sink sink;

	ledger_init(&ledger, 20);
	source_init(&source, executor, &ledger, 1, 20);
	stage_init(&stage, executor, &ledger, 4);
	sink_init(&sink, executor, &ledger, 4);
	weir_out_link(&source.out, &stage.in);
	weir_out_link(&stage.out, &sink.in);
	source.fail_at = 5; /* four are in the sink, and nothing in between */
	weir_actor_suspend(&sink.actor);
	weir_actor_start(&source.actor);
	weir_actor_start(&stage.actor);
	weir_actor_start(&sink.actor);
	weir_sim_run(sim);
	assert_int_equal(stage.fate.stopped, 1);
	assert_int_equal(stage.fate.code, -EIO);
	weir_actor_resume(&sink.actor);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 4);
	assert_int_equal(sink.end_code, -EIO);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void fault_12_a_cancel_reaches_the_source_over_all_stages(void **state)
{
	for_each_seed(seed, test_count(10000)) {
		struct weir_sim *sim = sim_new(seed);
		struct weir_executor *executor = weir_sim_executor(sim);
		struct ledger ledger;
		struct source source;
		struct stage stages[5];
		struct sink sink;
		int i;

		ledger_init(&ledger, 1000);
		source_init(&source, executor, &ledger, 1, 1000);
		sink_init(&sink, executor, &ledger, 2);
		for (i = 0; i < 5; i++)
			stage_init(&stages[i], executor, &ledger, 2);
		weir_out_link(&source.out, &stages[0].in);
		for (i = 0; i < 4; i++)
			weir_out_link(&stages[i].out, &stages[i + 1].in);
		weir_out_link(&stages[4].out, &sink.in);
		sink.stop_at = 10;
		for (i = 0; i < 5; i++)
			weir_actor_start(&stages[i].actor);
		weir_actor_start(&sink.actor);
		weir_actor_start(&source.actor);
		weir_sim_run(sim);
		fate_check(&source.fate, 0);
		assert_true(source.next < 100);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

static void fault_12_a_failing_consumer_ends_its_producer(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct ledger ledger;
	struct source source;
	struct stage stage;
	struct sink sink;

	ledger_init(&ledger, 100);
	source_init(&source, executor, &ledger, 1, 100);
	stage_init(&stage, executor, &ledger, 4);
	sink_init(&sink, executor, &ledger, 4);
	stage.fail_at = 7;
	weir_out_link(&source.out, &stage.in);
	weir_out_link(&stage.out, &sink.in);
	weir_actor_start(&source.actor);
	weir_actor_start(&stage.actor);
	weir_actor_start(&sink.actor);
	weir_sim_run(sim);
	fate_check(&source.fate, 0);
	fate_check(&stage.fate, -EIO);
	assert_int_equal(sink.seen, 6);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Many tokens at once do not recurse: the stack stays where it is. */
struct deep {
	struct weir_actor actor;
	struct weir_in in;
	uintptr_t low, high;
	size_t n;
};

static inline int deep_turn(struct weir_actor *actor)
{
	struct deep *self = weir_container_of(actor, struct deep, actor);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	weir_in_take(&self->in);
	self->n++;
	if (!self->low || here < self->low)
		self->low = here;
	if (here > self->high)
		self->high = here;
	return 0;
}
WEIR_TURN(deep_turn)

static void fault_15_ten_thousand_queued_tokens_need_no_stack(void **state)
{
	static const struct weir_actor_ops ops = {.turns = deep_turn_n};
	struct weir_sim *sim = sim_new(1);
	struct deep deep = {0};
	size_t i;

	weir_actor_init(&deep.actor, &ops, weir_sim_executor(sim));
	assert_int_equal(weir_in_init(&deep.in, &deep.actor, 16384, NULL), 0);
	for (i = 0; i < 10000; i++)
		assert_int_equal(weir_in_put(&deep.in, NULL), 0);
	weir_in_end(&deep.in, NULL);
	assert_int_equal(weir_actor_start(&deep.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(deep.n, 10000);
	assert_true(deep.high - deep.low < 256);
	sim_free(sim);
}

static void fault_15_permits_beyond_the_maximum_are_unlimited(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct original o;

	original_init(&o, sim, 10, 1, 0, 0);
	assert_int_equal(weir_permits_release(&o.stages[0].permits, INT64_MAX),
			 0);
	assert_int_equal(weir_permits_release(&o.stages[0].permits, INT64_MAX),
			 0);
	weir_sim_run(sim);
	original_check(&o, 10);
	sim_free(sim);
}

struct asked {
	struct weir_acquire acquire;
	uint32_t granted;
};

static void granted(struct weir_acquire *acquire)
{
	weir_container_of(acquire, struct asked, acquire)->granted++;
}

static void fault_16_a_release_with_a_waiter_makes_one_permit(void **state)
{
	struct asked asked = {.acquire.granted = granted};
	struct weir_semaphore semaphore;

	assert_int_equal(weir_semaphore_init(&semaphore, 0), 0);
	assert_int_equal(
		weir_semaphore_acquire_async(&semaphore, &asked.acquire, 1), 0);
	assert_int_equal(asked.granted, 0);
	assert_int_equal(weir_semaphore_release(&semaphore, 1), 0);
	assert_int_equal(asked.granted, 1);
	assert_int_equal(weir_semaphore_permits(&semaphore), 0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

static void fault_16_a_group_waits_for_a_late_child(void **state)
{
	struct weir_completion early, late;
	struct weir_member members[2];
	struct weir_join join;

	weir_completion_init(&early);
	weir_completion_init(&late);
	assert_int_equal(weir_join_init(&join, WEIR_JOIN_ALL), 0);
	assert_int_equal(weir_completion_complete(&early, NULL), 0);
	assert_int_equal(weir_join_add(&join, &members[0], &early), 0);
	assert_false(weir_completion_done(&join.completion));
	assert_int_equal(weir_join_add(&join, &members[1], &late), 0);
	assert_int_equal(weir_join_end(&join), 0);
	assert_false(weir_completion_done(&join.completion));
	assert_int_equal(weir_completion_complete(&late, NULL), 0);
	assert_true(weir_completion_done(&join.completion));
	assert_int_equal(weir_join_fini(&join), 0);
	assert_int_equal(weir_completion_fini(&late), 0);
	assert_int_equal(weir_completion_fini(&early), 0);
}

static void fault_17_a_cancelled_waiter_loses_no_permit(void **state)
{
	struct asked first = {.acquire.granted = granted};
	struct asked second = {.acquire.granted = granted};
	struct weir_semaphore semaphore;

	weir_semaphore_init(&semaphore, 0);
	weir_semaphore_acquire_async(&semaphore, &first.acquire, 1);
	weir_semaphore_acquire_async(&semaphore, &second.acquire, 1);
	assert_true(weir_semaphore_cancel(&semaphore, &first.acquire));
	assert_int_equal(weir_semaphore_release(&semaphore, 1), 0);
	assert_int_equal(first.granted, 0);
	assert_int_equal(second.granted, 1);
	assert_int_equal(weir_semaphore_release(&semaphore, 1), 0);
	assert_int_equal(weir_semaphore_permits(&semaphore), 1);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

static void fault_17_stopping_what_never_started_ends_its_streams(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), 10, 4);
	assert_int_equal(weir_actor_start(&pair.sink.actor), 0);
	weir_sim_run(sim);
	weir_actor_stop(&pair.source.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.ended, 1);
	assert_int_equal(pair.sink.end_code, -ECANCELED);
	fate_check(&pair.sink.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(original_no_item),
		cmocka_unit_test(original_five_items_without_delays),
		cmocka_unit_test(original_five_items_of_a_slow_producer),
		cmocka_unit_test(original_five_items_to_a_slow_consumer),
		cmocka_unit_test(fault_01_cancel_against_completion_ends_both),
		cmocka_unit_test(fault_01_two_in_a_ring_may_stop_together),
		cmocka_unit_test(fault_04_stop_in_a_turn_loses_no_item),
		cmocka_unit_test(fault_05_no_turn_runs_after_the_end),
		cmocka_unit_test(
			fault_07_windows_above_one_neither_overflow_nor_lose),
		cmocka_unit_test(
			fault_08_looking_at_an_empty_port_adds_no_demand),
		cmocka_unit_test(
			fault_09_w_permits_mean_w_live_items_over_all_stages),
		cmocka_unit_test(throughput_grows_with_the_window),
		cmocka_unit_test(fault_10_the_end_needs_no_room),
		cmocka_unit_test(
			fault_10_an_error_passes_a_stage_whose_output_is_full),
		cmocka_unit_test(
			fault_12_a_cancel_reaches_the_source_over_all_stages),
		cmocka_unit_test(fault_12_a_failing_consumer_ends_its_producer),
		cmocka_unit_test(
			fault_15_ten_thousand_queued_tokens_need_no_stack),
		cmocka_unit_test(
			fault_15_permits_beyond_the_maximum_are_unlimited),
		cmocka_unit_test(
			fault_16_a_release_with_a_waiter_makes_one_permit),
		cmocka_unit_test(fault_16_a_group_waits_for_a_late_child),
		cmocka_unit_test(fault_17_a_cancelled_waiter_loses_no_permit),
		cmocka_unit_test(
			fault_17_stopping_what_never_started_ends_its_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
