/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of connections share: a run on an executor of any kind, and
 * peers that are plain sockets of the test. The executor is driven while the
 * test waits for what a peer sees; nothing waits for a time.
 */
#ifndef WEIR_TEST_NET_KIT_H
#define WEIR_TEST_NET_KIT_H

#include "executor/places.h"
#include "kit/descriptors.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/connection.h>

struct net {
	struct place place;
	struct descriptors before;
	char address[WEIR_CONNECTION_ADDRESS_MAX]; /* of listen_here() */
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_connection *connection;
	int peer; /* of `connection`, or -1 */
};

extern const struct kind *const net_kinds[3];
#define for_each_kind(kind) \
	for (const struct kind *const *kind = net_kinds; kind < net_kinds + 3; \
	     kind++)

void net_begin(struct net *net, const struct kind *kind);
/* A connection over TCP or of the Unix domain, with `peer`. */
void net_connect(struct net *net, int family,
		 const struct weir_connection_options *options);
/* All that is there is freed and closed, and no descriptor is left. */
void net_end(struct net *net);

/* Runs something, if it does not run by itself. */
void net_drive(struct net *net);
void net_start(struct net *net, struct weir_flow *flow);
/* The run is over, with this code and this result. */
void net_over(struct net *net, int code, uintptr_t result);
bool net_is_over(const struct net *net);

/* The options of a listener whose address comes into `net`. */
struct weir_listen_options listen_here(struct net *net);
/* A client of it; blocking. */
int dial(const char *address);

void send_text(int fd, const char *text);
/* Exactly that comes; or the peer's end; or a reset. */
void expect_text(struct net *net, int fd, const char *text);
void expect_end(struct net *net, int fd);
void expect_reset(struct net *net, int fd);
/* Closes the socket so that the other side is reset. */
void reset(int fd);

/* A flow of bytes with that text, in one item. */
struct weir_flow *text_flow(const char *text);

#endif
