/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/cpus.h"

#define N_FILES 16

/* A tree of files in the place of the real /proc and /sys. */
static char root[PATH_MAX - 512];
static char made[N_FILES * 8][PATH_MAX]; /* in this order */
static int n_made;

static int begin(void **state)
{
	const char *tmp = getenv("TMPDIR");

	n_made = 0;
	(void)snprintf(root, sizeof(root), "%s/weir-cpus-XXXXXX",
		       tmp ? tmp : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	while (n_made)
		(void)remove(made[--n_made]);
	return rmdir(root);
}

static void remember(const char *name)
{
	(void)snprintf(made[n_made++], PATH_MAX, "%s", name);
}

/* Writes root/path and the directories above it. */
static void file(const char *path, const char *text)
{
	char name[PATH_MAX], *slash;
	FILE *out;

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	for (slash = name + strlen(root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = 0;
		if (mkdir(name, 0700) == 0)
			remember(name);
		*slash = '/';
	}
	out = fopen(name, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	remember(name);
}

static void v2_at(const char *path, const char *top)
{
	char text[PATH_MAX];

	(void)snprintf(text, sizeof(text), "0::%s\n", path);
	file("/proc/self/cgroup", text);
	(void)snprintf(text, sizeof(text),
		       "22 1 0:20 / /proc rw - proc proc rw\n"
		       "25 1 0:23 %s /cg rw shared:4 - cgroup2 none rw\n",
		       top);
	file("/proc/self/mountinfo", text);
}

static void v1_at(const char *path, const char *top)
{
	char text[PATH_MAX];

	(void)snprintf(text, sizeof(text),
		       "9:cpuset:/\n4:cpu,cpuacct:%s\n0::/elsewhere\n", path);
	file("/proc/self/cgroup", text);
	(void)snprintf(text, sizeof(text),
		       "30 1 0:30 / /cs rw - cgroup cgroup rw,cpuset\n"
		       "31 1 0:31 %s /cpu rw - cgroup cgroup rw,cpu,cpuacct",
		       top);
	file("/proc/self/mountinfo", text);
}

static void lists_are_read_as_taskset_reads_them(void **state)
{
	static const struct {
		const char *list;
		uint64_t low; /* CPUs 0 to 63 */
		uint32_t n;
	} vectors[] = {
		{"0", 0x1, 1},
		{"2", 0x4, 1},
		{"0-3", 0xf, 4},
		{"0-3,8", 0x10f, 5},
		{"8,0-3", 0x10f, 5},
		{"1,1,0-1", 0x3, 2},
		{"0-7:2", 0x55, 4},
		{"1-6:3", 0x12, 2},
		{"5-5", 0x20, 1},
		{"007", 0x80, 1},
		{"0-1:8192", 0x1, 1},
		{"63-64", UINT64_C(1) << 63, 2},
		{"1000-1100", 0, 101},
		{"8191", 0, 1},
		{"0-8191", UINT64_MAX, 8192},
	};
	struct weir__cpus cpus;
	size_t i;
	int cpu;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		assert_int_equal(weir__cpus_parse(&cpus, vectors[i].list), 0);
		assert_int_equal(weir__cpus_count(&cpus), vectors[i].n);
		for (cpu = 0; cpu < 64; cpu++)
			assert_int_equal(!!CPU_ISSET(cpu, &cpus.sets[0]),
					 vectors[i].low >> cpu & 1);
	}
}

static void what_is_no_list_is_refused(void **state)
{
	static const char *const bad[] = {
		"",	"a",	  "-1",	   "1-",	 "3-1",
		"0,",	",0",	  "0,,1",  "0 ",	 " 0",
		"0x1",	"0-3:0",  "0-3:",  "0:2",	 "0-3:2x",
		"8192", "0-8192", "1-2-3", "4294967296", "99999999999999999999",
	};
	struct weir__cpus cpus;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(weir__cpus_parse(&cpus, bad[i]), -EINVAL);
}

static void only_what_both_have_is_left(void **state)
{
	struct weir__cpus one, other;

	assert_int_equal(weir__cpus_parse(&one, "0-3,1030"), 0);
	assert_int_equal(weir__cpus_parse(&other, "2-5,1030"), 0);
	assert_int_equal(weir__cpus_intersect(&one, &other), 3);
	assert_int_equal(weir__cpus_parse(&other, "9"), 0);
	assert_int_equal(weir__cpus_intersect(&one, &other), 0);
}

static void some_cpus_are_allowed(void **state)
{
	struct weir__cpus cpus;

	assert_int_equal(weir__cpus_allowed(&cpus), 0);
	assert_in_range(weir__cpus_count(&cpus), 1, WEIR__CPUS_MAX);
	assert_in_range(weir__cpus_default(), 1, weir__cpus_count(&cpus));
}

static void a_quota_is_rounded_up(void **state)
{
	v2_at("/app", "/");
	file("/cg/app/cpu.max", "250000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 3);
	file("/cg/app/cpu.max", "200000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 2);
	file("/cg/app/cpu.max", "1000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 1);
}

static void the_smallest_quota_up_to_the_root_counts(void **state)
{
	v2_at("/a/b/c", "/");
	file("/cg/a/b/c/cpu.max", "800000 100000\n");
	file("/cg/a/cpu.max", "400000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 4);
	file("/cg/a/b/c/cpu.max", "100000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 1);
	file("/cg/cpu.max", "50000 100000\n");
	file("/cg/a/b/c/cpu.max", "max 100000\n");
	assert_int_equal(weir__cpus_quota(root), 1);
}

static void the_root_group_may_be_the_own(void **state)
{
	v2_at("/", "/");
	file("/cg/cpu.max", "300000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 3);
}

static void a_container_sees_its_own_group_at_the_mount(void **state)
{
	v2_at("/docker/1234/inner", "/docker/1234");
	file("/cg/cpu.max", "500000 100000\n");
	file("/cg/inner/cpu.max", "200000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 2);
}

static void a_path_from_elsewhere_means_the_mount(void **state)
{
	v2_at("/", "/../../other");
	file("/cg/cpu.max", "700000 100000\n");
	assert_int_equal(weir__cpus_quota(root), 7);
}

static void version_1_has_quotas_too(void **state)
{
	v1_at("/job", "/");
	file("/cpu/job/cpu.cfs_period_us", "50000\n");
	file("/cpu/job/cpu.cfs_quota_us", "75000\n");
	assert_int_equal(weir__cpus_quota(root), 2);
	file("/cpu/job/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
}

static void no_limit_is_no_limit(void **state)
{
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
	v2_at("/app", "/");
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
	file("/cg/app/cpu.max", "max 100000\n");
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
}

static void nonsense_is_no_limit(void **state)
{
	static const char *const texts[] = {
		"", "\n", "100000", "0 0\n", "100000 0\n", "-5 10\n", "x y\n"};
	char line[5000];
	size_t i;

	v2_at("/app", "/");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		file("/cg/app/cpu.max", texts[i]);
		assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
	}
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	file("/proc/self/mountinfo", line);
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
	file("/proc/self/cgroup", "no colon\n:\n0:\n");
	assert_int_equal(weir__cpus_quota(root), UINT32_MAX);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_as_taskset_reads_them),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(only_what_both_have_is_left),
		cmocka_unit_test(some_cpus_are_allowed),
		IN_TREE(a_quota_is_rounded_up),
		IN_TREE(the_smallest_quota_up_to_the_root_counts),
		IN_TREE(the_root_group_may_be_the_own),
		IN_TREE(a_container_sees_its_own_group_at_the_mount),
		IN_TREE(a_path_from_elsewhere_means_the_mount),
		IN_TREE(version_1_has_quotas_too),
		IN_TREE(no_limit_is_no_limit),
		IN_TREE(nonsense_is_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
