/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W11: what a short flow costs beside its items. Ten of them through five
 * operators, run to the end by the thread that owns the loop, again and again:
 * `weir`, of a blueprint that is there; `weir.composed`, with composing and
 * freeing it; `weir.one`, with a boundary in the middle.
 */
#include <weir/weir.h>

#include "support.h"
#include "who.h"

static int add_one(void **item, void *context)
{
	*item = (void *)((uintptr_t)*item + 1);
	return 0;
}

static int is_odd(void *item, void *context)
{
	return (uintptr_t)item % 2 == 1;
}

static int add(void **result, void *item, void *context)
{
	*result = (void *)((uintptr_t)*result + (uintptr_t)item);
	return 0;
}

static struct weir_flow *compose(bool cut)
{
	static const struct weir_flow_fold_functions adding = {.fold = add};
	struct weir_flow *flow = weir_flow_range(1, 10);

	flow = weir_flow_map(flow, add_one, NULL);
	if (cut)
		flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_filter(flow, is_odd, NULL);
	flow = weir_flow_map(flow, add_one, NULL);
	return weir_flow_fold(flow, &adding, NULL);
}

static int run(struct weir_flow *flow, struct weir_executor *executor,
	       struct bench_result *result)
{
	void *sum;
	int rc = weir_flow_run(flow, executor, &sum);

	if (rc < 0)
		return rc;
	result->count++;
	result->sum += (uintptr_t)sum;
	result->last = (uintptr_t)sum;
	return 0;
}

static int run_all(struct weir_executor *executor, uint64_t items, bool cut,
		   bool composed, struct bench_result *result)
{
	struct weir_flow *flow = composed ? NULL : compose(cut), *each;
	int rc = 0;

	*result = (struct bench_result){.elapsed_ns = bench_now_ns()};
	for (uint64_t i = 0; i < items && rc == 0; i++) {
		each = composed ? compose(cut) : flow;
		rc = run(each, executor, result);
		if (composed)
			weir_flow_free(each);
	}
	result->elapsed_ns = bench_now_ns() - result->elapsed_ns;
	weir_flow_free(flow);
	return rc;
}

static int on_a_loop(uint64_t items, bool cut, bool composed,
		     struct bench_result *result)
{
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0)
		return rc;
	rc = run_all(weir_loop_executor(loop), items, cut, composed, result);
	return rc < 0 ? rc : weir_loop_free(loop);
}

int w11_runs(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return on_a_loop(items, false, false, result);
}

int w11_runs_composed(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return on_a_loop(items, false, true, result);
}

int w11_runs_one(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return on_a_loop(items, true, false, result);
}
