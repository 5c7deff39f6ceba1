/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of two outlets one is slow, and does not slow the other: a buffer behind it
 * drops the oldest items. On the simulator, whose clock is virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

struct outlet {
	struct weir_sim *sim;
	const char *name;
};

static int print(void *item, void *context)
{
	const struct outlet *self = context;
	uint64_t now_ns = weir_executor_now(weir_sim_executor(self->sim));

	printf("%4d ms: %s %d\n", (int)(now_ns / MS), self->name,
	       (int)(intptr_t)item);
	return 0;
}

/* One item in so long, each. */
static struct weir_flow *paced(struct weir_flow *flow, uint64_t ns)
{
	struct weir_flow_rate rate = {
		.n = 1, .per_ns = ns, .burst = WEIR_FLOW_NO_BURST};

	return weir_flow_throttle(flow, &rate);
}

static struct weir_flow *both(struct outlet *fast, struct outlet *slow)
{
	struct weir_flow *flow = paced(weir_flow_range(1, 8), 100 * MS);
	struct weir_flow *ways[2];

	(void)weir_flow_broadcast(flow, 2, ways, NULL);
	ways[0] = weir_flow_for_each(ways[0], print, fast);
	ways[1] = weir_flow_buffer(ways[1], 2, WEIR_OVERFLOW_DROP_HEAD);
	ways[1] = weir_flow_for_each(paced(ways[1], 350 * MS), print, slow);
	return weir_flow_all(ways, 2);
}

int main(void)
{
	struct outlet fast = {.name = "fast"}, slow = {.name = "slow"};
	struct weir_flow *flow = both(&fast, &slow);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	fast.sim = slow.sim = sim;
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
