/* SPDX-License-Identifier: BSD-2-Clause */
/* Links whose room is what the in-port grants. */
#include "actor/kit.h"

#include "actor/in.h"

#define N 500
#define CAPACITY 8

/* Grants as many, each time it is signalled; 0: all there is, and for ever. */
static uint32_t grants;

static int grant(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	if (grants)
		weir__in_grant(&self->in, grants);
	else
		weir__in_let_go(&self->in);
	return 0;
}

static const struct weir_actor_ops granting_ops = {
	.name = "sink",
	.turns = sink_turns,
	.signalled = grant,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = sink_released,
};

static struct weir_sim *begin(struct pair *pair, uint64_t seed)
{
	struct weir_sim *sim = sim_new(seed);

	pair_init(pair, weir_sim_executor(sim), N, CAPACITY);
	pair->sink.actor.ops = &granting_ops;
	weir__in_hold(&pair->sink.in);
	pair_start(pair);
	weir_sim_run(sim);
	assert_int_equal(pair->sink.seen, 0);
	return sim;
}

static void signal_it(struct weir_sim *sim, struct pair *pair, uint32_t n)
{
	grants = n;
	weir_actor_signal(&pair->sink.actor);
	weir_sim_run(sim);
}

static void end(struct weir_sim *sim, struct pair *pair)
{
	assert_int_equal(pair->sink.seen, N);
	pair_fini(pair);
	sim_free(sim);
}

static void as_many_come_as_were_granted(void **state)
{
	struct weir_sim *sim;
	struct pair pair;
	size_t sum;

	for_each_seed(seed, 20) {
		sim = begin(&pair, seed);
		for (sum = 0; sum + CAPACITY < N; sum += grants) {
			signal_it(sim, &pair, 1 + (uint32_t)sum % CAPACITY);
			assert_int_equal(pair.sink.seen, sum + grants);
			assert_true(weir__actor_check(&pair.source.actor));
		}
		signal_it(sim, &pair, CAPACITY);
		end(sim, &pair);
	}
}

static void what_is_granted_before_it_is_used_adds_up(void **state)
{
	struct pair pair;
	struct weir_sim *sim = begin(&pair, 1);

	weir_actor_suspend(&pair.source.actor);
	signal_it(sim, &pair, 3);
	signal_it(sim, &pair, 4);
	assert_int_equal(pair.sink.seen, 0);
	weir_actor_resume(&pair.source.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, 7);
	signal_it(sim, &pair, 1);
	assert_int_equal(pair.sink.seen, 8);
	weir_actor_stop(&pair.source.actor);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

static void let_go_it_is_a_link_as_any_other(void **state)
{
	struct weir_sim *sim;
	struct pair pair;

	for_each_seed(seed, 20) {
		sim = begin(&pair, seed);
		signal_it(sim, &pair, 0);
		end(sim, &pair);
	}
}

/* The in-port may know before it knows of whom. */
static void a_link_may_be_made_behind_it(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct source source;
	struct sink sink;

	ledger_init(&ledger, 5);
	source_init(&source, weir_sim_executor(sim), &ledger, 1, 5);
	sink_init(&sink, weir_sim_executor(sim), &ledger, CAPACITY);
	weir__in_hold(&sink.in);
	weir__in_grant(&sink.in, 2);
	assert_int_equal(weir_out_link(&source.out, &sink.in), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 2);
	weir_actor_stop(&sink.actor);
	weir_sim_run(sim);
	ledger_fini(&ledger);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_come_as_were_granted),
		cmocka_unit_test(what_is_granted_before_it_is_used_adds_up),
		cmocka_unit_test(let_go_it_is_a_link_as_any_other),
		cmocka_unit_test(a_link_may_be_made_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
