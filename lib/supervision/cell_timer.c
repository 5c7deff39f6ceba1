/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cell's timer: a back-off is over, or the actor's time to stop. It fires on
 * the timer thread of the system's executor.
 *
 * If a timer fires while it is being cleared, its cell has it no longer: then
 * nobody is told, and it is freed when it has fired.
 */
#include "supervision/cell_timer.h"

#include <assert.h>

#include "base/memory.h"

struct weir__cell_timer {
	struct weir_timer timer;
	struct weir__cell_timers *timers;
	struct weir__cell_timer **place; /* NULL: it was cleared */
	uint32_t slot;
	uint64_t at_ns;
};

static void timer_free(struct weir__cell_timer *timer)
{
	struct weir__cell_timers *timers = timer->timers;

	assert(timers->lock->used > 0);
	timers->lock->used--;
	weir__free(timers->allocator, timer, sizeof(*timer));
}

static void cell_timer_fire(struct weir_timer *timer)
{
	struct weir__cell_timer *self =
		weir_container_of(timer, struct weir__cell_timer, timer);
	struct weir__cell_timers *timers = self->timers;
	struct weir__system_lock *lock = timers->lock;
	bool held = weir__enter(lock);

	if (self->place) {
		assert(*self->place == self);
		*self->place = NULL;
		timers->due(timers, self->slot);
	}
	timer_free(self);
	weir__leave_unused(lock, held);
}

bool weir__cell_timer_set(struct weir__cell_timers *timers,
			  struct weir__cell_timer **timer, uint32_t slot,
			  uint64_t at_ns)
{
	struct weir__cell_timer *made;

	weir__cell_timer_clear(timers, timer);
	made = weir__alloc(timers->allocator, sizeof(*made));
	if (!made)
		return false;
	made->timer.fire = cell_timer_fire;
	made->timers = timers;
	made->place = timer;
	made->slot = slot;
	made->at_ns = at_ns;
	timers->lock->used++;
	if (weir_timer_arm(timers->executor, &made->timer, at_ns) < 0) {
		timer_free(made);
		return false;
	}
	*timer = made;
	return true;
}

uint64_t weir__cell_timer_at(const struct weir__cell_timer *timer)
{
	return timer ? timer->at_ns : WEIR_FOREVER;
}

void weir__cell_timer_clear(struct weir__cell_timers *timers,
			    struct weir__cell_timer **timer)
{
	struct weir__cell_timer *old = *timer;

	if (!old)
		return;
	*timer = NULL;
	if (weir_timer_cancel(timers->executor, &old->timer))
		timer_free(old);
	else
		old->place = NULL; /* it fires now, and waits for the lock */
}
