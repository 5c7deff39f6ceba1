/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hierarchical timing wheel over 64-bit nanoseconds: timers fire at their
 * exact time, never early, those of the same time in the order in which they
 * were armed. Arming, moving and cancelling touch one or two list nodes,
 * however many timers there are; a timer is moved at most ten times before it
 * is due. No lock: the poller and the simulator bring their own.
 *
 * Time is written in base 64. A timer is on the level of the highest digit in
 * which its time differs from the wheel's, in the slot of that digit:
 *
 *   level(t) = highest i with digit(at_ns, i) != digit(now_ns, i)
 *   slot(t)  = digit(at_ns, level(t)) > digit(now_ns, level(t))
 *
 * Both follow from the two times alone, so equal times share a slot, and lists
 * keep the order of arming. All of one level is earlier than all of the next;
 * within a level slots are in order of time. Timers whose time has come are in
 * one of two more lists: `past` if they were armed like that, `due` once
 * weir__wheel_expire() has seen them. Those that are never due are in a list of
 * their own, so that in every slot with a timer there is one that has a time.
 */
#ifndef WEIR_EXECUTOR_WHEEL_H
#define WEIR_EXECUTOR_WHEEL_H

#include <weir/executor.h>

#define WEIR__WHEEL_BITS 6u
#define WEIR__WHEEL_WIDTH (1u << WEIR__WHEEL_BITS)
#define WEIR__WHEEL_LEVELS 11u
#define WEIR__WHEEL_PAST (WEIR__WHEEL_LEVELS * WEIR__WHEEL_WIDTH)
#define WEIR__WHEEL_DUE (WEIR__WHEEL_PAST + 1)
#define WEIR__WHEEL_NEVER (WEIR__WHEEL_DUE + 1)
#define WEIR__WHEEL_SLOTS (WEIR__WHEEL_NEVER + 1)

/* head == NULL: empty, and the rest means nothing. */
struct weir__wheel_slot {
	struct weir_timer *head;
	struct weir_timer **tail; /* the last one's `next` */
	/* Not later than any timer here; earlier only after a cancel. */
	uint64_t earliest_ns;
};

/*
 * A timer is armed iff its `link` is not NULL: then `link` points to what
 * points to it, and `slot` is where it is. Bit s of pending[l] is set iff
 * slot s of level l is not empty.
 */
struct weir__wheel {
	uint64_t now_ns;
	uint64_t armed; /* timers that are */
	uint64_t pending[WEIR__WHEEL_LEVELS];
	struct weir__wheel_slot slots[WEIR__WHEEL_SLOTS];
};

/* `now_ns`: the time from which on the wheel is used. */
void weir__wheel_init(struct weir__wheel *wheel, uint64_t now_ns);

/*
 * Arms the timer, or moves it if it is armed. A time at or before the time last
 * expired is due at the next weir__wheel_expire(); WEIR_FOREVER is never due.
 */
void weir__wheel_arm(struct weir__wheel *wheel, struct weir_timer *timer,
		     uint64_t at_ns);

/* True: the timer was armed, or due and not taken; now it is not. */
bool weir__wheel_cancel(struct weir__wheel *wheel, struct weir_timer *timer);

/*
 * No timer fires before that time, WEIR_FOREVER if there is none. It is the
 * time of the first timer, unless one that was earlier has been cancelled.
 */
uint64_t weir__wheel_next(const struct weir__wheel *wheel);

/*
 * Sets the clock (never back); timers at or before it are due. Timers armed
 * from now on are not due, even for a time past: so a timer that arms itself
 * again and again cannot keep the thread that takes due timers.
 */
void weir__wheel_expire(struct weir__wheel *wheel, uint64_t now_ns);

/* Takes out the next due timer, in order of time, then of arming; or NULL. */
struct weir_timer *weir__wheel_take(struct weir__wheel *wheel);

#endif
