/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest sum of 4 numbers in a row, of which each second one begins. */
#include <stdio.h>
#include <weir/weir.h>

#define N 4
#define SKIP 2
#define AT_ONCE ((N + SKIP - 1) / SKIP)

static int add(void **result, void *item, void *context)
{
	(void)context;
	*result = (void *)((uintptr_t)*result + (uintptr_t)item);
	return 0;
}

static int larger(void **result, void *item, void *context)
{
	(void)context;
	if ((uintptr_t)item > (uintptr_t)*result)
		*result = item;
	return 0;
}

static struct weir_flow *sum(struct weir_flow *upstream, void *context)
{
	const struct weir_flow_fold_functions adding = {.fold = add};

	(void)context;
	return weir_flow_fold(weir_flow_take(upstream, N), &adding, NULL);
}

/* Each outlet has the windows that do not overlap. */
static struct weir_flow *sums(struct weir_flow *flow)
{
	const struct weir_flow_window_options next = {.n = AT_ONCE * SKIP};
	struct weir_flow *outlets[AT_ONCE];
	size_t i;

	(void)weir_flow_broadcast(flow, AT_ONCE, outlets, NULL);
	for (i = 0; i < AT_ONCE; i++) {
		outlets[i] = weir_flow_drop(outlets[i], i * SKIP);
		outlets[i] = weir_flow_window(outlets[i], &next, sum, NULL);
	}
	return weir_flow_merge(outlets, AT_ONCE);
}

int main(void)
{
	static const uintptr_t numbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
	void *items[10], *largest = NULL;
	struct weir_threads *threads;
	struct weir_flow *flow;
	size_t i;
	int rc;

	for (i = 0; i < 10; i++)
		items[i] = (void *)numbers[i];
	if (weir_threads_new(&threads, NULL) < 0)
		return 1;
	flow = weir_flow_reduce(sums(weir_flow_array(items, 10)), larger, NULL);
	rc = weir_flow_run(flow, weir_threads_executor(threads), &largest);
	weir_flow_free(flow);
	printf("%zu\n", (size_t)largest);
	return weir_threads_free(threads) < 0 || rc < 0;
}
