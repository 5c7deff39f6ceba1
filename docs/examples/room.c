/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source that cannot be asked for items, but stopped, as a socket in a loop
 * of yours: when the channel to the flow is full it stops, and goes on when it
 * is told that there is room.
 */
#include <stdio.h>
#include <weir/weir.h>

#define ITEMS 20

struct source {
	struct weir_put put; /* one item at a time is under way */
	struct weir_channel *channel;
	bool stopped;
	intptr_t n, stops; /* the last item, and how often it was stopped */
};

/* The item is in: there is room for the next one. */
static void is_in(struct weir_put *put, int status)
{
	struct source *self = weir_container_of(put, struct source, put);

	self->stopped = status < 0; /* the channel has ended */
}

/* What a loop calls as long as the source is not stopped. */
static int has_come(struct source *self)
{
	int rc;

	self->put = (struct weir_put){.done = is_in, .item = (void *)++self->n};
	self->stopped = true;
	rc = weir_channel_put_async(self->channel, &self->put);
	self->stops += self->stopped;
	return rc;
}

static int print(void *item, void *context)
{
	(void)context;
	printf("%d ", (int)(intptr_t)item);
	return 0;
}

static int run(struct source *self, struct weir_loop *loop)
{
	int rc = 0;

	while (rc >= 0 && (self->n < ITEMS || self->stopped))
		rc = self->stopped ? weir_loop_wait(loop, 1, WEIR_FOREVER)
				   : has_come(self);
	return weir_channel_end(self->channel, NULL);
}

int main(void)
{
	struct source self = {.n = 0};
	struct weir_flow_run *started = NULL;
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_channel_new(&self.channel, 4, NULL, NULL) < 0)
		return 1;
	flow = weir_flow_from_channel(self.channel);
	flow = weir_flow_for_each(flow, print, NULL);
	rc = weir_flow_start(flow, weir_loop_executor(loop), NULL, &started);
	if (rc == 0)
		rc = run(&self, loop);
	if (rc == 0)
		rc = weir_flow_run_wait(started, WEIR_FOREVER, NULL, NULL);
	printf("\nthe source was %sstopped\n", self.stops ? "" : "never ");
	weir_flow_run_free(started);
	weir_flow_free(flow);
	return weir_channel_free(self.channel) < 0 ||
	       weir_loop_free(loop) < 0 || rc < 0;
}
