/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated world: what tests under the simulator begin with, and what must
 * hold when it ends: nothing alive, no memory out, no item lost. Who needs more
 * has a struct of its own, with a world in it.
 */
#ifndef WEIR_TEST_KIT_WORLD_H
#define WEIR_TEST_KIT_WORLD_H

#include "actor/kit.h"

#include <weir/completion.h>
#include <weir/system.h>

struct world {
	struct weir_sim *sim;
	struct weir_executor *executor; /* the simulator's */
	struct weir_system *system;	/* or NULL */
	struct heap heap;		/* of the executor */
	struct ledger ledger;		/* of no items, or some */
};

/*
 * With `n_items` in its ledger. The executor has these options, but for the
 * allocator. If the `fail`-th allocation of the heap fails there may be none.
 */
void world_init_with(struct world *world, uint64_t seed, size_t n_items,
		     struct weir_executor_options options, size_t fail);
void world_init(struct world *world, uint64_t seed, size_t n_items);

/* A system, which has come to rest. */
void world_system(struct world *world,
		  const struct weir_system_options *options);
uint64_t world_now(const struct world *world);

/* Everything that is ready, the clock standing still. */
void world_settle(struct world *world);
void world_advance(struct world *world, uint64_t ns);

/* The system stops, if there is one, and all comes to rest. */
void world_stop(struct world *world);

/* It has stopped, and then nothing may be left of it. */
void world_fini(struct world *world);

/* Stops a system whose executor has threads, and frees it when it has ended. */
void end_system(struct weir_system *system);

#endif
