/* SPDX-License-Identifier: BSD-2-Clause */
/* What a function makes of a state, two ways that come together again. */
#include <stdio.h>
#include <weir/weir.h>

/* 1, 3, 6, 10, ...: the state counts the steps. */
static int next_triangle(void **state, void **item, void *context)
{
	intptr_t n = (intptr_t)*state + 1;

	(void)context;
	*state = (void *)n;
	*item = (void *)(n * (n + 1) / 2);
	return 1;
}

/* The state is the item before, at first 0. */
static int differ(void **state, void **item, void *context)
{
	intptr_t now = (intptr_t)*item;

	(void)context;
	*item = (void *)(now - (intptr_t)*state);
	*state = (void *)now;
	return 1;
}

static int print(void *const *items, size_t n, void **result, void *context)
{
	(void)n;
	(void)context;
	printf("%td, by %td\n", (intptr_t)items[0], (intptr_t)items[1]);
	*result = NULL;
	return 0;
}

static struct weir_flow *triangles(int64_t n)
{
	struct weir_flow_stateful_map_functions differences = {.step = differ};
	struct weir_flow *flow = weir_flow_unfold(NULL, next_triangle, NULL);
	struct weir_flow *ways[2];

	flow = weir_flow_take(flow, n);
	(void)weir_flow_broadcast(flow, 2, ways, NULL);
	ways[1] = weir_flow_stateful_map(ways[1], &differences, NULL);
	flow = weir_flow_zip(ways, 2, print, NULL);
	return weir_flow_count(flow);
}

int main(void)
{
	struct weir_flow *flow = triangles(5);
	struct weir_loop *loop;
	void *n = NULL;
	int rc = weir_loop_new(&loop, NULL);

	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), &n);
	printf("%zu of them\n", (size_t)n);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
