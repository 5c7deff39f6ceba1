/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sortd [--inspect] ADDRESS [LIMIT_MS]: sends each client its lines in order,
 * as soon as it has ended. A sort(1) for each client does that, four at a time;
 * whoever comes then waits. A client that is silent for LIMIT_MS, or that takes nothing of
 * its answer for as long, is reset, and its sort(1) is ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#include "progress.h"

#define MS UINT64_C(1000000)

static struct weir_flow *sorted(struct weir_flow *flow, void *context)
{
	static const char *const argv[] = {"sort", NULL};

	(void)context;
	return weir_flow_child(flow, argv, NULL);
}

static struct weir_flow *serve(struct weir_connection *client, void *context)
{
	progress_add(1);
	return weir_connection_run(client, sorted, context);
}

/* Of one client; the others go on. */
static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	(void)progress_clear();
	fprintf(stderr, "sortd: %s\n", error->message);
	return WEIR_DIRECTIVE_RESUME;
}

static void listens(const char *address, void *context)
{
	(void)context;
	fprintf(stderr, "sortd: %s\n", address);
}

int main(int argc, char **argv)
{
	(void)look_inside(&argc, argv);

	uint64_t limit_ns = argc > 2 ? strtoul(argv[2], NULL, 10) * MS : 0;
	const struct weir_listen_options options = {
		.listens = listens,
		.backlog = 100,
		.connection.read_idle_ns = limit_ns,
		.connection.write_stall_ns = limit_ns,
	};
	struct weir_flow *flow =
		weir_flow_listen(argc > 1 ? argv[1] : "[::]:7", &options);
	struct weir_executor *executor;
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	flow = weir_flow_each_connection(flow, 4, serve, NULL);
	flow = weir_flow_supervise(flow, tell, NULL);
	if (rc == 0) {
		executor = weir_loop_executor(loop);
		progress_begin("connections", 0, &executor, 1);
		rc = weir_flow_run(flow, executor, NULL);
		progress_end();
	}
	fprintf(stderr, "sortd: %s\n", weir_strerror(rc));
	return 1;
}
