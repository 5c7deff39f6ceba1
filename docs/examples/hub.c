/* SPDX-License-Identifier: BSD-2-Clause */
/* Two flows, each with a run of its own, get all that a third one makes. */
#include <stdio.h>
#include <weir/weir.h>

static int print(void *item, void *context)
{
	printf("%s %d\n", (const char *)context, (int)(intptr_t)item);
	return 0;
}

int main(void)
{
	const struct weir_hub_options options = {.connect_after = 2};
	struct weir_flow *flows[3];
	struct weir_hub *hub;
	struct weir_sim *sim;
	char one[] = "one", two[] = "two";
	int rc = 0, i;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_hub_new(&hub, NULL, &options, NULL) < 0)
		return 1;
	flows[0] = weir_flow_into_hub(weir_flow_range(1, 3), hub);
	flows[1] = weir_flow_for_each(weir_flow_from_hub(hub), print, one);
	flows[2] = weir_flow_for_each(weir_flow_from_hub(hub), print, two);
	for (i = 0; rc == 0 && i < 3; i++)
		rc = weir_flow_start(flows[i], weir_sim_executor(sim), NULL,
				     NULL);
	weir_sim_run(sim);
	for (i = 0; i < 3; i++)
		weir_flow_free(flows[i]);
	return weir_sim_free(sim) < 0 || weir_hub_free(hub) < 0 || rc < 0;
}
