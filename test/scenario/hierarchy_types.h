/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is in the hierarchy (hierarchy.h), its chance and its memory. */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_TYPES_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_TYPES_H

#include "actor/kit.h"

#include <weir/completion.h>
#include <weir/death_watch.h>
#include <weir/supervision.h>
#include <weir/system.h>

#include "supervision/branch.h"
#include "supervision/tree.h"

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

struct world {
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
	struct world *world;
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

static inline uint32_t below(uint64_t *random, uint32_t bound)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) >> 32) % bound;
}

/* Takes one of the faults that are left, one time in `n`. */
static inline bool strikes(struct world *world, uint64_t *random, uint32_t n)
{
	if (ck_pr_load_8((uint8_t *)&world->calm) || below(random, n))
		return false;
	if ((int32_t)ck_pr_faa_32(&world->faults, (uint32_t)-1) > 0)
		return true;
	ck_pr_inc_32(&world->faults);
	return false;
}

/* --- Memory --------------------------------------------------------------- */

static inline void *memory_alloc(size_t size, void *context)
{
	struct memory *memory = context;
	uint64_t random = ck_pr_faa_32(&memory->calls, 1);

	if (memory->fails && !below(&random, memory->fails))
		return NULL;
	ck_pr_inc_32(&memory->live);
	return malloc(size);
}

static inline void memory_free(void *block, size_t size, void *context)
{
	struct memory *memory = context;

	ck_pr_dec_32(&memory->live);
	free(block);
}

static inline void memory_init(struct memory *memory)
{
	*memory = (struct memory){
		.allocator = {memory_alloc, memory_free, memory},
	};
}

/* --- Who there is --------------------------------------------------------- */

static inline struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

/* Somebody, mostly one who is alive. */
static inline struct weir_actor_id any_ref(struct world *world,
					   uint64_t *random)
{
	struct weir_actor_id ref;
	uint64_t packed;
	uint32_t n = 8;

	do {
		packed = ck_pr_load_64(
			&world->known[below(random, world->n_known)]);
		ref = (struct weir_actor_id){(uint32_t)packed,
					     (uint32_t)(packed >> 32)};
	} while (--n && !weir_system_is_alive(world->system, ref));
	return ref;
}

static inline void make_known(struct world *world, uint64_t *random,
			      struct weir_actor_id ref)
{
	ck_pr_store_64(&world->known[below(random, world->n_known)],
		       (uint64_t)ref.generation << 32 | ref.slot);
}

/* From its first hook on it is found by its reference. */
static inline void register_node(struct node *self)
{
	struct node **slot = &self->world->slots[self->ref.slot], *first;

	assert_true(self->ref.slot < SLOTS);
	do {
		first = ck_pr_load_ptr(slot);
		self->next_in_slot = first;
		ck_pr_fence_release(); /* of all in it; partner: find_node() */
	} while (!ck_pr_cas_ptr(slot, first, self));
}

static inline struct node *find_node(struct world *world,
				     struct weir_actor_id ref)
{
	struct node *node = ck_pr_load_ptr(&world->slots[ref.slot]);

	ck_pr_fence_acquire(); /* partner: register_node() */
	while (node && !weir_actor_id_equal(node->ref, ref))
		node = node->next_in_slot;
	return node;
}

#endif
