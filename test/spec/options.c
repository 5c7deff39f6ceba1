/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every struct of options ends in `reserved`, and who takes one refuses what is
 * in there, and numbers that are too large: with -EINVAL, and nothing changed.
 */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>
#include <weir/weir.h>

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_system *systm;

/* --- Of an object in the caller's memory, which stays as it is ------------ */

#define UNTOUCHED 0x5a

static bool is_untouched(const void *object, size_t size)
{
	const unsigned char *bytes = object;
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i] != UNTOUCHED)
			return false;
	return true;
}

/* 0 and set up, or the error and as it was. */
#define TRY_INIT(rc, object, call) \
	do { \
		memset(&(object), UNTOUCHED, sizeof(object)); \
		(rc) = (call); \
		if ((rc) < 0) \
			assert_true(is_untouched(&(object), sizeof(object))); \
	} while (0)

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static const struct weir_actor_ops actor_ops = {.turns = no_turns};

/* --- Executors ------------------------------------------------------------ */

static int submit(struct weir_executor *to, struct weir_task *task)
{
	(void)to;
	weir_task_run(task);
	return 0;
}

static uint64_t now(struct weir_executor *of)
{
	(void)of;
	return 0;
}

static int try_executor(const void *options)
{
	static const struct weir_executor_ops ops = {
		.submit = submit,
		.now = now,
	};
	struct weir_executor own;
	int rc;

	TRY_INIT(rc, own, weir_executor_init(&own, &ops, options));
	if (rc == 0)
		assert_int_equal(weir_executor_fini(&own), 0);
	return rc;
}

/* 0 and an object, which is freed, or the error and none. */
#define TRY_NEW(type, call) \
	do { \
		struct type *object = (void *)-1; \
		int rc = call; \
\
		assert_int_equal(!object, rc < 0); \
		assert_int_equal(type##_free(object), 0); \
		return rc; \
	} while (0)

static int try_loop(const void *options)
{
	TRY_NEW(weir_loop, weir_loop_new(&object, options));
}

static int try_sim(const void *options)
{
	TRY_NEW(weir_sim, weir_sim_new(&object, 1, options));
}

static int try_threads(const void *options)
{
	TRY_NEW(weir_threads, weir_threads_new(&object, options));
}

static int try_blocking(const void *options)
{
	TRY_NEW(weir_blocking, weir_blocking_new(&object, options));
}

/* --- Flows ---------------------------------------------------------------- */

static int map(void **item, void *context)
{
	(void)item;
	(void)context;
	return 0;
}

static int key(void *item, uintptr_t *of, void *context)
{
	(void)context;
	*of = (uintptr_t)item;
	return 0;
}

static int choose(void *item, size_t *outlet, void *context)
{
	(void)item;
	(void)context;
	*outlet = 0;
	return 0;
}

static struct weir_flow *make(void *context)
{
	(void)context;
	return weir_flow_empty();
}

static struct weir_flow *make_around(struct weir_flow *upstream, void *context)
{
	(void)context;
	return upstream;
}

static struct weir_flow *make_group(struct weir_flow *upstream, uintptr_t of,
				    void *context)
{
	(void)of;
	(void)context;
	return upstream;
}

static int freed(struct weir_flow *flow)
{
	int rc = weir_flow_check(flow, NULL, NULL);

	weir_flow_free(flow);
	return rc;
}

static int try_run(const void *options)
{
	struct weir_flow *flow = weir_flow_range(1, 3);
	struct weir_flow_run *run = (void *)-1;
	size_t alive = weir_executor_alive(executor);
	int rc = weir_flow_start(flow, executor, options, &run);

	assert_int_equal(!run, rc < 0);
	assert_int_equal(weir_executor_alive(executor) > alive, rc == 0);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return rc;
}

static int try_parallel(const void *options)
{
	return freed(weir_flow_map_parallel(
		weir_flow_range(1, 3), 2, WEIR_ORDER_KEPT, map, NULL, options));
}

static int try_restart(const void *options)
{
	return freed(weir_flow_restart(make, NULL, options));
}

static int try_restart_around(const void *options)
{
	return freed(weir_flow_restart_around(weir_flow_range(1, 3),
					      make_around, NULL, options));
}

static int try_group_by(const void *options)
{
	return freed(weir_flow_group_by(weir_flow_range(1, 3), 3, key,
					make_group, NULL, options));
}

static int try_broadcast(const void *options)
{
	struct weir_flow *outlet;
	int rc =
		weir_flow_broadcast(weir_flow_range(1, 3), 1, &outlet, options);

	assert_int_equal(freed(outlet), rc);
	return rc;
}

static int try_balance(const void *options)
{
	struct weir_flow *outlet;
	int rc = weir_flow_balance(weir_flow_range(1, 3), 1, &outlet, options);

	assert_int_equal(freed(outlet), rc);
	return rc;
}

static int try_partition(const void *options)
{
	struct weir_flow *outlet;
	int rc = weir_flow_partition(weir_flow_range(1, 3), 1, choose, NULL,
				     &outlet, options);

	assert_int_equal(freed(outlet), rc);
	return rc;
}

/* --- Streams and stages --------------------------------------------------- */

static int try_reactive_out(const void *options)
{
	struct weir_reactive_out reactive;
	struct weir_actor actor;
	struct weir_out out;
	int rc;

	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	assert_int_equal(weir_out_init(&out, &actor, NULL), 0);
	TRY_INIT(rc, reactive,
		 weir_reactive_out_init(&reactive, &out, options));
	weir_actor_stop(&actor);
	return rc;
}

static int try_reactive_in(const void *options)
{
	struct weir_reactive_in reactive;
	struct weir_actor actor;
	struct weir_in in;
	int rc;

	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	assert_int_equal(weir_in_init(&in, &actor, 4, NULL), 0);
	TRY_INIT(rc, reactive, weir_reactive_in_init(&reactive, &in, options));
	weir_actor_stop(&actor);
	return rc;
}

static int produce(void **item, void *context)
{
	(void)context;
	(void)item;
	return 0;
}

static int transform(void *item, struct weir_out *out, void *context)
{
	(void)context;
	(void)item;
	(void)out;
	return 0;
}

static int consume(void *item, void *context)
{
	(void)context;
	(void)item;
	return 0;
}

static const struct weir_producer_options producer = {.produce = produce};
static const struct weir_transformer_options transformer = {
	.transform = transform};
static const struct weir_consumer_options consumer = {.consume = consume};

/* 0 and an actor, which is stopped, or the error and the memory as it was. */
#define TRY_ACTOR(type, call) \
	do { \
		static struct type object; \
		int rc; \
\
		TRY_INIT(rc, object, call); \
		if (rc == 0) \
			weir_actor_stop(&object.actor); \
		return rc; \
	} while (0)

static int try_producer(const void *options)
{
	TRY_ACTOR(weir_producer,
		  weir_producer_init(&object, executor, options));
}

static int try_transformer(const void *options)
{
	TRY_ACTOR(weir_transformer,
		  weir_transformer_init(&object, executor, options));
}

static int try_consumer(const void *options)
{
	TRY_ACTOR(weir_consumer,
		  weir_consumer_init(&object, executor, options));
}

/* --- Systems -------------------------------------------------------------- */

static int try_system(const void *options)
{
	struct weir_system *made = (void *)-1;
	int rc = weir_system_new(&made, executor, options);

	assert_int_equal(!made, rc < 0);
	weir_system_stop(made);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(made), 0);
	return rc;
}

static int try_spawn(const void *options)
{
	struct weir_actor actor, before;
	int rc;

	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	before = actor;
	rc = weir_system_spawn(systm, WEIR_ACTOR_ID_NONE, &actor, options,
			       NULL);
	if (rc < 0)
		assert_memory_equal(&actor, &before, sizeof(actor));
	weir_actor_stop(&actor);
	weir_sim_run(sim);
	return rc;
}

static int try_pools(const void *options)
{
	struct weir_pools *pools = (void *)-1;
	int rc = weir_pools_new(&pools, systm, options);

	assert_int_equal(!pools, rc < 0);
	weir_pools_stop(pools);
	weir_sim_run(sim);
	assert_int_equal(weir_pools_free(pools), 0);
	return rc;
}

static int make_worker(void *job, struct weir_actor **worker, void *context)
{
	(void)context;
	(void)job;
	(void)worker;
	return -ENOSYS;
}

static const struct weir_pool_options pool = {
	.name = "pool",
	.limit = 1,
	.make = make_worker,
};

static int try_pool(const void *options)
{
	struct weir_pool_counts counts;
	struct weir_pools *pools;
	int rc;

	assert_int_equal(weir_pools_new(&pools, systm, NULL), 0);
	rc = weir_pool_start(pools, options);
	assert_int_equal(weir_pool_counts(pools, "pool", &counts),
			 rc < 0 ? -ENOENT : 0);
	weir_pools_stop(pools);
	weir_sim_run(sim);
	assert_int_equal(weir_pools_free(pools), 0);
	return rc;
}

static int run(struct weir_command *command, void *context)
{
	(void)command;
	(void)context;
	return 0;
}

static const struct weir_process_manager_options manager = {
	.run = run,
	.max = 1,
};

static int try_manager(const void *options)
{
	TRY_ACTOR(weir_process_manager,
		  weir_process_manager_init(&object, executor, options));
}

static int make_child(struct weir_actor **child, struct weir_in **input,
		      void *context)
{
	(void)context;
	(void)child;
	(void)input;
	return -ENOSYS;
}

static const struct weir_backoff_supervisor_options backoff = {
	.make = make_child,
	.backoff = {.min_ns = 1, .max_ns = 2},
};

static int try_backoff(const void *options)
{
	TRY_ACTOR(weir_backoff_supervisor,
		  weir_backoff_supervisor_init(&object, executor, options));
}

static int try_probe(const void *options)
{
	TRY_NEW(weir_subscriber_probe,
		weir_subscriber_probe_new(&object, NULL, options));
}

/* --- All of them ---------------------------------------------------------- */

#define ROW(type, call, usual) \
	{ \
#type, try_##call, usual, sizeof(struct type), \
			offsetof(struct type, reserved) \
	}
/* Those of another struct inside of it. */
#define INNER(type, member, call, usual) \
	{ \
#type "." #member, try_##call, usual, sizeof(struct type), \
			offsetof(struct type, member.reserved) \
	}

struct row {
	const char *name;
	int (*attempt)(const void *options);
	const void *usual; /* NULL: all zero, and NULL is the same */
	size_t size, offset;
};

static const struct row rows[] = {
	ROW(weir_executor_options, executor, NULL),
	ROW(weir_executor_options, loop, NULL),
	ROW(weir_executor_options, sim, NULL),
	ROW(weir_threads_options, threads, NULL),
	INNER(weir_threads_options, executor, threads, NULL),
	ROW(weir_blocking_options, blocking, NULL),
	INNER(weir_blocking_options, executor, blocking, NULL),
	ROW(weir_flow_run_options, run, NULL),
	ROW(weir_flow_parallel_options, parallel, NULL),
	ROW(weir_flow_restart_options, restart, NULL),
	ROW(weir_flow_restart_options, restart_around, NULL),
	ROW(weir_flow_group_options, group_by, NULL),
	ROW(weir_flow_fan_options, broadcast, NULL),
	ROW(weir_flow_fan_options, balance, NULL),
	ROW(weir_flow_fan_options, partition, NULL),
	ROW(weir_reactive_out_options, reactive_out, NULL),
	ROW(weir_reactive_in_options, reactive_in, NULL),
	ROW(weir_producer_options, producer, &producer),
	ROW(weir_transformer_options, transformer, &transformer),
	ROW(weir_consumer_options, consumer, &consumer),
	ROW(weir_system_options, system, NULL),
	ROW(weir_spawn_options, spawn, NULL),
	ROW(weir_pools_options, pools, NULL),
	ROW(weir_pool_options, pool, &pool),
	ROW(weir_process_manager_options, manager, &manager),
	ROW(weir_backoff_supervisor_options, backoff, &backoff),
	ROW(weir_subscriber_probe_options, probe, NULL),
	INNER(weir_backoff_supervisor_options, child, backoff, &backoff),
};

#undef ROW
#undef INNER

#define SIZE(type, member, call, usual) \
	{ \
#type "." #member, try_##call, usual, sizeof(struct type), \
			offsetof(struct type, member) \
	}

/* Numbers that have a greatest one. */
static const struct row sizes[] = {
	SIZE(weir_executor_options, budget_turns, executor, NULL),
	SIZE(weir_threads_options, workers, threads, NULL),
	SIZE(weir_blocking_options, threads_max, blocking, NULL),
	SIZE(weir_flow_run_options, unfused, run, NULL),
	SIZE(weir_flow_group_options, buffer, group_by, NULL),
	SIZE(weir_flow_fan_options, capacity, broadcast, NULL),
	SIZE(weir_flow_fan_options, queue, partition, NULL),
	SIZE(weir_reactive_out_options, capacity, reactive_out, NULL),
	SIZE(weir_reactive_in_options, prefetch, reactive_in, NULL),
	SIZE(weir_reactive_in_options, refill, reactive_in, NULL),
	SIZE(weir_transformer_options, capacity, transformer, &transformer),
	SIZE(weir_transformer_options, most, transformer, &transformer),
	SIZE(weir_consumer_options, capacity, consumer, &consumer),
	SIZE(weir_pool_options, limit, pool, &pool),
	SIZE(weir_pool_options, queue_max, pool, &pool),
	SIZE(weir_process_manager_options, max, manager, &manager),
	SIZE(weir_process_manager_options, buffer, manager, &manager),
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static union {
	max_align_t align;
	unsigned char bytes[512];
} options;

/* With that value in the word-th word of what the row is about. */
static int attempt(const struct row *row, int word, uint64_t value)
{
	assert_true(row->size <= sizeof(options));
	memset(&options, 0, sizeof(options));
	if (row->usual)
		memcpy(&options, row->usual, row->size);
	memcpy(options.bytes + row->offset + (size_t)word * sizeof(value),
	       &value, sizeof(value));
	return row->attempt(&options);
}

static void what_is_reserved_must_be_zero(void **state)
{
	size_t i;
	int word, rc;

	(void)state;
	for (i = 0; i < N_ROWS; i++) {
		assert_int_equal(attempt(&rows[i], 0, 0), 0);
		for (word = 0; word < 4; word++) {
			rc = attempt(&rows[i], word, 1);
			if (rc != -EINVAL)
				fail_msg("%s: reserved[%d] is %d", rows[i].name,
					 word, rc);
		}
	}
}

#if SIZE_MAX > UINT32_MAX
/* The last two are good numbers in their lower 32 bits. */
static const size_t absurd[] = {
	SIZE_MAX,
	SIZE_MAX / 2 + 1,
	(size_t)1 << 32,
	((size_t)1 << 32) + 1,
};
#else
static const size_t absurd[] = {SIZE_MAX, SIZE_MAX / 2 + 1};
#endif

#define N_ABSURD (sizeof(absurd) / sizeof(absurd[0]))

static void an_absurd_number_is_refused(void **state)
{
	size_t i, n;
	int rc;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (n = 0; n < N_ABSURD; n++) {
			rc = attempt(&sizes[i], 0, absurd[n]);
			if (rc != -EINVAL)
				fail_msg("%s: %zu is %d", sizes[i].name,
					 absurd[n], rc);
		}
}

static void a_batch_is_never_more_than_there_are_places(void **state)
{
	static struct weir_process_manager object;
	struct weir_process_manager_options many = manager;
	size_t n;

	(void)state;
	many.max = 7;
	for (n = 0; n < N_ABSURD; n++) {
		many.batch = absurd[n];
		assert_int_equal(
			weir_process_manager_init(&object, executor, &many), 0);
		assert_int_equal(object.in_flight.batch, 7);
		weir_actor_stop(&object.actor);
	}
}

static void an_absurd_burst_is_refused(void **state)
{
	struct weir_actor actor;
	struct weir_out out;
	size_t n;

	(void)state;
	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	assert_int_equal(weir_out_init(&out, &actor, NULL), 0);
	for (n = 0; n < N_ABSURD; n++)
		assert_int_equal(weir_port_set_burst(&out.port, absurd[n]),
				 -EINVAL);
	weir_actor_stop(&actor);
}

static void an_absurd_limit_of_restarts_is_refused(void **state)
{
	struct weir_limit limit = {.max = INT64_MAX};
	const struct weir_pools_options pools = {.limit = &limit};
	const struct weir_strategy strategy = {.all = &limit};

	(void)state;
	assert_int_equal(try_pools(&pools), -EINVAL);
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	limit.max = ((int64_t)1 << 32) + 1;
	assert_int_equal(try_pools(&pools), -EINVAL);
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	limit.max = INT64_MIN; /* no limit */
	assert_int_equal(try_pools(&pools), 0);
	assert_int_equal(weir_strategy_check(&strategy), 0);
}

static void no_options_are_the_usual_ones(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_ROWS; i++)
		assert_int_equal(rows[i].attempt(NULL),
				 rows[i].usual ? -EINVAL : 0);
}

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	assert_int_equal(weir_system_new(&systm, executor, NULL), 0);
	weir_sim_run(sim);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	weir_system_stop(systm);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(systm), 0);
	assert_int_equal(weir_sim_free(sim), 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reserved_must_be_zero),
		cmocka_unit_test(no_options_are_the_usual_ones),
		cmocka_unit_test(an_absurd_number_is_refused),
		cmocka_unit_test(a_batch_is_never_more_than_there_are_places),
		cmocka_unit_test(an_absurd_burst_is_refused),
		cmocka_unit_test(an_absurd_limit_of_restarts_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
