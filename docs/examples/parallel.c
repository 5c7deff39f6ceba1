/* SPDX-License-Identifier: BSD-2-Clause */
/* Four calls at once, whose results are in order; a flow for each of those. */
#include <stdio.h>
#include <weir/weir.h>

/* How many steps it takes until a number has become 1. */
static int collatz(void **item, void *context)
{
	uintptr_t x = (uintptr_t)*item, steps = 0;

	(void)context;
	for (; x != 1; steps++)
		x = x % 2 ? 3 * x + 1 : x / 2;
	*item = (void *)steps;
	return 0;
}

static struct weir_flow *and_next(void *item, void *context)
{
	intptr_t n = (intptr_t)item;

	(void)context;
	return weir_flow_range(n, n + 1);
}

static struct weir_flow *steps(void)
{
	struct weir_flow *flow = weir_flow_range(5, 10);

	flow = weir_flow_map_parallel(flow, 4, WEIR_ORDER_KEPT, collatz, NULL,
				      NULL);
	flow = weir_flow_flat_map(flow, 1, and_next, NULL);
	return weir_flow_collect(flow, 1000);
}

static void print(const struct weir_flow_list *list)
{
	size_t i;

	for (i = 0; list && i < list->n; i++)
		printf("%d ", (int)(intptr_t)list->items[i]);
	printf("\n");
}

int main(void)
{
	struct weir_flow *flow = steps();
	struct weir_threads *threads;
	void *list = NULL;
	int rc;

	if (weir_threads_new(&threads, NULL) < 0)
		return 1;
	rc = weir_flow_run(flow, weir_threads_executor(threads), &list);
	print(list);
	weir_flow_list_free(list);
	weir_flow_free(flow);
	return weir_threads_free(threads) < 0 || rc < 0;
}
