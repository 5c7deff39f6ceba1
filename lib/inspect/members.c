/* SPDX-License-Identifier: BSD-2-Clause */
/* What a snapshot knows of actors beside their ports: systems and pools. */
#include "inspect/snapshot.h"

#include <errno.h>

#include "inspect/places.h"

static void find_all(struct weir__snapshot *self,
		     const struct weir__places *actors)
{
	struct weir_seen_child *child;
	struct weir_seen_pool *pool;
	struct weir_seen_actor *actor;
	size_t i, members_of;

	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		actor->other = weir__places_find(actors, actor->other_actor);
	}
	for (i = 0; i < self->seen.n_children; i++) {
		child = &self->children[i];
		actor = &self->actors[child->actor];
		actor->child = i;
		actor->holder = weir__places_find(actors, actor->holder_actor);
		child->parent = weir__places_find(actors, child->parent_actor);
		child->culprit =
			weir__places_find(actors, child->culprit_actor);
	}
	for (i = 0; i < self->seen.n_pools; i++) {
		pool = &self->pools[i];
		self->actors[pool->actor].pool = i;
		members_of = weir__places_find(actors, pool->members_of);
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

/* Something refers to an actor. */
static bool has_references(const struct weir__snapshot *self)
{
	size_t i;

	for (i = 0; i < self->seen.n_actors; i++)
		if (self->actors[i].other_actor)
			return true;
	/* a pool without children has no member */
	return self->seen.n_children > 0;
}

int weir__snapshot_holders(struct weir__snapshot *self)
{
	struct weir__places actors;

	if (!has_references(self))
		return 0;
	if (!weir__places_init(&actors, self->allocator, self->actors,
			       sizeof(*self->actors), self->seen.n_actors))
		return -ENOMEM;
	find_all(self, &actors);
	find_members(self);
	weir__places_fini(&actors);
	return 0;
}
