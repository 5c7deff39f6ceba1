/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growth: what one more costs must not depend on how many there are.
 *
 * workers: W1 on pools with more workers than there are processors.
 *
 * stages: the pipelines of scale length.
 *
 * actors: W3 create with fewer at a time, so often that they are as many.
 *
 * flows: runs of a flow that has emitted one item and waits for an end that
 * does not come by itself; then each is ended.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>

#include <ck_pr.h>

#include "support.h"
#include "pool.h"
#include "who.h"

static int run_workers(unsigned n, const struct bench_cell *cell,
		       uint64_t items, struct bench_result *result)
{
	struct bench_cell crowded = *cell;

	crowded.workers = n;
	return w1_actors(&crowded, items, result);
}

int growth_workers_4(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	return run_workers(4, cell, items, result);
}

int growth_workers_8(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	return run_workers(8, cell, items, result);
}

int growth_workers_16(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_workers(16, cell, items, result);
}

int growth_workers_32(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_workers(32, cell, items, result);
}

int growth_workers_64(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_workers(64, cell, items, result);
}

static int create_by(uint64_t n, const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	uint64_t i, elapsed_ns = 0, count = 0;
	int rc;

	for (i = 0; i < items; i += n) {
		if (n > items - i)
			n = items - i;
		result->count = result->sum = 0;
		rc = w3_create(cell, n, result);
		if (rc < 0)
			return rc;
		if (result->count != n || result->sum != n * (n - 1) / 2)
			return -EIO;
		count += n;
		elapsed_ns += result->elapsed_ns;
	}
	result->elapsed_ns = elapsed_ns;
	result->count = count;
	for (result->sum = 0, i = 0; i < count; i++)
		result->sum += i;
	return 0;
}

int growth_actors_1000(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return create_by(1000, cell, items, result);
}

int growth_actors_1000000(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *result)
{
	return create_by(1000000, cell, items, result);
}

/* --- Flows ---------------------------------------------------------------- */

struct crowd {
	struct pool pool;
	struct weir_flow *flow;
	struct weir_flow_run **runs;
	uint64_t n, arrived;
};

static int arrive(void *item, void *context)
{
	struct crowd *crowd = context;

	if (ck_pr_faa_64(&crowd->arrived, 1) + 1 == crowd->n)
		pool_finished(&crowd->pool);
	return 0;
}

static int same(void **item, void *context)
{
	return 0;
}

/* Fills figures[0], and [2] with the bytes of a run. */
static int start_all(struct crowd *crowd, struct bench_result *result)
{
	uint64_t i, bytes = ck_pr_load_64(&crowd->pool.n_bytes);
	int rc;

	pool_start(&crowd->pool);
	for (i = 0; i < crowd->n; i++) {
		rc = weir_flow_start(crowd->flow, crowd->pool.executor, NULL,
				     &crowd->runs[i]);
		if (rc < 0)
			return rc;
	}
	pool_wait(&crowd->pool, result);
	result->figures[0] = (double)result->elapsed_ns / (double)crowd->n;
	result->figures[2] =
		(double)(ck_pr_load_64(&crowd->pool.n_bytes) - bytes) /
		(double)crowd->n;
	return 0;
}

/* Fills figures[1], and counts those that have completed. */
static int end_all(struct crowd *crowd, struct bench_result *result)
{
	uint64_t i, start_ns = bench_now_ns();
	int rc;

	result->count = result->sum = 0;
	for (i = 0; i < crowd->n; i++)
		weir_flow_run_end(crowd->runs[i]);
	for (i = 0; i < crowd->n; i++) {
		rc = weir_flow_run_wait(crowd->runs[i], WEIR_FOREVER, NULL,
					NULL);
		if (rc < 0)
			return rc;
		weir_flow_run_free(crowd->runs[i]);
		result->sum += result->count++;
	}
	result->figures[1] = (double)(bench_now_ns() - start_ns) /
			     (double)crowd->n;
	return 0;
}

static int run_flows(uint64_t n, const struct bench_cell *cell,
		     struct bench_result *result)
{
	struct crowd *crowd = bench_alloc(sizeof(*crowd));
	int rc = pool_open(&crowd->pool, cell->workers);

	if (rc < 0)
		return rc;
	crowd->n = n;
	crowd->arrived = 0;
	crowd->runs = bench_alloc(n * sizeof(*crowd->runs));
	crowd->flow =
		weir_flow_prepend(weir_flow_never(), weir_flow_range(1, 1));
	crowd->flow = weir_flow_map(crowd->flow, same, NULL);
	crowd->flow = weir_flow_for_each(crowd->flow, arrive, crowd);
	rc = start_all(crowd, result);
	if (rc == 0)
		rc = end_all(crowd, result);
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	weir_flow_free(crowd->flow);
	rc = pool_close(&crowd->pool);
	if (rc == 0 && crowd->arrived != n)
		rc = -EIO;
	bench_free(crowd->runs);
	bench_free(crowd);
	return rc;
}

/* The last of so many runs is what is told of. */
static int run_by(uint64_t n, const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	uint64_t i, count = 0;
	int rc;

	/* what was freed is used again, and not asked of the kernel page by
	 * page in each round */
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);

	for (i = 0; i < items; i += n) {
		if (n > items - i)
			n = items - i;
		rc = run_flows(n, cell, result);
		if (rc < 0)
			return rc;
		if (result->sum != n * (n - 1) / 2)
			return -EIO;
		count += result->count;
	}
	result->count = count;
	for (result->sum = 0, i = 0; i < count; i++)
		result->sum += i;
	return 0;
}

int growth_flows_1000(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_by(1000, cell, items, result);
}

int growth_flows_100000(const struct bench_cell *cell, uint64_t items,
			struct bench_result *result)
{
	return run_by(100000, cell, items, result);
}
