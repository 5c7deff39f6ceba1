/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Out-ports, and the links that join them to in-ports. An out-port is
 * unblocked when it is linked and there is room downstream: the free room of
 * the ring is the demand. One link, or several: each token to all of them
 * (broadcast, moving at the slowest), or to one of them in turn (balance).
 * Subscribers (reactive.h) count as links, and what they have requested as
 * room; but where an actor is between, because the out-port broadcasts or has a
 * burst, the room is that of the link to this actor.
 */
#ifndef WEIR_OUT_H
#define WEIR_OUT_H

#include <errno.h>

#include <weir/in.h>
#include <weir/items.h>
#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All private. */
struct weir_out {
	struct weir_port port;
	uint32_t tail;	/* next slot to put into */
	uint32_t limit; /* one past the last slot that is certain */
	uint32_t mask;
	uint16_t out_flags;
	uint16_t head_at; /* as the in-port's */
	struct weir__slot *slots;
	const struct weir_items *items;
	struct weir_in *in;
	struct weir__lane *lane;
	uint32_t *words; /* the lane's */
	struct weir__fan *fan;
};

/*
 * Sets up an out-port of `actor`. `items` is borrowed until the actor and
 * those it is linked to are released; NULL: plain values. -EINVAL: null.
 * -EPERM. Owner.
 */
WEIR_API int weir_out_init(struct weir_out *out, struct weir_actor *actor,
			   const struct weir_items *items);

/* What an out-port with several links does with a token. */
enum weir_fan {
	WEIR_FAN_BROADCAST, /* every link gets it, shared by items->share */
	WEIR_FAN_BALANCE,   /* one link gets it, in turn, as there is room */
};

/*
 * Lets the out-port have several links; a turn may run ahead of them by up to
 * `capacity` tokens, a power of two. -EINVAL: null, no such way, a bad
 * capacity. -EBUSY: linked before. -EPERM. -ENOMEM. Owner, before start.
 */
WEIR_API int weir_out_fan(struct weir_out *out, enum weir_fan way,
			  size_t capacity);

/*
 * Joins an out-port to an in-port. Each end must be the caller's: its actor
 * not started yet, or in a turn or handler of its own. Either end then holds
 * a reference on the other's actor until the stream ends or is cancelled.
 * -EINVAL: null, items that differ, bursts that could wait for each other:
 * the in-port's capacity is less than both together less one.
 * -EPERM: not the caller's. -EISCONN: an end that has its link already, or an
 * in-port that is a subscriber's. -EPIPE: ended or cancelled. -ENOTSUP: a
 * second link of a broadcast whose items can be dropped and not shared.
 * -ENOMEM. Then nothing has changed.
 */
WEIR_API int weir_out_link(struct weir_out *out, struct weir_in *in);

/*
 * Ends the out-port's streams behind what was put, with `error` (borrowed) or
 * well (NULL), and takes it out of firing; the actor goes on. The end needs
 * no room. -EPERM, -EINVAL: null. -EALREADY: ended or cancelled. Owner.
 */
WEIR_API int weir_out_end(struct weir_out *out, struct weir_error *error);

/* Tokens that a put would find room for now. Owner. */
static inline uint32_t weir_out_room(const struct weir_out *out)
{
	return out->limit - out->tail;
}

/* Private: in out_flags, set by weir_out_end(). */
#define WEIR__OUT_ENDED 2u

/*
 * Puts a token, which is the stream's now. In a turn there is room for one
 * for each turn (`burst`, if set). Once cancelled, tokens put are dropped
 * when the run of turns is over, which is no error. -EAGAIN: no room, or not in
 * a turn or handler; -EPIPE: ended; then the item is still the caller's.
 */
static inline int weir_out_put(struct weir_out *out, void *item)
{
	struct weir__slot *slots = out->slots;
	uint32_t tail = out->tail++, mask = out->mask;

	if (WEIR_UNLIKELY(tail == out->limit)) {
		out->tail = tail;
		return out->out_flags & WEIR__OUT_ENDED ? -EPIPE : -EAGAIN;
	}
	slots[tail & mask].item = item;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
