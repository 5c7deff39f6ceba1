/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the verification of our own publishers, subscribers and processors has
 * in common: executors with their environments, items that are counted, what
 * each factory is based on, and the tests that go through the executors.
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

/*
 * What a factory is based on: one of the three, where what it makes runs, its
 * items, and how many that it has made are alive.
 */
struct base {
	union {
		struct weir_publisher_factory publisher;
		struct weir_subscriber_factory subscriber;
		struct weir_processor_factory processor;
	};
	struct place *place;
	struct goods goods;
	uint32_t alive; /* any thread */
};

/*
 * Hold what the factory makes to the rules, at that place: so many at least have
 * to pass, and none to fail. `name` says of whom. What a factory leaves open is
 * the place's environment, and goods.
 */
void verify_publisher(struct base *base, struct place *place, const char *name,
		      uint32_t passed);
void verify_subscriber(struct base *base, struct place *place, const char *name,
		       uint32_t passed);
void verify_processor(struct base *base, struct place *place, const char *name,
		      uint32_t passed);

/* `verify` on simulators with so many seeds, on a loop, and so often on threads. */
struct suite {
	const char *name;
	void (*verify)(struct place *place);
	uint64_t seeds, rounds;
};

/* Runs a test of each on each kind of executor, or, where ThreadSanitizer looks,
 * on threads alone; returns what main() does. */
int verify_everywhere(const struct suite *suites, size_t n);

#endif
