/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-ports with several producers: a lane for each link, the owner's stash, and
 * which lane is taken from next.
 */
#include "actor/merge.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include <weir/out.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "actor/in_lane.h"
#include "actor/port.h"
#include "base/fence.h"
#include "executor/registry.h"

int weir_in_merge(struct weir_in *in, enum weir_merge rule)
{
	int rc = weir__port_check_owner(in ? &in->port : NULL);

	if (rc < 0)
		return rc;
	if ((unsigned int)rule > WEIR_MERGE_OPEN)
		return -EINVAL;
	if (!weir__is_new(in->port.actor))
		return -EPERM;
	if (weir__in_used(in))
		return -EBUSY;
	in->merge = weir__alloc(weir__in_allocator(in), sizeof(*in->merge));
	if (!in->merge)
		return -ENOMEM;
	in->merge->rule = rule;
	in->merge->current = &in->lane;
	return 0;
}

static struct weir__lane *next_lane(struct weir_in *in,
				    const struct weir__lane *lane)
{
	struct weir__merge *merge = in->merge;
	struct weir__merge_lane *next;

	assert(merge);
	next = lane == &in->lane
		       ? merge->lanes
		       : ((const struct weir__merge_lane *)lane)->next;
	if (next)
		return &next->lane;
	if (merge->rule == WEIR_MERGE_OPEN || !merge->lanes)
		return &in->lane;
	return &merge->lanes->lane;
}

void weir__merge_switch(struct weir_in *in, struct weir__lane *lane)
{
	struct weir__lane *old = in->merge->current;

	if (lane == old)
		return;
	/* release: we are done with the tokens; pairs with the acquire of the
	 * producer that reads the head */
	ck_pr_fence_release();
	if (weir__in_publish_head(in, old) && old->out) {
		/* store -> load, rule 2; pairs with the producer's arming */
		weir__fence_full();
		weir__port_unblock(&old->out->port);
	}
	in->merge->current = lane;
	weir__taker_turn(&in->taker, lane);
	weir__in_none_peeked(in);
}

/* --- The stash ---------------------------------------------------------- */

/*
 * Tokens that an in-port's owner puts aside, and back in front of the others.
 * The stash is a lane of a merging in-port, with the owner at both ends; looks
 * ask it before the others. What is in its ring, from the owner's cursor on:
 *
 *	cursor <= tail word <= back <= tail,  tail - cursor <= capacity
 *
 *	cursor to tail word	put back; turns take these
 *	tail word to back	to be put back, before those
 *	back to tail		aside
 *
 * 1. A turn may have peeked at a token, so nothing moves before it is over: the
 *    next look puts back. It turns the first two parts round, so that tokens
 *    come in the order in which they were put aside, and these before what an
 *    earlier putting back has left.
 * 2. A token that is put aside has left its lane, which has room for another.
 *    So an in-port holds up to twice its capacity, and no more.
 * 3. Messages go by how many tokens were taken (supervision/position.c). One
 *    that is put back is counted as not taken again, so that it comes before
 *    messages that were behind it.
 */
static struct weir__stash *stash_of(const struct weir_in *in)
{
	return in->merge ? in->merge->stash : NULL;
}

static uint32_t cursor_of(const struct weir_in *in,
			  const struct weir__lane *lane)
{
	return lane == in->merge->current ? weir__in_cursor(in)
					  : weir__lane_head(lane);
}

/* 0, or why the caller can use no stash of the in-port. */
static int check(const struct weir_in *in)
{
	int rc = weir__port_check_owner(in ? &in->port : NULL);

	if (rc < 0)
		return rc;
	if (!stash_of(in))
		return -ENOTSUP;
	return in->port.flags & WEIR__PORT_ENDED ? -EPIPE : 0;
}

int weir_in_stash(struct weir_in *in, void *item)
{
	struct weir__stash *stash;
	int rc = check(in);

	if (rc < 0)
		return rc;
	stash = stash_of(in);
	if (weir__index_diff(stash->tail, cursor_of(in, &stash->lane.lane)) >
	    in->taker.mask)
		return -EOVERFLOW;
	weir__lane_slots(&stash->lane.lane)[stash->tail++ & in->taker.mask]
		.item = item;
	return 0;
}

void weir__stash_all_back(struct weir_in *in)
{
	struct weir__stash *stash = stash_of(in);

	if (!stash || stash->back == stash->tail)
		return;
	stash->back = stash->tail;
	weir__actor_break(in->port.actor);
}

int weir_in_unstash_all(struct weir_in *in)
{
	int rc = check(in);

	if (rc == 0)
		weir__stash_all_back(in);
	return rc;
}

/* Turns round what is in the slots from index `first` to before `last`. */
static void reverse(struct weir__slot *slots, uint32_t mask, uint32_t first,
		    uint32_t last)
{
	uint32_t n = weir__index_diff(last, first) / 2;
	struct weir__slot slot;

	while (n--) {
		last--;
		slot = slots[first & mask];
		slots[first & mask] = slots[last & mask];
		slots[last & mask] = slot;
		first++;
	}
}

/* Claims 1 and 3. */
static void put_back(struct weir_in *in, struct weir__stash *stash)
{
	struct weir__lane *lane = &stash->lane.lane;
	uint32_t first = cursor_of(in, lane), last = weir__lane_tail(lane);
	uint32_t n = weir__index_diff(stash->back, last);

	if (!n)
		return;
	if (weir__index_diff(last, first)) {
		reverse(weir__lane_slots(lane), in->taker.mask, first, last);
		reverse(weir__lane_slots(lane), in->taker.mask, last,
			stash->back);
		reverse(weir__lane_slots(lane), in->taker.mask, first,
			stash->back);
	}
	/* no order: the owner reads it */
	ck_pr_store_32(weir__lane_tail_at(lane),
		       weir__tail_word(stash->back, false));
	in->merge->taken -= n;
}

static uint32_t stash_available(struct weir_in *in)
{
	struct weir__stash *stash = stash_of(in);
	struct weir__lane *lane = &stash->lane.lane;
	bool ended;

	put_back(in, stash);
	if (!weir__index_diff(weir__lane_tail(lane), cursor_of(in, lane)))
		return 0;
	weir__merge_switch(in, lane);
	return weir__in_lane_available(in, lane, &ended);
}

static bool stash_holds(const struct weir_in *in)
{
	const struct weir__stash *stash = stash_of(in);

	return stash &&
	       weir__index_diff(stash->tail, cursor_of(in, &stash->lane.lane));
}

void weir__stash_drain(struct weir_in *in, bool dead)
{
	struct weir__stash *stash = stash_of(in);

	if (!stash)
		return;
	stash->back = stash->tail;
	put_back(in, stash);
	weir__merge_switch(in, &stash->lane.lane);
	weir__in_drain_lane(in, dead);
}

static void stash_fini(struct weir_in *in)
{
	const struct weir_allocator *allocator = weir__in_allocator(in);
	struct weir__stash *stash = stash_of(in);

	if (!stash)
		return;
	weir__lane_fini(&stash->lane.lane, in->taker.mask, allocator);
	weir__free(allocator, stash, sizeof(*stash));
}

int weir_in_stash_init(struct weir_in *in)
{
	int rc = weir__port_check_owner(in ? &in->port : NULL);
	struct weir__stash *stash;

	if (rc < 0)
		return rc;
	if (!weir__is_new(in->port.actor))
		return -EPERM;
	if (in->port.burst != 1)
		return -EINVAL;
	if (stash_of(in))
		return -EBUSY;
	stash = weir__alloc(weir__in_allocator(in), sizeof(*stash));
	if (!stash)
		return -ENOMEM;
	rc = weir__lane_init(&stash->lane.lane, in->taker.mask,
			     weir__in_allocator(in));
	if (rc == 0 && !in->merge) {
		rc = weir_in_merge(in, WEIR_MERGE_OPEN);
		if (rc < 0)
			weir__lane_fini(&stash->lane.lane, in->taker.mask,
					weir__in_allocator(in));
	}
	if (rc < 0) {
		weir__free(weir__in_allocator(in), stash, sizeof(*stash));
		return rc;
	}
	in->merge->stash = stash;
	return 0;
}

static bool is_stash(const struct weir__merge *merge,
		     const struct weir__lane *lane)
{
	return merge->stash && lane == &merge->stash->lane.lane;
}

/* --- The lanes of links ------------------------------------------------- */

/* Frees a merged lane, which has ended and is drained. */
static void remove_lane(struct weir_in *in, struct weir__lane *lane)
{
	struct weir__merge_lane **link = &in->merge->lanes;
	struct weir__merge_lane *gone = (struct weir__merge_lane *)lane;

	weir__merge_switch(in, next_lane(in, lane) == lane
				       ? &in->lane
				       : next_lane(in, lane));
	while (*link && *link != gone)
		link = &(*link)->next;
	ck_pr_store_ptr(link, gone->next);
	if (in->merge->current == &in->lane && in->merge->lanes)
		weir__merge_switch(in, next_lane(in, &in->lane));
	weir__in_unlink(lane);
	weir__registry_await_look(in->port.actor->executor);
	weir__lane_fini(lane, in->taker.mask, weir__in_allocator(in));
	weir__free(weir__in_allocator(in), gone, sizeof(*gone));
}

/*
 * True if the end of this lane ends the in-port's stream; then the in-port's
 * own lane has been ended, with this lane's error, if any. False also if
 * weir_in_end() has come first: then the stream ends by that end, behind what
 * was put.
 */
static bool ends_all(struct weir_in *in, const struct weir__lane *lane)
{
	const struct weir__merge *merge = in->merge;

	if (merge->rule != WEIR_MERGE_FIRST && !lane->error &&
	    (merge->rule != WEIR_MERGE_ALL || merge->n_open > 1))
		return false;
	return weir__in_end(in, lane->error) == 0;
}

/*
 * A lane of a merging in-port has ended and is removed. True: the in-port's
 * stream has ended with it.
 */
static bool lane_ended(struct weir_in *in, struct weir__lane *lane)
{
	bool last;

	if (lane == &in->lane)
		return true;
	assert(in->merge->n_open > 0);
	last = ends_all(in, lane);
	in->merge->n_open--;
	remove_lane(in, lane);
	return last;
}

/* How many lanes there are to ask. */
static uint32_t n_lanes(const struct weir_in *in)
{
	const struct weir__merge *merge = in->merge;

	return merge->n_open + (merge->rule == WEIR_MERGE_OPEN ? 1 : 0);
}

/* The stream has ended. Its end is behind what the owner has put aside. */
static uint32_t is_over(struct weir_in *in)
{
	in->merge->over = true;
	return stash_holds(in) ? stash_available(in) : weir__in_at_end(in, 0);
}

/*
 * Takes tokens from the lanes in turn: each look that follows a run goes on
 * from the lane that was served to the next lane that has tokens.
 */
static uint32_t in_turn(struct weir_in *in)
{
	struct weir__lane *lane = in->merge->current;
	uint32_t left = n_lanes(in), n;
	bool ended;

	if (in->merge->served || is_stash(in->merge, lane))
		lane = next_lane(in, lane);
	in->merge->served = false;
	for (; left; left--) {
		weir__merge_switch(in, lane);
		n = weir__in_lane_available(in, lane, &ended);
		if (n >= in->port.burst)
			return n;
		if (ended && n) {
			if (!weir__in_left_tail(in))
				return weir__in_at_end(in, n);
			weir__in_set_left_tail(in, false);
			weir__in_drain_lane(in, false);
		}
		if (ended && lane_ended(in, lane))
			return is_over(in);
		lane = ended ? in->merge->current : next_lane(in, lane);
	}
	return 0;
}

/* What was put back comes before all else. */
uint32_t weir__merge_available(struct weir_in *in)
{
	uint32_t n = in->merge->stash ? stash_available(in) : 0;

	if (n)
		return n;
	return in->merge->over ? is_over(in) : in_turn(in);
}

struct weir__lane *weir__merge_lane_new(struct weir_in *in)
{
	const struct weir_allocator *allocator = weir__in_allocator(in);
	struct weir__merge_lane *lane = weir__alloc(allocator, sizeof(*lane));

	if (!lane)
		return NULL;
	if (weir__lane_init(&lane->lane, in->taker.mask, allocator) < 0) {
		weir__free(allocator, lane, sizeof(*lane));
		return NULL;
	}
	return &lane->lane;
}

void weir__merge_add(struct weir_in *in, struct weir__lane *lane)
{
	struct weir__merge_lane *merged = (struct weir__merge_lane *)lane;
	struct weir__merge *merge = in->merge;

	merged->next = merge->lanes;
	/* release: the lane's fields; pairs with the acquire in
	 * weir__merge_load() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&merge->lanes, merged);
	merge->n_open++;
	if (merge->n_open == 1 && merge->rule != WEIR_MERGE_OPEN)
		weir__merge_switch(in, lane);
}

void weir__merge_fini(struct weir_in *in)
{
	const struct weir_allocator *allocator = weir__in_allocator(in);
	struct weir__merge_lane *lane, *next;

	stash_fini(in);
	for (lane = in->merge->lanes; lane; lane = next) {
		next = lane->next;
		weir__lane_fini(&lane->lane, in->taker.mask, allocator);
		weir__free(allocator, lane, sizeof(*lane));
	}
	weir__free(allocator, in->merge, sizeof(*in->merge));
}
