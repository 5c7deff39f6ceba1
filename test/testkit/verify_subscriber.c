/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of subscribers, tested: those that are right pass every one, and
 * each mistake is found by the test that is there for it.
 */
#include "testkit/subscribers.h"

#include "testkit/mutants.h"

#define WINDOW 8
#define STEPS 100000 /* of a pump; then it never rests */

/* Ways to write a subscriber. */
enum flavour {
	PROMPT = 1,	 /* handles signals at once, and requests on its own */
	PROMPT_TOLD = 2, /* requests what it is told to */
	QUEUED = 4,	 /* handles signals later */
	QUEUED_TOLD = 8,
};

#define OWN (PROMPT | QUEUED)
#define TOLD (PROMPT_TOLD | QUEUED_TOLD)
#define LATER (QUEUED | QUEUED_TOLD)
#define ANY (OWN | TOLD)

static const struct mutant mutants[] = {
	MISTAKE(NEVER_REQUESTS, OWN,
		"spec_2_01_demand_is_signalled_by_request"),
	MISTAKE(REQUESTS_ONCE, OWN,
		"spec_2_01_requests_again_as_long_as_items_come"),
	MISTAKE(REQUESTS_ZERO, OWN, "spec_2_01_demand_is_signalled_by_request"),
	MISTAKE(REQUESTS_NEGATIVE, OWN,
		"spec_2_01_demand_is_signalled_by_request"),
	MISTAKE(REQUESTS_ONE, TOLD, "spec_3_08_requests_add_up"),
	MISTAKE(DROPS_ITEMS, ANY, "spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(LEAKS_ITEMS, ANY, "spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(DROPS_DELIVERED, ANY,
		"spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(DELIVERS_TWICE, ANY,
		"spec_2_01_every_item_is_processed_in_order"),
	MISTAKE(DELIVERS_BACKWARDS, LATER,
		"spec_2_01_items_that_come_at_once_are_all_processed"),
	MISTAKE(TAKES_HALF, ANY,
		"spec_2_01_items_that_come_at_once_are_all_processed"),
	MISTAKE(DROPS_COMPLETE, ANY,
		"spec_2_09_on_complete_may_come_with_demand"),
	MISTAKE(DROPS_ERROR, ANY, "spec_2_10_on_error_may_come_with_demand"),
	MISTAKE(COMPLETES_ON_ERROR, ANY,
		"spec_2_10_on_error_may_come_with_demand"),
	MISTAKE(COPIES_ERROR, ANY, "spec_2_10_on_error_may_come_with_demand"),
	MISTAKE(COPIES_ERROR, ANY, "spec_2_10_on_error_may_come_after_items"),
	MISTAKE(END_OVERTAKES, LATER,
		"spec_2_09_on_complete_comes_behind_the_items"),
	MISTAKE(COMPLETE_NEEDS_DEMAND, TOLD,
		"spec_2_09_on_complete_may_come_first"),
	MISTAKE(ERROR_NEEDS_DEMAND, TOLD, "spec_2_10_on_error_may_come_first"),
	MISTAKE(REQUESTS_IN_COMPLETE, ANY,
		"spec_2_03_calls_nothing_in_on_complete"),
	MISTAKE(CANCELS_IN_COMPLETE, ANY,
		"spec_2_03_calls_nothing_in_on_complete"),
	MISTAKE(REQUESTS_IN_ERROR, ANY, "spec_2_03_calls_nothing_in_on_error"),
	MISTAKE(CANCELS_IN_ERROR, ANY, "spec_2_03_calls_nothing_in_on_error"),
	MISTAKE(REQUESTS_ELSEWHERE, ANY,
		"spec_2_03_calls_nothing_in_on_complete"),
	MISTAKE(REQUESTS_AFTER_END, TOLD,
		"spec_2_04_calls_nothing_after_on_complete"),
	MISTAKE(CANCELS_AFTER_END, ANY,
		"spec_2_04_calls_nothing_after_on_error"),
	MISTAKE(DELIVERS_AFTER_END, ANY,
		"spec_2_04_ignores_signals_after_on_complete"),
	MISTAKE(ENDS_TWICE, ANY, "spec_2_04_ignores_signals_after_on_error"),
	MISTAKE(IGNORES_SECOND, ANY, "spec_2_05_cancels_a_second_subscription"),
	MISTAKE(TAKES_SECOND, ANY, "spec_2_05_cancels_a_second_subscription"),
	MISTAKE(CANCELS_BOTH, ANY, "spec_2_05_cancels_a_second_subscription"),
	MISTAKE(REQUESTS_SECOND, ANY,
		"spec_2_05_cancels_a_second_subscription"),
	MISTAKE(NEVER_CANCELS, ANY,
		"spec_2_06_cancels_what_it_no_longer_needs"),
	MISTAKE(LEAKS_LATE_ITEMS, ANY, "spec_2_08_takes_signals_after_cancel"),
	MISTAKE(DROPS_LATE_TWICE, ANY, "spec_2_08_takes_signals_after_cancel"),
	MISTAKE(LEAKS_LATE_ITEMS, LATER,
		"spec_2_08_loses_nothing_under_way_at_cancel"),
	MISTAKE(FAILS_LATE, ANY, "spec_2_08_takes_signals_after_cancel"),
	MISTAKE(NULL_SUBSCRIPTION_IS_FINE, ANY,
		"spec_2_13_on_subscribe_refuses_null"),
	MISTAKE(NULL_ITEM_IS_FINE, ANY, "spec_2_13_on_next_refuses_null"),
	MISTAKE(NULL_ERROR_IS_FINE, ANY, "spec_2_13_on_error_refuses_null"),
	MISTAKE(NULL_ITEM_COUNTS, ANY, "spec_2_13_on_next_refuses_null"),
	MISTAKE(NULL_ERROR_ENDS, ANY, "spec_2_13_on_error_refuses_null"),
	MISTAKE(NULL_UNSEEN_AFTER_END, ANY, "spec_2_13_on_next_refuses_null"),
	MISTAKE(NULL_ITEMS_ARE_FINE, ANY, "spec_2_13_on_next_n_refuses_null"),
	MISTAKE(FAILS_ON_NEXT, ANY, "spec_2_13_signals_return_0"),
	MISTAKE(FAILS_ON_COMPLETE, ANY, "spec_2_13_signals_return_0"),
	MISTAKE(FAILS_ON_ERROR, ANY, "spec_2_13_on_error_returns_0"),
	MISTAKE(COUNTS_LATE, PROMPT_TOLD,
		"spec_3_10_on_next_may_come_within_request"),
	MISTAKE(USES_GIVEN_BACK, PROMPT_TOLD,
		"spec_3_11_on_complete_may_come_within_request"),
	MISTAKE(USES_GIVEN_BACK, PROMPT_TOLD,
		"spec_3_11_on_error_may_come_within_request"),
	MISTAKE(LEAKS_SUBSCRIPTION, ANY,
		"spec_2_01_demand_is_signalled_by_request"),
	MISTAKE(USES_UNHELD, ANY,
		"spec_3_01_calls_only_a_subscription_it_holds"),
	MISTAKE(LEAKS_ITSELF, ANY,
		"spec_3_13_is_released_after_the_last_signal"),
	MISTAKE(NEVER_RESTS, LATER, "spec_2_01_demand_is_signalled_by_request"),
};

#define N_MUTANTS (sizeof(mutants) / sizeof(*mutants))

/* --- The factory ---------------------------------------------------------- */

/* Items are numbers from 1 on; all that is made and not gone is live. */
struct maker {
	struct weir_subscriber_factory factory;
	struct weir_items items;
	struct mine_owner owner;
	struct pump pump;
	enum broken_subscriber broken;
	enum flavour flavour;
	size_t made, gone;
	struct verdicts verdicts;
};

static struct maker *maker_of(struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct maker, factory);
}

static struct mine *mine_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct mine, subscriber);
}

static struct weir_subscriber *create(struct weir_subscriber_factory *factory)
{
	struct maker *maker = maker_of(factory);

	return &mine_new(maker->broken, maker->flavour & OWN ? WINDOW : 0,
			 maker->flavour & LATER ? &maker->pump : NULL,
			 &maker->owner)
			->subscriber;
}

static void release(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber)
{
	mine_done(mine_of(subscriber));
}

static void request(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t n)
{
	mine_request(mine_of(subscriber), n);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	mine_cancel(mine_of(subscriber));
}

static void *item(struct weir_subscriber_factory *factory, int64_t i)
{
	maker_of(factory)->made++;
	return (void *)(uintptr_t)(i + 1);
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	return (int64_t)mine_of(subscriber)->received;
}

static bool is_item(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t at, int64_t i)
{
	return mine_of(subscriber)->record[at] == (void *)(uintptr_t)(i + 1);
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	*error = mine_of(subscriber)->error;
	return mine_of(subscriber)->told;
}

static bool released(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber)
{
	struct mine *mine = mine_of(subscriber);

	return mine->released == 1 && !mine->used_since;
}

static size_t live(struct weir_subscriber_factory *factory)
{
	struct maker *maker = maker_of(factory);

	return maker->made - maker->gone + maker->owner.alive;
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

static void item_processed(struct mine_owner *owner, void *what)
{
	weir_container_of(owner, struct maker, owner)->gone++;
}

static void maker_init(struct maker *maker, enum broken_subscriber broken,
		       enum flavour flavour)
{
	*maker = (struct maker){
		.factory =
			{
				.create = create,
				.release = release,
				.request = flavour & TOLD ? request : NULL,
				.cancel = cancel,
				.item = item,
				.received = received,
				.is_item = is_item,
				.ended = ended,
				.released = released,
				.live = live,
				.items = &maker->items,
				.env = {.settle = settle, .context = maker},
			},
		.items = {.drop = item_drop, .context = maker},
		.owner.item = item_processed,
		.broken = broken,
		.flavour = flavour,
		.verdicts.report.result = verdicts_take,
	};
}

/* --- Tests ---------------------------------------------------------------- */

static void expect_all_pass(enum flavour flavour, const char *skipped)
{
	struct maker maker;

	maker_init(&maker, SUBSCRIBER_CORRECT, flavour);
	assert_int_equal(weir_verify_subscriber(&maker.factory,
						&maker.verdicts.report),
			 0);
	assert_string_equal(maker.verdicts.failed, "");
	assert_string_equal(maker.verdicts.skipped, skipped);
	assert_int_equal(maker.verdicts.report.failed, 0);
	assert_in_range(maker.verdicts.report.passed, 30, 100);
	assert_int_equal(live(&maker.factory), 0);
}

static void prompt_subscriber_passes(void **state)
{
	expect_all_pass(PROMPT, " spec_3_08_requests_add_up");
}

static void prompt_told_subscriber_passes(void **state)
{
	expect_all_pass(PROMPT_TOLD, "");
}

static void queued_subscriber_passes(void **state)
{
	expect_all_pass(QUEUED, " spec_3_08_requests_add_up");
}

static void queued_told_subscriber_passes(void **state)
{
	expect_all_pass(QUEUED_TOLD, "");
}

/* Those who wrote it may want to see one test alone. */
static void only_the_named_test_is_run(void **state)
{
	struct maker maker;

	maker_init(&maker, DROPS_ITEMS, PROMPT);
	maker.verdicts.report.only =
		"spec_2_01_every_item_is_processed_in_order";
	assert_int_equal(weir_verify_subscriber(&maker.factory,
						&maker.verdicts.report),
			 1);
	assert_int_equal(maker.verdicts.report.passed +
				 maker.verdicts.report.skipped,
			 0);
	assert_int_equal(maker.verdicts.report.failed, 1);
	assert_string_equal(maker.verdicts.failed + 1,
			    maker.verdicts.report.only);
}

static void incomplete_factory_is_refused(void **state)
{
	struct weir_subscriber_factory empty = {0};
	struct maker maker;

	maker_init(&maker, SUBSCRIBER_CORRECT, PROMPT);
	assert_int_equal(weir_verify_subscriber(NULL, &maker.verdicts.report),
			 -EINVAL);
	assert_int_equal(weir_verify_subscriber(&maker.factory, NULL), -EINVAL);
	assert_int_equal(weir_verify_subscriber(&empty, &maker.verdicts.report),
			 -EINVAL);
}

static void mistake_is_found(void **state)
{
	const struct mutant *mutant = *state;
	struct maker maker;
	int failed;

	for (uint32_t flavour = PROMPT; flavour <= QUEUED_TOLD; flavour *= 2) {
		if (!(mutant->flavours & flavour))
			continue;
		maker_init(&maker, mutant->broken, (enum flavour)flavour);
		failed = weir_verify_subscriber(&maker.factory,
						&maker.verdicts.report);
		mutant_is_found(mutant, flavour, failed, &maker.verdicts);
	}
}

static void every_mistake_is_in_the_table(void **state)
{
	mutants_are_all(mutants, N_MUTANTS, N_BROKEN_SUBSCRIBERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompt_subscriber_passes),
		cmocka_unit_test(prompt_told_subscriber_passes),
		cmocka_unit_test(queued_subscriber_passes),
		cmocka_unit_test(queued_told_subscriber_passes),
		cmocka_unit_test(only_the_named_test_is_run),
		cmocka_unit_test(incomplete_factory_is_refused),
		cmocka_unit_test(every_mistake_is_in_the_table),
	};
	struct CMUnitTest mistakes[N_MUTANTS];

	mutants_tests(mutants, N_MUTANTS, mistake_is_found, mistakes);
	return cmocka_run_group_tests(tests, NULL, NULL) +
	       cmocka_run_group_tests_name("mistakes", mistakes, NULL, NULL);
}
