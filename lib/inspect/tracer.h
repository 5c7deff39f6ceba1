/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who traces: each thread that has something to record has a tracer, of which
 * others know while a trace is on. A trace can be turned off, and freed, while
 * threads record, and no thread waits for a slice.
 *
 *  1. A thread touches the trace between weir__tracer_enter() and _leave() only,
 *     which is some nanoseconds, and `busy` is set meanwhile. It sets `busy`,
 *     makes a fence and looks at `on`; who turns it off clears `on`, makes a
 *     fence and looks at every `busy`. So either the thread sees that it is
 *     off, or the other one that it is busy, and waits.
 *  2. A tracer that has touched more of the trace than its `on` is in the list.
 *     It gets there under the lock, behind another look at `on`. So who turns
 *     it off finds every tracer that may be busy with it.
 *  3. A thread that ends takes its tracer out of the list under the lock.
 */
#ifndef WEIR_INSPECT_TRACER_H
#define WEIR_INSPECT_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#include "base/lock.h"
#include "base/membarrier.h"
#include "inspect/track.h"

struct weir__tracer {
	uint32_t busy; /* atomic: the thread's */
	/* Under the lock, and what is on is the thread's while it is busy. */
	bool listed;
	struct weir__tracer *next;
	struct weir__track *track; /* NULL: there is none for the thread */
	uint64_t last;		   /* when its last slice ended */
	uint32_t wait, place;	   /* what the actor of this slice waits for */
};

struct weir__tracers {
	struct weir__lock lock;
	bool remote; /* as of weir__membarrier_register(); set while off */
	void *on;    /* atomic: the trace; NULL: none */
	struct weir__tracer *first;
};

/* Those of the process, and the calling thread's. */
extern struct weir__tracers weir__tracing __attribute__((visibility("hidden")));
extern __thread struct weir__tracer weir__tracer_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline void weir__tracer_leave(struct weir__tracer *self)
{
	/* release: what the thread has done with the trace; pairs with the
	 * acquire in weir__tracers_off() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->busy, 0);
}

/* NULL: nothing is on. Otherwise what is on, until _leave(). */
static inline void *weir__tracer_enter(const struct weir__tracers *tracers,
				       struct weir__tracer *self)
{
	void *on;

	ck_pr_store_32(&self->busy, 1);
	/* store -> load: claim 1; pairs with the fence in weir__tracers_off()
	 */
	weir__fence_light(tracers->remote);
	on = ck_pr_load_ptr(&tracers->on);
	if (WEIR_UNLIKELY(!on)) {
		weir__tracer_leave(self);
		return NULL;
	}
	/* acquire: the trace; pairs with the release in weir__tracers_on() */
	ck_pr_fence_acquire();
	return on;
}

/*
 * Puts a tracer that has entered into the list. True: done, under the lock,
 * which the caller gives up. False: it was turned off, and the tracer has left.
 */
bool weir__tracer_list(struct weir__tracers *tracers,
		       struct weir__tracer *self);

/* The thread ends. Under the lock. */
void weir__tracer_unlist(struct weir__tracers *tracers,
			 struct weir__tracer *self);

/* Under the lock. */
void weir__tracers_on(struct weir__tracers *tracers, void *on);

/* Under the lock. No tracer touches what was on when it returns. */
void weir__tracers_off(struct weir__tracers *tracers);

#endif
