/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-ports: tokens come in from an out-port over a link (out.h), from any
 * thread through weir_in_put(), or from a publisher (reactive.h). Unblocked
 * when a token is queued (`burst` of them, if set). A token is never
 * overwritten and never dropped silently; the end of a stream and its error
 * travel behind the tokens.
 */
#ifndef WEIR_IN_H
#define WEIR_IN_H

#include <stdbool.h>

#include <weir/items.h>
#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Private. A struct, so that the compiler knows that storing an item changes no
 * pointer in a port, which void * may alias.
 */
struct weir__slot {
	void *item;
};

/* Private: one producer's way into an in-port. Invariants in lib/actor/in.h. */
struct weir__lane {
	uint32_t *words;
	struct weir_out *out;
	struct weir_error *error;
	uint32_t own[2];
	uint32_t filled;
	uint32_t state;
	union {
		struct weir__slot slot; /* with capacity 1 */
		uint32_t *marks;	/* with more; NULL: linked */
	} u;
};

/* All private. */
struct weir_in {
	struct weir_port port;
	uint32_t head;	/* next token to take; above `limit`: took too many */
	uint32_t limit; /* one past the last token that is certain */
	struct weir__slot *slots;
	const struct weir_items *items;
	uint32_t mask;	 /* capacity - 1 */
	uint16_t peeked; /* which token, or none: see WEIR__PEEKED */
	uint8_t lane_flags;
	uint8_t head_at; /* where in a lane's words its head word is */
	struct weir__merge *merge;
	struct weir__lane lane;
};

#define WEIR_CAPACITY_MAX (1u << 24)

/*
 * Sets up an in-port of `actor` that holds up to `capacity` tokens, a power of
 * two; with 1 it needs no memory of its own. `items` is borrowed until the
 * actor is released; NULL: plain values, or what the link's out-port says.
 * -EINVAL: null, a capacity that is 0, no power of two or above
 * WEIR_CAPACITY_MAX. -EPERM. -ENOMEM. Then nothing has changed. Owner.
 */
WEIR_API int weir_in_init(struct weir_in *in, struct weir_actor *actor,
			  size_t capacity, const struct weir_items *items);

/* How an in-port with several producers ends. */
enum weir_merge {
	WEIR_MERGE_ALL,	  /* when all have ended, or one with an error */
	WEIR_MERGE_FIRST, /* when the first has ended */
	WEIR_MERGE_OPEN,  /* by weir_in_end() or with an error, the first */
};

/*
 * Lets several out-ports be linked, each with a lane of the in-port's capacity;
 * lanes are taken from in turn. weir_in_put() works beside them with
 * WEIR_MERGE_OPEN only. -EINVAL: null, no such rule. -EPERM. -EBUSY: linked,
 * put to or merged before, or a subscriber's. -ENOMEM. Owner, before start.
 */
WEIR_API int weir_in_merge(struct weir_in *in, enum weir_merge rule);

/*
 * Queues a token from anywhere. 0: taken, by a turn or, as soon as the port is
 * cancelled or its actor ends, to be dropped. -EAGAIN: full. -EPIPE: ended or
 * stopped. -EISCONN: its tokens come over a link, or it is a subscriber's. On
 * an error the item stays the caller's. Any thread that holds a reference of
 * the actor, any number at once, also before it is started; its owner then also
 * as the first tokens of a link yet to be made, with nobody else putting
 * meanwhile. Lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_in_put(struct weir_in *in, void *item);

/*
 * Ends the stream that weir_in_put() feeds, behind what was put, with `error`
 * (borrowed) or well (NULL). The first end counts. -EALREADY: ended before, of
 * a merging port perhaps by a producer's error.
 * -EISCONN: as weir_in_put. -EINVAL: null. Any thread that holds a reference.
 */
WEIR_API int weir_in_end(struct weir_in *in, struct weir_error *error);

/*
 * Takes no more: what is queued is dropped, producers learn that they are
 * cancelled, the port takes no part in firing. -EPERM, -EINVAL: null.
 * -EALREADY: ended or cancelled. Owner.
 */
WEIR_API int weir_in_cancel(struct weir_in *in);

/*
 * Tokens that a take would find now, without asking the producer; 32767 at
 * most, even if there are more. Owner.
 */
static inline uint32_t weir_in_count(const struct weir_in *in)
{
	return in->head < in->limit ? in->limit - in->head : 0;
}

/*
 * Takes the next token; it is the turn's now. In a turn at least one is there
 * for each turn (`burst`, if set). Taking more, or outside a turn or handler,
 * gives NULL and changes nothing; in a turn it fails the actor with -ENODATA
 * when the run of turns is over.
 */
static inline void *weir_in_take(struct weir_in *in)
{
	const struct weir__slot *slots = in->slots;
	uint32_t head = in->head++, mask = in->mask;

	/* No call here or in put: the loop keeps the cursor in a register. A
	 * cursor beyond the limit is found when the run is published. */
	if (WEIR_UNLIKELY(head >= in->limit))
		return NULL;
	return slots[head & mask].item;
}

/*
 * Private: in->peeked tells the head at which a turn of this run has peeked, so
 * take need not know of it: it goes on to another token. It is away from that
 * head by this, so that it can say "none" where a run begins: that head itself.
 */
#define WEIR__PEEKED 0x8000u

/*
 * The next token, which stays where it is: a turn that fails before
 * weir_in_consume() leaves it to the library, which drops it. As take
 * otherwise.
 */
static inline void *weir_in_peek(struct weir_in *in)
{
	uint32_t head = in->head;

	if (WEIR_UNLIKELY(head >= in->limit)) {
		in->head = in->limit + 1;
		return NULL;
	}
	/* Not of a char: the compiler keeps cursors in registers. */
	in->peeked = (uint16_t)(head ^ WEIR__PEEKED);
	return in->slots[head & in->mask].item;
}

/* Done with the token just peeked at, which is the turn's now. */
static inline void weir_in_consume(struct weir_in *in)
{
	(void)weir_in_take(in);
}

#ifdef __cplusplus
}
#endif

#endif
