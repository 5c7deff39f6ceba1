/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel has a list of all sockets, so nobody's environment need be guessed. */
#include "command/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Of .../weir/PID.sock or .../weir-UID/PID.sock; 0: it is no such path. */
static pid_t process_of(const char *path)
{
	const char *name = strrchr(path, '/'), *folder = name;
	char *end;
	long pid;

	if (!name)
		return 0;
	while (folder > path && folder[-1] != '/')
		folder--;
	if (strncmp(folder, "weir/", 5) != 0 &&
	    strncmp(folder, "weir-", 5) != 0)
		return 0;
	pid = strtol(name + 1, &end, 10);
	return pid > 0 && strcmp(end, ".sock") == 0 ? (pid_t)pid : 0;
}

/* A line of the list; what listens has the flag 00010000. */
static const char *path_of(char *line)
{
	const char *at = line;
	unsigned long flags = 0;
	int field;

	line[strcspn(line, "\n")] = '\0';
	for (field = 0; field < 7; field++) {
		if (field == 3)
			flags = strtoul(at, NULL, 16);
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return *at && (flags & 0x10000) ? at : NULL;
}

int find_all(bool (*found)(pid_t pid, const char *path, void *context),
	     void *context)
{
	FILE *list = fopen("/proc/net/unix", "re");
	const char *path;
	char line[512];
	pid_t pid;

	if (!list)
		return -errno;
	while (fgets(line, sizeof(line), list)) {
		path = path_of(line);
		pid = path ? process_of(path) : 0;
		if (pid && found(pid, path, context))
			break;
	}
	(void)fclose(list);
	return 0;
}

struct wanted {
	pid_t pid;
	struct sockaddr_un *address;
	bool found;
};

static bool is_wanted(pid_t pid, const char *path, void *context)
{
	struct wanted *wanted = context;

	if (pid != wanted->pid ||
	    strlen(path) >= sizeof(wanted->address->sun_path))
		return false;
	memcpy(wanted->address->sun_path, path, strlen(path) + 1);
	wanted->found = true;
	return true;
}

int find_process(pid_t pid, struct sockaddr_un *address)
{
	struct wanted wanted = {.pid = pid, .address = address};
	int rc;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	rc = find_all(is_wanted, &wanted);
	if (rc < 0)
		return rc;
	return wanted.found ? 0 : -ENOENT;
}
