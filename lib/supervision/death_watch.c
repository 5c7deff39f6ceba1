/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches by actors, under the system's lock. pending.c takes the notices. */
#include "supervision/death_watch.h"

#include <assert.h>
#include <errno.h>

#include <weir/out.h>

#include "actor/in.h"
#include "actor/port.h"
#include "supervision/family.h"

/* The watcher is to look at its notices. */
static void notify(struct weir__cell *cell, struct weir__watch *watch,
		   const struct weir__death *death)
{
	weir__watch_notify(&weir__record_of(cell)->watches, watch, death);
	weir__cell_message(cell, WEIR__CELL_NOTICES);
}

/* --- Who was dead before -------------------------------------------------- */

static struct weir_actor *producer(const struct weir__lane *lane,
				   const struct weir__cell *cell)
{
	const struct weir_out *out = weir__lane_producer(lane);
	struct weir_actor *actor = out ? out->port.actor : NULL;

	/* relaxed: constant for an actor of a system, others have no cell */
	return actor && ck_pr_load_ptr(&actor->u.child) == &cell->child ? actor
									: NULL;
}

/* The actor of the cell, if `self` has a link from it, which keeps the actor's
 * memory; else NULL. Owner. */
static struct weir_actor *linked_from(const struct weir_actor *self,
				      const struct weir__cell *cell)
{
	const struct weir__lane *lane = NULL;
	struct weir_actor *found = NULL;
	const struct weir_port *port;
	const struct weir_in *in;

	for (port = self->ports; port && !found; port = port->next) {
		in = weir__in_of(port);
		while (in && !found && (lane = weir__in_next_lane(in, lane)))
			found = producer(lane, cell);
	}
	return found;
}

/* The actor that was `who`, if tokens from it may still wait in `self`; else
 * NULL. */
static struct weir_actor *find_dead(const struct weir_system *system,
				    const struct weir_actor *self,
				    struct weir_actor_id who)
{
	const struct weir__cell *cell;

	if (who.slot >= system->slots.n)
		return NULL;
	cell = weir__cell_at(system, who.slot);
	if (cell->state != WEIR__CELL_ENDED ||
	    cell->generation != who.generation)
		return NULL;
	return linked_from(self, cell);
}

/* --- Actors watch --------------------------------------------------------- */

/*
 * A new watch of `cell`, as `like` but for who watches. `target` NULL: the
 * watched actor has ended. Returns NULL if there is no memory.
 */
static struct weir__watch *watch_new(struct weir_system *system,
				     struct weir__cell *cell,
				     struct weir__cell *target,
				     struct weir__watch like)
{
	struct weir__record *watched =
		target ? weir__record_make(system, target) : NULL;
	struct weir__record *watcher = weir__record_make(system, cell);

	if (!watcher || (target && !watched))
		return NULL;
	like.watcher = weir__cell_ref(system, cell);
	return weir__watch_new(&watcher->watches,
			       watched ? &watched->watches : NULL, &like,
			       system->options.allocator);
}

static int watch_add(struct weir_system *system, struct weir__cell *cell,
		     struct weir_actor_id who, void *token)
{
	struct weir__cell *target = weir__cell_find(system, who);
	struct weir__watch *watch = watch_new(
		system, cell, target,
		(struct weir__watch){
			.who = who,
			.token = token,
			.actor = target ? target->actor
					: find_dead(system, cell->actor, who),
		});

	if (!watch)
		return -ENOMEM;
	/* The watched actor has no list of watchers any more. */
	if (!target)
		notify(cell, watch, NULL);
	return 0;
}

int weir__watch_child(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell, void *token)
{
	const struct weir__watch like = {
		.token = token,
		.who = weir__cell_ref(system, cell),
		.actor = cell->actor,
		.of_parent = true,
	};

	return watch_new(system, parent, cell, like) ? 0 : -ENOMEM;
}

void weir__watch_forget(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_own(cell);
	struct weir__watch *watch = record ? record->watches.watched : NULL;

	if (!watch)
		return;
	assert(watch->of_parent && !watch->next);
	weir__watch_take(
		&weir__record_of(weir__cell_parent(system, cell))->watches,
		watch);
	weir__watch_free(watch, system->options.allocator);
}

static int watch(struct weir_system *system, struct weir__cell *cell,
		 struct weir_actor_id who, void *token)
{
	struct weir_actor_id self = weir__cell_ref(system, cell);
	struct weir__record *record = weir__record_own(cell);
	const struct weir__watch *old;

	if (weir__life_over(cell->state))
		return -ESHUTDOWN;
	if (weir_actor_id_equal(self, who))
		return 0;
	old = record ? weir__watch_find(&record->watches, who) : NULL;
	if (old)
		return old->token == token ? 0 : -EBUSY;
	return watch_add(system, cell, who, token);
}

static int check(const struct weir_actor *self, struct weir_actor_id who)
{
	if (!self || weir_actor_id_equal(who, WEIR_ACTOR_ID_NONE))
		return -EINVAL;
	if (!weir__owned(self))
		return -EPERM;
	return self->flags & WEIR__ACTOR_CHILD ? 0 : -EINVAL;
}

int weir_actor_watch(struct weir_actor *self, struct weir_actor_id who,
		     void *token)
{
	int rc = check(self, who);
	struct weir_system *system;
	bool held;

	if (rc < 0)
		return rc;
	system = weir__system_of(self);
	held = weir__enter(&system->lock);
	rc = watch(system, weir__cell_of(self), who, token);
	weir__leave(&system->lock, held);
	return rc;
}

int weir_actor_unwatch(struct weir_actor *self, struct weir_actor_id who)
{
	int rc = check(self, who);
	struct weir__watch *old = NULL;
	struct weir_system *system;
	struct weir__record *record;
	struct weir__cell *cell;

	if (rc < 0)
		return rc;
	system = weir__system_of(self);
	cell = weir__cell_of(self);
	weir__lock(&system->lock.plain);
	record = weir__record_own(cell);
	if (record)
		old = weir__watch_find(&record->watches, who);
	if (old)
		weir__watch_take(&record->watches, old);
	weir__unlock(&system->lock.plain);
	weir__watch_free(old, system->options.allocator);
	return old ? 0 : -ENOENT;
}

/* True: the watch is on a child that has not ended. */
static bool is_on_child(const struct weir_system *system,
			const struct weir__cell *cell,
			const struct weir__watch *watch)
{
	const struct weir__cell *who = weir__cell_find(system, watch->who);

	return who && who->kin.parent == weir__cell_slot(system, cell);
}

/* Takes some watches of `cell` out of all lists: of all its watches, or only of
 * those on children that have not ended. */
static struct weir__watch *take_some(struct weir_system *system,
				     struct weir__cell *cell, bool all)
{
	struct weir__record *record = weir__record_own(cell);
	struct weir__watch key = {.who = WEIR_ACTOR_ID_NONE}, *watch,
			   *taken = NULL;

	while (record &&
	       (watch = weir__watching_after(record->watches.watching, &key))) {
		key.who = watch->who;
		key.of_parent = watch->of_parent;
		if (all || is_on_child(system, cell, watch)) {
			weir__watch_take(&record->watches, watch);
			watch->next = taken;
			taken = watch;
		}
		weir__breathe(&system->lock);
	}
	return taken;
}

static void unwatch_some(struct weir_actor *actor, bool all)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__watch *watch, *next;

	weir__lock(&system->lock.plain);
	watch = take_some(system, weir__cell_of(actor), all);
	weir__unlock(&system->lock.plain);
	for (; watch; watch = next) {
		next = watch->next;
		weir__watch_free(watch, system->options.allocator);
	}
}

void weir__watch_none(struct weir_actor *actor)
{
	unwatch_some(actor, true);
}

bool weir__watch_none_and_enter(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	const struct weir__record *record =
		weir__record_own(weir__cell_of(actor));

	if (!record || !record->watches.watching)
		return held;
	weir__leave(&system->lock, held);
	weir__watch_none(actor);
	return weir__enter(&system->lock);
}

void weir__watch_no_children(struct weir_actor *actor)
{
	unwatch_some(actor, false);
}

/* --- An actor has ended --------------------------------------------------- */

void weir__watch_ended(struct weir_system *system, struct weir__cell *cell,
		       const struct weir__death *death)
{
	struct weir__record *record = weir__record_own(cell);
	struct weir__cell *watching;
	struct weir__watch *watch;

	/* the cell is not found any more, so no watch is added from here on */
	assert(!weir__cell_find(system, death->who));
	assert(!record->watches.watching);
	while ((watch = record->watches.watched)) {
		watching = weir__cell_find(system, watch->watcher);
		/* a watcher removes its watches before its end */
		assert(watching);
		notify(watching, watch, death);
		weir__breathe(&system->lock);
	}
}
