/* SPDX-License-Identifier: BSD-2-Clause */
/* stored URL N: prints N messages of the stream ORDERS of a `nats-server -js`.
 * cc stored.c $(pkg-config --cflags --libs weir-nats) */
#include <stdio.h>
#include <stdlib.h>
#include <weir/nats.h>
#include <weir/weir.h>

#define WAIT 5000000000 /* ns */
#define CONSUMER .stream = "ORDERS", .durable = "printing"
static const struct weir_nats_stream stream = {.name = "ORDERS"};
static const struct weir_nats_consumer consumer = {CONSUMER};
static const struct weir_nats_source_options orders = {CONSUMER};

static int print(void **item, void *to)
{
	struct weir_flow_bytes *order = *item;

	return fprintf(to, "%.*s\n", (int)order->n, order->data) > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct weir_nats_options options = {.url = argv[1], .timeout_ns = WAIT};
	struct weir_loop *loop;
	struct weir_nats *nats;

	if (argc != 3 || weir_nats_new(&nats, &options, NULL) < 0 ||
	    weir_nats_stream_ensure_wait(nats, &stream, WAIT, NULL) < 0 ||
	    weir_nats_consumer_ensure_wait(nats, &consumer, WAIT, NULL) < 0 ||
	    weir_loop_new(&loop, NULL) < 0)
		return fprintf(stderr, "usage: stored URL N\n"), 2;
	struct weir_flow *flow = weir_flow_from_nats(nats, &orders);
	flow = weir_flow_same_items(weir_flow_map(flow, print, stdout));
	flow = weir_flow_take(weir_flow_nats_done(flow), atol(argv[2]));
	flow = weir_flow_ignore(flow);
	int rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return weir_nats_free(nats) < 0 || weir_loop_free(loop) < 0 || rc < 0;
}
