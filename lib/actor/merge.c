/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-ports with several producers: a lane for each link, and which lane is
 * taken from next.
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
	*link = gone->next;
	if (in->merge->current == &in->lane && in->merge->lanes)
		weir__merge_switch(in, next_lane(in, &in->lane));
	weir__in_unlink(lane);
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

/*
 * Takes tokens from the lanes in turn: each look that follows a run goes on
 * from the lane that was served to the next lane that has tokens.
 */
uint32_t weir__merge_available(struct weir_in *in)
{
	struct weir__lane *lane = in->merge->current;
	uint32_t left = n_lanes(in), n;
	bool ended;

	if (in->merge->served)
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
			return weir__in_at_end(in, 0);
		lane = ended ? in->merge->current : next_lane(in, lane);
	}
	return 0;
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
	merge->lanes = merged;
	merge->n_open++;
	if (merge->n_open == 1 && merge->rule != WEIR_MERGE_OPEN)
		weir__merge_switch(in, lane);
}

void weir__merge_fini(struct weir_in *in)
{
	const struct weir_allocator *allocator = weir__in_allocator(in);
	struct weir__merge_lane *lane, *next;

	for (lane = in->merge->lanes; lane; lane = next) {
		next = lane->next;
		weir__lane_fini(&lane->lane, in->taker.mask, allocator);
		weir__free(allocator, lane, sizeof(*lane));
	}
	weir__free(allocator, in->merge, sizeof(*in->merge));
}
