/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/tracer.h"

#include <sched.h>

struct weir__tracers weir__tracing;

__thread struct weir__tracer weir__tracer_here
	__attribute__((tls_model("initial-exec")));

bool weir__tracer_list(struct weir__tracers *tracers, struct weir__tracer *self)
{
	weir__lock(&tracers->lock);
	/* relaxed: it is changed under the lock */
	if (!ck_pr_load_ptr(&tracers->on)) {
		weir__unlock(&tracers->lock);
		weir__tracer_leave(self);
		return false;
	}
	self->listed = true;
	self->track = NULL;
	self->next = tracers->first;
	tracers->first = self;
	return true;
}

void weir__tracer_unlist(struct weir__tracers *tracers,
			 struct weir__tracer *self)
{
	struct weir__tracer **link = &tracers->first;

	if (!self->listed)
		return;
	while (*link != self)
		link = &(*link)->next;
	*link = self->next;
	self->listed = false;
	self->track = NULL;
}

void weir__tracers_on(struct weir__tracers *tracers, void *on)
{
	/* release: the trace; pairs with the acquire in weir__tracer_enter() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&tracers->on, on);
}

static void await(struct weir__tracer *tracer)
{
	while (ck_pr_load_32(&tracer->busy)) {
		ck_pr_stall();
		sched_yield();
	}
	/* acquire: what it has done; pairs with the release in
	 * weir__tracer_leave() */
	ck_pr_fence_acquire();
}

void weir__tracers_off(struct weir__tracers *tracers)
{
	struct weir__tracer *tracer;

	ck_pr_store_ptr(&tracers->on, NULL);
	/* store -> load: claim 1; pairs with the fence in weir__tracer_enter()
	 */
	if (!tracers->remote || !weir__membarrier())
		weir__fence_full();
	while ((tracer = tracers->first)) {
		await(tracer);
		tracers->first = tracer->next;
		tracer->listed = false;
		tracer->track = NULL;
	}
}
