/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes: how tokens and the end of a stream get from one producer into an
 * in-port.
 *
 * A lane is a ring. words[0], the tail word, is 2 * (tokens put) + ended: one
 * load tells how many tokens there are and whether that was all, so the end is
 * behind the tokens by construction. The head word counts tokens taken. Both
 * run freely over 31 bits:
 *
 *	0 <= (tail - head) mod 2^31 <= capacity
 *
 * A link's lane has one producer, which stores the tail word. A put lane
 * (weir_in_put) has many producers. A producer reserves a slot by a swap of the
 * tail word, fills the slot, and gives it its sequence number, the slot's
 * number + 1. The consumer takes what is numbered without a gap. Producers go
 * by a copy of the head word until the ring looks full. The consumer remembers
 * in the seen word how far it has found them, so that it looks at each once,
 * however many tokens wait:
 *
 *	0 <= (seen - head) mod 2^31 <= (tail - head) mod 2^31
 *
 * A sequence number stays until the head has passed its slot.
 *
 * Shutting a put lane, once for all. The consumer
 * 1. sets the end bit in the tail word;
 * 2. sets SHUT in the lane's state, with the number of slots that it has not
 *    taken;
 * 3. passes a full fence;
 * 4. claims each of those slots, by a swap of its sequence number for GONE.
 *
 * A producer that has numbered its slot passes a full fence and reads the
 * state; if SHUT is set it claims its slot by the same swap. The fences lie
 * between write and read on both sides, so the consumer sees the sequence
 * number, or the producer sees SHUT. Whichever wins the swap owns the token:
 * the consumer drops it, or the producer gets -EPIPE, as if the lane had ended
 * before its put. A slot older than those that SHUT counts was taken before.
 *
 * The tail word and the head word live on a cache line each, in the ring's
 * memory, or, with capacity 1, in the lane itself. The lane belongs to the
 * in-port; a linked producer may touch it as long as it holds its reference on
 * the consumer.
 */
#ifndef WEIR_ACTOR_IN_H
#define WEIR_ACTOR_IN_H

#include <assert.h>
#include <stdbool.h>

#include <weir/in.h>

#include <ck_pr.h>

#include "actor/stats.h"
#include "base/memory.h"

#define WEIR__INDEX_MASK 0x7fffffffu
#define WEIR__LINE_WORDS (WEIR__LINE / sizeof(uint32_t))

/*
 * Most tokens that a look finds. in->peeked has 16 bits: it tells the tokens of
 * a run apart as long as a run has fewer than WEIR__PEEKED of them.
 */
#define WEIR__LOOK_MAX (WEIR__PEEKED - 1)
_Static_assert(WEIR_BURST_MAX <= WEIR__LOOK_MAX, "a look finds any burst");

/* lane->state, atomic. */
enum {
	WEIR__LANE_CANCELLED = 1u << 0, /* set by the consumer, signals */
	WEIR__LANE_ENDING = 1u << 1,	/* claimed: a put lane ends once */
	/* In the state of the in-port's own lane, on behalf of all its lanes;
	 * the owner alone sets it. A turn has taken none of the last tokens,
	 * which are fewer than a burst. */
	WEIR__LANE_LEFT_TAIL = 1u << 2,
	/* Likewise. TOLD_END: ops->ended has run. TELL_END: it is to run once
	 * more, because the actor has begun anew since. */
	WEIR__LANE_TOLD_END = 1u << 3,
	WEIR__LANE_TELL_END = 1u << 4,
	/* Of a put lane: the consumer has shut it, see above. */
	WEIR__LANE_SHUT = 1u << 5,
	/* Likewise for all lanes: see weir__in_free_ended(). */
	WEIR__LANE_FREES_ENDED = 1u << 6,
	/* With SHUT, from this bit on: how many slots before the tail the
	 * consumer has not taken. */
	WEIR__LANE_LEFT = 7,
};
_Static_assert(WEIR_CAPACITY_MAX < 1u << (32 - WEIR__LANE_LEFT),
	       "the state has room for the slots that are left");

/* A sequence number that no index has. */
#define WEIR__SEQ_GONE UINT32_MAX

/* in->lane_flags. WEIR__IN_LINKED also tells puts to go away. */
enum {
	WEIR__IN_LINKED = 1u << 0,
	/* A subscriber feeds the port, by weir__in_put() and weir__in_end(). */
	WEIR__IN_SUBSCRIBES = 1u << 1,
};

/* A merging in-port's lanes other than its own, and which lane is next. */
struct weir__merge {
	enum weir_merge rule;
	struct weir__merge_lane *lanes; /* circular, or NULL */
	struct weir__lane *current;	/* that in->head and slots are of */
	uint32_t n_open;		/* lanes that have not ended */
	uint32_t taken; /* tokens that have left a lane, freely running */
	bool served;	/* the current one, since the look */
};

struct weir__merge_lane {
	struct weir__lane lane;
	struct weir__merge_lane *next;
};

static inline uint32_t *weir__lane_tail(const struct weir__lane *lane)
{
	return lane->words;
}

static inline uint32_t *weir__lane_head(const struct weir__lane *lane)
{
	return lane->words + (lane->words == lane->own ? 1 : WEIR__LINE_WORDS);
}

/*
 * The copy of a put lane's head word that its producers go by, on the tail's
 * line. With capacity 1 it is the head word itself.
 */
static inline uint32_t *weir__lane_head_copy(const struct weir__lane *lane)
{
	return lane->words + 1;
}

/* The seen word, on the head's line; a lane of capacity 1 has none. Owner. */
static inline uint32_t *weir__lane_seen(const struct weir__lane *lane)
{
	return lane->words + WEIR__LINE_WORDS + 1;
}

static inline struct weir__slot *weir__lane_slots(struct weir__lane *lane)
{
	if (lane->words == lane->own)
		return &lane->u.slot;
	return (struct weir__slot *)(void *)(lane->words +
					     2 * WEIR__LINE_WORDS);
}

/*
 * The error that a link into an in-port which does not merge has ended with,
 * maybe behind tokens that were not taken; or NULL. Borrowed. Owner.
 */
static inline struct weir_error *weir__in_failed(const struct weir_in *in)
{
	uint32_t word = ck_pr_load_32(weir__lane_tail(&in->lane));

	/* acquire: the error; pairs with the release in end_lane() */
	ck_pr_fence_acquire();
	return word & 1 ? in->lane.error : NULL;
}

/*
 * True if turns with these bursts at the two ends of a link into `in` cannot
 * block each other: while there are too few tokens for the consumer's burst
 * there is always room for the producer's (test/model/burst.pml).
 */
static inline bool weir__bursts_fit(uint32_t out_burst, uint32_t in_burst,
				    const struct weir_in *in)
{
	return out_burst + in_burst - 1 <= in->mask + 1;
}

/* Tokens between two indices of a lane. */
static inline uint32_t weir__index_diff(uint32_t later, uint32_t earlier)
{
	return (later - earlier) & WEIR__INDEX_MASK;
}

/*
 * What a slice asks of an in-port with one link, in line: *n becomes the number
 * of available tokens if that is less. False: the link has ended, or turns have
 * taken more than there was; the slice is to ask the port's ops.
 */
static inline bool weir__in_look(struct weir_in *in, uint32_t *n)
{
	/* A look begins anew in 31 bits, so that head < limit compares. */
	uint32_t head = in->head, limit = in->limit, word, available;

	word = ck_pr_load_32(in->lane.words);
	/* acquire: the tokens; pairs with the release in publish() */
	ck_pr_fence_acquire();
	if (WEIR_UNLIKELY(word & 1) || WEIR_UNLIKELY(head != limit))
		return false;
	head &= WEIR__INDEX_MASK;
	available = weir__index_diff(word >> 1, head);
	assert(available <= in->mask + 1);
	if (WEIR_UNLIKELY(available > WEIR__LOOK_MAX))
		available = WEIR__LOOK_MAX;
	if (available < *n)
		*n = available;
	if (available) {
		in->head = head;
		in->limit = head + available;
	}
	return true;
}

/* Turns have taken more than there was. */
static inline bool weir__in_overtaken(const struct weir_in *in)
{
	return in->head > in->limit;
}

/* Publishes what was taken from a port with one link; how many tokens. */
static inline uint32_t weir__in_publish(struct weir_in *in)
{
	uint32_t *word = in->lane.words + in->head_at, head = in->head, n;

	in->limit = head;
	in->peeked = (uint16_t)head; /* none: the turns did not fail */
	head &= WEIR__INDEX_MASK;
	n = weir__index_diff(head, ck_pr_load_32(word));
	if (n)
		ck_pr_store_32(word, head);
	return n;
}

/*
 * weir_in_peek() in two steps, for a turn that notes only tokens that it
 * leaves: weir__in_first() returns the token, weir__in_left() notes that it
 * stays.
 */
static inline void *weir__in_first(struct weir_in *in)
{
	if (WEIR_UNLIKELY(in->head >= in->limit)) {
		in->head = in->limit + 1;
		return NULL;
	}
	return in->slots[in->head & in->mask].item;
}

static inline void weir__in_left(struct weir_in *in)
{
	in->peeked = (uint16_t)(in->head ^ WEIR__PEEKED);
}

static inline void weir__in_drop_token(struct weir_in *in, void *item)
{
	if (in->items && in->items->drop)
		in->items->drop(item, in->items->context);
}

/*
 * Drops a token of the current lane that nobody has taken; `dead`: the actor
 * has ended. Owner, or the last reference.
 */
void weir__in_drop_unread(struct weir_in *in, uint32_t index, bool dead);

/*
 * A turn has failed: the token that it has peeked at and not consumed, if any,
 * is dropped. Before the next look at the port. Owner.
 */
void weir__in_drop_peeked(struct weir_in *in);

/*
 * Tokens that are queued now; with puts, also those under way. Owner.
 */
uint64_t weir__in_queued(const struct weir_in *in);

/*
 * The stream of an out-port of `producer` has ended here, but the tokens before
 * the end, or the end, have not been taken. Owner.
 */
bool weir__in_holds_from(const struct weir_in *in,
			 const struct weir_actor *producer);

/*
 * The actor begins anew. If it was told that this stream has ended (and has not
 * cancelled the stream), weir__in_end_unheard() notes that it is to be told
 * again, and weir__in_tell_end() does so. Owner.
 */
void weir__in_end_unheard(struct weir_in *in);
void weir__in_tell_end(struct weir_in *in);

/*
 * From now on the in-port lets go of a producer as soon as it hears that the
 * producer's stream has ended, and not only when the end is taken, which lies
 * behind the tokens. Any thread that holds the actor.
 */
void weir__in_free_ended(struct weir_in *in);

/* 0, or why no link can be made into `in`: -EISCONN, -EPIPE. Owner. */
int weir__in_check_lane(const struct weir_in *in);

/*
 * A lane for a link that was checked: its own, or a new one when it merges;
 * NULL: no memory. Owner of both ends.
 */
struct weir__lane *weir__in_lane(struct weir_in *in);

/* The lane is linked from now on: no puts, and its consumer is waited for. */
void weir__in_linked(struct weir_in *in, struct weir__lane *lane,
		     struct weir_out *out);

/*
 * From now on the room of the in-port's link, made or yet to be made, is what
 * is granted, none at first, and not what is free. What turns take is published
 * in the word behind the head word, which a link has no other use for. With a
 * capacity of 2 or more; owner, before start.
 */
void weir__in_hold(struct weir_in *in);

/*
 * Grants room for `n` more tokens. Those that were granted and not taken are
 * not more than the capacity, these included. Owner.
 */
void weir__in_grant(struct weir_in *in, uint32_t n);

/* Grants all room, once: the link is one like any other from then on. Owner. */
void weir__in_let_go(struct weir_in *in);

/*
 * For an in-port that subscribes. Puts `n` > 0 items, all or none, as
 * weir_in_put() does after the start; but if the port is shut meanwhile and `n`
 * > 1, the call itself drops the items that the port has not taken.
 * weir__in_end() ends the stream as weir_in_end() does, also that of a link of
 * which only the in-port's half is made.
 */
int weir__in_put(struct weir_in *in, void *const *items, uint32_t n);
int weir__in_end(struct weir_in *in, struct weir_error *error);

/* weir__in_end() has been called. No order. */
static inline bool weir__in_ending(const struct weir_in *in)
{
	return ck_pr_load_32(&in->lane.state) & WEIR__LANE_ENDING;
}

/*
 * The stream is over: takes the port out of firing and lets go of the
 * producer. Returns a reference of the error, or NULL. Owner.
 */
struct weir_error *weir__in_ended(struct weir_port *port);

/*
 * A turn has run with the last tokens, which were fewer than its burst. If it
 * has left all of them, none of them is offered again. Owner.
 */
void weir__in_partial(struct weir_port *port);

#endif
