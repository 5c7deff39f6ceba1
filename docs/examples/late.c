/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each question has a time of its own in which it is answered; on the
 * simulator, whose clock is virtual.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

/* Somebody who answers `n` after n * 100 ms. */
static struct weir_flow *answer(void *item)
{
	uint64_t ns = (uint64_t)(uintptr_t)item * 100 * MS;

	return weir_flow_delay(weir_flow_single(item), ns, 1);
}

static int too_late(struct weir_error *error, void **item, void *context)
{
	(void)context;
	*item = NULL;
	return error->code == -ETIMEDOUT;
}

static struct weir_flow *ask(void *item, void *context)
{
	struct weir_flow *flow = answer(item);

	(void)context;
	flow = weir_flow_completion_timeout(flow, 250 * MS);
	return weir_flow_recover(flow, too_late, NULL);
}

static int print(void *item, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));

	printf("%3d ms: ", (int)(now_ns / MS));
	if (item)
		printf("%d\n", (int)(intptr_t)item);
	else
		printf("too late\n");
	return 0;
}

int main(void)
{
	struct weir_flow *flow = weir_flow_range(1, 4);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_flat_map(flow, 1, ask, NULL);
	flow = weir_flow_for_each(flow, print, sim);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
