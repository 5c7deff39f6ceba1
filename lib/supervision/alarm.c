/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An actor's alarm: it gives the actor an order later, when a back-off is over
 * or the actor's time to stop. It fires on the timer thread of the system's
 * executor, where it only gives the order.
 *
 * If an alarm fires while it is being cleared, its record has it no longer: it
 * gives no order, and is freed when it has fired.
 */
#include "supervision/alarm.h"

#include "base/memory.h"
#include "supervision/system.h"

struct weir__alarm {
	struct weir_timer timer;
	struct weir_system *system;
	struct weir__cell *cell; /* NULL: it was cleared */
	uint16_t flags;
	uint8_t orders;
};

static void alarm_free(struct weir_system *system, struct weir__alarm *alarm)
{
	assert(system->used > 0);
	system->used--;
	weir__free(system->options.allocator, alarm, sizeof(*alarm));
}

static void fire(struct weir_timer *timer)
{
	struct weir__alarm *alarm =
		weir_container_of(timer, struct weir__alarm, timer);
	struct weir_system *system = alarm->system;
	bool held = weir__enter(system), unused;

	if (alarm->cell) {
		assert(weir__record_of(alarm->cell)->alarm == alarm);
		weir__record_of(alarm->cell)->alarm = NULL;
		alarm->cell->flags |= alarm->flags;
		weir__cell_order(alarm->cell, alarm->orders);
	}
	alarm_free(system, alarm);
	unused = system->used == 0;
	weir__leave(system, held);
	if (unused)
		weir__system_unused(system);
}

bool weir__alarm_set(struct weir_system *system, struct weir__cell *cell,
		     uint64_t at_ns, uint16_t flags, uint8_t orders)
{
	struct weir__record *record = weir__record_make(system, cell);
	struct weir__alarm *alarm;

	if (!record)
		return false;
	weir__alarm_clear(system, cell);
	alarm = weir__alloc(system->options.allocator, sizeof(*alarm));
	if (!alarm)
		return false;
	alarm->timer.fire = fire;
	alarm->system = system;
	alarm->cell = cell;
	alarm->flags = flags;
	alarm->orders = orders;
	system->used++;
	if (weir_timer_arm(system->executor, &alarm->timer, at_ns) < 0) {
		alarm_free(system, alarm);
		return false;
	}
	record->alarm = alarm;
	return true;
}

void weir__alarm_clear(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	struct weir__alarm *alarm = record->alarm;

	if (!alarm)
		return;
	record->alarm = NULL;
	if (weir_timer_cancel(system->executor, &alarm->timer))
		alarm_free(system, alarm);
	else
		alarm->cell = NULL; /* it fires now, and waits for the lock */
}
