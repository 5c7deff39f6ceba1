/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow that stands still, looked at on the simulator: when nothing is left to
 * do, that says so, and hooks have counted what has gone by where.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

static void count(void *item, void *n)
{
	(void)item;
	++*(size_t *)n;
}

/* The second is asked when the first has ended, which waits for the second. */
static struct weir_flow *stands(size_t counts[2])
{
	struct weir_flow_peek_functions hooks = {.item = count};
	struct weir_flow *ways[2];

	(void)weir_flow_broadcast(weir_flow_range(1, 1000), 2, ways, NULL);
	ways[0] = weir_flow_peek(ways[0], &hooks, &counts[0]);
	ways[1] = weir_flow_peek(ways[1], &hooks, &counts[1]);
	return weir_flow_count(weir_flow_concat(ways, 2));
}

int main(void)
{
	size_t counts[2] = {0, 0};
	struct weir_flow *flow = stands(counts);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	if (rc == -EDEADLK)
		printf("It stands still: way %d holds up the other.\n",
		       counts[0] < counts[1] ? 0 : 1);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc != -EDEADLK;
}
