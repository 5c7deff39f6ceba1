/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that do not listen are read while they run. */
#include "attach/kit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/sim.h>
#include <weir/weir.h>

static const struct weir__reader_options options = {.settle_ns = 1000};
static char message[WEIR__READER_MESSAGE];

static const char *read_of(pid_t pid)
{
	struct weir_snapshot *snapshot;

	if (weir__attach_process(&snapshot, pid, &options, message) < 0)
		fail_msg("%s", message);
	return said_of(snapshot);
}

static void says_the_same(const char *program, const char *way)
{
	static struct stalled stalled;
	int tries = 0;

	if (!stalled_start(&stalled, program, way, NULL)) {
		print_message("there is no %s\n", program);
		skip();
	}
	/* a worker that is parked looks around from time to time */
	while (strcmp(read_of(stalled.pid), stalled.said) != 0 && tries < 1000)
		tries++;
	assert_string_equal(read_of(stalled.pid), stalled.said);
	stalled_end(&stalled);
}

#define SAYS_THE_SAME(way) \
	static void way##_are_seen_as_the_process_does(void **state) \
	{ \
		says_the_same("stalled", #way); \
	}

SAYS_THE_SAME(nodes)
SAYS_THE_SAME(ports)
SAYS_THE_SAME(flow)
SAYS_THE_SAME(operators)
SAYS_THE_SAME(several)
SAYS_THE_SAME(threads)
SAYS_THE_SAME(busy)
SAYS_THE_SAME(system)

static void the_shared_library_is_found(void **state)
{
	says_the_same("stalled_shared", "several");
}

static void a_static_program_without_symbols_is_read(void **state)
{
	says_the_same("stalled_static", "threads");
}

static void a_loop_that_nobody_runs_is_told(void **state)
{
	static struct stalled stalled;

	if (!stalled_start(&stalled, "stalled", "left", NULL))
		skip();
	assert_non_null(
		strstr(read_of(stalled.pid),
		       "left alone is due, but nobody runs its loop\n"));
	stalled_end(&stalled);
}

/* Its turns would seem not to return. */
static void a_process_that_is_stopped_is_of_one_moment(void **state)
{
	static struct stalled stalled;
	const char *said;
	int status;

	if (!stalled_start(&stalled, "stalled", "busy", NULL))
		skip();
	assert_non_null(strstr(stalled.said, "busy is in a turn that does not "
					     "return, on thread "));
	assert_int_equal(kill(stalled.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(stalled.pid, &status, WUNTRACED), stalled.pid);
	said = read_of(stalled.pid);
	assert_null(strstr(said, "does not return"));
	assert_non_null(strstr(said, "\"settled\": true"));
	assert_non_null(strstr(said, "\"state\": \"running\""));
	/* or by a debugger */
	assert_int_equal(kill(stalled.pid, SIGCONT), 0);
	assert_int_equal(waitpid(stalled.pid, &status, WCONTINUED),
			 stalled.pid);
	if (ptrace(PTRACE_ATTACH, stalled.pid, NULL, NULL) == 0) {
		assert_int_equal(waitpid(stalled.pid, &status, 0), stalled.pid);
		assert_null(strstr(read_of(stalled.pid), "does not return"));
	}
	stalled_end(&stalled);
}

static void without_an_executor_nobody_is_alive(void **state)
{
	static struct stalled stalled;

	if (!stalled_start(&stalled, "stalled", "nothing", NULL))
		skip();
	assert_non_null(strstr(read_of(stalled.pid), "no actor is alive\n"));
	stalled_end(&stalled);
}

static void the_own_process_is_read(void **state)
{
	struct weir_snapshot *own;
	struct weir_executor *executor;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	struct weir_flow *flow = weir_flow_never();
	char said[4096];

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	flow = weir_flow_ignore(weir_flow_async(flow, 4, NULL));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_snapshot_new(&own, &executor, 1, 1), 0);
	(void)snprintf(said, sizeof(said), "%s", said_of(own));
	assert_string_equal(read_of(getpid()), said);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- What cannot be read -------------------------------------------------- */

static int error_of(pid_t pid)
{
	struct weir_snapshot *snapshot;
	int rc = weir__attach_process(&snapshot, pid, &options, message);

	assert_true((rc == 0) == (snapshot != NULL));
	weir_snapshot_free(snapshot);
	return rc;
}

static void a_process_without_weir_is_said_to_be_that(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	/* until it is another program */
	while (error_of(pid) != -ENOENT)
		;
	assert_non_null(strstr(message, "no program with weir"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_process_that_is_none_is_an_error(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(0);
	/* first a zombie, then nothing */
	while (error_of(pid) != -ESRCH)
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(error_of(pid), -ESRCH);
	assert_non_null(strstr(message, "no process"));
}

/* Whenever it ends: all of it is told, or that it has ended. */
static void a_process_may_end_meanwhile(void **state)
{
	static struct stalled stalled;
	struct weir_snapshot *snapshot;
	pid_t killer;
	int status, rc;

	for_each_seed(seed, 8) {
		if (!stalled_start(&stalled, "stalled", "nodes", NULL))
			skip();
		killer = fork();
		if (killer == 0) {
			usleep((useconds_t)(seed * 300));
			kill(stalled.pid, SIGKILL);
			_exit(0);
		}
		do {
			rc = weir__attach_process(&snapshot, stalled.pid,
						  &options, message);
			if (rc == 0)
				assert_string_equal(said_of(snapshot),
						    stalled.said);
		} while (rc == 0);
		assert_int_equal(rc, -ESRCH);
		assert_int_equal(waitpid(killer, &status, 0), killer);
		stalled_end(&stalled);
	}
}

static void who_may_not_read_is_told_what_to_do(void **state)
{
	static struct stalled stalled;
	pid_t reader;
	int status;

	if (geteuid() != 0) {
		print_message("only root can be somebody else\n");
		skip();
	}
	if (!stalled_start(&stalled, "stalled", "nodes", NULL))
		skip();
	reader = fork();
	if (reader == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(1);
		if (error_of(stalled.pid) != -EPERM)
			_exit(2);
		_exit(strstr(message, "be that user, or root") ? 0 : 3);
	}
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	stalled_end(&stalled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_seen_as_the_process_does),
		cmocka_unit_test(ports_are_seen_as_the_process_does),
		cmocka_unit_test(flow_are_seen_as_the_process_does),
		cmocka_unit_test(operators_are_seen_as_the_process_does),
		cmocka_unit_test(several_are_seen_as_the_process_does),
		cmocka_unit_test(threads_are_seen_as_the_process_does),
		cmocka_unit_test(busy_are_seen_as_the_process_does),
		cmocka_unit_test(a_loop_that_nobody_runs_is_told),
		cmocka_unit_test(a_process_that_is_stopped_is_of_one_moment),
		cmocka_unit_test(system_are_seen_as_the_process_does),
		cmocka_unit_test(the_shared_library_is_found),
		cmocka_unit_test(a_static_program_without_symbols_is_read),
		cmocka_unit_test(without_an_executor_nobody_is_alive),
		cmocka_unit_test(the_own_process_is_read),
		cmocka_unit_test(a_process_without_weir_is_said_to_be_that),
		cmocka_unit_test(a_process_that_is_none_is_an_error),
		cmocka_unit_test(a_process_may_end_meanwhile),
		cmocka_unit_test(who_may_not_read_is_told_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
