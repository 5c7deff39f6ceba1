/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are followed by their names. */
#include "flow/event_kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static struct told told;
static struct net net;
static struct weir_flow_tail_options from_start = {.beginning = true};

/* --- A file in a directory of its own ------------------------------------- */

static char directory[32], path[48], old_path[48];

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/weir-tail-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/log", directory);
	snprintf(old_path, sizeof(old_path), "%s/log.1", directory);
	return 0;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

static void append(const char *to, const char *text)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

static void rotate(void)
{
	assert_int_equal(rename(path, old_path), 0);
}

static void remove_files(void)
{
	(void)unlink(path);
	(void)unlink(old_path);
}

/* --- What comes ----------------------------------------------------------- */

/* True: the first `n` items are exactly that, in whatever pieces; or a part of
 * it. */
static bool have_of(const char *text, uint32_t n)
{
	const struct weir_flow_bytes *bytes;
	size_t left = strlen(text);
	uint32_t i;

	for (i = 0; i < n; i++) {
		bytes = told.items[i];
		assert_true(bytes->n > 0 && bytes->n <= left);
		assert_memory_equal(bytes->data, text, bytes->n);
		text += bytes->n;
		left -= bytes->n;
	}
	return left == 0;
}

static bool have(const char *text)
{
	return have_of(text, told.n);
}

/* None is to come behind the last one: it is not waited for. */
static void await_text(const char *text)
{
	uint32_t n;

	for (n = 0; !have_of(text, n); n++)
		await_told(&net, &told, n + 1);
}

static void start(const struct kind *kind,
		  const struct weir_flow_tail_options *options)
{
	net_begin(&net, kind);
	net_start(&net, tell_of(weir_flow_tail(path, options), &told,
				weir_flow_bytes_items()));
}

static void stop(const char *text)
{
	struct weir_error *error;

	settle(&net);
	weir_flow_run_stop(net.run, NULL);
	error = error_over(&net);
	assert_int_equal(error->code, -ECANCELED);
	weir_error_unref(error);
	assert_true(have(text));
	drop_told(&told);
	net_end(&net);
	remove_files();
}

static void fails_with(int code, const char *message)
{
	struct weir_error *error = error_over(&net);

	assert_non_null(error);
	assert_int_equal(error->code, code);
	assert_string_equal(error->origin, "tail");
	if (!strstr(error->message, message) || !strstr(error->message, path))
		fail_msg("%s: not of \"%s\"", error->message, message);
	weir_error_unref(error);
	drop_told(&told);
	net_end(&net);
	remove_files();
}

/* --- Appending ------------------------------------------------------------ */

static void what_is_appended_comes(void **state)
{
	for_each_kind(kind)
	{
		append(path, "before");
		start(*kind, NULL);
		append(path, "one");
		await_text("one");
		append(path, "two");
		await_text("onetwo");
		append(path, "three");
		append(path, "four");
		await_text("onetwothreefour");
		stop("onetwothreefour");
	}
}

static void a_file_may_be_read_from_its_beginning(void **state)
{
	for_each_kind(kind)
	{
		append(path, "before");
		start(*kind, &from_start);
		await_text("before");
		append(path, "behind");
		await_text("beforebehind");
		stop("beforebehind");
	}
}

/* Larger than a block, and read in blocks. */
static void blocks_are_no_larger_than_asked_for(void **state)
{
	const struct weir_flow_tail_options options = {.block = 3,
						       .beginning = true};
	uint32_t i;

	append(path, "0123456789");
	start(&loop, &options);
	await_text("0123456789");
	assert_int_equal(told.n, 4);
	for (i = 0; i < told.n; i++)
		assert_true(((struct weir_flow_bytes *)told.items[i])->n <= 3);
	stop("0123456789");
}

/* A path without a directory is of that in which the program runs. */
static void a_path_may_be_relative(void **state)
{
	char here[256];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(directory), 0);
	append("log", "x");
	net_begin(&net, &loop);
	net_start(&net, tell_of(weir_flow_tail("log", &from_start), &told,
				weir_flow_bytes_items()));
	await_text("x");
	append("log", "y");
	await_text("xy");
	stop("xy");
	assert_int_equal(chdir(here), 0);
}

/* Nothing happens while nothing is written: on a loop no turn is run. */
static void nothing_is_done_while_nothing_is_written(void **state)
{
	append(path, "x");
	start(&loop, NULL);
	settle(&net);
	assert_int_equal(weir_loop_run(net.place.loop, 64), 0);
	/* another file in the directory is none of its business */
	append(old_path, "y");
	settle(&net);
	assert_int_equal(told.n, 0);
	stop("");
}

/* --- Rotation ------------------------------------------------------------- */

static uint32_t n_changes[2];

static void changed(enum weir_flow_tail_change change, void *context)
{
	n_changes[change]++;
}

static const struct weir_flow_tail_options counted_changes = {.beginning = true,
							      .restart = true,
							      .changed =
								      changed};

/* Who writes goes on with the old one until it has opened the new one. */
static void a_file_that_is_rotated_is_read_to_its_end(void **state)
{
	for_each_kind(kind)
	{
		n_changes[0] = 0;
		append(path, "a");
		start(*kind, &counted_changes);
		await_text("a");
		append(path, "b");
		rotate();
		append(old_path, "c");
		await_text("abc");
		append(path, ""); /* made, and empty */
		settle(&net);
		append(old_path, "d");
		await_text("abcd");
		append(old_path, "e");
		append(path, "f");
		await_text("abcdef");
		assert_int_equal(n_changes[WEIR_FLOW_TAIL_CHANGE_ROTATED], 1);
		append(path, "g");
		await_text("abcdefg");
		stop("abcdefg");
	}
}

/* All at once, before anything is looked at. */
static void a_rotation_at_once_loses_nothing(void **state)
{
	for_each_kind(kind)
	{
		append(path, "a");
		start(*kind, &from_start);
		append(path, "b");
		rotate();
		append(old_path, "c");
		append(path, "d");
		await_text("abcd");
		stop("abcd");
	}
}

/* The name is another file's before the old one was looked at. */
static void what_is_written_behind_the_rotation_comes_first(void **state)
{
	for_each_kind(kind)
	{
		append(path, "a");
		start(*kind, &from_start);
		await_text("a");
		settle(&net);
		rotate();
		append(old_path, "b");
		append(path, "c");
		await_text("abc");
		stop("abc");
	}
}

static void a_file_that_is_rotated_many_times_is_read(void **state)
{
	char text[128] = "", one[2] = "a";
	int i;

	for_each_kind(kind)
	{
		text[0] = '\0';
		append(path, "");
		start(*kind, NULL);
		for (i = 0; i < 26; i++) {
			one[0] = (char)('a' + i);
			append(path, one);
			strcat(text, one);
			await_text(text);
			if (i % 3 == 0)
				rotate();
			else if (i % 3 == 1)
				assert_int_equal(unlink(path), 0);
		}
		stop(text);
	}
}

/* The new file is empty yet, and another one gets the name; then the old name
 * comes back. */
static void an_empty_file_may_be_replaced(void **state)
{
	char other[64];

	snprintf(other, sizeof(other), "%s/other", directory);
	append(path, "a");
	start(&loop, &from_start);
	await_text("a");
	rotate();
	append(path, "");
	settle(&net);
	append(other, "b");
	assert_int_equal(rename(other, path), 0);
	await_text("ab");
	append(other, "");
	rotate();
	assert_int_equal(rename(other, path), 0);
	settle(&net);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(rename(old_path, path), 0);
	settle(&net);
	append(other, "not of the name");
	settle(&net);
	assert_int_equal(unlink(other), 0);
	append(path, "c");
	await_text("abc");
	stop("abc");
}

/* The next one has had bytes, and its name is gone before it is looked at. */
static void a_next_file_that_is_rotated_too_is_read(void **state)
{
	char older[64];

	snprintf(older, sizeof(older), "%s/log.2", directory);
	append(path, "a");
	start(&loop, &from_start);
	await_text("a");
	rotate();
	append(path, "");
	settle(&net);
	append(path, "b");
	assert_int_equal(rename(old_path, older), 0);
	rotate();
	append(path, "c");
	await_text("abc");
	stop("abc");
	assert_int_equal(unlink(older), 0);
}

static unsigned long queued_events(void)
{
	FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	unsigned long n;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &n), 1);
	assert_int_equal(fclose(file), 0);
	return n;
}

/* Others fill the kernel's queue, and it tells of nothing more. */
static void changes_that_are_lost_lose_no_bytes(void **state)
{
	unsigned long n = queued_events(), i;

	append(path, "a");
	start(&loop, &from_start);
	await_text("a");
	for (i = 0; i < n; i += 2) {
		append(old_path, "");
		assert_int_equal(unlink(old_path), 0);
	}
	append(path, "b");
	rotate();
	append(path, "c");
	await_text("abc");
	stop("abc");
}

static void a_file_may_be_waited_for(void **state)
{
	const struct weir_flow_tail_options options = {.wait = true};

	for_each_kind(kind)
	{
		start(*kind, &options);
		settle(&net);
		append(path, "all of it");
		await_text("all of it");
		append(path, ", and more");
		await_text("all of it, and more");
		stop("all of it, and more");
	}
}

/* --- Truncation ----------------------------------------------------------- */

static void a_file_that_becomes_shorter_is_read_again(void **state)
{
	for_each_kind(kind)
	{
		n_changes[WEIR_FLOW_TAIL_CHANGE_TRUNCATED] = 0;
		append(path, "abcdef");
		start(*kind, &counted_changes);
		await_text("abcdef");
		assert_int_equal(truncate(path, 0), 0);
		append(path, "xy");
		await_text("abcdefxy");
		assert_int_equal(n_changes[WEIR_FLOW_TAIL_CHANGE_TRUNCATED], 1);
		append(path, "z");
		await_text("abcdefxyz");
		stop("abcdefxyz");
	}
}

static void or_it_fails_the_flow(void **state)
{
	for_each_kind(kind)
	{
		append(path, "abcdef");
		start(*kind, &from_start);
		await_text("abcdef");
		assert_int_equal(truncate(path, 2), 0);
		fails_with(-ESTALE, "has become shorter");
	}
}

/* --- Errors --------------------------------------------------------------- */

static void a_file_that_is_not_there_fails_the_flow(void **state)
{
	for_each_kind(kind)
	{
		start(*kind, NULL);
		fails_with(-ENOENT, "could not be opened");
	}
}

static void what_is_no_file_fails_the_flow(void **state)
{
	const struct weir_flow_tail_options options = {.wait = true};

	assert_int_equal(mkdir(path, 0700), 0);
	start(&loop, NULL);
	fails_with(-EINVAL, "is no regular file");
	assert_int_equal(rmdir(path), 0);
	/* opening one would wait for a writer */
	assert_int_equal(mkfifo(path, 0600), 0);
	start(&loop, NULL);
	fails_with(-EINVAL, "is no regular file");
	start(&loop, &options);
	settle(&net);
	assert_int_equal(mkdir(path, 0700), 0);
	fails_with(-EINVAL, "is no regular file");
	assert_int_equal(rmdir(path), 0);
}

/* What was written is read before. */
static void a_directory_that_goes_away_fails_the_flow(void **state)
{
	char moved[64];

	snprintf(moved, sizeof(moved), "%s.moved", directory);
	for_each_kind(kind)
	{
		append(path, "x");
		start(*kind, &from_start);
		await_text("x");
		assert_int_equal(rename(directory, moved), 0);
		fails_with(-ENOENT, "has a directory that is gone");
		assert_int_equal(rename(moved, directory), 0);
		remove_files();
	}
}

static void a_directory_that_is_not_there_fails_the_flow(void **state)
{
	struct weir_error *error;

	net_begin(&net, &loop);
	net_start(&net, weir_flow_ignore(weir_flow_tail("/no/such/log", NULL)));
	error = error_over(&net);
	assert_int_equal(error->code, -ENOENT);
	assert_string_equal(error->message,
			    "/no/such/log has a directory that could not be "
			    "watched: No such file or directory");
	weir_error_unref(error);
	net_end(&net);
}

static void assert_wrong(struct weir_flow *flow)
{
	const char *from = NULL;

	assert_int_equal(weir_flow_check(flow, &from, NULL), -EINVAL);
	assert_string_equal(from, "tail");
	weir_flow_free(flow);
}

static void what_cannot_be_is_refused(void **state)
{
	const struct weir_flow_tail_options large = {.block = 1u << 31};
	const struct weir_flow_tail_options unknown = {.reserved = {1}};

	assert_wrong(weir_flow_tail(NULL, NULL));
	assert_wrong(weir_flow_tail("", NULL));
	assert_wrong(weir_flow_tail("/tmp/", NULL));
	assert_wrong(weir_flow_tail("/tmp/log", &large));
	assert_wrong(weir_flow_tail("/tmp/log", &unknown));
}

static struct weir_flow *tail_it(void *context)
{
	remove_files();
	append(path, "a");
	return weir_flow_tail(path, &counted_changes);
}

static bool feed(void *context, uint32_t step)
{
	if (step == 1)
		rotate();
	else if (step == 4)
		assert_int_equal(truncate(path, 0), 0);
	append(path, step == 1 ? "" : "bytes");
	return step < 4;
}

static void it_may_fail_anywhere(void **state)
{
	const struct fallible fallible = {tail_it, feed, NULL,
					  weir_flow_bytes_items()};

	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
	remove_files();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_comes),
		cmocka_unit_test(a_file_may_be_read_from_its_beginning),
		cmocka_unit_test(blocks_are_no_larger_than_asked_for),
		cmocka_unit_test(a_path_may_be_relative),
		cmocka_unit_test(nothing_is_done_while_nothing_is_written),
		cmocka_unit_test(a_file_that_is_rotated_is_read_to_its_end),
		cmocka_unit_test(a_rotation_at_once_loses_nothing),
		cmocka_unit_test(
			what_is_written_behind_the_rotation_comes_first),
		cmocka_unit_test(a_file_that_is_rotated_many_times_is_read),
		cmocka_unit_test(an_empty_file_may_be_replaced),
		cmocka_unit_test(a_next_file_that_is_rotated_too_is_read),
		cmocka_unit_test(changes_that_are_lost_lose_no_bytes),
		cmocka_unit_test(a_file_may_be_waited_for),
		cmocka_unit_test(a_file_that_becomes_shorter_is_read_again),
		cmocka_unit_test(or_it_fails_the_flow),
		cmocka_unit_test(a_file_that_is_not_there_fails_the_flow),
		cmocka_unit_test(what_is_no_file_fails_the_flow),
		cmocka_unit_test(a_directory_that_goes_away_fails_the_flow),
		cmocka_unit_test(a_directory_that_is_not_there_fails_the_flow),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(it_may_fail_anywhere),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
