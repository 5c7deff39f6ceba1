/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampler: looks, feeds a history with them, and asks it for stalls. The
 * lock is over the history and the scratch snapshot. No user code is called
 * under it but the allocator.
 */
#include <weir/sampler.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <ck_pr.h>

#include "base/clock.h"
#include "base/forkmark.h"
#include "base/futex.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/own_thread.h"
#include "executor/registry.h"
#include "inspect/history.h"

#define HZ_DEFAULT 100u
#define HZ_MAX 1000u
#define CPU_SHARE 20u /* one of so many nanoseconds is spent with looks */
#define ASKS 8u	      /* in the time of a stall */
#define TOLD 4096u    /* bytes of a stall go to stderr */

struct weir_sampler {
	/* constant */
	const struct weir_allocator *allocator;
	struct weir_executor **executors;
	size_t n_executors;
	struct weir_sampler_options options;
	uint64_t period_ns;
	pid_t made_by;
	pthread_t thread;
	/* slept on; 1: the thread is to end */
	uint32_t over;
	/* who is in on_stall, or in a step; the thread's, or the stepping
	 * thread's */
	const struct weir__thread *teller; /* atomic */
	/* under the lock */
	struct weir__lock lock;
	struct weir__history history;
	/* the last two looks of its own, which have no names; NULL */
	struct weir__snapshot *scratch, *before;
	uint64_t real_ns; /* between the last two looks of its own; 0 */
	uint64_t looked_ns, asked_ns; /* last */
	bool any;		      /* look of its own so far */
};

/* --- Looks, under the lock ------------------------------------------------ */

static int look(struct weir_sampler *self, struct weir__snapshot **at,
		bool names)
{
	int rc = weir__snapshot_look(at, self->executors, self->n_executors,
				     names);

	if (rc < 0)
		return rc;
	weir__snapshot_waits(*at);
	if (names) /* who reads it wants all of it */
		rc = weir__snapshot_connect(*at);
	if (rc < 0)
		return rc;
	return weir__history_feed(&self->history, *at,
				  weir_executor_now(self->executors[0]));
}

static bool is_settled(const struct weir_sampler *self)
{
	uint64_t rest_ns = self->options.by_hand ? 0 : self->period_ns;

	return self->history.still &&
	       self->history.now_ns - self->history.moved_ns >= rest_ns;
}

/* NULL: no memory. */
static struct weir__snapshot *look_well(struct weir_sampler *self)
{
	struct weir__snapshot *made = NULL;

	if (look(self, &made, true) == 0) {
		if (self->before)
			weir__snapshot_stays(made, &self->before->seen);
		weir__snapshot_due(made);
		weir__history_tell(&self->history, made);
		made->seen.settled = is_settled(self);
		made->seen.period_ns = self->real_ns ? self->real_ns
						     : WEIR_UNKNOWN;
		if (weir__snapshot_causes(made) == 0)
			return made;
	}
	weir_snapshot_free(made ? &made->seen : NULL);
	return NULL;
}

/* NULL: there is none that has not been told, or no memory to say so. */
static struct weir__snapshot *find_stall(struct weir_sampler *self)
{
	uint64_t stall_ns = self->options.stall_ns;
	uint64_t pause_ns = self->options.by_hand ? 0 : stall_ns / ASKS;
	struct weir__snapshot *made;

	if (!stall_ns || self->history.now_ns - self->asked_ns < pause_ns ||
	    !weir__history_asks(&self->history, stall_ns))
		return NULL;
	self->asked_ns = self->history.now_ns;
	made = look_well(self);
	if (made && weir__history_stalls(&self->history, made, stall_ns))
		return made;
	weir_snapshot_free(made ? &made->seen : NULL);
	return NULL;
}

/* --- Stalls --------------------------------------------------------------- */

static void write_stall(const struct weir_snapshot *snapshot)
{
	char text[TOLD];
	size_t n = weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
					  sizeof(text));

	(void)fprintf(stderr, "weir: a stall\n%s%s", text,
		      n < sizeof(text) ? "" : " ...\n");
}

static void tell_stall(struct weir_sampler *self,
		       struct weir__snapshot *snapshot)
{
	ck_pr_store_ptr(&self->teller, &weir__thread);
	if (self->options.on_stall)
		self->options.on_stall(&snapshot->seen, self->options.context);
	else
		write_stall(&snapshot->seen);
	ck_pr_store_ptr(&self->teller, NULL);
	weir_snapshot_free(&snapshot->seen);
}

/* --- Steps ---------------------------------------------------------------- */

static int step(struct weir_sampler *self)
{
	struct weir__snapshot *stalled = NULL, *oldest;
	uint64_t now_ns;
	int rc;

	weir__lock(&self->lock);
	oldest = self->before;
	self->before = self->scratch;
	self->scratch = oldest;
	rc = look(self, &self->scratch, false);
	if (rc == 0) {
		now_ns = self->history.now_ns;
		if (self->any)
			self->real_ns = now_ns - self->looked_ns;
		self->any = true;
		self->looked_ns = now_ns;
		stalled = find_stall(self);
	}
	weir__unlock(&self->lock);
	if (stalled)
		tell_stall(self, stalled);
	return rc;
}

/* What the calling thread has used of its CPU. */
static uint64_t used_ns(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * WEIR__SECOND + (uint64_t)time.tv_nsec;
}

static void *run(void *context)
{
	struct weir_sampler *self = context;
	uint64_t next_ns = weir__clock_ns(), now_ns, used, pause_ns;

	while (!ck_pr_load_32(&self->over)) {
		used = used_ns();
		(void)step(self); /* without memory it has not looked */
		used = used_ns() - used;
		pause_ns = CPU_SHARE * used;
		next_ns += pause_ns > self->period_ns ? pause_ns
						      : self->period_ns;
		now_ns = weir__clock_ns();
		if (next_ns > now_ns)
			(void)weir__futex_wait(&self->over, 0,
					       next_ns - now_ns);
		else
			next_ns = now_ns;
	}
	return NULL;
}

/* --- The interface -------------------------------------------------------- */

static bool in_released_or_told(const struct weir_sampler *self)
{
	return weir__thread.holds ||
	       ck_pr_load_ptr(&self->teller) == &weir__thread;
}

static void sample_all(struct weir_sampler *self, bool more)
{
	size_t i;

	for (i = 0; i < self->n_executors; i++)
		weir__registry_sample(self->executors[i]->registry, more);
}

static void release(struct weir_sampler *self)
{
	const struct weir_allocator *allocator = self->allocator;

	weir__history_fini(&self->history);
	weir_snapshot_free(self->scratch ? &self->scratch->seen : NULL);
	weir_snapshot_free(self->before ? &self->before->seen : NULL);
	weir__free(allocator, self->executors,
		   self->n_executors * sizeof(struct weir_executor *));
	weir__free(allocator, self, sizeof(*self));
}

static int check_options(const struct weir_sampler_options *options,
			 struct weir_executor *const *executors, size_t n)
{
	size_t i;

	if (n == 0 || options->hz > HZ_MAX ||
	    !weir__reserved_zero(options->reserved))
		return -EINVAL;
	for (i = 0; i < n && !options->by_hand; i++)
		if (executors[i]->registry->stands_still)
			return -EINVAL;
	return 0;
}

static struct weir_sampler *make(struct weir_executor *const *executors,
				 size_t n,
				 const struct weir_sampler_options *options)
{
	const struct weir_allocator *allocator =
		executors[0]->options.allocator;
	struct weir_sampler *made = weir__alloc(allocator, sizeof(*made));
	size_t i;

	if (!made)
		return NULL;
	made->allocator = allocator;
	made->options = *options;
	if (!made->options.hz)
		made->options.hz = HZ_DEFAULT;
	if (!made->options.window_ns)
		made->options.window_ns = WEIR__SECOND;
	made->period_ns = WEIR__SECOND / made->options.hz;
	made->made_by = getpid();
	weir__history_init(&made->history, allocator, made->options.window_ns);
	made->n_executors = n;
	made->executors =
		weir__alloc(allocator, n * sizeof(struct weir_executor *));
	if (!made->executors) {
		release(made);
		return NULL;
	}
	for (i = 0; i < n; i++)
		made->executors[i] = executors[i];
	return made;
}

int weir_sampler_new(struct weir_sampler **sampler,
		     struct weir_executor *const *executors, size_t n,
		     const struct weir_sampler_options *options)
{
	static const struct weir_sampler_options defaults;
	struct weir_sampler *made;
	int rc;

	if (!sampler)
		return -EINVAL;
	*sampler = NULL;
	if (!options)
		options = &defaults;
	rc = weir__snapshot_check(executors, n);
	if (rc == 0)
		rc = check_options(options, executors, n);
	if (rc < 0)
		return rc;
	made = make(executors, n, options);
	if (!made)
		return -ENOMEM;
	sample_all(made, true);
	if (!options->by_hand)
		rc = weir__own_thread_start(&made->thread, "weir-sampler", run,
					    made);
	if (rc < 0) {
		sample_all(made, false);
		release(made);
		return rc;
	}
	*sampler = made;
	return 0;
}

int weir_sampler_step(struct weir_sampler *sampler)
{
	if (!sampler || !sampler->options.by_hand)
		return -EINVAL;
	if (in_released_or_told(sampler))
		return -EDEADLK;
	return step(sampler);
}

/* Its thread is not in this process. */
static bool is_left(const struct weir_sampler *self)
{
	return !self->options.by_hand && weir__forked_since(self->made_by);
}

int weir_sampler_snapshot(struct weir_sampler *sampler,
			  struct weir_snapshot **snapshot)
{
	struct weir__snapshot *made;

	if (!snapshot)
		return -EINVAL;
	*snapshot = NULL;
	if (!sampler)
		return -EINVAL;
	if (weir__thread.holds)
		return -EDEADLK;
	if (is_left(sampler))
		return -ESHUTDOWN;
	weir__lock(&sampler->lock);
	made = look_well(sampler);
	weir__unlock(&sampler->lock);
	if (!made)
		return -ENOMEM;
	*snapshot = &made->seen;
	return 0;
}

int weir_sampler_free(struct weir_sampler *sampler)
{
	if (!sampler)
		return 0;
	if (in_released_or_told(sampler))
		return -EDEADLK;
	if (is_left(sampler)) {
		/* what its thread was changing is left alone */
		if (sampler->lock.word == 0)
			release(sampler);
		return 0;
	}
	if (!sampler->options.by_hand) {
		ck_pr_store_32(&sampler->over, 1);
		weir__futex_wake(&sampler->over, 1);
		(void)pthread_join(sampler->thread, NULL);
	}
	sample_all(sampler, false);
	release(sampler);
	return 0;
}
