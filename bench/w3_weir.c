/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W3 with the library, on a thread pool with default options.
 *
 * ping-pong: two actors, two links of capacity 1. With two workers `weir` lets
 * the pool decide where they run, `weir.apart` binds each to a worker.
 *
 * fan-in: 8 producers linked to one merging in-port.
 *
 * create: an actor creates all others, a turn each: in memory that is touched
 * for the first time it sets up actor and in-port, puts the token, starts it.
 * They take the token, finish, and are released. The clock stops when a drain
 * tells that all are; the memory is given back after that.
 */
#include <errno.h>

#include "pool.h"
#include "support.h"
#include "who.h"

#define N_PRODUCERS 8

/* A player, a producer or the consumer. */
struct stage {
	/* A line of its own: its neighbours may run on another worker. */
	_Alignas(BENCH_CACHELINE) struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	uint64_t next, items;
	struct bench_result got;
	struct pool *pool;
};

static inline struct stage *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stage, actor);
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	pool_finished(stage_of(actor)->pool);
}

/* What the last actor of a run has got becomes the result. */
static int finish(struct pool *pool, const struct stage *last,
		  struct bench_result *result)
{
	struct bench_result waited = {0};
	int rc;

	pool_wait(pool, &waited);
	rc = pool_close(pool);
	*result = last->got;
	result->elapsed_ns = waited.elapsed_ns;
	result->counted = waited.counted;
	result->counters = waited.counters;
	return rc;
}

/* --- Ping-pong ------------------------------------------------------------ */

static inline int ping(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	/* the serve is the token 0, which has not been around */
	if (x > 0) {
		stage->got.count += 2;
		stage->got.sum += x;
		stage->got.last = x;
	}
	if (stage->got.count == stage->items)
		return weir_actor_end(actor);
	return weir_out_put(&stage->out, (void *)(x + 1));
}
WEIR_TURN(ping)

static inline int pong(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	return weir_out_put(&stage->out, (void *)(x + 1));
}
WEIR_TURN(pong)

static const struct weir_actor_ops player_ops[] = {
	{.name = "ping", .turns = ping_n, .stopped = stopped},
	{.name = "pong", .turns = pong_n},
};

static int make_player(struct stage *player, const struct weir_actor_ops *ops,
		       struct weir_executor *executor)
{
	int rc = weir_actor_init(&player->actor, ops, executor);

	if (rc == 0)
		rc = weir_in_init(&player->in, &player->actor, 1, NULL);
	if (rc == 0)
		rc = weir_out_init(&player->out, &player->actor, NULL);
	return rc;
}

static int make_table(struct stage players[2], struct pool *pool, bool apart)
{
	int rc = 0;

	for (unsigned i = 0; i < 2 && rc == 0; i++) {
		players[i].pool = pool;
		rc = make_player(&players[i], &player_ops[i],
				 apart ? weir_threads_worker(pool->threads, i)
				       : pool->executor);
	}
	/* the serve lies in the first player's port */
	if (rc == 0)
		rc = weir_in_put(&players[0].in, NULL);
	if (rc == 0)
		rc = weir_out_link(&players[0].out, &players[1].in);
	if (rc == 0)
		rc = weir_out_link(&players[1].out, &players[0].in);
	return rc;
}

static int play(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result, bool apart)
{
	struct stage *players = bench_alloc(2 * sizeof(*players));
	struct pool *pool = bench_alloc(sizeof(*pool));
	int rc = pool_open(pool, cell->workers);

	if (rc == 0)
		rc = make_table(players, pool, apart);
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	players[0].items = items;
	pool_start(pool);
	for (unsigned i = 0; i < 2 && rc == 0; i++)
		rc = weir_actor_start(&players[i].actor);
	if (rc < 0)
		return rc;
	rc = finish(pool, &players[0], result);
	bench_free(pool);
	bench_free(players);
	return rc;
}

int w3_ping_pong(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return play(cell, items, result, false);
}

int w3_ping_pong_apart(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return play(cell, items, result, true);
}

/* --- Fan-in --------------------------------------------------------------- */

static inline int produce(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	int rc = weir_out_put(&stage->out, (void *)(uintptr_t)stage->next);

	return ++stage->next == stage->items ? WEIR_TURN_END : rc;
}
WEIR_TURN(produce)

static inline int consume(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);

	stage->got.sum += (uintptr_t)weir_in_take(&stage->in);
	stage->got.count++;
	return 0;
}
WEIR_TURN(consume)

static const struct weir_actor_ops producer_ops = {
	.name = "producer",
	.turns = produce_n,
};
static const struct weir_actor_ops consumer_ops = {
	.name = "consumer",
	.turns = consume_n,
	.stopped = stopped,
};

static int make_producer(struct stage *producer, struct stage *consumer,
			 uint64_t items)
{
	int rc = weir_actor_init(&producer->actor, &producer_ops,
				 consumer->pool->executor);

	producer->items = items;
	if (rc == 0)
		rc = weir_out_init(&producer->out, &producer->actor, NULL);
	if (rc == 0)
		rc = weir_out_link(&producer->out, &consumer->in);
	return rc;
}

/* The consumer is the last of the stages. */
static int make_fan(struct stage *stages, struct pool *pool, unsigned window,
		    uint64_t items)
{
	struct stage *consumer = &stages[N_PRODUCERS];
	int rc = weir_actor_init(&consumer->actor, &consumer_ops,
				 pool->executor);

	consumer->pool = pool;
	if (rc == 0)
		rc = weir_in_init(&consumer->in, &consumer->actor, window,
				  NULL);
	if (rc == 0)
		rc = weir_in_merge(&consumer->in, WEIR_MERGE_ALL);
	for (unsigned i = 0; i < N_PRODUCERS && rc == 0; i++)
		rc = make_producer(&stages[i], consumer, items / N_PRODUCERS);
	return rc;
}

int w3_fan_in(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	struct stage *stages = bench_alloc((N_PRODUCERS + 1) * sizeof(*stages));
	struct pool *pool = bench_alloc(sizeof(*pool));
	int rc = pool_open(pool, cell->workers);

	if (rc == 0)
		rc = make_fan(stages, pool, cell->window, items);
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	pool_start(pool);
	for (unsigned i = 0; i <= N_PRODUCERS && rc == 0; i++)
		rc = weir_actor_start(&stages[i].actor);
	if (rc < 0)
		return rc;
	rc = finish(pool, &stages[N_PRODUCERS], result);
	bench_free(pool);
	bench_free(stages);
	return rc;
}

/* --- Create --------------------------------------------------------------- */

/* An actor with one in-port, and the token it has got. */
struct child {
	struct weir_actor actor;
	struct weir_in in;
	uintptr_t got;
};

struct creator {
	struct weir_actor actor;
	struct weir_permits left; /* a permit for each that is to be created */
	struct pool *pool;
	uint64_t next, items;
	struct child *children;
	struct weir_ending drain; /* when all are created: waits for the rest */
};

static inline int take_one(struct weir_actor *actor)
{
	struct child *child = weir_container_of(actor, struct child, actor);

	child->got = (uintptr_t)weir_in_take(&child->in);
	return WEIR_TURN_END;
}
WEIR_TURN(take_one)

static const struct weir_actor_ops child_ops = {
	.name = "child",
	.turns = take_one_n,
};

static inline int create(struct weir_actor *actor)
{
	struct creator *creator =
		weir_container_of(actor, struct creator, actor);
	uint64_t i = creator->next++;
	struct child *child = &creator->children[i];
	int rc;

	(void)weir_permits_use(&creator->left, 1);
	rc = weir_actor_init(&child->actor, &child_ops,
			     creator->pool->executor);
	if (rc == 0)
		rc = weir_in_init(&child->in, &child->actor, 1, NULL);
	if (rc == 0)
		rc = weir_in_put(&child->in, (void *)(uintptr_t)i);
	if (rc == 0)
		rc = weir_actor_start(&child->actor);
	if (rc == 0 && creator->next == creator->items)
		rc = weir_executor_end_async(creator->pool->executor,
					     &creator->drain, WEIR_FOREVER);
	return rc;
}
WEIR_TURN(create)

static void all_released(struct weir_ending *drain)
{
	struct creator *creator =
		weir_container_of(drain, struct creator, drain);

	pool_finished(creator->pool);
}

static const struct weir_actor_ops creator_ops = {
	.name = "creator",
	.turns = create_n,
};

static int make_creator(struct creator *creator, struct pool *pool,
			uint64_t items)
{
	int rc = weir_actor_init(&creator->actor, &creator_ops, pool->executor);

	creator->pool = pool;
	creator->items = items;
	creator->drain.done = all_released;
	creator->children = bench_map(items * sizeof(struct child));
	if (rc == 0)
		rc = weir_permits_init(&creator->left, &creator->actor,
				       (int64_t)items);
	return rc;
}

/* Takes the results out of the children. */
static void collect(const struct creator *creator, struct bench_result *result)
{
	for (uint64_t i = 0; i < creator->next; i++) {
		result->sum += creator->children[i].got;
		result->count++;
	}
}

int w3_create(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	struct creator *creator = bench_alloc(sizeof(*creator));
	struct pool *pool = bench_alloc(sizeof(*pool));
	int rc = pool_open(pool, cell->workers);
	uint64_t n_bytes = pool->n_bytes;

	if (rc == 0)
		rc = make_creator(creator, pool, items);
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	pool_start(pool);
	rc = weir_actor_start(&creator->actor);
	if (rc < 0)
		return rc;
	pool_wait(pool, result);
	/* the actor with its port, and what the library allocated for it */
	result->bytes = sizeof(struct weir_actor) + sizeof(struct weir_in) +
			(pool->n_bytes - n_bytes) / items;
	rc = pool_close(pool);
	collect(creator, result);
	bench_unmap(creator->children, items * sizeof(struct child));
	bench_free(pool);
	bench_free(creator);
	return rc;
}
