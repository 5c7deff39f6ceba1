/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An actor's timer: a back-off is over, or the actor's time to stop. It fires
 * on the timer thread of the system's executor, where it is only an event of
 * the cell's life.
 *
 * If a timer fires while it is being cleared, its record has it no longer: it
 * is no event then, and is freed when it has fired.
 */
#include "supervision/cell_timer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "supervision/termination.h"

struct weir__cell_timer {
	struct weir_timer timer;
	struct weir_system *system;
	struct weir__cell *cell; /* NULL: it was cleared */
};

static void timer_free(struct weir_system *system,
		       struct weir__cell_timer *timer)
{
	assert(system->used > 0);
	system->used--;
	weir__free(system->options.allocator, timer, sizeof(*timer));
}

static void cell_timer_fire(struct weir_timer *timer)
{
	struct weir__cell_timer *self =
		weir_container_of(timer, struct weir__cell_timer, timer);
	struct weir_system *system = self->system;
	bool held = weir__enter(system), unused;

	if (self->cell) {
		assert(weir__record_of(self->cell)->timer == self);
		weir__record_of(self->cell)->timer = NULL;
		(void)weir__cell_step(self->cell, WEIR__LIFE_TIMER);
	}
	timer_free(system, self);
	unused = system->used == 0;
	weir__leave(system, held);
	if (unused)
		weir__system_unused(system);
}

bool weir__cell_timer_set(struct weir_system *system, struct weir__cell *cell,
			  uint64_t at_ns)
{
	struct weir__record *record = weir__record_make(system, cell);
	struct weir__cell_timer *timer;

	if (!record)
		return false;
	weir__cell_timer_clear(system, cell);
	timer = weir__alloc(system->options.allocator, sizeof(*timer));
	if (!timer)
		return false;
	timer->timer.fire = cell_timer_fire;
	timer->system = system;
	timer->cell = cell;
	system->used++;
	if (weir_timer_arm(system->executor, &timer->timer, at_ns) < 0) {
		timer_free(system, timer);
		return false;
	}
	record->timer = timer;
	return true;
}

void weir__cell_timer_clear(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	struct weir__cell_timer *timer = record->timer;

	if (!timer)
		return;
	record->timer = NULL;
	if (weir_timer_cancel(system->executor, &timer->timer))
		timer_free(system, timer);
	else
		timer->cell = NULL; /* it fires now, and waits for the lock */
}

bool weir__cell_timer_set_deadline(struct weir_system *system,
				   struct weir__cell *cell)
{
	uint64_t shutdown_ns = weir__record_of(cell)->shutdown_ns, at_ns;

	if (!shutdown_ns)
		return true;
	at_ns = weir__clock_after(weir_executor_now(system->executor),
				  shutdown_ns);
	return at_ns == WEIR_FOREVER ||
	       weir__cell_timer_set(system, cell, at_ns);
}
