/* SPDX-License-Identifier: BSD-2-Clause */
/* A task with work left goes round; when all are done a switch ends all. */
#include <stdio.h>
#include <weir/weir.h>

struct tasks {
	struct weir_flow_switch *done;
	int n;
};

static int work(void *item, size_t *way, void *context)
{
	(void)context;
	*way = --*(int *)item > 0;
	return 0;
}

static int finish(void *item, void *context)
{
	struct tasks *tasks = context;

	(void)item;
	return --tasks->n > 0 ? 0 : weir_flow_switch_end(tasks->done);
}

static struct weir_flow *circle(struct weir_flow_graph *graph,
				struct weir_flow *source, struct tasks *tasks)
{
	struct weir_flow *ways[2], *ups[2], *flow;

	ups[0] = source;
	ups[1] = weir_flow_graph_inlet(graph, "again");
	flow = weir_flow_kill_switch(weir_flow_merge(ups, 2), tasks->done);
	(void)weir_flow_partition(flow, 2, work, NULL, ways, NULL);
	flow = weir_flow_for_each(ways[0], finish, tasks);
	(void)weir_flow_graph_add(graph, NULL, flow);
	(void)weir_flow_graph_add(graph, "left", ways[1]);
	(void)weir_flow_graph_connect(graph, "left", "again", 16);
	return weir_flow_graph_build(graph);
}

int main(void)
{
	int left[] = {3, 1, 2}, rc;
	void *const items[] = {&left[0], &left[1], &left[2]};
	struct tasks tasks = {.n = 3};
	struct weir_flow_graph *graph;
	struct weir_flow *flow;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_flow_switch_new(&tasks.done) < 0 ||
	    weir_flow_graph_new(&graph) < 0)
		return 1;
	flow = circle(graph, weir_flow_array(items, 3), &tasks);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	printf("%d tasks left\n", tasks.n);
	weir_flow_free(flow);
	weir_flow_switch_free(tasks.done);
	return weir_loop_free(loop) < 0 || rc < 0;
}
