/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-ports: the consumer's end of lanes (lib/lane). An in-port has a lane of
 * its own, an mpsc lane that weir_in_put() puts into until a link makes it an
 * spsc lane. A merging in-port has an spsc lane more for each link.
 *
 * A lane belongs to the in-port; a linked producer may touch it as long as it
 * holds its reference on the consumer.
 */
#ifndef WEIR_ACTOR_IN_H
#define WEIR_ACTOR_IN_H

#include <stdbool.h>

#include <weir/in.h>

#include "actor/in_lane.h"
#include "lane/mpsc.h"
#include "lane/spsc.h"

/* Its slots. */
static inline uint32_t weir__in_capacity(const struct weir_in *in)
{
	return in->taker.mask + 1;
}

/* Several producers may feed it, each over a lane of its own. */
static inline bool weir__in_merges(const struct weir_in *in)
{
	return in->merge != NULL;
}

/* The out-port that feeds the lane, or NULL. */
static inline struct weir_out *weir__lane_producer(
	const struct weir__lane *lane)
{
	return lane->out;
}

/* All lanes in turn: the in-port's own after NULL; NULL after the last. */
static inline const struct weir__lane *weir__in_next_lane(
	const struct weir_in *in, const struct weir__lane *lane)
{
	const struct weir__merge_lane *next;

	if (!lane)
		return &in->lane;
	if (lane == &in->lane)
		next = in->merge ? in->merge->lanes : NULL;
	else
		next = ((const struct weir__merge_lane *)lane)->next;
	return next ? &next->lane : NULL;
}

/*
 * True if turns with these bursts at the two ends of a link into `in` cannot
 * block each other: while there are too few tokens for the consumer's burst
 * there is always room for the producer's (test/model/burst.pml).
 */
static inline bool weir__bursts_fit(uint32_t out_burst, uint32_t in_burst,
				    const struct weir_in *in)
{
	return out_burst + in_burst - 1 <= weir__in_capacity(in);
}

/*
 * What a slice asks of an in-port with one link, in line: *n becomes the number
 * of available tokens if that is less. False: the link has ended, or turns have
 * taken more than there was; the slice is to ask the port's ops.
 */
static inline bool weir__in_look(struct weir_in *in, uint32_t *n)
{
	return weir__spsc_look(&in->taker, &in->lane, n);
}

/* Turns have taken more than there was. */
static inline bool weir__in_overtaken(const struct weir_in *in)
{
	return weir__taker_overtaken(&in->taker);
}

/* True: they have, or a handler has, and the head is put back. */
static inline bool weir__in_put_back(struct weir_in *in)
{
	if (WEIR_LIKELY(!weir__in_overtaken(in)))
		return false;
	in->taker.head = in->taker.limit;
	return true;
}

/* Publishes what was taken from a port with one link; how many tokens. */
static inline uint32_t weir__in_publish(struct weir_in *in)
{
	struct weir__taker *taker = &in->taker;

	taker->limit = taker->head;
	/* none: the turns did not fail */
	taker->peeked = (uint16_t)taker->head;
	return weir__taker_publish(taker, &in->lane);
}

/*
 * weir_in_peek() in two steps, for a turn that notes only tokens that it
 * leaves: weir__in_first() returns the token, weir__in_left() notes that it
 * stays.
 */
static inline void *weir__in_first(struct weir_in *in)
{
	struct weir__taker *taker = &in->taker;

	if (WEIR_UNLIKELY(taker->head >= taker->limit)) {
		taker->head = taker->limit + 1;
		return NULL;
	}
	return weir__taker_item(taker, taker->head);
}

static inline void weir__in_left(struct weir_in *in)
{
	in->taker.peeked = (uint16_t)(in->taker.head ^ WEIR__PEEKED);
}

/* Takes `n` items that are available, as `n` calls of weir_in_take(). */
static inline void weir__in_take_n(struct weir_in *in, void **items, size_t n)
{
	weir__taker_pop_n(&in->taker, items, n);
}

/* The first token that the turn under way has not taken. Owner. */
static inline uint32_t weir__in_cursor(const struct weir_in *in)
{
	return weir__taker_at(&in->taker);
}

/* The out-port whose link alone feeds the in-port, or NULL. Owner. */
static inline struct weir_out *weir__in_producer(const struct weir_in *in)
{
	return weir__lane_producer(&in->lane);
}

/* It was linked, put to or merged, has ended or is a subscriber's. Owner. */
static inline bool weir__in_used(const struct weir_in *in)
{
	return in->merge || in->taker.flags || weir__lane_used(&in->lane);
}

/* A subscriber feeds the port from now on, or no more. Owner. */
static inline void weir__in_subscribe(struct weir_in *in, bool subscribes)
{
	uint8_t others = in->taker.flags & (uint8_t)~WEIR__IN_SUBSCRIBES;

	in->taker.flags = subscribes ? others | WEIR__IN_SUBSCRIBES : others;
}

/*
 * Tokens that were ever put, those under way included, into an in-port that
 * does not merge; over 31 bits. Relaxed; any thread.
 */
static inline uint32_t weir__in_ever_put(const struct weir_in *in)
{
	return weir__lane_tail(&in->lane);
}

/*
 * Likewise, tokens that were taken, up to the last run, from any in-port.
 * Owner, or any thread if it does not merge.
 */
static inline uint32_t weir__in_ever_taken(const struct weir_in *in)
{
	return in->merge ? in->merge->taken : weir__lane_head(&in->lane);
}

/*
 * The error that a link into an in-port which does not merge has ended with,
 * maybe behind tokens that were not taken; or NULL. Borrowed. Owner.
 */
static inline struct weir_error *weir__in_failed(const struct weir_in *in)
{
	return weir__lane_failed(&in->lane);
}

/*
 * The stream of an in-port with one link has ended and all its tokens are
 * taken. No order: a look at the port sees to that. Owner.
 */
static inline bool weir__in_is_over(const struct weir_in *in)
{
	return weir__lane_ended(&in->lane) &&
	       !weir__spsc_holds(&in->taker, &in->lane);
}

/*
 * The slots of the tokens that the turn under way has taken are free from now
 * on, before the run is over. Of an in-port that does not merge; owner.
 */
void weir__in_free_taken(struct weir_in *in);

static inline void weir__in_drop_token(struct weir_in *in, void *item)
{
	if (in->items && in->items->drop)
		in->items->drop(item, in->items->context);
}

/*
 * A turn has failed, and it is known what becomes of the actor: drops the token
 * that the turn has peeked at and not consumed, if any, unless a hook has taken
 * it. Before the next look at the port. Owner.
 */
void weir__in_drop_failed(struct weir_in *in);

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
 * is granted, none at first, and not what is free (S5 of spsc.h). With a
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
	return weir__mpsc_closing(&in->lane);
}

/*
 * The stream is over: takes the port out of firing and lets go of the
 * producer. Returns a reference of the error, or NULL. Owner.
 */
struct weir_error *weir__in_ended(struct weir_port *port);

#endif
