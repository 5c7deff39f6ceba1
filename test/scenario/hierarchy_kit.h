/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of actors in which anything fails: a *node* does something at random
 * in each of its hooks and turns. It fails, with a code that its supervisor
 * makes something of, or finishes, or it spawns, stops, kills, poisons,
 * watches others, or gives them items. All of that is drawn from the seed, and
 * counted: when the hierarchy's `faults` are used up it is calm, and comes to rest.
 *
 * Each node asserts on the way that its hooks come in order and that nothing
 * comes twice; at rest (world_unrest) nobody may be left behind.
 *
 * What is not said to be any thread's is the node's owner's.
 */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_H

#include "scenario/hierarchy_node.h"

/* --- The hierarchy ------------------------------------------------------------ */

/* `most` nodes at a time, `faults` in all. */
void hierarchy_begin(struct hierarchy *hierarchy,
		     struct weir_executor *executor, uint64_t seed,
		     uint32_t most, uint32_t faults);
bool hierarchy_lives(const struct hierarchy *hierarchy);

/* How many are not at rest; for people: who, and why. Any thread. */
size_t hierarchy_unrest(struct hierarchy *hierarchy, bool tell);

/* Nothing fails from now on; what disturb_directly() has suspended goes on. */
void hierarchy_calm(struct hierarchy *hierarchy);

/* Gives one item to everybody who is alive. Returns how many that are. */
size_t hierarchy_ask(struct hierarchy *hierarchy);

/* They all have taken it. */
void hierarchy_answered(struct hierarchy *hierarchy);

/* The system has terminated: nothing is lost or left, or out of balance. */
void hierarchy_end(struct hierarchy *hierarchy);

#endif
