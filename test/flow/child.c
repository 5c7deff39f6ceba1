/* SPDX-License-Identifier: BSD-2-Clause */
/* Child processes: their input, output, ends and what is left of them. */
#include "flow/child_kit.h"
#include "flow/world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
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

/* --- Input and output ----------------------------------------------------- */

static void what_goes_in_comes_out(void **state)
{
	struct digest digest;
	struct noise noise;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		noise = (struct noise){.left = 3000000, .block = 100000};
		flow = weir_flow_child(noise_flow(&noise), ARGV("cat"), NULL);
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, 3000000);
		assert_int_equal(digest.hash, noise.made.hash);
	}
}

static void small_items_come_through_whole(void **state)
{
	struct digest digest;
	struct noise noise;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		noise = (struct noise){.left = 30000, .block = 3};
		flow = weir_flow_child(noise_flow(&noise),
				       ARGV("tee", "/dev/null"), NULL);
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, 30000);
		assert_int_equal(digest.hash, noise.made.hash);
	}
}

static void a_block_is_no_larger_than_asked_for(void **state)
{
	const struct weir_flow_child_options options = {.block = 1};
	struct weir_flow *flow;

	flow = weir_flow_child(NULL, ARGV("echo", "abc"), &options);
	flow = weir_flow_count(flow);
	assert_int_equal(code_of(&loop, flow), 0);
	assert_int_equal(code_of_script(&loop, "echo abc", &options), 0);
	assert_string_equal(out.text, "abc\n");
}

static void children_stand_behind_each_other(void **state)
{
	struct digest digest;
	struct noise noise;
	struct weir_flow *flow;
	size_t i;
	int n;

	for (i = 0; watchers[i]; i++) {
		noise = (struct noise){.left = 1000000, .block = 100000};
		flow = noise_flow(&noise);
		for (n = 0; n < 4; n++) {
			flow = weir_flow_child(flow, ARGV("cat"), NULL);
			if (n == 1)
				flow = weir_flow_async(flow, 4, NULL);
		}
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, 1000000);
		assert_int_equal(digest.hash, noise.made.hash);
	}
}

static void a_child_without_a_flow_has_an_empty_input(void **state)
{
	size_t i;

	for (i = 0; watchers[i]; i++) {
		assert_int_equal(code_of_script(watchers[i], "wc -c", NULL), 0);
		assert_string_equal(out.text, "0\n");
	}
}

static void a_child_whose_flow_is_empty_is_started(void **state)
{
	struct weir_flow *flow =
		weir_flow_items(weir_flow_empty(), weir_flow_bytes_items());

	flow = weir_flow_child(flow, ARGV("wc", "-c"), NULL);
	assert_int_equal(code_of(&loop, kept(flow, &out)), 0);
	assert_string_equal(out.text, "0\n");
}

/* The child writes as much as fits before it reads, and upstream has more than
 * fits: two full pipes. */
static void two_full_pipes_do_not_wait_for_each_other(void **state)
{
	static const char script[] =
		"head -c 1000000 /dev/zero; wc -c; head -c 1000000 /dev/zero";
	struct digest digest;
	struct noise noise;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		noise = (struct noise){.left = 1000000, .block = 100000};
		flow = weir_flow_child(noise_flow(&noise), SHELL(script), NULL);
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, 2000000 + strlen("1000000\n"));
	}
}

static void each_run_starts_a_child_of_its_own(void **state)
{
	struct weir_flow *flow =
		kept(weir_flow_child(NULL, ARGV("echo", "a"), NULL), &out);
	struct weir_flow_run *runs[3];
	struct leftovers leftovers;
	struct weir_error *error;
	struct place place;
	int i;

	leftovers_note(&leftovers);
	place_make(&place, &loop);
	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_flow_start(flow, place.executor, NULL,
						 &runs[i]),
				 0);
		assert_int_equal(weir_flow_run_wait(runs[i], WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_null(error);
		weir_flow_run_free(runs[i]);
	}
	assert_string_equal(out.text, "a\na\na\n");
	weir_flow_free(flow);
	assert_int_equal(loop.free(&place), 0);
	leftovers_check(&leftovers);
}

/* --- Ends ----------------------------------------------------------------- */

static void a_child_that_takes_less_ends_the_input(void **state)
{
	struct digest digest;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_child(endless(), ARGV("head", "-c", "42"),
				       NULL);
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, 42);
	}
}

/* Upstream has nothing to write, and is cancelled all the same. */
static void a_child_that_exits_ends_an_input_at_rest(void **state)
{
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_items(weir_flow_never(),
				       weir_flow_bytes_items());
		flow = weir_flow_child(flow, ARGV("echo", "a"), NULL);
		assert_int_equal(code_of(watchers[i], kept(flow, &out)), 0);
		assert_string_equal(out.text, "a\n");
	}
}

static void a_child_may_close_its_input_and_go_on(void **state)
{
	static const char script[] =
		"exec 0<&-; head -c 10000 /dev/zero | tr '\\0' x; exit 0";
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_child(endless(), SHELL(script), NULL);
		assert_int_equal(code_of(watchers[i], kept(flow, &out)), 0);
		assert_int_equal(out.n, 10000);
	}
}

/* All that it has written comes first. */
static void a_child_that_fails_says_how(void **state)
{
	struct weir_error *error;
	struct weir_flow *flow;
	size_t i;
	int status;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_child(NULL, SHELL("echo a; exit 3"), NULL);
		error = end_of(watchers[i], kept(flow, &out));
		assert_string_equal(out.text, "a\n");
		assert_non_null(error);
		assert_int_equal(error->code, -ECHILD);
		assert_string_equal(error->origin, "child");
		assert_string_equal(error->message, "sh: exit status 3");
		status = weir_flow_child_status(error);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 3);
		weir_error_unref(error);
	}
}

static void a_child_that_is_killed_says_by_what(void **state)
{
	struct weir_error *error = end_of(
		&loop,
		weir_flow_ignore(weir_flow_child(
			NULL, SHELL("ulimit -c 0; kill -QUIT $$"), NULL)));
	int status = weir_flow_child_status(error);

	assert_string_equal(error->message, "sh: killed by signal 3 (Quit)");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGQUIT);
	weir_error_unref(error);
}

static void other_errors_have_no_status(void **state)
{
	struct weir_error *error = weir_error_format(-ECHILD, "a", "b");

	assert_int_equal(weir_flow_child_status(error), -EINVAL);
	assert_int_equal(weir_flow_child_status(NULL), -EINVAL);
	assert_int_equal(weir_flow_child_status(weir_error_of(-ECHILD)),
			 -EINVAL);
	weir_error_unref(error);
}

static void an_endless_child_ends_when_it_is_cancelled(void **state)
{
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_take(weir_flow_child(NULL, ARGV("yes"), NULL),
				      3);
		assert_int_equal(code_of(watchers[i], weir_flow_ignore(flow)),
				 0);
	}
}

static void an_error_of_upstream_ends_the_child(void **state)
{
	struct weir_flow *flow;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_items(weir_flow_fail(-EDOM, "no more"),
				       weir_flow_bytes_items());
		flow = weir_flow_concat(
			(struct weir_flow *[]){weir_flow_take(endless(), 100),
					       flow},
			2);
		flow = weir_flow_child(flow, ARGV("cat"), NULL);
		assert_int_equal(code_of(watchers[i], weir_flow_ignore(flow)),
				 -EDOM);
	}
}

/* The shell and its child ignore it: only SIGKILL ends them, and comes for the
 * group. */
static void a_child_that_ignores_sigterm_is_killed(void **state)
{
	static const char script[] =
		"trap '' TERM; sleep 1000 & echo ready; wait";
	const struct weir_flow_child_options options = {.kill_ns = 1000000};
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct place place;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		leftovers_note(&leftovers);
		flow = weir_flow_child(NULL, SHELL(script), &options);
		flow = weir_flow_ignore(weir_flow_take(flow, 1));
		place_make(&place, watchers[i]);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		/* the child was waited for; its child was only killed */
		leftovers_killed(1);
		leftovers_check(&leftovers);
	}
}

/* The child ends by SIGTERM; its own child ignores it, and was not asked for. */
static void what_is_left_of_the_group_is_killed(void **state)
{
	static const char script[] = "trap '' TERM; sleep 1000 & trap - TERM;"
				     " echo ready; wait";
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct place place;
	size_t i;

	/* not on the simulator: its clock may come to the SIGKILL first */
	for (i = 0; watchers[i] != &sim; i++) {
		leftovers_note(&leftovers);
		flow = weir_flow_child(NULL, SHELL(script), NULL);
		flow = weir_flow_ignore(weir_flow_take(flow, 1));
		place_make(&place, watchers[i]);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		leftovers_killed(1);
		leftovers_check(&leftovers);
	}
}

/* It is given the time to end as it likes. */
static void a_child_may_end_by_itself_when_it_is_cancelled(void **state)
{
	static const char script[] =
		"trap 'echo bye >&2; exit' TERM; echo ready;"
		" while :; do :; done";
	struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_FD,
	};
	struct weir_flow *flow;
	char text[8] = "";
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	options.errors_fd = fds[1];
	flow = weir_flow_take(weir_flow_child(NULL, SHELL(script), &options),
			      1);
	assert_int_equal(code_of(&threads, weir_flow_ignore(flow)), 0);
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(read(fds[0], text, sizeof(text)), 4);
	assert_string_equal(text, "bye\n");
	assert_int_equal(close(fds[0]), 0);
}

static void ended(struct weir_ending *ending)
{
}

/* While the executor is being ended, too. */
static void a_stopped_executor_waits_for_the_child(void **state)
{
	struct weir_ending ending = {.done = ended};
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct place place;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		leftovers_note(&leftovers);
		place_make(&place, watchers[i]);
		flow = weir_flow_child(endless(), ARGV("cat"), NULL);
		flow = weir_flow_ignore(flow);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		watchers[i]->drive(&place);
		assert_int_equal(weir_executor_stop_async(
					 place.executor, &ending, WEIR_FOREVER),
				 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		assert_int_equal(error->code, -ECANCELED);
		weir_error_unref(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		leftovers_check(&leftovers);
	}
}

static void a_drained_run_ends_a_child_without_input(void **state)
{
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct place place;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		leftovers_note(&leftovers);
		place_make(&place, watchers[i]);
		flow = weir_flow_child(NULL, ARGV("yes"), NULL);
		flow = weir_flow_ignore(flow);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		weir_flow_run_end(run);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		assert_null(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		leftovers_check(&leftovers);
	}
}

static int forget(void **item, void *context)
{
	weir_flow_bytes_unref(*item);
	*item = NULL;
	return 0;
}

/* Downstream asks for one block, and for no more; also where what the child has
 * left behind closes the output later than the child. */
static void the_end_behind_the_output_needs_no_demand(void **state)
{
	static const char *const scripts[] = {
		"echo a",
		"(exec 3>&1 >&-; while kill -0 $$ 2>&-; do :; done) & echo a",
	};
	static struct flow_world world;
	struct leftovers leftovers;
	size_t i;

	leftovers_note(&leftovers);
	for (i = 0; i < 2; i++) {
		flow_world_init(&world, weir_flow_bytes_items());
		world.flow =
			weir_flow_child(world.flow, SHELL(scripts[i]), NULL);
		world.flow = weir_flow_map(world.flow, forget, NULL);
		world.flow = weir_flow_items(world.flow, NULL);
		world_start(&world, 1);
		flow_world_end(&world, 0);
		assert_int_equal(world.got.n, 1);
		/* the orphan */
		if (i == 1)
			assert_true(waitpid(-1, NULL, 0) > 0);
	}
}

/* The child has exited, and its own child writes, while nothing is asked for. */
static void what_comes_behind_the_exit_waits_for_demand(void **state)
{
	static const char script[] = "(while kill -0 $$ 2>&-; do :; done;"
				     " echo late; echo x >&2) & echo early;"
				     " read x <&2";
	struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_FD,
	};
	static struct flow_world world;
	struct leftovers leftovers;
	int fds[2];
	char c;

	leftovers_note(&leftovers);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	options.errors_fd = fds[1];
	flow_world_init(&world, weir_flow_bytes_items());
	world.flow = weir_flow_child(world.flow, SHELL(script), &options);
	world.flow = weir_flow_map(world.flow, forget, NULL);
	world.flow = weir_flow_items(world.flow, NULL);
	world_start(&world, 1);
	while (world.got.n < 1)
		until(&world, 0);
	/* it exits now, and no sooner */
	assert_int_equal(write(fds[0], "\n", 1), 1);
	do
		until(&world, 0);
	while (read(fds[0], &c, 1) != 1);
	until(&world, 0);
	assert_int_equal(world.got.n, 1);
	let_pass(&world, 9);
	flow_world_end(&world, 0);
	assert_int_equal(world.got.n, 2);
	assert_true(waitpid(-1, NULL, 0) > 0);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
	leftovers_check(&leftovers);
}

/* --- What it leaves behind ------------------------------------------------ */

/* The child has exited before its own child writes. */
static void the_output_of_what_is_left_behind_is_read_to_its_end(void **state)
{
	static const char script[] =
		"(while kill -0 $$ 2>&-; do :; done; echo late) & echo early";
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct place place;
	int status;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		leftovers_note(&leftovers);
		flow = kept(weir_flow_child(NULL, SHELL(script), NULL), &out);
		place_make(&place, watchers[i]);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
		assert_string_equal(out.text, "early\nlate\n");
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		assert_true(waitpid(-1, &status, 0) > 0);
		leftovers_check(&leftovers);
	}
}

static void an_output_that_stays_open_is_waited_for_so_long(void **state)
{
	const struct weir_flow_child_options options = {.drain_ns = 1};
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct place place;
	size_t i;
	pid_t left;

	for (i = 0; watchers[i]; i++) {
		leftovers_note(&leftovers);
		flow = weir_flow_child(
			NULL, SHELL("sleep 1000 & echo $!; exit 5"), &options);
		flow = kept(flow, &out);
		place_make(&place, watchers[i]);
		assert_int_equal(
			weir_flow_start(flow, place.executor, NULL, &run), 0);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		assert_int_equal(error->code, -ETIMEDOUT);
		weir_error_unref(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(watchers[i]->free(&place), 0);
		/* it is alive, and nobody else's */
		left = atoi(out.text);
		assert_int_equal(kill(left, SIGKILL), 0);
		leftovers_killed(1);
		leftovers_check(&leftovers);
	}
}

/* --- Standard error ------------------------------------------------------- */

static void the_last_of_its_errors_is_in_the_message(void **state)
{
	static const char script[] = "yes error | head -c 1000000 >&2; echo a;"
				     " echo last >&2; exit 4";
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_MESSAGE,
	};
	struct weir_error *error;
	const char *text;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		error = end_of(
			watchers[i],
			kept(weir_flow_child(NULL, SHELL(script), &options),
			     &out));
		assert_string_equal(out.text, "a\n");
		assert_int_equal(error->code, -ECHILD);
		text = strchr(error->message, ':');
		assert_memory_equal(text, ": exit status 4: ", 17);
		assert_int_equal(strlen(text + 17), 4095);
		assert_string_equal(text + 17 + 4095 - 15, "\nerror\nerrolast");
		weir_error_unref(error);
	}
}

static void a_message_without_errors_has_no_more_words(void **state)
{
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_MESSAGE,
	};
	struct weir_error *error = end_of(
		&loop, weir_flow_ignore(
			       weir_flow_child(NULL, ARGV("false"), &options)));

	assert_string_equal(error->message, "false: exit status 1");
	weir_error_unref(error);
	error = end_of(&loop,
		       weir_flow_ignore(weir_flow_child(
			       NULL, SHELL("printf 'a\\0b\\n\\n' >&2; exit 1"),
			       &options)));
	assert_string_equal(error->message, "sh: exit status 1: a b\n");
	weir_error_unref(error);
}

static void errors_may_come_with_the_output(void **state)
{
	const struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_OUTPUT,
	};

	assert_int_equal(code_of_script(&loop, "echo a; echo b >&2; echo c",
					&options),
			 0);
	assert_string_equal(out.text, "a\nb\nc\n");
}

/* A flow of their own reads what is not in the flow of the output. */
static void errors_may_have_a_flow_of_their_own(void **state)
{
	static const char script[] =
		"head -c 300000 /dev/zero >&2; head -c 500000 /dev/zero";
	struct weir_flow_child_options options = {
		.errors = WEIR_FLOW_CHILD_ERRORS_FD,
	};
	struct weir_flow_run *runs[2];
	struct weir_flow *flows[2];
	struct digest digests[2];
	struct weir_error *error;
	struct place place;
	int fds[2], i;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	/* our end alone */
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	options.errors_fd = fds[1];
	flows[0] = weir_flow_child(NULL, SHELL(script), &options);
	flows[1] = weir_flow_read(fds[0], 1000);
	place_make(&place, &loop);
	for (i = 0; i < 2; i++) {
		flows[i] = digested(flows[i], &digests[i]);
		assert_int_equal(weir_flow_start(flows[i], place.executor, NULL,
						 &runs[i]),
				 0);
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(weir_flow_run_wait(runs[i], WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_null(error);
		weir_flow_run_free(runs[i]);
		weir_flow_free(flows[i]);
		/* the child has ended: now the pipe does */
		if (i == 0)
			assert_int_equal(close(fds[1]), 0);
	}
	assert_int_equal(loop.free(&place), 0);
	assert_int_equal(digests[0].n, 500000);
	assert_int_equal(digests[1].n, 300000);
	assert_int_equal(close(fds[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(small_items_come_through_whole),
		cmocka_unit_test(a_block_is_no_larger_than_asked_for),
		cmocka_unit_test(children_stand_behind_each_other),
		cmocka_unit_test(a_child_without_a_flow_has_an_empty_input),
		cmocka_unit_test(a_child_whose_flow_is_empty_is_started),
		cmocka_unit_test(two_full_pipes_do_not_wait_for_each_other),
		cmocka_unit_test(each_run_starts_a_child_of_its_own),
		cmocka_unit_test(a_child_that_takes_less_ends_the_input),
		cmocka_unit_test(a_child_that_exits_ends_an_input_at_rest),
		cmocka_unit_test(a_child_may_close_its_input_and_go_on),
		cmocka_unit_test(a_child_that_fails_says_how),
		cmocka_unit_test(a_child_that_is_killed_says_by_what),
		cmocka_unit_test(other_errors_have_no_status),
		cmocka_unit_test(an_endless_child_ends_when_it_is_cancelled),
		cmocka_unit_test(an_error_of_upstream_ends_the_child),
		cmocka_unit_test(a_child_that_ignores_sigterm_is_killed),
		cmocka_unit_test(what_is_left_of_the_group_is_killed),
		cmocka_unit_test(
			a_child_may_end_by_itself_when_it_is_cancelled),
		cmocka_unit_test(a_stopped_executor_waits_for_the_child),
		cmocka_unit_test(a_drained_run_ends_a_child_without_input),
		cmocka_unit_test(the_end_behind_the_output_needs_no_demand),
		cmocka_unit_test(what_comes_behind_the_exit_waits_for_demand),
		cmocka_unit_test(
			the_output_of_what_is_left_behind_is_read_to_its_end),
		cmocka_unit_test(
			an_output_that_stays_open_is_waited_for_so_long),
		cmocka_unit_test(the_last_of_its_errors_is_in_the_message),
		cmocka_unit_test(a_message_without_errors_has_no_more_words),
		cmocka_unit_test(errors_may_come_with_the_output),
		cmocka_unit_test(errors_may_have_a_flow_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
