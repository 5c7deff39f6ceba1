/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow in a program that has a loop of its own, here poll(): it reads a pipe
 * that the same loop writes to, line by line, as if somebody typed.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/weir.h>

struct program {
	struct weir_loop *loop;
	int keys;	  /* what is typed goes here; -1: no more does */
	const char *text; /* yet to be typed */
	bool over;
	int code; /* 0, or what the flow has failed with */
};

static int print(void *item, void *context)
{
	struct weir_flow_bytes *line = item;

	(void)context;
	printf("%.*s\n", (int)line->n, line->data);
	weir_flow_bytes_unref(line);
	return 0;
}

/* The run is over: from weir_loop_run(), on whatever threads it was. */
static void done(struct weir_error *error, void *result, void *context)
{
	struct program *self = context;

	(void)result;
	self->over = true;
	self->code = error ? error->code : 0;
}

/* A few letters at a time, then the end. */
static void type(struct program *self)
{
	ssize_t n = write(self->keys, self->text, strnlen(self->text, 7));

	self->text += n > 0 ? n : 0;
	if (n >= 0 && *self->text)
		return;
	close(self->keys);
	self->keys = -1; /* which poll() leaves out */
}

static void run(struct program *self)
{
	while (!self->over) {
		struct pollfd fds[] = {
			{.fd = weir_loop_fd(self->loop), .events = POLLIN},
			{.fd = self->keys, .events = POLLOUT},
		};

		(void)poll(fds, 2, -1);
		if (fds[0].revents)
			(void)weir_loop_run(self->loop, 64);
		if (fds[1].revents)
			type(self);
	}
}

int main(void)
{
	struct program self = {.text = "to be\nor not\nto be"};
	struct weir_flow_run_options options = {.done = done, .context = &self};
	struct weir_flow *flow;
	int ends[2], rc;

	if (pipe(ends) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return 1;
	self.keys = ends[1];
	flow = weir_flow_lines(weir_flow_read(ends[0], 4096), 80);
	flow = weir_flow_for_each(flow, print, NULL);
	rc = weir_loop_new(&self.loop, NULL);
	if (rc == 0)
		rc = weir_flow_start(flow, weir_loop_executor(self.loop),
				     &options, NULL);
	if (rc == 0)
		run(&self);
	weir_flow_free(flow);
	close(ends[0]);
	return weir_loop_free(self.loop) < 0 || rc < 0 || self.code < 0;
}
