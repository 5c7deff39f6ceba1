/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that trace, and who turns that off. */
#include "support.h"

#include "inspect/tracer.h"

static int trace;

static struct weir__tracers tracers;
static struct weir__tracer one, two;

static int setup(void **state)
{
	tracers = (struct weir__tracers){0};
	one = two = (struct weir__tracer){0};
	return 0;
}

static void list(struct weir__tracer *tracer)
{
	assert_ptr_equal(weir__tracer_enter(&tracers, tracer), &trace);
	assert_true(weir__tracer_list(&tracers, tracer));
	weir__unlock(&tracers.lock);
	weir__tracer_leave(tracer);
	assert_true(tracer->listed);
}

static void who_enters_finds_what_is_on(void **state)
{
	assert_null(weir__tracer_enter(&tracers, &one));
	assert_int_equal(one.busy, 0);
	weir__tracers_on(&tracers, &trace);
	assert_ptr_equal(weir__tracer_enter(&tracers, &one), &trace);
	assert_int_equal(one.busy, 1);
	weir__tracer_leave(&one);
	assert_int_equal(one.busy, 0);
}

static void who_turns_it_off_forgets_all(void **state)
{
	struct weir__track track;

	weir__tracers_on(&tracers, &trace);
	list(&one);
	list(&two);
	one.track = &track;
	weir__tracers_off(&tracers);
	assert_false(one.listed || two.listed);
	assert_null(one.track);
	assert_null(weir__tracer_enter(&tracers, &one));
}

static void who_ends_is_forgotten(void **state)
{
	weir__tracers_on(&tracers, &trace);
	list(&one);
	list(&two);
	weir__tracer_unlist(&tracers, &one);
	assert_ptr_equal(tracers.first, &two);
	weir__tracer_unlist(&tracers, &one);
	weir__tracer_unlist(&tracers, &two);
	assert_null(tracers.first);
}

static void who_comes_too_late_is_not_listed(void **state)
{
	weir__tracers_on(&tracers, &trace);
	assert_ptr_equal(weir__tracer_enter(&tracers, &one), &trace);
	weir__tracers_off(&tracers);
	assert_false(weir__tracer_list(&tracers, &one));
	assert_int_equal(one.busy, 0);
	assert_false(one.listed);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup(name, setup)
	static const struct CMUnitTest tests[] = {
		test(who_enters_finds_what_is_on),
		test(who_turns_it_off_forgets_all),
		test(who_ends_is_forgotten),
		test(who_comes_too_late_is_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
