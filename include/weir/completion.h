/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A completion is a result that comes once, as a value or an error, for any
 * number of callbacks, waiting threads and actors. Two objects are made of it:
 * a latch completes when it has been counted down, a join completes when all or
 * any of several completions have.
 *
 * The result of a completion never changes. A completion must outlive the calls
 * on it, the callbacks that are still to come, and the actors that have ports
 * at it.
 */
#ifndef WEIR_COMPLETION_H
#define WEIR_COMPLETION_H

#include <weir/port.h>
#include <weir/private.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_completion {
	struct {
		uint32_t state; /* any thread, atomically */
		uint32_t lock;	/* for the rest */
		struct weir__waiters waiters;
		void *value;
		struct weir_error *error;
	} WEIR_PRIVATE;
};

/* Sets up a completion that is not complete. -EINVAL: null. */
WEIR_API int weir_completion_init(struct weir_completion *completion);

/*
 * Ends the life of a completion; its memory may be reused. A thread that has
 * seen it complete may call this, even if the call that completed it has not
 * returned yet. -EBUSY: a callback, thread or port waits; then nothing is
 * changed. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_completion_fini(
	struct weir_completion *completion);

/*
 * Completes it well, with a value of yours (NULL is fine) that the library does
 * not look at. Waiting callbacks run on this thread before the call returns;
 * inside another such callback, they run after that one. -EALREADY: it is
 * complete, and its result stays. -EINVAL: null. Any thread; a short lock.
 */
WEIR_API int weir_completion_complete(struct weir_completion *completion,
				      void *value);

/* As weir_completion_complete(), with an error (borrowed). -EINVAL: null. */
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
 * Waits until it is complete, well or not: then 0. Otherwise as
 * weir_semaphore_acquire_wait(): -ETIMEDOUT, -EDEADLK. -EINVAL: null. Any
 * thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_completion_wait(
	struct weir_completion *completion, uint64_t timeout_ns);

/* A request for a callback. The caller embeds it, and keeps it until `done`. */
struct weir_await {
	/*
	 * The completion is complete. Called once, holding no lock, on the
	 * thread that completed it or on the thread that asked, also before
	 * weir_completion_wait_async() has returned. Must not block; may call
	 * any function, and reuse or free the struct.
	 */
	void (*done)(struct weir_await *await,
		     struct weir_completion *completion);
	struct {
		struct weir_completion *completion;
		struct weir__waiter waiter;
	} WEIR_PRIVATE;
};

/*
 * Calls `done` when the completion is complete; at once if it is already.
 * Callbacks come in the order in which they were asked for. -EINVAL: null, no
 * `done`; then `done` will not be called. Any thread; a short lock.
 */
WEIR_API int weir_completion_wait_async(struct weir_completion *completion,
					struct weir_await *await);

/*
 * Cancels a request. True: `done` will not be called. False: `done` was called
 * or will be, or runs now. Any thread; a short lock.
 */
WEIR_API bool weir_completion_cancel(struct weir_completion *completion,
				     struct weir_await *await);

/* A port that is unblocked once the completion is complete, and stays so. */
struct weir_completion_port {
	struct weir_port port;
	struct {
		const struct weir__port_ops *ops;
		struct weir_completion *completion;
		struct weir__waiter waiter;
		bool asked;
	} WEIR_PRIVATE;
};

/*
 * Sets up a port of `actor`. A turn that should run only once must ignore the
 * port, or end the actor. -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_completion_port_init(struct weir_completion_port *port,
				       struct weir_actor *actor,
				       struct weir_completion *completion);

/* --- Latches ------------------------------------------------------------ */

/* Completes when it has been counted down to 0. */
struct weir_latch {
	struct weir_completion completion; /* to wait for; or to fail */
	struct {
		int64_t count; /* any thread, atomically */
	} WEIR_PRIVATE;
};

/*
 * Sets up a latch of `count`; a latch of 0 is complete. -EINVAL: null, or
 * negative.
 */
WEIR_API int weir_latch_init(struct weir_latch *latch, int64_t count);

/* As weir_completion_fini(). */
WEIR_API WEIR_MUST_CHECK int weir_latch_fini(struct weir_latch *latch);

/*
 * Counts down by `n`. At 0 the completion completes, well, unless it was
 * completed before. -EALREADY: the count is 0. -ERANGE: the count is less than
 * `n`. -EINVAL: null, n <= 0. Then nothing is changed. Any thread; lock-free
 * but for the last.
 */
WEIR_API int weir_latch_count_down(struct weir_latch *latch, int64_t n);

/* The count that is left, a snapshot. Any thread; wait-free. */
WEIR_API int64_t weir_latch_count(const struct weir_latch *latch);

/* --- Joins -------------------------------------------------------------- */

enum weir_join_rule {
	/* When all members have completed; fails with the error of the first
	 * member that failed. */
	WEIR_JOIN_ALL,
	/* With the value or the error of the first member that completes. */
	WEIR_JOIN_ANY,
};

/* A member of a join. The caller embeds it, and keeps it until the join is
 * complete. */
struct weir_member {
	struct {
		struct weir_await await;
		struct weir_join *join;
		struct weir_member *next;
	} WEIR_PRIVATE;
};

/*
 * Several completions joined into one. When the join is complete, no thread
 * touches the join or its members any more, so its callback may free them all.
 */
struct weir_join {
	struct weir_completion completion; /* to wait for */
	struct {
		enum weir_join_rule rule;
		uint32_t pending; /* any thread, atomically; so is state */
		uint32_t state;
		struct weir_member *members;
		struct weir_completion *first;
		void *value;
		struct weir_error *error;
	} WEIR_PRIVATE;
};

/* Sets up a join without members. -EINVAL: null, or no such rule. */
WEIR_API int weir_join_init(struct weir_join *join, enum weir_join_rule rule);

/*
 * As weir_completion_fini(). -EBUSY also while the join is not complete (cancel
 * it and end it first).
 */
WEIR_API WEIR_MUST_CHECK int weir_join_fini(struct weir_join *join);

/*
 * Adds a completion, which may be complete already, and which outlives the
 * join's completion. -EINVAL: null. -EALREADY: the join is closed. Then nothing
 * is changed. One thread at a time, with weir_join_end().
 */
WEIR_API int weir_join_add(struct weir_join *join, struct weir_member *member,
			   struct weir_completion *completion);

/*
 * Says that no more members come. Only after this can the join complete, so no
 * member is added too late. A WEIR_JOIN_ALL without members completes at once.
 * -EINVAL: null, or a WEIR_JOIN_ANY without members. -EALREADY: it was called
 * before. One thread at a time.
 */
WEIR_API int weir_join_end(struct weir_join *join);

/*
 * Cancels the join: after weir_join_end() it completes without waiting for
 * members that have not completed, with -ECANCELED unless its result was
 * decided before. -EALREADY: the join was cancelled, completes now or is
 * complete. -EINVAL: null. Any thread that knows that the join still exists.
 */
WEIR_API int weir_join_cancel(struct weir_join *join);

/*
 * The member's completion that decided the result: with WEIR_JOIN_ANY the first
 * that completed, with WEIR_JOIN_ALL the first that failed; else NULL. Call it
 * when the join is complete.
 */
WEIR_API struct weir_completion *weir_join_first(const struct weir_join *join);

#ifdef __cplusplus
}
#endif

#endif
