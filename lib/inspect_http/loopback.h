/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the page is served, and by what name a client may call that. */
#ifndef WEIR_INSPECT_HTTP_LOOPBACK_H
#define WEIR_INSPECT_HTTP_LOOPBACK_H

#include <stdbool.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct weir__loopback {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} at;
	socklen_t length;
	/* of a path: which one was made, so that no other is removed */
	dev_t dev;
	ino_t ino;
	char text[sizeof("unix:") + sizeof(struct sockaddr_un)];
};

/* 0; -EINVAL: neither a port of the loopback device nor a path. */
int weir__loopback_parse(struct weir__loopback *address, const char *text);

/* A socket that listens there and does not block, with the port and the text in
 * *address; or a negative errno. */
int weir__loopback_listen(struct weir__loopback *address);

/* The path is removed, if it is still the one that was made. */
void weir__loopback_forget(const struct weir__loopback *address);

/* The value of a Host header, or NULL, names this machine: a name that another
 * site can have point to it does not. */
bool weir__loopback_is_host(const char *host);

/* Who has connected may look: any at a port; at a path who could read the memory
 * of this process anyway. */
bool weir__loopback_may_look(const struct weir__loopback *address, int fd);

#endif
