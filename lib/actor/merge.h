/* SPDX-License-Identifier: BSD-2-Clause */
/* The lanes of an in-port that merges, other than its own. */
#ifndef WEIR_ACTOR_MERGE_H
#define WEIR_ACTOR_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/in.h>

/* As the in-port's `available`, which has to ask the lanes. Owner. */
uint32_t weir__merge_available(struct weir_in *in);

/* Makes `lane` the current one. Owner. */
void weir__merge_switch(struct weir_in *in, struct weir__lane *lane);

/* A lane for a link; NULL: no memory. Owner of both ends. */
struct weir__lane *weir__merge_lane_new(struct weir_in *in);

/* The lane is linked from now on. Owner. */
void weir__merge_add(struct weir_in *in, struct weir__lane *lane);

/* As weir_in_unstash_all(), of an in-port that may have no stash. Owner. */
void weir__stash_all_back(struct weir_in *in);

/* Drops what is put aside and back. `dead`: the actor has ended. Owner. */
void weir__stash_drain(struct weir_in *in, bool dead);

/* Frees the lanes, which are drained. The last reference. */
void weir__merge_fini(struct weir_in *in);

#endif
