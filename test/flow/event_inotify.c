/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of files as items. */
#include "flow/event_kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static struct told told;
static struct net net;

/* A directory of the test's own, and paths in it. */
static char directory[32];

static const char *in_it(const char *name)
{
	static char paths[4][64];
	static size_t n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/weir-event-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void rename_to(const char *from, const char *to)
{
	assert_int_equal(rename(from, to), 0);
}

static struct weir_flow *watch(const char *path, uint32_t mask)
{
	return weir_flow_inotify(&path, 1, mask);
}

static const struct weir_flow_change *change_at(uint32_t i)
{
	const struct weir_flow_bytes *bytes = told.items[i];

	return (const void *)bytes->data;
}

static void assert_change(uint32_t i, uint32_t mask, size_t watched,
			  const char *path)
{
	assert_int_equal(change_at(i)->mask, mask);
	assert_int_equal(change_at(i)->watched, watched);
	assert_string_equal(change_at(i)->path, path);
	assert_false(change_at(i)->rescan);
}

static void start(const struct kind *kind, struct weir_flow *flow)
{
	net_begin(&net, kind);
	net_start(&net, tell_of(flow, &told, weir_flow_bytes_items()));
}

static void finish(void)
{
	drop_told(&told);
	net_end(&net);
}

/* From the start of the run on, whether or not it has begun to ask. */
static void entries_of_a_directory_are_told(void **state)
{
	for_each_kind(kind)
	{
		start(*kind,
		      weir_flow_take(watch(directory, IN_CREATE | IN_DELETE),
				     4));
		make_file(in_it("a"));
		assert_int_equal(mkdir(in_it("b"), 0700), 0);
		assert_int_equal(rmdir(in_it("b")), 0);
		await_told(&net, &told, 3);
		assert_int_equal(unlink(in_it("a")), 0);
		net_over(&net, 0, 0);
		assert_change(0, IN_CREATE, 0, in_it("a"));
		assert_false(change_at(0)->directory);
		assert_change(1, IN_CREATE, 0, in_it("b"));
		assert_true(change_at(1)->directory);
		assert_change(2, IN_DELETE, 0, in_it("b"));
		assert_change(3, IN_DELETE, 0, in_it("a"));
		finish();
	}
}

static void the_halves_of_a_rename_have_one_cookie(void **state)
{
	const uint32_t mask = IN_MOVED_FROM | IN_MOVED_TO;

	for_each_kind(kind)
	{
		make_file(in_it("a"));
		start(*kind, weir_flow_take(watch(directory, mask), 4));
		rename_to(in_it("a"), in_it("b"));
		rename_to(in_it("b"), in_it("c"));
		net_over(&net, 0, 0);
		assert_change(0, IN_MOVED_FROM, 0, in_it("a"));
		assert_change(1, IN_MOVED_TO, 0, in_it("b"));
		assert_change(2, IN_MOVED_FROM, 0, in_it("b"));
		assert_change(3, IN_MOVED_TO, 0, in_it("c"));
		assert_int_not_equal(change_at(0)->cookie, 0);
		assert_int_equal(change_at(1)->cookie, change_at(0)->cookie);
		assert_int_equal(change_at(3)->cookie, change_at(2)->cookie);
		assert_int_not_equal(change_at(2)->cookie,
				     change_at(0)->cookie);
		finish();
		assert_int_equal(unlink(in_it("c")), 0);
	}
}

/* The paths may be freed; what is gone ends the flow when it was the last. */
static void paths_are_told_apart_until_the_last_is_gone(void **state)
{
	char *paths[3];
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 3; i++) {
			paths[i] = strdup(in_it(i == 0	 ? "a"
						: i == 1 ? "b"
							 : "c"));
			make_file(paths[i]);
		}
		start(*kind, weir_flow_inotify((const char *const *)paths, 3,
					       IN_ATTRIB | IN_DELETE_SELF));
		for (i = 0; i < 3; i++)
			free(paths[i]);
		assert_int_equal(chmod(in_it("c"), 0400), 0);
		await_told(&net, &told, 1);
		assert_change(0, IN_ATTRIB, 2, in_it("c"));
		assert_int_equal(unlink(in_it("b")), 0);
		assert_int_equal(unlink(in_it("c")), 0);
		assert_int_equal(unlink(in_it("a")), 0);
		net_over(&net, 0, 0);
		assert_int_equal(told.n, 10);
		assert_change(2, IN_DELETE_SELF, 1, in_it("b"));
		assert_change(3, IN_IGNORED, 1, in_it("b"));
		assert_change(9, IN_IGNORED, 0, in_it("a"));
		finish();
	}
}

/* The room of the queue is the system's: so many are made until it is full. */
static void what_was_lost_is_told_as_a_rescan(void **state)
{
	FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	struct weir_flow *flow;
	unsigned long room, i;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &room), 1);
	assert_int_equal(fclose(file), 0);
	make_file(in_it("a"));
	net_begin(&net, &loop);
	flow = watch(directory, IN_OPEN | IN_CLOSE_NOWRITE);
	flow = weir_flow_drop(flow, (int64_t)room - 2);
	flow = weir_flow_take(flow, 3);
	net_start(&net, tell_of(flow, &told, weir_flow_bytes_items()));
	for (i = 0; i < room; i++)
		assert_int_equal(close(open(in_it("a"), O_RDONLY | O_CLOEXEC)),
				 0);
	net_over(&net, 0, 0);
	assert_false(change_at(1)->rescan);
	assert_true(change_at(2)->rescan);
	assert_string_equal(change_at(2)->path, "");
	finish();
	assert_int_equal(unlink(in_it("a")), 0);
}

static void a_path_with_a_slash_is_not_given_another(void **state)
{
	char path[40];

	snprintf(path, sizeof(path), "%s/", directory);
	start(&loop, weir_flow_take(watch(path, IN_CREATE), 1));
	make_file(in_it("a"));
	net_over(&net, 0, 0);
	assert_change(0, IN_CREATE, 0, in_it("a"));
	finish();
	assert_int_equal(unlink(in_it("a")), 0);
}

/* Nothing comes behind a cancel, and the instance is closed. */
static void a_flow_at_rest_can_be_stopped(void **state)
{
	struct weir_error *error;

	for_each_kind(kind)
	{
		start(*kind, watch(directory, IN_CREATE));
		settle(&net);
		weir_flow_run_stop(net.run, NULL);
		error = error_over(&net);
		assert_int_equal(error->code, -ECANCELED);
		weir_error_unref(error);
		assert_int_equal(told.n, 0);
		finish();
	}
}

static void a_drained_run_ends(void **state)
{
	for_each_kind(kind)
	{
		start(*kind, watch(directory, IN_CREATE));
		weir_flow_run_end(net.run);
		net_over(&net, 0, 0);
		finish();
	}
}

/* --- Errors --------------------------------------------------------------- */

static struct weir_flow *two(void *context)
{
	return weir_flow_inotify(context, 2, IN_CREATE);
}

static void a_path_that_cannot_be_watched_is_named(void **state)
{
	const char *const missing[] = {directory, "/no/such/path"};
	const char *const twice[] = {"/", "/."};

	assert_told_why(two, (void *)(uintptr_t)missing, -ENOENT,
			"/no/such/path No such file");
	assert_told_why(two, (void *)(uintptr_t)twice, -EEXIST,
			"/. is the same file as another path");
}

static void assert_wrong(struct weir_flow *flow)
{
	const char *from = NULL, *message = NULL;

	assert_int_equal(weir_flow_check(flow, &from, &message), -EINVAL);
	assert_string_equal(from, "inotify");
	assert_true(strlen(message) > 5);
	weir_flow_free(flow);
}

static void what_cannot_be_is_refused(void **state)
{
	const char *const paths[] = {"/", NULL}, *const empty[] = {""};

	assert_wrong(weir_flow_inotify(NULL, 1, IN_CREATE));
	assert_wrong(weir_flow_inotify(paths, 0, IN_CREATE));
	assert_wrong(weir_flow_inotify(paths, 2, IN_CREATE));
	assert_wrong(weir_flow_inotify(empty, 1, IN_CREATE));
	assert_wrong(weir_flow_inotify(paths, 1, 0));
	assert_wrong(weir_flow_inotify(paths, 1, IN_ONLYDIR));
	assert_wrong(weir_flow_inotify(paths, 1, IN_CREATE | IN_MASK_ADD));
	assert_wrong(weir_flow_inotify(paths, 1, IN_CREATE | IN_ONESHOT));
}

static struct weir_flow *watch_it(void *context)
{
	return watch(directory, IN_CREATE | IN_DELETE);
}

static bool make_and_remove(void *context, uint32_t step)
{
	make_file(in_it("a"));
	assert_int_equal(unlink(in_it("a")), 0);
	return step < 2;
}

static void it_may_fail_anywhere(void **state)
{
	const struct fallible fallible = {watch_it, make_and_remove, NULL,
					  weir_flow_bytes_items()};

	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_a_directory_are_told),
		cmocka_unit_test(the_halves_of_a_rename_have_one_cookie),
		cmocka_unit_test(paths_are_told_apart_until_the_last_is_gone),
		cmocka_unit_test(what_was_lost_is_told_as_a_rescan),
		cmocka_unit_test(a_path_with_a_slash_is_not_given_another),
		cmocka_unit_test(a_flow_at_rest_can_be_stopped),
		cmocka_unit_test(a_drained_run_ends),
		cmocka_unit_test(a_path_that_cannot_be_watched_is_named),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(it_may_fail_anywhere),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
