/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Out-ports, and the links that join them to in-ports. An out-port is unblocked
 * when it is linked and there is room downstream: the free room of the link is
 * the demand. An out-port has one link, or several: then each token goes to all
 * links (broadcast, at the pace of the slowest), or to one of them in turn
 * (balance). Each subscriber (reactive.h) counts as a link, and the items it
 * has requested count as room. If the out-port broadcasts or has a burst, a
 * subscriber is served by an actor in between; the room is then that of the
 * link to this actor.
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

/* Private: the producer's end of a lane, or of the out-port's own ring. */
struct weir__putter {
	struct weir__slot *slots;
	uint32_t tail;	/* next slot to put into */
	uint32_t limit; /* one past the last slot that is certain */
	uint32_t mask;
	uint16_t flags;	  /* the out-port's */
	uint16_t head_at; /* as the taker's */
	uint32_t *words;  /* the lane's */
	struct weir__lane *lane;
};

struct weir_out {
	struct weir_port port;
	struct {
		struct weir__putter putter;
		const struct weir_items *items;
		struct weir_in *in;
		struct weir__fan *fan;
	} WEIR_PRIVATE;
};

/*
 * Sets up an out-port of `actor`. `items` is borrowed until the actor and the
 * actors it is linked to are released; NULL: plain values. -EINVAL: null.
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
 * Lets the out-port have several links. A turn may be ahead of the links by up
 * to `capacity` tokens, a power of two. -EINVAL: null, no such way, a bad
 * capacity. -EBUSY: the out-port was linked before. -EPERM. -ENOMEM. Owner,
 * before start.
 */
WEIR_API int weir_out_fan(struct weir_out *out, enum weir_fan way,
			  size_t capacity);

/*
 * Joins an out-port to an in-port. The caller must own both actors: an actor
 * has not been started yet, or the call is made in a turn or handler of it.
 * From then on each actor holds a reference of the other, until the stream ends
 * or is cancelled. -EINVAL: null; items that differ; bursts that could wait for
 * each other, because the in-port's capacity is less than the sum of both
 * bursts less one. -EPERM: the caller is not the owner of both. -EISCONN: a
 * port has its link already, or the in-port is a subscriber's. -EPIPE: ended or
 * cancelled. -ENOTSUP: a second link of a broadcast whose items can be dropped
 * and not shared. -ENOMEM. Then nothing has changed.
 */
WEIR_API int weir_out_link(struct weir_out *out, struct weir_in *in);

/*
 * Ends the streams of the out-port behind the tokens that were put, with
 * `error` (borrowed) or well (NULL). The port takes no part in firing any more;
 * the actor goes on. The end needs no room. -EPERM, -EINVAL: null. -EALREADY:
 * ended or cancelled. Owner.
 */
WEIR_API int weir_out_end(struct weir_out *out, struct weir_error *error);

/*
 * The number of tokens that there is room for now. In a handler it is 0 until
 * weir_port_ready(&out->port) (any.h) has looked; a turn is called when there
 * is room. Owner.
 */
static inline uint32_t weir_out_room(const struct weir_out *out)
{
	return WEIR__OWN(out)->putter.limit - WEIR__OWN(out)->putter.tail;
}

/* Private: in putter.flags, set by weir_out_end(). */
#define WEIR__OUT_ENDED 2u

/*
 * Puts a token, which is the stream's now. In a run of turns there is room for
 * one token for each turn (`burst`, if set). If the out-port was cancelled,
 * tokens that are put are dropped when the run of turns is over; that is no
 * error. -EAGAIN: no room, as weir_out_room() says, or not in a turn or
 * handler. -EPIPE: ended. On an error the item is still the caller's.
 */
static inline int weir_out_put(struct weir_out *out, void *item)
{
	struct weir__putter *putter = &WEIR__OWN(out)->putter;
	struct weir__slot *slots = putter->slots;
	uint32_t tail = putter->tail++, mask = putter->mask;

	if (WEIR_UNLIKELY(tail == putter->limit)) {
		putter->tail = tail;
		return putter->flags & WEIR__OUT_ENDED ? -EPIPE : -EAGAIN;
	}
	slots[tail & mask].item = item;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
