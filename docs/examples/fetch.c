/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fetch ADDRESS TEXT: sends the text to a server, and prints what it answers.
 * ADDRESS is a host's name or its number, and a port, or unix:PATH.
 */
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

static int to_bytes(void **item, void *context)
{
	const char *text = *item;
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, strlen(text), NULL);

	(void)context;
	if (rc < 0)
		return rc;
	memcpy(bytes->data, text, bytes->n);
	*item = bytes;
	return 0;
}

/* Both ways at once, so that neither waits for the other. */
static struct weir_flow *talk(struct weir_connection *server, void *text)
{
	struct weir_flow *ways[2];

	ways[0] = weir_flow_map(weir_flow_single(text), to_bytes, NULL);
	ways[0] = weir_flow_items(ways[0], weir_flow_bytes_items());
	ways[0] = weir_connection_write(ways[0], server);
	ways[1] = weir_flow_write(weir_connection_read(server, 65536), 1);
	return weir_flow_merge(ways, 2);
}

/* There is one connection: what fails there has failed. */
static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	fprintf(stderr, "fetch: %s\n", error->message);
	return WEIR_DIRECTIVE_STOP;
}

int main(int argc, char **argv)
{
	const struct weir_connect_options options = {.connect_ns = 10000000000};
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: fetch ADDRESS TEXT\n");
		return 2;
	}
	flow = weir_flow_connect(argv[1], &options);
	flow = weir_flow_each_connection(flow, 1, talk, argv[2]);
	flow = weir_flow_supervise(flow, tell, NULL);
	rc = weir_loop_new(&loop, NULL);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	if (rc < 0)
		fprintf(stderr, "fetch: %s\n", weir_strerror(rc));
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
