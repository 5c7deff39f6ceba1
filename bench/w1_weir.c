/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W1 with the library: every stage is an actor with its ports, on a thread
 * pool with default options. The styles differ in who makes the loop over the
 * turns: `actors` has WEIR_TURN compile it around an inline turn, `actors-call`
 * calls the turn through a pointer for every token.
 */
#include <errno.h>

#include "pool.h"
#include "support.h"
#include "who.h"

struct stage {
	/* A line of its own: its neighbours may run on another worker. */
	_Alignas(BENCH_CACHELINE) struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	int (*turn)(struct weir_actor *actor);
	uint64_t next, items;	 /* the producer's */
	struct bench_result got; /* the consumer's */
	struct pool *pool;
};

static inline struct stage *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stage, actor);
}

static inline int produce(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	int rc = weir_out_put(&stage->out, (void *)(uintptr_t)stage->next);

	return ++stage->next == stage->items ? WEIR_FINISH : rc;
}
WEIR_TURN(produce)

static inline int transform(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	return weir_out_put(&stage->out, (void *)(x + 1));
}
WEIR_TURN(transform)

static inline int consume(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	stage->got.count++;
	stage->got.sum += x;
	stage->got.last = x;
	return 0;
}
WEIR_TURN(consume)

/* Read at run time, so that the calls stay calls. */
static int (*volatile turns[])(struct weir_actor *) = {
	produce,
	transform,
	consume,
};

static uint32_t call_n(struct weir_actor *actor, uint32_t n)
{
	struct stage *stage = stage_of(actor);
	uint32_t done = 0;
	int rc;

	do {
		rc = stage->turn(actor);
		done++;
		if (rc != 0) {
			weir__actor_turn_ended(actor, rc);
			break;
		}
	} while (done < n && !weir_actor_interrupted(actor));
	return done;
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	pool_finished(stage_of(actor)->pool);
}

static const struct weir_actor_ops inline_ops[] = {
	{.name = "producer", .turns = produce_n},
	{.name = "transformer", .turns = transform_n},
	{.name = "consumer", .turns = consume_n, .stopped = stopped},
};

static const struct weir_actor_ops call_ops[] = {
	{.name = "producer", .turns = call_n},
	{.name = "transformer", .turns = call_n},
	{.name = "consumer", .turns = call_n, .stopped = stopped},
};

/* Who of the chain: 0 the first, 2 the last, 1 between. */
static unsigned role(unsigned i, unsigned n)
{
	return i == 0 ? 0 : i + 1 == n ? 2 : 1;
}

static int make(struct stage *stages, unsigned n, struct pool *pool,
		unsigned window, const struct weir_actor_ops *ops)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		struct stage *stage = &stages[i];

		stage->pool = pool;
		stage->turn = turns[role(i, n)];
		rc = weir_actor_init(&stage->actor, &ops[role(i, n)],
				     pool->executor);
		if (rc == 0 && i > 0)
			rc = weir_in_init(&stage->in, &stage->actor, window,
					  NULL);
		if (rc == 0 && i + 1 < n)
			rc = weir_out_init(&stage->out, &stage->actor, NULL);
		if (rc == 0 && i > 0)
			rc = weir_link(&stages[i - 1].out, &stage->in);
	}
	return rc;
}

static int start(struct stage *stages, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = weir_actor_start(&stages[i].actor);
	return rc;
}

static int run(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result, const struct weir_actor_ops *ops)
{
	unsigned n = cell->stages + 2;
	struct stage *stages = bench_alloc(n * sizeof(*stages));
	struct pool *pool = bench_alloc(sizeof(*pool));
	int rc = pool_open(pool, cell->workers);

	if (rc == 0)
		rc = make(stages, n, pool, cell->window, ops);
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	stages[0].items = items;
	pool_start(pool);
	rc = start(stages, n);
	if (rc < 0)
		return rc;
	*result = (struct bench_result){0};
	pool_wait(pool, result);
	rc = pool_close(pool);
	result->count = stages[n - 1].got.count;
	result->sum = stages[n - 1].got.sum;
	result->last = stages[n - 1].got.last;
	bench_free(pool);
	bench_free(stages);
	return rc;
}

int w1_actors(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return run(cell, items, result, inline_ops);
}

int w1_actors_call(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return run(cell, items, result, call_ops);
}
