/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proxy [--inspect] ADDRESS SERVER: listens at ADDRESS, and joins each client
 * to a connection of its own to SERVER. Who takes nothing holds up who sends to
 * him, and nobody else.
 */
#include <stdio.h>

#include <weir/weir.h>

#include "progress.h"

#define SECOND UINT64_C(1000000000)

static struct weir_flow *join(struct weir_connection *server, void *client)
{
	const struct weir_connection_pipe_options limits = {
		.idle_ns = 3600 * SECOND, .half_close_ns = 30 * SECOND};

	return weir_connection_pipe(client, server, &limits);
}

static struct weir_flow *serve(struct weir_connection *client, void *server)
{
	const struct weir_connect_options limits = {.connect_ns = 5 * SECOND};

	return weir_flow_each_connection(weir_flow_connect(server, &limits), 1,
					 join, client);
}

static struct weir_flow *counted(struct weir_connection *client, void *server)
{
	progress_add(1);
	return serve(client, server);
}

static void listens(const char *address, void *context)
{
	(void)context;
	fprintf(stderr, "proxy: %s\n", address);
}

int main(int argc, char **argv)
{
	const struct weir_listen_options options = {.listens = listens};
	struct weir_executor *executor;
	struct weir_threads *threads;
	struct weir_flow *flow;
	int rc;

	(void)look_inside(&argc, argv);
	if (argc != 3) {
		fprintf(stderr, "usage: proxy [--inspect] ADDRESS SERVER\n");
		return 2;
	}
	flow = weir_flow_listen(argv[1], &options);
	flow = weir_flow_each_connection(flow, 10000, counted, argv[2]);
	rc = weir_threads_new(&threads, NULL);
	if (rc == 0) {
		executor = weir_threads_executor(threads);
		progress_begin("connections", 0, &executor, 1);
		rc = weir_flow_run(flow, executor, NULL);
		progress_end();
	}
	fprintf(stderr, "proxy: %s\n", weir_strerror(rc));
	return 1;
}
