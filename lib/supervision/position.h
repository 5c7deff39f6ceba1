/* SPDX-License-Identifier: BSD-2-Clause */
/* Behind which tokens of an actor a pending message comes. */
#ifndef WEIR_SUPERVISION_POSITION_H
#define WEIR_SUPERVISION_POSITION_H

#include "supervision/cell.h"

/* The value for cell->position of an actor that gets a message now. Under the
 * lock. */
uint32_t weir__position_now(const struct weir_actor *actor);
/* A message has come: one of cell->messages. Under the lock, by
 * weir__enter(). */
void weir__position_note(struct weir__cell *cell, uint8_t message);
/* The actor sees its messages for the first time: completes their position.
 * Owner, under the lock; so are the functions below. */
void weir__position_settle(const struct weir_actor *actor,
			   struct weir__cell *cell);
/* How many tokens that turns can take are before the messages. */
uint32_t weir__position_tokens_before(const struct weir_actor *actor,
				      const struct weir__cell *cell);
/* The number of turns, at least 1, that take no more than `before` tokens. */
uint32_t weir__position_turns_before(const struct weir_actor *actor,
				     uint32_t before);
/* True: `before` tokens are too few for a turn, but with later tokens there are
 * enough. */
bool weir__position_cuts_burst(const struct weir_actor *actor, uint32_t before);

#endif
