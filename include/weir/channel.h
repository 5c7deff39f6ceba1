/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded channels that threads, callbacks and actors share: any of them put,
 * any of them take, each trying, waiting or asking to be called. Items come
 * out in the order they went in; those who wait are served in theirs, and
 * nobody overtakes them. The end is behind the items: first the channel is
 * drained, then takers hear of it. (Links, out.h, are faster between two
 * actors.)
 *
 * A channel outlives the calls on it, the callbacks that it owes and the
 * actors that have ports at it.
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
 * Drops the items that are left and frees it. 0, also for NULL. It may follow
 * a call that heard of the end, though the one that ended it has not returned
 * yet. -EBUSY: somebody waits, a flow takes from it, or a port holds
 * something; then nothing has changed.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_free(struct weir_channel *channel);

/*
 * Ends the channel with `error` (borrowed) or well (NULL): it takes no more
 * items, those who wait to put are refused. -EALREADY: it has ended. -EINVAL:
 * null. Any thread; a short lock, as all the calls below.
 */
WEIR_API int weir_channel_end(struct weir_channel *channel,
			      struct weir_error *error);

/* The error it was ended with, borrowed until it is freed; or NULL. */
WEIR_API struct weir_error *weir_channel_error(struct weir_channel *channel);

/* Items in it now, a snapshot. */
WEIR_API size_t weir_channel_count(struct weir_channel *channel);

/*
 * Puts an item, which is the channel's then. On an error it is the caller's
 * still: -EAGAIN: full, or somebody waits to put. -EPIPE: ended. -EINVAL:
 * null. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_try_put(struct weir_channel *channel,
						  void *item);

/*
 * The same, waiting for at most `timeout_ns` for room; see
 * weir_semaphore_acquire_wait() for how. -ETIMEDOUT, -EDEADLK, -EPIPE,
 * -EINVAL; then the item is the caller's still. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_put_wait(struct weir_channel *channel,
						   void *item,
						   uint64_t timeout_ns);

/*
 * Takes the next item into *item: the caller's now. -EAGAIN: there is none, or
 * somebody waits to take. -EPIPE: ended, and drained. -EINVAL: null. On an
 * error *item is as it was. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_try_take(struct weir_channel *channel,
						   void **item);

/*
 * The same, waiting for at most `timeout_ns` for an item. -ETIMEDOUT,
 * -EDEADLK, -EPIPE, -EINVAL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_channel_take_wait(
	struct weir_channel *channel, void **item, uint64_t timeout_ns);

/* A request to put; embedded by who makes it, kept until `done`. */
struct weir_put {
	/*
	 * 0: the item is the channel's. -EPIPE: it has ended, the item is
	 * yours still. Once, holding no lock, on any thread that uses the
	 * channel, also before weir_channel_put_async() has returned. Must not
	 * block; may call anything else, and reuse or free the request.
	 */
	void (*done)(struct weir_put *put, int status);
	void *item; /* to be put */
	/* private */
	struct weir__claim claim;
};

/*
 * Asks to put put->item: `done` comes when that is decided, unless it is
 * cancelled. Requests are served in order. -EPIPE: ended. -EINVAL: null, no
 * `done`. Then `done` will not come. Any thread.
 */
WEIR_API int weir_channel_put_async(struct weir_channel *channel,
				    struct weir_put *put);

/*
 * True: the request waited and does not any more, the item is the caller's,
 * `done` will not come. False: it has come or will. Any thread.
 */
WEIR_API bool weir_channel_cancel_put(struct weir_channel *channel,
				      struct weir_put *put);

/* A request to take, as struct weir_put. */
struct weir_take {
	/* 0: the item is yours. -EPIPE: ended and drained, no item. */
	void (*done)(struct weir_take *take, int status);
	void *item; /* valid in `done` if the status is 0 */
	/* private */
	struct weir__claim claim;
};

/* As weir_channel_put_async(). */
WEIR_API int weir_channel_take_async(struct weir_channel *channel,
				     struct weir_take *take);

/* As weir_channel_cancel_put(). */
WEIR_API bool weir_channel_cancel_take(struct weir_channel *channel,
				       struct weir_take *take);

/*
 * A port that is unblocked while an item (`burst` items) is reserved for it.
 * It asks for that when its actor has nothing to do, in the order of the
 * actor's ports that are granted something (semaphore.h), and returns what no
 * turn takes when the actor ends or ignores the port. A burst above the
 * channel's capacity counts as that.
 */
struct weir_channel_in {
	/* private */
	struct weir__grant_port grant;
	struct weir_channel *channel;
	/*
	 * Yours to set before the actor starts: the channel has ended and is
	 * drained, with `error` (borrowed) or well (NULL); the port takes no
	 * part in firing any more. On the actor's thread, between turns, once;
	 * a negative errno fails the actor. NULL: the actor finishes, an error
	 * goes on to its out-ports.
	 */
	int (*ended)(struct weir_channel_in *in, struct weir_error *error);
};

/* Sets up the port. -EINVAL: null. -EPERM. Owner. */
WEIR_API int weir_channel_in_init(struct weir_channel_in *in,
				  struct weir_actor *actor,
				  struct weir_channel *channel);

/*
 * Takes the next item into *item. In a turn there is one (a burst of them,
 * fewer in the last turn before the end). -EAGAIN: none is reserved. -EINVAL:
 * null. -EPERM. Owner.
 */
WEIR_API int weir_channel_in_take(struct weir_channel_in *in, void **item);

/* The same for putting: unblocked while room is reserved for the port. */
struct weir_channel_out {
	/* private */
	struct weir__grant_port grant;
	struct weir_channel *channel;
	/* As in struct weir_channel_in, but the channel need not be drained. */
	int (*ended)(struct weir_channel_out *out, struct weir_error *error);
};

/* Sets up the port; it does not end the channel. As weir_channel_in_init. */
WEIR_API int weir_channel_out_init(struct weir_channel_out *out,
				   struct weir_actor *actor,
				   struct weir_channel *channel);

/*
 * Puts an item. In a turn there is room for one (a burst). On an error the
 * item is the caller's still: -EPIPE: ended. -EAGAIN: no room is reserved.
 * -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_channel_out_put(struct weir_channel_out *out, void *item);

#ifdef __cplusplus
}
#endif

#endif
