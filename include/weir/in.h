/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-ports. Tokens come in from an out-port over a link (out.h), from any
 * thread through weir_in_put(), or from a publisher (reactive.h). An in-port is
 * unblocked when a token is queued (`burst` tokens, if set). A token is never
 * overwritten, and never dropped silently. The end of a stream and its error
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

/*
 * Private: a lane, one producer's way into an in-port, or all threads'.
 * Invariants in lib/lane/lane.h.
 */
struct weir__lane {
	uint32_t *words;
	struct weir_out *out; /* which feeds it; NULL: none */
	struct weir_error *error;
	uint32_t own[2];
	uint32_t filled;
	uint32_t state;
	union {
		struct weir__slot slot; /* with capacity 1 */
		uint32_t *seqs;		/* with more; NULL: one producer */
	} u;
};

/* Private: the consumer's end of a lane. */
struct weir__taker {
	struct weir__slot *slots;
	uint32_t head;	 /* next token to take; above `limit`: took too many */
	uint32_t limit;	 /* one past the last token that is certain */
	uint32_t mask;	 /* capacity - 1 */
	uint16_t peeked; /* which token, or none: see WEIR__PEEKED */
	uint8_t head_at; /* where in a lane's words its head word is */
	uint8_t flags;	 /* the in-port's */
};

struct weir_in {
	struct weir_port port;
	struct {
		struct weir__taker taker;
		const struct weir_items *items;
		struct weir__merge *merge;
		struct weir__lane lane;
	} WEIR_PRIVATE;
};

#define WEIR_CAPACITY_MAX (1u << 24)

/*
 * Sets up an in-port of `actor` that holds up to `capacity` tokens, a power of
 * two; a port with a capacity of 1 needs no memory of its own. `items` is
 * borrowed until the actor is released; NULL: plain values, or what the
 * out-port of the link says. -EINVAL: null, or a capacity that is 0, no power
 * of two or above WEIR_CAPACITY_MAX. -EPERM. -ENOMEM. Then nothing has changed.
 * Owner.
 */
WEIR_API int weir_in_init(struct weir_in *in, struct weir_actor *actor,
			  size_t capacity, const struct weir_items *items);

/* How an in-port with several producers ends. */
enum weir_merge {
	WEIR_MERGE_ALL,	  /* when all producers have ended, or one with an
			   * error */
	WEIR_MERGE_FIRST, /* when the first producer has ended */
	WEIR_MERGE_OPEN,  /* by weir_in_end(), or by the first error */
};

/*
 * Lets several out-ports be linked to the in-port. Each gets a lane of the
 * in-port's capacity, and tokens are taken from the lanes in turn.
 * weir_in_put() works beside the links with WEIR_MERGE_OPEN only. -EINVAL:
 * null, no such rule. -EPERM. -EBUSY: the in-port was linked, put to or merged
 * before, or is a subscriber's. -ENOMEM. Owner, before start.
 */
WEIR_API int weir_in_merge(struct weir_in *in, enum weir_merge rule);

/*
 * Queues a token. 0: the port owns the token now; a turn takes it, or it is
 * dropped when the port is cancelled or its actor ends. -EAGAIN: full. -EPIPE:
 * ended or stopped. -EISCONN: the port's tokens come over a link, or it is a
 * subscriber's. On an error the item stays the caller's. Any thread that holds
 * a reference of the actor, several at once, also before the actor is started.
 * Before the start the owner may also put the first tokens of a link that is
 * made afterwards, while no other thread puts. Lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_in_put(struct weir_in *in, void *item);

/*
 * Gives the in-port a stash, in which its owner can put tokens aside, as many
 * as the in-port's capacity. An in-port that does not merge does so then, by
 * WEIR_MERGE_OPEN. -EINVAL: null, or the burst is not 1, which it stays.
 * -EBUSY: as weir_in_merge(), or it has a stash. -EPERM. -ENOMEM. Then nothing
 * has changed. Owner, before start; before weir_in_put().
 */
WEIR_API int weir_in_stash_init(struct weir_in *in);

/*
 * Puts an item aside that was taken: 0, and it is the port's. It stays there
 * until weir_in_unstash_all(), or until the actor restarts (supervision.h),
 * which puts all back; it is dropped when the port is cancelled or its actor
 * ends. The end of the port's stream comes behind it. -EOVERFLOW: full.
 * -ENOTSUP: there is no stash. -EPIPE: the port has ended. -EPERM, -EINVAL:
 * null. Then the item stays the caller's. Owner.
 */
WEIR_API WEIR_MUST_CHECK int weir_in_stash(struct weir_in *in, void *item);

/*
 * Puts all items back that are aside now: from the next turn on they are taken
 * first, in the order in which they were put aside. Ends the run of turns under
 * way, if there are some. -ENOTSUP, -EPIPE, -EPERM, -EINVAL: as
 * weir_in_stash(). Owner.
 */
WEIR_API int weir_in_unstash_all(struct weir_in *in);

/*
 * Ends the stream that weir_in_put() feeds, behind the tokens that were put,
 * with `error` (borrowed) or well (NULL). The first end counts. -EALREADY: the
 * stream has ended before; of a merging port perhaps by a producer's error.
 * -EISCONN: as weir_in_put(). -EINVAL: null. Any thread that holds a reference.
 */
WEIR_API int weir_in_end(struct weir_in *in, struct weir_error *error);

/*
 * Cancels the in-port: queued tokens are dropped, its producers are told that
 * they are cancelled, and the port takes no part in firing any more. -EPERM,
 * -EINVAL: null. -EALREADY: ended or cancelled. Owner.
 */
WEIR_API int weir_in_cancel(struct weir_in *in);

/*
 * The number of tokens that weir_in_take() would find now, without looking for
 * new ones; at most 32767, even if there are more. Owner.
 */
static inline uint32_t weir_in_count(const struct weir_in *in)
{
	const struct weir__taker *taker = &WEIR__OWN(in)->taker;

	return taker->head < taker->limit ? taker->limit - taker->head : 0;
}

/*
 * Takes the next token; it is the turn's now. In a run of turns there is at
 * least one token for each turn (`burst`, if set). If there is no more token,
 * or outside a turn or handler, weir_in_take() returns NULL and changes
 * nothing; if that happens in a turn, the actor fails with -ENODATA when the
 * run of turns is over.
 */
static inline void *weir_in_take(struct weir_in *in)
{
	struct weir__taker *taker = &WEIR__OWN(in)->taker;
	const struct weir__slot *slots = taker->slots;
	uint32_t head = taker->head++, mask = taker->mask;

	/* No call here or in put: the loop keeps the cursor in a register. A
	 * cursor beyond the limit is found when the run is published. */
	if (WEIR_UNLIKELY(head >= taker->limit))
		return NULL;
	return slots[head & mask].item;
}

/*
 * Private: taker->peeked holds the low 16 bits of the index of the token that
 * was peeked at, xor WEIR__PEEKED. Where a run begins it holds the head itself,
 * without the xor: nothing was peeked at. weir_in_take() need not reset it,
 * because it moves the head to another index.
 */
#define WEIR__PEEKED 0x8000u

/*
 * Returns the next token and leaves it in the port. If the turn fails before
 * weir_in_consume(), this is the failed token: the library drops it, unless
 * weir_in_take_failed() or weir_in_retry_failed() is called. Otherwise as
 * weir_in_take().
 */
static inline void *weir_in_peek(struct weir_in *in)
{
	struct weir__taker *taker = &WEIR__OWN(in)->taker;
	uint32_t head = taker->head;

	if (WEIR_UNLIKELY(head >= taker->limit)) {
		taker->head = taker->limit + 1;
		return NULL;
	}
	/* Not of a char: the compiler keeps cursors in registers. */
	taker->peeked = (uint16_t)(head ^ WEIR__PEEKED);
	return taker->slots[head & taker->mask].item;
}

/* Takes the token just peeked at; it is the turn's now. */
static inline void weir_in_consume(struct weir_in *in)
{
	(void)weir_in_take(in);
}

/*
 * For the pre_restart hook of an actor whose turn has failed (supervision.h).
 * weir_in_take_failed() takes the failed token, if the turn has peeked at one
 * here: *item is the hook's now. weir_in_retry_failed() leaves it in the port,
 * as the first token that a turn finds after the restart. If neither is called
 * the library drops it when the hook is over. -ENODATA: there is none, or the
 * call is too late. -EPERM, -EINVAL: null. Then nothing has changed. Owner.
 */
WEIR_API WEIR_MUST_CHECK int weir_in_take_failed(struct weir_in *in,
						 void **item);
WEIR_API int weir_in_retry_failed(struct weir_in *in);

#ifdef __cplusplus
}
#endif

#endif
