/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inspected [ADDRESS]: a program that stands still, with a page for a browser
 * that says why. Ends with its input, as by Ctrl-D.
 */
#include <stdio.h>
#include <weir/inspect_http.h>
#include <weir/weir.h>

int main(int argc, char **argv)
{
	struct weir_inspect_http_options options = {
		.address = argc > 1 ? argv[1] : "127.0.0.1:0",
	};
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_inspect_http *http;
	struct weir_executor *executor;
	struct weir_threads *threads;
	struct weir_semaphore permits;
	struct weir_flow_run *run;

	if (weir_threads_new(&threads, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	executor = weir_threads_executor(threads);
	if (weir_inspect_http_new(&http, executor, &options, NULL) < 0)
		return 1;
	printf("http://%s/\n", weir_inspect_http_address(http));
	fflush(stdout);

	/* nobody gives a permit back */
	flow = weir_flow_async(weir_flow_name(flow, "numbers"), 16, NULL);
	flow = weir_flow_name(weir_flow_acquire(flow, &permits), "permits");
	flow = weir_flow_ignore(flow);
	if (weir_flow_start(flow, executor, NULL, &run) < 0)
		return 1;
	while (getchar() != EOF)
		;

	weir_flow_run_stop(run, NULL);
	if (weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL) < 0 ||
	    weir_inspect_http_free(http) < 0)
		return 1;
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return weir_semaphore_fini(&permits) < 0 ||
	       weir_threads_free(threads) < 0;
}
