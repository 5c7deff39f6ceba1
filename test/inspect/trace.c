/* SPDX-License-Identifier: BSD-2-Clause */
/* How traces begin and end, and what they record. */
#include "inspect/kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/loop.h>

#include "actor/kit.h"

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_trace *trace;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	trace = NULL;
	return 0;
}

static int teardown(void **state)
{
	weir_trace_free(trace);
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

static void start(uint32_t categories)
{
	const struct weir_trace_options options = {.flags = categories};

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
}

static struct weir_trace_counts counted(void)
{
	struct weir_trace_counts counts;

	assert_int_equal(weir_trace_count(trace, &counts), 0);
	return counts;
}

/* An actor that takes `n` items, in the memory of one that is gone. */
static void run_one(const char *name, int n)
{
	static struct node node;

	node_init(&node, executor, name, 1, 0);
	node_start(&node);
	while (n-- > 0) {
		node_put(&node, 0);
		weir_sim_run(sim);
	}
	node_stop(&node);
	weir_sim_run(sim);
}

/* What it has written, until the next call. */
static const char *written(void)
{
	static char text[1 << 23];
	FILE *file = tmpfile();
	size_t n;

	assert_non_null(file);
	assert_int_equal(weir_trace_write(trace, fileno(file)), 0);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	assert_true(n < sizeof(text) - 1);
	text[n] = '\0';
	assert_int_equal(fclose(file), 0);
	return text;
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void slices_are_recorded_until_the_stop(void **state)
{
	uint64_t events;

	run_one("untold", 1);
	start(0);
	run_one("told", 3);
	assert_int_equal(weir_trace_stop(trace), 0);
	events = counted().events;
	assert_true(events >= 4);
	run_one("untold", 1);
	assert_int_equal(counted().events, events);
	assert_int_equal(times(written(), "untold"), 0);
	assert_int_equal(times(written(),
			       "{\"name\":\"told\",\"cat\":\"slice\""),
			 events);
	assert_int_equal(counted().lost, 0);
}

static void actors_that_are_gone_keep_their_names(void **state)
{
	static const char *const names[] = {"one", "two", "three"};
	char name[8];
	size_t i;

	start(WEIR_TRACE_SLICES);
	for (i = 0; i < 3; i++) {
		strcpy(name, names[i]);
		run_one(name, 1);
	}
	strcpy(name, "none");
	for (i = 0; i < 3; i++)
		assert_non_null(strstr(written(), names[i]));
	assert_null(strstr(written(), "none"));
}

static void a_wait_ends_with_the_next_slice(void **state)
{
	const char *text;

	start(WEIR_TRACE_WAITS);
	run_one("waiter", 2);
	text = written();
	assert_int_equal(
		times(text,
		      "\"waiter waits for input\",\"cat\":\"wait\",\"ph\":"
		      "\"b\""),
		times(text,
		      "\"waiter waits for input\",\"cat\":\"wait\",\"ph\":"
		      "\"e\""));
	assert_true(times(text, "\"ph\":\"b\"") >= 2);
	assert_int_equal(times(text, "\"open\""), 0);
	assert_int_equal(times(text, "\"slice\""), 0);
}

static void a_wait_says_what_for(void **state)
{
	struct node in, time, room, sink, none;
	int i;

	start(0);
	node_init(&in, executor, "in", 2, 0);
	node_init(&time, executor, "time", 0, 0);
	node_waits(&time);
	node_init(&room, executor, "room", 1, 1);
	node_init(&sink, executor, "sink", 1, 0);
	node_init(&none, executor, "none", 0, 1);
	node_link(&room, 0, &sink, 0);
	weir_actor_suspend(&sink.actor);
	node_start(&in);
	node_start(&time);
	node_start(&room);
	node_start(&sink);
	node_start(&none);
	node_put(&in, 0);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	node_put(&room, 0);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	for (i = 0; i < 4; i++)
		node_put(&room, 0);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	assert_non_null(strstr(written(), "\"in waits for input\""));
	assert_non_null(strstr(written(), "\"args\":{\"port\":1}"));
	assert_non_null(strstr(written(), "\"time waits for a time\""));
	assert_non_null(strstr(written(), "\"room waits for room\""));
	assert_non_null(strstr(written(), "\"sink is suspended\""));
	assert_non_null(strstr(written(), "\"none is not linked\""));
	/* none of them has ended */
	assert_int_equal(times(written(), "\"open\":true"), 5);
	node_stop(&in);
	node_stop(&time);
	node_stop(&room);
	node_stop(&sink);
	node_stop(&none);
	weir_sim_run(sim);
}

static void stop_here(struct node *node)
{
	assert_int_equal(weir_trace_stop(trace), 0);
}

static void it_can_be_stopped_in_a_turn(void **state)
{
	struct node node;

	start(0);
	node_init(&node, executor, "stops", 1, 0);
	node.before = stop_here;
	node_start(&node);
	node_put(&node, 0);
	weir_sim_run(sim);
	/* its slice has not ended */
	assert_int_equal(times(written(), "\"stops\""), 1);
	assert_int_equal(times(written(), "\"open\":true"), 1);
	node_stop(&node);
	weir_sim_run(sim);
}

static void write_here(struct node *node)
{
	assert_non_null(strstr(written(), "\"open\":true}}],"));
}

static void the_callers_slice_comes_last(void **state)
{
	struct node node;

	start(0);
	node_init(&node, executor, "writes", 1, 0);
	node.before = write_here;
	node_start(&node);
	node_put(&node, 0);
	weir_sim_run(sim);
	node_stop(&node);
	weir_sim_run(sim);
}

static bool restarted;

/* Of which no slice is told under the numbers that names have in the other. */
static void restart_here(struct node *node)
{
	if (restarted)
		return;
	restarted = true;
	weir_trace_free(trace);
	start(0);
}

static void another_one_can_begin_in_a_turn(void **state)
{
	struct node node;

	start(0);
	node_init(&node, executor, "begins", 1, 0);
	node.before = restart_here;
	node_start(&node);
	node_put(&node, 0);
	weir_sim_run(sim);
	assert_non_null(strstr(written(), "\"begins\""));
	assert_null(strstr(written(), "name lost"));
	node_stop(&node);
	weir_sim_run(sim);
}

static void a_second_one_is_refused(void **state)
{
	struct weir_trace *second;

	start(0);
	assert_int_equal(weir_trace_new(&second, NULL, NULL), -EBUSY);
	assert_null(second);
	assert_int_equal(weir_trace_stop(trace), 0);
	assert_int_equal(weir_trace_stop(trace), -EALREADY);
	assert_int_equal(weir_trace_new(&second, NULL, NULL), 0);
	weir_trace_free(second);
}

static void nonsense_is_refused(void **state)
{
	static char long_path[5000];
	const struct weir_trace_options wrong[] = {
		{.flags = 16},
		{.threads = 4097},
		{.path = "/a", .crash_path = "/b"},
		{.crash_path = long_path},
		{.reserved = {[3] = 1}},
	};
	struct weir_trace_options nowhere = {.path = "/nowhere/at/all"};
	struct weir_trace_counts counts;
	size_t i;

	memset(long_path, 'a', sizeof(long_path) - 1);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		trace = (void *)&counts;
		assert_int_equal(weir_trace_new(&trace, &wrong[i], NULL),
				 -EINVAL);
		assert_null(trace);
	}
	assert_int_equal(weir_trace_new(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_trace_new(&trace, &nowhere, NULL), -ENOENT);
	assert_int_equal(weir_trace_stop(NULL), -EINVAL);
	assert_int_equal(weir_trace_write(NULL, 1), -EINVAL);
	assert_int_equal(weir_trace_write_unsafe(NULL, 1), -EINVAL);
	assert_int_equal(weir_trace_count(NULL, &counts), -EINVAL);
	weir_trace_free(NULL);
	start(0);
	assert_int_equal(weir_trace_count(trace, NULL), -EINVAL);
	assert_int_equal(weir_trace_write(trace, -1), -EINVAL);
	assert_int_equal(weir_trace_write(trace, 1000000), -EBADF);
}

static void without_memory_nothing_is_left(void **state)
{
	const struct weir_trace_options options = {.threads = 3};
	struct heap heap;
	size_t n;
	int rc;

	for (n = 1;; n++) {
		heap_init(&heap, n);
		rc = weir_trace_new(&trace, &options, &heap.allocator);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(trace);
		assert_int_equal(heap.live, 0);
	}
	/* the trace, tracks, names, waits, events of three threads */
	assert_int_equal(n, 8);
	run_one("a", 100);
	assert_int_equal(heap.calls, 7);
	weir_trace_free(trace);
	trace = NULL;
	assert_int_equal(heap.live, 0);
}

static void *run_another(void *context)
{
	struct weir_sim *other = sim_new(2);
	struct node node;

	node_init(&node, weir_sim_executor(other), "other", 1, 0);
	node_start(&node);
	weir_sim_run(other);
	node_stop(&node);
	weir_sim_run(other);
	sim_free(other);
	return NULL;
}

static void in_a_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_another, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void what_threads_without_a_track_run_is_lost(void **state)
{
	const struct weir_trace_options options = {.threads = 1};

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	run_one("own", 1);
	in_a_thread();
	assert_true(counted().lost >= 2);
	assert_null(strstr(written(), "\"other\""));
	assert_non_null(strstr(written(), "\"lost\":2"));
}

static void the_track_of_a_thread_that_has_ended_is_used_again(void **state)
{
	const struct weir_trace_options options = {.threads = 2};
	int i;

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	run_one("own", 1);
	in_a_thread();
	assert_int_equal(times(written(), "\"other\",\"cat\":\"slice\""), 2);
	for (i = 0; i < 5; i++)
		in_a_thread();
	assert_int_equal(counted().lost, 0);
	/* of the last of these threads */
	assert_int_equal(times(written(), "\"other\",\"cat\":\"slice\""), 2);
	assert_non_null(strstr(written(), "\"overwritten\":10,"));
}

static void the_last_events_are_kept(void **state)
{
	start(0);
	run_one("early", 1);
	run_one("many", 20000);
	assert_true(counted().overwritten > 3000);
	assert_null(strstr(written(), "early"));
}

static void a_file_is_written_as_it_goes(void **state)
{
	char path[] = "/tmp/weir-trace-XXXXXX";
	int fd = mkstemp(path);
	struct weir_trace_options options = {.path = path};
	static char text[1 << 23];
	ssize_t n;

	assert_true(fd >= 0);
	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	assert_int_equal(weir_trace_write(trace, fd), -EINVAL);
	run_one("in a file", 3);
	assert_int_equal(weir_trace_stop(trace), 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(times(text, "\"in a file\",\"cat\":\"slice\""),
			 counted().events);
	assert_non_null(strstr(text, "}}\n"));
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
}

static void the_first_error_of_a_file_is_told(void **state)
{
	const struct weir_trace_options options = {.path = "/dev/full"};

	assert_int_equal(weir_trace_new(&trace, &options, NULL), 0);
	run_one("lost", 3);
	assert_int_equal(weir_trace_stop(trace), -ENOSPC);
}

static int child(void)
{
	run_one("child", 2);
	if (weir_trace_write(trace, 1) != -ECHILD ||
	    weir_trace_stop(trace) != -ECHILD)
		return 1;
	weir_trace_free(trace);
	run_one("child", 2);
	if (weir_trace_new(&trace, NULL, NULL) != 0)
		return 2;
	run_one("again", 1);
	if (!strstr(written(), "again"))
		return 3;
	weir_trace_free(trace);
	return 0;
}

static void a_child_process_frees_its_copy(void **state)
{
	pid_t pid;
	int status;

	start(0);
	run_one("parent", 1);
	pid = fork();
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	run_one("after", 1);
	assert_non_null(strstr(written(), "after"));
}

/* A turn that may block runs a loop, whose slices lie in its own. */
static void turn_with_a_loop(struct node *node)
{
	struct weir_loop *loop;
	struct node inner;

	assert(weir_loop_new(&loop, NULL) == 0);
	node_init(&inner, weir_loop_executor(loop), "inner", 1, 0);
	node_start(&inner);
	(void)weir_loop_run(loop, 10);
	node_stop(&inner);
	(void)weir_loop_run(loop, 10);
	assert(weir_loop_free(loop) == 0);
}

static void slices_in_slices_split_them(void **state)
{
	struct weir_blocking *blocking;
	struct node node;
	const char *text;

	start(0);
	assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
	node_init(&node, weir_blocking_executor(blocking), "outer", 1, 0);
	node.before = turn_with_a_loop;
	node_start(&node);
	node_put(&node, 0);
	while (weir_executor_alive(weir_blocking_executor(blocking)) > 0) {
		(void)sched_yield();
		if (counted().events >= 4)
			node_stop(&node);
	}
	assert_int_equal(weir_blocking_free(blocking), 0);
	text = strstr(written(), "\"inner\",\"cat\":\"slice\"");
	assert_non_null(text);
	assert_non_null(strstr(text, "\"outer\",\"cat\":\"slice\""));
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		test(slices_are_recorded_until_the_stop),
		test(actors_that_are_gone_keep_their_names),
		test(a_wait_ends_with_the_next_slice),
		test(a_wait_says_what_for),
		test(it_can_be_stopped_in_a_turn),
		test(the_callers_slice_comes_last),
		test(another_one_can_begin_in_a_turn),
		test(a_second_one_is_refused),
		test(nonsense_is_refused),
		test(without_memory_nothing_is_left),
		test(what_threads_without_a_track_run_is_lost),
		test(the_track_of_a_thread_that_has_ended_is_used_again),
		test(the_last_events_are_kept),
		test(a_file_is_written_as_it_goes),
		test(the_first_error_of_a_file_is_told),
		test(a_child_process_frees_its_copy),
		test(slices_in_slices_split_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
