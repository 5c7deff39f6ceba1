/* SPDX-License-Identifier: BSD-2-Clause */
/* How an executor ends: drain, abort, close; and no memory anywhere. */
#include "actor/kit.h"

#define N 1000

struct ending {
	struct weir_ending drain;
	uint32_t done;
};

static void ended(struct weir_ending *drain)
{
	weir_container_of(drain, struct ending, drain)->done++;
}

static void an_idle_executor_drains_at_once(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ending ending = {.drain.done = ended};
	struct pair pair;

	assert_int_equal(weir_executor_end_async(weir_sim_executor(sim),
						 &ending.drain, WEIR_FOREVER),
			 0);
	assert_int_equal(ending.done, 1);
	assert_int_equal(ending.drain.actors_left, 0);
	/* and takes nobody any more */
	pair_init(&pair, weir_sim_executor(sim), N, 4);
	assert_int_equal(weir_actor_start(&pair.source.actor), -ESHUTDOWN);
	weir_actor_stop(&pair.source.actor);
	weir_actor_stop(&pair.sink.actor);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_drain_delivers_all_that_was_accepted(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ending ending = {.drain.done = ended};
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	pair_start(&pair);
	weir_sim_run_until(sim, 1, 5);
	assert_int_equal(weir_sim_free(sim), -EBUSY);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(sim),
						 &ending.drain, WEIR_FOREVER),
			 0);
	assert_int_equal(ending.done, 0);
	weir_sim_run(sim);
	assert_int_equal(ending.done, 1);
	assert_int_equal(ending.drain.actors_left, 0);
	assert_int_equal(ending.drain.items_dropped, 0);
	/* what the source had made has arrived, and the end behind it */
	assert_int_equal(pair.sink.seen, pair.source.next - 1);
	assert_true(pair.source.next <= N);
	assert_int_equal(pair.sink.end_code, 0);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_drain_ends_what_is_put_to(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ending ending = {.drain.done = ended};
	struct ledger ledger;
	struct sink sink;

	ledger_init(&ledger, 2);
	sink_init(&sink, weir_sim_executor(sim), &ledger, 4);
	assert_int_equal(weir_in_put(&sink.in, ledger_make(&ledger, 1)), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	weir_actor_ref(&sink.actor);
	weir_executor_end_async(weir_sim_executor(sim), &ending.drain,
				WEIR_FOREVER);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 1);
	assert_int_equal(sink.ended, 1);
	assert_int_equal(weir_in_put(&sink.in, (void *)2), -EPIPE);
	assert_int_equal(ending.done, 0);
	weir_actor_unref(&sink.actor);
	assert_int_equal(ending.done, 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Takes from a channel. */
struct taking {
	struct weir_actor actor;
	struct weir_channel_in in;
	size_t taken;
};

static inline int taking_turn(struct weir_actor *actor)
{
	struct taking *self = weir_container_of(actor, struct taking, actor);
	void *item;
	int rc = weir_channel_in_take(&self->in, &item);

	self->taken += rc == 0;
	return rc;
}
WEIR_TURN(taking_turn)

static void who_takes_from_a_channel_ends_with_it_when_draining(void **state)
{
	static const struct weir_actor_ops ops = {.turns = taking_turn_n};
	struct weir_sim *sim = sim_new(1);
	struct ending ending = {.drain.done = ended};
	struct weir_channel *channel;
	struct taking taking = {0};

	assert_int_equal(weir_channel_new(&channel, 8, NULL, NULL), 0);
	weir_actor_init(&taking.actor, &ops, weir_sim_executor(sim));
	assert_int_equal(
		weir_channel_in_init(&taking.in, &taking.actor, channel), 0);
	assert_int_equal(weir_channel_try_put(channel, &taking), 0);
	assert_int_equal(weir_actor_start(&taking.actor), 0);
	weir_executor_end_async(weir_sim_executor(sim), &ending.drain,
				WEIR_FOREVER);
	weir_sim_run(sim);
	assert_int_equal(taking.taken, 1);
	assert_int_equal(ending.done, 0);
	assert_int_equal(weir_channel_end(channel, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(ending.done, 1);
	assert_int_equal(weir_channel_free(channel), 0);
	sim_free(sim);
}

static void a_drain_reports_at_its_deadline_what_is_left(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct ending ending = {.drain.done = ended};
	struct ending aborting = {.drain.done = ended};
	struct pair pair;

	pair_init(&pair, executor, N, 4);
	weir_actor_suspend(&pair.sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_end_async(executor, &ending.drain, 1000),
			 0);
	weir_sim_run_until(sim, 999, UINT64_MAX);
	assert_int_equal(ending.done, 0);
	weir_sim_run_until(sim, 1000, UINT64_MAX);
	assert_int_equal(ending.done, 1);
	/* the sink, and the source that it holds on to */
	assert_int_equal(ending.drain.actors_left, 2);
	assert_int_equal(
		weir_executor_stop_async(executor, &aborting.drain, 5000), 0);
	weir_sim_run(sim);
	assert_int_equal(aborting.done, 1);
	assert_int_equal(aborting.drain.actors_left, 0);
	assert_int_equal(aborting.drain.items_dropped, 4);
	assert_int_equal(ending.done, 1);
	pair_fini(&pair);
	sim_free(sim);
}

static void an_abort_drops_and_counts_what_is_queued(void **state)
{
	struct weir_sim *sim;
	struct ending ending;
	struct pair pair;

	for_each_seed(seed, test_count(500)) {
		sim = sim_new(seed);
		ending = (struct ending){.drain.done = ended};
		pair_init(&pair, weir_sim_executor(sim), N, 16);
		pair_start(&pair);
		weir_sim_run_until(sim, 1, seed % 40);
		assert_int_equal(
			weir_executor_stop_async(weir_sim_executor(sim),
						 &ending.drain, WEIR_FOREVER),
			0);
		weir_sim_run(sim);
		assert_int_equal(ending.done, 1);
		assert_int_equal(ending.drain.items_dropped,
				 ledger_dropped(&pair.ledger));
		pair_fini(&pair);
		sim_free(sim);
	}
}

static void many_actors_are_all_reached(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ending ending = {.drain.done = ended};
	struct ledger ledger;
	struct sink *sinks = calloc(300, sizeof(*sinks));
	size_t i;

	ledger_init(&ledger, 1);
	for (i = 0; i < 300; i++) {
		sink_init(&sinks[i], weir_sim_executor(sim), &ledger, 1);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 300);
	weir_executor_stop_async(weir_sim_executor(sim), &ending.drain,
				 WEIR_FOREVER);
	weir_sim_run(sim);
	assert_int_equal(ending.done, 1);
	for (i = 0; i < 300; i++)
		fate_check(&sinks[i].fate, -ECANCELED);
	ledger_fini(&ledger);
	free(sinks);
	sim_free(sim);
}

/*
 * Source -> broadcast -> two stages -> merge -> sink: every kind of memory the
 * layer asks for. Negative: what could not be had; all is undone then.
 */
static int build_and_run(struct heap *heap, struct ledger *ledger,
			 size_t *delivered)
{
	struct weir_executor_options options = {.allocator = &heap->allocator};
	struct weir_executor *executor;
	struct source source = {.ledger = ledger, .next = 1, .last = 50};
	struct stage stages[2] = {{.ledger = ledger}, {.ledger = ledger}};
	struct sink sink = {.ledger = ledger};
	struct weir_sim *sim;
	int rc, i;

	rc = weir_sim_new(&sim, 1, &options);
	if (rc < 0)
		return rc;
	executor = weir_sim_executor(sim);
	weir_actor_init(&source.actor, &source_ops, executor);
	weir_out_init(&source.out, &source.actor, &ledger->items);
	weir_actor_init(&sink.actor, &sink_ops, executor);
	for (i = 0; i < 2; i++) {
		weir_actor_init(&stages[i].actor, &stage_ops, executor);
		weir_out_init(&stages[i].out, &stages[i].actor, &ledger->items);
	}
	rc = weir_out_fan(&source.out, WEIR_FAN_BROADCAST, 16);
	if (rc == 0)
		rc = weir_in_init(&sink.in, &sink.actor, 4, NULL);
	if (rc == 0)
		rc = weir_in_merge(&sink.in, WEIR_MERGE_ALL);
	for (i = 0; i < 2 && rc == 0; i++) {
		rc = weir_in_init(&stages[i].in, &stages[i].actor, 4, NULL);
		if (rc == 0)
			rc = weir_out_link(&source.out, &stages[i].in);
		if (rc == 0)
			rc = weir_out_link(&stages[i].out, &sink.in);
	}
	for (i = 0; i < 2 && rc == 0; i++)
		rc = weir_actor_start(&stages[i].actor);
	if (rc == 0)
		rc = weir_actor_start(&sink.actor);
	if (rc == 0)
		rc = weir_actor_start(&source.actor);
	if (rc < 0) {
		weir_actor_stop(&source.actor);
		weir_actor_stop(&stages[0].actor);
		weir_actor_stop(&stages[1].actor);
		weir_actor_stop(&sink.actor);
	}
	weir_sim_run(sim);
	*delivered = sink.seen;
	assert_int_equal(source.fate.released, 1);
	assert_int_equal(stages[0].fate.released, 1);
	assert_int_equal(stages[1].fate.released, 1);
	assert_int_equal(sink.fate.released, 1);
	assert_int_equal(weir_sim_free(sim), 0);
	return rc;
}

static void no_memory_at_any_allocation_is_an_error_without_a_loss(void **state)
{
	struct ledger ledger;
	struct heap heap;
	size_t fail, delivered;
	int rc;

	for (fail = 1;; fail++) {
		ledger_init(&ledger, 50);
		heap_init(&heap, fail);
		delivered = 0;
		rc = build_and_run(&heap, &ledger, &delivered);
		assert_int_equal(heap.live, 0);
		assert_int_equal(heap.bytes, 0);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		if (heap.calls < fail)
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(delivered, 100);
	assert_true(fail > 10);
}

static void a_running_pipeline_allocates_nothing(void **state)
{
	struct heap heap;
	struct weir_executor_options options = {.allocator = &heap.allocator};
	struct weir_sim *sim;
	struct pair pair;
	size_t calls;

	heap_init(&heap, 0);
	assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
	pair_init(&pair, weir_sim_executor(sim), N, 16);
	pair_start(&pair);
	calls = heap.calls;
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	assert_int_equal(heap.calls, calls);
	pair_fini(&pair);
	sim_free(sim);
	assert_int_equal(heap.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_executor_drains_at_once),
		cmocka_unit_test(a_drain_delivers_all_that_was_accepted),
		cmocka_unit_test(a_drain_ends_what_is_put_to),
		cmocka_unit_test(
			who_takes_from_a_channel_ends_with_it_when_draining),
		cmocka_unit_test(a_drain_reports_at_its_deadline_what_is_left),
		cmocka_unit_test(an_abort_drops_and_counts_what_is_queued),
		cmocka_unit_test(many_actors_are_all_reached),
		cmocka_unit_test(
			no_memory_at_any_allocation_is_an_error_without_a_loss),
		cmocka_unit_test(a_running_pipeline_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
