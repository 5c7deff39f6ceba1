/* SPDX-License-Identifier: BSD-2-Clause */
/* Worker pools, all workers of which are taken. */
#include "process/pool_kit.h"

#include "inspect/kit.h"

static size_t named(const struct weir_snapshot *snapshot, const char *name)
{
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++)
		if (strcmp(snapshot->actors[i].name, name) == 0)
			return i;
	fail_msg("no actor %s", name);
	return WEIR_NOWHERE;
}

static void a_worker_that_hangs_is_blamed(struct pool_world *world)
{
	const struct weir_seen_pool *pool;
	struct weir_snapshot *snapshot;
	char text[512];
	size_t i;

	pool_start(world, 2);
	for (i = 1; i <= 5; i++)
		assert_int_equal(queue(world, i), 0);
	pool_settle(world);
	snapshot = taken(world->base.executor);
	assert_int_equal(snapshot->n_pools, 1);
	pool = &snapshot->pools[0];
	assert_int_equal(pool->kind, WEIR_POOL_WORKERS);
	assert_string_equal(pool->name, "a");
	assert_int_equal(pool->actor, named(snapshot, "pool server"));
	assert_int_equal(pool->max, 2);
	assert_int_equal(pool->busy, 2);
	assert_int_equal(pool->queued, 3);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_memory_equal(text, "1 held up by: worker waits ", 27);
	assert_null(strchr(strchr(text, '\n') + 1, '\n'));
	(void)weir_snapshot_why_text(snapshot, pool->actor, text, sizeof(text));
	assert_memory_equal(
		text,
		"pool server waits for one of the 2 workers of a, as worker at "
		"/user/pools/a/workers/$",
		strlen("pool server waits for one of the 2 workers of a, as "
		       "worker at /user/pools/a/workers/$"));
	assert_non_null(strstr(text, ", for 3 jobs\nworker waits "));
	weir_snapshot_free(snapshot);
}

static void a_pool_with_room_is_idle(struct pool_world *world)
{
	struct weir_snapshot *snapshot;
	char text[512];

	pool_start(world, 2);
	assert_int_equal(queue(world, 1), 0);
	pool_settle(world);
	snapshot = taken(world->base.executor);
	assert_int_equal(snapshot->pools[0].busy, 1);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_memory_equal(text, "idle: nobody is held up, and nobody runs\n",
			    41);
	weir_snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_worker_that_hangs_is_blamed),
		RULE(a_pool_with_room_is_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
