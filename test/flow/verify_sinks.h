/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sinks that the suite of subscribers holds to the rules, and ownership.c
 * to their items: one line each, at the end.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_SINKS_H
#define WEIR_TEST_FLOW_VERIFY_SINKS_H

#include "flow/verify_kit.h"

#include "flow/verify_operators.h"

#include <fcntl.h>
#include <unistd.h>

/* What a sink gives its items to. */
struct taker {
	struct weir_executor *executor;
	const struct weir_items *items;
	struct weir_subscriber_probe *probe;
	struct weir_channel *channel;
	struct weir_hub *hub;
	struct beside drain; /* of the channel, the hub, or `fd` */
	int fd;
	struct weir_connection *connection; /* `fd` is its peer */
	char path[64];			    /* of a file, or "" */
	/* An actor that drops them. */
	struct weir_actor actor;
	struct weir_in in;
	struct weir_semaphore acks;
	void *first; /* that it is sent, until a flow takes it over */
	bool has_actor;
	uint32_t gone; /* any thread */
};

struct sink_row {
	const char *name; /* contains that of the operator */
	struct weir_flow *(*put_upon)(struct weir_flow *flow,
				      struct taker *taker);
};

struct taker *taker_new(struct weir_executor *executor,
			const struct weir_items *items);

/* The flow upon which the sink was put runs now. */
void taker_start(struct taker *taker);

/* Its stream has ended, but the run may wait for it to let go. */
void taker_let_go(struct taker *taker);

/* All has come to rest since. */
void taker_free(struct taker *taker);

/* --- The table ------------------------------------------------------------ */

extern const struct sink_row sinks[];
extern const size_t n_sinks;

#endif
