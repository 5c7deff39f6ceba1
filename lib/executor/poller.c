/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The poller. timer_fd stays as it is while the earliest time gets later (a
 * cancelled timeout): it then wakes once for nothing, which is cheaper than a
 * system call at each cancel.
 */
#include "executor/poller.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/costs.h"
#include "base/own_thread.h"
#include "executor/thread.h"

/* The set's data for our own two descriptors; below WEIR__WATCHES_DATA_MIN. */
enum { DATA_EVENT, DATA_TIMER };

static int add_own(struct weir__poller *poller, int fd, uint64_t data)
{
	const struct epoll_event event = {.events = EPOLLIN,
					  .data = {.u64 = data}};

	return fd < 0 ? -errno
		      : poller->set.ops->set(&poller->set, fd, &event, false);
}

static void close_all(struct weir__poller *poller)
{
	if (poller->set.fd >= 0)
		poller->set.ops->close(&poller->set);
	if (poller->timer_fd >= 0)
		(void)close(poller->timer_fd);
	if (poller->event_fd >= 0)
		(void)close(poller->event_fd);
}

static int open_all(struct weir__poller *poller)
{
	int rc = poller->set.ops->open(&poller->set);

	if (rc < 0)
		return rc;
	poller->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = add_own(poller, poller->event_fd, DATA_EVENT);
	if (rc < 0)
		return rc;
	poller->timer_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return add_own(poller, poller->timer_fd, DATA_TIMER);
}

int weir__poller_init(struct weir__poller *poller,
		      const struct weir_allocator *allocator)
{
	int rc;

	poller->lock = (struct weir__lock){0};
	poller->set = (struct weir__pollset){&weir__epoll, -1};
	poller->timer_fd = poller->event_fd = -1;
	poller->timer_ns = WEIR_FOREVER;
	poller->running = false;
	rc = open_all(poller);
	if (rc < 0) {
		close_all(poller);
		return rc;
	}
	weir__wheel_init(&poller->wheel, weir__clock_ns());
	weir__watches_init(&poller->watches, allocator, &poller->set);
	return 0;
}

void weir__poller_fini(struct weir__poller *poller, bool child)
{
	if (!child || poller->lock.word == 0)
		weir__watches_fini(&poller->watches);
	close_all(poller);
}

/*
 * Under the lock. Also makes timer_fd unreadable until that time, which is
 * never 0: the wheel gives no time before its clock.
 */
static void set_timer_fd(struct weir__poller *poller, uint64_t at_ns)
{
	struct itimerspec spec = {0}; /* 0: not set */

	assert(at_ns > 0);
	if (at_ns != WEIR_FOREVER)
		spec.it_value = weir__clock_timespec(at_ns);
	poller->timer_ns = at_ns;
	weir__costs_kernel_call();
	(void)timerfd_settime(poller->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

int weir__poller_timer_arm(struct weir__poller *poller,
			   struct weir_timer *timer, uint64_t at_ns)
{
	uint64_t next_ns;

	weir__lock(&poller->lock);
	weir__wheel_arm(&poller->wheel, timer, at_ns);
	next_ns = weir__wheel_next(&poller->wheel);
	if (!poller->running && next_ns < poller->timer_ns)
		set_timer_fd(poller, next_ns);
	weir__unlock(&poller->lock);
	return 0;
}

bool weir__poller_timer_cancel(struct weir__poller *poller,
			       struct weir_timer *timer)
{
	bool cancelled;

	weir__lock(&poller->lock);
	cancelled = weir__wheel_cancel(&poller->wheel, timer);
	weir__unlock(&poller->lock);
	return cancelled;
}

int weir__poller_watch_arm(struct weir__poller *poller,
			   struct weir_watch *watch)
{
	int rc;

	weir__lock(&poller->lock);
	rc = weir__watches_arm(&poller->watches, watch);
	weir__unlock(&poller->lock);
	return rc;
}

bool weir__poller_watch_cancel(struct weir__poller *poller,
			       struct weir_watch *watch)
{
	bool cancelled;

	weir__lock(&poller->lock);
	cancelled = weir__watches_cancel(&poller->watches, watch);
	weir__unlock(&poller->lock);
	return cancelled;
}

WEIR__LOOKS void weir__poller_look(const struct weir__poller *poller,
				   struct weir_seen_executor *seen)
{
	seen->timers += poller->wheel.armed;
	seen->watches += poller->watches.armed;
}

void weir__poller_wake(struct weir__poller *poller)
{
	const uint64_t one = 1;
	ssize_t n;

	weir__costs_kernel_call();
	n = write(poller->event_fd, &one, sizeof(one));
	(void)n; /* fails only when it is readable by far */
}

void weir__poller_unwake(struct weir__poller *poller)
{
	uint64_t count;
	ssize_t n;

	weir__costs_kernel_call();
	n = read(poller->event_fd, &count, sizeof(count));
	(void)n; /* fails only when it is not readable */
}

void weir__poller_harvest(struct weir__poller *poller,
			  struct weir__harvest *harvest, uint64_t timeout_ns)
{
	harvest->n = poller->set.ops->wait(&poller->set, harvest->events,
					   WEIR__HARVEST_EVENTS, timeout_ns);
}

static struct weir_watch *take_watch(struct weir__poller *poller,
				     const struct epoll_event *event,
				     short *events)
{
	struct weir_watch *watch;

	weir__lock(&poller->lock);
	watch = weir__watches_take(&poller->watches, event->data.u64,
				   event->events, events);
	weir__unlock(&poller->lock);
	return watch;
}

static uint32_t fire_watches(struct weir__poller *poller,
			     const struct epoll_event *event)
{
	struct weir_watch *watch;
	uint32_t fired = 0;
	short events;

	while ((watch = take_watch(poller, event, &events))) {
		watch->fire(watch, events);
		fired++;
	}
	return fired;
}

static uint32_t fire_timers(struct weir__poller *poller)
{
	struct weir_timer *timer;
	uint32_t fired = 0;

	weir__lock(&poller->lock);
	weir__wheel_expire(&poller->wheel, weir__clock_ns());
	while ((timer = weir__wheel_take(&poller->wheel))) {
		weir__unlock(&poller->lock);
		timer->fire(timer);
		fired++;
		weir__lock(&poller->lock);
	}
	weir__unlock(&poller->lock);
	return fired;
}

uint32_t weir__poller_fire(struct weir__poller *poller,
			   const struct weir__harvest *harvest, bool *woken)
{
	uint32_t fired = 0, i;

	*woken = false;
	for (i = 0; i < harvest->n; i++) {
		const struct epoll_event *event = &harvest->events[i];

		if (event->data.u64 == DATA_EVENT)
			*woken = true;
		else if (event->data.u64 != DATA_TIMER)
			fired += fire_watches(poller, event);
	}
	return fired;
}

uint32_t weir__poller_run(struct weir__poller *poller, uint64_t timeout_ns,
			  bool *woken)
{
	struct weir__harvest harvest;
	uint32_t fired;

	weir__poller_harvest(poller, &harvest, timeout_ns);
	weir__lock(&poller->lock);
	poller->running = true;
	weir__unlock(&poller->lock);
	fired = weir__poller_fire(poller, &harvest, woken);
	return fired + fire_timers(poller);
}

void weir__poller_settle(struct weir__poller *poller)
{
	uint64_t next_ns;

	weir__lock(&poller->lock);
	/* behind each weir__poller_run(), and nowhere else */
	assert(poller->running);
	poller->running = false;
	next_ns = weir__wheel_next(&poller->wheel);
	/* The next time is earlier than the one set, or the one set has
	 * passed. */
	if (next_ns < poller->timer_ns ||
	    poller->timer_ns <= poller->wheel.now_ns)
		set_timer_fd(poller, next_ns);
	weir__unlock(&poller->lock);
}

void weir__poller_thread_init(struct weir__poller_thread *service,
			      const struct weir_allocator *allocator,
			      const char *name)
{
	service->allocator = allocator;
	service->lock = (struct weir__lock){0};
	service->started = 0;
	service->stop = 0;
	service->costs = (struct weir__costs){0};
	(void)snprintf(service->name, sizeof(service->name), "%.9s-timer",
		       name);
}

static void *serve(void *argument)
{
	struct weir__poller_thread *service = argument;
	bool woken;

	weir__thread.worker = true;
	weir__costs = &service->costs;
	/* relaxed: nothing else is read after it */
	while (!ck_pr_load_32(&service->stop)) {
		weir__poller_run(&service->poller, WEIR_FOREVER, &woken);
		weir__poller_settle(&service->poller);
	}
	return NULL;
}

/* acquire: pairs with the release in start_locked() */
static bool started(const struct weir__poller_thread *service)
{
	bool yes = ck_pr_load_32(&service->started);

	ck_pr_fence_acquire();
	return yes;
}

void weir__poller_thread_look(const struct weir__poller_thread *service,
			      struct weir_seen_executor *seen)
{
	if (started(service))
		weir__poller_look(&service->poller, seen);
}

static int start_locked(struct weir__poller_thread *service)
{
	int rc;

	if (started(service))
		return 0;
	rc = weir__poller_init(&service->poller, service->allocator);
	if (rc < 0)
		return rc;
	rc = weir__own_thread_start(&service->thread, service->name, serve,
				    service);
	if (rc < 0) {
		weir__poller_fini(&service->poller, false);
		return rc;
	}
	/* release: publishes the poller; pairs with started() */
	ck_pr_fence_release();
	ck_pr_store_32(&service->started, 1);
	return 0;
}

static int start(struct weir__poller_thread *service)
{
	int rc;

	if (started(service))
		return 0;
	weir__lock(&service->lock);
	rc = start_locked(service);
	weir__unlock(&service->lock);
	return rc;
}

void weir__poller_thread_fini(struct weir__poller_thread *service, bool child)
{
	if (!started(service))
		return;
	if (!child) {
		/* relaxed: the wake makes the thread look, and carries nothing
		 * else */
		ck_pr_store_32(&service->stop, 1);
		weir__poller_wake(&service->poller);
		(void)pthread_join(service->thread, NULL);
	}
	weir__poller_fini(&service->poller, child);
}

bool weir__poller_thread_self(const struct weir__poller_thread *service)
{
	return started(service) &&
	       pthread_equal(service->thread, pthread_self());
}

int weir__poller_thread_timer_arm(struct weir__poller_thread *service,
				  struct weir_timer *timer, uint64_t at_ns)
{
	int rc = start(service);

	return rc < 0 ? rc
		      : weir__poller_timer_arm(&service->poller, timer, at_ns);
}

bool weir__poller_thread_timer_cancel(struct weir__poller_thread *service,
				      struct weir_timer *timer)
{
	return started(service) &&
	       weir__poller_timer_cancel(&service->poller, timer);
}

int weir__poller_thread_watch_arm(struct weir__poller_thread *service,
				  struct weir_watch *watch)
{
	int rc = start(service);

	return rc < 0 ? rc : weir__poller_watch_arm(&service->poller, watch);
}

bool weir__poller_thread_watch_cancel(struct weir__poller_thread *service,
				      struct weir_watch *watch)
{
	return started(service) &&
	       weir__poller_watch_cancel(&service->poller, watch);
}
