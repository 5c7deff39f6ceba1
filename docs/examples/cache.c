/* SPDX-License-Identifier: BSD-2-Clause */
/* What one run has made is kept, and given to each that comes later. */
#include <stdio.h>
#include <weir/weir.h>

static int square(void **item, void *context)
{
	intptr_t n = (intptr_t)*item;

	(void)context;
	printf("%d squared\n", (int)n);
	*item = (void *)(n * n);
	return 0;
}

static int print(void *item, void *name)
{
	printf("%s %d\n", (const char *)name, (int)(intptr_t)item);
	return 0;
}

/* Somebody who wants the squares. */
static int read_all(struct weir_hub *cache, struct weir_loop *loop, char *name)
{
	struct weir_flow *flow = weir_flow_from_hub(cache);
	int rc;

	flow = weir_flow_for_each(flow, print, name);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return rc;
}

int main(void)
{
	const struct weir_hub_options keeps_all = {.idle = WEIR_HUB_IDLE_GO_ON,
						   .replay = WEIR_HUB_ALL};
	char first[] = "first", second[] = "second";
	struct weir_flow *flow = weir_flow_range(1, 3);
	struct weir_loop *loop;
	struct weir_hub *cache;
	int rc;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_hub_new(&cache, NULL, &keeps_all, NULL) < 0)
		return 1;
	flow = weir_flow_into_hub(weir_flow_map(flow, square, NULL), cache);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	if (rc == 0)
		rc = read_all(cache, loop, first);
	if (rc == 0)
		rc = read_all(cache, loop, second);
	weir_flow_free(flow);
	return weir_hub_free(cache) < 0 || weir_loop_free(loop) < 0 || rc < 0;
}
