/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Put lanes: how tokens get into an in-port from any thread, without a link.
 * Their invariants are in in.h, with the functions that put. This header is for
 * in.c, the consumer, which looks at a put lane in line, once for each run.
 */
#ifndef WEIR_ACTOR_PUT_H
#define WEIR_ACTOR_PUT_H

#include <assert.h>
#include <stdbool.h>

#include <ck_pr.h>

#include "actor/in.h"

/*
 * One sequence number for each slot: weir__put_seq() of the last token that
 * filled it.
 */
static inline uint32_t *weir__put_seqs(struct weir_in *in)
{
	return in->mask ? in->lane.u.seqs : &in->lane.filled;
}

static inline uint32_t weir__put_seq(uint32_t index)
{
	return (index + 1) & WEIR__INDEX_MASK;
}

/* Tokens of the put lane that an earlier look has found. */
static inline uint32_t weir__put_found(const struct weir_in *in)
{
	/* no order: the word is ours */
	return in->mask
		       ? weir__index_diff(*weir__lane_seen(&in->lane), in->head)
		       : in->limit - in->head;
}

/*
 * Tokens that are available: those that are numbered without a gap. *ended: no
 * more will come. Until the lane is about to end nobody but producers touches
 * the tail word. Owner; the lane is the current one.
 */
static inline uint32_t weir__put_look(struct weir_in *in, bool *ended)
{
	uint32_t word = 0, *seqs = weir__put_seqs(in), n = weir__put_found(in);
	uint32_t most = in->mask < WEIR__LOOK_MAX ? in->mask + 1
						  : WEIR__LOOK_MAX;

	/* No order: a consumer that misses ENDING or the end bit looks again
	 * when the signal of weir__in_end() comes. */
	if (WEIR_UNLIKELY(ck_pr_load_32(&in->lane.state) & WEIR__LANE_ENDING))
		word = ck_pr_load_32(weir__lane_tail(&in->lane));
	assert(n <= in->mask + 1);
	in->head &= WEIR__INDEX_MASK;
	in->limit = in->head + n;
	/* No order between the end and the sequence numbers: the end counts
	 * only if all tokens that it counts are numbered, and a sequence
	 * number that is seen too late means "not yet". */
	while (n < most && ck_pr_load_32(&seqs[in->limit & in->mask]) ==
				   ((in->limit + 1) & WEIR__INDEX_MASK)) {
		in->limit++;
		n++;
	}
	if (in->mask)
		*weir__lane_seen(&in->lane) = in->limit & WEIR__INDEX_MASK;
	/* acquire: the tokens and the error; pairs with the releases in
	 * weir_in_put() and weir__in_end() */
	ck_pr_fence_acquire();
	*ended = (word & 1) && weir__index_diff(word >> 1, in->limit) == 0;
	return n;
}

/*
 * True if weir__put_look() would find a token. Owner; the lane is the current
 * one.
 */
static inline bool weir__put_holds(struct weir_in *in)
{
	return ck_pr_load_32(&weir__put_seqs(in)[in->head & in->mask]) ==
	       weir__put_seq(in->head);
}

/*
 * Makes the sequence numbers of a lane that is set up; a link's lane has none.
 * 0 or -ENOMEM. Owner, or the last reference.
 */
int weir__put_init(struct weir_in *in);
void weir__put_fini(struct weir_in *in);

/*
 * Shuts the lane, which is the current one, and drops the tokens that it holds;
 * returns how many. `dead`: the actor has ended. A token whose slot is reserved
 * and not numbered stays its producer's. The caller publishes the head. Owner.
 */
uint64_t weir__put_shut(struct weir_in *in, bool dead);

#endif
