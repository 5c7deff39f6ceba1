/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W1 and W6 with the library: every stage is an actor with its ports, on a
 * thread pool with default options. The styles differ in who makes the loop
 * over the turns: `actors` has WEIR_TURN compile it around an inline turn,
 * `actors-call` calls the turn through a pointer for every token. W6's styles
 * are scenes: its transformers that work have a turn of their own.
 *
 * Neighbours are linked, or subscribe as publishers and subscribers that become
 * links, or that are made to send requests and call on_next for each token.
 */
#include <errno.h>

#include "support.h"
#include "w1.h"
#include "who.h"

struct w1_stage {
	/* A line of its own: its neighbours may run on another worker. */
	_Alignas(BENCH_CACHELINE) struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	int (*turn)(struct weir_actor *actor);
	uint64_t next; /* the producer's */
	union {
		uint64_t items;	  /* the producer's */
		unsigned n_steps; /* of a transformer that works */
	};
	struct bench_result got; /* the consumer's */
	struct pool *pool;
};

static inline struct w1_stage *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct w1_stage, actor);
}

static inline int produce(struct weir_actor *actor)
{
	struct w1_stage *stage = stage_of(actor);
	int rc = weir_out_put(&stage->out, (void *)(uintptr_t)stage->next);

	return ++stage->next == stage->items ? WEIR_TURN_END : rc;
}
WEIR_TURN(produce)

static inline int transform(struct weir_actor *actor)
{
	struct w1_stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	return weir_out_put(&stage->out, (void *)(x + 1));
}
WEIR_TURN(transform)

static inline int work(struct weir_actor *actor)
{
	struct w1_stage *stage = stage_of(actor);
	uintptr_t x = (uintptr_t)weir_in_take(&stage->in);

	return weir_out_put(&stage->out, (void *)bench_work(x, stage->n_steps));
}
WEIR_TURN(work)

static inline int consume(struct weir_actor *actor)
{
	struct w1_stage *stage = stage_of(actor);
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
	work,
};

static uint32_t call_n(struct weir_actor *actor, uint32_t n)
{
	struct w1_stage *stage = stage_of(actor);
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
	{.name = "worker", .turns = work_n},
};

static const struct weir_actor_ops call_ops[] = {
	{.name = "producer", .turns = call_n},
	{.name = "transformer", .turns = call_n},
	{.name = "consumer", .turns = call_n, .stopped = stopped},
	{.name = "worker", .turns = call_n},
};

/* Actor i of the chain, as an index of the tables above. */
static unsigned role(const struct bench_cell *cell, unsigned i)
{
	if (i == 0)
		return 0;
	if (i > cell->stages)
		return 2;
	return bench_works(cell, i - 1) ? 3 : 1;
}

/* What joins two neighbours that subscribe. */
struct w1_joint {
	struct weir_reactive_out out;
	struct weir_reactive_in in;
};

static int subscribe(struct w1_joint *joint, struct weir_out *out,
		     struct weir_in *in, size_t prefetch)
{
	struct weir_reactive_out_options outs = {.capacity = prefetch};
	struct weir_reactive_in_options ins = {.prefetch = prefetch};
	int rc = weir_reactive_out_init(&joint->out, out, &outs);

	if (rc == 0)
		rc = weir_reactive_in_init(&joint->in, in, &ins);
	if (rc == 0)
		rc = weir_publisher_subscribe(&joint->out.publisher,
					      &joint->in.subscriber);
	return rc;
}

/* The i-th actor and the one before it. */
static int join(struct w1 *w1, unsigned i, unsigned window)
{
	struct weir_out *out = &w1->stages[i - 1].out;
	struct weir_in *in = &w1->stages[i].in;

	switch (w1->how) {
	case W1_STREAMS:
		return subscribe(&w1->joints[i - 1], out, in, 0);
	case W1_REQUESTS:
		/* who says how much to request gets no link */
		return subscribe(&w1->joints[i - 1], out, in, window);
	default:
		return weir_out_link(out, in);
	}
}

static int make(struct w1 *w1, const struct bench_cell *cell)
{
	const struct weir_actor_ops *ops = w1->how == W1_CALLS ? call_ops
							       : inline_ops;
	struct pool *pool = w1->pool;
	unsigned n = w1->n;
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		struct w1_stage *stage = &w1->stages[i];

		stage->pool = pool;
		stage->turn = turns[role(cell, i)];
		stage->n_steps = role(cell, i) == 3 ? bench_steps() : 0;
		rc = weir_actor_init(&stage->actor, &ops[role(cell, i)],
				     pool->executor);
		if (rc == 0 && i > 0)
			rc = weir_in_init(&stage->in, &stage->actor,
					  cell->window, NULL);
		if (rc == 0 && i + 1 < n)
			rc = weir_out_init(&stage->out, &stage->actor, NULL);
		if (rc == 0 && i > 0)
			rc = join(w1, i, cell->window);
	}
	return rc;
}

static int start(struct w1_stage *stages, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = weir_actor_start(&stages[i].actor);
	return rc;
}

int w1_open(struct w1 *w1, const struct bench_cell *cell, uint64_t items,
	    enum w1_how how)
{
	/* No signal carries NULL, so what is requested begins with 1. */
	uint64_t first = how == W1_REQUESTS;
	int rc;

	w1->n = cell->stages + 2;
	w1->how = how;
	w1->stages = bench_alloc(w1->n * sizeof(*w1->stages));
	w1->joints = bench_alloc(w1->n * sizeof(*w1->joints));
	w1->pool = bench_alloc(sizeof(*w1->pool));
	/* W6 is about where the library puts work, not the kernel. */
	rc = cell->workload->works ? pool_open_bound(w1->pool, cell->workers)
				   : pool_open(w1->pool, cell->workers);
	if (rc == 0)
		rc = make(w1, cell);
	w1->stages[0].next = first;
	w1->stages[0].items = first + items;
	return rc;
}

int w1_count(const struct w1 *w1, struct weir_stats *stats)
{
	int rc = 0;

	for (unsigned i = 0; i < w1->n && rc == 0; i++)
		rc = weir_actor_set_stats(&w1->stages[i].actor, &stats[i]);
	return rc;
}

int w1_run(struct w1 *w1, struct bench_result *result)
{
	const struct bench_result *got = &w1->stages[w1->n - 1].got;
	uint64_t first = w1->how == W1_REQUESTS;
	int rc;

	pool_start(w1->pool);
	rc = start(w1->stages, w1->n);
	if (rc < 0)
		return rc;
	*result = (struct bench_result){0};
	pool_wait(w1->pool, result);
	result->count = got->count;
	result->sum = got->sum - first * got->count;
	result->last = got->last - first;
	return 0;
}

int w1_close(struct w1 *w1)
{
	int rc = pool_close(w1->pool);

	bench_free(w1->pool);
	bench_free(w1->joints);
	bench_free(w1->stages);
	return rc;
}

static int run(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result, enum w1_how how)
{
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, how);

	if (rc == 0)
		rc = w1_run(&w1, result);
	return rc < 0 ? rc : w1_close(&w1);
}

int w1_actors(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return run(cell, items, result, W1_LINKS);
}

int w1_actors_call(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return run(cell, items, result, W1_CALLS);
}

int w1_streams(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	return run(cell, items, result, W1_STREAMS);
}

int w1_requests(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	return run(cell, items, result, W1_REQUESTS);
}

int w1_alone(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	struct bench_cell alone = *cell;

	alone.workers = 1;
	return w1_actors(&alone, items, result);
}

int w1_alone_call(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	struct bench_cell alone = *cell;

	alone.workers = 1;
	return w1_actors_call(&alone, items, result);
}
