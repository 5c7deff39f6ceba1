/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ready-made actors: a producer, a transformer and a consumer that call
 * functions of yours, and a call that links and starts a chain of actors, these
 * or your own. A chain of them is a few lines:
 *
 *	weir_producer_init(&read, executor, &(struct weir_producer_options){
 *		.name = "read", .produce = read_block, .context = &files});
 *	weir_consumer_init(&count, executor, &(struct weir_consumer_options){
 *		.name = "count", .consume = count_words, .context = &words});
 *	weir_chain_start((struct weir_actor *[]){&read.actor, &count.actor}, 2);
 *
 * Every function of yours is called by the thread that runs the stage's slice,
 * never two of one stage at once, and must not block (but on a blocking
 * executor). It is the actor's owner: it may call weir_actor_end() to end
 * the stage early, and whatever else is the owner's. The options are copied.
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

/* Of `produce`: an item, and that was all. */
#define WEIR_PRODUCE_LAST 2

/* Of `transform` and `flush`: call again when there is room again. */
#define WEIR_TRANSFORM_MORE 1

/* An in-port holds that many tokens if `capacity` is 0. */
#define WEIR_STAGE_CAPACITY 64u

/* All but `produce` may be 0 or NULL, here and below all but the function. */
struct weir_producer_options {
	const char *name; /* lives for ever, errors carry it; "producer" */
	void *context;	  /* passed to the functions */
	/*
	 * The next item: 1 and *item, which is the stream's now;
	 * WEIR_PRODUCE_LAST: the same, and that was all; 0: there are none; a
	 * negative errno fails the stage. Called when there is room, so 0 waits
	 * for that, or for one more request of a subscriber, and
	 * WEIR_PRODUCE_LAST does not.
	 */
	int (*produce)(void **item, void *context);
	/*
	 * The stage has ended: well (NULL), or with `error` (borrowed), be it
	 * its own, that of its input, or -ECANCELED if it was stopped. Once,
	 * after the last call of all other functions.
	 */
	void (*done)(struct weir_error *error, void *context);
	/*
	 * The memory of the stage and of all that it names may be reused. Once,
	 * last, on any thread. Not called if no init succeeded.
	 */
	void (*released)(void *context);
	const struct weir_items *makes; /* what its items are; plain values */
	/*
	 * Each item uses up one permit of this many; 0: none are needed. Give
	 * back with weir_permits_release(&producer.permits, 1), see also
	 * weir_consumer_options.
	 */
	int64_t permits;
	struct weir_stats *stats;		/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
};

/* Fields are read-only but the ports, which may be set up further. */
struct weir_producer {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_permits permits; /* if the options say so */
	/* private */
	struct weir_actor_ops ops;
	struct weir_producer_options options;
};

struct weir_transformer_options {
	const char *name; /* lives for ever, errors carry it; "transformer" */
	void *context;	  /* passed to the functions */
	/*
	 * What becomes of the item: puts up to `most` items into `out`. 0: done
	 * with it; it is the callee's now, to pass on, keep or free.
	 * WEIR_TRANSFORM_MORE: to be called with the same item again when there
	 * is room for `most` more. A negative errno fails the stage, and the
	 * library drops the item: one that was passed on must not be reported
	 * so. Putting more than `most` fails it with -EOVERFLOW.
	 */
	int (*transform)(void *item, struct weir_out *out, void *context);
	/*
	 * The input has ended well, and there is room for `most` items: what is
	 * kept back comes out now. 0: that was all, WEIR_TRANSFORM_MORE: to be
	 * called again, or a negative errno. Not called after an error. A stage
	 * that restarts behind the end of its input goes on with this.
	 */
	int (*flush)(struct weir_out *out, void *context);
	void (*done)(struct weir_error *error, void *context); /* as above */
	void (*released)(void *context);		       /* as above */
	size_t capacity; /* of the in-port, a power of two */
	uint32_t most;	 /* outputs of one call, up to WEIR_BURST_MAX; 1 */
	const struct weir_items *takes; /* what the link's other end says */
	const struct weir_items *makes; /* plain values */
	struct weir_stats *stats;	/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
};

/* Fields are read-only but the ports, which may be set up further. */
struct weir_transformer {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	/* private */
	struct weir_actor_ops ops;
	struct weir_transformer_options options;
};

struct weir_consumer_options {
	const char *name; /* lives for ever, errors carry it; "consumer" */
	void *context;	  /* passed to the functions */
	/*
	 * 0: the item is the callee's. A negative errno fails the stage, and
	 * the library drops the item.
	 */
	int (*consume)(void *item, void *context);
	void (*done)(struct weir_error *error, void *context); /* as above */
	void (*released)(void *context);		       /* as above */
	size_t capacity;		/* of the in-port, a power of two */
	const struct weir_items *takes; /* what the link's other end says */
	/*
	 * Gets a permit for each item consumed, or dropped as its turn failed.
	 * With the semaphore of the producer whose items come here one for one,
	 * that bounds what is under way in the whole chain; where items are
	 * split, merged or left out, release by hand. Its actor is referenced
	 * until the consumer ends.
	 */
	struct weir_permits *permits;
	struct weir_stats *stats;		/* as weir_actor_set_stats() */
	const struct weir_lifecycle *lifecycle; /* in a system; borrowed */
};

/* Fields are read-only but the port, which may be set up further. */
struct weir_consumer {
	struct weir_actor actor;
	struct weir_in in;
	/* private */
	struct weir_actor_ops ops;
	struct weir_consumer_options options;
};

/*
 * Sets a stage up in the caller's memory, as weir_actor_init(): it must be
 * started or stopped one day. `options` is copied, what it points to is
 * borrowed until `released`. -EINVAL: a null argument, no function, a bad
 * capacity, negative permits, `most` above WEIR_BURST_MAX, or a semaphore that
 * was never set up. -ENOMEM. Then nothing has changed. Whoever sets it up.
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
 * Links the only out-port of each actor to the only in-port of the next, and
 * starts them all, the last one first. The actors are new, ready-made or your
 * own; the first may have in-ports and the last out-ports, which are left
 * alone. Their memory may be gone on return.
 *
 * -EINVAL: null, no actors, one that is there twice, or that has no such port
 * or several. -EALREADY: one that was started or stopped before. What
 * weir_out_link() reports about two neighbours. Then nothing has changed.
 *
 * -ENOMEM, -ESHUTDOWN or what an executor's submit reports: the actors cannot
 * all run; they have all been stopped, as by weir_actor_stop().
 *
 * Whoever sets them up.
 */
WEIR_API int weir_chain_start(struct weir_actor *const *actors,
			      size_t n_actors);

#ifdef __cplusplus
}
#endif

#endif
