/* SPDX-License-Identifier: BSD-2-Clause */
/* How child processes are started, and cannot be; and other children. */
#include "flow/child_kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kept out;

/* What the script puts out without input, with these options. */
static int code_of_script(const struct kind *kind, const char *script,
			  const struct weir_flow_child_options *options)
{
	return code_of(kind, kept(weir_flow_child(NULL, SHELL(script), options),
				  &out));
}

/* --- How it is started ---------------------------------------------------- */

static void a_program_that_cannot_be_started_is_named(void **state)
{
	const struct weir_flow_child_options there = {.directory = "/nowhere"};
	struct weir_error *error;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_child(endless(), ARGV("no-such-program"),
				       NULL);
		error = end_of(watchers[i], weir_flow_ignore(flow));
		assert_int_equal(error->code, -ENOENT);
		assert_string_equal(error->origin, "child");
		assert_string_equal(error->message,
				    "no-such-program: could not be started: "
				    "No such file or directory");
		weir_error_unref(error);
	}
	flow = weir_flow_child(NULL, ARGV("/etc/passwd", "a"), NULL);
	assert_int_equal(code_of(&loop, weir_flow_ignore(flow)), -EACCES);
	flow = weir_flow_child(NULL, ARGV("true"), &there);
	assert_int_equal(code_of(&loop, weir_flow_ignore(flow)), -ENOENT);
}

static void it_has_what_its_options_say(void **state)
{
	char name[] = "A=1", other[] = "B=2", directory[] = "/usr";
	const char *words[] = {"sh", "-c", "pwd; echo $A $B $HOME", NULL};
	const char *environment[] = {name, other, NULL};
	const struct weir_flow_child_options options = {
		.directory = directory,
		.environment = environment,
	};
	struct weir_flow *flow = weir_flow_child(NULL, words, &options);

	/* all of it was copied */
	name[0] = other[0] = directory[1] = 'x';
	words[0] = words[2] = "no";
	environment[0] = NULL;
	assert_int_equal(code_of(&loop, kept(flow, &out)), 0);
	assert_string_equal(out.text, "/usr\n1 2\n");
	assert_int_equal(setenv("WEIR_TEST_CHILD", "3", 1), 0);
	assert_int_equal(code_of_script(&loop, "echo $WEIR_TEST_CHILD", NULL),
			 0);
	assert_string_equal(out.text, "3\n");
}

static void it_has_three_descriptors(void **state)
{
	int kept_open = open("/dev/null", O_RDONLY); /* not close-on-exec */

	assert_true(kept_open > 2);
	/* the fourth is that of the directory */
	assert_int_equal(
		code_of(&loop,
			kept(weir_flow_child(NULL, ARGV("ls", "/proc/self/fd"),
					     NULL),
			     &out)),
		0);
	assert_string_equal(out.text, "0\n1\n2\n3\n");
	assert_int_equal(close(kept_open), 0);
}

/* Whose thread blocks signals, or ignores them. (Those of the C library, 32 and
 * 33, are ignored in a child if the library uses them.) */
static void it_has_all_signals_and_a_group_of_its_own(void **state)
{
	static const char script[] =
		"grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f 2;"
		" cut -d ' ' -f 5 /proc/self/stat; echo $$";
	unsigned long blocked, ignored;
	sigset_t set, before;
	int group, shell;
	size_t i;

	(void)sigfillset(&set);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
	(void)signal(SIGHUP, SIG_IGN);
	for (i = 0; watchers[i]; i++) {
		assert_int_equal(code_of_script(watchers[i], script, NULL), 0);
		assert_int_equal(sscanf(out.text, "%lx %lx %d %d", &blocked,
					&ignored, &group, &shell),
				 4);
		assert_int_equal(blocked, 0);
		assert_int_equal(ignored & ~0x180000000ul, 0);
		assert_int_equal(group, shell);
	}
	(void)signal(SIGHUP, SIG_DFL);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

/* Any of them, and so the ends of pipes are among them. */
static void the_standard_descriptors_may_be_closed(void **state)
{
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_MESSAGE,
	};
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct digest digest;
	struct noise noise;
	struct place place;
	int kept_fds[3], closed, rc, i;

	for (i = 0; i < 3; i++)
		kept_fds[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
	for (closed = 1; closed < 8; closed++) {
		noise = (struct noise){.left = 100000, .block = 1000};
		flow = weir_flow_child(noise_flow(&noise),
				       SHELL("cat; echo a >&2; exit 1"),
				       &options);
		flow = digested(flow, &digest);
		place_make(&place, &loop);
		for (i = 0; i < 3; i++)
			if (closed & 1 << i)
				(void)close(i);
		rc = weir_flow_start(flow, place.executor, NULL, &run);
		if (rc == 0)
			rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL,
						&error);
		for (i = 0; i < 3; i++)
			(void)dup2(kept_fds[i], i);
		assert_int_equal(rc, 0);
		assert_string_equal(error->message, "sh: exit status 1: a");
		assert_int_equal(digest.hash, noise.made.hash);
		weir_error_unref(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(loop.free(&place), 0);
	}
	for (i = 0; i < 3; i++)
		(void)close(kept_fds[i]);
}

/* At each limit the child runs, or the error says what was missing. */
static void a_limit_of_descriptors_is_an_error(void **state)
{
	struct rlimit limit, low;
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct place place;
	int ok = 0, more;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	leftovers_note(&leftovers);
	place_make(&place, &loop);
	low = limit;
	for (more = 0; ok < 2; more++) {
		low.rlim_cur = leftovers.n_fds + (rlim_t)more;
		flow = weir_flow_child(endless(), ARGV("head", "-c", "9"),
				       NULL);
		flow = weir_flow_ignore(flow);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ok += !error;
		assert_true(!error || error->code == -EMFILE);
		assert_true(more > 0 || error);
		weir_error_unref(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
	}
	assert_int_equal(loop.free(&place), 0);
	leftovers_check(&leftovers);
}

/* The allocator of an executor, any thread: fails once, or never. */
static uint32_t allocations, failing;

static void *alloc(size_t size, void *context)
{
	if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == failing)
		return NULL;
	return malloc(size);
}

static void dealloc(void *memory, size_t size, void *context)
{
	free(memory);
}

/* Each allocation of a run fails in turn. What came out before is right, and
 * nothing is left of the child. */
static void without_memory_nothing_is_left(void **state)
{
	/* of one process */
	static const char script[] =
		"while read x; do echo $x >&2; done; echo a; exit 3";
	static const struct weir_allocator allocator = {.alloc = alloc,
							.free = dealloc};
	const struct weir_executor_options place_options = {
		.allocator = &allocator};
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_MESSAGE};
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_loop *loop_;
	struct weir_flow *flow;
	size_t ok = 0, i;
	int rc;

	leftovers_note(&leftovers);
	for (i = 1; ok < 3; i++) {
		failing = 0;
		assert_int_equal(weir_loop_new(&loop_, &place_options), 0);
		flow = weir_flow_take(endless(), 100);
		flow = weir_flow_child(flow, SHELL(script), &options);
		flow = kept(flow, &out);
		allocations = 0;
		failing = (uint32_t)i;
		rc = weir_flow_start(flow, weir_loop_executor(loop_), NULL,
				     &run);
		if (rc == 0) {
			assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER,
							    NULL, &error),
					 0);
			rc = error->code;
			ok += weir_flow_child_status(error) == 3 << 8 &&
			      allocations < i;
			weir_error_unref(error);
			weir_flow_run_free(run);
		}
		assert_true(rc == -ENOMEM || rc == -ECHILD);
		if (rc == -ECHILD)
			assert_string_equal(out.text, "a\n");
		weir_flow_free(flow);
		assert_int_equal(weir_loop_free(loop_), 0);
		leftovers_check(&leftovers);
	}
	assert_true(i > 10);
}

/* --- Other children ------------------------------------------------------- */

static void other_children_are_not_waited_for(void **state)
{
	struct weir_flow *flow;
	pid_t other = fork();
	struct weir_flow_run *run;
	struct place place;
	int status;

	if (other == 0)
		_exit(7);
	assert_true(other > 0);
	flow = weir_flow_ignore(weir_flow_child(NULL, ARGV("true"), NULL));
	place_make(&place, &loop);
	assert_int_equal(weir_flow_start(flow, place.executor, NULL, &run), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(loop.free(&place), 0);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* The kernel waits for it in our place, and forgets the status. */
static void a_status_that_is_lost_is_an_error(void **state)
{
	struct weir_error *error;

	(void)signal(SIGCHLD, SIG_IGN);
	error = end_of(
		&loop,
		kept(weir_flow_child(endless(), ARGV("head", "-n", "1"), NULL),
		     &out));
	(void)signal(SIGCHLD, SIG_DFL);
	assert_string_equal(out.text, "again\n");
	assert_int_equal(error->code, -ECHILD);
	assert_string_equal(error->message, "head: its exit status was lost");
	assert_int_equal(weir_flow_child_status(error), -ECHILD);
	weir_error_unref(error);
}

/* --- Bad arguments -------------------------------------------------------- */

static void bad_arguments_are_refused(void **state)
{
	static const struct {
		struct weir_flow_child_options options;
		const char *words;
	} wrong[] = {
		{{.errors = 4}, "no such errors"},
		{{.errors = (enum weir_flow_child_errors) - 1},
		 "no such errors"},
		{{.errors = WEIR_FLOW_CHILD_ERRORS_FD, .errors_fd = -1},
		 "errors_fd is no descriptor"},
		{{.directory = ""}, "directory is empty"},
		{{.block = (1u << 30) + 1}, "block is above 1 GiB"},
		{{.reserved = {0, 0, 0, 1}}, "reserved is not zero"},
	};
	const char *const *const none[] = {NULL, (const char *const[]){NULL},
					   (const char *const[]){"", NULL}};
	const char *origin, *message;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		flow = weir_flow_child(endless(), ARGV("cat"),
				       &wrong[i].options);
		assert_int_equal(weir_flow_check(flow, &origin, &message),
				 -EINVAL);
		assert_string_equal(origin, "child");
		assert_string_equal(message, wrong[i].words);
		weir_flow_free(flow);
	}
	for (i = 0; i < 3; i++) {
		flow = weir_flow_child(NULL, none[i], NULL);
		assert_int_equal(weir_flow_check(flow, &origin, &message),
				 -EINVAL);
		assert_string_equal(message, "argv names no program");
		weir_flow_free(flow);
	}
	flow = weir_flow_child(weir_flow_range(1, 3), ARGV("cat"), NULL);
	assert_int_equal(weir_flow_check(flow, &origin, &message), -EINVAL);
	weir_flow_free(flow);
}

static void an_executor_without_watches_is_an_error(void **state)
{
	struct weir_flow *flow =
		weir_flow_ignore(weir_flow_child(NULL, ARGV("true"), NULL));
	struct weir_error *error;
	struct weir_flow_run *run;
	struct place place;

	place_make(&place, &direct);
	assert_int_equal(weir_flow_start(flow, place.executor, NULL, &run), 0);
	direct.drive(&place);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	assert_int_equal(error->code, -ENOTSUP);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(direct.free(&place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_cannot_be_started_is_named),
		cmocka_unit_test(it_has_what_its_options_say),
		cmocka_unit_test(it_has_three_descriptors),
		cmocka_unit_test(it_has_all_signals_and_a_group_of_its_own),
		cmocka_unit_test(the_standard_descriptors_may_be_closed),
		cmocka_unit_test(a_limit_of_descriptors_is_an_error),
		cmocka_unit_test(without_memory_nothing_is_left),
		cmocka_unit_test(other_children_are_not_waited_for),
		cmocka_unit_test(a_status_that_is_lost_is_an_error),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(an_executor_without_watches_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
