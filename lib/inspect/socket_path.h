/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a process listens, and what is in the way there. */
#ifndef WEIR_INSPECT_SOCKET_PATH_H
#define WEIR_INSPECT_SOCKET_PATH_H

#include <sys/un.h>

/*
 * The socket of this process in the default folder, which is made if it is not
 * there; sockets in it at which nobody listens are removed. -EACCES: the folder is
 * another user's, or open to others. -ENAMETOOLONG, or what mkdir(2) reports.
 */
int weir__socket_path_default(struct sockaddr_un *address);

/* -ENAMETOOLONG: it does not fit. */
int weir__socket_path_set(struct sockaddr_un *address, const char *path);

/* Binds the socket, which has mode 0600. One at which nobody listens any more is
 * replaced. -EADDRINUSE, or what bind(2) reports. */
int weir__socket_path_bind(int fd, const struct sockaddr_un *address);

#endif
