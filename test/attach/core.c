/* SPDX-License-Identifier: BSD-2-Clause */
/* What died is read from its core file, with the files that were mapped. */
#include "attach/kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct weir__reader_options options = {0};
static char message[WEIR__READER_MESSAGE];
static char directory[] = "/tmp/weir-core-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

/* The first file in the directory, of which the kernel makes up the name. */
static bool find_core(char path[512])
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	bool found = false;

	assert_non_null(entries);
	while (!found && (entry = readdir(entries))) {
		found = entry->d_name[0] != '.';
		(void)snprintf(path, 512, "%s/%s", directory, entry->d_name);
	}
	closedir(entries);
	return found;
}

static int teardown(void **state)
{
	char path[512];

	while (find_core(path))
		unlink(path);
	return rmdir(directory);
}

/* Its path; the test is skipped if there is none. */
static const char *core_of(struct stalled *stalled, const char *program,
			   const char *way)
{
	static char path[512];
	int status;

	(void)teardown(NULL);
	assert_non_null(mkdtemp(strcpy(directory, "/tmp/weir-core-XXXXXX")));
	if (!stalled_start(stalled, program, way, directory)) {
		print_message("there is no %s\n", program);
		skip();
	}
	assert_int_equal(waitpid(stalled->pid, &status, 0), stalled->pid);
	if (!find_core(path)) {
		print_message("the kernel leaves no core files here:"
			      " /proc/sys/kernel/core_pattern\n");
		skip();
	}
	return path;
}

static void says_the_same(const char *program, const char *way)
{
	static struct stalled stalled;
	const char *core = core_of(&stalled, program, way);
	struct weir_snapshot *snapshot;

	if (weir__attach_core(&snapshot, core, NULL, &options, message) < 0)
		fail_msg("%s", message);
	assert_string_equal(said_of(snapshot), stalled.said);
}

static void a_core_says_what_the_process_said(void **state)
{
	says_the_same("stalled", "nodes");
}

static void the_library_is_found_in_a_core(void **state)
{
	says_the_same("stalled_shared", "several");
}

static void a_static_program_without_symbols_is_read(void **state)
{
	says_the_same("stalled_static", "threads");
}

/* Names are in the program alone: another program's are not taken for them. */
static void a_program_of_another_build_is_not_believed(void **state)
{
	static struct stalled stalled;
	const char *core = core_of(&stalled, "stalled", "nodes");
	struct weir_snapshot *snapshot;

	assert_int_equal(weir__attach_core(&snapshot, core, "/proc/self/exe",
					   &options, message),
			 0);
	assert_true(snapshot->n_torn > 0);
	assert_int_equal(snapshot->n_actors, 8);
	assert_string_equal(snapshot->actors[0].name, "?");
	assert_non_null(strstr(said_of(snapshot), "could not be read"));
}

static void a_core_that_is_cut_is_read_as_far_as_it_goes(void **state)
{
	static struct stalled stalled;
	const char *core = core_of(&stalled, "stalled", "nodes");
	struct weir_snapshot *snapshot;
	off_t size;
	int fd = open(core, O_RDONLY | O_CLOEXEC), rc;

	size = lseek(fd, 0, SEEK_END);
	close(fd);
	assert_true(size > 0);
	/* from whole to nothing */
	for (; size > 0; size -= 1 + size / 8) {
		assert_int_equal(truncate(core, size), 0);
		rc = weir__attach_core(&snapshot, core, NULL, &options,
				       message);
		if (rc == 0)
			(void)said_of(snapshot);
		else
			assert_true(message[0]);
	}
}

static void other_files_are_no_cores(void **state)
{
	struct weir_snapshot *snapshot;

	assert_int_equal(weir__attach_core(&snapshot, "/proc/self/exe", NULL,
					   &options, message),
			 -ENOEXEC);
	assert_null(snapshot);
	assert_non_null(strstr(message, "no core file"));
	assert_int_equal(weir__attach_core(&snapshot, "/nowhere", NULL,
					   &options, message),
			 -ENOENT);
	assert_non_null(strstr(message, "No such file"));
	assert_int_equal(weir__attach_core(&snapshot, "/dev/null", NULL,
					   &options, message),
			 -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_core_says_what_the_process_said),
		cmocka_unit_test(the_library_is_found_in_a_core),
		cmocka_unit_test(a_static_program_without_symbols_is_read),
		cmocka_unit_test(a_program_of_another_build_is_not_believed),
		cmocka_unit_test(a_core_that_is_cut_is_read_as_far_as_it_goes),
		cmocka_unit_test(other_files_are_no_cores),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
