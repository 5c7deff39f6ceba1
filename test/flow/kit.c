/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/kit.h"

/* --- Items that are counted ----------------------------------------------- */

int64_t n_live;

struct item *item_new(intptr_t value)
{
	struct item *item = malloc(sizeof(*item));

	assert_non_null(item);
	item->value = value;
	item->refs = 1;
	__atomic_fetch_add(&n_live, 1, __ATOMIC_RELAXED);
	return item;
}

void item_drop(void *dropped, void *context)
{
	struct item *item = dropped;

	if (__atomic_sub_fetch(&item->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	__atomic_fetch_sub(&n_live, 1, __ATOMIC_RELAXED);
	free(item);
}

int item_share(void *shared, void *context)
{
	struct item *item = shared;

	__atomic_fetch_add(&item->refs, 1, __ATOMIC_RELAXED);
	return 0;
}

const struct weir_items counted_items = {
	.drop = item_drop,
	.share = item_share,
};

int to_item(void **item, void *context)
{
	*item = item_new((intptr_t)*item);
	return 0;
}

struct weir_flow *counted(struct weir_flow *flow)
{
	return weir_flow_items(weir_flow_map(flow, to_item, NULL),
			       &counted_items);
}

/* --- What comes out ------------------------------------------------------- */

int got_one(void *item, void *context)
{
	struct got *got = context;

	assert_true(got->n < OUT_MAX);
	got->values[got->n++] = got->counted ? ((struct item *)item)->value
					     : (intptr_t)item;
	if (got->counted)
		item_drop(item, NULL);
	return 0;
}

/* --- Running -------------------------------------------------------------- */

int run_on_sim(struct weir_flow *flow, uint64_t seed, size_t unfused)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	int rc;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	rc = weir_flow_start(flow, weir_sim_executor(sim), &options, &run);
	if (rc == 0) {
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
		if (rc < 0) {
			weir_flow_run_stop(run, NULL);
			assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER,
							    NULL, NULL),
					 0);
		}
		if (error)
			rc = error->code;
		weir_error_unref(error);
		weir_flow_run_free(run);
	}
	assert_int_equal(weir_sim_free(sim), 0);
	return rc;
}

struct weir_error *error_of(struct weir_flow *flow)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_non_null(error);
	return error;
}

struct weir_flow *into(struct weir_flow *flow, struct got *got)
{
	return weir_flow_for_each(flow, got_one, got);
}

void assert_got(const struct got *got, const intptr_t *expected, size_t n,
		int code)
{
	size_t i;

	for (i = 0; i < n && i < got->n; i++)
		assert_int_equal(got->values[i], expected[i]);
	assert_int_equal(got->n, n);
	assert_int_equal(got->code, code);
}

void assert_flow(struct weir_flow *flow, bool is_counted,
		 const intptr_t *expected, size_t n, int code)
{
	static const size_t unfused[] = {0, 1, 2, 16};
	static struct got got;
	int64_t live = n_live;
	size_t i;

	flow = into(flow, &got);
	for (i = 0; i < 4; i++) {
		for_each_seed(seed, 5) {
			got.n = 0;
			got.counted = is_counted;
			got.code = run_on_sim(flow, seed, unfused[i]);
			assert_got(&got, expected, n, code);
			assert_int_equal(n_live, live);
		}
	}
	weir_flow_free(flow);
}

void assert_cancel(struct weir_flow *flow)
{
	struct weir_flow_run_options options = {0};
	struct weir_flow_run *run;
	struct weir_sim *sim;
	uint64_t i;

	for_each_seed(seed, 200) {
		/* a slice is short where it is cut */
		options.unfused = (size_t)1 << seed % 3;
		assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim),
						 &options, &run),
				 0);
		for (i = weir_sim_random(sim, 50); i > 0; i--)
			weir_sim_step(sim);
		weir_flow_run_stop(run, NULL);
		weir_sim_run(sim);
		weir_flow_run_free(run);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

void assert_misfit(struct weir_flow *flow, const char *origin,
		   const char *message)
{
	const char *said_origin = "none", *said = "nothing";
	struct weir_sim *sim;

	assert_int_equal(weir_flow_check(flow, &said_origin, &said), -EINVAL);
	assert_string_equal(said_origin, origin);
	assert_string_equal(said, message);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim), NULL,
					 NULL),
			 -EINVAL);
	assert_int_equal(weir_sim_free(sim), 0);
	weir_flow_free(flow);
}

void assert_refused_all(struct weir_flow *const *flows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		assert_int_equal(weir_flow_check(flows[i], NULL, NULL),
				 -EINVAL);
		weir_flow_free(flows[i]);
	}
}
