/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions: a result that comes once, with a value or an error, for as many
 * callbacks, waiting threads and actors as like. Made of it: the latch, which
 * completes when it has been counted down, and the join, which completes when
 * all of several completions have, or any of them.
 *
 * A completion is a one-way latch: what it is completed with stays. It
 * outlives the calls on it, the callbacks that it owes and the actors that
 * have ports at it.
 */
#ifndef WEIR_COMPLETION_H
#define WEIR_COMPLETION_H

#include <weir/port.h>
#include <weir/private.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All private. */
struct weir_completion {
	uint32_t state; /* any thread, atomically */
	uint32_t lock;	/* for the rest */
	struct weir__waiters waiters;
	void *value;
	struct weir_error *error;
};

/* Sets it up, to be completed. -EINVAL: null. */
WEIR_API int weir_completion_init(struct weir_completion *completion);

/*
 * The end of it; the memory may be reused. It may follow a call that saw it
 * complete, though the one that completed it has not returned yet. -EBUSY:
 * somebody waits; then nothing is changed. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_completion_fini(
	struct weir_completion *completion);

/*
 * Completes it, well, with a value of yours (NULL is fine); the completion
 * does not look at it. Callbacks of those who wait run on this thread before
 * it returns or, inside of another such callback, after that one. -EALREADY:
 * it is complete, and stays as it is. -EINVAL: null. Any thread; a short
 * lock.
 */
WEIR_API int weir_completion_complete(struct weir_completion *completion,
				      void *value);

/* The same with an error (borrowed). -EINVAL: null. */
WEIR_API int weir_completion_fail(struct weir_completion *completion,
				  struct weir_error *error);

/* True: it is complete, well or not. Any thread; wait-free. */
WEIR_API bool weir_completion_done(const struct weir_completion *completion);

/* What it was completed with; NULL before, or if it failed. Wait-free. */
WEIR_API void *weir_completion_value(const struct weir_completion *completion);

/* Its error, borrowed; NULL before, or if it completed well. Wait-free. */
WEIR_API struct weir_error *weir_completion_error(
	const struct weir_completion *completion);

/*
 * Waits until it is complete, well or not: 0. Otherwise as
 * weir_semaphore_acquire_wait(): -ETIMEDOUT, -EDEADLK. -EINVAL: null. Any
 * thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_completion_wait(
	struct weir_completion *completion, uint64_t timeout_ns);

/* A callback that waits; embedded by who makes it, kept until `done`. */
struct weir_await {
	/*
	 * The completion is complete. Once, holding no lock, on the thread
	 * that completed it or on the one that asked, also before
	 * weir_completion_wait_async() has returned. Must not block; may call
	 * anything else, and reuse or free the struct.
	 */
	void (*done)(struct weir_await *await,
		     struct weir_completion *completion);
	/* private */
	struct weir_completion *completion;
	struct weir__waiter waiter;
};

/*
 * Calls `done` when it is complete, at once if it is already. Callbacks come
 * in the order they were asked for. -EINVAL: null, no `done`; then it will
 * not be called. Any thread; a short lock.
 */
WEIR_API int weir_completion_wait_async(struct weir_completion *completion,
					struct weir_await *await);

/*
 * True: `done` will not be called. False: it has been called or will be, or
 * runs now. Any thread; a short lock.
 */
WEIR_API bool weir_completion_cancel(struct weir_completion *completion,
				     struct weir_await *await);

/* A port that is unblocked once the completion is complete, and stays so. */
struct weir_completion_port {
	/* private */
	struct weir_port port;
	const struct weir__port_ops *ops;
	struct weir_completion *completion;
	struct weir__waiter waiter;
	bool asked;
};

/*
 * Sets up a port of `actor`. A turn that wants to run just once for it ignores
 * the port, or finishes. -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_completion_port_init(struct weir_completion_port *port,
				       struct weir_actor *actor,
				       struct weir_completion *completion);

/* --- Latches ------------------------------------------------------------ */

/* Completes when it has been counted down to 0. */
struct weir_latch {
	struct weir_completion completion; /* to wait for; or to fail */
	/* private */
	int64_t count; /* any thread, atomically */
};

/*
 * Sets up a latch of `count`; with 0 it is complete. -EINVAL: null, or
 * negative.
 */
WEIR_API int weir_latch_init(struct weir_latch *latch, int64_t count);

/* As weir_completion_fini(). */
WEIR_API WEIR_MUST_CHECK int weir_latch_fini(struct weir_latch *latch);

/*
 * Counts down by `n`; at 0 the completion completes, well, if it was not
 * completed before. -EALREADY: it is at 0. -ERANGE: less than `n` is left.
 * -EINVAL: null, n <= 0. Then nothing is changed. Any thread; lock-free but
 * for the last.
 */
WEIR_API int weir_latch_count_down(struct weir_latch *latch, int64_t n);

/* What is left, a snapshot. Any thread; wait-free. */
WEIR_API int64_t weir_latch_count(const struct weir_latch *latch);

/* --- Joins -------------------------------------------------------------- */

enum weir_join_rule {
	/* When all have completed; with the error of the first that failed. */
	WEIR_JOIN_ALL,
	/* With the value or the error of the first that has completed. */
	WEIR_JOIN_ANY,
};

/* One of those joined; embedded by who adds it, kept until the join is done. */
struct weir_member {
	/* private */
	struct weir_await await;
	struct weir_join *join;
	struct weir_member *next;
};

/*
 * Completions joined into one. When that is done nobody touches the join or
 * its members any more, so a callback of it may free them all.
 */
struct weir_join {
	struct weir_completion completion; /* to wait for */
	/* private */
	enum weir_join_rule rule;
	uint32_t pending; /* any thread, atomically; so is state */
	uint32_t state;
	struct weir_member *members;
	struct weir_completion *first;
	void *value;
	struct weir_error *error;
};

/* Sets up a join without members. -EINVAL: null, or no such rule. */
WEIR_API int weir_join_init(struct weir_join *join, enum weir_join_rule rule);

/*
 * As weir_completion_fini(); -EBUSY also while it is not complete (cancel and
 * close it first).
 */
WEIR_API WEIR_MUST_CHECK int weir_join_fini(struct weir_join *join);

/*
 * Adds a completion, which may be complete already and outlives the join's.
 * -EINVAL: null. -EALREADY: the join is closed. Then nothing is changed. One
 * thread at a time, with weir_join_end().
 */
WEIR_API int weir_join_add(struct weir_join *join, struct weir_member *member,
			   struct weir_completion *completion);

/*
 * No more members: only now can it complete, so none comes too late. All of
 * none completes at once. -EINVAL: null, or any of none. -EALREADY. One
 * thread at a time.
 */
WEIR_API int weir_join_end(struct weir_join *join);

/*
 * Gives up: once closed, it completes without waiting for members that have
 * not completed, with -ECANCELED unless it was decided before. -EALREADY: it
 * was cancelled, completes or is complete. -EINVAL: null. Any thread that
 * knows that the join is still there.
 */
WEIR_API int weir_join_cancel(struct weir_join *join);

/*
 * The member's completion that decided: the first of any, the first that
 * failed of all; else NULL. Once the join is complete.
 */
WEIR_API struct weir_completion *weir_join_first(const struct weir_join *join);

#ifdef __cplusplus
}
#endif

#endif
