/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions while executors, and what runs on them, come and go. */
#include "inspect/kit.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ck_pr.h>

#include <weir/inspector.h>

enum { MAKERS = 2, ASKERS = 2, ALL = MAKERS + ASKERS + 1 };

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static uint32_t over, answered;

/* A thread cannot fail a test. */
static void *run_flows(void *context)
{
	const struct weir_threads_options options = {.workers = 1};
	uint64_t i, n = test_count(4000);
	struct weir_threads *threads;
	struct weir_flow *flow;
	void *count;

	for (i = 0; i < n; i++) {
		assert(weir_threads_new(&threads, &options) == 0);
		flow = weir_flow_async(weir_flow_range(1, 50), 4, NULL);
		flow = weir_flow_count(flow);
		assert(weir_flow_run(flow, weir_threads_executor(threads),
				     &count) == 0);
		assert((uintptr_t)count == 50);
		weir_flow_free(flow);
		assert(weir_threads_free(threads) == 0);
	}
	ck_pr_inc_32(&over);
	return NULL;
}

/* The answer begins with `answer`. */
static void ask(const char *line, const char *answer)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char some[4096];
	ssize_t n, all = 0;

	assert(fd >= 0);
	assert(connect(fd, (const struct sockaddr *)&address,
		       sizeof(address)) == 0);
	assert(send(fd, line, strlen(line), MSG_NOSIGNAL) ==
	       (ssize_t)strlen(line));
	while ((n = recv(fd, some, sizeof(some), 0)) > 0) {
		assert(all > 0 || !strncmp(some, answer, strlen(answer)));
		all += n;
	}
	assert(n == 0 && all > 0);
	assert(close(fd) == 0);
	ck_pr_inc_32(&answered);
}

static void *ask_on(void *context)
{
	do {
		ask("why\n", "");
		ask("table 5\n", "");
		ask("json\n", "{");
		ask("why range\n", "");
	} while (ck_pr_load_32(&over) < MAKERS);
	return NULL;
}

/* One alone: the process has one trace. */
static void *trace_on(void *context)
{
	do {
		ask("trace 0.005\n", "{");
	} while (ck_pr_load_32(&over) < MAKERS);
	return NULL;
}

static void a_program_is_asked_while_it_works(void **state)
{
	char folder[] = "/tmp/weir-test-XXXXXX";
	struct weir_inspector_options options = {.path = address.sun_path};
	struct weir_inspector *inspector;
	pthread_t made[ALL];
	size_t i;

	assert_non_null(mkdtemp(folder));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket",
		       folder);
	assert_int_equal(weir_inspector_new(&inspector, &options, NULL), 0);
	for (i = 0; i < ALL; i++)
		assert_int_equal(pthread_create(&made[i], NULL,
						i < MAKERS ? run_flows
						: i < MAKERS + ASKERS
							? ask_on
							: trace_on,
						NULL),
				 0);
	for (i = 0; i < ALL; i++)
		assert_int_equal(pthread_join(made[i], NULL), 0);
	assert_true(ck_pr_load_32(&answered) >= 9);
	weir_inspector_free(inspector);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_asked_while_it_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
