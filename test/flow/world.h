/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run on a simulator that is fed by hand, through a queue, and asked by hand,
 * through a gate at its end; with the times at which things come out.
 */
#ifndef WEIR_TEST_FLOW_WORLD_H
#define WEIR_TEST_FLOW_WORLD_H

#include "flow/kit.h"
#include "kit/world.h"

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

#define MS UINT64_C(1000000)
#define OPEN SIZE_MAX

struct flow_world {
	struct world base;
	struct weir_flow_queue *queue;
	struct weir_flow *flow; /* what is composed, from the queue on */
	struct weir_flow_run *run;
	struct got got;
	uint64_t at_ns[OUT_MAX]; /* when each came out */
	size_t open;		 /* how many more may pass the gate */
	struct weir__op *gate;	 /* while it runs */
};

/* --- The gate ------------------------------------------------------------- */

extern const struct weir__kind gate_kind;

/* --- The world ------------------------------------------------------------ */

int out_of_world(void *item, void *context);

/* Compose upon world->flow, then world_start(). */
void flow_world_init(struct flow_world *world, const struct weir_items *items);

/* `open` items may come out. */
void world_start(struct flow_world *world, size_t open);
void flow_offer(struct flow_world *world, intptr_t first, intptr_t last);

/* Until the time, or nothing is left to do: a wait that spins is found here. */
void until(struct flow_world *world, uint64_t time_ns);
void let_pass(struct flow_world *world, size_t n);

/* No more comes in; the run ends with `code`. */
void flow_world_end(struct flow_world *world, int code);

#define ASSERT_OUT(world, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_got(&(world)->got, expected_, \
			   sizeof(expected_) / sizeof(*expected_), 0); \
	} while (0)

#endif
