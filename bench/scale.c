/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scale: what a token costs must not depend on how much there is beside.
 *
 * beside: the pipeline of W1 with 10, 1,000 or 100,000 actors on the same pool
 * that have nothing to do.
 *
 * length: a pipeline of 8 to 10,000 stages, producer and consumer among them. An
 * item is a token through one stage, so that the rates can be compared.
 */
#include "idlers.h"
#include "support.h"
#include "w1.h"
#include "who.h"

static int run_beside(const struct bench_cell *cell, uint64_t items,
		      unsigned n_idlers, struct bench_result *result)
{
	struct idler *idlers;
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, W1_LINKS);

	if (rc == 0)
		rc = idlers_start(&idlers, w1.pool, n_idlers);
	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc == 0)
		rc = w1_close(&w1);
	if (rc == 0)
		idlers_free(idlers);
	return rc;
}

int scale_beside_10(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result)
{
	return run_beside(cell, items, 10, result);
}

int scale_beside_1000(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_beside(cell, items, 1000, result);
}

int scale_beside_100000(const struct bench_cell *cell, uint64_t items,
			struct bench_result *result)
{
	return run_beside(cell, items, 100000, result);
}

static int run_length(const struct bench_cell *cell, uint64_t items,
		      unsigned n_stages, struct bench_result *result)
{
	struct bench_cell long_cell = *cell;
	uint64_t n = items / n_stages; /* 0 .. n - 1 */
	struct w1 w1;
	int rc;

	long_cell.stages = n_stages - 2;
	rc = w1_open(&w1, &long_cell, n, W1_LINKS);
	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc < 0)
		return rc;
	result->bytes = (w1.pool->peak_bytes - w1.pool->own_bytes) / n_stages;
	rc = w1_close(&w1);
	/* Through how many stages, as told by how often a token was increased:
	 * the same for all lengths. */
	result->count *= n_stages;
	result->sum += 2 * n;
	result->sum -= n * (n - 1) / 2;
	result->last -= n - 1 + long_cell.stages;
	return rc;
}

int scale_length_8(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return run_length(cell, items, 8, result);
}

int scale_length_100(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	return run_length(cell, items, 100, result);
}

int scale_length_1000(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return run_length(cell, items, 1000, result);
}

int scale_length_10000(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return run_length(cell, items, 10000, result);
}
