/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in each minute, and bursts of calls; on the simulator, whose clock is
 * virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

#define S 1000000000ull

static int print(void *n, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));

	printf("%3d s: %zu\n", (int)(now_ns / S), (size_t)n);
	return 0;
}

/* Three at once, and one each 25 s. */
static struct weir_flow *calls(void)
{
	struct weir_flow_rate rate = {.n = 1, .per_ns = 25 * S, .burst = 3};

	return weir_flow_throttle(weir_flow_range(1, 8), &rate);
}

static struct weir_flow *count(struct weir_flow *upstream, void *context)
{
	(void)context;
	return weir_flow_count(upstream);
}

int main(void)
{
	const struct weir_flow_window_options burst = {.quiet_ns = 10 * S};
	struct weir_flow *flows[2], *minutes;
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	minutes = weir_flow_tick(60 * S, 60 * S, NULL);
	flows[0] = weir_flow_window_by(calls(), minutes, count, NULL);
	flows[1] = weir_flow_window(calls(), &burst, count, NULL);
	flows[1] = weir_flow_lazy(flows[1]);
	flows[0] = weir_flow_concat(flows, 2);
	flows[0] = weir_flow_for_each(flows[0], print, sim);
	rc = weir_flow_run(flows[0], weir_sim_executor(sim), NULL);
	weir_flow_free(flows[0]);
	return weir_sim_free(sim) < 0 || rc < 0;
}
