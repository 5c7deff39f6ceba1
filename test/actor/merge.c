/* SPDX-License-Identifier: BSD-2-Clause */
/* In-ports that several producers feed. */
#include "actor/kit.h"

#include "actor/in.h"

/* Three sources into one sink, by rule; the second may fail. */
struct merging {
	struct weir_sim *sim;
	struct ledger ledger;
	struct source sources[3];
	struct sink sink;
};

static void merging_init(struct merging *m, uint64_t seed, enum weir_merge rule)
{
	size_t i;

	m->sim = sim_new(seed);
	ledger_init(&m->ledger, 300);
	sink_init(&m->sink, weir_sim_executor(m->sim), &m->ledger, 4);
	assert_int_equal(weir_in_merge(&m->sink.in, rule), 0);
	for (i = 0; i < 3; i++) {
		source_init(&m->sources[i], weir_sim_executor(m->sim),
			    &m->ledger, 1 + 100 * i, 50 + 50 * i + 50 * i);
		assert_int_equal(weir_out_link(&m->sources[i].out, &m->sink.in),
				 0);
	}
}

static void merging_run(struct merging *m)
{
	size_t i;

	assert_int_equal(weir_actor_start(&m->sink.actor), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_actor_start(&m->sources[i].actor), 0);
	weir_sim_run(m->sim);
}

static void merging_fini(struct merging *m)
{
	size_t i;

	for (i = 0; i < 3; i++)
		assert_int_equal(m->sources[i].fate.released, 1);
	assert_int_equal(m->sink.fate.released, 1);
	ledger_check(&m->ledger);
	ledger_fini(&m->ledger);
	sim_free(m->sim);
}

static void a_merge_ends_when_all_its_producers_have(void **state)
{
	struct merging m;

	for_each_seed(seed, test_count(200)) {
		merging_init(&m, seed, WEIR_MERGE_ALL);
		merging_run(&m);
		assert_int_equal(m.sink.seen, 150);
		assert_int_equal(m.sink.ended, 1);
		assert_int_equal(m.sink.end_code, 0);
		merging_fini(&m);
	}
}

static void a_merge_may_end_with_the_first_producer(void **state)
{
	struct merging m;

	merging_init(&m, 1, WEIR_MERGE_FIRST);
	weir_actor_suspend(&m.sources[1].actor);
	weir_actor_suspend(&m.sources[2].actor);
	merging_run(&m);
	assert_int_equal(m.sink.seen, 50);
	assert_int_equal(m.sink.ended, 1);
	merging_fini(&m);
}

static void a_merge_ends_with_the_first_error(void **state)
{
	struct merging m;

	merging_init(&m, 1, WEIR_MERGE_ALL);
	m.sources[1].fail_at = 120;
	merging_run(&m);
	assert_int_equal(m.sink.ended, 1);
	assert_int_equal(m.sink.end_code, -EIO);
	merging_fini(&m);
}

static void an_open_merge_outlives_its_producers_and_takes_puts(void **state)
{
	struct merging m;

	merging_init(&m, 1, WEIR_MERGE_OPEN);
	merging_run(&m);
	assert_int_equal(m.sink.seen, 150);
	assert_int_equal(m.sink.ended, 0);
	assert_int_equal(weir_in_put(&m.sink.in, ledger_make(&m.ledger, 300)),
			 0);
	weir_sim_run(m.sim);
	assert_int_equal(m.sink.seen, 151);
	assert_int_equal(weir_in_end(&m.sink.in, NULL), 0);
	weir_sim_run(m.sim);
	assert_int_equal(m.sink.ended, 1);
	merging_fini(&m);
}

static void an_open_merge_takes_puts_beside_idle_producers(void **state)
{
	struct merging m;
	size_t i;

	merging_init(&m, 1, WEIR_MERGE_OPEN);
	for (i = 0; i < 3; i++)
		weir_actor_suspend(&m.sources[i].actor);
	merging_run(&m);
	assert_int_equal(weir_in_put(&m.sink.in, ledger_make(&m.ledger, 300)),
			 0);
	weir_sim_run(m.sim);
	assert_int_equal(m.sink.seen, 1);
	for (i = 0; i < 3; i++)
		weir_actor_resume(&m.sources[i].actor);
	weir_sim_run(m.sim);
	assert_int_equal(m.sink.seen, 151);
	assert_int_equal(weir_in_end(&m.sink.in, NULL), 0);
	weir_sim_run(m.sim);
	merging_fini(&m);
}

static void a_fast_producer_does_not_starve_the_others(void **state)
{
	struct merging m;

	merging_init(&m, 1, WEIR_MERGE_ALL);
	m.sources[0].last = 100;
	/* all lanes are full before the sink begins */
	weir_actor_suspend(&m.sink.actor);
	merging_run(&m);
	m.sink.stop_at = 12;
	weir_actor_resume(&m.sink.actor);
	weir_sim_run(m.sim);
	/* four of each lane lay there: the first twelve are of all three */
	assert_true(ledger_sum(m.ledger.delivered, 100) >= 1);
	assert_true(ledger_sum(m.ledger.delivered + 100, 100) >= 1);
	assert_true(ledger_sum(m.ledger.delivered + 200, 100) >= 1);
	merging_fini(&m);
}

/* What a merging sink sees of one producer when a notice about it comes. */
static int merging_signalled(struct weir_actor *actor)
{
	struct merging *m =
		weir_container_of(actor, struct merging, sink.actor);

	assert_int_equal(weir__in_queued(&m->sink.in), 12);
	assert_true(weir__in_holds_from(&m->sink.in, &m->sources[0].actor));
	assert_false(weir__in_holds_from(&m->sink.in, &m->sources[1].actor));
	assert_false(weir__in_holds_from(&m->sink.in, &m->sink.actor));
	m->sink.last = 1;
	return 0;
}

static void c7_what_a_dead_producer_has_put_is_known_to_be_there(void **state)
{
	static struct weir_actor_ops ops;
	struct merging m;

	ops = sink_ops;
	ops.signalled = merging_signalled;
	merging_init(&m, 1, WEIR_MERGE_ALL);
	m.sink.actor.ops = &ops;
	m.sources[0].last = 4; /* all there is room for */
	weir_actor_suspend(&m.sink.actor);
	merging_run(&m);
	weir_actor_signal(&m.sink.actor);
	weir_sim_run(m.sim);
	assert_int_equal(m.sink.last, 1);
	weir_actor_suspend(&m.sources[1].actor);
	weir_actor_resume(&m.sink.actor);
	weir_sim_run(m.sim);
	/* taken to its end */
	assert_false(weir__in_holds_from(&m.sink.in, &m.sources[0].actor));
	assert_int_equal(weir__in_queued(&m.sink.in), 0);
	weir_actor_resume(&m.sources[1].actor);
	weir_sim_run(m.sim);
	merging_fini(&m);
}

static void misuse_of_merging_is_refused(void **state)
{
	struct merging m;
	struct sink sink;

	assert_int_equal(weir_in_merge(NULL, WEIR_MERGE_ALL), -EINVAL);
	merging_init(&m, 1, WEIR_MERGE_ALL);
	assert_int_equal(weir_in_merge(&m.sink.in, WEIR_MERGE_ALL), -EBUSY);
	assert_int_equal(weir_in_merge(&m.sink.in, (enum weir_merge)7),
			 -EINVAL);
	assert_int_equal(weir_in_put(&m.sink.in, (void *)1), -EISCONN);
	assert_int_equal(weir_in_end(&m.sink.in, NULL), -EISCONN);
	sink_init(&sink, weir_sim_executor(m.sim), &m.ledger, 4);
	assert_int_equal(weir_in_put(&sink.in, ledger_make(&m.ledger, 300)), 0);
	assert_int_equal(weir_in_merge(&sink.in, WEIR_MERGE_ALL), -EBUSY);
	weir_actor_stop(&sink.actor);
	merging_run(&m);
	merging_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merge_ends_when_all_its_producers_have),
		cmocka_unit_test(a_merge_may_end_with_the_first_producer),
		cmocka_unit_test(a_merge_ends_with_the_first_error),
		cmocka_unit_test(
			an_open_merge_outlives_its_producers_and_takes_puts),
		cmocka_unit_test(
			an_open_merge_takes_puts_beside_idle_producers),
		cmocka_unit_test(a_fast_producer_does_not_starve_the_others),
		cmocka_unit_test(
			c7_what_a_dead_producer_has_put_is_known_to_be_there),
		cmocka_unit_test(misuse_of_merging_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
