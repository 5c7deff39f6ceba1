/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where turns run. An executor takes tasks (actors that may run) and calls
 * weir_task_run() for each, once per submission, on any thread it likes. The
 * library has four (threads.h, loop.h, sim.h, blocking.h); anyone may write
 * another by filling in struct weir_executor_ops.
 *
 * Times are nanoseconds on the executor's own monotonic clock, which is
 * virtual on a simulator.
 */
#ifndef WEIR_EXECUTOR_H
#define WEIR_EXECUTOR_H

#include <stdbool.h>

#include <weir/allocator.h>
#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_actor;
struct weir_error;
struct weir_executor;
struct weir_subscriber;

/* An actor's place in a run queue: it is in one at most. */
struct weir_task {
	struct weir_task *next; /* the executor's, from submit to run */
};

/*
 * Runs one slice of the task. Called once for each submission, on any thread,
 * holding no lock that a submission takes. The task may be submitted again,
 * or its memory be gone, before this returns: do not touch it afterwards.
 * Called inside another slice on the same thread (an executor that runs at
 * once), the task waits until that slice is over: stack use is constant.
 */
WEIR_API void weir_task_run(struct weir_task *task);

/*
 * Something to be done at a time. Embedded by its user, who may reuse the
 * memory when cancel returned true or when `fire` has been called.
 */
struct weir_timer {
	/*
	 * The time has come. On the executor's timer thread (the thread that
	 * runs a loop or a simulator), once per arming, holding no lock; must
	 * not block; may arm this or any other timer.
	 */
	void (*fire)(struct weir_timer *timer);
	/* private */
	struct weir_timer *next;
	struct weir_timer **link;
	uint64_t at_ns;
	uint32_t slot;
};

/* A file descriptor to be watched, once per arming. As weir_timer. */
struct weir_watch {
	/* `events` as poll(2) has them: what is ready, errors, hang-up. */
	void (*fire)(struct weir_watch *watch, short events);
	int fd;
	short events; /* POLLIN, POLLOUT, ... */
	/* private */
	uint32_t slot;
	uint32_t generation;
};

/*
 * What an executor can do. All functions may be called from any thread at
 * once unless the executor says otherwise; none may block.
 */
struct weir_executor_ops {
	/*
	 * Takes the task, to run it once; what was done before the call happens
	 * before that run (a release here, an acquire there). A negative errno
	 * refuses it: its actor then fails with that error, and nobody else is
	 * touched.
	 */
	int (*submit)(struct weir_executor *executor, struct weir_task *task);
	uint64_t (*now)(struct weir_executor *executor);
	/*
	 * Optional, NULL means -ENOTSUP. Arming an armed timer moves it. 0 or
	 * a negative errno, which changes nothing.
	 */
	int (*timer_arm)(struct weir_executor *executor,
			 struct weir_timer *timer, uint64_t at_ns);
	/* True: it was armed and will not fire. False: it fires or has. */
	bool (*timer_cancel)(struct weir_executor *executor,
			     struct weir_timer *timer);
	/* Optional, as the timers. A watch not armed may be armed again. */
	int (*watch_arm)(struct weir_executor *executor,
			 struct weir_watch *watch);
	bool (*watch_cancel)(struct weir_executor *executor,
			     struct weir_watch *watch);
	/*
	 * Optional, for executors that their owner's thread runs. A call that
	 * waits on that thread calls `step` until what it waits for has come:
	 * it runs something, or else waits for at most `timeout_ns` until
	 * there is something to run. 0, -ETIMEDOUT when nothing came, or
	 * -EDEADLK when nothing can ever come. `wake`, from any thread, ends a
	 * wait in `step`: when what a call waits for has come, behind the end
	 * of a drain, and when the last actor has been released. It holds no
	 * lock of the library's.
	 */
	int (*step)(struct weir_executor *executor, uint64_t timeout_ns);
	void (*wake)(struct weir_executor *executor);
};

/* Settings all executors share; 0 or NULL means the default. */
struct weir_executor_options {
	const struct weir_allocator *allocator;
	uint32_t budget_turns; /* most turns a slice takes, 2048 */
	uint64_t budget_ns;    /* most time a slice takes, 25 us */
	uint64_t publish_ns;   /* results are published that often, 5 us */
	/*
	 * A turn failed and nobody supervises the actor: it stops. On the
	 * thread that ran the turn, once per failure; must not block; both
	 * arguments are borrowed for the call.
	 */
	void (*failed)(struct weir_actor *actor, struct weir_error *error,
		       void *context);
	/*
	 * A subscriber has returned `code` from a signal, which says that it is
	 * broken (stream.h): its subscription is cancelled. On the thread that
	 * sent the signal, once per subscriber; must not block.
	 */
	void (*broken)(struct weir_subscriber *subscriber, int code,
		       void *context);
	void *context; /* passed to both */
};

/*
 * The head of every executor; embedded first by who implements one. All
 * fields are private to the library but `ops`, which is read-only.
 */
struct weir_executor {
	const struct weir_executor_ops *ops;
	struct weir_executor_options options;
	struct weir__registry *registry;
};

/*
 * Makes the head of an executor of your own. `ops` is borrowed and lives as
 * long as the executor, `options` is copied and may be NULL.
 * -EINVAL: a null argument, no submit or no now, half a pair of timer, watch
 * or step functions, or a budget above WEIR_BUDGET_MAX turns. -ENOMEM. Then
 * nothing has changed.
 */
WEIR_API int weir_executor_init(struct weir_executor *executor,
				const struct weir_executor_ops *ops,
				const struct weir_executor_options *options);

#define WEIR_BUDGET_MAX (1u << 20)

/*
 * Takes the head down again. 0, or -EBUSY, with nothing changed, while an actor
 * started on it is alive. One that is leaving, because its last reference has
 * been dropped, is waited for: so whoever has heard from the last `released`
 * that all is over may take it down; so is a `done` of a drain that has not
 * returned. No call waits from inside a `released` or a `done`, or where no
 * call may wait (a turn, a worker of a pool): there both are -EBUSY as well.
 */
WEIR_API WEIR_MUST_CHECK int weir_executor_fini(struct weir_executor *executor);

/* The executor's clock, nanoseconds. Any thread. */
WEIR_API uint64_t weir_executor_now(struct weir_executor *executor);

/*
 * Actors started here and not released yet. Any thread; a snapshot. When the
 * last one is released a loop is woken, on whatever thread that was.
 */
WEIR_API size_t weir_executor_alive(struct weir_executor *executor);

/*
 * Arms a timer for `at_ns` (a time past fires as soon as can be); an armed
 * timer is moved. -EINVAL: null, or no `fire`. -ENOTSUP: the executor has no
 * timers. -ENOMEM. Any thread, but one at a time for the same timer.
 */
WEIR_API int weir_timer_arm(struct weir_executor *executor,
			    struct weir_timer *timer, uint64_t at_ns);

/*
 * True: the timer was armed and will not fire. False: it was not armed, or
 * fires or has fired. Any thread, but one at a time for the same timer.
 */
WEIR_API bool weir_timer_cancel(struct weir_executor *executor,
				struct weir_timer *timer);

/*
 * How an executor ends. The caller embeds it and keeps it until `done`; the
 * results are valid from then on.
 */
struct weir_drain {
	/*
	 * Everything has ended, or the deadline has passed. Once, on any
	 * thread, holding no lock; must not block. The executor cannot be freed
	 * in it (-EBUSY); behind it a loop is woken. A system is told of its
	 * actors after this: to free it wait for weir_system_terminated().
	 */
	void (*done)(struct weir_drain *drain);
	/* read-only results */
	size_t actors_left;   /* alive at the deadline; 0: all have ended */
	size_t items_dropped; /* undelivered items dropped since the call */
	/* private */
	struct weir_timer timer;
	struct weir_executor *executor;
	struct weir_drain *next;
	size_t dropped_before;
};

/*
 * Finishes what was accepted: from now on no actor can be started (they get
 * -ESHUTDOWN); actors that take tokens from nowhere finish; in-ports refuse
 * further weir_in_put and end behind what they hold; so do subscribers'
 * in-ports that have no publisher or one that is not on this executor, which is
 * cancelled; actors that take from a channel end with it; what is under way
 * flows through and ends by itself, at the pace of those who take it. `done`
 * comes when no actor is left, or at `deadline_ns` with those left still
 * running. Returns at once.
 * -EINVAL: null or no `done`. -ENOTSUP: a deadline other than WEIR_FOREVER on
 * an executor without timers. Any thread.
 */
WEIR_API int weir_executor_end_async(struct weir_executor *executor,
				     struct weir_drain *drain,
				     uint64_t deadline_ns);

/*
 * As weir_executor_end_async, but stops every actor: queued items are dropped,
 * streams end with -ECANCELED. May follow a drain whose deadline has passed,
 * or overtake one.
 */
WEIR_API int weir_executor_stop_async(struct weir_executor *executor,
				      struct weir_drain *drain,
				      uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
