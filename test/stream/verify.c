/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream/verify.h"

void place_sim(struct place *place, uint64_t seed)
{
	*place = (struct place){.sim = sim_new(seed)};
	place->executor = weir_sim_executor(place->sim);
	place->env = weir_test_env_sim(place->sim);
}

void place_loop(struct place *place)
{
	*place = (struct place){0};
	assert_int_equal(weir_loop_new(&place->loop, NULL), 0);
	place->executor = weir_loop_executor(place->loop);
	place->env = weir_test_env_loop(place->loop);
}

void place_threads(struct place *place)
{
	const struct weir_threads_options options = {
		.workers = 2,
		.spin_ns = test_soak() ? 0 : WEIR_NO_SPIN,
	};

	*place = (struct place){0};
	assert_int_equal(weir_threads_new(&place->threads, &options), 0);
	place->executor = weir_threads_executor(place->threads);
	place->env = weir_test_env_threads(place->threads);
}

void place_fini(struct place *place)
{
	assert_int_equal(weir_sim_free(place->sim), 0);
	assert_int_equal(weir_loop_free(place->loop), 0);
	assert_int_equal(weir_threads_free(place->threads), 0);
}

void goods_drop(void *item, void *context)
{
	struct good *good = item;
	struct goods *goods = context;

	ck_pr_inc_32(&goods->gone);
	/* Both ways, as the last one frees what the others have read. */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&good->holders, (uint32_t)-1) != 1)
		return;
	ck_pr_fence_acquire();
	free(good);
}

int goods_share(void *item, void *context)
{
	struct goods *goods = context;

	ck_pr_inc_32(&goods->made);
	ck_pr_inc_32(&((struct good *)item)->holders);
	return 0;
}

void goods_init(struct goods *goods)
{
	*goods = (struct goods){
		.items =
			{
				.drop = goods_drop,
				.share = goods_share,
				.context = goods,
			},
	};
}

void *goods_make(struct goods *goods, int64_t i)
{
	struct good *good = malloc(sizeof(*good));

	assert_non_null(good);
	good->number = i;
	good->holders = 1;
	ck_pr_inc_32(&goods->made);
	return good;
}

bool goods_is(const void *item, int64_t i)
{
	return item && ((const struct good *)item)->number == i;
}

size_t goods_live(const struct goods *goods)
{
	return ck_pr_load_32(&goods->made) - ck_pr_load_32(&goods->gone);
}

/* --- What went wrong ------------------------------------------------------- */

/* What has failed, and what was skipped. */
struct results {
	struct weir_verify_report report;
	char failed[8192]; /* lines */
	char skipped[4096];
};

static void results_take(struct weir_verify_report *report, const char *test,
			 enum weir_verdict verdict, const char *why)
{
	struct results *results =
		weir_container_of(report, struct results, report);
	char *text = verdict == WEIR_VERDICT_FAILED ? results->failed
						    : results->skipped;
	size_t most = verdict == WEIR_VERDICT_FAILED ? sizeof(results->failed)
						     : sizeof(results->skipped);
	size_t n = strlen(text);

	if (verdict != WEIR_VERDICT_PASSED)
		snprintf(text + n, most - n, "%s: %s\n", test, why);
}

static void results_init(struct results *results)
{
	memset(results, 0, sizeof(*results));
	results->report.result = results_take;
}

/* All passed but those skipped. */
static void results_check(const struct results *results, const char *name,
			  uint32_t passed)
{
	if (results->report.failed)
		fail_msg("%s:\n%s", name, results->failed);
	if (results->report.passed < passed)
		fail_msg("%s: %u passed, skipped:\n%s", name,
			 results->report.passed, results->skipped);
}

/* --- Factories ------------------------------------------------------------ */

static size_t live(const struct base *base)
{
	return goods_live(&base->goods) + ck_pr_load_32(&base->alive);
}

static void *item(struct base *base, int64_t i)
{
	return goods_make(&base->goods, i);
}

static bool is_published(struct weir_publisher_factory *factory,
			 const void *what, int64_t i)
{
	return goods_is(what, i);
}

static size_t live_publishers(struct weir_publisher_factory *factory)
{
	return live(weir_container_of(factory, struct base, publisher));
}

static void *item_to_subscriber(struct weir_subscriber_factory *factory,
				int64_t i)
{
	return item(weir_container_of(factory, struct base, subscriber), i);
}

static size_t live_subscribers(struct weir_subscriber_factory *factory)
{
	return live(weir_container_of(factory, struct base, subscriber));
}

static void *item_to_processor(struct weir_processor_factory *factory,
			       int64_t i)
{
	return item(weir_container_of(factory, struct base, processor), i);
}

static bool is_processed(struct weir_processor_factory *factory,
			 const void *what, int64_t i)
{
	return goods_is(what, i);
}

static size_t live_processors(struct weir_processor_factory *factory)
{
	return live(weir_container_of(factory, struct base, processor));
}

static void base_init(struct base *base, struct place *place)
{
	base->place = place;
	goods_init(&base->goods);
}

void verify_publisher(struct base *base, struct place *place, const char *name,
		      uint32_t passed)
{
	struct weir_publisher_factory *factory = &base->publisher;
	struct results results;

	base_init(base, place);
	factory->is_item = is_published;
	factory->live = live_publishers;
	if (!factory->env.settle)
		factory->env = place->env;
	results_init(&results);
	assert_true(weir_verify_publisher(factory, &results.report) >= 0);
	results_check(&results, name, passed);
}

void verify_subscriber(struct base *base, struct place *place, const char *name,
		       uint32_t passed)
{
	struct weir_subscriber_factory *factory = &base->subscriber;
	struct results results;

	base_init(base, place);
	if (!factory->item) {
		factory->item = item_to_subscriber;
		factory->items = &base->goods.items;
	}
	factory->live = live_subscribers;
	factory->env = place->env;
	results_init(&results);
	assert_true(weir_verify_subscriber(factory, &results.report) >= 0);
	results_check(&results, name, passed);
}

void verify_processor(struct base *base, struct place *place, const char *name,
		      uint32_t passed)
{
	struct weir_processor_factory *factory = &base->processor;
	struct results results;

	base_init(base, place);
	factory->item = item_to_processor;
	factory->is_item = is_processed;
	factory->items = &base->goods.items;
	factory->live = live_processors;
	factory->env = place->env;
	results_init(&results);
	assert_true(weir_verify_processor(factory, &results.report) >= 0);
	results_check(&results, name, passed);
}

/* --- On all executors ----------------------------------------------------- */

static void verify_at(const struct suite *suite, struct place *place)
{
	suite->verify(place);
	place_fini(place);
}

static __attribute__((unused)) void on_simulators(void **state)
{
	const struct suite *suite = *state;
	struct place place;

	for_each_seed(seed, suite->seeds) {
		place_sim(&place, seed);
		verify_at(suite, &place);
	}
}

static __attribute__((unused)) void on_a_loop(void **state)
{
	struct place place;

	place_loop(&place);
	verify_at(*state, &place);
}

static void on_threads(void **state)
{
	const struct suite *suite = *state;
	struct place place;
	uint64_t round;

	for (round = 0; round < suite->rounds; round++) {
		place_threads(&place);
		verify_at(suite, &place);
	}
}

int verify_everywhere(const struct suite *suites, size_t n)
{
	static const struct {
		const char *name;
		CMUnitTestFunction run;
	} kinds[] = {
#ifndef __SANITIZE_THREAD__ /* it has nothing to say of one thread */
		{"the_simulator", on_simulators},
		{"a_loop", on_a_loop},
#endif
		{"threads", on_threads},
	};
	static const size_t n_kinds = sizeof(kinds) / sizeof(*kinds);
	static char names[8][128];
	struct CMUnitTest tests[8] = {{0}};
	size_t i;

	assert(n_kinds * n <= 8);
	for (i = 0; i < n_kinds * n; i++) {
		snprintf(names[i], sizeof(names[i]), "%s_the_rules_on_%s",
			 suites[i / n_kinds].name, kinds[i % n_kinds].name);
		tests[i].name = names[i];
		tests[i].test_func = kinds[i % n_kinds].run;
		tests[i].initial_state = (void *)&suites[i / n_kinds];
	}
	return test_run_group("verify", tests, n_kinds * n, NULL, NULL);
}
