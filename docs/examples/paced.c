/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items at a pace, in groups of which none waits for long; on the simulator,
 * whose clock is virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

static int print(void *item, void *sim)
{
	struct weir_flow_list *group = item;
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));
	size_t i;

	printf("%3d ms:", (int)(now_ns / MS));
	for (i = 0; i < group->n; i++)
		printf(" %d", (int)(intptr_t)group->items[i]);
	printf("\n");
	weir_flow_list_free(group);
	return 0;
}

/* One in 100 ms, in groups of 3, or of what has come in 250 ms. */
static struct weir_flow *paced(struct weir_flow *flow)
{
	struct weir_flow_rate rate = {.n = 1, .per_ns = 100 * MS, .burst = 4};

	flow = weir_flow_throttle(flow, &rate);
	return weir_flow_grouped_within(flow, 3, 250 * MS);
}

int main(void)
{
	struct weir_flow *flow = paced(weir_flow_range(1, 10));
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_for_each(flow, print, sim);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
