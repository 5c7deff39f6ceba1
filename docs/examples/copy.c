/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy FROM TO: whoever opens TO finds what was there or all of the copy. Files
 * may block, so the flow runs on threads that may.
 */
#include <stdio.h>
#include <weir/weir.h>

static struct weir_flow *copy(const char *from, const char *to)
{
	return weir_flow_write_file(weir_flow_read_file(from, 65536), to,
				    WEIR_FLOW_SYNC_ALL);
}

int main(int argc, char **argv)
{
	struct weir_blocking *blocking;
	struct weir_flow *flow;
	void *n = NULL;
	int rc;

	if (argc != 3 || weir_blocking_new(&blocking, NULL) < 0)
		return 2;
	flow = copy(argv[1], argv[2]);
	rc = weir_flow_run(flow, weir_blocking_executor(blocking), &n);
	if (rc < 0)
		fprintf(stderr, "copy: %s\n", weir_strerror(rc));
	else
		printf("%zu bytes\n", (size_t)n);
	weir_flow_free(flow);
	return weir_blocking_free(blocking) < 0 || rc < 0;
}
