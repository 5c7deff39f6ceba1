/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is in the hierarchy (hierarchy_kit.h), its chance and its memory. */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_TYPES_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_TYPES_H

#include "actor/kit.h"

#include <weir/completion.h>
#include <weir/death_watch.h>
#include <weir/supervision.h>
#include <weir/system.h>

#include "supervision/branch.h"
#include "supervision/family.h"

#define MS UINT64_C(1000000)
#define BREADTH 6
#define KNOWN 512  /* references that everybody can come by */
#define SLOTS 4096 /* of the system's table */
#define WATCHES 4  /* of one node */
#define OUTSIDE 8  /* watchers that are no actors, graceful stops */

/* Memory that is counted; one allocation in `fails` fails, unless 0. */
struct memory {
	struct weir_allocator allocator;
	uint32_t live, calls; /* any thread */
	uint32_t fails;
};

/* One who is no actor and waits for the end of one; any thread. */
struct guest {
	struct weir_watcher watcher;
	struct weir_graceful_stop stop;
	uint32_t waits;
};

struct hierarchy {
	struct weir_executor *executor;
	struct weir_system *system;
	struct memory memory; /* the system's */
	struct ledger ledger;
	uint64_t seed;
	uint32_t most; /* nodes alive, about */
	bool alone;    /* one thread runs everything: more can be checked */
	bool ends;     /* /user may fail, too */
	struct weir_strategy top;
	/* any thread */
	struct node *nodes;
	struct node *slots[SLOTS]; /* who has ever had it */
	uint64_t known[KNOWN];
	uint32_t n_known; /* constant */
	struct guest guests[OUTSIDE];
	uint32_t made, released, items, puts, dead_letters;
	uint32_t faults;
	bool calm;
};

/* Of a node, on somebody. */
struct node_watch {
	struct weir_actor_id who;
	bool set;   /* there will be one notice */
	bool loose; /* or there has been one, or none: its own child's */
	bool child;
};

/* What a node is like, drawn when it is made. */
struct nature {
	bool pre_restart, reset, post_restart, stopping, terminated;
	bool child_ended, strategy, rules, peeks;
};

struct node {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_actor_ops ops;
	struct weir_lifecycle life;
	struct weir_strategy strategy;
	struct weir_limit each, all;
	struct weir_backoff backoff;
	struct weir_spawn_options options;
	char name[4];
	struct nature nature;
	struct hierarchy *hierarchy;
	struct node *next, *next_in_slot;
	struct weir_actor_id ref, parent;
	uint32_t depth;
	uint64_t random;
	/* its life */
	bool begun; /* by a hook that went well, and not ended by one */
	bool fails; /* the hook or turn that runs makes it fail */
	bool asked; /* it has said it would finish */
	struct weir_timer timer; /* it does then; holds a reference */
	bool became;
	uint32_t starts, ends; /* hooks that have begun and ended it */
	uint32_t taken;
	struct node_watch watches[WATCHES];
	uint32_t told; /* its parent's: calls of child_ended */
	struct fate fate;
};

/* --- Chance --------------------------------------------------------------- */

uint32_t below(uint64_t *random, uint32_t bound);

/* Takes one of the faults that are left, one time in `n`. */
bool strikes(struct hierarchy *hierarchy, uint64_t *random, uint32_t n);

/* --- Memory --------------------------------------------------------------- */

void memory_init(struct memory *memory);

/* --- Who there is --------------------------------------------------------- */

struct node *node_of(struct weir_actor *actor);

/* Somebody, mostly one who is alive. */
struct weir_actor_id any_ref(struct hierarchy *hierarchy, uint64_t *random);
void make_known(struct hierarchy *hierarchy, uint64_t *random,
		struct weir_actor_id ref);

/* From its first hook on it is found by its reference. */
void register_node(struct node *self);
struct node *find_node(struct hierarchy *hierarchy, struct weir_actor_id ref);

#endif
