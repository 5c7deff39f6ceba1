/* SPDX-License-Identifier: BSD-2-Clause */
/* An item that fails and one that hangs are left out; the clock is virtual. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define SECOND 1000000000ull

static struct job {
	const char *name;
	int seconds, code; /* it takes so long, then fails */
} jobs[] = {{"a", 1, 0}, {"b", 1, -EINVAL}, {"c", 99, 0}, {"d", 1, 0}};

static int work(void **job, void *context)
{
	(void)context;
	return ((struct job *)*job)->code;
}

static bool put_aside(struct weir_error *error, void *job)
{
	printf("%s: %s\n", ((struct job *)job)->name, error->message);
	return true;
}

/* A flow for one item, whose error is no error of the others. */
static struct weir_flow *alone(void *item, void *context)
{
	struct job *job = &jobs[(intptr_t)item];
	struct weir_flow *flow = weir_flow_single(job);

	(void)context;
	flow = weir_flow_delay(flow, (uint64_t)job->seconds * SECOND, 1);
	flow = weir_flow_map(flow, work, NULL);
	flow = weir_flow_completion_timeout(flow, 5 * SECOND);
	return weir_flow_complete_on_error(flow, put_aside, job);
}

static int print(void *job, void *context)
{
	(void)context;
	printf("%s: done\n", ((struct job *)job)->name);
	return 0;
}

int main(void)
{
	struct weir_flow *flow = weir_flow_range(0, 3);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_flat_map(flow, 1, alone, NULL);
	flow = weir_flow_for_each(flow, print, NULL);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
