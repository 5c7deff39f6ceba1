/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a node of the hierarchy (hierarchy_kit.h) does to others and to itself. Rule
 * numbers like C11 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_ACTS_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_ACTS_H

#include "scenario/hierarchy_types.h"

/* --- What a node does to others ------------------------------------------- */

/* To `to`, if it is there. Half of the items are kept for questions at rest. */
int put_item(struct hierarchy *hierarchy, struct weir_actor_id to);
void put_any(struct hierarchy *hierarchy, uint64_t *random);

/* All that were ever spawned, or not; the latest first. */
struct node *all_nodes(struct hierarchy *hierarchy);

/* Below somebody who is known, or `self`, or /user. */
void spawn_any(struct hierarchy *hierarchy, uint64_t *random,
	       struct node *self);

/* --- Watching ------------------------------------------------------------- */

/* C11: by default it does not watch its children any more. */
void loosen_watches(struct node *self);

/* --- What a node does ----------------------------------------------------- */

void disturb_others(struct hierarchy *hierarchy, uint64_t *random,
		    struct node *self);

/* In whichever hook or turn. Returns what that is to return. */
int act(struct node *self);

#endif
