/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink that fails is made again, and goes on with the next item. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

static int write_one(void *item, void *context)
{
	const int *file = context;

	if ((intptr_t)item == 3)
		return -EIO;
	printf("file %d: %d\n", *file, (int)(intptr_t)item);
	return 0;
}

static struct weir_flow *store(struct weir_flow *upstream, void *context)
{
	int *file = context;

	++*file;
	return weir_flow_for_each(upstream, write_one, file);
}

/* Any number of times, and at once: without options. */
static struct weir_flow *stored(struct weir_flow *flow, int *file)
{
	return weir_flow_restart_around(flow, store, file, NULL);
}

int main(void)
{
	struct weir_loop *loop;
	struct weir_flow *flow;
	int file = 0, rc;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	flow = stored(weir_flow_range(1, 5), &file);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
