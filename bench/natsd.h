/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the workload nats shares: a nats-server of the benchmark's own on
 * loopback, started when the first row needs it, with streams of messages that
 * are numbers; and a loop over libnats alone, which asks for messages as the
 * library does.
 */
#ifndef WEIR_BENCH_NATSD_H
#define WEIR_BENCH_NATSD_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"
#include "histogram.h"

/* Of a message: its number, in 8 bytes, and letters. */
#define NATSD_SIZE 128u
#define NATSD_CONSUMER "c"
/* Of each member, where there are several. */
#define NATSD_MEMBERS_WINDOW 256u

/* There is a server; says once that there is none. */
bool natsd_here(const struct bench_cell *cell);
const char *natsd_url(void);
/* The CPU time that it has used. */
uint64_t natsd_cpu_ns(void);

/* libnats' own connection, with SendAsap or without; ends the program if there is
 * none. */
natsConnection *natsd_connect(bool asap);
void natsd_disconnect(natsConnection *connection);

/* A stream of that name and subject, without messages; what the cell's style ends
 * with says whether it is in memory. It is gone behind natsd_drop(). */
void natsd_stream(const struct bench_cell *cell, const char *name);
/* The same with `items` messages, and a consumer. */
void natsd_fill(const struct bench_cell *cell, const char *name,
		uint64_t items);
void natsd_drop(const char *name);
/* Reads all of it: how many, and their sum. */
void natsd_read(const char *name, struct bench_result *result);

void natsd_write(char text[NATSD_SIZE], uint64_t number);
uint64_t natsd_number(const char *text);

/* --- What is measured ------------------------------------------------------- */

/* ns a message, CPU ns of this process, and those of the server. */
struct natsd_watch {
	uint64_t real_ns, own_ns, server_ns;
};

void natsd_watch_begin(struct natsd_watch *self);
void natsd_watch_end(const struct natsd_watch *self, uint64_t items,
		     struct bench_result *result);

/* From one message to the next: percentiles. */
struct natsd_gaps {
	uint64_t begin_ns, last_ns; /* 0: none has come */
	struct histogram gaps;
};

void natsd_gaps_add(struct natsd_gaps *self);
void natsd_gaps_result(const struct natsd_gaps *self,
		       struct bench_result *result);

/* --- A loop over libnats alone -------------------------------------------- */

/*
 * Asks for `window` messages, and again whenever half of them have come. libnats'
 * thread calls `take` for each.
 */
struct natsd_loop {
	/* set before */
	uint64_t window;
	void (*take)(struct natsd_loop *self, natsMsg *msg);
	void *context;
	/* the loop's own */
	natsConnection *connection;
	natsSubscription *subscription;
	natsInbox *inbox;
	char next[64]; /* where requests go */
	uint64_t asked;
	bool complete; /* libnats calls no more */
};

void natsd_loop_begin(struct natsd_loop *self, natsConnection *connection,
		      const char *stream);
void natsd_loop_end(struct natsd_loop *self);

/* What several threads count, and one waits for. */
struct natsd_tally {
	uint64_t items; /* that are waited for */
	uint64_t count, sum, last;
	bool full;
};

void natsd_tally_add(struct natsd_tally *self, uint64_t number);
void natsd_tally_wait(struct natsd_tally *self);

#endif
