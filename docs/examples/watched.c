/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow that stalls, and a sampler that tells of it. */
#include <stdio.h>
#include <weir/weir.h>

#define MS UINT64_C(1000000)

/* What has not moved for a second is told, once. */
static void tell(const struct weir_snapshot *snapshot, void *context)
{
	char text[512];

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	fputs(text, context);
}

/* What each actor has done in the last second. */
static void tell_shares(struct weir_sampler *sampler)
{
	const struct weir_seen_actor *actor;
	struct weir_snapshot *snapshot;
	size_t i;

	if (weir_sampler_snapshot(sampler, &snapshot) < 0)
		return;
	for (i = 0; i < snapshot->n_actors; i++) {
		actor = &snapshot->actors[i];
		printf("%s: %u busy, %u held, %u idle, %u blocked\n",
		       actor->name, actor->busy, actor->held, actor->idle,
		       actor->blocked);
	}
	weir_snapshot_free(snapshot);
}

int main(void)
{
	const struct weir_sampler_options options = {
		.by_hand = true, /* a simulator has no threads */
		.stall_ns = 1000 * MS,
		.on_stall = tell,
		.context = stdout,
	};
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_sampler *sampler;
	struct weir_executor *executor;
	struct weir_semaphore permits;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	uint64_t ms;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	executor = weir_sim_executor(sim);
	flow = weir_flow_async(flow, 16, NULL);
	/* nobody gives a permit back */
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	if (weir_sampler_new(&sampler, &executor, 1, &options) < 0 ||
	    weir_flow_start(flow, executor, NULL, &run) < 0)
		return 1;
	for (ms = 0; ms <= 3000; ms += 10) {
		weir_sim_run_until(sim, ms * MS, UINT64_MAX);
		if (weir_sampler_step(sampler) < 0)
			return 1;
	}
	tell_shares(sampler);

	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return weir_sampler_free(sampler) < 0 ||
	       weir_semaphore_fini(&permits) < 0 || weir_sim_free(sim) < 0;
}
