/* SPDX-License-Identifier: BSD-2-Clause */
/* What is rare with an mpsc lane: setting it up, ending it, shutting it. */
#include "lane/mpsc.h"

#include <errno.h>

static size_t seqs_size(uint32_t mask)
{
	return ((size_t)mask + 1) * sizeof(uint32_t);
}

int weir__mpsc_init(struct weir__lane *lane, uint32_t mask,
		    const struct weir_allocator *allocator)
{
	int rc = weir__lane_init(lane, mask, allocator);

	if (rc < 0 || !mask)
		return rc;
	lane->u.seqs = weir__alloc_lines(allocator, seqs_size(mask));
	if (lane->u.seqs)
		return 0;
	weir__lane_fini(lane, mask, allocator);
	lane->words = NULL;
	return -ENOMEM;
}

void weir__mpsc_become_spsc(struct weir__lane *lane, uint32_t mask,
			    const struct weir_allocator *allocator)
{
	if (!mask)
		return;
	weir__free_lines(allocator, lane->u.seqs, seqs_size(mask));
	lane->u.seqs = NULL;
}

void weir__mpsc_fini(struct weir__lane *lane, uint32_t mask,
		     const struct weir_allocator *allocator)
{
	weir__mpsc_become_spsc(lane, mask, allocator);
	weir__lane_fini(lane, mask, allocator);
}

uint32_t weir__mpsc_read_head(struct weir__lane *lane, uint32_t copy)
{
	uint32_t head = weir__lane_head(lane);

	/* acquire: the consumer is done with the slots; pairs with the release
	 * of the consumer that publishes. release: hands this on to those who
	 * read the copy; pairs with the acquire in weir__mpsc_reserve() */
	ck_pr_fence_acqrel();
	/* By a swap: with a plain store, a thread that is held up here while
	 * 2^31 more tokens pass would store a copy that is wrong. */
	if (head != copy)
		(void)ck_pr_cas_32(weir__mpsc_head_copy_at(lane), copy, head);
	return head;
}

bool weir__mpsc_claim(struct weir__lane *lane, uint32_t mask, uint32_t index)
{
	uint32_t *seq = &weir__mpsc_seqs(lane, mask)[index & mask];

	if (ck_pr_load_32(seq) != weir__mpsc_seq(index) ||
	    !ck_pr_cas_32(seq, weir__mpsc_seq(index), WEIR__SEQ_GONE))
		return false;
	/* acquire: the token; pairs with the release in weir__mpsc_push_n() */
	ck_pr_fence_acquire();
	return true;
}

bool weir__mpsc_take_back(struct weir__lane *lane, uint32_t mask,
			  uint32_t index, void **item)
{
	uint32_t left = ck_pr_load_32(&lane->state) >> WEIR__LANE_LEFT;
	uint32_t first;

	/* acquire: the last tail; pairs with the release in
	 * weir__mpsc_shut() */
	ck_pr_fence_acquire();
	first = weir__lane_tail(lane) - left;
	/* slots before `first` were taken while the lane was open */
	if (weir__index_diff(index, first) > mask ||
	    !weir__mpsc_claim(lane, mask, index))
		return false;
	*item = weir__lane_slots(lane)[index & mask].item;
	return true;
}

bool weir__mpsc_close(struct weir__lane *lane, struct weir_error *error)
{
	uint32_t state;

	/* Claimed by a swap: the first end counts (M5). */
	do {
		state = ck_pr_load_32(&lane->state);
		if (state & WEIR__LANE_ENDING)
			return false;
	} while (!ck_pr_cas_32(&lane->state, state, state | WEIR__LANE_ENDING));
	lane->error = weir_error_ref(error);
	/* release: the error before the end; pairs with the acquires in
	 * weir__mpsc_available() and weir__lane_failed() */
	ck_pr_fence_release();
	ck_pr_or_32(weir__lane_tail_at(lane), WEIR__TAIL_ENDED);
	return true;
}

uint32_t weir__mpsc_shut(const struct weir__taker *taker,
			 struct weir__lane *lane)
{
	uint32_t n;

	/* no order: the consumer itself has set it */
	if (weir__mpsc_is_shut(lane))
		return 0;
	ck_pr_or_32(weir__lane_tail_at(lane), WEIR__TAIL_ENDED);
	n = weir__index_diff(weir__lane_tail(lane), taker->head);
	assert(n <= taker->mask + 1);
	/* release: the tail before SHUT; pairs with the acquire in
	 * weir__mpsc_take_back() */
	ck_pr_fence_release();
	ck_pr_or_32(&lane->state, WEIR__LANE_SHUT | n << WEIR__LANE_LEFT);
	/* swap -> load; pairs with the fence in weir__mpsc_push_n() */
	ck_pr_fence_atomic_load();
	return n;
}
