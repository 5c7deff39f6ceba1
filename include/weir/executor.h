/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where turns run. An executor takes tasks (actors that may run) and calls
 * weir_task_run() for each, once per submission, on any thread it likes. The
 * library has four executors (threads.h, loop.h, sim.h, blocking.h). You can
 * write another one by filling in struct weir_executor_ops.
 *
 * Times are nanoseconds on the executor's own monotonic clock, which is
 * virtual on a simulator.
 */
#ifndef WEIR_EXECUTOR_H
#define WEIR_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/allocator.h>
#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_actor;
struct weir_error;
struct weir_executor;
struct weir_subscriber;

/* An actor's place in a run queue. A task is in at most one queue. */
struct weir_task {
	struct weir_task *next; /* the executor's, from submit to run */
};

/*
 * Runs one slice of the task. Call it once for each submission, on any thread,
 * holding no lock that a submission takes. Do not touch the task afterwards: it
 * may have been submitted again, or its memory may be gone. If it is called
 * inside another slice on the same thread (by an executor that runs a task
 * inside submit), the task waits until that slice is over, so the use of the
 * stack is constant.
 */
WEIR_API void weir_task_run(struct weir_task *task);

/*
 * A callback at a time. The user embeds the timer, and may reuse its memory
 * when a cancel has returned true or when `fire` has been called.
 */
struct weir_timer {
	/*
	 * The time has come. On the executor's timer thread (the thread that
	 * runs a loop or a simulator), once per arming, holding no lock; must
	 * not block; may arm this or any other timer.
	 */
	void (*fire)(struct weir_timer *timer);
	struct {
		struct weir_timer *next;
		struct weir_timer **link;
		uint64_t at_ns;
		uint32_t slot;
	} WEIR_PRIVATE;
};

/*
 * A file descriptor to be watched. As weir_timer, but a pool fires it on one of
 * its workers: once per arming, when one of `events` is there, as poll(2) would
 * say.
 *
 * With `edges` it stays armed until it is cancelled, and fires whenever
 * something has come since it fired last, as with EPOLLET: so the user reads or
 * writes until EAGAIN. It fires once for what is there when it is armed, and
 * for POLLERR, POLLHUP and POLLRDHUP whether they were asked for or not. A
 * cancel that returns false has met a `fire`: one with events 0 follows, which
 * is the last, and until then the memory is not the user's.
 */
struct weir_watch {
	/* `events` are those of poll(2): readiness, errors, hang-up. */
	void (*fire)(struct weir_watch *watch, short events);
	int fd;
	short events; /* POLLIN, POLLOUT, ... */
	bool edges;
	struct {
		uint32_t slot;
		uint32_t generation;
	} WEIR_PRIVATE;
};

/*
 * What an executor can do. All functions may be called from any thread at
 * once unless the executor says otherwise; none may block.
 */
struct weir_executor_ops {
	/*
	 * Takes the task, to run it once. Everything that the caller did before
	 * the call happens before that run (a release in the call, an acquire
	 * in the run). A negative errno refuses the task: its actor then fails
	 * with that error, and no other actor is touched.
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
	/*
	 * Optional, as the timers. A watch not armed may be armed again; one
	 * that is armed is -EALREADY.
	 */
	int (*watch_arm)(struct weir_executor *executor,
			 struct weir_watch *watch);
	bool (*watch_cancel)(struct weir_executor *executor,
			     struct weir_watch *watch);
	/*
	 * Optional, for executors that are run by the thread that owns them. A
	 * call that waits on that thread calls `step` until its wait is over.
	 * `step` runs something; if there is nothing to run, it waits for at
	 * most `timeout_ns` until there is. 0; -ETIMEDOUT, nothing came; or
	 * -EDEADLK, nothing can ever come.
	 *
	 * `wake`, from any thread, ends a wait in `step`: when the wait of a
	 * call is over, behind the end of a drain, and when the last actor has
	 * been released. It is called with no lock of the library's held.
	 */
	int (*step)(struct weir_executor *executor, uint64_t timeout_ns);
	void (*wake)(struct weir_executor *executor);
};

/* Settings all executors share; 0 or NULL means the default. */
struct weir_executor_options {
	const struct weir_allocator *allocator;
	size_t budget_turns; /* most turns a slice takes, 2048 */
	uint64_t budget_ns;  /* most time a slice takes, 25 us */
	uint64_t publish_ns; /* results are published that often, 5 us */
	/*
	 * A turn has failed, and no supervisor decides about the actor: the
	 * actor stops. Called on the thread that ran the turn, once per
	 * failure; must not block. Both arguments are borrowed for the call.
	 */
	void (*failed)(struct weir_actor *actor, struct weir_error *error,
		       void *context);
	/*
	 * A subscriber has returned `code` from a signal: it is broken
	 * (stream.h), and its subscription is cancelled. Called on the thread
	 * that sent the signal, once per subscriber; must not block.
	 */
	void (*broken)(struct weir_subscriber *subscriber, int code,
		       void *context);
	void *context;	      /* passed to both */
	uint64_t reserved[4]; /* zero */
};

/*
 * The head of every executor; an implementation embeds it as its first field.
 * `ops` is read-only.
 */
struct weir_executor {
	const struct weir_executor_ops *ops;
	struct {
		struct weir_executor_options options;
		struct weir__registry *registry;
	} WEIR_PRIVATE;
};

/*
 * Sets up the head of an executor of your own. `ops` is borrowed and lives as
 * long as the executor; `options` is copied and may be NULL. -EINVAL: a null
 * argument, no submit or no now, half a pair of timer, watch or step functions,
 * a budget above WEIR_BUDGET_MAX turns, or something in `reserved`. -ENOMEM.
 * Then nothing has changed. From then on, and until weir_executor_fini(), the
 * head stays where it is: who looks inside the process finds it there.
 */
WEIR_API int weir_executor_init(struct weir_executor *executor,
				const struct weir_executor_ops *ops,
				const struct weir_executor_options *options);

#define WEIR_BUDGET_MAX (1u << 20)

/*
 * Takes the head down again. 0, or -EBUSY, with nothing changed, while an actor
 * that was started on the executor is alive. The call waits for an actor that
 * is leaving, because its last reference has been dropped, and for a `done` of
 * a drain that has not returned. So the code that learns from the last
 * `released` that all is over may take the executor down; and for who looks at
 * all executors at this moment (inspect.h). No call can wait
 * inside a `released` or a `done`, nor where no call may wait (in a turn, on a
 * worker of a pool): there both are -EBUSY as well.
 */
WEIR_API WEIR_MUST_CHECK int weir_executor_fini(struct weir_executor *executor);

/* The executor's clock, nanoseconds. Any thread. */
WEIR_API uint64_t weir_executor_now(struct weir_executor *executor);

/*
 * The number of actors that were started here and are not released yet. Any
 * thread; a snapshot. When the last one is released, on whatever thread, a loop
 * is woken.
 */
WEIR_API size_t weir_executor_alive(struct weir_executor *executor);

/*
 * Arms a timer for `at_ns`; a timer whose time is past fires at once, an armed
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
 * A request to end an executor. The caller embeds it and keeps it until `done`;
 * the results are valid from then on.
 */
struct weir_ending {
	/*
	 * Everything has ended, or the deadline has passed. Called once, on any
	 * thread, holding no lock; must not block. The executor cannot be freed
	 * in it (-EBUSY); a loop is woken behind it. A system learns of the end
	 * of its actors after this call: wait for weir_system_terminated() to
	 * free it.
	 */
	void (*done)(struct weir_ending *ending);
	/* read-only results */
	size_t actors_left;   /* alive at the deadline; 0: all have ended */
	size_t items_dropped; /* undelivered items dropped since the call */
	struct {
		struct weir_timer timer;
		struct weir_executor *executor;
		struct weir_ending *next;
		size_t dropped_before;
	} WEIR_PRIVATE;
};

/*
 * Ends the executor when all accepted work is done. Returns at once. From now
 * on:
 *
 * 1. No actor can be started: -ESHUTDOWN.
 * 2. Actors that have no source of tokens end.
 * 3. In-ports refuse further weir_in_put(), and end behind the tokens they
 *    hold. So do in-ports of subscribers that have no publisher, or one that is
 *    not on this executor; that publisher is cancelled.
 * 4. Actors that take from a channel end with it.
 * 5. Items under way flow through and end by themselves, at the pace of the
 *    actors that take them.
 *
 * `done` is called when no actor is left, or at `deadline_ns`, and the actors
 * that are left then go on. -EINVAL: null or no `done`. -ENOTSUP: a deadline
 * other than WEIR_FOREVER on an executor without timers. Any thread.
 */
WEIR_API int weir_executor_end_async(struct weir_executor *executor,
				     struct weir_ending *ending,
				     uint64_t deadline_ns);

/*
 * As weir_executor_end_async(), but stops every actor: queued items are
 * dropped, streams end with -ECANCELED. It may follow an ending whose deadline
 * has passed, or overtake one under way.
 */
WEIR_API int weir_executor_stop_async(struct weir_executor *executor,
				      struct weir_ending *ending,
				      uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
