/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <weir/weir.h>

static int square(void **item, void *context)
{
	intptr_t x = (intptr_t)*item;

	(void)context;
	*item = (void *)(x * x);
	return 0;
}

static int add(void **sum, void *item, void *context)
{
	(void)context;
	*sum = (void *)((intptr_t)*sum + (intptr_t)item);
	return 0;
}

int main(void)
{
	struct weir_flow_fold_functions adding = {.fold = add};
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_loop *loop;
	void *sum = NULL;
	int rc = weir_loop_new(&loop, NULL);

	flow = weir_flow_map(flow, square, NULL);
	flow = weir_flow_async(flow, 64, NULL);
	flow = weir_flow_fold(flow, &adding, NULL);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), &sum);
	if (rc == 0)
		printf("%td\n", (intptr_t)sum);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
