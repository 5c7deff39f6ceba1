/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection, and its writer: the one thread that calls what may block in
 * libnats. libnats' own threads, and those of executors, put into lists under
 * `lock` and wake the writer; nobody holds the lock while libnats is called, but
 * for what reads a message.
 *
 * Clients are sources and sinks. The writer does their work: what a client wants
 * done now, and when it is to be asked again.
 */
#ifndef WEIR_NATS_NATS_STATE_H
#define WEIR_NATS_NATS_STATE_H

#include <weir/nats.h>

#include <weir/executor.h>
#include <weir/flow_operator.h>
#include <weir/in.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nats/nats.h>

struct weir__nats_client;

/* Called with the lock held. */
struct weir__nats_client_ops {
	/* There is a connection, or none any more. */
	void (*connection)(struct weir__nats_client *self, bool connected);
	/*
	 * The writer's: does what is due, and may let go of the lock meanwhile.
	 * Returns when it is to be called again though nobody asks.
	 */
	uint64_t (*work)(struct weir__nats_client *self, uint64_t now_ns);
	/* As weir_flow_run_end(). Returns an operator to wake, held, or NULL. */
	struct weir_operator *(*end)(struct weir__nats_client *self);
	/* Nobody has it any more. */
	void (*free)(struct weir__nats_client *self);
};

struct weir__nats_client {
	const struct weir__nats_client_ops *ops;
	struct weir_nats *nats;
	struct weir__nats_client *next;
	size_t refs;	  /* under the lock; the writer frees it */
	size_t n_inboxes; /* as the connection's */
	bool dirty;	  /* there may be work */
	uint64_t due_ns;
};

struct weir_nats {
	const struct weir_allocator *allocator;
	struct weir_nats_options options; /* strings are in `natsOptions` */
	natsOptions *nats_options;
	pthread_t writer;
	pthread_mutex_t lock;
	pthread_cond_t work;  /* for the writer, which waits: `idle` */
	pthread_cond_t moved; /* for who waits for anything else */
	/* all below: under the lock */
	natsConnection *connection; /* NULL: there was none yet */
	jsCtx *js;
	enum weir_nats_state state, told;
	bool idle, was_cut, freeing,
		closed;	     /* closed: no call of libnats' any more */
	uint64_t free_at_ns; /* freeing: nothing is published from then on */
	int64_t n_tries;     /* to connect for the first time */
	size_t n_waiting;    /* for `moved` */
	int code;	     /* with which the last try to connect has failed */
	char why[120];
	size_t n_runs;	  /* operators in flows */
	size_t n_held;	  /* messages that users have */
	size_t n_inboxes; /* for which libnats may call still */
	size_t n_open;	  /* messages that the server has not been told of */
	struct weir__nats_client *clients;
	struct weir_nats_message *first, **last; /* for the writer to publish */
	uint64_t later_ns; /* nothing is published before */
	struct weir_nats_stats stats;
};

/* Its clock. */
uint64_t weir__nats_now(void);
void weir__nats_lock(struct weir_nats *nats);
void weir__nats_unlock(struct weir_nats *nats);

/* The lock is held: */
void weir__nats_wake(struct weir_nats *nats);
void weir__nats_moved(struct weir_nats *nats);
bool weir__nats_connected(const struct weir_nats *nats);
/* With one reference. */
void weir__nats_add(struct weir_nats *nats, struct weir__nats_client *client,
		    const struct weir__nats_client_ops *ops);
void weir__nats_soon(struct weir__nats_client *client);
void weir__nats_unref(struct weir__nats_client *client);

/* Writes NAME.NUMBER with its NUL, cut to `size` bytes; how long it is. */
size_t weir__nats_join(char *to, size_t size, const char *name,
		       uint64_t number);

/* The negative errno for what libnats says. */
int weir__nats_errno(natsStatus status);

/* --- Inboxes: the writer's, without the lock ------------------------------- */

/* A subscription to NAME.>, whose client lives until libnats has called for it for
 * the last time. */
struct weir__nats_inbox {
	struct weir__nats_client *client;
	/* Takes the message over; `rest` is its subject behind NAME., or NULL if
	 * it has another one. */
	void (*take)(struct weir__nats_inbox *self, natsMsg *msg,
		     const char *rest);
	uint64_t epoch;
	natsSubscription *subscription;
	/* under the lock: a call that uses the subscription; libnats' last */
	bool closing, complete;
	size_t n; /* of `name` */
	char name[128];
};

/* 0 with one in *inbox, or a negative errno. */
int weir__nats_inbox_open(struct weir__nats_inbox **inbox,
			  struct weir__nats_client *client, uint64_t epoch,
			  void (*take)(struct weir__nats_inbox *self,
				       natsMsg *msg, const char *rest));
/* What has come is taken still; nothing else comes of a broken connection. */
void weir__nats_inbox_close(struct weir__nats_inbox *self, bool connected);

#endif
