/* SPDX-License-Identifier: BSD-2-Clause */
/* What a member does: steps, hooks, turns, and how it is spawned. */
#ifndef WEIR_TEST_SUPERVISION_MEMBER_H
#define WEIR_TEST_SUPERVISION_MEMBER_H

#include "supervision/play.h"

struct member *member_of(struct weir_actor *actor);

/* The latest of that name. */
struct member *member(const struct play *play, const char *name);
struct weir_actor_id ref(const struct play *play, const char *name);

/* With the member as its cause. */
void member_fail(struct member *self, int code);

/* Returns what the last line that applies says; a failure whichever says it. */
int member_play(struct member *self, enum when when, size_t item);
int member_hook(struct weir_actor *actor, enum when when);

/* The item counts as delivered when it is taken. */
uint32_t member_turns(struct weir_actor *actor, uint32_t n);
int member_turn(struct weir_actor *actor);
void member_released(struct weir_actor *actor);

/* Set up and not spawned: its ports can be linked still. */
struct member *member_new(struct play *play, const char *name);
int member_spawn(struct member *self, struct weir_actor_id parent);

#endif
