/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/hierarchy_kit.h"

/* --- The hierarchy ------------------------------------------------------------ */

static void on_dead_letter(struct weir_system *system, struct weir_actor_id to,
			   void *item, void *context)
{
	struct hierarchy *hierarchy = context;

	assert_in_range((uintptr_t)item, 1, hierarchy->ledger.n);
	ck_pr_inc_32(&hierarchy->dead_letters);
}

void hierarchy_begin(struct hierarchy *hierarchy,
		     struct weir_executor *executor, uint64_t seed,
		     uint32_t most, uint32_t faults)
{
	struct weir_system_options options = {
		.allocator = &hierarchy->memory.allocator,
		.strategy = &hierarchy->top,
		.seed = seed,
		.dead_letter = on_dead_letter,
		.context = hierarchy,
		.event = weir_supervision_event_ignore,
	};

	hierarchy->executor = executor;
	hierarchy->seed = seed;
	hierarchy->most = most;
	hierarchy->n_known = most < KNOWN ? most : KNOWN;
	hierarchy->faults = faults;
	memory_init(&hierarchy->memory);
	ledger_init(&hierarchy->ledger, 8 * (size_t)(most + faults));
	hierarchy->top = (struct weir_strategy){
		.rules = node_rules,
		.n_rules = n_node_rules + !hierarchy->ends,
	};
	assert_int_equal(
		weir_system_new(&hierarchy->system, executor, &options), 0);
}

bool hierarchy_lives(const struct hierarchy *hierarchy)
{
	return weir_system_is_alive(
		hierarchy->system,
		weir_system_user_guardian(hierarchy->system));
}

/* No child waits for anything. */
static bool family_at_rest(const struct weir__family *family)
{
	return family->failed == WEIR__NO_CELL &&
	       family->halting == WEIR__NO_CELL &&
	       family->halted == WEIR__NO_CELL &&
	       family->going == WEIR__NO_CELL && !family->n_stopping;
}

/*
 * Everybody is well, and nothing is under way. The state is loaded by itself:
 * else gcc loads it together with `orders`, which may change.
 */
static bool cell_at_rest(const struct weir__cell *cell)
{
	return ck_pr_load_8(&cell->state) == WEIR__CELL_ALIVE && !cell->own &&
	       !cell->suspends && !cell->messages && !cell->part &&
	       cell->work == WEIR__NO_CELL && !ck_pr_load_8(&cell->orders) &&
	       family_at_rest(&weir__record_of(cell)->family);
}

size_t hierarchy_unrest(struct hierarchy *hierarchy, bool tell)
{
	struct weir_system *system = hierarchy->system;
	bool held = weir__enter(&system->lock);
	const struct weir__cell *cell;
	uint32_t slot;
	size_t n = 0;

	for (slot = 0; slot < system->slots.n; slot++) {
		cell = weir__cell_at(system, slot);
		if (cell->state == WEIR__CELL_FREE ||
		    cell->state == WEIR__CELL_ENDED || cell_at_rest(cell))
			continue;
		n++;
		if (tell)
			print_message(
				"slot %u below %u: state %u, messages %x, "
				"own %u, suspends %u, orders %x\n",
				slot, cell->kin.parent, cell->state,
				cell->messages, cell->own, cell->suspends,
				cell->orders);
	}
	weir__leave(&system->lock, held);
	return n;
}

static bool node_ended(const struct node *node)
{
	return node->fate.stopped;
}

/* Its parent was told of its end, if it wanted to be. */
static void check_told(struct hierarchy *hierarchy, const struct node *node)
{
	const struct node *parent = find_node(hierarchy, node->parent);

	/* by default a restart forgets whom it stops */
	if (parent && !node_ended(parent) && parent->nature.child_ended &&
	    parent->nature.pre_restart &&
	    (node->actor.flags & WEIR__ACTOR_CHILD))
		assert_int_equal(node->told, 1);
}

/* No notice is missing. */
static void check_notices(struct hierarchy *hierarchy, const struct node *node)
{
	const struct node_watch *watch;

	if (node_ended(node)) {
		check_told(hierarchy, node);
		return;
	}
	for (watch = node->watches; watch < node->watches + WATCHES; watch++)
		if (watch->set && !watch->loose)
			assert_true(weir_system_is_alive(hierarchy->system,
							 watch->who));
}

void hierarchy_calm(struct hierarchy *hierarchy)
{
	struct weir_actor *actor;
	struct node *node;

	ck_pr_store_8((uint8_t *)&hierarchy->calm, true);
	for (node = all_nodes(hierarchy); node; node = node->next) {
		actor = weir_system_actor(hierarchy->system, node->ref);
		if (actor)
			weir_actor_resume(actor);
		weir_actor_unref(actor);
	}
}

size_t hierarchy_ask(struct hierarchy *hierarchy)
{
	struct node *node;
	size_t n = 0;

	for (node = all_nodes(hierarchy); node; node = node->next) {
		check_notices(hierarchy, node);
		node->taken = 0;
		if (node_ended(node))
			continue;
		assert_int_equal(put_item(hierarchy, node->ref), 0);
		n++;
	}
	return n;
}

void hierarchy_answered(struct hierarchy *hierarchy)
{
	struct node *node;

	for (node = all_nodes(hierarchy); node; node = node->next)
		if (!node_ended(node))
			assert_int_equal(node->taken, 1);
	ck_pr_store_8((uint8_t *)&hierarchy->calm, false);
}

void hierarchy_end(struct hierarchy *hierarchy)
{
	struct node *node;
	size_t i;

	(void)hierarchy_unrest(hierarchy, true);
	assert_true(weir_completion_done(
		weir_system_terminated(hierarchy->system)));
	assert_int_equal(weir_system_dead_letter_count(hierarchy->system),
			 hierarchy->dead_letters);
	assert_int_equal(weir_system_free(hierarchy->system), 0);
	assert_int_equal(hierarchy->released, hierarchy->made);
	for (i = 0; i < OUTSIDE; i++)
		assert_int_equal(ck_pr_load_32(&hierarchy->guests[i].waits), 0);
	while ((node = hierarchy->nodes)) {
		assert_int_equal(node->fate.stopped, 1);
		assert_int_equal(node->fate.released, 1);
		hierarchy->nodes = node->next;
		free(node);
	}
	ledger_check(&hierarchy->ledger);
	ledger_fini(&hierarchy->ledger);
	assert_int_equal(hierarchy->memory.live, 0);
}
