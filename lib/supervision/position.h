/* SPDX-License-Identifier: BSD-2-Clause */
/* Behind which tokens of an actor a pending message comes. */
#ifndef WEIR_SUPERVISION_POSITION_H
#define WEIR_SUPERVISION_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>

/* The position of a message that comes to the actor now. Under the lock. */
uint32_t weir__position_now(const struct weir_actor *actor);
/* That position, complete: the actor sees its messages. Owner, under the lock;
 * so are the functions below, which get a complete one. */
uint32_t weir__position_settled(const struct weir_actor *actor,
				uint32_t position);
/* How many tokens that turns can take are before the position. */
uint32_t weir__position_tokens_before(const struct weir_actor *actor,
				      uint32_t position);
/* The number of turns, at least 1, that take no more than `before` tokens. */
uint32_t weir__position_turns_before(const struct weir_actor *actor,
				     uint32_t before);
/* True: `before` tokens are too few for a turn, but with later tokens there are
 * enough. */
bool weir__position_cuts_burst(const struct weir_actor *actor, uint32_t before);

#endif
