/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a cell's life: each state by each event, and what follows from
 * all of them together. Rule numbers like B5.3 are those of
 * docs/conformance/supervision.md.
 */
#include "support.h"

#include "supervision/cell.h"
#include "supervision/life.h"

/* The states, by one letter each. */
static const char letters[] = "fsSARFDUEGHNIPX";
_Static_assert(sizeof(letters) == WEIR__CELL_STATES + 1, "one for each");

/*
 * The next state by each event; '.': it stays, '-': the event cannot come.
 *
 *	SPAWN REFUSE SHOW START FAIL | DELAY TIMER ESCALATE ANSWER |
 *	RESUME RESTART HALT RENEW GO | PROMISE STOP DRAIN KILL | SUSPEND |
 *	CLOSE END RELEASE
 */
static const char *const expected[WEIR__CELL_STATES] = {
	[WEIR__CELL_FREE] = "s---- ---- ----- ---- - ---",
	[WEIR__CELL_SPAWNED] = "-fS-- ---- ----- ---- . ---",
	[WEIR__CELL_STARTING] = "---AF ---- ..--. -PIP . P--",
	[WEIR__CELL_ALIVE] = "----F ---- .G--. RPIP . P--",
	[WEIR__CELL_FINISHING] = "----P -.-- ..--. -PIP . P--",
	[WEIR__CELL_FAILED] = "----- D-E. AG--. -PIP . P--",
	[WEIR__CELL_DELAYED] = "----- -U-- .G--. -PIP . P--",
	[WEIR__CELL_DUE] = "----- ---F .G--. -PIP . P--",
	[WEIR__CELL_ESCALATED] = "----- ---F .G--. -PIP . P--",
	[WEIR__CELL_RESTARTING] = "----- ---- ..HN. -PIP . P--",
	[WEIR__CELL_HALTED] = "----- ---- ..--N -PIP . P--",
	[WEIR__CELL_RENEWING] = "---AF ---- ..--. -PIP . P--",
	[WEIR__CELL_DRAINING] = "----- -.-- ..--. ---P . .X-",
	[WEIR__CELL_STOPPING] = "----- -.-- ..--. ---. . .X-",
	[WEIR__CELL_ENDED] = "----- ---- ----- ---- . --f",
};

static char letter(unsigned state, unsigned event)
{
	const struct weir__step step = weir__life_step(
		(enum weir__cell_state)state, (enum weir__life_event)event);

	if (!step.possible)
		return '-';
	return step.state == state ? '.' : letters[step.state];
}

static void each_state_by_each_event(void **state)
{
	unsigned from, event;
	const char *next;

	for (from = 0; from < WEIR__CELL_STATES; from++) {
		next = expected[from];
		for (event = 0; event < WEIR__LIFE_EVENTS; event++) {
			while (*next == ' ')
				next++;
			if (letter(from, event) != *next)
				fail_msg("%c by event %u: %c and not %c",
					 letters[from], event,
					 letter(from, event), *next);
			next++;
		}
		assert_int_equal(*next, '\0');
	}
}

/* The cell is told only where the actor cannot look by itself. */
static void few_steps_give_orders(void **state)
{
	unsigned from, event, n = 0;
	struct weir__step step;

	for (from = 0; from < WEIR__CELL_STATES; from++)
		for (event = 0; event < WEIR__LIFE_EVENTS; event++) {
			step = weir__life_step((enum weir__cell_state)from,
					       (enum weir__life_event)event);
			n += step.orders != 0;
			assert_true(!step.orders || step.possible);
			assert_true(!step.orders || event == WEIR__LIFE_TIMER ||
				    event == WEIR__LIFE_SUSPEND);
		}
	assert_int_equal(n, 6);
}

/* The states that can be reached from `from`, itself included. */
static uint32_t reach(unsigned from)
{
	uint32_t found = 1u << from, before = 0;
	unsigned each, event;
	struct weir__step step;

	while (found != before) {
		before = found;
		for (each = 0; each < WEIR__CELL_STATES; each++)
			for (event = 0;
			     found & 1u << each && event < WEIR__LIFE_EVENTS;
			     event++) {
				step = weir__life_step(
					(enum weir__cell_state)each,
					(enum weir__life_event)event);
				if (step.possible)
					found |= 1u << step.state;
			}
	}
	return found;
}

/* From each state each other one can be reached: no life is stuck, and no state
 * is in vain. */
static void each_life_can_come_to_its_end(void **state)
{
	unsigned from;

	for (from = 0; from < WEIR__CELL_STATES; from++)
		assert_int_equal(reach(from), (1u << WEIR__CELL_STATES) - 1);
}

static bool is_living(unsigned state)
{
	return state > WEIR__CELL_SPAWNED && state != WEIR__CELL_ENDED;
}

/* Also one whose executor refuses it, wherever that happens. */
static void each_actor_can_be_ended_at_any_time(void **state)
{
	static const struct {
		enum weir__life_event event;
		uint8_t to;
	} ends[] = {
		{WEIR__LIFE_STOP, WEIR__CELL_STOPPING},
		{WEIR__LIFE_DRAIN, WEIR__CELL_DRAINING},
		{WEIR__LIFE_KILL, WEIR__CELL_STOPPING},
		{WEIR__LIFE_CLOSE, WEIR__CELL_STOPPING},
	};
	unsigned from, i;
	struct weir__step step;

	for (from = WEIR__CELL_STARTING; from < WEIR__CELL_DRAINING; from++)
		for (i = 0; i < 4; i++) {
			step = weir__life_step((enum weir__cell_state)from,
					       ends[i].event);
			assert_true(step.possible && step.state == ends[i].to);
		}
}

/* All that can be next is one of these. */
static void goes_to(enum weir__cell_state from, uint32_t states)
{
	unsigned event;
	struct weir__step step;

	for (event = 0; event < WEIR__LIFE_EVENTS; event++) {
		step = weir__life_step(from, (enum weir__life_event)event);
		assert_true(!step.possible || (states & 1u << step.state));
	}
}

/* B5.3: what stops is brought back by nothing. */
static void who_stops_or_has_promised_to_ends(void **state)
{
	const uint32_t stopping = 1u << WEIR__CELL_DRAINING |
				  1u << WEIR__CELL_STOPPING;

	goes_to(WEIR__CELL_FINISHING, stopping | 1u << WEIR__CELL_FINISHING);
	goes_to(WEIR__CELL_DRAINING, stopping | 1u << WEIR__CELL_ENDED);
	goes_to(WEIR__CELL_STOPPING,
		1u << WEIR__CELL_STOPPING | 1u << WEIR__CELL_ENDED);
}

/* An order may be given in one state and be taken in another. */
static void orders_never_come_too_late(void **state)
{
	static const enum weir__life_event orders[] = {WEIR__LIFE_RESUME,
						       WEIR__LIFE_RESTART,
						       WEIR__LIFE_GO,
						       WEIR__LIFE_KILL};
	unsigned from, i;

	for (from = 0; from < WEIR__CELL_STATES; from++)
		for (i = 0; i < 4; i++)
			assert_int_equal(
				weir__life_step((enum weir__cell_state)from,
						orders[i])
					.possible,
				is_living(from));
}

/* --- Of what is done ------------------------------------------------------ */

/* What has been done to a cell that is undone by something else. */
enum { SUSPENDED = 1, BACKOFF = 2, DEADLINE = 4, TOLD = 8, BITS = 16 };

/* Which of these hold after the step, if those of `before` held. */
static unsigned after(unsigned before, struct weir__step step,
		      enum weir__life_event event)
{
	unsigned bits = before;

	if (event == WEIR__LIFE_TIMER || (step.deeds & WEIR__DO_DISARM))
		bits &= ~(unsigned)(BACKOFF | DEADLINE);
	if (event == WEIR__LIFE_ANSWER || (step.deeds & WEIR__DO_UNTELL))
		bits &= ~(unsigned)TOLD;
	if (step.deeds & (WEIR__DO_GO_ON | WEIR__DO_LEAVE))
		bits &= ~(unsigned)SUSPENDED;
	if (step.deeds & WEIR__DO_SUSPEND)
		bits |= SUSPENDED;
	if (step.deeds & WEIR__DO_TELL)
		bits |= TOLD;
	if (event == WEIR__LIFE_DELAY)
		bits |= BACKOFF;
	/* at most: not each actor has a bounded time to stop */
	if (event == WEIR__LIFE_PROMISE || (step.deeds & WEIR__DO_STOP_IN_TIME))
		bits |= DEADLINE;
	return bits;
}

/* A timer comes if there is one; answers but this come to who was answered. */
static bool comes(unsigned bits, enum weir__life_event event)
{
	if (event == WEIR__LIFE_TIMER)
		return bits & (BACKOFF | DEADLINE);
	if (event == WEIR__LIFE_RESUME || event == WEIR__LIFE_DELAY ||
	    event == WEIR__LIFE_ESCALATE)
		return !(bits & TOLD);
	return true;
}

/* True: that adds something to `seen`, which has, of each state, the sets of
 * bits that there can be, a bit each. */
static bool explore_step(uint32_t *seen, unsigned from, unsigned bits,
			 enum weir__life_event event)
{
	struct weir__step step =
		weir__life_step((enum weir__cell_state)from, event);
	uint32_t to, old;

	if (!(seen[from] & 1u << bits) || !comes(bits, event))
		return false;
	if (event == WEIR__LIFE_TIMER)
		assert_true(step.possible);
	if (!step.possible)
		return false;
	to = 1u << after(bits, step, event);
	old = seen[step.state];
	seen[step.state] |= to;
	return !(old & to);
}

static void explore(uint32_t *seen)
{
	unsigned from, bits, event;
	bool more = true;

	seen[WEIR__CELL_FREE] = 1;
	while (more) {
		more = false;
		for (from = 0; from < WEIR__CELL_STATES; from++)
			for (bits = 0; bits < BITS; bits++)
				for (event = 0; event < WEIR__LIFE_EVENTS;
				     event++)
					more |= explore_step(
						seen, from, bits,
						(enum weir__life_event)event);
	}
}

/* All that can hold in that state, and all that always does. */
static unsigned may_hold(uint32_t seen)
{
	unsigned bits, found = 0;

	for (bits = 0; bits < BITS; bits++)
		if (seen & 1u << bits)
			found |= bits;
	return found;
}

static unsigned must_hold(uint32_t seen)
{
	unsigned bits, found = BITS - 1;

	for (bits = 0; bits < BITS; bits++)
		if (seen & 1u << bits)
			found &= bits;
	return found;
}

static void what_is_done_is_undone(void **state)
{
	uint32_t seen[WEIR__CELL_STATES] = {0};
	unsigned each;

	explore(seen);
	assert_int_equal(may_hold(seen[WEIR__CELL_STARTING]), 0);
	assert_int_equal(may_hold(seen[WEIR__CELL_ALIVE]), 0);
	assert_int_equal(may_hold(seen[WEIR__CELL_FINISHING]), DEADLINE);
	assert_false(may_hold(seen[WEIR__CELL_DRAINING]) & BACKOFF);
	assert_false(may_hold(seen[WEIR__CELL_STOPPING]) & BACKOFF);
	assert_int_equal(may_hold(seen[WEIR__CELL_RESTARTING]), SUSPENDED);
	assert_int_equal(may_hold(seen[WEIR__CELL_HALTED]), SUSPENDED);
	assert_int_equal(may_hold(seen[WEIR__CELL_RENEWING]), SUSPENDED);
	assert_int_equal(may_hold(seen[WEIR__CELL_ENDED]), 0);
	/* from its failure to its new start */
	for (each = WEIR__CELL_FAILED; each <= WEIR__CELL_RENEWING; each++)
		assert_true(must_hold(seen[each]) & SUSPENDED);
	assert_true(must_hold(seen[WEIR__CELL_DELAYED]) & BACKOFF);
}

/* Each state is entered in one way, whatever the actor comes from. */
static void what_is_done_belongs_to_the_next_state(void **state)
{
	const unsigned children = WEIR__DO_LET_CHILDREN_END |
				  WEIR__DO_STOP_IN_TIME |
				  WEIR__DO_STOP_CHILDREN |
				  WEIR__DO_KILL_CHILDREN;
	unsigned from, event;
	struct weir__step step;

	for (from = 0; from < WEIR__CELL_STATES; from++)
		for (event = 0; event < WEIR__LIFE_EVENTS; event++) {
			step = weir__life_step((enum weir__cell_state)from,
					       (enum weir__life_event)event);
			if (!step.possible || step.state == from)
				continue;
			assert_int_equal(!!(step.deeds & WEIR__DO_GO_ON),
					 step.state == WEIR__CELL_ALIVE);
			assert_int_equal(!!(step.deeds & WEIR__DO_TELL),
					 event == WEIR__LIFE_FAIL &&
						 step.state ==
							 WEIR__CELL_FAILED);
			assert_int_equal(!!(step.deeds & WEIR__DO_STOP_NEW),
					 step.state == WEIR__CELL_RESTARTING);
			assert_int_equal(
				!!(step.deeds & WEIR__DO_END_TURNS),
				weir__life_stops(step.state) &&
					!weir__life_stops((uint8_t)from));
			assert_int_equal(!!(step.deeds & children),
					 weir__life_stops(step.state) &&
						 event != WEIR__LIFE_CLOSE);
			assert_int_equal(!!(step.deeds & WEIR__DO_LEAVE),
					 step.state == WEIR__CELL_ENDED);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_state_by_each_event),
		cmocka_unit_test(few_steps_give_orders),
		cmocka_unit_test(each_life_can_come_to_its_end),
		cmocka_unit_test(each_actor_can_be_ended_at_any_time),
		cmocka_unit_test(who_stops_or_has_promised_to_ends),
		cmocka_unit_test(orders_never_come_too_late),
		cmocka_unit_test(what_is_done_is_undone),
		cmocka_unit_test(what_is_done_belongs_to_the_next_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
