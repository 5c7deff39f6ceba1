/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread offers items to a flow, and takes what that has made of them. */
#include <stdio.h>
#include <weir/weir.h>

static int square(void **item, void *context)
{
	intptr_t x = (intptr_t)*item;

	(void)context;
	*item = (void *)(x * x);
	return 0;
}

static struct weir_flow *squares(struct weir_flow_queue *queue,
				 struct weir_channel *channel)
{
	struct weir_flow *flow = weir_flow_from_queue(queue);

	flow = weir_flow_map(flow, square, NULL);
	return weir_flow_into_channel(flow, channel);
}

int main(void)
{
	struct weir_flow_queue *queue;
	struct weir_channel *channel;
	struct weir_threads *threads;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	void *item;
	int rc, i;

	if (weir_flow_queue_new(&queue, 8, WEIR_OVERFLOW_BACK_PRESSURE, NULL) <
		    0 ||
	    weir_channel_new(&channel, 8, NULL, NULL) < 0 ||
	    weir_threads_new(&threads, NULL) < 0)
		return 1;
	flow = squares(queue, channel);
	rc = weir_flow_start(flow, weir_threads_executor(threads), NULL, &run);
	for (i = 1; i <= 5 && rc == 0; i++)
		rc = weir_flow_queue_offer(queue, (void *)(intptr_t)i);
	weir_flow_queue_free(queue); /* which closes it */
	while (rc == 0 &&
	       weir_channel_take_wait(channel, &item, WEIR_FOREVER) == 0)
		printf("%d\n", (int)(intptr_t)item);
	if (run && weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL) < 0)
		rc = -1;
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return weir_channel_free(channel) < 0 ||
	       weir_threads_free(threads) < 0 || rc < 0;
}
