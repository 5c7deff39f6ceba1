/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording. While a trace is on, the executors find another function to run
 * slices by (executor/task.h), which makes an event of each. It reads the clock
 * once for a slice that follows another one at once, since that one's end is
 * this one's beginning, and else twice.
 */
#include "inspect/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actor/firing.h"
#include "actor/port.h"
#include "base/forkmark.h"
#include "base/own_thread.h"
#include "base/options.h"
#include "executor/task.h"

#define THREADS_MAX 4096u
#define STREAM_MIN_NS 1000000u /* between two looks of who writes a file */
#define STREAM_MAX_NS 16000000u

/* Under the lock of weir__tracing; there is one while a trace is on. */
static pthread_key_t key;

/* --- Threads and their tracks --------------------------------------------- */

static struct weir__rider *rider_of(struct weir__track *track)
{
	return weir_container_of(track, struct weir__rider, track);
}

/* What the track still has goes into no file, or is in it. */
static bool is_read(const struct weir__track *track)
{
	return !track->keeps ||
	       ck_pr_load_64(&track->done) == weir__track_count(track->seq);
}

/* Under the lock. One that nobody has had, or else one that nobody has. */
static struct weir__rider *find_rider(struct weir_trace *trace)
{
	struct weir__rider *found = NULL, *rider;
	size_t i;

	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		if (rider->state == WEIR__RIDER_NONE)
			return rider;
		if (!found && rider->state == WEIR__RIDER_GONE &&
		    is_read(&rider->track))
			found = rider;
	}
	return found;
}

/* The thread's first event in this trace. False: it was turned off. */
static __attribute__((noinline)) bool settle_in(struct weir_trace *trace,
						struct weir__tracer *self)
{
	struct weir__rider *rider;

	if (weir__forked_since(trace->made_by)) {
		weir__tracer_leave(self); /* the lock may be held for ever */
		return false;
	}
	if (!weir__tracer_list(&weir__tracing, self))
		return false;
	rider = find_rider(trace);
	if (rider) {
		rider->state = WEIR__RIDER_HERE;
		rider->threads++;
		rider->tid = (uint32_t)syscall(SYS_gettid);
		rider->first = weir__track_count(rider->track.seq);
		(void)prctl(PR_GET_NAME, rider->name, 0, 0, 0);
		self->track = &rider->track;
	}
	(void)pthread_setspecific(key, self);
	weir__unlock(&weir__tracing.lock);
	weir__thread.at_once = false;
	self->last = weir__ticks();
	return true;
}

/* A thread that was traced ends. */
static void thread_ends(void *argument)
{
	struct weir__tracer *self = argument;

	weir__lock(&weir__tracing.lock);
	if (self->track)
		rider_of(self->track)->state = WEIR__RIDER_GONE;
	weir__tracer_unlist(&weir__tracing, self);
	weir__unlock(&weir__tracing.lock);
}

/*
 * The trace that is on, until weir__tracer_leave(), if the thread has a track in
 * it; or NULL.
 */
static inline struct weir_trace *enter(struct weir__tracer *self)
{
	struct weir_trace *trace = weir__tracer_enter(&weir__tracing, self);

	if (!trace)
		return NULL;
	if (WEIR_UNLIKELY(!self->listed) && !settle_in(trace, self))
		return NULL;
	if (WEIR_LIKELY(self->track != NULL))
		return trace;
	ck_pr_inc_64(&trace->homeless);
	weir__tracer_leave(self);
	return NULL;
}

void weir__trace_add(struct weir_actor *actor, enum weir__event_kind kind,
		     uint64_t value)
{
	struct weir__tracer *self = &weir__tracer_here;
	struct weir_trace *trace = enter(self);
	struct weir__event event;

	if (!trace)
		return;
	event.from = event.to = weir__ticks();
	event.value = value;
	event.what = weir__event_what(kind, 0, 0,
				      weir__label_of(trace->labels, actor));
	weir__track_add(self->track, &event);
	weir__tracer_leave(self);
}

/* --- Slices --------------------------------------------------------------- */

static struct weir_trace *begin(struct weir__tracer *self,
				struct weir_actor *actor,
				struct weir__event *event)
{
	struct weir_trace *trace = enter(self);

	if (!trace)
		return NULL;
	event->from = weir__thread.at_once ? self->last : weir__ticks();
	weir__thread.at_once = false;
	event->actor = (uintptr_t)actor;
	event->what = weir__event_what(WEIR__EVENT_SLICE, 0, 0,
				       weir__label_of(trace->labels, actor));
	self->wait = WEIR_WAIT_NONE;
	weir__track_open(self->track, event->from, event->actor, event->what);
	weir__tracer_leave(self);
	return trace;
}

/* The actor may be gone. */
static void end(struct weir__tracer *self, struct weir_trace *began,
		struct weir__event *event, bool again)
{
	struct weir_trace *trace = enter(self);

	if (!trace)
		return;
	/* the names of one trace are not those of another */
	if (WEIR_LIKELY(trace == began)) {
		event->to = weir__ticks();
		/* it goes on behind one that ran inside of it */
		if (WEIR_UNLIKELY(self->last > event->from))
			event->from = self->last;
		if (!again)
			event->what |= weir__event_what(
				WEIR__EVENT_SLICE, self->wait, self->place, 0);
		weir__track_close(self->track, event);
		self->last = event->to;
		weir__thread.at_once = weir__thread.worker_state != NULL;
	}
	weir__tracer_leave(self);
}

static bool traced_slice(struct weir_task *task)
{
	struct weir__event event;
	struct weir_trace *began =
		begin(&weir__tracer_here,
		      weir_container_of(task, struct weir_actor, task), &event);
	bool again = weir__actor_slice(task);

	if (began)
		end(&weir__tracer_here, began, &event, again);
	return again;
}

static bool holds_back(const struct weir_port *port)
{
	const struct weir_port *group = weir__port_group(port);

	assert(port->block);
	return !weir__port_off(port) && !(group && weir__port_off(group)) &&
	       ck_pr_load_32(port->block);
}

/* Before the last swap of a slice that arms. Owner. */
static void traced_waits(struct weir_task *task, uint32_t bits)
{
	struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	uint32_t gate = ck_pr_load_32(&actor->gate);
	const struct weir_port *port;
	struct weir_seen_port seen;

	weir__tracer_here.place = 0;
	weir__tracer_here.wait = WEIR_WAIT_OTHER;
	if (gate & WEIR__GATE_SUSPENDED)
		weir__tracer_here.wait = WEIR_WAIT_RESUME;
	else if (gate & WEIR__GATE_SUSPENDED_PARENT)
		weir__tracer_here.wait = WEIR_WAIT_PARENT;
	else if (bits & WEIR__GATE_PORTLESS)
		weir__tracer_here.wait = WEIR_WAIT_WAKE;
	if (weir__tracer_here.wait != WEIR_WAIT_OTHER)
		return;
	for (port = actor->ports; port;
	     port = port->next, weir__tracer_here.place++) {
		if (!holds_back(port))
			continue;
		weir__look_at_own(port, &seen);
		weir__tracer_here.wait = seen.wait;
		return;
	}
}

/* What executors run instead, and what they ran. Under the lock. */
static struct weir__task_ops traced;
static const struct weir__task_ops *plain;

static void trace_slices(bool on)
{
	if (!plain) {
		plain = weir__task_ops();
		if (!plain)
			return; /* a program without actors */
		traced = *plain;
		traced.run = traced_slice;
		traced.waits = traced_waits;
	}
	/* release: the table; its readers depend on the pointer */
	ck_pr_fence_release();
	ck_pr_store_ptr(&weir__tasks, on ? &traced : plain);
}

/* --- A file that is written as it goes ------------------------------------ */

static void *stream(void *argument)
{
	struct weir_trace *trace = argument;
	uint64_t sleep_ns = STREAM_MIN_NS, before = 0, after;

	while (!ck_pr_load_32(&trace->ends)) {
		weir__futex_wait(&trace->ends, 0, sleep_ns);
		weir__trace_go_on(trace);
		after = trace->out.n_events;
		sleep_ns = after != before ? STREAM_MIN_NS : 2 * sleep_ns;
		if (sleep_ns > STREAM_MAX_NS)
			sleep_ns = STREAM_MAX_NS;
		before = after;
	}
	return NULL;
}

/* 0 or a negative errno. */
static int stream_start(struct weir_trace *trace, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	trace->streams = true;
	weir__trace_begin(trace, fd);
	rc = weir__own_thread_start(&trace->thread, "weir-trace", stream,
				    trace);
	if (rc < 0)
		(void)close(fd);
	return rc;
}

static int stream_end(struct weir_trace *trace)
{
	int rc;

	ck_pr_store_32(&trace->ends, 1);
	weir__futex_wake(&trace->ends, 1);
	(void)pthread_join(trace->thread, NULL);
	rc = weir__trace_finish(trace);
	if (close(trace->out.fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* --- Making and ending ---------------------------------------------------- */

static size_t threads_by_default(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return 16 + 2 * (cpus > 0 ? (size_t)cpus : 1);
}

static size_t events_size(void)
{
	return WEIR__TRACK_EVENTS * sizeof(struct weir__event);
}

static void free_all(struct weir_trace *trace)
{
	const struct weir_allocator *allocator = trace->allocator;
	size_t i;

	for (i = 0; trace->riders && i < trace->n_riders; i++)
		weir__free(allocator, trace->riders[i].track.events,
			   events_size());
	weir__free_lines(allocator, trace->riders,
			 trace->n_riders * sizeof(*trace->riders));
	weir__free(allocator, trace->labels, sizeof(*trace->labels));
	weir__free(allocator, trace->out.awaiting,
		   WEIR__TRACK_WAITS * sizeof(*trace->out.awaiting));
	weir__free(allocator, trace, sizeof(*trace));
}

/* Nothing of an event is read before it was written, so they are not zeroed:
 * the memory of threads that do not come is not touched. */
static bool make_events(struct weir_trace *trace, bool keeps)
{
	const struct weir_allocator *allocator = trace->allocator;
	struct weir__track *track;
	size_t i;

	for (i = 0; i < trace->n_riders; i++) {
		track = &trace->riders[i].track;
		track->keeps = keeps;
		track->events =
			allocator->alloc(events_size(), allocator->context);
		if (!track->events)
			return false;
	}
	return true;
}

static struct weir_trace *make(const struct weir_trace_options *options,
			       const struct weir_allocator *allocator)
{
	struct weir_trace *made = weir__alloc(allocator, sizeof(*made));

	if (!made)
		return NULL;
	made->allocator = allocator;
	made->categories = options->flags ? options->flags : WEIR_TRACE_ALL;
	made->made_by = getpid();
	made->n_riders = options->threads ? options->threads
					  : threads_by_default();
	if (options->crash_path)
		memcpy(made->crash_path, options->crash_path,
		       strlen(options->crash_path) + 1);
	made->riders = weir__alloc_lines(
		allocator, made->n_riders * sizeof(*made->riders));
	made->labels = weir__alloc(allocator, sizeof(*made->labels));
	made->out.awaiting = weir__alloc(
		allocator, WEIR__TRACK_WAITS * sizeof(*made->out.awaiting));
	if (made->riders && made->labels && made->out.awaiting &&
	    make_events(made, options->path != NULL))
		return made;
	free_all(made);
	return NULL;
}

static int check(const struct weir_trace_options *options)
{
	if ((options->flags & ~(uint32_t)WEIR_TRACE_ALL) ||
	    options->threads > THREADS_MAX ||
	    (options->path && options->crash_path) ||
	    !weir__reserved_zero(options->reserved))
		return -EINVAL;
	if (options->crash_path &&
	    strlen(options->crash_path) >=
		    sizeof(((struct weir_trace *)0)->crash_path))
		return -EINVAL;
	return 0;
}

/* Under the lock. */
static int turn_on(struct weir_trace *trace)
{
	int error;

	if (weir__trace_is_on())
		return -EBUSY;
	error = pthread_key_create(&key, thread_ends);
	if (error)
		return -error;
	if (!weir__tracing.remote)
		weir__tracing.remote = weir__membarrier_register();
	trace->ns = weir__clock_ns();
	trace->ticks = weir__ticks();
	weir__tracers_on(&weir__tracing, trace);
	if (trace->categories & (WEIR_TRACE_SLICES | WEIR_TRACE_WAITS))
		trace_slices(true);
	return 0;
}

/* Under the lock. */
static void turn_off(struct weir_trace *trace)
{
	trace_slices(false);
	weir__tracers_off(&weir__tracing);
	trace->stop_ticks = weir__ticks();
	trace->stop_ns = weir__clock_ns();
	(void)pthread_key_delete(key);
}

static int begin_trace(struct weir_trace *trace,
		       const struct weir_trace_options *options)
{
	int rc;

	weir__lock(&weir__tracing.lock);
	rc = turn_on(trace);
	weir__unlock(&weir__tracing.lock);
	if (rc < 0)
		return rc;
	if (options->path)
		rc = stream_start(trace, options->path);
	else if (options->crash_path)
		rc = weir__trace_catch(trace);
	if (rc == 0)
		return 0;
	weir__lock(&weir__tracing.lock);
	turn_off(trace);
	weir__unlock(&weir__tracing.lock);
	return rc;
}

int weir_trace_new(struct weir_trace **trace,
		   const struct weir_trace_options *options,
		   const struct weir_allocator *allocator)
{
	static const struct weir_trace_options defaults;
	struct weir_trace *made;
	int rc;

	if (!trace)
		return -EINVAL;
	*trace = NULL;
	if (!options)
		options = &defaults;
	if (!allocator)
		allocator = weir_allocator_default();
	rc = check(options);
	if (rc < 0)
		return rc;
	made = make(options, allocator);
	if (!made)
		return -ENOMEM;
	rc = begin_trace(made, options);
	if (rc < 0)
		free_all(made);
	else
		*trace = made;
	return rc;
}

int weir_trace_stop(struct weir_trace *trace)
{
	bool stopped;

	if (!trace)
		return -EINVAL;
	if (weir__forked_since(trace->made_by))
		return -ECHILD;
	weir__lock(&weir__tracing.lock);
	stopped = trace->stopped;
	if (!stopped)
		turn_off(trace);
	/* relaxed: who writes the trace takes the lock */
	trace->stopped = true;
	weir__unlock(&weir__tracing.lock);
	if (stopped)
		return -EALREADY;
	if (trace->crash_path[0])
		weir__trace_let_crash(trace);
	return trace->streams ? stream_end(trace) : 0;
}

/* No other thread is there. */
static void drop_in_child(struct weir_trace *trace)
{
	if (weir__tracing.on == trace) {
		memset(&weir__tracing, 0, sizeof(weir__tracing));
		memset(&weir__tracer_here, 0, sizeof(weir__tracer_here));
		trace_slices(false);
		(void)pthread_key_delete(key);
		if (trace->crash_path[0])
			weir__trace_let_crash(trace);
		if (trace->streams)
			(void)close(trace->out.fd);
	}
	free_all(trace);
}

void weir_trace_free(struct weir_trace *trace)
{
	if (!trace)
		return;
	if (weir__forked_since(trace->made_by)) {
		drop_in_child(trace);
		return;
	}
	if (!trace->stopped)
		(void)weir_trace_stop(trace);
	free_all(trace);
}

int weir_trace_count(const struct weir_trace *trace,
		     struct weir_trace_counts *counts)
{
	struct weir_trace_counts sum = {0};
	const struct weir__track *track;
	uint64_t n;
	size_t i;

	if (!trace || !counts)
		return -EINVAL;
	for (i = 0; i < trace->n_riders; i++) {
		track = &trace->riders[i].track;
		n = weir__track_count(weir__track_seq(track));
		sum.events += n;
		if (!track->keeps && n > WEIR__TRACK_EVENTS)
			sum.overwritten += n - WEIR__TRACK_EVENTS;
		sum.lost += ck_pr_load_64(&track->lost);
	}
	sum.lost += ck_pr_load_64(&trace->homeless);
	*counts = sum;
	return 0;
}
