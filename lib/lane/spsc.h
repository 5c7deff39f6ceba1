/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes with one producer: the lane of a link. By the claims of lane.h, and:
 *
 * S1  The producer alone stores the tail word, the consumer alone the head
 *     word. So each end knows its own word without a load that could be old.
 * S2  A token that is counted is there. The producer fills the slot, fences
 *     (release) and stores the tail word; the consumer loads the word, fences
 *     (acquire) and reads the slot.
 * S3  A slot is filled anew when its token was taken. The consumer reads the
 *     slot, fences (release) and stores the head word; the producer loads the
 *     word, fences (acquire) and fills the slot.
 * S4  The end is behind all tokens: it is stored with their number (L1), behind
 *     the error. That store is the producer's last touch of the lane, which its
 *     consumer may free once it has seen the end.
 * S5  Granted room. The room of a lane that is held is what its consumer has
 *     granted: the head word that the producer reads is (tokens granted -
 *     capacity), and what was taken is published in the word behind it. Since
 *     tokens granted and not taken are not more than the capacity, S3 holds.
 * S6  A consumer that wants no more sets CANCELLED. Tokens that are put until
 *     the producer has seen it are the consumer's to drop.
 */
#ifndef WEIR_LANE_SPSC_H
#define WEIR_LANE_SPSC_H

#include "lane/lane.h"

/* --- The consumer ------------------------------------------------------- */

/*
 * Lowers *n to the number of tokens that are available. False: the lane has
 * ended, or turns have taken more than there was; nothing has changed.
 */
static inline bool weir__spsc_look(struct weir__taker *taker,
				   const struct weir__lane *lane, uint32_t *n)
{
	/* A look begins anew in 31 bits, so that head < limit compares. */
	uint32_t head = taker->head, limit = taker->limit, word, available;

	word = ck_pr_load_32(weir__lane_tail_at(lane));
	/* acquire: the tokens (S2); pairs with the release of the producer that
	 * publishes */
	ck_pr_fence_acquire();
	if (WEIR_UNLIKELY(weir__tail_ended(word)) ||
	    WEIR_UNLIKELY(head != limit))
		return false;
	head &= WEIR__INDEX_MASK;
	available = weir__index_diff(weir__tail_index(word), head);
	assert(available <= taker->mask + 1);
	if (WEIR_UNLIKELY(available > WEIR__LOOK_MAX))
		available = WEIR__LOOK_MAX;
	if (available < *n)
		*n = available;
	if (available) {
		taker->head = head;
		taker->limit = head + available;
	}
	return true;
}

/*
 * Tokens available. *ended: no more will come. A look finds at most
 * WEIR__LOOK_MAX tokens, which is a burst at least; the next look finds the
 * rest, and the end too.
 */
static inline uint32_t weir__spsc_available(struct weir__taker *taker,
					    const struct weir__lane *lane,
					    bool *ended)
{
	uint32_t word = ck_pr_load_32(weir__lane_tail_at(lane)), n;

	/* acquire: the tokens, and the error if it has ended (S2, S4); pairs
	 * with the releases of the producer that publishes, and in
	 * weir__spsc_close() */
	ck_pr_fence_acquire();
	taker->head &= WEIR__INDEX_MASK;
	n = weir__index_diff(weir__tail_index(word), taker->head);
	assert(n <= taker->mask + 1);
	if (n > WEIR__LOOK_MAX)
		n = WEIR__LOOK_MAX;
	taker->limit = taker->head + n;
	*ended = weir__tail_ended(word);
	return n;
}

/* Whether weir__spsc_available() would find a token. */
static inline bool weir__spsc_holds(const struct weir__taker *taker,
				    const struct weir__lane *lane)
{
	return weir__index_diff(weir__lane_tail(lane), taker->head) != 0;
}

/*
 * S6. False: the producer has ended the lane, and does not look at it any more.
 * A true is to be told to the producer, behind a release fence.
 */
static inline bool weir__spsc_cancel(struct weir__lane *lane)
{
	if (weir__lane_ended(lane))
		return false;
	ck_pr_or_32(&lane->state, WEIR__LANE_CANCELLED);
	return true;
}

/*
 * S5. From now on the room is what is granted, none at first. With a capacity
 * of 2 or more, before anything is put.
 */
static inline void weir__spsc_hold(struct weir__taker *taker,
				   struct weir__lane *lane)
{
	assert(taker->mask && taker->head == 0);
	taker->head_at++;
	ck_pr_store_32(weir__lane_head_at(lane),
		       weir__index_diff(0, taker->mask + 1));
}

/*
 * Grants room for `n` more tokens. Those that were granted and not taken are
 * not more than the capacity, these included. The producer is to be woken.
 */
static inline void weir__spsc_grant(struct weir__lane *lane, uint32_t n)
{
	uint32_t *word = weir__lane_head_at(lane);

	/* release: done with the slots (S3); pairs with the acquire of the
	 * producer that reads the head */
	ck_pr_fence_release();
	ck_pr_store_32(word, (ck_pr_load_32(word) + n) & WEIR__INDEX_MASK);
}

/* Grants all room, once: the lane is one like any other from then on. */
static inline void weir__spsc_let_go(struct weir__taker *taker,
				     struct weir__lane *lane)
{
	taker->head_at--;
	weir__spsc_grant(lane, taker->mask + 1);
}

/* --- The producer ------------------------------------------------------- */

/*
 * The putter is of this lane from now on, behind the tokens that were put
 * before. Nobody else puts any more.
 */
static inline void weir__putter_init(struct weir__putter *putter,
				     struct weir__lane *lane, uint32_t mask)
{
	putter->lane = lane;
	putter->words = lane->words;
	putter->head_at = (uint16_t)(weir__lane_head_at(lane) - lane->words);
	putter->slots = weir__lane_slots(lane);
	putter->mask = mask;
	putter->tail = weir__lane_tail(lane);
	putter->limit = putter->tail;
}

/* The free slots. */
static inline uint32_t weir__putter_room(const struct weir__putter *putter)
{
	uint32_t room = putter->mask + 1, n;

	n = weir__index_diff(putter->tail,
			     ck_pr_load_32(putter->words + putter->head_at));
	/* acquire: the consumer is done with the slots (S3); pairs with the
	 * release of the consumer that publishes */
	ck_pr_fence_acquire();
	assert(n <= room);
	return room - n;
}

/* As weir__spsc_look(); it never fails. */
static inline void weir__putter_look(struct weir__putter *putter, uint32_t *n)
{
	uint32_t room = weir__putter_room(putter);

	putter->limit = putter->tail + room;
	if (room < *n)
		*n = room;
}

/* Tokens that are published by the next weir__putter_publish(). */
static inline uint32_t weir__putter_unpublished(
	const struct weir__putter *putter)
{
	/* no order: the producer alone writes this word (S1) */
	return weir__index_diff(putter->tail,
				weir__tail_index(ck_pr_load_32(putter->words)));
}

/* Puts `n` items that there is room for. */
static inline void weir__putter_push_n(struct weir__putter *putter,
				       void *const *items, size_t n)
{
	size_t at = putter->tail & putter->mask;
	size_t first = putter->mask + (size_t)1 - at;

	if (first > n)
		first = n;
	memcpy(&putter->slots[at], items, first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(putter->slots, items + first,
		       (n - first) * sizeof(*items));
	putter->tail += (uint32_t)n;
}

/* The same from slots. */
static inline void weir__putter_push_slots(struct weir__putter *putter,
					   const struct weir__slot *from,
					   uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		putter->slots[putter->tail++ & putter->mask] = from[i];
	assert(weir__putter_unpublished(putter) <= putter->mask + 1);
}

/*
 * The next slots, which the caller fills, for at most *n items that there is
 * room for; lowers *n to those that are without a gap. weir__putter_filled()
 * tells how many were filled.
 */
static inline void **weir__putter_span(const struct weir__putter *putter,
				       size_t *n)
{
	size_t at = putter->tail & putter->mask;
	size_t first = putter->mask + (size_t)1 - at;

	if (first < *n)
		*n = first;
	return &putter->slots[at].item;
}

static inline void weir__putter_filled(struct weir__putter *putter, size_t n)
{
	putter->tail += (uint32_t)n;
}

/*
 * Stores the tail word; the caller has fenced (release). How many tokens were
 * put since the last time.
 */
static inline uint32_t weir__putter_publish(struct weir__putter *putter)
{
	uint32_t n = weir__putter_unpublished(putter);

	putter->limit = putter->tail;
	if (n)
		ck_pr_store_32(putter->words,
			       weir__tail_word(putter->tail, false));
	return n;
}

/* S6. Behind the signal that tells of it. */
static inline bool weir__putter_cancelled(const struct weir__putter *putter)
{
	return weir__lane_has(putter->lane, WEIR__LANE_CANCELLED);
}

/*
 * S4. Ends the lane behind all that was put, with `error` (borrowed) or well
 * (NULL). The consumer is to be told.
 */
static inline void weir__spsc_close(const struct weir__putter *putter,
				    struct weir_error *error)
{
	uint32_t *word = putter->words;

	putter->lane->error = weir_error_ref(error);
	/* release: the tokens and the error before the end; pairs with the
	 * acquires in weir__spsc_available() and weir__lane_failed() */
	ck_pr_fence_release();
	ck_pr_store_32(word, weir__tail_word(putter->tail, true));
}

#endif
