/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes listen, and where. */
#ifndef WEIR_COMMAND_FIND_H
#define WEIR_COMMAND_FIND_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

/*
 * Calls `found` for each process that listens in a folder of the library's,
 * until it returns true. Whose user may be another one. 0 or a negative errno.
 */
int find_all(bool (*found)(pid_t pid, const char *path, void *context),
	     void *context);

/* Where that process listens. -ENOENT: it does not. */
int find_process(pid_t pid, struct sockaddr_un *address);

#endif
