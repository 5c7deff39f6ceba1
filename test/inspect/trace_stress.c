/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces that begin, are written and end while others run. */
#include "inspect/kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <ck_pr.h>

#include <weir/loop.h>

#include "actor/kit.h"

enum { INNER = 20, ITEMS = 30 };

static const struct weir_threads_options two = {.workers = 2};

static uint32_t over;

static struct weir_flow *some(void *item, void *context)
{
	return weir_flow_range(1, ITEMS);
}

static void run_one(struct weir_executor *executor)
{
	struct weir_flow *flow = weir_flow_range(1, INNER);
	void *n;

	flow = weir_flow_async(weir_flow_flat_map(flow, 4, some, NULL), 16,
			       NULL);
	flow = weir_flow_count(flow);
	/* a thread cannot fail a test */
	assert(weir_flow_run(flow, executor, &n) == 0);
	assert((uintptr_t)n == INNER * ITEMS);
	weir_flow_free(flow);
}

static void *run_flows(void *context)
{
	uint64_t i, n = test_count(16000);

	for (i = 0; i < n; i++)
		run_one(context);
	ck_pr_inc_32(&over);
	return NULL;
}

/* Threads that come, run a loop and go. */
static void *run_loops(void *context)
{
	struct weir_loop *loop;

	assert(weir_loop_new(&loop, NULL) == 0);
	run_one(weir_loop_executor(loop));
	assert(weir_loop_free(loop) == 0);
	return NULL;
}

static void *come_and_go(void *context)
{
	uint64_t i, n = test_count(8000);
	pthread_t thread;

	for (i = 0; i < n; i++) {
		assert(pthread_create(&thread, NULL, run_loops, NULL) == 0);
		assert(pthread_join(thread, NULL) == 0);
	}
	ck_pr_inc_32(&over);
	return NULL;
}

/* While both go on. */
static void meanwhile(void (*trace_once)(uint64_t i))
{
	struct weir_threads *threads;
	pthread_t runners[2];
	uint64_t i = 0;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	assert_int_equal(pthread_create(&runners[0], NULL, run_flows,
					weir_threads_executor(threads)),
			 0);
	assert_int_equal(pthread_create(&runners[1], NULL, come_and_go, NULL),
			 0);
	while (ck_pr_load_32(&over) < 2)
		trace_once(i++);
	assert_int_equal(pthread_join(runners[0], NULL), 0);
	assert_int_equal(pthread_join(runners[1], NULL), 0);
	assert_true(i > 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void record(uint64_t i)
{
	const struct weir_trace_options options = {.threads = 1 + i % 6};
	struct weir_trace_counts counts;
	struct weir_trace *trace;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), n;

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	for (n = 0; n < 3; n++) {
		assert_int_equal(weir_trace_write(trace, fd), 0);
		assert_int_equal(weir_trace_count(trace, &counts), 0);
		sched_yield();
	}
	if (i % 2)
		assert_int_equal(weir_trace_stop(trace), 0);
	weir_trace_free(trace);
	assert_int_equal(close(fd), 0);
}

static void recorders_come_and_go(void **state)
{
	meanwhile(record);
}

static void stream(uint64_t i)
{
	const struct weir_trace_options options = {.threads = 1 + i % 6,
						   .path = "/dev/null"};
	struct weir_trace *trace;
	int n;

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	for (n = 0; n < 100; n++)
		sched_yield();
	assert_int_equal(weir_trace_stop(trace), 0);
	weir_trace_free(trace);
}

static void files_come_and_go(void **state)
{
	meanwhile(stream);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorders_come_and_go),
		cmocka_unit_test(files_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
