/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory: the most that the library had allocated at any time for the pipeline
 * of W1, without the pool's own, beside the slots that its in-ports must have.
 * It is wrong if anything is allocated while tokens run, or if ten times as
 * many tokens need more.
 */
#include <errno.h>
#include <stdio.h>

#include "support.h"
#include "w1.h"
#include "who.h"

static int run_once(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result, uint64_t *peak)
{
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, W1_LINKS);

	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc < 0)
		return rc;
	*peak = w1.pool->peak_bytes - w1.pool->own_bytes;
	return w1_close(&w1);
}

int memory_pipeline(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result)
{
	uint64_t slots = (uint64_t)(cell->stages + 1) * cell->window;
	uint64_t peak = 0, peak_of_few = 0;
	int rc = run_once(cell, items / 10, result, &peak_of_few);

	if (rc == 0)
		rc = run_once(cell, items, result, &peak);
	if (rc < 0)
		return rc;
	if (peak != peak_of_few || result->counters.allocations > 0) {
		fprintf(stderr,
			"weir-bench: memory: %llu bytes, %llu for fewer "
			"tokens, %llu allocations meanwhile\n",
			(unsigned long long)peak,
			(unsigned long long)peak_of_few,
			(unsigned long long)result->counters.allocations);
		return -EOVERFLOW;
	}
	result->figures[0] = (double)peak;
	result->figures[1] = (double)(slots * sizeof(void *));
	result->figures[2] = result->figures[0] / result->figures[1];
	return 0;
}
