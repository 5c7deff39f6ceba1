/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the verification of our own publishers, subscribers and processors has
 * in common: executors with their environments, items that are counted, and
 * what went wrong.
 */
#ifndef WEIR_TEST_STREAM_VERIFY_H
#define WEIR_TEST_STREAM_VERIFY_H

#include "actor/kit.h"

#include <weir/loop.h>
#include <weir/testkit.h>
#include <weir/threads.h>

/* An executor and how a test on it comes to rest. */
struct place {
	struct weir_executor *executor;
	struct weir_test_env env;
	struct weir_sim *sim; /* one of the three */
	struct weir_loop *loop;
	struct weir_threads *threads;
};

void place_sim(struct place *place, uint64_t seed);
void place_loop(struct place *place);

/* To come to rest is to wait for both to sleep, after each step of a test. */
void place_threads(struct place *place);

/* Nothing may be alive any more. */
void place_fini(struct place *place);

/*
 * An item: memory that is written just before it is sent, and read when it is
 * processed, so that ThreadSanitizer sees whether one happened before the other
 * (2.11). What was made and is not gone is live.
 */
struct good {
	int64_t number;
	uint32_t holders; /* any thread */
};

struct goods {
	uint32_t made, gone; /* any thread */
	struct weir_items items;
};

/* One holder less. */
void goods_drop(void *item, void *context);
int goods_share(void *item, void *context);
void goods_init(struct goods *goods);
void *goods_make(struct goods *goods, int64_t i);

/* Whether it is the one that was made with that number. */
bool goods_is(const void *item, int64_t i);
size_t goods_live(const struct goods *goods);

/* What has failed, and what was skipped. */
struct results {
	struct weir_verify_report report;
	char failed[8192]; /* lines */
	char skipped[4096];
};

void results_init(struct results *results);

/* All passed but those skipped; `what` says of whom. */
void results_check(const struct results *results, const char *what,
		   uint32_t passed);

#endif
