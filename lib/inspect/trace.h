/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace, and what the rest of the library tells it. All traces of the process
 * are on one at a time, in `weir__tracing`.
 */
#ifndef WEIR_INSPECT_TRACE_H
#define WEIR_INSPECT_TRACE_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include <weir/trace.h>

#include "base/clock.h"
#include "inspect/label.h"
#include "inspect/tracer.h"
#include "inspect/track.h"

#define WEIR__TRACK_WAITS (1u << 15) /* actors whose waits are paired */
#define WEIR__TRACK_THREAD 16u	     /* of a thread's name */

/* A track and the thread that writes it. */
struct weir__rider {
	struct weir__track track;
	/* Under the lock of weir__tracing. */
	enum { WEIR__RIDER_NONE, WEIR__RIDER_HERE, WEIR__RIDER_GONE } state;
	uint32_t threads; /* so many have had it */
	uint32_t tid;
	char name[WEIR__TRACK_THREAD];
	uint64_t first; /* event of this thread */
	/* Of who writes the trace. */
	uint32_t seen; /* of `threads`; 0: none */
	uint32_t seen_tid;
	uint64_t next, end;
	uint64_t missed;  /* events of this thread, before they were read */
	uint64_t last_ns; /* when the last slice that was written ended */
	bool has;	  /* `event` is the next one */
	struct weir__event event;
};

/* An actor that waits, as the writing of the trace has come. */
struct weir__awaiting {
	uint64_t actor; /* 0: nobody */
	uint32_t name;
	uint32_t wait;
	uint32_t round; /* of the losses */
	uint64_t since_ns;
};

/* Text on its way to a file, and what has been read. */
struct weir__tracing_out {
	int fd;
	int error;    /* the first, negative */
	bool unsafe;  /* takes no lock */
	bool begun;   /* an event was written */
	uint32_t pid; /* constant */
	uint32_t round;
	uint64_t ticks, ns; /* of the clock, the last that are known */
	uint64_t full_from; /* no event since then is missing */
	uint64_t unpaired;  /* waits for which there was no room */
	uint64_t n_events;
	struct weir__awaiting *awaiting;
	size_t n;
	char text[4096];
};

struct weir_trace {
	const struct weir_allocator *allocator;
	uint32_t categories;
	pid_t made_by;
	bool stopped; /* atomic */
	/* Of the clock: at the start, at the stop. */
	uint64_t ticks, ns, stop_ticks, stop_ns;
	size_t n_riders;
	struct weir__rider *riders;
	struct weir__labels *labels;
	uint64_t homeless; /* atomic: events of threads without a track */
	struct weir__lock writing; /* over `out` */
	struct weir__tracing_out out;
	/* With a path: the thread that writes it. */
	bool streams;
	pthread_t thread;
	uint32_t ends; /* atomic, slept on: the thread ends */
	char crash_path[4096];
};

/* A clock that is cheaper than the kernel's. */
static inline uint64_t weir__ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return weir__clock_ns();
#endif
}

/* Records something at this moment. Owner of the actor. */
void weir__trace_add(struct weir_actor *actor, enum weir__event_kind kind,
		     uint64_t value);

static inline bool weir__trace_is_on(void)
{
	/* no order: what follows looks again */
	return ck_pr_load_ptr(&weir__tracing.on) != NULL;
}

/* The actor restarts. Owner. */
static inline void weir__trace_restart(struct weir_actor *actor)
{
	if (WEIR_UNLIKELY(weir__trace_is_on()))
		weir__trace_add(actor, WEIR__EVENT_RESTART, 0);
}

/* It requests so many items. Owner. */
static inline void weir__trace_request(struct weir_actor *actor, int64_t n)
{
	if (WEIR_UNLIKELY(weir__trace_is_on()))
		weir__trace_add(actor, WEIR__EVENT_REQUEST, (uint64_t)n);
}

/* --- Writing -------------------------------------------------------------- */

/* The head of a file. */
void weir__trace_begin(struct weir_trace *trace, int fd);
/* What has been recorded since the last call. */
void weir__trace_go_on(struct weir_trace *trace);
/* The rest, and the foot. 0, or the first error. */
int weir__trace_finish(struct weir_trace *trace);

/* --- Crashes -------------------------------------------------------------- */

/* From now on a crash writes the trace. 0 or a negative errno. */
int weir__trace_catch(struct weir_trace *trace);
void weir__trace_let_crash(struct weir_trace *trace);

#endif
