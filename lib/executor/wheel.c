/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timing wheel. Invariant between calls, for every armed timer t that is
 * not in `past`, `due` or `never`: at_ns(t) > now_ns, and t is in the slot that
 * the formulas in wheel.h give for the present now_ns. So when the clock
 * enters the window of a slot, that slot is emptied and its timers go to lower
 * levels, which are empty at that moment: all that was on them is due.
 */
#include "executor/wheel.h"

#include <assert.h>

#define NO_SLOT UINT32_MAX

static uint32_t slot_of(const struct weir__wheel *wheel, uint64_t at_ns)
{
	uint32_t highest = 63u -
			   (uint32_t)__builtin_clzll(at_ns ^ wheel->now_ns);
	uint32_t level = highest / WEIR__WHEEL_BITS;
	uint64_t digit = at_ns >> (level * WEIR__WHEEL_BITS);

	/* else no digit differs, or time would go back */
	assert(at_ns > wheel->now_ns);
	assert(level < WEIR__WHEEL_LEVELS);
	return level * WEIR__WHEEL_WIDTH +
	       (uint32_t)(digit % WEIR__WHEEL_WIDTH);
}

/* The slot of the earliest timer that is not due yet. */
static uint32_t first_slot(const struct weir__wheel *wheel)
{
	uint32_t level;

	for (level = 0; level < WEIR__WHEEL_LEVELS; level++) {
		uint64_t pending = wheel->pending[level];

		if (pending)
			return level * WEIR__WHEEL_WIDTH +
			       (uint32_t)__builtin_ctzll(pending);
	}
	return NO_SLOT;
}

static void set_pending(struct weir__wheel *wheel, uint32_t index, bool pending)
{
	uint64_t bit = UINT64_C(1) << (index % WEIR__WHEEL_WIDTH);

	if (index >= WEIR__WHEEL_PAST)
		return;
	if (pending)
		wheel->pending[index / WEIR__WHEEL_WIDTH] |= bit;
	else
		wheel->pending[index / WEIR__WHEEL_WIDTH] &= ~bit;
}

static void append(struct weir__wheel *wheel, struct weir_timer *timer,
		   uint32_t index)
{
	struct weir__wheel_slot *slot = &wheel->slots[index];

	assert(index < WEIR__WHEEL_SLOTS);
	if (!slot->head) {
		slot->tail = &slot->head;
		slot->earliest_ns = timer->at_ns;
		set_pending(wheel, index, true);
	} else if (timer->at_ns < slot->earliest_ns) {
		slot->earliest_ns = timer->at_ns;
	}
	timer->next = NULL;
	timer->link = slot->tail;
	timer->slot = index;
	*slot->tail = timer;
	slot->tail = &timer->next;
}

static void take_out(struct weir__wheel *wheel, struct weir_timer *timer)
{
	struct weir__wheel_slot *slot = &wheel->slots[timer->slot];

	assert(*timer->link == timer);
	assert(timer->next || slot->tail == &timer->next);
	*timer->link = timer->next;
	if (timer->next)
		timer->next->link = timer->link;
	else
		slot->tail = timer->link;
	if (!slot->head)
		set_pending(wheel, timer->slot, false);
	timer->link = NULL;
}

/* Empties a list, in order, into where its timers belong at now_ns. */
static void redistribute(struct weir__wheel *wheel, uint32_t index,
			 uint64_t now_ns)
{
	struct weir_timer *timer = wheel->slots[index].head, *next;

	assert(wheel->now_ns <= now_ns);
	wheel->slots[index].head = NULL;
	set_pending(wheel, index, false);
	wheel->now_ns = now_ns;
	for (; timer; timer = next) {
		next = timer->next;
		append(wheel, timer,
		       timer->at_ns <= now_ns ? WEIR__WHEEL_DUE
					      : slot_of(wheel, timer->at_ns));
	}
}

void weir__wheel_init(struct weir__wheel *wheel, uint64_t now_ns)
{
	*wheel = (struct weir__wheel){.now_ns = now_ns};
}

void weir__wheel_arm(struct weir__wheel *wheel, struct weir_timer *timer,
		     uint64_t at_ns)
{
	if (timer->link)
		take_out(wheel, timer);
	else
		wheel->armed++;
	timer->at_ns = at_ns;
	if (at_ns == WEIR_FOREVER)
		append(wheel, timer, WEIR__WHEEL_NEVER);
	else if (at_ns <= wheel->now_ns)
		append(wheel, timer, WEIR__WHEEL_PAST);
	else
		append(wheel, timer, slot_of(wheel, at_ns));
}

bool weir__wheel_cancel(struct weir__wheel *wheel, struct weir_timer *timer)
{
	if (!timer->link)
		return false;
	take_out(wheel, timer);
	wheel->armed--;
	return true;
}

uint64_t weir__wheel_next(const struct weir__wheel *wheel)
{
	uint32_t first;

	if (wheel->slots[WEIR__WHEEL_DUE].head ||
	    wheel->slots[WEIR__WHEEL_PAST].head)
		return wheel->now_ns;
	first = first_slot(wheel);
	return first == NO_SLOT ? WEIR_FOREVER
				: wheel->slots[first].earliest_ns;
}

void weir__wheel_expire(struct weir__wheel *wheel, uint64_t now_ns)
{
	uint32_t first;

	if (now_ns < wheel->now_ns)
		now_ns = wheel->now_ns;
	redistribute(wheel, WEIR__WHEEL_PAST, wheel->now_ns);
	/* From one time to the next, so that `due` is in order of time. */
	while ((first = first_slot(wheel)) != NO_SLOT &&
	       wheel->slots[first].earliest_ns <= now_ns)
		redistribute(wheel, first, wheel->slots[first].earliest_ns);
	if (first != NO_SLOT && now_ns > wheel->now_ns &&
	    slot_of(wheel, now_ns) == first)
		redistribute(wheel, first, now_ns);
	wheel->now_ns = now_ns;
}

struct weir_timer *weir__wheel_take(struct weir__wheel *wheel)
{
	struct weir_timer *timer = wheel->slots[WEIR__WHEEL_DUE].head;

	if (timer) {
		assert(timer->at_ns <= wheel->now_ns);
		take_out(wheel, timer);
		wheel->armed--;
	}
	return timer;
}
