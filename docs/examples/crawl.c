/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages are fetched, each once, four at a time. Their links go back to the
 * beginning, and when none is left, the flow ends.
 */
#include <stdio.h>
#include <weir/weir.h>

#define FRONTIER 64 /* at most so many pages wait */

/* A page is a letter; here are the links of each. */
static const char *const web[] = {"bc", "ad", "de", "", "a"};

struct crawl {
	struct weir_flow_queue *queue;
	bool seen[5];
	int open; /* pages that wait or are fetched */
};

static int visit(struct crawl *self, char page)
{
	if (self->seen[page - 'a'])
		return 0;
	self->seen[page - 'a'] = true;
	self->open++;
	return weir_flow_queue_offer(self->queue, (void *)(intptr_t)page);
}

static int fetch(void **page, void *context)
{
	(void)context;
	*page = (void *)web[(intptr_t)*page - 'a'];
	return 0;
}

static int follow(void *links, void *context)
{
	struct crawl *self = context;
	const char *link;
	int rc = 0;

	printf("links: %s\n", (const char *)links);
	for (link = links; *link && rc == 0; link++)
		rc = visit(self, *link);
	return --self->open > 0 ? rc : weir_flow_queue_end(self->queue, NULL);
}

int main(void)
{
	struct crawl crawl = {.open = 0};
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0 ||
	    weir_flow_queue_new(&crawl.queue, FRONTIER,
				WEIR_OVERFLOW_BACK_PRESSURE, NULL) < 0 ||
	    visit(&crawl, 'a') < 0)
		return 1;
	flow = weir_flow_from_queue(crawl.queue);
	flow = weir_flow_map_parallel(flow, 4, WEIR_ORDER_KEPT, fetch, NULL,
				      NULL);
	flow = weir_flow_for_each(flow, follow, &crawl);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	weir_flow_queue_free(crawl.queue);
	return weir_loop_free(loop) < 0 || rc < 0;
}
