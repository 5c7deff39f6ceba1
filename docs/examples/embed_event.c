/* SPDX-License-Identifier: BSD-2-Clause */
/* embed_event ADDRESS: the server of embed_echo.h, in a loop of libevent. */
#include <event2/event.h>

#include "embed_echo.h"

/* There is something to do. What is left then, libevent tells of again. */
static void ready(evutil_socket_t fd, short events, void *loop)
{
	(void)fd;
	(void)events;
	(void)weir_loop_run(loop, 64);
}

/* From a run of weir's loop. */
static void over(struct weir_error *error, void *result, void *base)
{
	(void)result;
	if (error)
		fprintf(stderr, "embed_event: %s\n", error->message);
	(void)event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = echo_server(argc > 1 ? argv[1] : "[::1]:0");
	struct event_base *base = event_base_new();
	struct weir_flow_run_options options = {.done = over, .context = base};
	struct weir_loop *loop;
	struct event *event;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0 || !base)
		return 1;
	event = event_new(base, weir_loop_fd(loop), EV_READ | EV_PERSIST, ready,
			  loop);
	if (!event || event_add(event, NULL) < 0)
		return 1;
	rc = weir_flow_start(flow, weir_loop_executor(loop), &options, NULL);
	if (rc == 0)
		(void)event_base_dispatch(base);
	event_free(event);
	event_base_free(base);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
