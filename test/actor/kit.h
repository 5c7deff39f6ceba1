/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of actors build from: a ledger that knows where every item
 * has gone, and a source, a stage and a sink that use it. Items are numbers
 * from 1 on (their place in the ledger), as pointers.
 */
#ifndef WEIR_TEST_ACTOR_KIT_H
#define WEIR_TEST_ACTOR_KIT_H

#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/sim.h>
#include <weir/weir.h>

#include "actor/check.h"
#include "actor/check.h"
#include "actor/gate.h"

/* Every item: made + shared = delivered + dropped, at the end exactly. */
struct ledger {
	uint32_t *made, *shared, *delivered, *dropped; /* any thread */
	size_t n;
	uint32_t share_fails; /* this many shares go well before one fails */
	struct weir_items items;
};

void ledger_drop(void *item, void *context);
void ledger_init(struct ledger *ledger, size_t n);
void *ledger_make(struct ledger *ledger, size_t i);
size_t ledger_deliver(struct ledger *ledger, void *item);
size_t ledger_sum(const uint32_t *counts, size_t n);
size_t ledger_delivered(const struct ledger *ledger);
size_t ledger_dropped(const struct ledger *ledger);

/* Everything that was made has gone somewhere, once. */
void ledger_check(const struct ledger *ledger);
void ledger_fini(struct ledger *ledger);

/* How an actor of a test has ended. */
struct fate {
	uint32_t stopped, released; /* calls; released is any thread's */
	int code;		    /* of the error, 0: none */
};

void fate_stopped(struct fate *fate, struct weir_error *error);
void fate_released(struct fate *fate);
void fate_check(const struct fate *fate, int code);

/* Makes items first, first + 1, ... last, then finishes. */
struct source {
	struct weir_actor actor;
	struct weir_out out;
	struct ledger *ledger;
	size_t next, last;
	size_t fail_at; /* fails instead of making that one */
	struct fate fate;
};

uint32_t source_turns(struct weir_actor *actor, uint32_t n);
void source_stopped(struct weir_actor *actor, struct weir_error *error);
void source_released(struct weir_actor *actor);

extern const struct weir_actor_ops source_ops;

void source_init(struct source *self, struct weir_executor *executor,
		 struct ledger *ledger, size_t first, size_t last);

/* Passes every item on. */
struct stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	size_t seen, fail_at; /* fails with that item taken */
	struct ledger *ledger;
	struct fate fate;
};

void stage_released(struct weir_actor *actor);

extern const struct weir_actor_ops stage_ops;

void stage_init(struct stage *self, struct weir_executor *executor,
		struct ledger *ledger, size_t capacity);

/* Takes every item; checks that they come in order if told to. */
struct sink {
	struct weir_actor actor;
	struct weir_in in;
	struct ledger *ledger;
	size_t seen, last, stop_at; /* finishes after that many */
	bool ordered;
	uint32_t ended; /* calls of the handler */
	int end_code;
	struct fate fate;
};

uint32_t sink_turns(struct weir_actor *actor, uint32_t n);
int sink_ended(struct weir_actor *actor, struct weir_in *in,
	       struct weir_error *error);
void sink_stopped(struct weir_actor *actor, struct weir_error *error);
void sink_released(struct weir_actor *actor);

extern const struct weir_actor_ops sink_ops;

void sink_init(struct sink *self, struct weir_executor *executor,
	       struct ledger *ledger, size_t capacity);

/* source -> sink, linked and not started; most tests need no more. */
struct pair {
	struct ledger ledger;
	struct source source;
	struct sink sink;
};

void pair_init(struct pair *pair, struct weir_executor *executor, size_t n,
	       size_t capacity);
void pair_start(struct pair *pair);
void pair_fini(struct pair *pair);
struct weir_sim *sim_new(uint64_t seed);

/* Nothing may be alive any more. */
void sim_free(struct weir_sim *sim);

/*
 * An allocator that counts what is out, and fails the `fail`-th allocation
 * from 1 on (0: none). For one thread.
 */
struct heap {
	struct weir_allocator allocator;
	size_t calls, fail, live, bytes;
};

void *heap_alloc(size_t size, void *context);
void heap_free(void *memory, size_t size, void *context);
void heap_init(struct heap *heap, size_t fail);

#endif
