/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes: rings through which tokens, and the end of their stream, get to one
 * consumer. An spsc lane (spsc.h) has one producer, an mpsc lane (mpsc.h) any
 * number of them. Both are one struct over the same memory, so that a lane can
 * become an spsc lane while it holds tokens. What both rely on:
 *
 * L1  The tail word is 2 * (tokens put) + ended. One load tells how many tokens
 *     there are and whether that was all; so the end is behind the tokens by
 *     construction, and needs no room. Only this file knows the format.
 * L2  The head word counts tokens taken. Both run freely over 31 bits:
 *
 *	0 <= (tail - head) mod 2^31 <= capacity
 *
 *     It holds because each end reads the other's word late at worst: a
 *     producer that has an old head sees less room, a consumer that has an old
 *     tail sees fewer tokens.
 * L3  The consumer goes by a cursor of its own (struct weir__taker), a producer
 *     of an spsc lane likewise (struct weir__putter). Cursors are plain memory.
 *     Between two looks a cursor moves up to its limit, and no word is touched.
 * L4  A word is stored behind a release fence, and what a load of it has told
 *     is used behind an acquire fence. The functions that publish leave the
 *     fence to the caller, which makes one for all its lanes.
 * L5  The tail word and the head word live on a cache line each, in the ring's
 *     memory, or, with capacity 1, in the lane itself.
 *
 * The lane belongs to its consumer, with the ring's memory. Whoever else
 * touches it keeps the consumer there.
 */
#ifndef WEIR_LANE_LANE_H
#define WEIR_LANE_LANE_H

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <weir/in.h>
#include <weir/out.h>

#include <ck_pr.h>

#include "base/memory.h"

/*
 * Most tokens that a look finds. taker->peeked has 16 bits: it tells the tokens
 * of a run apart as long as a run has fewer than WEIR__PEEKED of them.
 */
#define WEIR__LOOK_MAX (WEIR__PEEKED - 1)
_Static_assert(WEIR_BURST_MAX <= WEIR__LOOK_MAX, "a look finds any burst");

/* lane->state, atomic. */
enum {
	WEIR__LANE_CANCELLED = 1u << 0, /* of an spsc lane, by its consumer */
	/* Of an mpsc lane, see mpsc.h. ENDING: an end is claimed. */
	WEIR__LANE_ENDING = 1u << 1,
	WEIR__LANE_SHUT = 1u << 2,
	/* Four bits from here on are the in-port's. */
	WEIR__LANE_PORT = 1u << 3,
	/* With SHUT, from this bit on: how many slots before the tail the
	 * consumer has not taken. */
	WEIR__LANE_LEFT = 7,
};
_Static_assert(WEIR_CAPACITY_MAX < 1u << (32 - WEIR__LANE_LEFT),
	       "the state has room for the slots that are left");

/* --- Indices and words -------------------------------------------------- */

#define WEIR__INDEX_MASK 0x7fffffffu

/* Tokens between two indices. */
static inline uint32_t weir__index_diff(uint32_t later, uint32_t earlier)
{
	return (later - earlier) & WEIR__INDEX_MASK;
}

/* L1. */
static inline uint32_t weir__tail_word(uint32_t index, bool ended)
{
	return index << 1 | ended;
}

static inline uint32_t weir__tail_index(uint32_t word)
{
	return word >> 1;
}

static inline bool weir__tail_ended(uint32_t word)
{
	return word & 1;
}

#define WEIR__TAIL_ENDED 1u /* to be set in any tail word */
#define WEIR__TAIL_ONE 2u   /* to be added for a token */

/* Where the words are. For lanes' own files, and for tests. */
#define WEIR__LINE_WORDS (WEIR__LINE / sizeof(uint32_t))

static inline uint32_t *weir__lane_tail_at(const struct weir__lane *lane)
{
	return lane->words;
}

static inline uint32_t *weir__lane_head_at(const struct weir__lane *lane)
{
	return lane->words + (lane->words == lane->own ? 1 : WEIR__LINE_WORDS);
}

static inline struct weir__slot *weir__lane_slots(struct weir__lane *lane)
{
	if (lane->words == lane->own)
		return &lane->u.slot;
	return (struct weir__slot *)(void *)(lane->words +
					     2 * WEIR__LINE_WORDS);
}

/* The lane as anybody sees it. No order. */

static inline uint32_t weir__lane_tail(const struct weir__lane *lane)
{
	return weir__tail_index(ck_pr_load_32(weir__lane_tail_at(lane)));
}

static inline uint32_t weir__lane_head(const struct weir__lane *lane)
{
	return ck_pr_load_32(weir__lane_head_at(lane));
}

static inline bool weir__lane_ended(const struct weir__lane *lane)
{
	return weir__tail_ended(ck_pr_load_32(weir__lane_tail_at(lane)));
}

/* A token was put there, or it has ended. */
static inline bool weir__lane_used(const struct weir__lane *lane)
{
	return ck_pr_load_32(weir__lane_tail_at(lane)) != 0;
}

/* Some of these bits are set in the state. */
static inline bool weir__lane_has(const struct weir__lane *lane, uint32_t bits)
{
	return (ck_pr_load_32(&lane->state) & bits) != 0;
}

/*
 * The error that the lane has ended with, maybe behind tokens that were not
 * taken; or NULL. Borrowed. The consumer.
 */
static inline struct weir_error *weir__lane_failed(
	const struct weir__lane *lane)
{
	bool ended = weir__lane_ended(lane);

	/* acquire: the error; pairs with the releases in weir__spsc_close() and
	 * weir__mpsc_close() */
	ck_pr_fence_acquire();
	return ended ? lane->error : NULL;
}

/* --- Life --------------------------------------------------------------- */

/*
 * weir__lane_init() sets up an empty lane of `mask` + 1 slots for one producer.
 * -ENOMEM; then nothing is held. weir__lane_fini() frees the ring and drops the
 * error, when nobody else holds the lane; the items are the caller's to drop.
 */
int weir__lane_init(struct weir__lane *lane, uint32_t mask,
		    const struct weir_allocator *allocator);
void weir__lane_fini(struct weir__lane *lane, uint32_t mask,
		     const struct weir_allocator *allocator);

/* --- The consumer's cursor ---------------------------------------------- */

/*
 * The taker is of this lane from now on, and holds nothing. `taker->mask` and
 * `head_at` stand.
 */
static inline void weir__taker_turn(struct weir__taker *taker,
				    struct weir__lane *lane)
{
	taker->head = weir__lane_head(lane);
	taker->limit = taker->head;
	taker->slots = weir__lane_slots(lane);
}

/* Of a lane with capacity `mask` + 1. */
static inline void weir__taker_init(struct weir__taker *taker,
				    struct weir__lane *lane, uint32_t mask)
{
	taker->mask = mask;
	taker->head_at = (uint8_t)(weir__lane_head_at(lane) - lane->words);
	weir__taker_turn(taker, lane);
}

/* Turns have taken more than there was. */
static inline bool weir__taker_overtaken(const struct weir__taker *taker)
{
	return taker->head > taker->limit;
}

/* The first token that was not taken. */
static inline uint32_t weir__taker_at(const struct weir__taker *taker)
{
	return weir__taker_overtaken(taker) ? taker->limit : taker->head;
}

static inline void *weir__taker_item(const struct weir__taker *taker,
				     uint32_t index)
{
	return taker->slots[index & taker->mask].item;
}

/*
 * Stores the head word, for producers; the caller has fenced (release). How
 * many tokens have been taken since the last time.
 */
static inline uint32_t weir__taker_publish(const struct weir__taker *taker,
					   const struct weir__lane *lane)
{
	uint32_t *word = lane->words + taker->head_at;
	uint32_t head = taker->head & WEIR__INDEX_MASK, n;

	n = weir__index_diff(head, ck_pr_load_32(word));
	if (n)
		ck_pr_store_32(word, head);
	return n;
}

#define WEIR__POP_FEW 16u

/* Two items, as one store. */
typedef uintptr_t weir__pair __attribute__((
	vector_size(2 * sizeof(void *)), aligned(sizeof(void *)), may_alias));

/*
 * Takes `n` items that are available. Some items may have been put a moment
 * ago, and are used a moment later. A load waits until all its bytes are in the
 * cache, unless a single store under way has all of them: so items are loaded
 * one by one (volatile: the compiler does not join them), as they may have been
 * stored, and stored in pairs, for loops that take two at a time.
 */
static inline void weir__taker_pop_n(struct weir__taker *taker, void **items,
				     size_t n)
{
	size_t at = taker->head & taker->mask, i;
	size_t first = taker->mask + (size_t)1 - at;
	const volatile struct weir__slot *slots = &taker->slots[at];

	taker->head += (uint32_t)n;
	if (n <= WEIR__POP_FEW && n <= first) {
		for (i = 0; i + 1 < n; i += 2)
			*(weir__pair *)(void *)&items[i] =
				(weir__pair){(uintptr_t)slots[i].item,
					     (uintptr_t)slots[i + 1].item};
		if (i < n)
			items[i] = slots[i].item;
		return;
	}
	if (first > n)
		first = n;
	memcpy(items, &taker->slots[at], first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(items + first, taker->slots,
		       (n - first) * sizeof(*items));
}

#endif
