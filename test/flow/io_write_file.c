/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are replaced when they are whole: what is there at each moment,
 * after a cancel, and after the failure of each call. The calls are interposed.
 */
#include "flow/kit.h"
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weir/flow_io.h>

/* --- Calls ---------------------------------------------------------------- */

#define N_CALLS 16

static struct {
	char calls[N_CALLS + 1]; /* a letter each */
	size_t n;
	size_t fails; /* the number of the call that does; else N_CALLS */
	int code;
} kernel;

static bool refuses(char letter)
{
	if (kernel.n == N_CALLS)
		return false;
	kernel.calls[kernel.n] = letter;
	if (kernel.n++ != kernel.fails)
		return false;
	errno = kernel.code;
	return true;
}

int __real_openat64(int directory, const char *name, int flags, ...);
int __wrap_openat64(int directory, const char *name, int flags, ...);
int __wrap_openat64(int directory, const char *name, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = va_arg(more, mode_t);
	va_end(more);
	return refuses('o') ? -1
			    : __real_openat64(directory, name, flags, mode);
}

ssize_t __real_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n)
{
	return refuses('w') ? -1 : __real_writev(fd, parts, n);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	return refuses('s') ? -1 : __real_fsync(fd);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int rc = __real_close(fd);

	return refuses('c') ? -1 : rc;
}

int __real_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name)
{
	return refuses('r') ? -1 : __real_renameat(from, old, to, name);
}

static void calls_begin(size_t fails, int code)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.fails = fails;
	kernel.code = code;
}

/* --- A directory with one file -------------------------------------------- */

#define OLD "what was there"
#define NEW "new 1\nnew 2\nnew 3\n"

static char directory[64], path[80];

static void put_old(void)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_not_equal(fputs(OLD, file), EOF);
	assert_int_equal(fclose(file), 0);
}

static int directory_make(void **state)
{
	snprintf(directory, sizeof(directory), "/tmp/weir-test-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	put_old();
	return 0;
}

static int directory_remove(void **state)
{
	calls_begin(N_CALLS, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
	return 0;
}

static size_t n_entries(const char *of)
{
	DIR *entries = opendir(of);
	size_t n = 0;

	assert_non_null(entries);
	while (readdir(entries))
		n++;
	assert_int_equal(closedir(entries), 0);
	return n - 2;
}

static bool file_is(const char *text)
{
	char bytes[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	(void)!fread(bytes, 1, sizeof(bytes) - 1, file);
	assert_int_equal(fclose(file), 0);
	return strcmp(bytes, text) == 0;
}

static void assert_file(const char *text)
{
	assert_true(file_is(text));
	assert_int_equal(n_entries(directory), 1);
}

/* --- Flows ---------------------------------------------------------------- */

static int new_line(void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 6, NULL), 0);
	memcpy(bytes->data, "new 0\n", 6);
	bytes->data[4] = (char)('0' + (intptr_t)*item);
	*item = bytes;
	return 0;
}

static struct weir_flow *new_lines(struct weir_flow *flow)
{
	return weir_flow_items(weir_flow_map(flow, new_line, NULL),
			       weir_flow_bytes_items());
}

static struct weir_flow *writes(enum weir_flow_sync sync)
{
	return weir_flow_write_file(new_lines(weir_flow_range(1, 3)), path,
				    sync);
}

static int run_and_free(struct weir_flow *flow, uint64_t seed)
{
	int rc = run_on_sim(flow, seed, seed % 2 * 16);

	weir_flow_free(flow);
	return rc;
}

static void assert_calls(enum weir_flow_sync sync, const char *calls)
{
	put_old();
	calls_begin(N_CALLS, 0);
	assert_int_equal(run_and_free(writes(sync), 2), 0);
	assert_string_equal(kernel.calls, calls);
	assert_file(NEW);
}

static void a_file_is_synced_before_it_is_replaced_as_asked(void **state)
{
	assert_calls(WEIR_FLOW_SYNC_NONE, "oowcrc");
	assert_calls(WEIR_FLOW_SYNC_FILE, "oowscrc");
	assert_calls(WEIR_FLOW_SYNC_ALL, "oowscrsc");
}

static void nothing_is_written_to_an_empty_file(void **state)
{
	struct weir_flow *flow =
		weir_flow_items(weir_flow_empty(), weir_flow_bytes_items());

	flow = weir_flow_write_file(flow, path, WEIR_FLOW_SYNC_NONE);
	assert_int_equal(run_and_free(flow, 1), 0);
	assert_file("");
}

static void what_comes_out_is_the_number_of_bytes(void **state)
{
	struct got got = {0};
	struct weir_flow *flow = into(writes(WEIR_FLOW_SYNC_NONE), &got);

	assert_int_equal(run_and_free(flow, 1), 0);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.values[0], sizeof(NEW) - 1);
}

static void each_call_that_fails_leaves_the_old_file(void **state)
{
	struct weir_error *error;
	size_t i;

	/* as in the test of the calls: all but the last two */
	for (i = 0; i < 6; i++) {
		calls_begin(i, ENOSPC);
		error = error_of(writes(WEIR_FLOW_SYNC_ALL));
		assert_int_equal(error->code, -ENOSPC);
		assert_string_equal(error->origin, "write_file");
		assert_memory_equal(error->message, path, strlen(path));
		weir_error_unref(error);
		assert_file(OLD);
	}
}

static void a_directory_that_cannot_be_synced_has_the_new_file(void **state)
{
	calls_begin(6, EIO);
	assert_int_equal(run_and_free(writes(WEIR_FLOW_SYNC_ALL), 1), -EIO);
	assert_file(NEW);
}

static void signals_interrupt_opening_and_syncing_for_a_moment(void **state)
{
	static const size_t calls[] = {0, 1, 2, 3, 6};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		put_old();
		calls_begin(calls[i], EINTR);
		assert_int_equal(run_and_free(writes(WEIR_FLOW_SYNC_ALL), i),
				 0);
		assert_int_equal(kernel.n, 9);
		assert_file(NEW);
	}
}

static void no_descriptor_is_left(void **state)
{
	size_t i, n = n_entries("/proc/self/fd");

	for (i = 0; i <= N_CALLS; i++) {
		calls_begin(i, EIO);
		(void)run_and_free(writes(WEIR_FLOW_SYNC_ALL), i);
		assert_int_equal(n_entries("/proc/self/fd"), n);
	}
}

static void an_error_above_leaves_the_old_file(void **state)
{
	struct weir_flow *flow;

	for_each_seed(seed, 20) {
		flow = weir_flow_concat(
			(struct weir_flow *[]){weir_flow_range(1, 3),
					       weir_flow_fail(-EDOM, "above")},
			2);
		flow = weir_flow_write_file(new_lines(flow), path,
					    WEIR_FLOW_SYNC_ALL);
		assert_int_equal(run_and_free(flow, seed), -EDOM);
		assert_file(OLD);
	}
}

/* Steps `n` times and stops; true: all had been written. */
static bool stop_after(struct weir_flow *flow, uint64_t seed, size_t n)
{
	struct weir_flow_run_options options = {.unfused = 1};
	struct weir_flow_run *run;
	struct weir_sim *sim;
	bool whole;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim), &options,
					 &run),
			 0);
	for (; n > 0; n--) {
		weir_sim_step(sim);
		assert_true(file_is(OLD) || file_is(NEW));
	}
	whole = file_is(NEW);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	assert_int_equal(weir_sim_free(sim), 0);
	return whole;
}

static void a_stop_leaves_the_old_file_or_all_of_the_new_one(void **state)
{
	struct weir_flow *flow = writes(WEIR_FLOW_SYNC_NONE);
	bool whole;

	for_each_seed(seed, 100) {
		put_old();
		whole = stop_after(flow, seed, seed % 25);
		assert_file(whole ? NEW : OLD);
	}
	weir_flow_free(flow);
}

static void the_new_file_has_the_permissions_of_the_umask(void **state)
{
	mode_t kept = umask(0027);
	struct stat status;

	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(run_and_free(writes(WEIR_FLOW_SYNC_NONE), 1), 0);
	(void)umask(kept);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
}

/* Of a path without a slash. */
static void a_bare_name_is_in_the_working_directory(void **state)
{
	int kept = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct weir_flow *flow = weir_flow_write_file(
		new_lines(weir_flow_range(1, 3)), "file", WEIR_FLOW_SYNC_ALL);

	assert_int_equal(chdir(directory), 0);
	assert_int_equal(run_and_free(flow, 1), 0);
	assert_int_equal(fchdir(kept), 0);
	assert_int_equal(close(kept), 0);
	assert_file(NEW);
}

static void bad_paths_are_refused(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_write_file(weir_flow_empty(), NULL, 0),
		weir_flow_write_file(weir_flow_empty(), "", 0),
		weir_flow_write_file(weir_flow_empty(), "/tmp/", 0),
		weir_flow_write_file(weir_flow_empty(), "/tmp/x", 3),
		weir_flow_write_file(NULL, "/tmp/x", 0),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

static void a_path_that_cannot_be_replaced_is_an_error(void **state)
{
	struct weir_flow *flow = weir_flow_write_file(
		new_lines(weir_flow_range(1, 3)), "/no/such/file", 0);

	assert_int_equal(run_and_free(flow, 1), -ENOENT);
	flow = weir_flow_write_file(new_lines(weir_flow_range(1, 3)), "/tmp/..",
				    0);
	assert_true(run_and_free(flow, 1) < 0);
}

#define WITH_DIRECTORY(test) \
	cmocka_unit_test_setup_teardown(test, directory_make, directory_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(a_file_is_synced_before_it_is_replaced_as_asked),
		WITH_DIRECTORY(nothing_is_written_to_an_empty_file),
		WITH_DIRECTORY(what_comes_out_is_the_number_of_bytes),
		WITH_DIRECTORY(each_call_that_fails_leaves_the_old_file),
		WITH_DIRECTORY(
			a_directory_that_cannot_be_synced_has_the_new_file),
		WITH_DIRECTORY(
			signals_interrupt_opening_and_syncing_for_a_moment),
		WITH_DIRECTORY(no_descriptor_is_left),
		WITH_DIRECTORY(an_error_above_leaves_the_old_file),
		WITH_DIRECTORY(
			a_stop_leaves_the_old_file_or_all_of_the_new_one),
		WITH_DIRECTORY(the_new_file_has_the_permissions_of_the_umask),
		WITH_DIRECTORY(a_bare_name_is_in_the_working_directory),
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(a_path_that_cannot_be_replaced_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
