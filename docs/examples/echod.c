/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echod [ADDRESS]: an echo server, which sends each client what it has sent.
 * Who does not take its answers is not read from any more, and holds up nobody
 * else. With WEIR_INSPECT=1 in its environment, `weir why PID` says who that is.
 */
#include <stdio.h>

#include <weir/weir.h>

static struct weir_flow *echo(struct weir_connection *client, void *context)
{
	(void)context;
	return weir_connection_run(client, NULL, NULL);
}

static void listens(const char *address, void *context)
{
	(void)context;
	fprintf(stderr, "echod: %s\n", address);
}

int main(int argc, char **argv)
{
	const struct weir_listen_options options = {.listens = listens};
	struct weir_flow *flow =
		weir_flow_listen(argc > 1 ? argv[1] : "[::]:7", &options);
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	flow = weir_flow_each_connection(flow, 10000, echo, NULL);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	fprintf(stderr, "echod: %s\n", weir_strerror(rc));
	return 1;
}
