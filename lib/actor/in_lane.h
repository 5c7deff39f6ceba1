/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lane of an in-port, as the in-port's owner knows it: what the owner finds
 * in it, publishes of it and drops from it.
 */
#ifndef WEIR_ACTOR_IN_LANE_H
#define WEIR_ACTOR_IN_LANE_H

#include <stdbool.h>

#include <weir/in.h>

#include "actor/child_ops.h"
#include "actor/stats.h"
#include "lane/mpsc.h"
#include "lane/spsc.h"

/*
 * In the state of the in-port's own lane, on behalf of all its lanes. The first
 * three are set by the owner alone.
 */
enum {
	/* A turn has taken none of the last tokens, which are fewer than a
	 * burst. */
	WEIR__IN_LEFT_TAIL = WEIR__LANE_PORT << 0,
	/* TOLD_END: ops->ended has run. TELL_END: it is to run once more,
	 * because the actor has begun anew since. */
	WEIR__IN_TOLD_END = WEIR__LANE_PORT << 1,
	WEIR__IN_TELL_END = WEIR__LANE_PORT << 2,
	/* See weir__in_free_ended(). */
	WEIR__IN_FREES_ENDED = WEIR__LANE_PORT << 3,
};
_Static_assert(WEIR__IN_FREES_ENDED < 1u << WEIR__LANE_LEFT, "four bits");

/* in->taker.flags. WEIR__IN_LINKED also tells puts to go away. */
enum {
	WEIR__IN_LINKED = 1u << 0,
	/* A subscriber feeds the port, by weir__in_put() and weir__in_end(). */
	WEIR__IN_SUBSCRIBES = 1u << 1,
};

/* A merging in-port's lanes other than its own, and which lane is next. */
struct weir__merge {
	enum weir_merge rule;
	struct weir__merge_lane *lanes; /* circular, or NULL */
	struct weir__lane *current;	/* that the taker is of */
	uint32_t n_open;		/* lanes that have not ended */
	uint32_t taken; /* tokens that have left a lane, freely running */
	bool served;	/* the current one, since the look */
	bool over;	/* all has ended but the stash */
	struct weir__stash *stash; /* or NULL */
};

struct weir__merge_lane {
	struct weir__lane lane;
	struct weir__merge_lane *next;
};

/* What the owner has put aside. */
/* As weir__port_load(), of a merge's list. */
static inline const struct weir__merge_lane *weir__merge_load(
	struct weir__merge_lane *const *link)
{
	const struct weir__merge_lane *lane = ck_pr_load_ptr(link);

	/* acquire: the lane's fields; pairs with the release in
	 * weir__merge_add() */
	ck_pr_fence_acquire();
	return lane;
}

struct weir__stash {
	struct weir__merge_lane lane; /* first; in no list */
	/* Freely running; see merge.c. */
	uint32_t back, tail;
};

/* The lane that tokens are taken from. */
static inline struct weir__lane *weir__in_current(const struct weir_in *in)
{
	return in->merge ? in->merge->current : (struct weir__lane *)&in->lane;
}

static inline const struct weir_allocator *weir__in_allocator(
	const struct weir_in *in)
{
	return in->port.actor->executor->options.allocator;
}

static inline bool weir__in_is_put_lane(const struct weir_in *in,
					const struct weir__lane *lane)
{
	return lane == &in->lane && !(in->taker.flags & WEIR__IN_LINKED);
}

/* Tokens that a look finds in the lane, the current one. */
static inline uint32_t weir__in_lane_available(struct weir_in *in,
					       struct weir__lane *lane,
					       bool *ended)
{
	if (weir__in_is_put_lane(in, lane))
		return weir__mpsc_available(&in->taker, lane, ended);
	return weir__spsc_available(&in->taker, lane, ended);
}

/* A run begins here, and no turn of it has peeked. */
static inline void weir__in_none_peeked(struct weir_in *in)
{
	in->taker.peeked = (uint16_t)in->taker.head;
}

/*
 * Stores the current lane's head word, for the producer; the caller has fenced
 * (release). Returns how many tokens have left the lane since the last time.
 */
static inline uint32_t weir__in_store_head(struct weir_in *in,
					   struct weir__lane *lane)
{
	uint32_t n = weir__taker_publish(&in->taker, lane);

	if (in->merge)
		in->merge->taken += n;
	return n;
}

/* As weir__in_store_head(), and counts the tokens. True: there were some. */
static inline bool weir__in_publish_head(struct weir_in *in,
					 struct weir__lane *lane)
{
	uint32_t n = weir__in_store_head(in, lane);
	struct weir_stats *stats;

	if (!n)
		return false;
	stats = weir__actor_stats(in->port.actor);
	if (stats)
		weir__stats_add(&stats->taken, n);
	return true;
}

/* Whether weir__in_lane_available() would find a token in the current lane. */
bool weir__in_lane_holds(struct weir_in *in, struct weir__lane *lane);

/*
 * Drops what the current lane holds. `dead`: the actor has ended. Owner, or the
 * last reference.
 */
void weir__in_drain_lane(struct weir_in *in, bool dead);

/*
 * See WEIR__IN_LEFT_TAIL. Atomic: producers change other bits of the state. No
 * order: this bit is the owner's.
 */
static inline bool weir__in_left_tail(const struct weir_in *in)
{
	return weir__lane_has(&in->lane, WEIR__IN_LEFT_TAIL);
}

void weir__in_set_left_tail(struct weir_in *in, bool left);

/*
 * What a turn gets when the stream has ended with fewer tokens than a burst:
 * the rest, once, or nothing.
 */
uint32_t weir__in_at_end(struct weir_in *in, uint32_t n);

/* Lets go of the lane's producer. Owner. */
void weir__in_unlink(struct weir__lane *lane);

#endif
