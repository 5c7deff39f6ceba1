/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gz FILE TO: compresses FILE. gz -d FILE TO: decompresses it, to 1 GiB at most.
 * There is all of TO or what was there before. Files may block, so the flow runs
 * on threads that may. cc gz.c $(pkg-config --cflags --libs weir-z)
 */
#include <stdio.h>
#include <string.h>
#include <weir/flow_compress.h>
#include <weir/weir.h>

static struct weir_flow *compress(const char *from, const char *to)
{
	struct weir_flow *flow = weir_flow_read_file(from, 65536);

	flow = weir_flow_deflate(flow, NULL);
	return weir_flow_write_file(flow, to, WEIR_FLOW_SYNC_NONE);
}

static struct weir_flow *decompress(const char *from, const char *to)
{
	const struct weir_flow_inflate_options options = {
		.max_bytes = 1ull << 30,
	};
	struct weir_flow *flow = weir_flow_read_file(from, 65536);

	flow = weir_flow_inflate(flow, &options);
	return weir_flow_write_file(flow, to, WEIR_FLOW_SYNC_NONE);
}

static int run(struct weir_flow *flow, struct weir_executor *executor)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	int rc = weir_flow_start(flow, executor, NULL, &run);

	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	if (error)
		fprintf(stderr, "gz: %s: %s\n", error->origin, error->message);
	rc = error ? error->code : rc;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
}

int main(int argc, char **argv)
{
	struct weir_blocking *blocking;
	struct weir_flow *flow;
	int rc;

	if (argc < 3 || weir_blocking_new(&blocking, NULL) < 0)
		return 2;
	flow = argc == 4 && strcmp(argv[1], "-d") == 0
		       ? decompress(argv[2], argv[3])
		       : compress(argv[1], argv[2]);
	rc = run(flow, weir_blocking_executor(blocking));
	weir_flow_free(flow);
	return weir_blocking_free(blocking) < 0 || rc < 0;
}
