/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve [PORT]: a server that gives each line back in capitals; each connection
 * is a flow of its own, and all of them run in one loop on one thread:
 *
 *	read ──> lines ──> shout ──> write
 *
 * Who does not read its answers is not read from any more, and holds up nobody
 * else. A signal ends the server: it reads nothing more, answers what it has
 * read, and gives up after 5 seconds.
 */
#define _GNU_SOURCE 1 /* accept4 */

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/weir.h>

#define LINE_SIZE 4096
#define OPEN_MAX 1000
#define PATIENCE 5000000000ull

struct server {
	struct weir_loop *loop;
	int listener; /* -1: it ends */
	int signals;
	size_t open;
	struct weir_ending drain, abort;
	bool over;
};

struct connection {
	struct server *server;
	struct weir_flow *flow;
	int fd;
};

static int shout(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;
	size_t i;

	(void)context;
	for (i = 0; i < line->n; i++)
		line->data[i] = (char)toupper((unsigned char)line->data[i]);
	line->n++; /* its newline, which stands behind it */
	return 0;
}

/* In a run of the loop, so on the thread of everything else here. */
static void closed(struct weir_error *error, void *written, void *context)
{
	struct connection *self = context;

	(void)written;
	if (error)
		fprintf(stderr, "serve: %s: %s\n", error->origin,
			error->message);
	weir_flow_free(self->flow);
	close(self->fd);
	self->server->open--;
	free(self);
}

static int serve(struct connection *self)
{
	struct weir_executor *executor = weir_loop_executor(self->server->loop);
	struct weir_flow_run_options options = {.done = closed,
						.context = self};
	struct weir_flow *flow = weir_flow_read(self->fd, LINE_SIZE);

	flow = weir_flow_map(weir_flow_lines(flow, LINE_SIZE), shout, NULL);
	flow = weir_flow_same_items(flow);
	self->flow = weir_flow_write(flow, self->fd);
	return weir_flow_start(self->flow, executor, &options, NULL);
}

static void take_one(struct server *self)
{
	struct connection *made = calloc(1, sizeof(*made));

	if (!made)
		return;
	made->server = self;
	made->fd = accept4(self->listener, NULL, NULL,
			   SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (made->fd >= 0 && serve(made) == 0) {
		self->open++;
		return;
	}
	weir_flow_free(made->flow);
	if (made->fd >= 0)
		close(made->fd);
	free(made);
}

static void aborted(struct weir_ending *drain)
{
	weir_container_of(drain, struct server, abort)->over = true;
}

static void drained(struct weir_ending *drain)
{
	struct server *self = weir_container_of(drain, struct server, drain);

	if (drain->actors_left == 0)
		self->over = true;
	else
		(void)weir_executor_stop_async(weir_loop_executor(self->loop),
					       &self->abort, WEIR_FOREVER);
}

static int end(struct server *self)
{
	struct weir_executor *executor = weir_loop_executor(self->loop);

	close(self->listener);
	self->listener = -1;
	self->drain.done = drained;
	self->abort.done = aborted;
	return weir_executor_end_async(executor, &self->drain,
				       weir_executor_now(executor) + PATIENCE);
}

static int run(struct server *self)
{
	int rc = 0;

	while (!self->over && rc == 0) {
		bool takes = self->listener >= 0 && self->open < OPEN_MAX;
		struct pollfd fds[] = {
			{.fd = weir_loop_fd(self->loop), .events = POLLIN},
			{.fd = takes ? self->listener : -1, .events = POLLIN},
			{.fd = self->listener >= 0 ? self->signals : -1,
			 .events = POLLIN},
		};

		(void)poll(fds, 3, -1);
		if (fds[0].revents)
			(void)weir_loop_run(self->loop, 64);
		if (fds[1].revents)
			take_one(self);
		if (fds[2].revents)
			rc = end(self);
	}
	return rc;
}

static int listen_at(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 ||
	    listen(fd, 64) < 0 || getsockname(fd, (struct sockaddr *)&at, &n))
		return -1;
	printf("port %d\n", ntohs(at.sin_port));
	return fflush(stdout) < 0 ? -1 : fd;
}

int main(int argc, char **argv)
{
	struct server self = {.open = 0};
	sigset_t set;
	int rc;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	self.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	self.listener = listen_at(argc > 1 ? (uint16_t)atoi(argv[1]) : 0);
	if (self.signals < 0 || self.listener < 0) {
		perror("serve");
		return 1;
	}
	rc = weir_loop_new(&self.loop, NULL);
	if (rc == 0)
		rc = run(&self);
	return weir_loop_free(self.loop) < 0 || rc < 0;
}
