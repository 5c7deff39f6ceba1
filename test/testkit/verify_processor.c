/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of processors, tested: those that are right pass every one, and
 * each mistake is found by the test that is there for it.
 */
#include "testkit/processors.h"

#include "testkit/mutants.h"

#define STEPS 100000 /* of a pump; then it never rests */

/* Ways to write a processor. */
enum flavour {
	PROMPT_ONE = 1, /* works at once, for one subscriber */
	PROMPT_MANY = 2,
	QUEUED_ONE = 4, /* works later */
	QUEUED_MANY = 8,
	RECOVERS = 16, /* QUEUED_ONE, and an error becomes a good end */
};

#define ONE (PROMPT_ONE | QUEUED_ONE)
#define MANY (PROMPT_MANY | QUEUED_MANY)
#define ANY (ONE | MANY)

static const struct mutant mutants[] = {
	MISTAKE(NEVER_REPLENISHES, ANY,
		"spec_4_01_requests_again_as_items_leave"),
	MISTAKE(REPLENISHES_TWICE, ANY,
		"spec_4_01_requests_no_more_than_it_can_hold"),
	MISTAKE(REQUESTS_TOO_MUCH, ANY,
		"spec_4_01_requests_no_more_than_it_can_hold"),
	MISTAKE(REPLENISHES_FOR_ALL, MANY,
		"spec_2_01_requests_what_was_requested_long_ago"),
	MISTAKE(FORGETS_LONG_AGO, MANY,
		"spec_2_01_requests_what_was_requested_long_ago"),
	MISTAKE(ERROR_WAITS, ANY,
		"spec_4_02_an_error_is_passed_on_without_demand"),
	MISTAKE(ERROR_BEHIND, MANY,
		"spec_1_04_an_error_overtakes_items_that_nobody_requested"),
	MISTAKE(ERROR_COPIED, ANY,
		"spec_4_02_an_error_is_passed_on_without_demand"),
	MISTAKE(ERROR_SWALLOWED, ANY,
		"spec_4_02_an_error_is_passed_on_after_items"),
	MISTAKE(ERROR_FOR_ONE, MANY,
		"spec_1_04_an_error_reaches_all_subscribers"),
	MISTAKE(FAILS_TO_RECOVER, RECOVERS,
		"spec_4_02_a_recovered_error_is_not_passed_on"),
	MISTAKE(COMPLETE_WAITS, ANY, "spec_1_05_complete_needs_no_demand"),
	MISTAKE(COMPLETE_WAITS_AT_REST, ANY,
		"spec_1_05_complete_needs_no_demand_at_rest"),
	MISTAKE(COMPLETE_OVERTAKES, ANY,
		"spec_4_01_complete_comes_behind_the_items"),
	MISTAKE(OVERRUNS, ANY, "spec_4_01_requests_no_more_than_it_can_hold"),
	MISTAKE(SWALLOWS_ITEMS, ANY,
		"spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(REPEATS_ITEMS, ANY,
		"spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(IGNORES_OTHERS, ONE,
		"spec_4_01_a_second_subscriber_is_served_or_rejected"),
	MISTAKE(IGNORES_OTHERS, MANY, "spec_1_11_one_too_many_is_told"),
	MISTAKE(REPLACES_OTHERS, ONE,
		"spec_4_01_a_second_subscriber_is_served_or_rejected"),
	MISTAKE(KEEPS_SUBSCRIBERS, ANY, "spec_4_01_a_cancel_is_passed_on"),
	MISTAKE(KEEPS_UPSTREAM, ANY, "spec_4_01_a_cancel_is_passed_on"),
	MISTAKE(LEAVES_EARLY, MANY, "spec_4_01_the_last_cancel_is_passed_on"),
	MISTAKE(LEAKS_BUFFER, ANY, "spec_4_01_a_cancel_is_passed_on"),
	MISTAKE(CANCELS_ENDED, ANY, "spec_2_03_calls_nothing_in_on_complete"),
	MISTAKE(TAKES_TWO, ANY, "spec_2_05_cancels_a_second_subscription"),
	MISTAKE(NULLS_ARE_FINE, ANY, "spec_2_13_on_next_refuses_null"),
};

#define N_MUTANTS (sizeof(mutants) / sizeof(*mutants))

/* --- The factory ---------------------------------------------------------- */

/* Items are numbers from 1 on; all that is made and not gone is live. */
struct maker {
	struct weir_processor_factory factory;
	struct weir_items items;
	struct pump pump;
	enum broken_processor broken;
	enum flavour flavour;
	size_t made, gone, alive;
	struct verdicts verdicts;
};

static struct maker *maker_of(struct weir_processor_factory *factory)
{
	return weir_container_of(factory, struct maker, factory);
}

static struct weir_processor create(struct weir_processor_factory *factory)
{
	struct maker *maker = maker_of(factory);
	bool queued = !(maker->flavour & (PROMPT_ONE | PROMPT_MANY));
	struct relay *relay = relay_new(
		maker->broken, maker->flavour & MANY ? RELAY_BRANCHES : 1,
		&maker->items, queued ? &maker->pump : NULL, &maker->alive);

	relay->recovers = maker->flavour == RECOVERS;
	return relay->processor;
}

static void release(struct weir_processor_factory *factory,
		    struct weir_processor processor)
{
	relay_free(weir_container_of(processor.subscriber, struct relay, in));
}

static void *item(struct weir_processor_factory *factory, int64_t i)
{
	maker_of(factory)->made++;
	return (void *)(uintptr_t)(i + 1);
}

static bool is_item(struct weir_processor_factory *factory, const void *what,
		    int64_t i)
{
	return what == (void *)(uintptr_t)(i + 1);
}

static size_t live(struct weir_processor_factory *factory)
{
	struct maker *maker = maker_of(factory);

	return maker->made - maker->gone + maker->alive;
}

static int settle(void *context)
{
	struct maker *maker = context;

	for (uint32_t i = 0; i < STEPS; i++)
		if (!pump_step(&maker->pump))
			return 0;
	return -ETIMEDOUT;
}

static void item_drop(void *what, void *context)
{
	((struct maker *)context)->gone++;
}

static int item_share(void *what, void *context)
{
	((struct maker *)context)->made++;
	return 0;
}

static void maker_init(struct maker *maker, enum broken_processor broken,
		       enum flavour flavour)
{
	*maker = (struct maker){
		.factory =
			{
				.create = create,
				.release = release,
				.item = item,
				.is_item = is_item,
				.live = live,
				.items = &maker->items,
				.env =
					{
						.settle = settle,
						.context = maker,
						.one_thread = true,
					},
				.max_subscribers =
					flavour & MANY ? RELAY_BRANCHES : 1,
				.buffer = RELAY_ROOM,
				.multicast = flavour & MANY,
				.recovers = flavour == RECOVERS,
			},
		.items =
			{
				.drop = item_drop,
				.share = item_share,
				.context = maker,
			},
		.broken = broken,
		.flavour = flavour,
		.verdicts.report.result = verdicts_take,
	};
}

/* --- Tests ---------------------------------------------------------------- */

static void expect_all_pass(enum flavour flavour)
{
	struct maker maker;

	maker_init(&maker, PROCESSOR_CORRECT, flavour);
	assert_int_equal(weir_verify_processor(&maker.factory,
					       &maker.verdicts.report),
			 0);
	assert_string_equal(maker.verdicts.failed, "");
	assert_in_range(maker.verdicts.report.passed, 60, 200);
	assert_int_equal(live(&maker.factory), 0);
	if (getenv("WEIR_TESTKIT_WHY"))
		printf("%u passed, skipped:%s\n", maker.verdicts.report.passed,
		       maker.verdicts.skipped);
}

static void prompt_processor_passes(void **state)
{
	expect_all_pass(PROMPT_ONE);
}

static void prompt_processor_for_many_passes(void **state)
{
	expect_all_pass(PROMPT_MANY);
}

static void queued_processor_passes(void **state)
{
	expect_all_pass(QUEUED_ONE);
}

static void queued_processor_for_many_passes(void **state)
{
	expect_all_pass(QUEUED_MANY);
}

static void recovering_processor_passes(void **state)
{
	expect_all_pass(RECOVERS);
}

static void longer_streams_than_the_factory_can_make_are_left_out(void **state)
{
	uint32_t skipped[2];
	struct maker maker;

	for (int64_t most = 0; most <= 1; most++) {
		maker_init(&maker, PROCESSOR_CORRECT, QUEUED_ONE);
		maker.factory.max_items = most;
		(void)weir_verify_processor(&maker.factory,
					    &maker.verdicts.report);
		assert_string_equal(maker.verdicts.failed, "");
		skipped[most] = maker.verdicts.report.skipped;
	}
	assert_true(skipped[1] > skipped[0]);
}

static void incomplete_factory_is_refused(void **state)
{
	struct weir_processor_factory empty = {0};
	struct maker maker;

	maker_init(&maker, PROCESSOR_CORRECT, PROMPT_ONE);
	assert_int_equal(weir_verify_processor(NULL, &maker.verdicts.report),
			 -EINVAL);
	assert_int_equal(weir_verify_processor(&maker.factory, NULL), -EINVAL);
	assert_int_equal(weir_verify_processor(&empty, &maker.verdicts.report),
			 -EINVAL);
}

static void mistake_is_found(void **state)
{
	const struct mutant *mutant = *state;
	struct maker maker;
	int failed;

	for (uint32_t flavour = PROMPT_ONE; flavour <= RECOVERS; flavour *= 2) {
		if (!(mutant->flavours & flavour))
			continue;
		maker_init(&maker, mutant->broken, (enum flavour)flavour);
		failed = weir_verify_processor(&maker.factory,
					       &maker.verdicts.report);
		mutant_is_found(mutant, flavour, failed, &maker.verdicts);
	}
}

static void every_mistake_is_in_the_table(void **state)
{
	mutants_are_all(mutants, N_MUTANTS, N_BROKEN_PROCESSORS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompt_processor_passes),
		cmocka_unit_test(prompt_processor_for_many_passes),
		cmocka_unit_test(queued_processor_passes),
		cmocka_unit_test(queued_processor_for_many_passes),
		cmocka_unit_test(recovering_processor_passes),
		cmocka_unit_test(
			longer_streams_than_the_factory_can_make_are_left_out),
		cmocka_unit_test(incomplete_factory_is_refused),
		cmocka_unit_test(every_mistake_is_in_the_table),
	};
	struct CMUnitTest mistakes[N_MUTANTS];

	mutants_tests(mutants, N_MUTANTS, mistake_is_found, mistakes);
	return cmocka_run_group_tests(tests, NULL, NULL) +
	       cmocka_run_group_tests_name("mistakes", mistakes, NULL, NULL);
}
