/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors with names whose turns do what is set, for looks at them. */
#ifndef WEIR_TEST_INSPECT_KIT_H
#define WEIR_TEST_INSPECT_KIT_H

#include "support.h"

#include <string.h>

#include <weir/sim.h>
#include <weir/weir.h>

enum { NODE_PORTS = 3 };

struct node {
	struct weir_actor actor;
	struct weir_actor_ops ops;
	struct weir_in ins[NODE_PORTS];
	struct weir_out outs[NODE_PORTS];
	struct weir_delay delay;
	struct weir_semaphore_port permit;
	size_t n_ins, n_outs;
	bool waits;			   /* after each turn */
	uint64_t wait_ns;		   /* so long; an hour */
	void (*before)(struct node *node); /* each turn; NULL: nothing */
};

/* With so many in-ports of 4 tokens, and out-ports. A turn takes one of each and
 * puts one into each. */
void node_init(struct node *node, struct weir_executor *executor,
	       const char *name, size_t n_ins, size_t n_outs);
/* It has a delay port, too, whose time has come at first. */
void node_waits(struct node *node);
void node_link(struct node *from, size_t out, struct node *to, size_t in);
/* From outside. */
void node_put(struct node *node, size_t in);
void node_start(struct node *node);
void node_stop(struct node *node);

/* A publisher and a subscriber of nobody's actor. */
struct outsider {
	struct weir_publisher publisher;
	struct weir_subscription subscription; /* what it has given out */
	struct weir_subscriber *to;
	int64_t requested;
	struct weir_subscriber subscriber;
	struct weir_subscription *from; /* what it has been given */
	int64_t received;
};

void outsider_init(struct outsider *outsider);
/* As publisher: `n` items to its subscriber. */
void outsider_send(struct outsider *outsider, size_t n);
/* As publisher: its stream is over. */
void outsider_complete(struct outsider *outsider);
/* As subscriber. */
void outsider_request(struct outsider *outsider, int64_t n);
void outsider_cancel(struct outsider *outsider);

/* A settled snapshot of the executor. */
struct weir_snapshot *taken(struct weir_executor *executor);
/* What weir_snapshot_why_text() says of the actor, NULL: of the program; the snapshot is
 * freed. Until the next call. */
const char *why(struct weir_executor *executor, const struct node *node);

#endif
