/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded channels that threads, callbacks and actors share. Each of them may
 * put and take; each may try, wait, or ask for a callback. Items come out in
 * the order in which they went in. Waiting putters and takers are served in the
 * order in which they came, and no later call overtakes them. The end is behind
 * the items: takers get all items before they are told of the end. (Between two
 * actors links, out.h, are faster.)
 *
 * A channel must outlive the calls on it, the callbacks that are still to come,
 * and the actors that have ports at it.
 */
#ifndef WEIR_CHANNEL_H
#define WEIR_CHANNEL_H

#include <weir/items.h>
#include <weir/private.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_channel;

/*
 * A new channel for up to `capacity` items in *channel. `items` (NULL: plain
 * values) and `allocator` (NULL: the default one) are borrowed until it is
 * freed. -EINVAL: null, a capacity of 0 or above WEIR_CAPACITY_MAX. -ENOMEM.
 * Then *channel is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_new(
	struct weir_channel **channel, size_t capacity,
	const struct weir_items *items, const struct weir_allocator *allocator);

/*
 * Drops the items that are left and frees the channel. 0, also for NULL. A
 * thread that has been told of the end may free the channel, even if
 * weir_channel_end() has not returned yet on another. -EBUSY: a thread, a
 * request or a port waits, a flow takes from the channel, or a port holds a
 * reservation; then nothing has changed.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_free(struct weir_channel *channel);

/*
 * Ends the channel with `error` (borrowed) or well (NULL): it takes no more
 * items, and all that wait to put are refused. -EALREADY: the channel has
 * ended. -EINVAL: null. Any thread; a short lock, as all the calls below.
 */
WEIR_API int weir_channel_end(struct weir_channel *channel,
			      struct weir_error *error);

/* The error that the channel was ended with, borrowed until the channel is
 * freed; or NULL. */
WEIR_API struct weir_error *weir_channel_error(struct weir_channel *channel);

/* The number of items in the channel now, a snapshot. */
WEIR_API size_t weir_channel_count(struct weir_channel *channel);

/*
 * Puts an item, which is the channel's then. On an error the item is still the
 * caller's. -EAGAIN: the channel is full, or a putter waits already. -EPIPE:
 * ended. -EINVAL: null. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_try_put(struct weir_channel *channel,
						  void *item);

/*
 * As weir_channel_try_put(), but waits for at most `timeout_ns` for room, as
 * weir_semaphore_acquire_wait() does. -ETIMEDOUT, -EDEADLK, -EPIPE, -EINVAL;
 * then the item is still the caller's. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_put_wait(struct weir_channel *channel,
						   void *item,
						   uint64_t timeout_ns);

/*
 * Takes the next item into *item; it is the caller's now. -EAGAIN: there is no
 * item, or a taker waits already. -EPIPE: ended, and all items are taken.
 * -EINVAL: null. On an error *item is as it was. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_try_take(struct weir_channel *channel,
						   void **item);

/*
 * As weir_channel_try_take(), but waits for at most `timeout_ns` for an item.
 * -ETIMEDOUT, -EDEADLK, -EPIPE, -EINVAL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_take_wait(
	struct weir_channel *channel, void **item, uint64_t timeout_ns);

/* A request to put. The caller embeds it, and keeps it until `done`. */
struct weir_put {
	/*
	 * Status 0: the item is the channel's. -EPIPE: the channel has ended,
	 * and the item is still yours. Called once, holding no lock, on any
	 * thread that uses the channel, also before weir_channel_put_async()
	 * has returned. Must not block; may call anything else, and reuse or
	 * free the request.
	 */
	void (*done)(struct weir_put *put, int status);
	void *item; /* to be put */
	struct {
		struct weir__claim claim;
	} WEIR_PRIVATE;
};

/*
 * Asks to put put->item: `done` is called when the item is put or refused,
 * unless the request is cancelled. Requests are served in order. -EPIPE: ended.
 * -EINVAL: null, no `done`. On an error `done` is not called. Any thread.
 */
WEIR_API int weir_channel_put_async(struct weir_channel *channel,
				    struct weir_put *put);

/*
 * Cancels a request. True: the request was waiting; the item is the caller's,
 * and `done` will not be called. False: `done` was called or will be. Any
 * thread.
 */
WEIR_API bool weir_channel_cancel_put(struct weir_channel *channel,
				      struct weir_put *put);

/* A request to take, as struct weir_put. */
struct weir_take {
	/* Status 0: the item is yours. -EPIPE: ended and empty, no item. */
	void (*done)(struct weir_take *take, int status);
	void *item; /* valid in `done` if the status is 0 */
	struct {
		struct weir__claim claim;
	} WEIR_PRIVATE;
};

/* As weir_channel_put_async(). */
WEIR_API int weir_channel_take_async(struct weir_channel *channel,
				     struct weir_take *take);

/* As weir_channel_cancel_put(). */
WEIR_API bool weir_channel_cancel_take(struct weir_channel *channel,
				       struct weir_take *take);

/*
 * A port that is unblocked while an item (`burst` items, if set) is reserved
 * for it. The port asks for the reservation when its actor has nothing to do;
 * an actor with several such ports asks in the order described in semaphore.h.
 * Reserved items that no turn takes go back when the actor ends or ignores the
 * port. A burst above the channel's capacity counts as that capacity.
 */
struct weir_channel_in {
	union {
		struct weir_port port;
		struct {
			struct weir__grant_port grant; /* begins with `port` */
			struct weir_channel *channel;
		} WEIR_PRIVATE;
	};
	/*
	 * Set it before the actor starts. Called when the channel has ended,
	 * with `error` (borrowed) or well (NULL), and all items are taken; the
	 * port takes no part in firing any more. Called once, on the actor's
	 * thread, between turns; a negative errno fails the actor. NULL: the
	 * actor ends, and an error goes on to its out-ports.
	 */
	int (*ended)(struct weir_channel_in *in, struct weir_error *error);
};

/* Sets up the port. -EINVAL: null. -EPERM. Owner. */
WEIR_API int weir_channel_in_init(struct weir_channel_in *in,
				  struct weir_actor *actor,
				  struct weir_channel *channel);

/*
 * Takes the next item into *item. In a turn an item is reserved (`burst` items,
 * if set; fewer in the last turn before the end). -EAGAIN: no item is reserved.
 * -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_channel_in_take(struct weir_channel_in *in, void **item);

/* As struct weir_channel_in, for putting: unblocked while room is reserved for
 * the port. */
struct weir_channel_out {
	union {
		struct weir_port port;
		struct {
			struct weir__grant_port grant; /* begins with `port` */
			struct weir_channel *channel;
		} WEIR_PRIVATE;
	};
	/* As in struct weir_channel_in, but called as soon as the
	 * channel ends. */
	int (*ended)(struct weir_channel_out *out, struct weir_error *error);
};

/* Sets up the port; it does not end the channel. As weir_channel_in_init. */
WEIR_API int weir_channel_out_init(struct weir_channel_out *out,
				   struct weir_actor *actor,
				   struct weir_channel *channel);

/*
 * Puts an item. In a turn there is room for one item (`burst` items, if set).
 * On an error the item is still the caller's. -EPIPE: ended. -EAGAIN: no room
 * is reserved. -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_channel_out_put(struct weir_channel_out *out, void *item);

#ifdef __cplusplus
}
#endif

#endif
