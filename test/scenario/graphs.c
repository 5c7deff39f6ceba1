/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shapes: joins, diamonds, cycles, rings, trees, chains; growing while running.
 */
#include "actor/kit.h"

#include "lane/lane.h"

#define N 300

/* Takes one of each, gives their sum: items are plain numbers here. */
struct adder {
	struct weir_actor actor;
	struct weir_in left, right;
	struct weir_out sum;
	uint32_t turns;
};

static inline int adder_turn(struct weir_actor *actor)
{
	struct adder *self = weir_container_of(actor, struct adder, actor);
	uintptr_t left = (uintptr_t)weir_in_take(&self->left);
	uintptr_t right = (uintptr_t)weir_in_take(&self->right);

	self->turns++;
	return weir_out_put(&self->sum, (void *)(left + right));
}
WEIR_TURN(adder_turn)

static const struct weir_actor_ops adder_ops = {.name = "adder",
						.turns = adder_turn_n};

static void adder_init(struct adder *self, struct weir_sim *sim)
{
	memset(self, 0, sizeof(*self));
	weir_actor_init(&self->actor, &adder_ops, weir_sim_executor(sim));
	assert_int_equal(weir_in_init(&self->left, &self->actor, 4, NULL), 0);
	assert_int_equal(weir_in_init(&self->right, &self->actor, 4, NULL), 0);
	assert_int_equal(weir_out_init(&self->sum, &self->actor, NULL), 0);
}

/* Collects plain numbers. */
struct collector {
	struct weir_actor actor;
	struct weir_in in;
	uintptr_t values[N];
	size_t n;
};

static inline int collector_turn(struct weir_actor *actor)
{
	struct collector *self =
		weir_container_of(actor, struct collector, actor);

	self->values[self->n++] = (uintptr_t)weir_in_take(&self->in);
	return 0;
}
WEIR_TURN(collector_turn)

static const struct weir_actor_ops collector_ops = {.turns = collector_turn_n};

static void collector_init(struct collector *self, struct weir_sim *sim)
{
	memset(self, 0, sizeof(*self));
	weir_actor_init(&self->actor, &collector_ops, weir_sim_executor(sim));
	assert_int_equal(weir_in_init(&self->in, &self->actor, 4, NULL), 0);
}

/* Counts from 1 to `last`, to all who are linked. */
struct counter {
	struct weir_actor actor;
	struct weir_out out;
	uintptr_t next, last;
};

static inline int counter_turn(struct weir_actor *actor)
{
	struct counter *self = weir_container_of(actor, struct counter, actor);
	int rc = weir_out_put(&self->out, (void *)self->next);

	if (self->next++ == self->last)
		weir_actor_end(actor);
	return rc;
}
WEIR_TURN(counter_turn)

static const struct weir_actor_ops counter_ops = {.turns = counter_turn_n};

static void counter_init(struct counter *self, struct weir_sim *sim,
			 uintptr_t last)
{
	memset(self, 0, sizeof(*self));
	self->next = 1;
	self->last = last;
	weir_actor_init(&self->actor, &counter_ops, weir_sim_executor(sim));
	assert_int_equal(weir_out_init(&self->out, &self->actor, NULL), 0);
}

static void a_join_fires_only_with_a_token_on_both_sides(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct collector collector;
	struct adder adder;

	adder_init(&adder, sim);
	collector_init(&collector, sim);
	assert_int_equal(weir_out_link(&adder.sum, &collector.in), 0);
	assert_int_equal(weir_actor_start(&adder.actor), 0);
	assert_int_equal(weir_actor_start(&collector.actor), 0);
	assert_int_equal(weir_in_put(&adder.left, (void *)1), 0);
	assert_int_equal(weir_in_put(&adder.left, (void *)2), 0);
	weir_sim_run(sim);
	assert_int_equal(adder.turns, 0);
	assert_int_equal(weir_in_put(&adder.right, (void *)10), 0);
	weir_sim_run(sim);
	assert_int_equal(adder.turns, 1);
	assert_int_equal(collector.values[0], 11);
	/* the end of one side ends the join, though the other holds a token */
	assert_int_equal(weir_in_end(&adder.right, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 0);
	assert_int_equal(collector.n, 1);
	sim_free(sim);
}

static void a_diamond_meets_itself_again_in_order(void **state)
{
	struct weir_sim *sim;
	struct counter counter;
	struct adder adder;
	struct collector collector;
	size_t i;

	for_each_seed(seed, test_count(200)) {
		sim = sim_new(seed);
		counter_init(&counter, sim, N);
		adder_init(&adder, sim);
		collector_init(&collector, sim);
		weir_out_fan(&counter.out, WEIR_FAN_BROADCAST, 8);
		assert_int_equal(weir_out_link(&counter.out, &adder.left), 0);
		assert_int_equal(weir_out_link(&counter.out, &adder.right), 0);
		assert_int_equal(weir_out_link(&adder.sum, &collector.in), 0);
		weir_actor_start(&counter.actor);
		weir_actor_start(&adder.actor);
		weir_actor_start(&collector.actor);
		weir_sim_run(sim);
		assert_int_equal(collector.n, N);
		for (i = 0; i < N; i++)
			assert_int_equal(collector.values[i], 2 * (i + 1));
		sim_free(sim);
	}
}

static void a_cycle_with_an_initial_token_computes_a_running_sum(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct counter counter;
	struct adder adder;
	struct collector collector;
	struct weir_actor *actors[] = {&counter.actor, &adder.actor,
				       &collector.actor};
	struct weir_actor *culprit = NULL;
	size_t i;

	counter_init(&counter, sim, N);
	adder_init(&adder, sim);
	collector_init(&collector, sim);
	weir_out_fan(&adder.sum, WEIR_FAN_BROADCAST, 8);
	assert_int_equal(weir_out_link(&counter.out, &adder.left), 0);
	assert_int_equal(weir_out_link(&adder.sum, &collector.in), 0);
	/* the token comes before the link */
	assert_int_equal(weir_in_put(&adder.right, (void *)0), 0);
	assert_int_equal(weir_out_link(&adder.sum, &adder.right), 0);
	assert_int_equal(weir_actor_check_cycles(actors, 3, &culprit), 0);
	assert_null(culprit);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_actor_start(actors[i]), 0);
	weir_sim_run(sim);
	assert_int_equal(collector.n, N);
	for (i = 0; i < N; i++)
		assert_int_equal(collector.values[i], (i + 1) * (i + 2) / 2);
	sim_free(sim);
}

static void a_cycle_without_a_token_is_reported(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct counter counter;
	struct adder adder;
	struct collector collector;
	struct weir_actor *actors[] = {&collector.actor, &counter.actor,
				       &adder.actor};
	struct weir_actor *culprit = NULL, *null = NULL;
	size_t i;

	counter_init(&counter, sim, N);
	adder_init(&adder, sim);
	collector_init(&collector, sim);
	weir_out_fan(&adder.sum, WEIR_FAN_BROADCAST, 8);
	weir_out_link(&counter.out, &adder.left);
	weir_out_link(&adder.sum, &collector.in);
	weir_out_link(&adder.sum, &adder.right);
	assert_int_equal(weir_actor_check_cycles(actors, 3, &culprit),
			 -EDEADLK);
	/* not the collector, which only waits for the cycle */
	assert_ptr_equal(culprit, &adder.actor);
	assert_int_equal(weir_actor_check_cycles(actors, 3, NULL), -EDEADLK);
	assert_int_equal(weir_actor_check_cycles(NULL, 1, NULL), -EINVAL);
	assert_int_equal(weir_actor_check_cycles(&null, 1, NULL), -EINVAL);
	assert_int_equal(weir_actor_check_cycles(NULL, 0, NULL), 0);
	for (i = 0; i < 3; i++)
		weir_actor_stop(actors[i]);
	sim_free(sim);
}

static void a_cycle_over_a_port_that_takes_no_part_is_none(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct adder adder;
	struct weir_actor *actors[] = {&adder.actor};

	adder_init(&adder, sim);
	assert_int_equal(weir_out_link(&adder.sum, &adder.right), 0);
	assert_int_equal(weir_actor_check_cycles(actors, 1, NULL), -EDEADLK);
	assert_int_equal(weir_port_ignore(&adder.right.port), 0);
	assert_int_equal(weir_actor_check_cycles(actors, 1, NULL), 0);
	weir_actor_stop(&adder.actor);
	sim_free(sim);
}

/* A ring of `n` stages with one token that goes round `rounds` times. */
struct ring {
	struct weir_sim *sim;
	struct ring_stage *stages;
	size_t n;
	uint64_t hops, most;
};

struct ring_stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct ring *ring;
};

static inline int ring_turn(struct weir_actor *actor)
{
	struct ring_stage *self =
		weir_container_of(actor, struct ring_stage, actor);
	void *token = weir_in_take(&self->in);

	if (++self->ring->hops == self->ring->most)
		return weir_actor_end(actor);
	return weir_out_put(&self->out, token);
}
WEIR_TURN(ring_turn)

static const struct weir_actor_ops ring_ops = {.turns = ring_turn_n};

static void ring_init(struct ring *ring, uint64_t seed, size_t n,
		      uint64_t rounds)
{
	size_t i;

	ring->sim = sim_new(seed);
	ring->n = n;
	ring->hops = 0;
	ring->most = n * rounds;
	ring->stages = calloc(n, sizeof(*ring->stages));
	assert_non_null(ring->stages);
	for (i = 0; i < n; i++) {
		struct ring_stage *stage = &ring->stages[i];

		stage->ring = ring;
		weir_actor_init(&stage->actor, &ring_ops,
				weir_sim_executor(ring->sim));
		/* alone, it needs room before it has taken its own token */
		weir_in_init(&stage->in, &stage->actor, n > 1 ? 1 : 2, NULL);
		weir_out_init(&stage->out, &stage->actor, NULL);
	}
	assert_int_equal(weir_in_put(&ring->stages[0].in, NULL), 0);
	for (i = 0; i < n; i++)
		assert_int_equal(weir_out_link(&ring->stages[i].out,
					       &ring->stages[(i + 1) % n].in),
				 0);
}

static void ring_run(struct ring *ring)
{
	size_t i;

	for (i = 0; i < ring->n; i++)
		assert_int_equal(weir_actor_start(&ring->stages[i].actor), 0);
	weir_sim_run(ring->sim);
	assert_int_equal(ring->hops, ring->most);
	sim_free(ring->sim);
	free(ring->stages);
}

static void a_ring_of_1000_passes_a_token_100_times_round(void **state)
{
	struct ring ring;

	for_each_seed(seed, test_count(200)) {
		ring_init(&ring, seed, 1000, 100);
		ring_run(&ring);
	}
}

static void a_ring_of_1000_without_a_token_is_reported(void **state)
{
	struct weir_actor *actors[1000], *culprit;
	struct ring ring;
	uint32_t *word;
	size_t i;

	ring_init(&ring, 1, 1000, 1);
	for (i = 0; i < 1000; i++)
		actors[i] = &ring.stages[i].actor;
	assert_int_equal(weir_actor_check_cycles(actors, 1000, &culprit), 0);
	/* the token's place, as if it had not been put */
	word = weir__lane_tail_at(&ring.stages[0].in.lane);
	*word = weir__tail_word(0, false);
	assert_int_equal(weir_actor_check_cycles(actors, 1000, &culprit),
			 -EDEADLK);
	assert_non_null(culprit);
	*word = weir__tail_word(1, false);
	ring_run(&ring);
}

static void a_ring_of_two_and_of_one_work(void **state)
{
	struct ring ring;

	ring_init(&ring, 1, 2, 1000);
	ring_run(&ring);
	ring_init(&ring, 1, 1, 1000);
	ring_run(&ring);
}

/* Makes two more of its kind until the tree is `depth` deep. */
struct grower {
	struct weir_actor actor;
	struct weir_permits permits;
	uint32_t depth;
	size_t *released;
};

static struct grower *grower_new(struct weir_executor *executor, uint32_t depth,
				 size_t *released);

static inline int grower_turn(struct weir_actor *actor)
{
	struct grower *self = weir_container_of(actor, struct grower, actor);
	struct grower *child;
	int i;

	for (i = 0; i < 2 && self->depth; i++) {
		child = grower_new(actor->executor, self->depth - 1,
				   self->released);
		assert_int_equal(weir_actor_start(&child->actor), 0);
	}
	return weir_actor_end(actor);
}
WEIR_TURN(grower_turn)

static void grower_released(struct weir_actor *actor)
{
	struct grower *self = weir_container_of(actor, struct grower, actor);

	++*self->released;
	free(self);
}

static const struct weir_actor_ops grower_ops = {
	.turns = grower_turn_n,
	.released = grower_released,
};

static struct grower *grower_new(struct weir_executor *executor, uint32_t depth,
				 size_t *released)
{
	struct grower *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->depth = depth;
	self->released = released;
	weir_actor_init(&self->actor, &grower_ops, executor);
	assert_int_equal(weir_permits_init(&self->permits, &self->actor, 1), 0);
	return self;
}

static void actors_may_make_and_start_others_while_they_run(void **state)
{
	struct weir_sim *sim = sim_new(1);
	size_t released = 0;

	assert_int_equal(weir_actor_start(&grower_new(weir_sim_executor(sim),
						      12, &released)
						   ->actor),
			 0);
	weir_sim_run(sim);
	assert_int_equal(released, (1u << 13) - 1);
	sim_free(sim);
}

static void a_million_actors_may_live_at_once(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	size_t n = test_count(1000000), i;
	struct sink *sinks = calloc(n, sizeof(*sinks));
	struct ledger ledger;

	assert_non_null(sinks);
	ledger_init(&ledger, n);
	for (i = 0; i < n; i++) {
		sink_init(&sinks[i], executor, &ledger, 1);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(executor), n);
	for (i = 0; i < n; i++) {
		assert_int_equal(weir_in_put(&sinks[i].in,
					     ledger_make(&ledger, i + 1)),
				 0);
		assert_int_equal(weir_in_end(&sinks[i].in, NULL), 0);
	}
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(executor), 0);
	assert_int_equal(ledger_delivered(&ledger), n);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	free(sinks);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_fires_only_with_a_token_on_both_sides),
		cmocka_unit_test(a_diamond_meets_itself_again_in_order),
		cmocka_unit_test(
			a_cycle_with_an_initial_token_computes_a_running_sum),
		cmocka_unit_test(a_cycle_without_a_token_is_reported),
		cmocka_unit_test(
			a_cycle_over_a_port_that_takes_no_part_is_none),
		cmocka_unit_test(a_ring_of_1000_passes_a_token_100_times_round),
		cmocka_unit_test(a_ring_of_1000_without_a_token_is_reported),
		cmocka_unit_test(a_ring_of_two_and_of_one_work),
		cmocka_unit_test(
			actors_may_make_and_start_others_while_they_run),
		cmocka_unit_test(a_million_actors_may_live_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
