/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines FILE: numbers its lines. Reading a file and writing may block, so the
 * flow runs on threads that may.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

/* The line is a view of what was read, and without its newline. */
static int number(void **item, uint64_t index, void *context)
{
	struct weir_flow_bytes *line = *item, *made;
	char head[24];
	int n = snprintf(head, sizeof(head), "%" PRIu64 " ", index + 1);
	int rc;

	(void)context;
	rc = weir_flow_bytes_new(&made, (size_t)n + line->n + 1, NULL);
	if (rc < 0)
		return rc;
	memcpy(made->data, head, (size_t)n);
	memcpy(made->data + n, line->data, line->n);
	made->data[made->n - 1] = '\n';
	weir_flow_bytes_unref(line);
	*item = made;
	return 0;
}

static struct weir_flow *numbered(const char *path)
{
	struct weir_flow *flow = weir_flow_read_file(path, 65536);

	flow = weir_flow_lines(flow, 4096);
	flow = weir_flow_same_items(weir_flow_index(flow, number, NULL));
	return weir_flow_write(flow, 1);
}

int main(int argc, char **argv)
{
	struct weir_blocking *blocking;
	struct weir_flow *flow;
	void *n = NULL;
	int rc;

	if (argc != 2 || weir_blocking_new(&blocking, NULL) < 0)
		return 2;
	flow = numbered(argv[1]);
	rc = weir_flow_run(flow, weir_blocking_executor(blocking), &n);
	if (rc < 0)
		fprintf(stderr, "lines: %s\n", strerror(-rc));
	else
		fprintf(stderr, "%zu bytes\n", (size_t)n);
	weir_flow_free(flow);
	return weir_blocking_free(blocking) < 0 || rc < 0;
}
