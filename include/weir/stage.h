/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ready-made actors: a producer, a transformer and a consumer, which call
 * functions of yours; and a call that links and starts a chain of actors,
 * ready-made or your own. A chain is a few lines:
 *
 *	weir_producer_init(&read, executor, &(struct weir_producer_options){
 *		.name = "read", .produce = read_block, .context = &files});
 *	weir_consumer_init(&count, executor, &(struct weir_consumer_options){
 *		.name = "count", .consume = count_words, .context = &words});
 *	weir_chain_start((struct weir_actor *[]){&read.actor, &count.actor}, 2);
 *
 * Functions of yours are called by the thread that runs the stage's slice,
 * never two functions of one stage at once. They must not block, except on a
 * blocking executor. They are the owner of the actor: they may call
 * weir_actor_end() to end the stage early, and every other function that is for
 * the owner. The options are copied.
 *
 * A stage may be an actor of a system (system.h): link it by hand and start it
 * with weir_system_spawn(). The hooks of its lifecycle get `actor`, the first
 * field of the stage.
 */
#ifndef WEIR_STAGE_H
#define WEIR_STAGE_H

#include <weir/actor.h>
#include <weir/in.h>
#include <weir/items.h>
#include <weir/out.h>
#include <weir/permits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of `produce`: an item, and it was the last one. */
#define WEIR_PRODUCE_LAST 2

/* Result of `transform` and `flush`: call again when there is room. */
#define WEIR_TRANSFORM_MORE 1

/* An in-port holds that many tokens if `capacity` is 0. */
#define WEIR_STAGE_CAPACITY 64u

/* All fields but `produce` may be 0 or NULL; in the structs below, all fields
 * but `transform` and `consume`. */
struct weir_producer_options {
	const char *name; /* lives for ever, errors carry it; "producer" */
	void *context;	  /* passed to the functions */
	/*
	 * Makes the next item. 1: *item is the next item, which is the stream's
	 * now. WEIR_PRODUCE_LAST: the same, and it was the last one. 0: there
	 * are no more items. A negative errno fails the stage. `produce` is
	 * called when there is room: so an end that is told by 0 waits for
	 * room, or for one more request of a subscriber, and an end that is
	 * told by WEIR_PRODUCE_LAST does not.
	 */
	int (*produce)(void **item, void *context);
	/*
	 * The stage has ended, well (NULL) or with `error` (borrowed): its own
	 * error, the error of its input, or -ECANCELED if it was stopped.
	 * Called once, after the last call of all other functions.
	 */
	void (*done)(struct weir_error *error, void *context);
	/*
	 * The memory of the stage, and of everything that its options name, may
	 * be reused. Called once, last, on any thread. Not called if no init
	 * succeeded.
	 */
	void (*released)(void *context);
	const struct weir_items *makes; /* what its items are; plain values */
	/*
	 * If not 0, each item uses up a permit, and there are that many at
	 * first. Give permits back with weir_permits_release(&producer.permits,
	 * 1); see also weir_consumer_options.
	 */
	int64_t permits;
	struct weir_stats *stats;		/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
	uint64_t reserved[4];			/* zero */
};

/* Fields are read-only but the ports, which may be set up further. */
struct weir_producer {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_permits permits; /* if the options say so */
	struct {
		struct weir_actor_ops ops;
		struct weir_producer_options options;
	} WEIR_PRIVATE;
};

struct weir_transformer_options {
	const char *name; /* lives for ever, errors carry it; "transformer" */
	void *context;	  /* passed to the functions */
	/*
	 * Transforms the item: puts up to `most` items into `out`.
	 *
	 * - 0: the item is the function's now, which has passed it on, kept or
	 *   freed it.
	 * - WEIR_TRANSFORM_MORE: call again with the same item when there is
	 *   room for `most` more.
	 * - A negative errno fails the stage, and the library drops the item;
	 *   so do not return one after the item was passed on.
	 *
	 * If more than `most` items are put, the stage fails with -EOVERFLOW.
	 */
	int (*transform)(void *item, struct weir_out *out, void *context);
	/*
	 * The input has ended well, and there is room for `most` items: puts
	 * items that the stage has kept. 0: that was all. WEIR_TRANSFORM_MORE:
	 * call again. Or a negative errno. Not called after an error. If the
	 * stage restarts behind the end of its input, it goes on with `flush`.
	 */
	int (*flush)(struct weir_out *out, void *context);
	void (*done)(struct weir_error *error, void *context); /* as above */
	void (*released)(void *context);		       /* as above */
	size_t capacity; /* of the in-port, a power of two */
	size_t most;	 /* outputs of one call, up to WEIR_BURST_MAX; 1 */
	const struct weir_items *takes; /* what the link's other end says */
	const struct weir_items *makes; /* plain values */
	struct weir_stats *stats;	/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
	uint64_t reserved[4];			/* zero */
};

/* Fields are read-only but the ports, which may be set up further. */
struct weir_transformer {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct {
		struct weir_actor_ops ops;
		struct weir_transformer_options options;
	} WEIR_PRIVATE;
};

struct weir_consumer_options {
	const char *name; /* lives for ever, errors carry it; "consumer" */
	void *context;	  /* passed to the functions */
	/*
	 * Consumes the item. 0: the item is the function's now. A negative
	 * errno fails the stage, and the library drops the item.
	 */
	int (*consume)(void *item, void *context);
	void (*done)(struct weir_error *error, void *context); /* as above */
	void (*released)(void *context);		       /* as above */
	size_t capacity;		/* of the in-port, a power of two */
	const struct weir_items *takes; /* what the link's other end says */
	/*
	 * Gets a permit for each item that was consumed, or dropped because its
	 * turn failed. With the permits of the producer at the other end of the
	 * chain, this bounds the number of items under way in the whole chain,
	 * if exactly one item arrives for each one produced; if items are
	 * split, merged or left out on the way, release permits by hand. The
	 * consumer holds a reference of the permits' actor until it ends.
	 */
	struct weir_permits *permits;
	struct weir_stats *stats;		/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
	uint64_t reserved[4];			/* zero */
};

/* Fields are read-only but the port, which may be set up further. */
struct weir_consumer {
	struct weir_actor actor;
	struct weir_in in;
	struct {
		struct weir_actor_ops ops;
		struct weir_consumer_options options;
	} WEIR_PRIVATE;
};

/*
 * Sets a stage up in the caller's memory, as weir_actor_init(): it must be
 * started or stopped one day. `options` is copied; everything that it points to
 * is borrowed until `released`. -EINVAL: a null argument, no function, a bad
 * capacity, negative permits, `most` above WEIR_BURST_MAX, a semaphore that was
 * never set up, or something in `reserved`. -ENOMEM. Then nothing has changed.
 * Whoever sets it up.
 */
WEIR_API int weir_producer_init(struct weir_producer *producer,
				struct weir_executor *executor,
				const struct weir_producer_options *options);
WEIR_API int weir_transformer_init(
	struct weir_transformer *transformer, struct weir_executor *executor,
	const struct weir_transformer_options *options);
WEIR_API int weir_consumer_init(struct weir_consumer *consumer,
				struct weir_executor *executor,
				const struct weir_consumer_options *options);

/*
 * Links the only out-port of each actor to the only in-port of the next actor,
 * and starts all actors, the last one first. The actors are new: stages, or
 * actors of your own. In-ports of the first actor and out-ports of the last are
 * left alone. The memory of the actors may be gone on return.
 *
 * -EINVAL: null, no actors, an actor that is there twice, or an actor that has
 * no such port or several. -EALREADY: an actor was started or stopped before.
 * Or the error of weir_out_link() for two neighbours. Then nothing has changed.
 *
 * -ENOMEM, -ESHUTDOWN, or the error of an executor's submit: not all actors can
 * run. Then all have been stopped, as by weir_actor_stop().
 *
 * Whoever sets them up.
 */
WEIR_API int weir_chain_start(struct weir_actor *const *actors,
			      size_t n_actors);

#ifdef __cplusplus
}
#endif

#endif
