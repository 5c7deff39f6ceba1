/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: items that are settled. One is in the list of its source that are
 * open until it is settled; in the writer's queue while there is something to
 * publish for it; and freed when its last holder has dropped it and all is
 * published. All fields but the bytes are under the connection's lock, or
 * constant.
 */
#ifndef WEIR_NATS_MESSAGE_H
#define WEIR_NATS_MESSAGE_H

#include "nats/nats_state.h"

/* What an ack subject tells. */
struct weir__nats_meta {
	uint64_t deliveries, sequence, consumer_sequence, pending;
	int64_t time;
};

/* Of $JS.ACK. with 9 tokens, or 11 and more. False: it is none. */
bool weir__nats_meta_parse(struct weir__nats_meta *meta, const char *subject);

enum weir__nats_settled {
	WEIR__NATS_OPEN,
	WEIR__NATS_DONE,
	WEIR__NATS_RETRY,
	WEIR__NATS_DEAD,
};

struct weir_nats_message {
	struct weir_flow_bytes bytes; /* first */
	natsMsg *msg;
	struct weir__nats_origin *origin;
	struct weir__nats_meta meta;
	size_t size;
	struct weir_nats_message *next;		  /* in the writer's queue */
	struct weir_nats_message *lane;		  /* in its source's lane */
	struct weir_nats_message *before, *after; /* that are open */
	uint64_t came_ns, told_ns; /* told: when the server heard of it */
	uint64_t delay_ns;
	enum weir__nats_settled settled;
	bool progress, queued, busy, published, dropped;
	bool held;    /* it was given to a flow: it counts as held */
	bool passed;  /* below a boundary: it has gone on */
	bool counted; /* its source counts it until the server has been told */
	char *reason;
};

/* Where messages come from; part of a source, which lives as long as these. */
struct weir__nats_origin {
	struct weir__nats_client *client;
	struct weir_allocator hook; /* of messages; `allocator` is behind it */
	const char *stream, *durable, *dead_subject;
	const uint64_t *backoff;
	size_t n_backoff;
	int64_t max_deliver;
	bool no_acks;	      /* messages are settled as they come */
	bool draining;	      /* the source waits until nothing is unsettled */
	uint64_t ack_wait_ns; /* of messages that are held; 0: none is */
	uint64_t hold_ns;     /* when to look which ones are; or UINT64_MAX */
	size_t n;	      /* messages that are not freed */
	struct weir_nats_message *first,
		*last;	    /* open, the one told first first */
	size_t n_unsettled; /* open, or not published */
	uint64_t n_told;    /* counted and published; the source looks at it */
};

void weir__nats_origin_init(struct weir__nats_origin *self,
			    struct weir__nats_client *client);

/* Takes `msg` over, also if there is no memory: NULL. It is to be opened before
 * anything else. */
struct weir_nats_message *weir__nats_message_new(
	struct weir__nats_origin *origin, natsMsg *msg);

/* With the lock: it has come, and is open. Not `given`: it is refused at once, and
 * nobody's to hold a connection up. */
void weir__nats_message_open(struct weir_nats_message *self, uint64_t now_ns,
			     bool given);
/* With the lock: settles it, if it is open. */
bool weir__nats_message_settle(struct weir_nats_message *self,
			       enum weir__nats_settled settled,
			       uint64_t delay_ns);
/* With the lock: the server is told of those for which it is time. When to do
 * so next. */
uint64_t weir__nats_origin_hold(struct weir__nats_origin *self,
				uint64_t now_ns);

/* The writer's, with the lock, which it lets go of: publishes some of what is
 * queued. False: there was nothing, or it cannot now. */
bool weir__nats_publish(struct weir_nats *nats);
/* With the lock: what is queued is not published any more. */
void weir__nats_abandon(struct weir_nats *nats);

#endif
