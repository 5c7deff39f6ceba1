/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of actors in which anything fails: a *node* does something at random
 * in each of its hooks and turns. It fails, with a code that its supervisor
 * makes something of, or finishes, or it spawns, stops, kills, poisons,
 * watches others, or gives them items. All of that is drawn from the seed, and
 * counted: when the world's `faults` are used up it is calm, and comes to rest.
 *
 * Each node asserts on the way that its hooks come in order and that nothing
 * comes twice; at rest (world_unrest) nobody may be left behind.
 *
 * What is not said to be any thread's is the node's owner's.
 */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_H

#include "scenario/hierarchy_node.h"

/* --- The world ------------------------------------------------------------ */

static inline void on_dead_letter(struct weir_system *system,
				  struct weir_actor_id to, void *item,
				  void *context)
{
	struct world *world = context;

	assert_in_range((uintptr_t)item, 1, world->ledger.n);
	ck_pr_inc_32(&world->dead_letters);
}

/* `most` nodes at a time, `faults` in all. */
static inline void world_begin(struct world *world,
			       struct weir_executor *executor, uint64_t seed,
			       uint32_t most, uint32_t faults)
{
	struct weir_system_options options = {
		.allocator = &world->memory.allocator,
		.strategy = &world->top,
		.seed = seed,
		.dead_letter = on_dead_letter,
		.context = world,
	};

	world->executor = executor;
	world->seed = seed;
	world->most = most;
	world->n_known = most < KNOWN ? most : KNOWN;
	world->faults = faults;
	memory_init(&world->memory);
	ledger_init(&world->ledger, 8 * (size_t)(most + faults));
	world->top = (struct weir_strategy){
		.rules = node_rules,
		.n_rules = NODE_RULES + !world->ends,
	};
	assert_int_equal(weir_system_new(&world->system, executor, &options),
			 0);
}

static inline bool world_lives(const struct world *world)
{
	return weir_system_is_alive(world->system,
				    weir_system_user_guardian(world->system));
}

/* No child waits for anything. */
static inline bool family_at_rest(const struct weir__family *family)
{
	return family->failed == WEIR__NO_CELL &&
	       family->halting == WEIR__NO_CELL &&
	       family->halted == WEIR__NO_CELL &&
	       family->going == WEIR__NO_CELL && !family->n_stopping;
}

/* Everybody is well, and nothing is under way. */
static inline bool cell_at_rest(const struct weir__cell *cell)
{
	const uint16_t busy = WEIR__CELL_HIDDEN | WEIR__CELL_FRESH |
			      WEIR__CELL_POISONED | WEIR__CELL_KILLED |
			      WEIR__CELL_NOTICES;

	return cell->state == WEIR__CELL_ALIVE && !cell->own &&
	       !cell->suspends && !(cell->flags & busy) && !cell->part &&
	       cell->work == WEIR__NO_CELL && !ck_pr_load_8(&cell->orders) &&
	       family_at_rest(&weir__record_of(cell)->family);
}

/* How many are not at rest; for people: who, and why. Any thread. */
static inline size_t world_unrest(struct world *world, bool tell)
{
	struct weir_system *system = world->system;
	bool held = weir__enter(system);
	const struct weir__cell *cell;
	uint32_t slot;
	size_t n = 0;

	for (slot = 0; slot < system->n_cells; slot++) {
		cell = weir__cell_at(system, slot);
		if (cell->state == WEIR__CELL_FREE ||
		    cell->state == WEIR__CELL_ENDED || cell_at_rest(cell))
			continue;
		n++;
		if (tell)
			print_message("slot %u below %u: state %u, flags %x, "
				      "own %u, suspends %u, orders %x\n",
				      slot, cell->parent, cell->state,
				      cell->flags, cell->own, cell->suspends,
				      cell->orders);
	}
	weir__leave(system, held);
	return n;
}

static inline bool node_ended(const struct node *node)
{
	return node->fate.stopped;
}

/* Its parent was told of its end, if it wanted to be. */
static inline void check_told(struct world *world, const struct node *node)
{
	const struct node *parent = find_node(world, node->parent);

	/* by default a restart forgets whom it stops */
	if (parent && !node_ended(parent) && parent->nature.child_ended &&
	    parent->nature.pre_restart &&
	    (node->actor.flags & WEIR__ACTOR_CHILD))
		assert_int_equal(node->told, 1);
}

/* No notice is missing. */
static inline void check_notices(struct world *world, const struct node *node)
{
	const struct node_watch *watch;

	if (node_ended(node)) {
		check_told(world, node);
		return;
	}
	for (watch = node->watches; watch < node->watches + WATCHES; watch++)
		if (watch->set && !watch->loose)
			assert_true(weir_system_is_alive(world->system,
							 watch->who));
}

/* Nothing fails from now on; what disturb_directly() has suspended goes on. */
static inline void world_calm(struct world *world)
{
	struct weir_actor *actor;
	struct node *node;

	ck_pr_store_8((uint8_t *)&world->calm, true);
	for (node = all_nodes(world); node; node = node->next) {
		actor = weir_system_actor(world->system, node->ref);
		if (actor)
			weir_actor_resume(actor);
		weir_actor_unref(actor);
	}
}

/* Gives one item to everybody who is alive. Returns how many that are. */
static inline size_t world_ask(struct world *world)
{
	struct node *node;
	size_t n = 0;

	for (node = all_nodes(world); node; node = node->next) {
		check_notices(world, node);
		node->taken = 0;
		if (node_ended(node))
			continue;
		assert_int_equal(put_item(world, node->ref), 0);
		n++;
	}
	return n;
}

/* They all have taken it. */
static inline void world_answered(struct world *world)
{
	struct node *node;

	for (node = all_nodes(world); node; node = node->next)
		if (!node_ended(node))
			assert_int_equal(node->taken, 1);
	ck_pr_store_8((uint8_t *)&world->calm, false);
}

/* The system has terminated: nothing is lost or left, or out of balance. */
static inline void world_end(struct world *world)
{
	struct node *node;
	size_t i;

	(void)world_unrest(world, true);
	assert_true(
		weir_completion_done(weir_system_terminated(world->system)));
	assert_int_equal(weir_system_dead_letter_count(world->system),
			 world->dead_letters);
	assert_int_equal(weir_system_free(world->system), 0);
	assert_int_equal(world->released, world->made);
	for (i = 0; i < OUTSIDE; i++)
		assert_int_equal(ck_pr_load_32(&world->guests[i].waits), 0);
	while ((node = world->nodes)) {
		assert_int_equal(node->fate.stopped, 1);
		assert_int_equal(node->fate.released, 1);
		world->nodes = node->next;
		free(node);
	}
	ledger_check(&world->ledger);
	ledger_fini(&world->ledger);
	assert_int_equal(world->memory.live, 0);
}

#endif
