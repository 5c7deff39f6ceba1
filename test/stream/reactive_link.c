/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers and subscribers over ports that find each other: what they become
 * is a link, whoever subscribes and whenever.
 */
#include "stream/ends.h"

#include <weir/weir.h>

#include "actor/link.h"

#define N 300
#define SEEDS 2000

struct ends {
	struct weir_sim *sim;
	struct ledger ledger;
	struct source source;
	struct sink sink;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
};

static void ends_init(struct ends *ends, uint64_t seed, size_t n,
		      const struct weir_executor_options *executor,
		      const struct weir_reactive_in_options *options)
{
	assert_int_equal(weir_sim_new(&ends->sim, seed, executor), 0);
	ledger_init(&ends->ledger, n);
	source_init(&ends->source, weir_sim_executor(ends->sim), &ends->ledger,
		    1, n);
	sink_init(&ends->sink, weir_sim_executor(ends->sim), &ends->ledger, 8);
	ends->sink.ordered = true;
	assert_int_equal(
		weir_reactive_out_init(&ends->out, &ends->source.out, NULL), 0);
	assert_int_equal(
		weir_reactive_in_init(&ends->in, &ends->sink.in, options), 0);
}

static void ends_subscribe(struct ends *ends)
{
	assert_int_equal(weir_publisher_subscribe(&ends->out.publisher,
						  &ends->in.subscriber),
			 0);
}

static void ends_start(struct ends *ends)
{
	assert_int_equal(weir_actor_start(&ends->sink.actor), 0);
	assert_int_equal(weir_actor_start(&ends->source.actor), 0);
}

static void ends_fini(struct ends *ends)
{
	assert_int_equal(ends->source.fate.released, 1);
	assert_int_equal(ends->sink.fate.released, 1);
	ledger_check(&ends->ledger);
	ledger_fini(&ends->ledger);
	sim_free(ends->sim);
}

static bool is_link(const struct ends *ends)
{
	return ends->source.out.putter.lane &&
	       ends->source.out.in == &ends->sink.in &&
	       ends->sink.in.lane.out == &ends->source.out;
}

static void before_the_start_it_is_a_link_at_once(void **state)
{
	struct ends ends;

	ends_init(&ends, 1, N, NULL, NULL);
	ends_subscribe(&ends);
	assert_true(is_link(&ends));
	ends_start(&ends);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N);
	assert_int_equal(ends.sink.ended, 1);
	fate_check(&ends.sink.fate, 0);
	fate_check(&ends.source.fate, 0);
	ends_fini(&ends);
}

/* The short slice is for those, and it is what makes links fast. */
static void both_actors_are_stages(void **state)
{
	struct ends ends;
	bool was_stage = false;

	ends_init(&ends, 1, N, NULL, NULL);
	ends_subscribe(&ends);
	ends_start(&ends);
	while (weir_sim_step(ends.sim))
		if ((ends.source.actor.flags & WEIR__ACTOR_PUTS) &&
		    (ends.sink.actor.flags & WEIR__ACTOR_TAKES))
			was_stage = true;
	assert_true(was_stage);
	ends_fini(&ends);
}

static void while_they_run_it_is_a_link_soon(void **state)
{
	for_each_seed(seed, test_count(SEEDS)) {
		struct ends ends;
		uint64_t steps, i;

		ends_init(&ends, seed, N, NULL, NULL);
		ends_start(&ends);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.source.next, 1);
		ends_subscribe(&ends);
		steps = weir_sim_random(ends.sim, 6);
		for (i = 0; i < steps; i++)
			(void)weir_sim_step(ends.sim);
		if (i == 5)
			assert_true(is_link(&ends));
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.seen, N);
		fate_check(&ends.sink.fate, 0);
		fate_check(&ends.source.fate, 0);
		ends_fini(&ends);
	}
}

/* Either may stop between any two steps of the linking. */
static void either_may_stop_meanwhile(void **state)
{
	for_each_seed(seed, test_count(SEEDS)) {
		struct ends ends;
		uint64_t steps, i;

		ends_init(&ends, seed, N, NULL, NULL);
		ends_start(&ends);
		weir_actor_ref(&ends.source.actor);
		weir_actor_ref(&ends.sink.actor);
		if (weir_sim_random(ends.sim, 2))
			weir_sim_run(ends.sim);
		ends_subscribe(&ends);
		steps = weir_sim_random(ends.sim, 8);
		for (i = 0; i < steps; i++)
			(void)weir_sim_step(ends.sim);
		switch (weir_sim_random(ends.sim, 3)) {
		case 0:
			weir_actor_stop(&ends.source.actor);
			break;
		case 1:
			weir_actor_stop(&ends.sink.actor);
			break;
		default:
			weir_actor_stop(&ends.sink.actor);
			weir_actor_stop(&ends.source.actor);
		}
		weir_actor_unref(&ends.source.actor);
		weir_actor_unref(&ends.sink.actor);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.source.fate.stopped, 1);
		assert_int_equal(ends.sink.fate.stopped, 1);
		ends_fini(&ends);
	}
}

static void the_end_of_an_ended_publisher_is_told(void **state)
{
	struct ends ends;

	ends_init(&ends, 1, N, NULL, NULL);
	ends_start(&ends);
	weir_actor_ref(&ends.source.actor);
	weir_actor_stop(&ends.source.actor);
	weir_sim_run(ends.sim);
	ends_subscribe(&ends);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, 0);
	assert_int_equal(ends.sink.end_code, -ECANCELED);
	weir_actor_unref(&ends.source.actor);
	ends_fini(&ends);
}

/* Subscribed when it has let go of its actor already, which is the caller's. */
static void who_has_ended_may_be_subscribed_in_vain(void **state)
{
	struct ends ends;
	int started;

	for (started = 0; started < 2; started++) {
		ends_init(&ends, 1, N, NULL, NULL);
		weir_actor_ref(&ends.sink.actor);
		weir_actor_stop(&ends.sink.actor);
		assert_int_equal(
			weir_subscriber_reject(&ends.in.subscriber, NULL), 0);
		if (started)
			assert_int_equal(weir_actor_start(&ends.source.actor),
					 0);
		ends_subscribe(&ends);
		assert_int_equal(ends.sink.fate.released, 0);
		weir_actor_unref(&ends.sink.actor);
		assert_int_equal(ends.sink.fate.released, 0);
		if (!started)
			assert_int_equal(weir_actor_start(&ends.source.actor),
					 0);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.seen, 0);
		fate_check(&ends.source.fate, 0);
		ends_fini(&ends);
	}
}

static int go_on(struct weir_actor *actor, struct weir_out *out)
{
	(void)actor;
	(void)out;
	return 0;
}

/* What is put for nobody needs room for a burst as well. */
static void turns_with_bursts_go_on_when_nobody_has_come_but_left(void **state)
{
	struct weir_actor_ops ops = stage_ops;
	struct weir_reactive_in stage_in;
	struct weir_reactive_out stage_out;
	struct stage stage;
	struct ends ends;

	ends_init(&ends, 1, N, NULL, NULL);
	stage_init(&stage, weir_sim_executor(ends.sim), &ends.ledger, 8);
	ops.cancelled = go_on;
	stage.actor.ops = &ops;
	assert_int_equal(weir_port_set_burst(&stage.out.port, 3), 0);
	weir_reactive_in_init(&stage_in, &stage.in, NULL);
	weir_reactive_out_init(&stage_out, &stage.out, NULL);
	weir_publisher_subscribe(&ends.out.publisher, &stage_in.subscriber);
	weir_actor_ref(&ends.sink.actor);
	weir_actor_stop(&ends.sink.actor);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	weir_publisher_subscribe(&stage_out.publisher, &ends.in.subscriber);
	weir_actor_unref(&ends.sink.actor);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	weir_sim_run_until(ends.sim, WEIR_FOREVER, 100 * (uint64_t)N);
	assert_int_equal(stage.seen, N);
	fate_check(&stage.fate, 0);
	ends_fini(&ends);
}

/* Before the start too, where one of them could have a link at once. */
static void who_subscribes_first_is_served(void **state)
{
	struct ends ends;
	struct taker taker;

	ends_init(&ends, 1, N, NULL, NULL);
	taker_init(&taker, &ends.ledger, INT64_MAX, 0);
	assert_int_equal(weir_publisher_subscribe(&ends.out.publisher,
						  &taker.subscriber),
			 0);
	ends_subscribe(&ends);
	ends_start(&ends);
	weir_sim_run(ends.sim);
	taker_check(&taker, N, 0);
	assert_int_equal(ends.sink.end_code, -EISCONN);
	taker_fini(&taker);
	ends_fini(&ends);
}

static void own_settings_are_kept_so_it_is_no_link(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 5};
	struct ends ends;

	ends_init(&ends, 1, N, NULL, &options);
	ends_subscribe(&ends);
	assert_false(is_link(&ends));
	ends_start(&ends);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N);
	fate_check(&ends.sink.fate, 0);
	fate_check(&ends.source.fate, 0);
	ends_fini(&ends);
}

static void drained(struct weir_ending *drain)
{
	(void)drain;
}

/* What waits in the stage when the source and the sink hear of the drain. */
static void in_a_drain_what_was_made_arrives_over_a_link_or_not(void **state)
{
	for_each_seed(seed, test_count(SEEDS)) {
		struct weir_reactive_in_options options = {.prefetch = 5};
		struct weir_ending drain = {.done = drained};
		struct weir_reactive_out out;
		struct stage stage;
		struct ends ends;
		uint64_t steps;

		ends_init(&ends, seed, N, NULL, seed % 2 ? &options : NULL);
		stage_init(&stage, weir_sim_executor(ends.sim), &ends.ledger,
			   8);
		assert_int_equal(weir_out_link(&ends.source.out, &stage.in), 0);
		assert_int_equal(weir_reactive_out_init(&out, &stage.out, NULL),
				 0);
		assert_int_equal(weir_publisher_subscribe(&out.publisher,
							  &ends.in.subscriber),
				 0);
		assert_int_equal(weir_actor_start(&stage.actor), 0);
		ends_start(&ends);
		steps = weir_sim_random(ends.sim, 30);
		while (steps--)
			(void)weir_sim_step(ends.sim);
		assert_int_equal(
			weir_executor_end_async(weir_sim_executor(ends.sim),
						&drain, WEIR_FOREVER),
			0);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.seen, ends.source.next - 1);
		assert_int_equal(ledger_dropped(&ends.ledger), 0);
		fate_check(&ends.sink.fate, 0);
		ends_fini(&ends);
	}
}

static void a_subscriber_subscribes_once(void **state)
{
	struct ends ends;
	struct source second;
	struct weir_reactive_out other;
	int started;

	for (started = 0; started < 2; started++) {
		ends_init(&ends, 1, N, NULL, NULL);
		source_init(&second, weir_sim_executor(ends.sim), &ends.ledger,
			    1, 0);
		assert_int_equal(
			weir_reactive_out_init(&other, &second.out, NULL), 0);
		ends_subscribe(&ends);
		if (started) {
			ends_start(&ends);
			assert_int_equal(weir_actor_start(&second.actor), 0);
		}
		assert_int_equal(weir_publisher_subscribe(&other.publisher,
							  &ends.in.subscriber),
				 0);
		if (!started) {
			ends_start(&ends);
			assert_int_equal(weir_actor_start(&second.actor), 0);
		}
		weir_actor_ref(&second.actor);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.seen, N);
		if (!second.fate.stopped)
			weir_actor_stop(&second.actor);
		weir_actor_unref(&second.actor);
		weir_sim_run(ends.sim);
		ends_fini(&ends);
	}
}

static void items_that_differ_break_the_subscriber(void **state)
{
	static const struct weir_items others;
	struct ends ends;

	ends_init(&ends, 1, N, NULL, NULL);
	ends.source.out.items = &others;
	ends_start(&ends);
	ends_subscribe(&ends);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.end_code, -EINVAL);
	assert_int_equal(ends.sink.seen, 0);
	ends_fini(&ends);
}

/* A broadcast to a link, to another one made while it runs, and to a taker. */
static void links_and_others_share_a_publisher(void **state)
{
	for_each_seed(seed, test_count(SEEDS)) {
		struct ends ends;
		struct sink late;
		struct weir_reactive_in late_in;
		struct taker taker;
		uint64_t steps;

		ends_init(&ends, seed, N, NULL, NULL);
		assert_int_equal(weir_out_fan(&ends.source.out,
					      WEIR_FAN_BROADCAST, 4),
				 0);
		sink_init(&late, weir_sim_executor(ends.sim), &ends.ledger, 2);
		assert_int_equal(
			weir_reactive_in_init(&late_in, &late.in, NULL), 0);
		assert_int_equal(weir_actor_start(&late.actor), 0);
		taker_init(&taker, &ends.ledger, 3, 1);
		ends_subscribe(&ends);
		assert_int_equal(weir_publisher_subscribe(&ends.out.publisher,
							  &taker.subscriber),
				 0);
		ends_start(&ends);
		weir_actor_ref(&ends.source.actor);
		steps = weir_sim_random(ends.sim, 100);
		while (steps--)
			(void)weir_sim_step(ends.sim);
		taker.ordered = false;
		assert_int_equal(weir_publisher_subscribe(&ends.out.publisher,
							  &late_in.subscriber),
				 0);
		weir_sim_run(ends.sim);
		weir_actor_unref(&ends.source.actor);
		assert_int_equal(ends.sink.seen, N);
		assert_int_equal(taker.completes, 1);
		taker_fini(&taker);
		fate_check(&late.fate, 0);
		ends_fini(&ends);
	}
}

static void out_of_memory_ends_the_subscriber(void **state)
{
	size_t fail;
	bool served = false;

	for (fail = 1; !served; fail++) {
		struct heap heap;
		struct weir_executor_options options = {
			.allocator = &heap.allocator};
		struct ends ends;

		heap_init(&heap, 0);
		ends_init(&ends, 1, N, &options, NULL);
		assert_int_equal(weir_out_fan(&ends.source.out,
					      WEIR_FAN_BROADCAST, 4),
				 0);
		ends_start(&ends);
		heap.calls = 0;
		heap.fail = fail;
		ends_subscribe(&ends);
		weir_actor_ref(&ends.source.actor);
		weir_sim_run(ends.sim);
		served = ends.sink.seen == N;
		assert_int_equal(ends.sink.end_code, served ? 0 : -ENOMEM);
		weir_actor_stop(&ends.source.actor);
		weir_actor_unref(&ends.source.actor);
		weir_sim_run(ends.sim);
		ends_fini(&ends);
		assert_int_equal(heap.live, 0);
	}
	assert_true(fail > 2);
}

/* A burst does not fit: there is an actor between, which has a link to it. */
static void out_of_memory_ends_what_stands_between(void **state)
{
	size_t fail;
	bool served = false;

	for (fail = 1; !served; fail++) {
		struct heap heap;
		struct weir_executor_options options = {
			.allocator = &heap.allocator};
		struct ends ends;

		heap_init(&heap, 0);
		ends_init(&ends, 1, N, &options, NULL);
		assert_int_equal(weir_port_set_burst(&ends.source.out.port, 16),
				 0);
		ends_start(&ends);
		heap.calls = 0;
		heap.fail = fail;
		ends_subscribe(&ends);
		weir_actor_ref(&ends.source.actor);
		weir_sim_run(ends.sim);
		served = ends.sink.seen == N;
		assert_int_equal(ends.sink.end_code, served ? 0 : -ENOMEM);
		weir_actor_stop(&ends.source.actor);
		weir_actor_unref(&ends.source.actor);
		weir_sim_run(ends.sim);
		ends_fini(&ends); /* nobody is alive */
		assert_int_equal(heap.live, 0);
	}
	assert_true(fail > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_start_it_is_a_link_at_once),
		cmocka_unit_test(both_actors_are_stages),
		cmocka_unit_test(while_they_run_it_is_a_link_soon),
		cmocka_unit_test(either_may_stop_meanwhile),
		cmocka_unit_test(the_end_of_an_ended_publisher_is_told),
		cmocka_unit_test(who_has_ended_may_be_subscribed_in_vain),
		cmocka_unit_test(
			turns_with_bursts_go_on_when_nobody_has_come_but_left),
		cmocka_unit_test(who_subscribes_first_is_served),
		cmocka_unit_test(own_settings_are_kept_so_it_is_no_link),
		cmocka_unit_test(
			in_a_drain_what_was_made_arrives_over_a_link_or_not),
		cmocka_unit_test(a_subscriber_subscribes_once),
		cmocka_unit_test(items_that_differ_break_the_subscriber),
		cmocka_unit_test(links_and_others_share_a_publisher),
		cmocka_unit_test(out_of_memory_ends_the_subscriber),
		cmocka_unit_test(out_of_memory_ends_what_stands_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
