/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Put lanes: how tokens get into an in-port from any thread, without a link.
 * The invariants stand in in.h, with the functions for who puts. Here is what
 * in.c, the consumer, needs: its looks in line, as there is one for each run.
 */
#ifndef WEIR_ACTOR_PUT_H
#define WEIR_ACTOR_PUT_H

#include <assert.h>
#include <stdbool.h>

#include <ck_pr.h>

#include "actor/in.h"

/* One a slot: weir__put_mark() of the token that it was filled with last. */
static inline uint32_t *weir__put_marks(struct weir_in *in)
{
	return in->mask ? in->lane.u.marks : &in->lane.filled;
}

static inline uint32_t weir__put_mark(uint32_t index)
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
 * Tokens that are certain: what is marked without a gap; *ended when no more
 * will come. The tail word is the producers' alone until the lane is about to
 * end. Owner; the lane is the current one.
 */
static inline uint32_t weir__put_look(struct weir_in *in, bool *ended)
{
	uint32_t word = 0, *marks = weir__put_marks(in),
		 n = weir__put_found(in);
	uint32_t most = in->mask < WEIR__LOOK_MAX ? in->mask + 1
						  : WEIR__LOOK_MAX;

	/* No order: who misses either looks again when the signal of
	 * weir__in_end() comes. */
	if (WEIR_UNLIKELY(ck_pr_load_32(&in->lane.state) & WEIR__LANE_ENDING))
		word = ck_pr_load_32(weir__lane_tail(&in->lane));
	assert(n <= in->mask + 1);
	in->head &= WEIR__INDEX_MASK;
	in->limit = in->head + n;
	/* No order between the end and the marks: it is the end only if all that
	 * it counts is marked, and marks seen too late mean "not yet". */
	while (n < most && ck_pr_load_32(&marks[in->limit & in->mask]) ==
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

/* Whether that would find a token. Owner; the lane is the current one. */
static inline bool weir__put_holds(struct weir_in *in)
{
	return ck_pr_load_32(&weir__put_marks(in)[in->head & in->mask]) ==
	       weir__put_mark(in->head);
}

/*
 * The marks of a lane that is set up; a link does without. 0 or -ENOMEM. Owner,
 * or the last reference.
 */
int weir__put_init(struct weir_in *in);
void weir__put_fini(struct weir_in *in);

/*
 * Shuts the lane, which is the current one, and drops what it holds, how many;
 * `dead`: the actor has ended. What is reserved and not marked is its
 * producer's. The head is yet to be published. Owner.
 */
uint64_t weir__put_shut(struct weir_in *in, bool dead);

#endif
