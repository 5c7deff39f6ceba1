/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items go into a socket in batches of 3, or of what has come in 250 ms; on the
 * simulator, whose clock is virtual.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <weir/weir.h>

#define MS 1000000ull

/* The bytes of a batch, which go into the socket by one call. */
static int encode(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	struct weir_flow_bytes *bytes;
	size_t i;

	(void)context;
	if (weir_flow_bytes_new(&bytes, list->n, NULL) < 0)
		return -ENOMEM;
	for (i = 0; i < list->n; i++)
		bytes->data[i] = (char)(intptr_t)list->items[i];
	weir_flow_list_free(list);
	*item = bytes;
	return 0;
}

static struct weir_flow *sender(int fd)
{
	/* 4 at once, then one in 100 ms */
	struct weir_flow_rate rate = {.n = 1, .per_ns = 100 * MS, .burst = 4};
	struct weir_flow *flow = weir_flow_range('a', 'j');

	flow = weir_flow_throttle(flow, &rate);
	flow = weir_flow_grouped_within(flow, 3, 250 * MS);
	flow = weir_flow_map(flow, encode, NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	return weir_flow_write(flow, fd);
}

int main(void)
{
	struct weir_flow *flow;
	struct weir_sim *sim;
	int fds[2], rc;
	char text[64];
	ssize_t n;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) < 0)
		return 1;
	flow = sender(fds[0]);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	(void)close(fds[0]);
	while ((n = read(fds[1], text, sizeof(text))) > 0)
		printf("%.*s\n", (int)n, text);
	weir_flow_free(flow);
	return close(fds[1]) < 0 || weir_sim_free(sim) < 0 || rc < 0;
}
