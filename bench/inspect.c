/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to look inside. `trace` runs W1 with and without a flight
 * recorder, and is wrong if an event is lost. `look` takes snapshots of as many
 * actors as the window says, while one of them runs all the time, and is wrong
 * if a snapshot has not seen them all.
 */
#include <errno.h>

#include "histogram.h"
#include "idlers.h"
#include "support.h"
#include "w1.h"
#include "who.h"

#define PAIRS 4 /* of runs, of which the best count */
#define LOOKS 16

/*
 * The least CPU time of a run, with its pool: the clock of a process knows of a
 * thread that runs on another CPU what it knew at the last tick, 4 ms ago, so it
 * is read where the workers are not yet, and no more.
 */
static int run_w1(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result, uint64_t *ns, uint64_t *slices)
{
	uint64_t cpu_ns = bench_cpu_ns();
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, W1_LINKS);

	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc == 0)
		rc = w1_close(&w1);
	cpu_ns = bench_cpu_ns() - cpu_ns;
	if (cpu_ns < *ns)
		*ns = cpu_ns;
	*slices = result->counters.slices;
	return rc;
}

static int run_traced(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result, uint64_t *ns,
		      uint64_t *slices)
{
	struct weir_trace_counts counts;
	struct weir_trace *trace;
	int rc = weir_trace_new(&trace, NULL, NULL);

	if (rc == 0)
		rc = run_w1(cell, items, result, ns, slices);
	if (rc == 0)
		rc = weir_trace_stop(trace);
	if (rc == 0)
		rc = weir_trace_count(trace, &counts);
	if (rc == 0 && (counts.lost || counts.events + 1 < *slices))
		rc = -EIO;
	if (rc == 0)
		weir_trace_free(trace);
	return rc;
}

int inspect_trace(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	uint64_t off = UINT64_MAX, on = UINT64_MAX, slices = 0;
	int rc = 0, i;

	for (i = 0; i < PAIRS && rc == 0; i++) {
		rc = run_w1(cell, items, result, &off, &slices);
		if (rc == 0)
			rc = run_traced(cell, items, result, &on, &slices);
	}
	result->figures[0] = (double)off / (double)items;
	result->figures[1] = (double)on / (double)items;
	result->figures[2] = ((double)on - (double)off) / (double)slices;
	return rc;
}

/* --- Looks ---------------------------------------------------------------- */

/* Runs all the time, and knows how long it did not. */
struct ticker {
	struct weir_actor actor;
	struct histogram gaps;
	uint64_t last_ns;
};

static int tick(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, actor);
	uint64_t now_ns = bench_real_ns();

	if (self->last_ns)
		histogram_add(&self->gaps, now_ns - self->last_ns);
	self->last_ns = now_ns;
	weir_actor_signal(actor);
	return 0;
}

static const struct weir_actor_ops ticker_ops = {.name = "ticker",
						 .signalled = tick};

static int look(struct pool *pool, unsigned n_actors, uint64_t *ns)
{
	struct weir_snapshot *snapshot;
	uint64_t start_ns = bench_real_ns(), took_ns;
	int rc = weir_snapshot_new(&snapshot, &pool->executor, 1, 0);

	took_ns = bench_real_ns() - start_ns;
	if (rc < 0)
		return rc;
	if (took_ns < *ns)
		*ns = took_ns;
	if (snapshot->n_actors != n_actors + 1)
		rc = -EIO;
	weir_snapshot_free(snapshot);
	return rc;
}

int inspect_look(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct ticker *ticker = bench_alloc(sizeof(*ticker));
	uint64_t ns = UINT64_MAX;
	struct idler *idlers;
	struct pool pool;
	int rc = pool_open(&pool, cell->workers), i;

	if (rc == 0)
		rc = idlers_start(&idlers, &pool, cell->window);
	if (rc == 0)
		rc = weir_actor_init(&ticker->actor, &ticker_ops,
				     pool.executor);
	if (rc == 0)
		rc = weir_actor_start(&ticker->actor);
	if (rc < 0)
		return rc;
	weir_actor_signal(&ticker->actor);
	for (i = 0; i < LOOKS && rc == 0; i++)
		rc = look(&pool, cell->window, &ns);
	weir_actor_stop(&ticker->actor);
	if (rc == 0)
		rc = pool_close(&pool);
	if (rc < 0)
		return rc;
	idlers_free(idlers);
	result->elapsed_ns = ns;
	result->count = items;
	result->figures[0] = (double)ns;
	result->figures[1] = (double)ns / cell->window;
	result->figures[2] = histogram_percentile(&ticker->gaps, 0.99);
	bench_free(ticker);
	return 0;
}
