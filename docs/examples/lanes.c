/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two lanes into one flow: while both have items, three urgent ones are taken
 * for each routine one, so that neither lane waits for ever.
 */
#include <stdio.h>
#include <weir/weir.h>

#define JOBS 4

static const uint32_t weights[] = {3, 1};

static struct weir_flow *lanes(struct weir_flow_queue *queues[2])
{
	struct weir_flow *flows[] = {weir_flow_from_queue(queues[0]),
				     weir_flow_from_queue(queues[1])};

	return weir_flow_merge_prioritized(flows, 2, weights);
}

static int print(void *item, void *context)
{
	(void)context;
	printf("%s\n", (const char *)item);
	return 0;
}

int main(void)
{
	char names[][8] = {"urgent", "routine"};
	struct weir_flow_queue *queues[2];
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL), i, j;

	for (i = 0; i < 2 && rc == 0; i++) {
		rc = weir_flow_queue_new(&queues[i], JOBS,
					 WEIR_OVERFLOW_BACK_PRESSURE, NULL);
		for (j = 0; j < JOBS && rc == 0; j++)
			rc = weir_flow_queue_offer(queues[i], names[i]);
	}
	if (rc < 0)
		return 1;
	flow = weir_flow_for_each(lanes(queues), print, NULL);
	for (i = 0; i < 2; i++)
		weir_flow_queue_free(queues[i]); /* which closes it */
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
