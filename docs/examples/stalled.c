/* SPDX-License-Identifier: BSD-2-Clause */
/* stalled [--inspect]: a flow that stands still, and what says why. */
#include <stdio.h>
#include <weir/weir.h>

#include "progress.h"

/* Three lines say who holds whom up. */
static void say_why(struct weir_executor *executor)
{
	struct weir_snapshot *snapshot;
	char text[512];

	if (weir_snapshot_new(&snapshot, &executor, 1, 1000000) < 0)
		return;
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	printf("%s", text);
	weir_snapshot_free(snapshot);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_executor *executor;
	struct weir_semaphore permits;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	executor = weir_sim_executor(sim);
	flow = weir_flow_async(flow, 16, NULL);
	/* nobody gives a permit back */
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	if (weir_flow_start(flow, executor, NULL, &run) < 0)
		return 1;
	weir_sim_run(sim);
	say_why(executor);
	/* it can be asked until its input ends */
	if (look_inside(&argc, argv))
		(void)getchar();

	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return weir_semaphore_fini(&permits) < 0 || weir_sim_free(sim) < 0;
}
