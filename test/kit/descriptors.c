/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit/descriptors.h"

#include <dirent.h>
#include <string.h>

void descriptors_note(struct descriptors *descriptors)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd;

	assert_non_null(directory);
	memset(descriptors, 0, sizeof(*descriptors));
	while ((entry = readdir(directory))) {
		fd = atoi(entry->d_name);
		if (entry->d_name[0] == '.' || fd == dirfd(directory))
			continue;
		assert_in_range(fd, 0, DESCRIPTORS_MAX - 1);
		descriptors->open[fd] = true;
	}
	closedir(directory);
}

void descriptors_check(const struct descriptors *descriptors)
{
	static struct descriptors now;
	int fd;

	descriptors_note(&now);
	for (fd = 0; fd < DESCRIPTORS_MAX; fd++) {
		if (now.open[fd] && !descriptors->open[fd])
			fail_msg("descriptor %d was left open", fd);
		if (!now.open[fd] && descriptors->open[fd])
			fail_msg("descriptor %d was closed", fd);
	}
}

size_t descriptors_count(void)
{
	static struct descriptors now;
	size_t n = 0, fd;

	descriptors_note(&now);
	for (fd = 0; fd < DESCRIPTORS_MAX; fd++)
		n += now.open[fd];
	return n;
}
