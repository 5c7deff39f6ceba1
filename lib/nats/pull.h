/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source has asked of a consumer and what it has got: the accounting
 * alone, which knows neither libnats nor threads. It is told what happens, and
 * says what to do next (weir__nats_pull_next); whoever has it calls that until
 * there is nothing to do, and again when something has happened or `due` has
 * come. Times are of one clock.
 *
 * `asked` is how many messages may still come: what was asked for, less what has
 * come, was refused or has expired. No message says which request it answers, so
 * it is one sum. It is never too small:
 *
 *	held + asked <= window
 *
 * A request is over when a status says so, which also tells how many it did not
 * get, or a second behind its end by our own clock, whatever was heard. Then no
 * more may come than all later requests have asked for. For this requests are
 * gathered in `parts` by the time when they end.
 *
 * Each connection has an inbox of its own, with a number, the epoch. What was
 * asked on an old one is lost: its messages are taken as long as there is room.
 */
#ifndef WEIR_NATS_PULL_H
#define WEIR_NATS_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR__NATS_SECOND UINT64_C(1000000000)
#define WEIR__NATS_PARTS 12u
#define WEIR__NATS_NEVER UINT64_MAX

/*
 * IDLE -> CHECKING: it has begun, and there is a connection; also behind a
 * disconnection, and no responders. CHECKING -> OPENING: the consumer is there.
 * OPENING -> PULLING: the inbox is subscribed. OPENING, PULLING -> LOST: a
 * disconnection, heartbeats that are missed, a leader that has changed: the
 * inbox is to be given up. LOST -> IDLE: it is. Any -> ENDING: nothing more is
 * asked for, and the inbox is given up; -> ENDED. What comes still was asked for,
 * and is taken unless the stream has failed.
 */
enum weir__nats_pull_state {
	WEIR__NATS_PULL_IDLE,
	WEIR__NATS_PULL_CHECKING,
	WEIR__NATS_PULL_OPENING,
	WEIR__NATS_PULL_PULLING,
	WEIR__NATS_PULL_LOST,
	WEIR__NATS_PULL_ENDING,
	WEIR__NATS_PULL_ENDED,
};

/* What is to be done. */
enum weir__nats_step {
	WEIR__NATS_STEP_NONE,
	WEIR__NATS_STEP_CHECK,	 /* look at the consumer; _checked() */
	WEIR__NATS_STEP_OPEN,	 /* subscribe the inbox `epoch`; _opened() */
	WEIR__NATS_STEP_CLOSE,	 /* unsubscribe it; _closed() */
	WEIR__NATS_STEP_REQUEST, /* for `n`, with `id` */
};

struct weir__nats_todo {
	enum weir__nats_step step;
	uint64_t epoch;
	uint64_t id, n;	  /* of a request */
	uint64_t wait_ns; /* of a look: how long it may take */
};

/* The requests that end at about the same time. */
struct weir__nats_part {
	uint64_t n;
	uint64_t last;	   /* id */
	uint64_t until_ns; /* requests that end before are part of it */
	uint64_t over_ns;  /* none of them is answered from then on */
};

/* What a request that is over was told. */
struct weir__nats_status {
	int code;		 /* 100, 404, 408, 409, 503, ... */
	const char *description; /* or NULL */
	uint64_t id, n;		 /* of the request, from its reply subject */
	bool tells;		 /* it says how many were not delivered */
	uint64_t pending;
};

struct weir__nats_pull {
	/* constant */
	uint64_t window, refill;
	uint64_t expires_ns, heartbeat_ns;

	enum weir__nats_pull_state state;
	bool wanted, connected, doing; /* doing: a step is under way */
	uint64_t epoch;
	uint64_t held; /* have come, and were not taken */
	uint64_t asked;
	uint64_t ids, over_id; /* given; up to this one they are over */
	struct weir__nats_part parts[WEIR__NATS_PARTS];
	size_t n_parts;
	uint64_t heard_ns; /* when anything came, or was asked for, last */
	uint64_t later_ns; /* nothing is asked for before */
	uint64_t backoff_ns;
	/* A server that has just begun loses what it is asked: so the first looks
	 * on a connection are short. */
	uint64_t look_ns;

	/* 0; or with what it has failed, and why, for ever */
	int code;
	const char *message;

	/* counted since the beginning: n_asked = n_received + n_expired +
	 * n_lost - n_late + asked */
	uint64_t n_requests, n_asked, n_received, n_late, n_excess, n_expired,
		n_lost, n_lost_replies, n_epochs;
};

void weir__nats_pull_init(struct weir__nats_pull *self, uint64_t window,
			  uint64_t refill, uint64_t expires_ns,
			  uint64_t heartbeat_ns);

/* The first item is wanted. */
void weir__nats_pull_begin(struct weir__nats_pull *self);
void weir__nats_pull_connected(struct weir__nats_pull *self);
void weir__nats_pull_disconnected(struct weir__nats_pull *self);
/* The stream fails, unless it has ended. */
void weir__nats_pull_fail(struct weir__nats_pull *self, int code,
			  const char *message);
/* No more is wanted. */
void weir__nats_pull_end(struct weir__nats_pull *self);

/* What a step has come to. 0; -EAGAIN, try later; or the stream fails. */
void weir__nats_pull_checked(struct weir__nats_pull *self, int code,
			     const char *message, uint64_t now_ns);
void weir__nats_pull_opened(struct weir__nats_pull *self, int code,
			    uint64_t now_ns);
void weir__nats_pull_closed(struct weir__nats_pull *self);
/* The request could not be sent. */
void weir__nats_pull_unsent(struct weir__nats_pull *self, uint64_t n,
			    uint64_t now_ns);

/* A message has come on that inbox. False: it is more than was asked for. */
bool weir__nats_pull_message(struct weir__nats_pull *self, uint64_t epoch,
			     uint64_t now_ns);
void weir__nats_pull_status(struct weir__nats_pull *self, uint64_t epoch,
			    const struct weir__nats_status *status,
			    uint64_t now_ns);
/* `n` messages are no longer held. */
void weir__nats_pull_taken(struct weir__nats_pull *self, uint64_t n);

struct weir__nats_todo weir__nats_pull_next(struct weir__nats_pull *self,
					    uint64_t now_ns);
/* When to call that even if nothing happens; WEIR__NATS_NEVER. */
uint64_t weir__nats_pull_due(const struct weir__nats_pull *self);

/* Asserts what must hold. */
void weir__nats_pull_check(const struct weir__nats_pull *self);

#endif
