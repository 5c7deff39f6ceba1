/* SPDX-License-Identifier: BSD-2-Clause */
/* What a crash leaves behind. */
#include "inspect/kit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor/kit.h"

static char path[] = "/tmp/weir-crash-XXXXXX";
static char text[1 << 20];

static int setup(void **state)
{
	strcpy(path, "/tmp/weir-crash-XXXXXX");
	return close(mkstemp(path));
}

static int teardown(void **state)
{
	return unlink(path);
}

/* A store to where nothing is. */
static void by_fault(struct node *node)
{
	volatile char *page =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
}

/* A store behind the end of the file that is mapped there. */
static void by_short_file(struct node *node)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t end = lseek(fd, 0, SEEK_END);
	volatile char *page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE, fd, end & ~(off_t)0xffff);

	page[(1 << 20) - 1] = 1;
}

static void by_assertion(struct node *node)
{
	abort();
}

/* The previous handler's. */
static void exits(int signal)
{
	_exit(signal == SIGSEGV ? 33 : 34);
}

static void exits_with_more(int signal, siginfo_t *info, void *context)
{
	_exit(info->si_signo == SIGABRT ? 44 : 45);
}

static struct weir_trace *start(void)
{
	const struct weir_trace_options options = {.crash_path = path};
	struct weir_trace *trace;

	assert(weir_trace_new(&trace, &options, NULL) == 0);
	return trace;
}

/* One actor of several does it, in its turn, on a worker. */
static void crash(void (*how)(struct node *node))
{
	static struct node nodes[3];
	const struct weir_threads_options two = {.workers = 2};
	const struct rlimit no_core = {0};
	struct weir_threads *threads;
	size_t i;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	assert(weir_threads_new(&threads, &two) == 0);
	for (i = 0; i < 3; i++) {
		node_init(&nodes[i], weir_threads_executor(threads),
			  i == 1 ? "culprit" : "bystander", 1, i < 2);
		if (i > 0)
			node_link(&nodes[i - 1], 0, &nodes[i], 0);
	}
	nodes[1].before = how;
	for (i = 0; i < 3; i++)
		node_start(&nodes[i]);
	node_put(&nodes[0], 0);
	/* the children of tests that fail are ended by alarm(2) */
	for (;;)
		(void)pause();
}

/* Of a child that does it; its status. */
static int status_of(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)alarm(20);
		(void)signal(SIGABRT, SIG_DFL);
		(void)signal(SIGSEGV, SIG_DFL);
		(void)signal(SIGBUS, SIG_DFL);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static const char *left(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	assert_int_equal(close(fd), 0);
	text[n] = '\0';
	return text;
}

/* The last event is the slice that has not ended. */
static void culprit_is_last(void)
{
	const char *at = strstr(left(), "],\n\"otherData\":{\"unsafe\":true,");

	assert_non_null(at);
	while (*--at != '\n')
		;
	assert_int_equal(
		strncmp(at, "\n{\"name\":\"culprit\",\"cat\":\"slice\"", 32),
		0);
	assert_non_null(strstr(at, "\"open\":true}}],"));
}

static void run_segv(void)
{
	(void)start();
	crash(by_fault);
}

static void the_slice_that_crashed_is_the_last_event(void **state)
{
	int status = status_of(run_segv);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	culprit_is_last();
}

static void run_bus(void)
{
	(void)start();
	crash(by_short_file);
}

static void so_it_is_of_an_error_of_the_bus(void **state)
{
	int status = status_of(run_bus);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	culprit_is_last();
}

static void run_abort(void)
{
	(void)start();
	crash(by_assertion);
}

static void so_it_is_of_a_failed_assertion(void **state)
{
	int status = status_of(run_abort);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	culprit_is_last();
}

static void run_after_handler(void)
{
	(void)signal(SIGSEGV, exits);
	run_segv();
}

static void run_after_another_handler(void)
{
	struct sigaction action = {.sa_sigaction = exits_with_more,
				   .sa_flags = SA_SIGINFO};

	(void)sigaction(SIGABRT, &action, NULL);
	run_abort();
}

static void the_handler_before_is_called(void **state)
{
	int status = status_of(run_after_handler);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 33);
	culprit_is_last();
	status = status_of(run_after_another_handler);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 44);
	culprit_is_last();
}

static void run_stopped(void)
{
	struct sigaction now;

	(void)signal(SIGSEGV, exits);
	weir_trace_free(start());
	weir_trace_free(start());
	assert(sigaction(SIGSEGV, NULL, &now) == 0);
	assert(now.sa_handler == exits);
	crash(by_fault);
}

static void a_trace_that_is_over_is_not_written(void **state)
{
	int status = status_of(run_stopped);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 33);
	assert_string_equal(left(), "");
}

static void run_grandchild(void)
{
	struct weir_trace *trace = start();
	int status;
	pid_t pid = fork();

	if (pid == 0)
		abort();
	assert(waitpid(pid, &status, 0) == pid);
	assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	weir_trace_free(trace);
}

static void a_child_process_writes_nothing(void **state)
{
	assert_int_equal(status_of(run_grandchild), 0);
	assert_string_equal(left(), "");
}

static struct weir_trace *traced;

static void writes(int signal)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	_exit(weir_trace_write_unsafe(traced, fd) == 0 ? 0 : 1);
}

static void run_own_handler(void)
{
	assert(weir_trace_new(&traced, NULL, NULL) == 0);
	(void)signal(SIGSEGV, writes);
	crash(by_fault);
}

static void a_handler_of_the_programs_may_write_it(void **state)
{
	assert_int_equal(status_of(run_own_handler), 0);
	culprit_is_last();
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		test(the_slice_that_crashed_is_the_last_event),
		test(so_it_is_of_an_error_of_the_bus),
		test(so_it_is_of_a_failed_assertion),
		test(the_handler_before_is_called),
		test(a_trace_that_is_over_is_not_written),
		test(a_child_process_writes_nothing),
		test(a_handler_of_the_programs_may_write_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
