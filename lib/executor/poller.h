/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers and watched descriptors in real time: a wheel, a pollset, a timerfd
 * for the wheel's next time and an eventfd to be woken by, under one lock. A
 * loop runs a poller on its owner's thread (weir__poller), and the workers of a
 * pool run one in turn, for descriptors alone. For the timers of a pool, and all
 * of the blocking executor's, there is a poller with a thread of its own, which
 * starts with the first of them (weir__poller_thread).
 *
 * Which calls may run together: arm, cancel and wake, from any thread, with any
 * call. run and settle on one thread at a time. init and fini alone.
 *
 * The thread that takes a timer or watch out, under the lock, owns it: cancel
 * then returns true, or run calls `fire`, without the lock.
 */
#ifndef WEIR_EXECUTOR_POLLER_H
#define WEIR_EXECUTOR_POLLER_H

#include <pthread.h>

#include <weir/executor.h>

#include "base/costs.h"
#include "base/lock.h"
#include "executor/look.h"
#include "executor/pollset.h"
#include "executor/watches.h"
#include "executor/wheel.h"

struct weir__poller {
	struct weir__lock lock; /* over all but the descriptors */
	struct weir__pollset set;
	int timer_fd, event_fd;
	/*
	 * timer_fd is set to that time, WEIR_FOREVER: not set. Not later than
	 * the wheel's next time unless `running`.
	 */
	uint64_t timer_ns;
	bool running; /* between run and settle, which sets timer_fd */
	struct weir__wheel wheel;
	struct weir__watches watches;
};

/* 0, or what the pollset, timerfd_create or eventfd reports. */
int weir__poller_init(struct weir__poller *poller,
		      const struct weir_allocator *allocator);

/*
 * Forgets timers and watches that are still armed; they never fire. `child`: in
 * a child process after fork(), where arrays that were being changed at the
 * fork are left alone.
 */
void weir__poller_fini(struct weir__poller *poller, bool child);

/* As the functions of weir_executor_ops. */
int weir__poller_timer_arm(struct weir__poller *poller,
			   struct weir_timer *timer, uint64_t at_ns);
bool weir__poller_timer_cancel(struct weir__poller *poller,
			       struct weir_timer *timer);
int weir__poller_watch_arm(struct weir__poller *poller,
			   struct weir_watch *watch);
bool weir__poller_watch_cancel(struct weir__poller *poller,
			       struct weir_watch *watch);

/* Adds the timers and watches that are armed. Any thread. */
void weir__poller_look(const struct weir__poller *poller,
		       struct weir_seen_executor *seen);

/* Makes event_fd readable, and with it the set's descriptor; ends a wait. */
void weir__poller_wake(struct weir__poller *poller);

/* event_fd is not readable any more. */
void weir__poller_unwake(struct weir__poller *poller);

/* What is ready; taken from the kernel at once. */
#define WEIR__HARVEST_EVENTS 64
struct weir__harvest {
	uint32_t n;
	struct epoll_event events[WEIR__HARVEST_EVENTS];
};

/*
 * Waits until something is ready for at most `timeout_ns`, 0: only looks. None,
 * also when a signal came. Then weir__poller_fire() fires the watches that this
 * concerns, and returns how many; *woken: event_fd is readable. Both on one
 * thread at a time, one after the other; for a poller without timers.
 */
void weir__poller_harvest(struct weir__poller *poller,
			  struct weir__harvest *harvest, uint64_t timeout_ns);
uint32_t weir__poller_fire(struct weir__poller *poller,
			   const struct weir__harvest *harvest, bool *woken);

/*
 * Waits until something is ready for at most `timeout_ns`, 0: only looks;
 * then fires what is ready and what is due. *woken: event_fd is readable.
 * Returns how many were fired. Until weir__poller_settle() timer_fd is left
 * as it is, so that timers armed meanwhile cost no system call.
 */
uint32_t weir__poller_run(struct weir__poller *poller, uint64_t timeout_ns,
			  bool *woken);

/* Ends a run: the set's descriptor becomes readable when a timer is due. */
void weir__poller_settle(struct weir__poller *poller);

/*
 * A poller and its thread, which may not wait (weir__thread.worker) and blocks
 * all signals. `lock` is over starting; `started` is atomic, set once.
 */
struct weir__poller_thread {
	const struct weir_allocator *allocator;
	struct weir__lock lock;
	uint32_t started;
	uint32_t stop; /* atomic */
	pthread_t thread;
	char name[16];
	struct weir__costs costs;   /* its own; others may read them */
	struct weir__poller poller; /* made when the thread starts */
};

/*
 * The thread will be called "<name>-timer", shortened in `name` to what the
 * kernel shows. Nothing is started or allocated.
 */
void weir__poller_thread_init(struct weir__poller_thread *service,
			      const struct weir_allocator *allocator,
			      const char *name);

/*
 * Ends and joins the thread, if it runs; not on that thread. `child`: in a
 * child process after fork(), where the thread is not there to be joined.
 */
void weir__poller_thread_fini(struct weir__poller_thread *service, bool child);

/* Whether the caller is on that thread: inside a `fire`. */
bool weir__poller_thread_self(const struct weir__poller_thread *service);

/* As weir__poller_look(); nothing before the thread has started. */
void weir__poller_thread_look(const struct weir__poller_thread *service,
			      struct weir_seen_executor *seen);

/*
 * As the functions of weir_executor_ops. The arming ones start the thread and
 * return also what pthread_create and weir__poller_init report.
 */
int weir__poller_thread_timer_arm(struct weir__poller_thread *service,
				  struct weir_timer *timer, uint64_t at_ns);
bool weir__poller_thread_timer_cancel(struct weir__poller_thread *service,
				      struct weir_timer *timer);
int weir__poller_thread_watch_arm(struct weir__poller_thread *service,
				  struct weir_watch *watch);
bool weir__poller_thread_watch_cancel(struct weir__poller_thread *service,
				      struct weir_watch *watch);

#endif
