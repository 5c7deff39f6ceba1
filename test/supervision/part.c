/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a child's part: each part by each event, and what follows from
 * all of them together.
 */
#include "support.h"

#include "supervision/part.h"

/* The parts, by one letter each. */
static const char letters[] = "nNSlsHhGg";
_Static_assert(sizeof(letters) == WEIR__PARTS + 1, "one for each");

/*
 * The next part by each event, '-': the event cannot come; and whether the child
 * comes into a list, 'i' that of those in line, 'o' that of those that have
 * halted, ' ' none, '=' as it is.
 *
 *	COME SETTLE TELL_STOP TELL_HALT QUEUE_STOP QUEUE_HALT PASS_HALTED HALTS
 *	LEAVE
 */
static const char *const expected[WEIR__PARTS] = {
	[WEIR__PART_NONE] = "N= -- S= -- li Hi -- -- n=",
	[WEIR__PART_NEW] = "-- n= S= -- li Hi -- -- N=",
	[WEIR__PART_STOP] = "-- -- S= -- si hi -- -- S=",
	[WEIR__PART_LINE_STOP] = "-- -- s= -- li Hi -- l= n ",
	[WEIR__PART_TURN_STOP] = "-- -- s= -- si hi -- l= S ",
	[WEIR__PART_LINE_HALT] = "-- -- h= h= li Hi Go Go n ",
	[WEIR__PART_TURN_HALT] = "-- -- h= -- si hi go Go S ",
	[WEIR__PART_GO] = "-- -- g= -- li Hi -- -- n ",
	[WEIR__PART_GO_STOP] = "-- -- g= -- si hi -- -- S ",
};

static struct weir__part_step step(unsigned part, unsigned event)
{
	return weir__part_step((enum weir__part)part,
			       (enum weir__part_event)event);
}

static void each_part_by_each_event(void **state)
{
	static const char lists[] = {
		[WEIR__PART_LIST_AS_IT_IS] = '=',
		[WEIR__PART_LIST_NONE] = ' ',
		[WEIR__PART_LIST_HALTING] = 'i',
		[WEIR__PART_LIST_HALTED] = 'o',
	};
	unsigned from, event;
	const char *next;
	struct weir__part_step to;

	for (from = 0; from < WEIR__PARTS; from++)
		for (event = 0; event < WEIR__PART_EVENTS; event++) {
			next = expected[from] + 3 * event;
			to = step(from, event);
			if (next[0] != (to.possible ? letters[to.part] : '-') ||
			    next[1] != (to.possible ? lists[to.list] : '-'))
				fail_msg("%c by event %u", letters[from],
					 event);
		}
}

/* A child is in that list of the parent's which its part says. */
static void each_part_has_its_list(void **state)
{
	unsigned from, event;
	struct weir__part_step to;

	for (from = 0; from < WEIR__PARTS; from++)
		for (event = 0; event < WEIR__PART_EVENTS; event++) {
			to = step(from, event);
			if (!to.possible)
				continue;
			if (to.list == WEIR__PART_LIST_HALTING)
				assert_true(weir__part_in_line(to.part));
			else if (to.list == WEIR__PART_LIST_HALTED)
				assert_true(to.part >= WEIR__PART_GO);
			else if (to.list == WEIR__PART_LIST_NONE)
				assert_false(weir__part_with_others(to.part));
			else
				assert_int_equal(weir__part_in_line(from),
						 weir__part_in_line(to.part));
		}
}

/* The order to stop may come from anybody at any time, and is forgotten only
 * where the child halts, for it has an order of its own then. */
static void who_is_told_to_stop_stays_told(void **state)
{
	unsigned from, event;
	struct weir__part_step to;

	for (from = 0; from < WEIR__PARTS; from++) {
		to = step(from, WEIR__PART_TELL_STOP);
		assert_true(to.possible && weir__part_told(to.part));
		for (event = 0; event < WEIR__PART_EVENTS; event++) {
			to = step(from, event);
			if (to.possible && event != WEIR__PART_HALTS)
				assert_true(weir__part_told(to.part) >=
					    weir__part_told(from));
		}
	}
}

/* Also of one whose parent goes, wherever that happens. */
static void each_can_leave_the_others(void **state)
{
	unsigned from;
	struct weir__part_step to;

	for (from = 0; from < WEIR__PARTS; from++) {
		to = step(from, WEIR__PART_LEAVE);
		assert_true(to.possible && !weir__part_with_others(to.part));
		assert_int_equal(weir__part_told(to.part),
				 weir__part_told(from));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_by_each_event),
		cmocka_unit_test(each_part_has_its_list),
		cmocka_unit_test(who_is_told_to_stop_stays_told),
		cmocka_unit_test(each_can_leave_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
