/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of stream sockets, as text and as the kernel has them. */
#ifndef WEIR_NET_ADDRESS_H
#define WEIR_NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct weir__address {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} at;
	socklen_t length;
	int fd; /* of "fd:N", and then there is nothing else; or -1 */
};

/* 0; or -EINVAL: `text` is no numeric address, no path and no descriptor. */
int weir__address_parse(struct weir__address *address, const char *text);

/*
 * The parts of "host:80": the length of the host, and the port. 0; or -EINVAL.
 */
int weir__address_split(const char *text, size_t *host, uint16_t *port);

/* As weir_connection_peer(). */
int weir__address_format(const struct weir__address *address, char *text,
			 size_t n);

/* What getsockname(2), or `peer` getpeername(2), says of a socket. 0 or a
 * negative errno. */
int weir__address_of(struct weir__address *address, int fd, bool peer);

#endif
