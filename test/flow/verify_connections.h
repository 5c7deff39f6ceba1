/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of verify_sources.c and verify_sinks.c: flows over sockets. Connections
 * are pairs of sockets, whose other ends are the test's.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_CONNECTIONS_H
#define WEIR_TEST_FLOW_VERIFY_CONNECTIONS_H

#include "flow/verify_bridges.h"

/* A connection of the Unix domain, with a peer that does not block; NULL: its
 * peer has gone. */
struct weir_connection *connection_with(int *peer);

/* Its peer has sent them all, and ended. */
struct weir_flow *connection_read_of(struct made *made);

/* These emit how many bytes there were, and so many goods come of that. */
struct weir_flow *connection_run_of(struct made *made);
struct weir_flow *connection_pipe_of(struct made *made);

/* Each run connects anew. */
struct weir_flow *connect_of(struct made *made);

/* As many clients come as there are goods. */
struct weir_flow *listen_of(struct made *made);
struct weir_flow *each_connection_of(struct made *made);

/* As the flow of each of them; it ends at once. */
struct weir_flow *serve_nothing(struct weir_connection *connection,
				void *context);

#endif
