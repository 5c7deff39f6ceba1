/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sensor is on while anybody wants to know, and all who do get the same; on
 * the simulator, whose clock is virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

static int on(void **resource, void *context)
{
	(void)context;
	printf("on\n");
	*resource = NULL;
	return 0;
}

static int measure(void *resource, void **item, void *context)
{
	int *value = context;

	(void)resource;
	*item = (void *)(intptr_t)++ * value;
	return 1;
}

static void off(void *resource, void *context)
{
	(void)resource;
	(void)context;
	printf("off\n");
}

static int print(void *item, void *name)
{
	printf("%s %d\n", (const char *)name, (int)(intptr_t)item);
	return 0;
}

static struct weir_flow *sensor(int *value)
{
	struct weir_flow_resource_functions functions = {on, measure, off};
	struct weir_flow_rate each_second = {
		.n = 1, .per_ns = 1000000000, .burst = WEIR_FLOW_NO_BURST};
	struct weir_flow *flow = weir_flow_resource(&functions, value);

	return weir_flow_throttle(flow, &each_second);
}

/* Somebody who wants to know `n` values. */
static struct weir_flow *reader(struct weir_flow_share *share, char *name,
				int64_t n)
{
	struct weir_flow *flow = weir_flow_take(weir_flow_from_share(share), n);

	return weir_flow_for_each(flow, print, name);
}

int main(void)
{
	char names[3][8] = {"first", "second", "late"};
	struct weir_flow_share *share;
	struct weir_flow *flows[3];
	struct weir_executor *executor;
	struct weir_sim *sim;
	int value = 0, rc, i;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	executor = weir_sim_executor(sim);
	rc = weir_flow_share_new(&share, sensor(&value), executor, NULL);
	for (i = 0; i < 3 && rc == 0; i++) {
		flows[i] = reader(share, names[i], 3 - i);
		rc = weir_flow_start(flows[i], executor, NULL, NULL);
		if (i > 0)
			weir_sim_run(sim); /* the late one comes behind these */
	}
	while (i > 0)
		weir_flow_free(flows[--i]);
	weir_flow_share_free(share);
	return weir_sim_free(sim) < 0 || rc < 0;
}
