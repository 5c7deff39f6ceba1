/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W1 with flows: a range, x + 1 for each transformer, and a sum. The styles
 * differ in where the flow is cut: `flow-fused` nowhere, `flow-one` in the
 * middle, `flow-async` between all stages, with links of the cell's window.
 * What transforms is called for each item, or for arrays of them; both ends work
 * on arrays, as in the limits they are no calls.
 */
#include <errno.h>

#include "support.h"
#include "who.h"

#include "pool.h"

enum cut { NOWHERE, MIDDLE, EVERYWHERE };

struct sum {
	struct bench_result got;
	struct pool *pool;
};

static inline int add_one(void **item, void *context)
{
	*item = (void *)((uintptr_t)*item + 1);
	return 0;
}
WEIR_FLOW_MAP(add_one)

static int count_n(void *const *items, size_t n, size_t *done, void *context)
{
	struct sum *sum = context;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < n; i++)
		all += (uintptr_t)items[i];
	sum->got.count += n;
	sum->got.sum += all;
	sum->got.last = (uintptr_t)items[n - 1];
	return 0;
}

static void done(struct weir_error *error, void *result, void *context)
{
	struct sum *sum = context;

	pool_finished(sum->pool);
}

static bool cut_behind(enum cut cut, unsigned stage,
		       const struct bench_cell *cell)
{
	return cut == EVERYWHERE ||
	       (cut == MIDDLE && stage == bench_middle(cell));
}

/* Read at run time, so that the calls stay calls. */
static int (*volatile one)(void **, void *) = add_one;
static int (*volatile many)(void **, size_t, size_t *, void *) = add_one_n;

static struct weir_flow *compose(const struct bench_cell *cell, uint64_t items,
				 enum cut cut, bool arrays, struct sum *sum)
{
	struct weir_flow *flow = weir_flow_range(0, (int64_t)items - 1);
	unsigned i;

	for (i = 0; i <= cell->stages; i++) {
		if (i > 0)
			flow = arrays ? weir_flow_map_n(flow, many, NULL)
				      : weir_flow_map(flow, one, NULL);
		if (cut_behind(cut, i, cell))
			flow = weir_flow_async(flow, cell->window, NULL);
	}
	return weir_flow_for_each_n(flow, count_n, sum);
}

static int run(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result, enum cut cut, bool arrays)
{
	struct pool *pool = bench_alloc(sizeof(*pool));
	struct sum *sum = bench_alloc(sizeof(*sum));
	struct weir_flow *flow = compose(cell, items, cut, arrays, sum);
	struct weir_flow_run_options options = {.done = done, .context = sum};
	int rc = pool_open(pool, cell->workers);

	if (rc < 0)
		return rc;
	sum->pool = pool;
	pool_start(pool);
	rc = weir_flow_start(flow, pool->executor, &options, NULL);
	if (rc < 0)
		return rc;
	*result = (struct bench_result){0};
	pool_wait(pool, result);
	result->count = sum->got.count;
	result->sum = sum->got.sum;
	result->last = sum->got.last;
	rc = pool_close(pool);
	weir_flow_free(flow);
	bench_free(pool);
	bench_free(sum);
	return rc;
}

int w1_flow_fused(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	return run(cell, items, result, NOWHERE, false);
}

int w1_flow_fused_arrays(const struct bench_cell *cell, uint64_t items,
			 struct bench_result *result)
{
	return run(cell, items, result, NOWHERE, true);
}

int w1_flow_one(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	return run(cell, items, result, MIDDLE, false);
}

int w1_flow_one_arrays(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return run(cell, items, result, MIDDLE, true);
}

int w1_flow_async(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	return run(cell, items, result, EVERYWHERE, false);
}

int w1_flow_async_arrays(const struct bench_cell *cell, uint64_t items,
			 struct bench_result *result)
{
	return run(cell, items, result, EVERYWHERE, true);
}
