/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows: what is composed runs as often as one likes, in one actor where
 * nothing says otherwise, and in several where there is a boundary.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

static int square(void **item, void *context)
{
	intptr_t x = (intptr_t)*item;

	(void)context;
	if (x == 13)
		return -EDOM; /* bad luck */
	*item = (void *)(x * x);
	return 0;
}

static int is_odd(void *item, void *context)
{
	(void)context;
	return (intptr_t)item % 2;
}

static int add(void **sum, void *item, void *context)
{
	(void)context;
	*sum = (void *)((intptr_t)*sum + (intptr_t)item);
	return 0;
}

static enum weir_directive leave_out(struct weir_error *error, void *context)
{
	(void)context;
	printf("left out: %s: %s\n", error->origin, error->message);
	return WEIR_DIRECTIVE_RESUME;
}

/* The sum of the odd squares up to `last`, but for what fails. */
static struct weir_flow *odd_squares(int64_t last)
{
	struct weir_flow_fold_functions sum = {.fold = add};
	struct weir_flow *flow = weir_flow_range(1, last);

	flow = weir_flow_name(weir_flow_map(flow, square, NULL), "square");
	flow = weir_flow_supervise(flow, leave_out, NULL);
	flow = weir_flow_async(flow, 64, NULL);
	flow = weir_flow_filter(flow, is_odd, NULL);
	return weir_flow_fold(flow, &sum, NULL);
}

int main(void)
{
	struct weir_flow *flow = odd_squares(20);
	struct weir_threads *threads;
	void *sum = NULL;
	int rc, i;

	if (weir_threads_new(&threads, NULL) < 0)
		return 1;
	for (i = 0, rc = 0; i < 2 && rc == 0; i++) {
		rc = weir_flow_run(flow, weir_threads_executor(threads), &sum);
		printf("%s, %d\n", rc == 0 ? "well" : "failed",
		       (int)(intptr_t)sum);
	}
	weir_flow_free(flow);
	return weir_threads_free(threads) < 0 || rc < 0;
}
