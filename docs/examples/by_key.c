/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each user may do one thing in 100 ms, whatever the others do; on the
 * simulator, whose clock is virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull
#define USERS 1000

static int user(void *item, uintptr_t *key, void *context)
{
	(void)context;
	*key = *(const unsigned char *)item; /* the first letter */
	return 0;
}

static struct weir_flow *limited(struct weir_flow *upstream, uintptr_t key,
				 void *context)
{
	struct weir_flow_rate rate = {.n = 1, .per_ns = 100 * MS};

	(void)key;
	(void)context;
	return weir_flow_throttle(upstream, &rate);
}

static int print(void *item, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));

	printf("%3d ms: %s\n", (int)(now_ns / MS), (const char *)item);
	return 0;
}

int main(void)
{
	static const char *const requests[] = {"anna 1", "anna 2", "anna 3",
					       "ben 1",	 "anna 4", "ben 2"};
	struct weir_flow *flow = weir_flow_array((void *const *)requests, 6);
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_group_by(flow, USERS, user, limited, NULL, NULL);
	flow = weir_flow_for_each(flow, print, sim);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
