/* SPDX-License-Identifier: BSD-2-Clause */
/* embed_sd ADDRESS: the server of embed_echo.h, in a loop of sd-event. */
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include "embed_echo.h"

/* There is something to do. What is left then, sd-event tells of again; but a
 * negative result would disable the source. */
static int ready(sd_event_source *source, int fd, uint32_t events, void *loop)
{
	(void)source;
	(void)fd;
	(void)events;
	(void)weir_loop_run(loop, 64);
	return 0;
}

/* From a run of weir's loop. */
static void over(struct weir_error *error, void *result, void *event)
{
	(void)result;
	if (error)
		fprintf(stderr, "embed_sd: %s\n", error->message);
	(void)sd_event_exit(event, 0);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = echo_server(argc > 1 ? argv[1] : "[::1]:0");
	struct weir_flow_run_options options = {.done = over};
	struct weir_loop *loop;
	sd_event *event;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0 || sd_event_new(&event) < 0)
		return 1;
	rc = sd_event_add_io(event, NULL, weir_loop_fd(loop), EPOLLIN, ready,
			     loop);
	options.context = event;
	if (rc >= 0)
		rc = weir_flow_start(flow, weir_loop_executor(loop), &options,
				     NULL);
	if (rc == 0)
		(void)sd_event_loop(event);
	(void)sd_event_unref(event); /* and of what watches the descriptor */
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
