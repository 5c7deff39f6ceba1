/* SPDX-License-Identifier: BSD-2-Clause */
/* Executors of every kind behind one table, for tests that go through them. */
#ifndef WEIR_TEST_EXECUTOR_PLACES_H
#define WEIR_TEST_EXECUTOR_PLACES_H

#include "support.h"

#include <string.h>

#include <weir/sim.h>
#include <weir/weir.h>

/* Queues, and runs on the thread that drives it; or at once. */
struct direct {
	struct weir_executor executor; /* first */
	struct weir_task *head, **tail;
	bool at_once;
};

struct place {
	const struct kind *kind;
	struct weir_executor *executor;
	struct weir_threads *threads;
	struct weir_blocking *blocking;
	struct weir_loop *loop;
	struct weir_sim *sim;
	struct direct direct;
};

struct kind {
	void (*make)(struct place *place);
	int (*free)(struct place *place);
	void (*drive)(struct place *place); /* what its own threads do not */
	bool has_threads;
};

extern const struct kind threads;
extern const struct kind blocking;
extern const struct kind loop;
extern const struct kind sim;
extern const struct kind direct;

void place_make(struct place *place, const struct kind *kind);

#endif
