/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random lives of a pool whose workers stay, on the simulator, and one without
 * memory: check-outs, check-ins, ends of workers, of holders and of every part
 * of the tree. Numbers are those of the rules in
 * docs/conformance/worker_pool.md.
 */
#include "process/pool_loans.h"

/* --- At random ------------------------------------------------------------ */

static uint64_t draw(struct loans *loans, uint64_t bound)
{
	return weir_sim_random(loans->world.base.sim, bound);
}

static void draw_pool(struct loans *loans)
{
	static const struct weir_limit any = {.max = -1};
	struct weir_pool_options *options = &loans->world.options;

	options->limit = 1 + draw(loans, 5);
	options->stay = 1 + draw(loans, options->limit);
	options->queue_max = draw(loans, 8);
	options->order = (enum weir_pool_order)draw(loans, 2);
	options->overflow = draw(loans, 2) ? WEIR_OVERFLOW_DROP_HEAD
					   : WEIR_OVERFLOW_BACK_PRESSURE;
	options->restarts = &any;
	(void)weir_pool_start(loans->world.pools, options);
}

/* None, or one that has passed or is to come. */
static uint64_t draw_deadline(struct loans *loans)
{
	uint64_t now = world_now(&loans->world.base);

	if (draw(loans, 2))
		return WEIR_FOREVER;
	return now + draw(loans, 5) * MS;
}

static void draw_check_out(struct loans *loans)
{
	struct weir_actor_id who = WEIR_ACTOR_ID_NONE;
	size_t i = draw(loans, ASKS);
	struct ask *ask = &loans->asks[i];

	if (ask->has || ask->asked > ask->told + ask->cancelled)
		return;
	if (draw(loans, 2))
		who = loans_holder(loans, draw(loans, HOLDERS));
	if (draw(loans, 3))
		(void)loans_ask_as_until(loans, i, who, draw_deadline(loans));
	else
		(void)loans_try_as(loans, i, who);
}

/* The worker that it has, or had, if others have it since. */
static void draw_check_in(struct loans *loans)
{
	struct ask *ask = &loans->asks[draw(loans, ASKS)];

	if (!ask->has)
		return;
	if (weir_pool_check_in(loans->world.pools, &ask->request.worker) == 0)
		loans_is_back(ask);
	ask->has = draw(loans, 8) == 0; /* again, later */
}

static void draw_end(struct loans *loans)
{
	struct weir_system *system = loans->world.base.system;
	struct weir_actor_id id = loans_worker(loans, draw(loans, ASKS));

	if (draw(loans, 2))
		id = loans->holders[draw(loans, HOLDERS)].id;
	(void)(draw(loans, 2) ? weir_system_stop_actor
			      : weir_system_kill)(system, id);
}

static void draw_crash(struct loans *loans)
{
	static const char *const paths[] = {SERVER, WORKERS, "/user/pools/a"};
	const char *path = paths[draw(loans, 3)];

	if (draw(loans, 6) == 0)
		(void)weir_pool_stop_async(loans->world.pools, "a", NULL);
	else
		(void)weir_system_kill(loans->world.base.system,
				       at_path(&loans->world, path));
}

static void draw_action(struct loans *loans)
{
	uint64_t action = draw(loans, 24);

	loans->crash = draw(loans, 12) == 0;
	loans->make_rc = draw(loans, 12) == 0 ? -ENOLINK : 0;
	if (action < 9)
		draw_check_out(loans);
	else if (action < 16)
		draw_check_in(loans);
	else if (action < 18)
		(void)loans_forget(loans, draw(loans, ASKS));
	else if (action < 21)
		draw_end(loans);
	else if (action == 21)
		draw_crash(loans);
	else
		draw_pool(loans);
}

/* At rest: nobody waits for an idle worker, nor for a free place; all workers
 * live, and there are no more than may be. */
static void check_rest(struct loans *loans)
{
	struct weir_pool_counts c;

	pool_settle(&loans->world);
	assert_int_equal(loans->world.made - loans->world.released,
			 weir_pool_counts(loans->world.pools, "a", &c) < 0
				 ? 0
				 : c.limit - c.free);
	if (weir_pool_counts(loans->world.pools, "a", &c) < 0)
		return;
	assert_in_range(c.idle, 0, c.limit - c.free);
	assert_int_equal(c.started - c.ended, c.limit - c.free);
	assert_true(!c.queued || (!c.free && !c.idle));
}

static void d5_2_workers_and_holders_agree_whatever_happens(struct loans *loans)
{
	int i;

	draw_pool(loans);
	for (i = 0; i < 300; i++) {
		draw_action(loans);
		if (draw(loans, 20) == 0)
			check_rest(loans);
		while (draw(loans, 3) && weir_sim_step(loans->world.base.sim))
			assert_true(
				weir__system_check(loans->world.base.system));
	}
	check_rest(loans);
}

/* --- Without memory ------------------------------------------------------- */

static void play(struct loans *loans)
{
	struct weir_pool_options *options = &loans->world.options;
	size_t i;

	options->limit = 3;
	options->stay = 2;
	if (weir_pool_start(loans->world.pools, options) < 0) {
		pool_settle(&loans->world);
		assert_int_equal(weir_pool_start(loans->world.pools, options),
				 0);
	}
	for (i = 0; i < 3; i++)
		(void)loans_try_as(loans, i, loans_holder(loans, i));
	for (; i < 30; i++)
		(void)loans_ask_as_until(loans, i, loans_holder(loans, i % 4),
					 i % 3 ? WEIR_FOREVER : i * MS);
	pool_settle(&loans->world);
	(void)loans_forget(loans, 10);
	loans_holder_end(loans, 0);
	for (i = 0; i < 8; i++)
		(void)loans_check_in(loans, i);
	(void)weir_system_stop_actor(loans->world.base.system,
				     loans_worker(loans, 5));
	pool_settle(&loans->world);
	(void)weir_system_kill(loans->world.base.system,
			       at_path(&loans->world, SERVER));
	pool_settle(&loans->world);
	(void)loans_wait(loans, 30, MS);
	(void)loans_ask_as(loans, 31, loans_holder(loans, 5));
	(void)stop_pool(&loans->world);
	pool_settle(&loans->world);
}

/* True: an allocation was left to fail. */
static bool play_without(struct loans *loans, size_t fail)
{
	static const struct weir_system_options silent = {
		.event = weir_supervision_event_ignore};
	struct world *base = &loans->world.base;
	bool failed;
	int rc;

	loans_init(loans, fail);
	base->heap.calls = 0;
	base->heap.fail = fail;
	rc = weir_system_new(&base->system, base->executor, &silent);
	if (rc == 0)
		rc = weir_pools_new(&loans->world.pools, base->system, NULL);
	if (rc == 0)
		play(loans);
	else
		assert_int_equal(rc, -ENOMEM);
	failed = base->heap.calls >= fail;
	if (!failed)
		assert_int_equal(loans->world.stops, 1);
	base->heap.fail = 0;
	pool_settle(&loans->world);
	loans_fini(loans);
	return failed;
}

static void d5_10_out_of_memory_is_an_error_and_loses_nothing(void **state)
{
	size_t fail = 1;

	(void)state;
	while (play_without(&the_loans, fail))
		fail++;
	assert_in_range(fail, 50, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d5_2_workers_and_holders_agree_whatever_happens),
		cmocka_unit_test(
			d5_10_out_of_memory_is_an_error_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
