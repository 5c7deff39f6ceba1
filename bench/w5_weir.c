/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W5 with the library: three actors on a thread pool, the first of which gets
 * its tokens by weir_in_put() from the main thread. `weir` has all options at
 * their defaults; `weir.awake` has workers that do not go to sleep.
 */
#include <errno.h>

#include "pool.h"
#include "support.h"
#include "w5.h"
#include "who.h"

#define AWAKE_NS UINT64_C(60000000000)

struct stage {
	/* A line of its own: its neighbours may run on another worker. */
	_Alignas(BENCH_CACHELINE) struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct w5 *w5;
	struct pool *pool;
};

static inline struct stage *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stage, actor);
}

static inline int pass(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);

	return weir_out_put(&stage->out, w5_pass(weir_in_take(&stage->in)));
}
WEIR_TURN(pass)

static inline int take(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);

	w5_take(stage->w5, weir_in_take(&stage->in));
	return 0;
}
WEIR_TURN(take)

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	pool_finished(stage_of(actor)->pool);
}

static const struct weir_actor_ops pass_ops = {
	.name = "pass",
	.turns = pass_n,
};
static const struct weir_actor_ops take_ops = {
	.name = "take",
	.turns = take_n,
	.stopped = stopped,
};

static int make(struct stage *stage, struct stage *before, bool last)
{
	int rc = weir_actor_init(&stage->actor, last ? &take_ops : &pass_ops,
				 stage->pool->executor);

	if (rc == 0)
		rc = weir_in_init(&stage->in, &stage->actor, W5_WINDOW, NULL);
	if (rc == 0 && !last)
		rc = weir_out_init(&stage->out, &stage->actor, NULL);
	if (rc == 0 && before)
		rc = weir_out_link(&before->out, &stage->in);
	return rc;
}

static void put(void *argument, void *token)
{
	struct stage *first = argument;

	/* Full: they are behind by 1024 tokens. */
	while (weir_in_put(&first->in, token) != 0)
		ck_pr_stall();
}

static int run(const struct bench_cell *cell, uint64_t items,
	       uint64_t interval_ns, uint64_t spin_ns,
	       struct bench_result *result)
{
	struct stage *stages = bench_alloc(W5_STAGES * sizeof(*stages));
	struct pool *pool = bench_alloc(sizeof(*pool));
	struct w5 *w5 = w5_new(items, interval_ns);
	struct bench_result waited = {0};
	int rc = w5 ? pool_open_spinning(pool, cell->workers, spin_ns)
		    : -EINVAL;

	for (unsigned i = 0; i < W5_STAGES && rc == 0; i++) {
		stages[i].pool = pool;
		stages[i].w5 = w5;
		rc = make(&stages[i], i > 0 ? &stages[i - 1] : NULL,
			  i + 1 == W5_STAGES);
	}
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	weir_actor_ref(&stages[0].actor); /* for the pacer */
	pool_start(pool);
	for (unsigned i = 0; i < W5_STAGES && rc == 0; i++)
		rc = weir_actor_start(&stages[i].actor);
	if (rc < 0)
		return rc;
	w5_pace(w5, put, NULL, &stages[0]);
	rc = weir_in_end(&stages[0].in, NULL);
	weir_actor_unref(&stages[0].actor);
	pool_wait(pool, &waited);
	if (rc == 0)
		rc = pool_close(pool);
	w5_finish(w5, result);
	result->counted = waited.counted;
	result->counters = waited.counters;
	bench_free(pool);
	bench_free(stages);
	return rc;
}

int w5_busy(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(cell, items, W5_BUSY_NS, 0, result);
}

int w5_awake(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run(cell, items, W5_BUSY_NS, AWAKE_NS, result);
}

int w5_parked(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return run(cell, items, W5_PARKED_NS, 0, result);
}
