/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included before a program of docs/examples: what each of its sinks takes comes
 * from another executor, of threads that may block, or of a pool; so runs end on
 * several executors. ELSEWHERE says which one, and is not set for the program as
 * it is.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

static struct weir_executor *elsewhere_executor;

/* For as long as the program runs. */
static void elsewhere_open(void)
{
	const char *where = getenv("ELSEWHERE");
	struct weir_blocking *blocking;
	struct weir_threads *threads;

	if (!where)
		return;
	if (strcmp(where, "blocking") == 0) {
		if (weir_blocking_new(&blocking, NULL) < 0)
			abort();
		elsewhere_executor = weir_blocking_executor(blocking);
	} else {
		if (weir_threads_new(&threads, NULL) < 0)
			abort();
		elsewhere_executor = weir_threads_executor(threads);
	}
}

static inline struct weir_flow *elsewhere(struct weir_flow *flow)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, elsewhere_open);
	return elsewhere_executor ? weir_flow_async(flow, 4, elsewhere_executor)
				  : flow;
}

#define weir_flow_for_each(flow, f, context) \
	weir_flow_for_each(elsewhere(flow), f, context)
#define weir_flow_fold(flow, folding, context) \
	weir_flow_fold(elsewhere(flow), folding, context)
#define weir_flow_count(flow) weir_flow_count(elsewhere(flow))
#define weir_flow_collect(flow, most) weir_flow_collect(elsewhere(flow), most)
