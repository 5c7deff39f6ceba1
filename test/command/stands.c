/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands still, until its input ends: nobody gives a permit back. */
#include <stdio.h>

#include <weir/weir.h>

static struct weir_semaphore permits;

int main(void)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_flow_run *run;
	struct weir_threads *threads;

	if (weir_threads_new(&threads, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	if (weir_flow_start(flow, weir_threads_executor(threads), NULL, &run) <
	    0)
		return 1;
	(void)puts("up");
	(void)fflush(stdout);
	(void)getchar();
	return 0;
}
