/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups: keys that are no numbers, what fails, and what is refused. */
#include <weir/threads.h>

#include "flow/substream_group_by.h"

/* --- Keys that are strings ------------------------------------------------ */

/* Each in the same place. */
static int name_of(void *item, uintptr_t *key, void *context)
{
	static char name[32];
	struct parts *groups = context;
	intptr_t value = value_of(groups, item);

	(void)snprintf(name, sizeof(name), "key %d",
		       (int)(value % groups->n_keys));
	*key = (uintptr_t)name;
	return 0;
}

/* Two have the same. */
static uint64_t hash_name(uintptr_t key, void *context)
{
	return strlen((const char *)key) + (((const char *)key)[4] == '1');
}

static bool equal_names(uintptr_t a, uintptr_t b, void *context)
{
	return strcmp((const char *)a, (const char *)b) == 0;
}

static int keep_name(uintptr_t *key, void *context)
{
	struct parts *groups = context;
	char *name = strdup((const char *)*key);

	assert_non_null(name);
	if (groups->bad && strcmp(name, "key 2") == 0) {
		free(name);
		return -EDOM;
	}
	*key = (uintptr_t)name;
	groups->n_kept++;
	return 0;
}

static void drop_name(uintptr_t key, void *context)
{
	struct parts *groups = context;

	groups->n_kept--;
	free((char *)key);
}

static const struct weir_flow_key_functions names = {
	.hash = hash_name,
	.equal = equal_names,
	.keep = keep_name,
	.drop = drop_name,
};

static struct weir_flow *only_of_its_name(struct weir_flow *up,
					  struct parts *groups)
{
	assert_memory_equal((const char *)groups->key, "key ", 4);
	return groups->n_made % 2 ? first_two(up, groups)
				  : index_them(up, groups);
}

static struct weir_flow *named(struct parts *groups, bool reopen)
{
	struct weir_flow_group_options options = {
		.keys = &names,
		.reopen = reopen,
	};

	return weir_flow_group_by(weir_flow_range(1, 9), 3, name_of, make_for,
				  groups, &options);
}

static void keys_may_be_strings_that_are_kept(void **state)
{
	struct parts groups = {.compose = index_them, .n_keys = 3};

	ASSERT_FLOW(named(&groups, false), 0, 1, 2, 3, 104, 105, 106, 207, 208,
		    209);
	assert_int_equal(groups.n_kept, 0);
	groups.compose = only_of_its_name;
	ASSERT_FLOW(weir_flow_take(named(&groups, true), 4), 0, 1, 2, 3, 104);
	assert_int_equal(groups.n_kept, 0);
	groups.compose = index_them;
	groups.bad = 100;
	ASSERT_FLOW(named(&groups, false), -EDOM, 1);
	ASSERT_FLOW(weir_flow_supervise(named(&groups, false), resume, NULL), 0,
		    1, 3, 104, 106, 207, 209);
	assert_int_equal(groups.n_kept, 0);
}

/* --- What fails ----------------------------------------------------------- */

static struct weir_flow *none_for_2(struct weir_flow *up, struct parts *groups)
{
	if (groups->key != 2)
		return index_them(up, groups);
	weir_flow_free(up);
	return NULL;
}

static struct weir_flow *supervised(
	struct parts *groups,
	enum weir_directive (*decide)(struct weir_error *error, void *context))
{
	return weir_flow_supervise(grouped_by(weir_flow_range(1, 9), 3, groups,
					      NULL),
				   decide, NULL);
}

static void an_item_without_a_key_is_left_out_or_ends_it(void **state)
{
	struct parts groups = {
		.compose = index_them,
		.n_keys = 3,
		.bad = 5,
	};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 3, &groups, NULL), -EDOM,
		    1, 2, 3, 104);
	ASSERT_FLOW(supervised(&groups, resume), 0, 1, 2, 3, 104, 106, 207, 108,
		    209);
	ASSERT_FLOW(supervised(&groups, restart), 0, 1, 2, 3, 104, 6, 7, 8,
		    109);
}

static void a_flow_that_is_not_made_is_its_item_s_failure(void **state)
{
	struct parts groups = {.compose = none_for_2, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 3, &groups, NULL),
		    -EINVAL, 1);
	ASSERT_FLOW(supervised(&groups, resume), 0, 1, 3, 104, 106, 207, 209);
	ASSERT_FLOW(supervised(&groups, restart), 0, 1, 3, 4, 6, 7, 9);
}

static void a_flow_that_fails_ends_all(void **state)
{
	struct parts groups = {
		.compose = index_them,
		.n_keys = 3,
		.bad_item = 5,
		.counted = true,
	};
	struct parts plain = groups;

	assert_flow(grouped_by(counted(weir_flow_range(1, 9)), 3, &groups,
			       NULL),
		    true, (const intptr_t[]){1, 2, 3, 104}, 4, -EDOM);
	/* what is decided holds in it as well */
	plain.counted = false;
	ASSERT_FLOW(supervised(&plain, resume), 0, 1, 2, 3, 104, 106, 207, 208,
		    209);
}

static void an_error_from_upstream_comes_out_of_all(void **state)
{
	struct parts groups = {.compose = index_them, .n_keys = 3};

	ASSERT_FLOW(grouped_by(failing(), 3, &groups, NULL), -EPROTO, 1, 2, 3,
		    104);
	/* which does not mend it */
	groups.compose = recover;
	ASSERT_FLOW(grouped_by(failing(), 3, &groups, NULL), -EPROTO, 1, 2, 3,
		    4, 99, 99, 99);
}

/* --- What each of them hears ---------------------------------------------- */

#define HEARERS 4
#define N_HEARD 40

/* What comes out of a group's flow. */
struct heard {
	intptr_t values[N_HEARD];
	uint32_t n, n_failed, n_cancelled, n_completed;
	int code;
};

struct hearers {
	struct heard heard[HEARERS];
	bool waits;	       /* the groups' flows wait for other actors */
	intptr_t bad, strange; /* without key; with one too many; 0: none */
};

static int key_of_hearer(void *item, uintptr_t *key, void *context)
{
	const struct hearers *hearers = context;
	intptr_t value = ((struct item *)item)->value;

	*key = value == hearers->strange ? HEARERS
					 : (uintptr_t)(value % HEARERS);
	return value == hearers->bad ? -EDOM : 0;
}

static void hear_item(void *item, void *context)
{
	struct heard *heard = context;

	assert_in_range(heard->n, 0, N_HEARD - 1);
	heard->values[heard->n++] = ((struct item *)item)->value;
}

static void hear_failure(struct weir_error *error, void *context)
{
	struct heard *heard = context;

	heard->n_failed++;
	heard->code = error->code;
}

static void hear_cancel(void *context)
{
	((struct heard *)context)->n_cancelled++;
}

static void hear_completion(void *context)
{
	((struct heard *)context)->n_completed++;
}

static int as_it_is(void **item, void *context)
{
	return 0;
}

static struct weir_flow *hear(struct weir_flow *up, uintptr_t key,
			      void *context)
{
	static const struct weir_flow_peek_functions hooks = {
		.item = hear_item,
		.failed = hear_failure,
		.cancelled = hear_cancel,
		.completed = hear_completion,
	};
	struct hearers *hearers = context;

	if (hearers->waits)
		up = weir_flow_same_items(weir_flow_map_parallel(
			up, 3, WEIR_ORDER_KEPT, as_it_is, NULL, NULL));
	return weir_flow_peek(up, &hooks, &hearers->heard[key]);
}

static int fail_behind_24(void **item, void *context)
{
	return ((struct item *)*item)->value > 24 ? -EPROTO : 0;
}

static int run_hearers(struct hearers *hearers,
		       int (*run)(struct weir_flow *flow, uint64_t seed),
		       uint64_t seed)
{
	struct weir_flow *flow = counted(weir_flow_range(1, 30));
	int code;

	memset(hearers->heard, 0, sizeof(hearers->heard));
	flow = weir_flow_same_items(weir_flow_map(flow, fail_behind_24, NULL));
	flow = weir_flow_group_by(flow, HEARERS, key_of_hearer, hear, hearers,
				  NULL);
	flow = weir_flow_ignore(flow);
	code = run(flow, seed);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
	return code;
}

/* All that came before item `last` + 1, and then that error, alone. */
static void assert_all_heard(const struct hearers *hearers, intptr_t last,
			     int code)
{
	for (intptr_t key = 0; key < HEARERS; key++) {
		const struct heard *heard = &hearers->heard[key];
		intptr_t value = key ? key : HEARERS;
		uint32_t n = 0;

		for (; value <= last; value += HEARERS, n++) {
			assert_true(n < heard->n);
			assert_int_equal(heard->values[n], value);
		}
		assert_int_equal(heard->n, n);
		assert_int_equal(heard->n_failed, 1);
		assert_int_equal(heard->code, code);
		assert_int_equal(heard->n_cancelled + heard->n_completed, 0);
	}
}

static int on_a_sim(struct weir_flow *flow, uint64_t seed)
{
	return run_on_sim(flow, seed, seed % 3 ? 0 : (size_t)1 << seed % 4);
}

static int on_threads(struct weir_flow *flow, uint64_t seed)
{
	struct weir_threads *threads;
	int code;

	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	code = weir_flow_run(flow, weir_threads_executor(threads), NULL);
	assert_int_equal(weir_threads_free(threads), 0);
	return code;
}

static void each_group_hears_of_an_error_above(void **state)
{
	struct hearers hearers = {0};

	for_each_seed(seed, test_count(100)) {
		hearers.waits = seed % 2;
		assert_int_equal(run_hearers(&hearers, on_a_sim, seed),
				 -EPROTO);
		assert_all_heard(&hearers, 24, -EPROTO);
	}
}

static void so_it_does_between_threads(void **state)
{
	struct hearers hearers = {.waits = true};

	for (uint64_t i = 0; i < test_count(50); i++) {
		assert_int_equal(run_hearers(&hearers, on_threads, i), -EPROTO);
		assert_all_heard(&hearers, 24, -EPROTO);
	}
}

static void each_hears_that_there_are_too_many(void **state)
{
	struct hearers hearers = {.strange = 19};

	for_each_seed(seed, test_count(20)) {
		assert_int_equal(run_hearers(&hearers, on_a_sim, seed),
				 -EMFILE);
		assert_all_heard(&hearers, 18, -EMFILE);
	}
}

static void each_hears_of_an_item_without_a_key(void **state)
{
	struct hearers hearers = {.bad = 19};

	for_each_seed(seed, test_count(20)) {
		assert_int_equal(run_hearers(&hearers, on_a_sim, seed), -EDOM);
		assert_all_heard(&hearers, 18, -EDOM);
	}
}

static void upstream_need_not_be_used_and_other_items_are_refused(void **state)
{
	struct parts groups = {.compose = others, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 3, &groups, NULL), 0, 70,
		    71, 70, 71, 70, 71);
	groups.counted = true;
	assert_flow(grouped_by(counted(weir_flow_range(1, 9)), 3, &groups,
			       NULL),
		    true, (const intptr_t[]){0}, 0, -EINVAL);
	assert_flow(weir_flow_items(grouped_by(counted(weir_flow_range(1, 9)),
					       3, &groups, NULL),
				    NULL),
		    false, (const intptr_t[]){70, 71, 70, 71, 70, 71}, 6, 0);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	static const struct weir_flow_key_functions no_hash = {
		.equal = equal_names};
	static const struct weir_flow_key_functions no_equal = {
		.hash = hash_name};
	static const struct weir_flow_key_functions no_keep = {
		.hash = hash_name,
		.equal = equal_names,
		.drop = drop_name,
	};
	const struct weir_flow_group_options options[] = {
		{.buffer = SIZE_MAX}, {.keys = &no_hash}, {.keys = &no_equal},
		{.keys = &no_keep},   {.reserved = {1}},
	};
	struct weir_flow *flows[9] = {
		weir_flow_group_by(NULL, 1, key_of, make_for, NULL, NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 0, key_of, make_for,
				   NULL, NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 1, NULL, make_for,
				   NULL, NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 1, key_of, NULL, NULL,
				   NULL),
	};
	size_t i;

	for (i = 0; i < 5; i++)
		flows[4 + i] = weir_flow_group_by(weir_flow_range(1, 2), 1,
						  key_of, make_for, NULL,
						  &options[i]);
	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_may_be_strings_that_are_kept),
		cmocka_unit_test(an_item_without_a_key_is_left_out_or_ends_it),
		cmocka_unit_test(a_flow_that_is_not_made_is_its_item_s_failure),
		cmocka_unit_test(a_flow_that_fails_ends_all),
		cmocka_unit_test(an_error_from_upstream_comes_out_of_all),
		cmocka_unit_test(each_group_hears_of_an_error_above),
		cmocka_unit_test(so_it_does_between_threads),
		cmocka_unit_test(each_hears_that_there_are_too_many),
		cmocka_unit_test(each_hears_of_an_item_without_a_key),
		cmocka_unit_test(
			upstream_need_not_be_used_and_other_items_are_refused),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
