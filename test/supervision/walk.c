/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over a family whose other members another thread changes. Each walk is
 * done as often as it lends the lock, and each time the other thread has it at
 * the next place.
 */
#include "supervision/walking.h"

/* --- The walks ------------------------------------------------------------ */

static void top_fails(void)
{
	fail_one(0);
}

static void kid_fails(void)
{
	fail_one(FIRST);
	other_does(run_far);
}

static void top_stops(void)
{
	stop_one(0);
}

static void is_drained(struct weir_ending *of)
{
	(void)of;
	drained = true;
}

static void near_drains(void)
{
	drain = (struct weir_ending){.done = is_drained};
	CHECK(weir_executor_end_async(weir_loop_executor(near), &drain,
				      WEIR_FOREVER) == 0);
}

static void one_that_resumes(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "resume",
		.user = {ALWAYS(resume)},
		.top = {ALWAYS(restart)},
		.keeps = true,
		.lasts = true,
		.begin = top_fails,
	});
}

static void one_that_restarts_with_all_below(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "restart",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart)},
		.keeps = true,
		.lasts = true,
		.begin = top_fails,
	});
}

static void one_that_restarts_alone(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "restart alone",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart)},
		.begin = top_fails,
	});
}

static void one_to_whom_is_escalated(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "escalate",
		.user = {ALWAYS(resume)},
		.top = {ALWAYS(escalate)},
		.keeps = true,
		.lasts = true,
		.begin = kid_fails,
	});
}

static void one_for_one(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "one for one",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .each = &often},
		.keeps = true,
		.lasts = true,
		.alone = true,
		.begin = kid_fails,
	});
}

static void all_for_one(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "all for one",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .scope = WEIR_SCOPE_ALL_FOR_ONE,
			.each = &often},
		.keeps = true,
		.lasts = true,
		.begin = kid_fails,
	});
}

static void all_for_one_in_order(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "all for one, ordered",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .scope = WEIR_SCOPE_ALL_FOR_ONE,
			.ordered = true},
		.keeps = true,
		.lasts = true,
		.begin = kid_fails,
	});
}

static void rest_for_one(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "rest for one",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .scope = WEIR_SCOPE_REST_FOR_ONE,
			.each = &often, .all = &often},
		.keeps = true,
		.lasts = true,
		.begin = kid_fails,
	});
}

static void all_that_stop_for_one(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "stop",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(stop), .scope = WEIR_SCOPE_ALL_FOR_ONE},
		.begin = kid_fails,
	});
}

static void one_that_stops(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "stop the parent",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart)},
		.begin = top_stops,
	});
}

static void one_that_stops_them_in_order(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "stop the parent, ordered",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .ordered = true},
		.begin = top_stops,
	});
}

static void one_whose_executor_drains(void **state)
{
	goes_on_whatever_happens(&(struct work){
		.name = "drain",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart)},
		.over = true,
		.begin = near_drains,
	});
}

/* --- Two verdicts --------------------------------------------------------- */

/* The far loop's slices up to that in which somebody has paused. */
static void run_far_to_pause(void)
{
	while (beings[LAST].pauses)
		CHECK(weir_loop_run(far, 1) == 1);
}

static void run_near(void)
{
	while (weir_loop_run(near, 1000) > 0)
		;
}

/*
 * The second verdict comes where the last one begins anew, so that it is to
 * restart once more. The third finds it on its way to that, where it lends the
 * lock, and lets it go on where it lends the lock itself.
 */
static void three_verdicts(const struct work *work)
{
	make(work);
	spawn_on(SPARE, beings[0].ref, near);
	run_both();
	fail_one(SPARE);
	run_near();
	beings[LAST].pauses = true;
	other_does(run_far_to_pause);
	fail_one(SPARE);
	run_near();
	far_lends = 0;
	far_armed = true;
	other_goes_on();
	far_armed = false;
	now.lends = 0;
	at_lend = other_goes_on;
	fail_one(SPARE);
	armed = true;
	run_near();
	armed = false;
	other_goes_on();
	run_both();
	all_is_well();
	CHECK(beings[LAST].starts >= 3);
	end();
}

static void who_restarts_while_its_parent_suspends_it(void **state)
{
	const struct work work = {
		.name = "three verdicts",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .scope = WEIR_SCOPE_ALL_FOR_ONE},
		.keeps = true,
		.lasts = true,
	};

	now.work = &work;
	now.deed = N_DEEDS;
	far_place = 0;
	do {
		now.place = 0;
		do {
			three_verdicts(&work);
		} while (now.place++ < now.lends);
	} while (far_place++ < far_lends);
	CHECK(far_lends > 1);
}

/* --- Limits --------------------------------------------------------------- */

/* The only restart is the last one's: where the first one was, it is gone. */
static void who_ends_while_limits_are_asked_counts_not(void **state)
{
	static const struct weir_limit once = {.max = 1};
	const struct work work = {
		.name = "limits",
		.user = {ALWAYS(restart)},
		.top = {ALWAYS(restart), .scope = WEIR_SCOPE_REST_FOR_ONE,
			.each = &often, .all = &once},
		.keeps = true,
		.lasts = true,
	};

	now.work = &work;
	now.deed = STOPS;
	now.victim = FIRST;
	/* before each of those who are asked */
	for (now.place = 0; now.place < KIDS; now.place++) {
		make(&work);
		now.lends = 0;
		at_lend = other_does_it;
		kid_fails();
		armed = true;
		run_both();
		armed = false;
		CHECK(now.lends > now.place);
		fail_one(LAST);
		run_both();
		all_is_well();
		CHECK(beings[LAST].starts == 2);
		end();
	}
}

/* --- Both threads --------------------------------------------------------- */

static pthread_t thread;

static int set_up(void **state)
{
	is_near = true;
	CHECK(sem_init(&go, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
	CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
	return 0;
}

static int tear_down(void **state)
{
	command = NULL;
	CHECK(sem_post(&go) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(sem_destroy(&go) == 0 && sem_destroy(&done) == 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_resumes),
		cmocka_unit_test(one_that_restarts_with_all_below),
		cmocka_unit_test(one_that_restarts_alone),
		cmocka_unit_test(one_to_whom_is_escalated),
		cmocka_unit_test(one_for_one),
		cmocka_unit_test(all_for_one),
		cmocka_unit_test(all_for_one_in_order),
		cmocka_unit_test(rest_for_one),
		cmocka_unit_test(all_that_stop_for_one),
		cmocka_unit_test(one_that_stops),
		cmocka_unit_test(one_that_stops_them_in_order),
		cmocka_unit_test(one_whose_executor_drains),
		cmocka_unit_test(who_restarts_while_its_parent_suspends_it),
		cmocka_unit_test(who_ends_while_limits_are_asked_counts_not),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
