/* SPDX-License-Identifier: BSD-2-Clause */
/* What a snapshot knows of actors beside their ports: systems and pools. */
#include "inspect/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static int by_actor(const void *one, const void *other)
{
	const struct weir_seen_actor *const *a = one, *const *b = other;
	uintptr_t x = (uintptr_t)(*a)->actor, y = (uintptr_t)(*b)->actor;

	return (x > y) - (x < y);
}

/* The actors in the order of their addresses. */
static const struct weir_seen_actor **sorted(const struct weir__snapshot *self)
{
	size_t n = self->seen.n_actors, i;
	const struct weir_seen_actor **actors = weir__alloc(
		self->allocator, self->room_actors * sizeof(*actors));

	if (!actors)
		return NULL;
	for (i = 0; i < n; i++)
		actors[i] = &self->actors[i];
	qsort(actors, n, sizeof(*actors), by_actor);
	return actors;
}

/* WEIR_NOWHERE: it is not there, or NULL. */
static size_t find(const struct weir__snapshot *self,
		   const struct weir_seen_actor **actors,
		   const struct weir_actor *actor)
{
	const struct weir_seen_actor key = {.actor = actor}, *wanted = &key;
	const struct weir_seen_actor **found;

	if (!actor)
		return WEIR_NOWHERE;
	found = bsearch(&wanted, actors, self->seen.n_actors, sizeof(*actors),
			by_actor);
	return found ? (size_t)(*found - self->actors) : WEIR_NOWHERE;
}

static void find_all(struct weir__snapshot *self,
		     const struct weir_seen_actor **actors)
{
	struct weir_seen_child *child;
	struct weir_seen_pool *pool;
	struct weir_seen_actor *actor;
	size_t i, members_of;

	for (i = 0; i < self->seen.n_children; i++) {
		child = &self->children[i];
		actor = &self->actors[child->actor];
		actor->child = i;
		actor->holder = find(self, actors, actor->holder_actor);
		child->parent = find(self, actors, child->parent_actor);
		child->culprit = find(self, actors, child->culprit_actor);
	}
	for (i = 0; i < self->seen.n_pools; i++) {
		pool = &self->pools[i];
		self->actors[pool->actor].pool = i;
		members_of = find(self, actors, pool->members_of);
		if (members_of != WEIR_NOWHERE)
			self->actors[members_of].pool = i;
	}
}

const struct weir_seen_pool *weir__snapshot_full_pool(
	const struct weir_snapshot *snapshot, size_t actor)
{
	size_t at = snapshot->actors[actor].pool;
	const struct weir_seen_pool *pool;

	if (at == WEIR_NOWHERE)
		return NULL;
	pool = &snapshot->pools[at];
	return pool->actor == actor && pool->busy >= pool->max ? pool : NULL;
}

/* How likely it is that the member has a place, and not just waits for one. */
static int busyness(const struct weir_seen_actor *member)
{
	return member->state == WEIR_SEEN_STATE_RUNNING	 ? 2
	       : member->state == WEIR_SEEN_STATE_QUEUED ? 1
							 : 0;
}

/* Who waits for a place of a pool waits for one of those that have them. */
static void find_members(struct weir__snapshot *self)
{
	const struct weir_seen_child *child;
	const struct weir_seen_pool *pool;
	size_t i, at, *holder;

	for (i = 0; i < self->seen.n_children; i++) {
		child = &self->children[i];
		at = child->parent == WEIR_NOWHERE
			     ? WEIR_NOWHERE
			     : self->actors[child->parent].pool;
		if (at == WEIR_NOWHERE)
			continue;
		pool = &self->pools[at];
		if (pool->queued == 0 ||
		    !weir__snapshot_full_pool(&self->seen, pool->actor))
			continue;
		holder = &self->actors[pool->actor].holder;
		if (*holder == WEIR_NOWHERE ||
		    busyness(&self->actors[child->actor]) >
			    busyness(&self->actors[*holder]))
			*holder = child->actor;
	}
}

int weir__snapshot_holders(struct weir__snapshot *self)
{
	const struct weir_seen_actor **actors;

	/* a pool without children has no member */
	if (self->seen.n_children == 0)
		return 0;
	actors = sorted(self);
	if (!actors)
		return -ENOMEM;
	find_all(self, actors);
	find_members(self);
	weir__free(self->allocator, actors,
		   self->room_actors * sizeof(*actors));
	return 0;
}
