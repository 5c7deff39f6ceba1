/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the actor layer asks of supervision, which is a layer below and brings
 * its functions along. An actor of a system has WEIR__ACTOR_CHILD set and
 * actor->u.child pointing at its place in the tree; no other actor pays for
 * that.
 *
 * Such an actor does not end by itself. Where another actor would end, one of a
 * system is *leaving*: weir__actor_end() notes why, and between two runs of
 * turns the function `leaving` decides what follows. It may suspend the actor,
 * or let it end by setting WEIR__ACTOR_ENDING.
 */
#ifndef WEIR_ACTOR_CHILD_OPS_H
#define WEIR_ACTOR_CHILD_OPS_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/actor.h>
#include <weir/inspect.h>

#include "actor/gate.h"

/* Of a look: a handler has run, everything may differ. */
#define WEIR__LOOK_AGAIN UINT32_MAX

struct weir__child_look {
	struct weir_seen_child *seen;
	/* what the actor's gate says; of WAIT_PARENT more is known then */
	enum weir_wait wait;
	const struct weir_actor *holder; /* whom it waits for, or NULL */
	bool starts, leaves;
	bool names; /* are asked for, and paths, and messages */
};

/* All run on the actor's thread, as its owner, but `look` and
 * `released`. */
struct weir__child_ops {
	/* WEIR__SIGNAL_SYSTEM has come, or `stop`: weir_actor_stop(),
	 * or an abort. */
	void (*ordered)(struct weir_actor *actor, bool stop);
	/* WEIR__ACTOR_LEAVING is set: the actor has failed or is to end. */
	void (*leaving)(struct weir_actor *actor);
	/*
	 * WEIR__ACTOR_PENDING is set and the actor has been looked at, with
	 * `turns` available. How many of them may run before there is more to
	 * do, or WEIR__LOOK_AGAIN: something was done.
	 */
	uint32_t (*pending)(struct weir_actor *actor, uint32_t turns);
	/* The executor drains; a `source` is to finish. */
	void (*drained)(struct weir_actor *actor, bool source);
	/* The final slice: before the ports are closed, and at its end. */
	void (*closing)(struct weir_actor *actor);
	void (*ended)(struct weir_actor *actor);
	/* The last reference has gone; after ops->released. Any thread. */
	void (*released)(struct weir__child *child);
	/* As weir_actor_set_stats(); also -ENOMEM. */
	int (*set_stats)(struct weir_actor *actor, struct weir_stats *stats);
	/*
	 * What the system knows of the actor, for a look. Any thread that keeps
	 * the actor from being released, by the registry's lock. Whoever has
	 * the system's lock may wait for the registry's; so this one does not
	 * wait for the system's lock. False: somebody has it.
	 */
	bool (*look)(const struct weir_actor *actor,
		     struct weir__child_look *look);
	/* An in-port drops an item at its actor's end; before the drop. */
	void (*dead_letter)(struct weir_actor *actor, void *item);
};

/*
 * Fields that few actors need. Many actors share one that holds nothing but
 * `ops`.
 */
struct weir__aside {
	const struct weir__child_ops *ops;
	struct weir_stats *stats; /* as weir_actor_set_stats() */
};

/* The head of an actor's place in the tree. */
struct weir__child {
	struct weir__aside *aside; /* atomic: replaced while others read */
};

static inline struct weir__aside *weir__child_aside(
	const struct weir_actor *actor)
{
	struct weir__aside *aside = ck_pr_load_ptr(&actor->u.child->aside);

	/* acquire: the fields; pairs with the release of the thread that
	 * replaced the struct */
	ck_pr_fence_acquire();
	return aside;
}

static inline const struct weir__child_ops *weir__child_ops(
	const struct weir_actor *actor)
{
	return weir__child_aside(actor)->ops;
}

static inline struct weir_stats *weir__actor_stats(
	const struct weir_actor *actor)
{
	if (WEIR_LIKELY(!(actor->flags & WEIR__ACTOR_CHILD)))
		return actor->u.stats;
	return weir__child_aside(actor)->stats;
}

#endif
