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

void results_init(struct results *results)
{
	memset(results, 0, sizeof(*results));
	results->report.result = results_take;
}

void results_check(const struct results *results, const char *what,
		   uint32_t passed)
{
	if (results->report.failed)
		fail_msg("%s:\n%s", what, results->failed);
	if (results->report.passed < passed)
		fail_msg("%s: %u passed, skipped:\n%s", what,
			 results->report.passed, results->skipped);
}
