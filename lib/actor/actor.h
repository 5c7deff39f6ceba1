/* SPDX-License-Identifier: BSD-2-Clause */
/* How an actor starts, or ends before that. */
#ifndef WEIR_ACTOR_ACTOR_H
#define WEIR_ACTOR_ACTOR_H

#include <stdbool.h>

#include <weir/actor.h>

/* The turns that the actor begins with; those of one that is said to have none
 * fail it. */
weir_turns *weir__actor_first_turns(const struct weir_actor *actor);

/*
 * The two halves of a start. weir__actor_claim() makes the caller the owner of
 * a new actor; false: it was started or stopped before. The second half submits
 * the actor, or gives it back as it was, or ended, if it was stopped meanwhile.
 */
bool weir__actor_claim(struct weir_actor *actor);
WEIR_MUST_CHECK int weir__actor_launch(struct weir_actor *actor);
void weir__actor_disclaim(struct weir_actor *actor);

/*
 * Holds two actors, which may be the same, for a moment, in which the caller
 * may do what is their owner's. True if each is new, or this is its slice. Not
 * lock-free: other threads that would hold or start them wait. Any thread that
 * holds references.
 */
bool weir__actors_hold(struct weir_actor *one, struct weir_actor *other);
void weir__actors_let_go(struct weir_actor *one, struct weir_actor *other);

/*
 * Runs the whole final slice of an actor that is NEW; an actor in any other
 * state is left alone. Any thread that may stop the actor.
 */
void weir__actor_retire_new(struct weir_actor *actor);

#endif
