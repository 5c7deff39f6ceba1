/* SPDX-License-Identifier: BSD-2-Clause */
/* Each call is tried again by itself, later and later; the clock is virtual. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

static struct call {
	const char *name;
	int failures; /* so often it goes wrong */
} calls[] = {{"steady", 0}, {"shaky", 2}, {"broken", 99}};

static int try(void **item, void *context)
{
	(void)context;
	return ((struct call *)*item)->failures-- > 0 ? -EAGAIN : 0;
}

static struct weir_flow *attempt(void *call)
{
	return weir_flow_map(weir_flow_single(call), try, NULL);
}

/* At once, after 100 ms, after 200 ms more; then nothing comes of the call. */
static struct weir_flow *attempts(void *item, void *context)
{
	struct weir_backoff later = {.min_ns = 100 * MS, .max_ns = 800 * MS};
	struct weir_limit twice = {.max = 2};
	struct weir_flow_restart_options options = {.backoff = &later,
						    .limit = &twice};
	struct weir_flow *flow;

	(void)context;
	flow = weir_flow_restart(attempt, &calls[(intptr_t)item], &options);
	return weir_flow_complete_on_error(flow, NULL, NULL);
}

static int print(void *call, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));

	printf("%3d ms: %s\n", (int)(now_ns / MS), ((struct call *)call)->name);
	return 0;
}

int main(void)
{
	struct weir_flow *flow = weir_flow_range(0, 2);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_flat_map(flow, 3, attempts, NULL);
	flow = weir_flow_for_each(flow, print, sim);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
