/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU lists, affinity and cgroup quotas. Everything is read into buffers on
 * the stack: nothing is allocated, and what does not fit (a path or a line
 * that is too long) counts as not there.
 */
#include "executor/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_SETS (WEIR__CPUS_MAX / CPU_SETSIZE)
#define LINE_SIZE 4096

/* A decimal number up to `max`; moves on *text. False: there is none. */
static bool number(const char **text, uint32_t max, uint32_t *value)
{
	const char *at = *text;
	uint32_t sum = 0;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		sum = sum * 10 + (uint32_t)(*at - '0');
		if (sum > max)
			return false;
	}
	*text = at;
	*value = sum;
	return true;
}

/* "first", "first-last" or "first-last:stride"; moves on *text. */
static bool range(const char **text, struct weir__cpus *cpus)
{
	uint32_t first, last, stride = 1;

	if (!number(text, WEIR__CPUS_MAX - 1, &first))
		return false;
	last = first;
	if (**text == '-') {
		++*text;
		if (!number(text, WEIR__CPUS_MAX - 1, &last) || last < first)
			return false;
		if (**text == ':') {
			++*text;
			if (!number(text, WEIR__CPUS_MAX, &stride) || !stride)
				return false;
		}
	}
	for (; first <= last; first += stride)
		CPU_SET(first % CPU_SETSIZE, &cpus->sets[first / CPU_SETSIZE]);
	return true;
}

int weir__cpus_parse(struct weir__cpus *cpus, const char *list)
{
	memset(cpus, 0, sizeof(*cpus));
	for (;;) {
		if (!range(&list, cpus))
			return -EINVAL;
		if (!*list)
			return 0;
		if (*list++ != ',')
			return -EINVAL;
	}
}

int weir__cpus_allowed(struct weir__cpus *cpus)
{
	memset(cpus, 0, sizeof(*cpus));
	return sched_getaffinity(0, sizeof(*cpus), cpus->sets) < 0 ? -errno : 0;
}

uint32_t weir__cpus_count(const struct weir__cpus *cpus)
{
	return (uint32_t)CPU_COUNT_S(sizeof(*cpus), cpus->sets);
}

uint32_t weir__cpus_intersect(struct weir__cpus *cpus,
			      const struct weir__cpus *other)
{
	CPU_AND_S(sizeof(*cpus), cpus->sets, cpus->sets, other->sets);
	return weir__cpus_count(cpus);
}

/* A text file line by line. */
struct lines {
	int fd;
	size_t begin, end;
	char buffer[LINE_SIZE];
};

static bool lines_open(struct lines *lines, const char *path)
{
	lines->begin = lines->end = 0;
	lines->fd = open(path, O_RDONLY | O_CLOEXEC);
	return lines->fd >= 0;
}

static void lines_close(struct lines *lines)
{
	close(lines->fd);
}

/* More bytes behind those not used yet. */
static bool lines_fill(struct lines *lines)
{
	size_t kept = lines->end - lines->begin;
	ssize_t n;

	memmove(lines->buffer, lines->buffer + lines->begin, kept);
	lines->begin = 0;
	lines->end = kept;
	if (kept == sizeof(lines->buffer) - 1)
		return false; /* a line as long as that ends the reading */
	do {
		n = read(lines->fd, lines->buffer + kept,
			 sizeof(lines->buffer) - 1 - kept);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	lines->end += (size_t)n;
	return true;
}

/* The next line without its end; NULL: there are no more. */
static char *lines_next(struct lines *lines)
{
	char *line, *end;

	do {
		line = lines->buffer + lines->begin;
		end = memchr(line, '\n', lines->end - lines->begin);
		if (end) {
			*end = 0;
			lines->begin = (size_t)(end + 1 - lines->buffer);
			return line;
		}
	} while (lines_fill(lines));
	if (lines->begin == lines->end)
		return NULL;
	lines->buffer[lines->end] = 0; /* the last one has no end */
	line = lines->buffer + lines->begin;
	lines->begin = lines->end;
	return line;
}

/* Splits off the first field. */
static char *field(char **rest, char separator)
{
	char *first = *rest, *end = first ? strchr(first, separator) : NULL;

	*rest = end ? end + 1 : NULL;
	if (end)
		*end = 0;
	return first;
}

/* Whether a comma-separated list has the word. */
static bool has_word(char *list, const char *word)
{
	char *found;

	while ((found = field(&list, ','))) {
		if (strcmp(found, word) == 0)
			return true;
	}
	return false;
}

/* Where the groups of one hierarchy are. */
struct hierarchy {
	bool v2;
	char path[PATH_MAX];  /* of the process's group in the hierarchy */
	char mount[PATH_MAX]; /* where the hierarchy is mounted */
	char top[PATH_MAX];   /* which group is mounted there */
};

/* to[PATH_MAX] = first + second. False: it would be too long. */
static bool join(char *to, const char *first, const char *second)
{
	int n = snprintf(to, PATH_MAX, "%s%s", first, second);

	return n >= 0 && n < PATH_MAX;
}

static bool open_below(struct lines *lines, const char *root, const char *path)
{
	char file[PATH_MAX];

	return join(file, root, path) && lines_open(lines, file);
}

/* From "0::/path" or "4:cpu,cpuacct:/path". */
static bool find_path(struct hierarchy *hierarchy, const char *root)
{
	struct lines lines;
	char *line;
	bool found = false;

	if (!open_below(&lines, root, "/proc/self/cgroup"))
		return false;
	while (!found && (line = lines_next(&lines))) {
		char *id = field(&line, ':');
		char *controllers = field(&line, ':');

		if (!controllers || !line)
			continue;
		found = hierarchy->v2 ? strcmp(id, "0") == 0 && !*controllers
				      : has_word(controllers, "cpu");
		found = found && join(hierarchy->path, line, "");
	}
	lines_close(&lines);
	return found;
}

/*
 * From a line of mountinfo: "id parent dev top mount options [tags] - type
 * source super-options".
 */
static bool is_mount(struct hierarchy *hierarchy, char *line)
{
	char *separator = strstr(line, " - "), *rest, *type, *top, *mount;

	if (!separator)
		return false;
	*separator = 0;
	rest = separator + 3;
	type = field(&rest, ' ');
	field(&rest, ' ');
	if (hierarchy->v2 ? strcmp(type, "cgroup2") != 0
			  : strcmp(type, "cgroup") != 0 || !rest ||
				    !has_word(rest, "cpu"))
		return false;
	field(&line, ' ');
	field(&line, ' ');
	field(&line, ' ');
	top = field(&line, ' ');
	mount = field(&line, ' ');
	return mount && join(hierarchy->top, top, "") &&
	       join(hierarchy->mount, mount, "");
}

static bool find_mount(struct hierarchy *hierarchy, const char *root)
{
	struct lines lines;
	char *line;
	bool found = false;

	if (!open_below(&lines, root, "/proc/self/mountinfo"))
		return false;
	while (!found && (line = lines_next(&lines)))
		found = is_mount(hierarchy, line);
	lines_close(&lines);
	return found;
}

/*
 * The group's path below the mount: what follows the mounted group's. A
 * process in a namespace may see a path from elsewhere: then it is the mounted
 * group itself.
 */
static const char *below(const struct hierarchy *hierarchy)
{
	size_t n = strlen(hierarchy->top);

	if (n == 1) /* "/" */
		n = 0;
	if (strncmp(hierarchy->path, hierarchy->top, n) != 0)
		return "";
	return hierarchy->path[n] == '/' ? hierarchy->path + n : "";
}

/* The numbers that the first line of directory/name begins with; 0: none. */
static void read_numbers(const char *directory, const char *name,
			 long long *numbers, size_t n)
{
	struct lines lines;
	char *line, *end;
	size_t i;

	memset(numbers, 0, n * sizeof(*numbers));
	if (!open_below(&lines, directory, name))
		return;
	line = lines_next(&lines);
	for (i = 0; line && i < n; i++) {
		numbers[i] = strtoll(line, &end, 10);
		line = end;
	}
	lines_close(&lines);
}

/* What one group grants; "max" is no number, and -1 no quota. */
static uint32_t group_quota(const char *directory, bool v2)
{
	long long quota[2], cpus; /* and period */

	if (v2) {
		read_numbers(directory, "/cpu.max", quota, 2);
	} else {
		read_numbers(directory, "/cpu.cfs_quota_us", &quota[0], 1);
		read_numbers(directory, "/cpu.cfs_period_us", &quota[1], 1);
	}
	if (quota[0] <= 0 || quota[1] <= 0)
		return UINT32_MAX;
	cpus = quota[0] / quota[1] + (quota[0] % quota[1] != 0);
	return cpus < UINT32_MAX ? (uint32_t)cpus : UINT32_MAX;
}

static uint32_t hierarchy_quota(const char *root, bool v2)
{
	struct hierarchy hierarchy = {.v2 = v2};
	char mount[PATH_MAX], group[PATH_MAX];
	uint32_t smallest = UINT32_MAX, quota;
	size_t n;

	if (!find_path(&hierarchy, root) || !find_mount(&hierarchy, root) ||
	    !join(mount, root, hierarchy.mount) ||
	    !join(group, mount, below(&hierarchy)))
		return UINT32_MAX;
	n = strlen(group);
	for (;;) {
		quota = group_quota(group, v2);
		if (quota < smallest)
			smallest = quota;
		if (n <= strlen(mount))
			return smallest;
		while (group[n] != '/') /* one group up */
			n--;
		group[n] = 0;
	}
}

uint32_t weir__cpus_quota(const char *root)
{
	uint32_t v2 = hierarchy_quota(root, true);
	uint32_t v1 = hierarchy_quota(root, false);

	return v1 < v2 ? v1 : v2;
}

uint32_t weir__cpus_default(void)
{
	struct weir__cpus allowed;
	uint32_t quota = weir__cpus_quota("");
	uint32_t n = 0;

	if (weir__cpus_allowed(&allowed) == 0)
		n = weir__cpus_count(&allowed);
	if (quota < n)
		n = quota;
	if (n > WEIR__CPUS_MAX)
		n = WEIR__CPUS_MAX;
	return n ? n : 1;
}
