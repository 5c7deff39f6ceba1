/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of NATS share: a real nats-server on loopback, with a store of
 * its own, and what is published to it and asked of it by libnats alone. Where
 * nats-server is not installed these tests are skipped.
 */
#ifndef WEIR_TEST_NATS_KIT_H
#define WEIR_TEST_NATS_KIT_H

#include "support.h"

#include <pthread.h>
#include <pthread.h>
#include <sys/types.h>

#include <nats/nats.h>

#include <weir/nats.h>
#include <weir/weir.h>

#define SECOND UINT64_C(1000000000)
#define LONG (60 * SECOND)

struct server {
	pid_t pid; /* 0: it does not run */
	char directory[64], url[64], port[8];
	natsConnection *peer; /* libnats alone */
	jsCtx *js;
};

/* Skips the test if there is none to be had. */
void server_begin(struct server *server);
void server_end(struct server *server);
/* Sends the signal, and waits until it is gone. */
void server_kill(struct server *server, int signal);
/* On the same port, with the same store. */
void server_again(struct server *server);

/* A stream with the subjects NAME and NAME.>, and a consumer of it, called "c". */
void server_stream(struct server *server, const char *name);
void server_consumer(struct server *server, const char *stream,
		     int64_t ack_wait_ns, int64_t max_deliver);
/* Messages with the texts of these numbers, to the subject. */
void server_publish(struct server *server, const char *subject, uint64_t first,
		    uint64_t last);
/* How many messages there are; of the consumer "c", that are neither done nor
 * given; that are given and not settled. */
uint64_t server_count(struct server *server, const char *stream);
uint64_t server_left(struct server *server, const char *stream);
uint64_t server_unsettled(struct server *server, const char *stream);
uint64_t server_waiting(struct server *server, const char *stream);

/* For await(): nothing of "S" is unsettled. */
bool nothing_unsettled(void *server);

/* --- A proxy in front of it ------------------------------------------------- */

/* Passes bytes on in a thread of its own, both ways. */
struct proxy {
	char url[64], port[8];
	int listener, stop[2]; /* a pipe that ends the thread */
	pthread_t thread;
	uint32_t cuts, done; /* connections are to be cut; have been */
	uint32_t eats;	     /* "408 Request Timeout" does not arrive */
	uint32_t eaten;
};

void proxy_begin(struct proxy *proxy, const struct server *server);
void proxy_end(struct proxy *proxy);
/* Cuts what there is, and returns when it is cut. */
void proxy_cut(struct proxy *proxy);
void proxy_eat(struct proxy *proxy);

/* --- Worlds ----------------------------------------------------------------- */

/* A server, a connection of ours to it, through a proxy or not, and threads. */
struct nats_world {
	struct server server;
	struct proxy proxy;
	bool is_behind;
	struct weir_nats *nats;
	struct weir_threads *threads;
	struct weir_executor *executor;
};

void nats_begin(struct nats_world *world);
void nats_begin_with(struct nats_world *world,
		     const struct weir_nats_options *options);
/* Through the proxy. */
void nats_begin_behind(struct nats_world *world);
/* All is settled, and the connection is freed. */
void nats_end(struct nats_world *world);

/* Starts a run; waits for its end, which it tells. */
struct weir_flow_run *nats_start(struct nats_world *world,
				 struct weir_flow *flow);
int nats_wait(struct weir_flow_run *run, void **result);
/* The same at once, and frees the flow. */
int nats_run(struct nats_world *world, struct weir_flow *flow, void **result);

/* The number that a message's text is. */
uint64_t number_of(void *message);

/* An allocator for any thread, of which one call fails: number `fail`, from 1 on. */
struct nats_heap {
	struct weir_allocator allocator;
	pthread_mutex_t lock;
	size_t calls, fail, live;
};

void nats_heap_init(struct nats_heap *heap);

/* Calls `is` until it returns true, a minute at most. */
void await(bool (*is)(void *context), void *context);

/* The one of stream "S" with these, by the consumer "c". */
struct weir_flow *nats_source(struct nats_world *world,
			      struct weir_nats_source_options options);

#endif
