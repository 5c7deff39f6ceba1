/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow for what is below each heading, and one for each kind of line. */
#include <stdio.h>
#include <weir/weir.h>

static int is_heading(void *item, void *context)
{
	(void)context;
	return *(const char *)item == '#';
}

static int print_size(void *n, void *heading)
{
	printf("%s: %zu\n", (const char *)heading, (size_t)n);
	return 0;
}

static struct weir_flow *below(void *const *items, size_t n,
			       struct weir_flow *tail, void *context)
{
	(void)n;
	(void)context;
	return weir_flow_for_each(weir_flow_count(tail), print_size, items[0]);
}

static struct weir_flow *section(struct weir_flow *upstream, void *context)
{
	(void)context;
	return weir_flow_prefix_and_tail(upstream, 1, below, NULL);
}

static int kind(void *item, uintptr_t *key, void *context)
{
	(void)context;
	*key = (uintptr_t)is_heading(item, NULL);
	return 0;
}

static struct weir_flow *group(struct weir_flow *upstream, uintptr_t key,
			       void *context)
{
	(void)context;
	return weir_flow_for_each(weir_flow_count(upstream), print_size,
				  (void *)(key ? "headings" : "lines"));
}

int main(void)
{
	static const char *const lines[] = {"# fruit", "apple",	 "pear",
					    "# roots", "carrot", "parsnip"};
	struct weir_flow *flow = weir_flow_array((void *const *)lines, 6);
	struct weir_flow *flows[2];
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	flows[0] = weir_flow_split_when(flow, is_heading, section, NULL);
	flow = weir_flow_array((void *const *)lines, 6);
	flows[1] = weir_flow_group_by(flow, 2, kind, group, NULL, NULL);
	flow = weir_flow_concat(flows, 2);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
