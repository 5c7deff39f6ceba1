/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes with any number of producers, any thread: the put lane of an in-port.
 * By the claims of lane.h, and:
 *
 * M1  A producer reserves its slots by a swap of the tail word, so no two fill
 *     one slot; it fills them, and gives each its sequence number, the slot's
 *     index + 1. The consumer takes what is numbered without a gap.
 * M2  A sequence number stays until the head has passed its slot. The next one
 *     there differs, as it is a capacity further.
 * M3  Producers go by a copy of the head word, on the tail's line, until the
 *     ring looks full. An old copy only shows less room.
 * M4  The consumer remembers in the seen word how far it has found tokens, so
 *     that it looks at each once, however many wait:
 *
 *	0 <= (seen - head) mod 2^31 <= (tail - head) mod 2^31
 *
 * M5  The end bit is set in the tail word once, by whoever claims ENDING. A
 *     swap that comes later fails. So the end is behind all that was reserved
 *     before, and the consumer believes it when all of that is numbered.
 * M6  Shutting, once for all. The consumer
 *     1. sets the end bit in the tail word;
 *     2. sets SHUT in the lane's state, with the number of slots that it has
 *        not taken;
 *     3. passes a full fence;
 *     4. claims each of those slots, by a swap of its sequence number for GONE.
 *     A producer that has numbered its slots passes a full fence and reads the
 *     state; if SHUT is set it claims its slots by the same swap. The fences
 *     lie between write and read on both sides, so the consumer sees the
 *     sequence number, or the producer sees SHUT. Whichever wins the swap owns
 *     the token. A slot older than those that SHUT counts was taken before.
 */
#ifndef WEIR_LANE_MPSC_H
#define WEIR_LANE_MPSC_H

#include "base/fence.h"
#include "lane/lane.h"

/* A sequence number that no index has. */
#define WEIR__SEQ_GONE UINT32_MAX

/* As weir__lane_init(), for any number of producers. */
int weir__mpsc_init(struct weir__lane *lane, uint32_t mask,
		    const struct weir_allocator *allocator);
/* Also of a lane that has become an spsc lane. */
void weir__mpsc_fini(struct weir__lane *lane, uint32_t mask,
		     const struct weir_allocator *allocator);

/*
 * The lane is an spsc lane from now on, with the tokens that it holds. Nobody
 * puts meanwhile.
 */
void weir__mpsc_become_spsc(struct weir__lane *lane, uint32_t mask,
			    const struct weir_allocator *allocator);

/* For lanes' own files, and for tests. */

/* The seen word (M4), on the head's line; a lane with capacity 1 has none. */
static inline uint32_t *weir__mpsc_seen_at(const struct weir__lane *lane)
{
	return lane->words + WEIR__LINE_WORDS + 1;
}

/* The copy of the head word (M3). With capacity 1 it is the head
 * word itself. */
static inline uint32_t *weir__mpsc_head_copy_at(const struct weir__lane *lane)
{
	return lane->words + 1;
}

/* The sequence numbers, one for each slot. */
static inline uint32_t *weir__mpsc_seqs(struct weir__lane *lane, uint32_t mask)
{
	return mask ? lane->u.seqs : &lane->filled;
}

static inline uint32_t weir__mpsc_seq(uint32_t index)
{
	return (index + 1) & WEIR__INDEX_MASK;
}

/* --- Producers ---------------------------------------------------------- */

/*
 * Reads the head word, and renews its copy (M3), which was `copy`.
 */
uint32_t weir__mpsc_read_head(struct weir__lane *lane, uint32_t copy);

/*
 * Reserves the next `n` slots (M1): the index of the first, or a negative
 * errno. A thread that is held up before its swap for exactly a multiple of
 * 2^31 tokens, minutes at the least, would take the tail for the one it knew
 * and might overfill the ring; that is accepted, as a wider word would cost
 * each put.
 */
static inline int64_t weir__mpsc_reserve(struct weir__lane *lane, uint32_t mask,
					 uint32_t n)
{
	uint32_t *tail = weir__lane_tail_at(lane);
	uint32_t head = ck_pr_load_32(weir__mpsc_head_copy_at(lane));
	uint32_t word = ck_pr_load_32(tail), used;

	do {
		if (weir__tail_ended(word))
			return -EPIPE;
		/* A head beyond our tail: the tail is old, and the swap below
		 * fails and reads it anew. An old head shows less room, or
		 * none: of who put last we may know the tail and not the head
		 * that made room for it. */
		if (weir__index_diff(weir__tail_index(word), head) + n >
		    mask + 1) {
			head = weir__mpsc_read_head(lane, head);
			used = weir__index_diff(weir__tail_index(word), head);
			if (used <= WEIR__INDEX_MASK / 2 && used + n > mask + 1)
				return -EAGAIN;
		}
	} while (!ck_pr_cas_32_value(tail, word, word + WEIR__TAIL_ONE * n,
				     &word));
	/* acquire: the consumer is done with the slots before we fill them;
	 * pairs with the release of the consumer that publishes, or in
	 * weir__mpsc_read_head() */
	ck_pr_fence_acquire();
	return weir__tail_index(word);
}

/*
 * Puts all `n` items, or none: the index of the first slot, or -EAGAIN: full,
 * -EPIPE: ended. Linearises at the swap; lock-free, as a failed swap means
 * another's success. A full fence comes last (M6, and rule 2 of firing.c); the
 * caller asks weir__mpsc_is_shut() then.
 */
static inline int64_t weir__mpsc_push_n(struct weir__lane *lane, uint32_t mask,
					void *const *items, uint32_t n)
{
	struct weir__slot *slots = weir__lane_slots(lane);
	uint32_t *seqs = weir__mpsc_seqs(lane, mask), index, i;
	int64_t first = weir__mpsc_reserve(lane, mask, n);

	if (first < 0)
		return first;
	index = (uint32_t)first;
	for (i = 0; i < n; i++)
		slots[(index + i) & mask].item = items[i];
	/* release: the items before their sequence numbers; pairs with the
	 * acquires in weir__mpsc_available() and weir__mpsc_claim() */
	ck_pr_fence_release();
	for (i = 0; i < n; i++)
		ck_pr_store_32(&seqs[(index + i) & mask],
			       weir__mpsc_seq(index + i));
	/* store -> load; pairs with the fence in weir__mpsc_shut(), and with
	 * that of a consumer that arms (rule 2) */
	weir__fence_full();
	return first;
}

/* M6: the caller takes back what it has put. */
static inline bool weir__mpsc_is_shut(const struct weir__lane *lane)
{
	return weir__lane_has(lane, WEIR__LANE_SHUT);
}

/*
 * Of a lane that is shut, for each slot that weir__mpsc_push_n() has reserved.
 * True: *item is the caller's again. False: the consumer has it.
 */
bool weir__mpsc_take_back(struct weir__lane *lane, uint32_t mask,
			  uint32_t index, void **item);

/*
 * Ends the lane behind all that was put, with `error` (borrowed) or well
 * (NULL). False: it has ended before. The consumer is to be told.
 */
bool weir__mpsc_close(struct weir__lane *lane, struct weir_error *error);

/* weir__mpsc_close() has been called. No order. */
static inline bool weir__mpsc_closing(const struct weir__lane *lane)
{
	return weir__lane_has(lane, WEIR__LANE_ENDING);
}

/* --- The consumer ------------------------------------------------------- */

/*
 * Tokens available: those that are numbered without a gap. *ended: no more will
 * come. Until the lane is about to end nobody but producers touches the tail
 * word.
 */
static inline uint32_t weir__mpsc_available(struct weir__taker *taker,
					    struct weir__lane *lane,
					    bool *ended)
{
	uint32_t mask = taker->mask, head = taker->head, word = 0, n;
	uint32_t *seqs = weir__mpsc_seqs(lane, mask);
	uint32_t most = mask < WEIR__LOOK_MAX ? mask + 1 : WEIR__LOOK_MAX;

	/* M4; no order: the word is ours */
	n = mask ? weir__index_diff(*weir__mpsc_seen_at(lane), head)
		 : taker->limit - head;
	/* No order: a consumer that misses ENDING or the end bit looks again
	 * when it is told of the end. */
	if (WEIR_UNLIKELY(weir__mpsc_closing(lane)))
		word = ck_pr_load_32(weir__lane_tail_at(lane));
	assert(n <= mask + 1);
	taker->head &= WEIR__INDEX_MASK;
	taker->limit = taker->head + n;
	/* No order between the end and the sequence numbers: the end counts
	 * only if all tokens that it counts are numbered, and a sequence
	 * number that is seen too late means "not yet". */
	while (n < most && ck_pr_load_32(&seqs[taker->limit & mask]) ==
				   weir__mpsc_seq(taker->limit)) {
		taker->limit++;
		n++;
	}
	if (mask)
		*weir__mpsc_seen_at(lane) = taker->limit & WEIR__INDEX_MASK;
	/* acquire: the tokens and the error (M1, M5); pairs with the releases
	 * in weir__mpsc_push_n() and weir__mpsc_close() */
	ck_pr_fence_acquire();
	*ended = weir__tail_ended(word) &&
		 weir__index_diff(weir__tail_index(word), taker->limit) == 0;
	return n;
}

/* Whether weir__mpsc_available() would find a token. */
static inline bool weir__mpsc_holds(const struct weir__taker *taker,
				    struct weir__lane *lane)
{
	return ck_pr_load_32(&weir__mpsc_seqs(
		       lane, taker->mask)[taker->head & taker->mask]) ==
	       weir__mpsc_seq(taker->head);
}

/*
 * M6, steps 1 to 3. How many slots from the taker's head on the consumer is to
 * claim, by weir__mpsc_claim() of each; where that says true the token is the
 * consumer's. 0 of a lane that was shut before.
 */
uint32_t weir__mpsc_shut(const struct weir__taker *taker,
			 struct weir__lane *lane);
bool weir__mpsc_claim(struct weir__lane *lane, uint32_t mask, uint32_t index);

#endif
