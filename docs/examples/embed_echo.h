/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What embed_uv.c, embed_glib.c, embed_event.c and embed_sd.c run, each in the
 * loop of another library: a server that sends its clients what they have sent,
 * a millisecond later. It serves two clients, and ends with them.
 *
 * Each block waits for a timer of weir's; 16 blocks do, and then a client is
 * not read from until it takes what it has sent.
 */
#ifndef EMBED_ECHO_H
#define EMBED_ECHO_H

#include <stdio.h>

#include <weir/weir.h>

static struct weir_flow *later(struct weir_flow *flow, void *context)
{
	(void)context;
	return weir_flow_delay(flow, 1000000, 16);
}

static struct weir_flow *serve(struct weir_connection *client, void *context)
{
	(void)context;
	return weir_connection_run(client, later, NULL);
}

static void listens(const char *address, void *context)
{
	(void)context;
	printf("%s\n", address);
	(void)fflush(stdout);
}

static struct weir_flow *echo_server(const char *address)
{
	const struct weir_listen_options options = {.listens = listens};
	struct weir_flow *flow = weir_flow_listen(address, &options);

	flow = weir_flow_take(flow, 2);
	return weir_flow_each_connection(flow, 2, serve, NULL);
}

#endif
