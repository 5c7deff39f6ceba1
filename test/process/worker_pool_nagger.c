/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker of docs/examples/nagger.c, as it stands there, and what the demo
 * of ppool shows with it: D4 of docs/conformance/worker_pool.md.
 */
#include "process/pool_kit.h"

#undef SECOND

/* Not run here: the tests of the examples do that. */
int nagger_main(void);
#define main nagger_main
#include "../../docs/examples/nagger.c"
#undef main

#define LOG 64

/* What was sent. */
struct sent {
	uint64_t at_ns;
	const char *task;
	struct weir_actor_id from;
};

static struct sent sent[LOG];
static size_t n_sent;

static void note(struct weir_actor *from, const char *task)
{
	assert_in_range(n_sent, 0, LOG - 1);
	sent[n_sent++] = (struct sent){
		.at_ns = weir_executor_now(from->executor),
		.task = task,
		.from = weir_actor_self(from),
	};
}

static void naggers(struct pool_world *world, uint32_t limit)
{
	n_sent = 0;
	world->options.make = make_nagger;
	world->options.context = world->base.executor;
	world->options.jobs = NULL;
	pool_start(world, limit);
}

static void d4_1_so_many_messages_and_so_often(struct pool_world *world)
{
	struct nag dishes = {"dishes", 40 * MS, 3, note};
	struct weir_actor_id worker;
	size_t i;

	naggers(world, 1);
	assert_int_equal(weir_pool_run(world->pools, "a", &dishes, &worker), 0);
	pool_settle(world);
	assert_int_equal(n_sent, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(sent[i].at_ns, (i + 1) * 40 * MS);
		assert_ptr_equal(sent[i].task, dishes.task);
		assert_true(weir_actor_id_equal(sent[i].from, worker));
	}
	assert_false(weir_system_is_alive(world->base.system, worker));
	assert_pool(world, 1, 0);
}

static void d4_1_none_is_none(struct pool_world *world)
{
	struct nag nothing = {"nothing", 40 * MS, 0, note};

	naggers(world, 1);
	assert_int_equal(weir_pool_run(world->pools, "a", &nothing, NULL), 0);
	pool_settle(world);
	assert_int_equal(n_sent, 0);
	assert_int_equal(world_now(&world->base), 0);
	assert_pool(world, 1, 0);
}

static void d4_1_for_ever_until_it_is_stopped(struct pool_world *world)
{
	struct nag plants = {"plants", 40 * MS, FOR_EVER, note};
	struct weir_actor_id worker;

	naggers(world, 1);
	assert_int_equal(weir_pool_run(world->pools, "a", &plants, &worker), 0);
	weir_sim_run_until(world->base.sim, 1000 * MS, UINT64_MAX);
	assert_int_equal(n_sent, 25);
	assert_int_equal(weir_system_stop_actor(world->base.system, worker), 0);
	pool_settle(world);
	assert_int_equal(n_sent, 25);
	assert_pool(world, 1, 0);
}

static void d4_2_what_it_does_not_know_does_not_make_it_mute(
	struct pool_world *world)
{
	struct nag dishes = {"dishes", 40 * MS, 3, note};
	struct weir_actor *actor;
	struct weir_actor_id worker;
	size_t i;

	naggers(world, 1);
	assert_int_equal(weir_pool_run(world->pools, "a", &dishes, &worker), 0);
	for (i = 1; i <= 5; i++) {
		actor = weir_system_actor(world->base.system, worker);
		assert_non_null(actor);
		weir_actor_signal(actor);
		weir_actor_unref(actor);
		weir_sim_run_until(world->base.sim, i * 20 * MS, UINT64_MAX);
	}
	pool_settle(world);
	assert_int_equal(n_sent, 3);
	assert_int_equal(sent[2].at_ns, 120 * MS);
	assert_pool(world, 1, 0);
}

static void d4_3_the_third_message_comes_a_delay_later(struct pool_world *world)
{
	struct nag nags[] = {
		{"dishes", 40 * MS, 1, note},
		{"cat", 40 * MS, 1, note},
		{"rent", 40 * MS, 1, note},
	};
	size_t i;

	naggers(world, 2);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_pool_queue(world->pools, "a", &nags[i]),
				 0);
	pool_settle(world);
	assert_int_equal(n_sent, 3);
	assert_int_equal(sent[0].at_ns, 40 * MS);
	assert_int_equal(sent[1].at_ns, 40 * MS);
	assert_int_equal(sent[2].at_ns, 80 * MS);
	assert_ptr_equal(sent[2].task, nags[2].task);
}

static void d4_3_who_waits_as_the_third_waits_a_delay(struct pool_world *world)
{
	struct nag nags[] = {
		{"dishes", 40 * MS, 1, note},
		{"cat", 40 * MS, 1, note},
		{"rent", 40 * MS, 1, note},
	};
	size_t i;

	naggers(world, 2);
	for (i = 0; i < 3; i++) {
		assert_int_equal(world_now(&world->base), 0);
		assert_int_equal(weir_pool_queue_wait(world->pools, "a",
						      &nags[i], WEIR_FOREVER,
						      NULL),
				 0);
	}
	assert_int_equal(world_now(&world->base), 40 * MS);
	pool_settle(world);
	assert_int_equal(n_sent, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d4_1_so_many_messages_and_so_often),
		RULE(d4_1_none_is_none),
		RULE(d4_1_for_ever_until_it_is_stopped),
		RULE(d4_2_what_it_does_not_know_does_not_make_it_mute),
		RULE(d4_3_the_third_message_comes_a_delay_later),
		RULE(d4_3_who_waits_as_the_third_waits_a_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
