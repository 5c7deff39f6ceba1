/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch: the watches of a system.
 *
 * A watch by an actor is in two lists. One has all watches of the watcher. The
 * other is the list of watchers of the watched actor, or, after that actor's
 * end, the list of notices of the watcher. The watch is moved there without
 * allocating, under the lock: so either the watch or the end comes first, and
 * exactly one notice follows. pending.c takes the notice from there.
 */
#include "supervision/watch.h"

#include <assert.h>
#include <errno.h>

#include <weir/out.h>

#include "actor/in.h"
#include "actor/port.h"
#include "base/memory.h"
#include "supervision/family.h"

/* --- Lists. All under the lock. ------------------------------------------- */

static void list_add(struct weir__watch **list, struct weir__watch *watch)
{
	watch->next = *list;
	watch->link = list;
	if (watch->next)
		watch->next->link = &watch->next;
	*list = watch;
}

/* The link behind the parent's watch, which is first in the list of the watched
 * actor, if there is one. */
static struct weir__watch **after_parent(struct weir__record *watched)
{
	struct weir__watch *first = watched->watched;

	return first && first->of_parent ? &first->next : &watched->watched;
}

/* Removes a watch from its list in O(1): it knows the pointer to it. */
static void list_remove(struct weir__watch *watch)
{
	assert(*watch->link == watch);
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
}

void weir__watch_take(struct weir__record *watcher, struct weir__watch *watch)
{
	/* The queue of notices has an end, other lists have not. */
	if (watch->ended && !watch->next)
		watcher->notices_end = watch->link;
	list_remove(watch);
	weir__watching_remove(&watcher->watching, watch);
}

void weir__watch_free(const struct weir_system *system,
		      struct weir__watch *watch)
{
	if (!watch)
		return;
	weir_error_unref(watch->error);
	weir__path_unref(system, watch->path);
	weir__free(system->options.allocator, watch, sizeof(*watch));
}

/* The watched actor has ended: adds the watch to the watcher's notices, as the
 * last one. */
static void notify(struct weir__cell *cell, struct weir__watch *watch)
{
	struct weir__record *watcher = weir__record_of(cell);

	assert(!watch->ended && !*watcher->notices_end);
	watch->ended = true;
	watch->next = NULL;
	watch->link = watcher->notices_end;
	*watch->link = watch;
	watcher->notices_end = &watch->next;
	weir__cell_message(cell, WEIR__CELL_NOTICES);
}

/* The watch of the actor on `who` that the user has asked for, or NULL. */
static struct weir__watch *watch_find(const struct weir__record *watcher,
				      struct weir_actor_id who)
{
	const struct weir__watch key = {.who = who};

	return weir__watching_find(watcher->watching, &key);
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
 * A new watch of `cell` on `target`, whose id is `who`. `target` NULL: that
 * actor has ended. Returns NULL if there is no memory.
 */
static struct weir__watch *watch_new(struct weir_system *system,
				     struct weir__cell *cell,
				     const struct weir__cell *target,
				     struct weir_actor_id who, bool of_parent)
{
	struct weir__record *watcher = weir__record_make(system, cell);
	struct weir__watch *watch =
		watcher ? weir__alloc(system->options.allocator, sizeof(*watch))
			: NULL;

	if (!watch)
		return NULL;
	watch->who = who;
	watch->watcher = weir__cell_ref(system, cell);
	watch->existed = target;
	watch->actor = target ? target->actor : NULL;
	watch->of_parent = of_parent;
	weir__watching_add(&watcher->watching, watch);
	return watch;
}

static int watch_add(struct weir_system *system, struct weir__cell *cell,
		     struct weir_actor_id who, void *token)
{
	struct weir__cell *target = weir__cell_find(system, who);
	struct weir__record *watched =
		target ? weir__record_make(system, target) : NULL;
	struct weir__watch *watch;

	if (target && !watched)
		return -ENOMEM;
	watch = watch_new(system, cell, target, who, false);
	if (!watch)
		return -ENOMEM;
	watch->token = token;
	if (target) {
		list_add(after_parent(watched), watch);
		return 0;
	}
	/* The watched actor has ended, and has no list of watchers: gives the
	 * notice now. */
	watch->actor = find_dead(system, cell->actor, who);
	notify(cell, watch);
	return 0;
}

int weir__watch_child(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell)
{
	struct weir__record *watched = weir__record_make(system, cell);
	struct weir__watch *watch;

	if (!watched)
		return -ENOMEM;
	watch = watch_new(system, parent, cell, weir__cell_ref(system, cell),
			  true);
	if (!watch)
		return -ENOMEM;
	list_add(&watched->watched, watch);
	return 0;
}

void weir__watch_forget(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_own(cell);
	struct weir__watch *watch = record ? record->watched : NULL;

	if (!watch)
		return;
	assert(watch->of_parent && !watch->next);
	weir__watch_take(weir__record_of(weir__cell_parent(system, cell)),
			 watch);
	weir__watch_free(system, watch);
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
	old = record ? watch_find(record, who) : NULL;
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
		old = watch_find(record, who);
	if (old)
		weir__watch_take(record, old);
	weir__unlock(&system->lock.plain);
	weir__watch_free(system, old);
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
	       (watch = weir__watching_after(record->watching, &key))) {
		key.who = watch->who;
		key.of_parent = watch->of_parent;
		if (all || is_on_child(system, cell, watch)) {
			weir__watch_take(record, watch);
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
		weir__watch_free(system, watch);
	}
}

void weir__watch_none(struct weir_actor *actor)
{
	unwatch_some(actor, true);
}

void weir__watch_no_children(struct weir_actor *actor)
{
	unwatch_some(actor, false);
}

/* --- An actor has ended --------------------------------------------------- */

void weir__watch_ended(struct weir_system *system, struct weir__cell *cell,
		       const struct weir__death *death)
{
	struct weir__cell *watching;
	struct weir__record *record;
	struct weir__watch *watch;
	bool held = weir__enter(&system->lock);

	/* the cell is not found any more, so no watch is added from here on */
	assert(!weir__cell_find(system, death->who));
	record = weir__record_own(cell);
	assert(!record || !record->watching);
	while (record && (watch = record->watched)) {
		list_remove(watch);
		watch->error = weir_error_ref(death->error);
		watch->path = weir__path_ref(death->path);
		watch->how = death->how;
		watching = weir__cell_find(system, watch->watcher);
		/* a watcher removes its watches before its end */
		assert(watching);
		notify(watching, watch);
		weir__breathe(&system->lock);
	}
	weir__leave(&system->lock, held);
	if (record)
		weir__watchers_tell(system, record, death);
}
