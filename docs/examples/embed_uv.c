/* SPDX-License-Identifier: BSD-2-Clause */
/* embed_uv ADDRESS: the server of embed_echo.h, in a loop of libuv. */
#include <uv.h>

#include "embed_echo.h"

/* There is something to do. What is left then, libuv tells of again. */
static void ready(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	(void)weir_loop_run(poll->data, 64);
}

/* From a run of weir's loop: without a handle uv_run() returns. */
static void over(struct weir_error *error, void *result, void *poll)
{
	(void)result;
	if (error)
		fprintf(stderr, "embed_uv: %s\n", error->message);
	uv_close(poll, NULL);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = echo_server(argc > 1 ? argv[1] : "[::1]:0");
	uv_poll_t poll;
	struct weir_flow_run_options options = {.done = over, .context = &poll};
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0)
		return 1;
	rc = uv_poll_init(uv_default_loop(), &poll, weir_loop_fd(loop));
	if (rc < 0)
		return 1;
	poll.data = loop;
	(void)uv_poll_start(&poll, UV_READABLE, ready);
	rc = weir_flow_start(flow, weir_loop_executor(loop), &options, NULL);
	if (rc < 0)
		uv_close((uv_handle_t *)&poll, NULL);
	(void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	weir_flow_free(flow);
	return uv_loop_close(uv_default_loop()) < 0 ||
	       weir_loop_free(loop) < 0 || rc < 0;
}
