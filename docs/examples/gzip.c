/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gzip FILE...: makes FILE.gz of each, four at a time, each through a gzip(1) of
 * its own. There is all of a FILE.gz or nothing. Files may block, so the flow
 * runs on threads that may.
 */
#include <stdio.h>
#include <weir/weir.h>

struct job {
	const char *from;
	char to[4096];
};

static struct weir_flow *compress(void *item, void *context)
{
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_MESSAGE,
	};
	const char *const argv[] = {"gzip", "-c", NULL};
	const struct job *job = item;
	struct weir_flow *flow = weir_flow_read_file(job->from, 65536);

	(void)context;
	flow = weir_flow_child(flow, argv, &options);
	return weir_flow_write_file(flow, job->to, WEIR_FLOW_SYNC_NONE);
}

static int report(struct weir_error *error)
{
	if (error)
		fprintf(stderr, "gzip: %s: %s\n", error->origin,
			error->message);
	return error != NULL;
}

int main(int argc, char **argv)
{
	static struct job jobs[64];
	static void *items[64];
	struct weir_blocking *blocking;
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	int i, rc;

	if (argc > 64 || weir_blocking_new(&blocking, NULL) < 0)
		return 2;
	for (i = 0; i < argc - 1; i++) {
		items[i] = &jobs[i];
		jobs[i].from = argv[i + 1];
		snprintf(jobs[i].to, sizeof(jobs[i].to), "%s.gz", argv[i + 1]);
	}
	flow = weir_flow_array(items, (size_t)argc - 1);
	flow = weir_flow_ignore(weir_flow_flat_map(flow, 4, compress, NULL));
	rc = weir_flow_start(flow, weir_blocking_executor(blocking), NULL,
			     &run);
	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	if (rc == 0)
		rc = report(error);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return weir_blocking_free(blocking) < 0 || rc != 0;
}
