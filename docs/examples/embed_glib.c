/* SPDX-License-Identifier: BSD-2-Clause */
/* embed_glib ADDRESS: the server of embed_echo.h, in a main loop of GLib. */
#include <glib-unix.h>

#include "embed_echo.h"

/* There is something to do. What is left then, GLib tells of again. */
static gboolean ready(gint fd, GIOCondition condition, gpointer loop)
{
	(void)fd;
	(void)condition;
	(void)weir_loop_run(loop, 64);
	return G_SOURCE_CONTINUE;
}

/* From a run of weir's loop. */
static void over(struct weir_error *error, void *result, void *main_loop)
{
	(void)result;
	if (error)
		fprintf(stderr, "embed_glib: %s\n", error->message);
	g_main_loop_quit(main_loop);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = echo_server(argc > 1 ? argv[1] : "[::1]:0");
	GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
	struct weir_flow_run_options options = {.done = over,
						.context = main_loop};
	struct weir_loop *loop;
	guint source;
	int rc = weir_loop_new(&loop, NULL);

	if (rc < 0)
		return 1;
	source = g_unix_fd_add(weir_loop_fd(loop), G_IO_IN, ready, loop);
	rc = weir_flow_start(flow, weir_loop_executor(loop), &options, NULL);
	if (rc == 0)
		g_main_loop_run(main_loop);
	(void)g_source_remove(source);
	g_main_loop_unref(main_loop);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
