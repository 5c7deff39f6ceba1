/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection is made again, later and later, and then given up. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define SECOND 1000000000ull

static int breaks(void **item, void *context)
{
	(void)context;
	return (intptr_t)*item % 10 > 2 ? -ECONNRESET : 0;
}

/* Ten times its number and 1, 2; then it is broken. */
static struct weir_flow *connect_again(void *context)
{
	int *number = context, ten = 10 * ++*number;

	return weir_flow_map(weir_flow_range(ten + 1, ten + 9), breaks, NULL);
}

static int give_up(struct weir_error *error, void **item, void *context)
{
	(void)context;
	*item = NULL;
	return error->code == -ECONNRESET;
}

static struct weir_flow *received(int *number)
{
	struct weir_backoff later = {.min_ns = SECOND, .max_ns = 8 * SECOND};
	struct weir_limit twice = {.max = 2, .within_ns = 60 * SECOND};
	struct weir_flow_restart_options options = {.backoff = &later,
						    .limit = &twice};
	struct weir_flow *flow;

	flow = weir_flow_restart(connect_again, number, &options);
	return weir_flow_recover(flow, give_up, NULL);
}

static int print(void *item, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));

	printf("%d s: %d\n", (int)(now_ns / SECOND), (int)(intptr_t)item);
	return 0;
}

int main(void)
{
	struct weir_flow *flow;
	struct weir_sim *sim;
	int number = 0, rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_for_each(received(&number), print, sim);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
