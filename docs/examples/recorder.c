/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that keeps the last events of each thread, and writes them to the file
 * that it is given. */
#include <stdio.h>
#include <weir/weir.h>

static struct weir_trace *recorder;

/* From here on; a crash writes it, too. */
static int record(const char *crash_path)
{
	const struct weir_trace_options options = {.crash_path = crash_path};

	return weir_trace_new(&recorder, &options, NULL);
}

/* Whenever something seems slow. */
static int save(const char *path)
{
	FILE *file = fopen(path, "w");
	int rc = file ? weir_trace_write(recorder, fileno(file)) : -1;

	if (file && fclose(file) != 0)
		rc = -1;
	return rc;
}

static int halve(void **item, void *context)
{
	(void)context;
	*item = (void *)((uintptr_t)*item / 2);
	return 0;
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = weir_flow_range(1, 100000);
	struct weir_threads *threads;
	void *n;
	int rc;

	if (argc < 2 || weir_threads_new(&threads, NULL) < 0 ||
	    record("recorder-crash.json") < 0)
		return 1;
	flow = weir_flow_async(flow, 64, NULL);
	flow = weir_flow_count(weir_flow_map(flow, halve, NULL));
	rc = weir_flow_run(flow, weir_threads_executor(threads), &n);
	if (rc == 0)
		rc = save(argv[1]);
	printf("%zu items\n", (size_t)n);

	weir_trace_free(recorder);
	weir_flow_free(flow);
	return rc < 0 || weir_threads_free(threads) < 0;
}
