/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail_grep ADDRESS TEXT FILE...: follows files, and sends the lines with TEXT to
 * a server, in batches of 100, or of what has come in 200 ms; until SIGINT or
 * SIGTERM. Files may be rotated.
 */
#define _GNU_SOURCE 1 /* memmem */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

#define LINE_SIZE 65536
#define MS UINT64_C(1000000)

struct tail_grep {
	const char *text;
	char **files;
	size_t n;
	struct weir_flow_switch *stops;
};

static int has_text(void *item, void *text)
{
	const struct weir_flow_bytes *line = item;

	return memmem(line->data, line->n, text, strlen(text)) != NULL;
}

/* The lines of a batch, which go out by one call. */
static int join(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	struct weir_flow_bytes *line, *joined;
	size_t n = list->n, i;
	char *to;

	(void)context;
	for (i = 0; i < list->n; i++)
		n += ((struct weir_flow_bytes *)list->items[i])->n;
	if (weir_flow_bytes_new(&joined, n, NULL) < 0)
		return -ENOMEM;
	for (to = joined->data, i = 0; i < list->n; i++) {
		line = list->items[i];
		to = (char *)memcpy(to, line->data, line->n) + line->n;
		*to++ = '\n';
	}
	weir_flow_list_free(list);
	*item = joined;
	return 0;
}

static struct weir_flow *lines_of(const struct tail_grep *self)
{
	const struct weir_flow_tail_options options = {
		.beginning = true, .restart = true, .wait = true};
	struct weir_flow **flows = calloc(self->n, sizeof(struct weir_flow *));
	struct weir_flow *flow;
	size_t i;

	for (i = 0; flows && i < self->n; i++) {
		flow = weir_flow_tail(self->files[i], &options);
		flow = weir_flow_lines(flow, LINE_SIZE);
		flows[i] = weir_flow_filter(flow, has_text,
					    (void *)(uintptr_t)self->text);
	}
	flow = weir_flow_merge(flows, flows ? self->n : 0);
	free(flows);
	return flow;
}

static struct weir_flow *talk(struct weir_connection *server, void *context)
{
	struct tail_grep *self = context;
	struct weir_flow *flow;

	flow = weir_flow_kill_switch(lines_of(self), self->stops);
	flow = weir_flow_grouped_within(flow, 100, 200 * MS);
	flow = weir_flow_map(flow, join, NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	return weir_connection_write(flow, server);
}

static int stop(void *item, void *stops)
{
	weir_flow_bytes_unref(item);
	return weir_flow_switch_end(stops);
}

/* What fails has failed: the message names the file, or the address. */
static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	fprintf(stderr, "tail_grep: %s: %s\n", error->origin, error->message);
	return WEIR_DIRECTIVE_STOP;
}

static struct weir_flow *program(struct tail_grep *self, const char *address,
				 const sigset_t *set)
{
	struct weir_flow *flows[2];

	flows[0] = weir_flow_each_connection(weir_flow_connect(address, NULL),
					     1, talk, self);
	flows[0] = weir_flow_supervise(flows[0], tell, NULL);
	flows[1] = weir_flow_kill_switch(weir_flow_signals(set), self->stops);
	flows[1] = weir_flow_for_each(flows[1], stop, self->stops);
	return weir_flow_all(flows, 2);
}

int main(int argc, char **argv)
{
	struct tail_grep self = {.text = argv[argc > 2 ? 2 : 0],
				 .files = argv + 3,
				 .n = argc > 3 ? (size_t)argc - 3 : 0};
	struct weir_loop *loop = NULL;
	struct weir_flow *flow;
	sigset_t set;
	int rc;

	if (argc < 4) {
		fprintf(stderr, "usage: tail_grep ADDRESS TEXT FILE...\n");
		return 2;
	}
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	rc = weir_flow_switch_new(&self.stops);
	if (rc == 0)
		rc = weir_loop_new(&loop, NULL);
	if (rc < 0)
		return 1;
	flow = program(&self, argv[1], &set);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	if (rc < 0)
		fprintf(stderr, "tail_grep: %s\n", weir_strerror(rc));
	weir_flow_free(flow);
	weir_flow_switch_free(self.stops);
	return weir_loop_free(loop) < 0 || rc < 0;
}
