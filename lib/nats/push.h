/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sink has published and what is acknowledged: the accounting alone, as
 * pull.h is for a source. Items have numbers from 0 on; those that are not
 * acknowledged, and those behind them, are in a ring of `window` places:
 *
 *	first <= next <= last <= first + window
 *
 * Those before `next` are sent, or acknowledged. When something is lost, `next`
 * goes back to `first`, and what is not acknowledged is sent again: with the same
 * ids, so the server has each once.
 *
 * In strict order the first that is sent again, or on a connection, is alone until
 * it is acknowledged: a server that begins to take messages in the middle would
 * have the later ones first. What was stored before a cut is the beginning of what was sent.
 */
#ifndef WEIR_NATS_PUSH_H
#define WEIR_NATS_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long an answer may take; and the first one on a connection, as a server that
 * has just begun loses what it is sent. */
#define WEIR__NATS_RETRY_NS UINT64_C(2000000000)
#define WEIR__NATS_RETRY_MIN_NS UINT64_C(250000000)

enum weir__nats_place {
	WEIR__NATS_TO_SEND,
	WEIR__NATS_SENT,
	WEIR__NATS_STORED,
};

struct weir__nats_push_item {
	enum weir__nats_place place;
	bool again;	  /* it was sent before */
	uint64_t sent_ns; /* for the last time */
};

struct weir__nats_push {
	/* constant */
	struct weir__nats_push_item *items; /* number % window */
	uint64_t window, timeout_ns;
	bool strict;

	bool connected;
	bool alone;   /* strict: wait for the first one */
	bool refused; /* nobody listens, it was said last */
	uint64_t first, next, last;
	uint64_t moved_ns; /* when there was an ack, or a connection */
	uint64_t later_ns, backoff_ns;
	uint64_t retry_ns; /* with what is not answered for so long */
	int code;	   /* 0, or with what it has failed */
	const char *message;
	uint64_t n_resent;
};

void weir__nats_push_init(struct weir__nats_push *self,
			  struct weir__nats_push_item *items, uint64_t window,
			  uint64_t timeout_ns, bool strict);
void weir__nats_push_check(const struct weir__nats_push *self);

/* How many may be put. */
uint64_t weir__nats_push_room(const struct weir__nats_push *self);
/* One more; its number. */
uint64_t weir__nats_push_put(struct weir__nats_push *self, uint64_t now_ns);

void weir__nats_push_connected(struct weir__nats_push *self, uint64_t now_ns);
void weir__nats_push_disconnected(struct weir__nats_push *self);

/* True: *number is to be sent now. */
bool weir__nats_push_next(struct weir__nats_push *self, uint64_t now_ns,
			  uint64_t *number);
/* It could not be sent; or nobody has taken it. */
void weir__nats_push_unsent(struct weir__nats_push *self, uint64_t number,
			    uint64_t now_ns);
void weir__nats_push_refused(struct weir__nats_push *self, uint64_t number,
			     uint64_t now_ns);
/* It is stored. False: that is known. */
bool weir__nats_push_stored(struct weir__nats_push *self, uint64_t number,
			    uint64_t now_ns);
void weir__nats_push_fail(struct weir__nats_push *self, int code,
			  const char *message);
/* When to call _next even if nothing happens. */
uint64_t weir__nats_push_due(const struct weir__nats_push *self);

#endif
