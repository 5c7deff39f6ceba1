/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spawning. Under the lock an actor gets a cell, its place in the tree and its
 * name; then it is started.
 *
 * 1. The actor is hidden until its first slice: if it cannot start, no other
 *    actor has seen it.
 * 2. It is in the tree before it is started. So if its parent is stopped or
 *    suspended in between, it is, too: orders and suspensions wait for its
 *    first slice.
 * 3. It is started without the lock, because an executor may run it at once.
 */
#include "supervision/spawn.h"

#include <errno.h>
#include <string.h>

#include "actor/actor.h"
#include "actor/port.h"
#include "actor/port_set.h"
#include "base/options.h"
#include "executor/registry.h"
#include "supervision/branch.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/death_watch.h"

bool weir__spawn_options_valid(const struct weir_spawn_options *options)
{
	size_t length;

	if (!weir__reserved_zero(options->reserved) ||
	    (unsigned int)options->restart > WEIR_RESTART_TEMPORARY)
		return false;
	if (!options->name)
		return true;
	length = strnlen(options->name, WEIR_NAME_MAX + 1);
	return length > 0 && length <= WEIR_NAME_MAX &&
	       options->name[0] != '$' && !strchr(options->name, '/');
}

static int check_actor(const struct weir_actor *actor)
{
	const struct weir_lifecycle *hooks;

	if (!actor || !actor->executor)
		return -EINVAL;
	hooks = actor->ops->lifecycle;
	return hooks && hooks->strategy ? weir_strategy_check(hooks->strategy)
					: 0;
}

/*
 * The depth of a cell: one more than its parent's. The record of a cell that
 * has had a child has it. Depths are bounded, so that walks up to root under
 * the lock are short.
 */
static uint32_t depth(struct weir_system *system, const struct weir__cell *cell)
{
	const struct weir__family *family = &weir__record_of(cell)->family;
	const struct weir__cell *parent;

	if (family->depth)
		return family->depth;
	parent = weir__cell_parent(system, cell);
	return parent ? weir__record_of(parent)->family.depth + 1 : 1;
}

/* 0, or why the parent can have no child. Under the lock. */
static int check_parent(struct weir_system *system,
			const struct weir__cell *parent)
{
	if (system->stopping)
		return -ESHUTDOWN;
	if (!parent)
		return -ESRCH;
	/* a parent that drains has told its children, and waits for no
	 * others */
	if (weir__life_stops(parent->state) || parent->drain ||
	    (ck_pr_load_8(&parent->orders) &
	     (WEIR__ORDER_STOP | WEIR__ORDER_KILL)))
		return -ESHUTDOWN;
	return depth(system, parent) < WEIR__DEPTH_MAX ? 0 : -E2BIG;
}

/* Sets the fields for which the actor needs a record from the start. Under the
 * lock. */
static int set_record(struct weir_system *system, struct weir__cell *cell,
		      const struct weir__cell *parent, struct weir_stats *stats,
		      const struct weir_spawn_options *options)
{
	struct weir__record *record;

	if (!options->name && !options->shutdown_ns && !stats)
		return 0;
	record = weir__record_make(system, cell);
	if (!record)
		return -ENOMEM;
	record->aside.stats = stats;
	record->shutdown_ns = options->shutdown_ns;
	if (!options->name)
		return 0;
	return weir__names_add(&system->names,
			       parent ? weir__cell_slot(system, parent)
				      : WEIR__NO_CELL,
			       record->slot, options->name, &record->name);
}

static void set_actor(struct weir_actor *actor, struct weir__cell *cell)
{
	actor->u.child = &cell->child;
	weir__actor_set(actor, WEIR__ACTOR_CHILD);
	weir__ports_keep_set(actor);
	/* the first slice takes the order; other threads may signal the actor
	 * already */
	ck_pr_or_8(&actor->signals, WEIR__SIGNAL_SYSTEM);
	ck_pr_or_32(&actor->gate, WEIR__GATE_SIGNALLED | WEIR__GATE_CHILD);
}

/* The parent's counts and lists of children; NULL: no memory. Under the
 * lock. */
static struct weir__family *family(struct weir_system *system,
				   struct weir__cell *parent)
{
	struct weir__record *record = weir__record_make(system, parent);

	if (!record)
		return NULL;
	record->family.depth = depth(system, parent);
	return &record->family;
}

/* Its cell, in the tree, in *made. Under the lock. */
static int add(struct weir_system *system, struct weir__cell *parent,
	       struct weir_actor *actor,
	       const struct weir_spawn_options *options,
	       const struct weir__spawn_watch *watch, struct weir__cell **made)
{
	struct weir__cell *cell = weir__cell_new(system, watch->crew);
	struct weir_stats *stats = actor->u.stats;
	int rc;

	if (!cell)
		return -ENOMEM;
	if (parent && !family(system, parent)) {
		weir__cell_free(system, cell);
		return -ENOMEM;
	}
	rc = set_record(system, cell, parent, stats, options);
	cell->actor = actor;
	if (rc == 0 && watch->watcher)
		rc = weir__watcher_join(system, cell, watch->watcher);
	if (rc == 0 && parent && !watch->crew &&
	    weir__lifecycle(parent->actor)->child_ended)
		rc = weir__watch_child(system, parent, cell, watch->token);
	if (rc < 0) {
		weir__watcher_forget(cell);
		weir__cell_unname(system, cell);
		weir__cell_free(system, cell);
		return rc;
	}
	set_actor(actor, cell);
	/* From here on nothing fails but the start. */
	cell->orders = WEIR__ORDER_START;
	cell->restart = options->restart;
	if (parent)
		weir__branch_add(system, parent, cell);
	*made = cell;
	return 0;
}

/* The actor could not start: undoes everything. Under the lock. */
static void take_back(struct weir_system *system, struct weir__cell *cell)
{
	struct weir_actor *actor = cell->actor;

	/* The actor has not run, so it has no children. */
	assert(cell->state == WEIR__CELL_SPAWNED &&
	       cell->kin.first == WEIR__NO_CELL);
	/* its place was where others have theirs */
	actor->u.stats = weir__record_of(cell)->aside.stats;
	weir__actor_clear(actor, WEIR__ACTOR_CHILD);
	ck_pr_and_32(&actor->gate, ~(uint32_t)(WEIR__GATE_SUSPENDED_PARENT |
					       WEIR__GATE_CHILD));
	/* the signal of a parent that drains */
	ck_pr_and_8(&actor->signals, (uint8_t)~WEIR__SIGNAL_DRAIN);
	weir__watcher_forget(cell);
	weir__watch_forget(system, cell);
	weir__cell_unname(system, cell);
	cell->actor = NULL;
	weir__branch_remove(system, cell);
	weir__cell_free(system, cell);
}

static const struct weir__spawn_watch nobody;

static int spawn(struct weir_system *system, struct weir__cell *parent,
		 struct weir_actor *actor,
		 const struct weir_spawn_options *options,
		 const struct weir__spawn_watch *watch, bool guardian,
		 struct weir_actor_id *id, bool held)
{
	struct weir__cell *cell = NULL;
	struct weir_actor_id self = WEIR_ACTOR_ID_NONE;
	int rc = add(system, parent, actor, options, watch, &cell);

	if (rc == 0) {
		cell->guardian = guardian;
		self = weir__cell_ref(system, cell);
		system->lock.used++; /* by us: the actor may end meanwhile */
	}
	weir__leave(&system->lock, held);
	if (rc < 0)
		return rc;
	/* Before the start: the actor may need its id, and the caller's memory
	 * may be gone after the start. */
	if (id)
		*id = self;
	rc = weir__actor_launch(actor);
	held = weir__enter(&system->lock);
	if (rc < 0)
		take_back(system, cell);
	else if (cell->generation == self.generation)
		/* the actor may have ended since, and another may have
		 * the cell */
		weir__family_show(system, cell);
	system->lock.used--;
	weir__leave_unused(&system->lock, held);
	if (rc < 0 && id)
		*id = WEIR_ACTOR_ID_NONE;
	return rc;
}

int weir__spawn_watched(struct weir_system *system, struct weir_actor_id parent,
			struct weir_actor *actor,
			const struct weir_spawn_options *options,
			const struct weir__spawn_watch *watch,
			struct weir_actor_id *id)
{
	static const struct weir_spawn_options none = {.name = NULL};
	struct weir__cell *cell;
	bool held;
	int rc;

	if (!options)
		options = &none;
	if (!system || !weir__spawn_options_valid(options))
		return -EINVAL;
	rc = check_actor(actor);
	if (rc < 0)
		return rc;
	if (!weir__actor_claim(actor))
		return -EALREADY;
	held = weir__enter(&system->lock);
	if (weir_actor_id_equal(parent, WEIR_ACTOR_ID_NONE))
		parent = system->user;
	cell = weir__cell_find(system, parent);
	rc = check_parent(system, cell);
	if (rc < 0)
		weir__leave(&system->lock, held);
	else
		rc = spawn(system, cell, actor, options, watch, false, id,
			   held);
	if (rc < 0)
		weir__actor_disclaim(actor);
	return rc;
}

int weir_system_spawn(struct weir_system *system, struct weir_actor_id parent,
		      struct weir_actor *actor,
		      const struct weir_spawn_options *options,
		      struct weir_actor_id *id)
{
	return weir__spawn_watched(system, parent, actor, options, &nobody, id);
}

int weir__spawn_guardian(struct weir_system *system,
			 struct weir_actor_id parent, struct weir_actor *actor,
			 const char *name, struct weir_actor_id *id)
{
	const struct weir_spawn_options options = {.name = name};
	bool held, claimed = weir__actor_claim(actor);
	int rc;

	assert(claimed); /* no other thread knows the actor */
	(void)claimed;
	held = weir__enter(&system->lock);
	rc = spawn(system, weir__cell_find(system, parent), actor, &options,
		   &nobody, true, id, held);
	if (rc < 0)
		weir__actor_disclaim(actor);
	return rc;
}
