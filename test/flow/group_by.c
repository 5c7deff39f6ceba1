/* SPDX-License-Identifier: BSD-2-Clause */
/* Items with equal keys go through one flow each. */
#include "flow/memory.h"
#include "flow/world.h"

/* The context of all functions: key is the value modulo `n_keys`. */
struct groups {
	struct weir_flow *(*compose)(struct weir_flow *up, uintptr_t key,
				     struct groups *groups);
	bool counted;
	intptr_t n_keys;
	intptr_t bad_key;  /* its value has no key; 0: none */
	intptr_t bad_item; /* flows fail on it */
	intptr_t n_made;
	intptr_t n_kept; /* keys */
};

static intptr_t value_of(const struct groups *groups, void *item)
{
	return groups->counted ? ((struct item *)item)->value : (intptr_t)item;
}

static int key_of(void *item, uintptr_t *key, void *context)
{
	struct groups *groups = context;
	intptr_t value = value_of(groups, item);

	if (value == groups->bad_key && value)
		return -EDOM;
	*key = (uintptr_t)(value % groups->n_keys);
	return 0;
}

static struct weir_flow *make(struct weir_flow *up, uintptr_t key,
			      void *context)
{
	struct groups *groups = context;

	groups->n_made++;
	return groups->compose(up, key, groups);
}

static struct weir_flow *grouped_by(
	struct weir_flow *flow, size_t max, struct groups *groups,
	const struct weir_flow_group_options *options)
{
	return weir_flow_group_by(flow, max, key_of, make, groups, options);
}

/* What is 100 more for each item before it in its group. */
static int add_index(void **item, uint64_t index, void *context)
{
	struct groups *groups = context;
	intptr_t value = value_of(groups, *item);

	if (value == groups->bad_item && value)
		return -EDOM;
	value += 100 * (intptr_t)index;
	if (groups->counted)
		((struct item *)*item)->value = value;
	else
		*item = (void *)value;
	return 0;
}

static struct weir_flow *index_them(struct weir_flow *up, uintptr_t key,
				    struct groups *groups)
{
	return weir_flow_index(up, add_index, groups);
}

static struct weir_flow *first_two(struct weir_flow *up, uintptr_t key,
				   struct groups *groups)
{
	return weir_flow_take(index_them(up, key, groups), 2);
}

static struct weir_flow *count(struct weir_flow *up, uintptr_t key,
			       struct groups *groups)
{
	return weir_flow_count(index_them(up, key, groups));
}

static struct groups three = {.compose = index_them, .n_keys = 3};
static struct groups three_counted = {
	.compose = index_them,
	.n_keys = 3,
	.counted = true,
};

/* --- What comes out ------------------------------------------------------------ */

static void equal_keys_go_through_one_flow_in_order(void **state)
{
	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 3, &three, NULL), 0, 1, 2,
		    3, 104, 105, 106, 207);
	assert_flow(grouped_by(counted(weir_flow_range(1, 7)), 3,
			       &three_counted, NULL),
		    true, (const intptr_t[]){1, 2, 3, 104, 105, 106, 207}, 7,
		    0);
}

static void results_come_at_the_end_as_groups_have_begun(void **state)
{
	struct groups groups = {.compose = count, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 3, &groups, NULL), 0, 3,
		    2, 2);
	groups.n_made = 0;
	assert_flow(grouped_by(weir_flow_empty(), 3, &groups, NULL), false,
		    (const intptr_t[]){0}, 0, 0);
	assert_int_equal(groups.n_made, 0);
}

static int three_of_each(void *item, uint64_t i, void **out, void *context)
{
	*out = (void *)((intptr_t)item * 10 + (intptr_t)i);
	return i < 3;
}

static struct weir_flow *expand(struct weir_flow *up, uintptr_t key,
				struct groups *groups)
{
	return weir_flow_expand(up, three_of_each, groups);
}

static void results_of_an_item_come_before_those_of_the_next(void **state)
{
	struct groups groups = {.compose = expand, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 4), 2, &groups, NULL), 0, 10,
		    11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42);
}

/* And 99 behind all of them. */
static struct weir_flow *expand_and_99(struct weir_flow *up, uintptr_t key,
				       struct groups *groups)
{
	return weir_flow_concat(
		(struct weir_flow *[]){expand(up, key, groups),
				       weir_flow_single((void *)99)},
		2);
}

static void the_end_comes_behind_what_is_left_of_the_last_item(void **state)
{
	struct groups groups = {.compose = expand_and_99, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 2), 2, &groups, NULL), 0, 10,
		    11, 12, 20, 21, 22, 99, 99);
}

/* 99 behind those of key 1, an error behind the others. */
static struct weir_flow *end_apart(struct weir_flow *up, uintptr_t key,
				   struct groups *groups)
{
	struct weir_flow *both[] = {
		up,
		key == 1 ? weir_flow_single((void *)99)
			 : weir_flow_fail(-EDOM, "at the end"),
	};

	return weir_flow_concat(both, 2);
}

static void groups_end_as_they_have_begun(void **state)
{
	struct groups groups = {.compose = end_apart, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 4), 2, &groups, NULL), -EDOM,
		    1, 2, 3, 4, 99);
}

static void there_may_be_many(void **state)
{
	static struct got got;
	struct groups groups = {.compose = count, .n_keys = 1000};
	struct weir_flow *flow = weir_flow_range(1, 2500);
	size_t i;

	flow = into(grouped_by(flow, 1000, &groups, NULL), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(got.n, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(got.values[i], i < 500 ? 3 : 2);
	weir_flow_free(flow);
}

static void asked(size_t n, void *context)
{
	++*(size_t *)context;
}

static size_t n_asked;

static struct weir_flow *ask(struct weir_flow *up, uintptr_t key,
			     struct groups *groups)
{
	static const struct weir_flow_hooks hooks = {.requested = asked};

	return index_them(weir_flow_peek(up, &hooks, &n_asked), key, groups);
}

/* Also where each item is a call of its own. */
static void groups_that_were_given_nothing_are_left_alone(void **state)
{
	static struct got got;
	struct groups groups = {.compose = ask, .n_keys = 500};
	struct weir_flow *flow = weir_flow_range(1, 2000);

	flow = into(grouped_by(flow, 500, &groups, NULL), &got);
	n_asked = 0;
	assert_int_equal(run_on_sim(flow, 1, 1), 0);
	assert_int_equal(got.n, 2000);
	assert_true(n_asked < 6 * 2000);
	weir_flow_free(flow);
}

/* --- How many -------------------------------------------------------------------- */

static struct weir_error *error_of(struct weir_flow *flow)
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

static void too_many_groups_are_an_error(void **state)
{
	struct weir_error *error;

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 2, &three, NULL), -EMFILE,
		    1, 2);
	error = error_of(weir_flow_name(
		grouped_by(weir_flow_range(1, 7), 2, &three, NULL), "by key"));
	assert_int_equal(error->code, -EMFILE);
	assert_string_equal(error->origin, "by key");
	assert_string_equal(error->message, "too many substreams");
	weir_error_unref(error);
}

static void items_of_a_flow_that_has_ended_are_dropped(void **state)
{
	struct groups groups = {
		.compose = first_two,
		.n_keys = 3,
		.counted = true,
	};

	assert_flow(grouped_by(counted(weir_flow_range(1, 12)), 3, &groups,
			       NULL),
		    true, (const intptr_t[]){1, 2, 3, 104, 105, 106}, 6, 0);
	assert_int_equal(groups.n_made, 3 * 20);
}

static void a_flow_that_has_ended_still_counts(void **state)
{
	struct groups groups = {.compose = first_two, .n_keys = 7};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 12), 6, &groups, NULL),
		    -EMFILE, 1, 2, 3, 4, 5, 6);
}

static void or_its_key_begins_anew_if_that_is_wanted(void **state)
{
	struct weir_flow_group_options options = {.reopen = true};
	struct groups groups = {.compose = first_two, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 12), 3, &groups, &options), 0,
		    1, 2, 3, 104, 105, 106, 7, 8, 9, 110, 111, 112);
}

static struct weir_flow *first_alone(struct weir_flow *up, uintptr_t key,
				     struct groups *groups)
{
	return weir_flow_take(up, 1);
}

static void with_that_only_open_groups_count(void **state)
{
	struct weir_flow_group_options options = {.reopen = true, .buffer = 1};
	struct groups groups = {.compose = first_alone, .n_keys = 7};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 1, &groups, &options), 0,
		    1, 2, 3, 4, 5, 6, 7, 8, 9);
}

/* After 5 ms. */
static struct weir_flow *one_and_no_end(struct weir_flow *up, uintptr_t key,
					struct groups *groups)
{
	struct weir_flow *both[2];

	if (key != 1)
		return up;
	both[0] = weir_flow_take(weir_flow_delay(up, 5 * MS, 1), 1);
	both[1] = weir_flow_items(weir_flow_never(), &counted_items);
	return weir_flow_concat(both, 2);
}

static struct world world;

static void world_by(struct groups *groups,
		     const struct weir_flow_group_options *options, size_t open)
{
	groups->counted = true;
	world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = grouped_by(world.flow, 8, groups, options);
	world_start(&world, open);
}

static void items_that_a_flow_wants_no_more_hold_nobody_up(void **state)
{
	struct weir_flow_group_options options = {.buffer = 1};
	struct groups groups = {.compose = one_and_no_end, .n_keys = 10};

	world_by(&groups, &options, OPEN);
	offer(&world, 1, 1);
	offer(&world, 11, 12);
	offer(&world, 21, 22);
	until(&world, 1 * MS);
	assert_int_equal(world.got.n, 0);
	/* then it drops those that wait and those that come */
	until(&world, 6 * MS);
	ASSERT_OUT(&world, 1, 12, 22);
	assert_int_equal(n_live, 0);
	weir_flow_run_cancel(world.run, NULL);
	world_end(&world, -ECANCELED);
}

/* --- Keys that are strings --------------------------------------------------------- */

/* Each in the same place. */
static int name_of(void *item, uintptr_t *key, void *context)
{
	static char name[32];
	struct groups *groups = context;
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
	struct groups *groups = context;
	char *name = strdup((const char *)*key);

	assert_non_null(name);
	if (groups->bad_key && strcmp(name, "key 2") == 0) {
		free(name);
		return -EDOM;
	}
	*key = (uintptr_t)name;
	groups->n_kept++;
	return 0;
}

static void drop_name(uintptr_t key, void *context)
{
	struct groups *groups = context;

	groups->n_kept--;
	free((char *)key);
}

static const struct weir_flow_keys names = {
	.hash = hash_name,
	.equal = equal_names,
	.keep = keep_name,
	.drop = drop_name,
};

static struct weir_flow *only_of_its_name(struct weir_flow *up, uintptr_t key,
					  struct groups *groups)
{
	assert_memory_equal((const char *)key, "key ", 4);
	return groups->n_made % 2 ? first_two(up, key, groups)
				  : index_them(up, key, groups);
}

static struct weir_flow *named(struct groups *groups, bool reopen)
{
	struct weir_flow_group_options options = {
		.keys = &names,
		.reopen = reopen,
	};

	return weir_flow_group_by(weir_flow_range(1, 9), 3, name_of, make,
				  groups, &options);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_RESTART;
}

static void keys_may_be_strings_that_are_kept(void **state)
{
	struct groups groups = {.compose = index_them, .n_keys = 3};

	ASSERT_FLOW(named(&groups, false), 0, 1, 2, 3, 104, 105, 106, 207, 208,
		    209);
	assert_int_equal(groups.n_kept, 0);
	groups.compose = only_of_its_name;
	ASSERT_FLOW(weir_flow_take(named(&groups, true), 4), 0, 1, 2, 3, 104);
	assert_int_equal(groups.n_kept, 0);
	groups.compose = index_them;
	groups.bad_key = 100;
	ASSERT_FLOW(named(&groups, false), -EDOM, 1);
	ASSERT_FLOW(weir_flow_supervise(named(&groups, false), resume, NULL), 0,
		    1, 3, 104, 106, 207, 209);
	assert_int_equal(groups.n_kept, 0);
}

/* --- What fails -------------------------------------------------------------------- */

static struct weir_flow *none_for_2(struct weir_flow *up, uintptr_t key,
				    struct groups *groups)
{
	if (key != 2)
		return index_them(up, key, groups);
	weir_flow_free(up);
	return NULL;
}

static struct weir_flow *supervised(
	struct groups *groups,
	enum weir_directive (*decide)(struct weir_error *error, void *context))
{
	return weir_flow_supervise(grouped_by(weir_flow_range(1, 9), 3, groups,
					      NULL),
				   decide, NULL);
}

static void an_item_without_a_key_is_left_out_or_ends_it(void **state)
{
	struct groups groups = {
		.compose = index_them,
		.n_keys = 3,
		.bad_key = 5,
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
	struct groups groups = {.compose = none_for_2, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 3, &groups, NULL),
		    -EINVAL, 1);
	ASSERT_FLOW(supervised(&groups, resume), 0, 1, 3, 104, 106, 207, 209);
	ASSERT_FLOW(supervised(&groups, restart), 0, 1, 3, 4, 6, 7, 9);
}

static void a_flow_that_fails_ends_all(void **state)
{
	struct groups groups = {
		.compose = index_them,
		.n_keys = 3,
		.bad_item = 5,
		.counted = true,
	};
	struct groups plain = groups;

	assert_flow(grouped_by(counted(weir_flow_range(1, 9)), 3, &groups,
			       NULL),
		    true, (const intptr_t[]){1, 2, 3, 104}, 4, -EDOM);
	/* what is decided holds in it as well */
	plain.counted = false;
	ASSERT_FLOW(supervised(&plain, resume), 0, 1, 2, 3, 104, 106, 207, 208,
		    209);
}

static intptr_t the_6 = 6;

static int fails_above(void **item, void *context)
{
	return (intptr_t)*item == *(intptr_t *)context ? -EPROTO : 0;
}

static int put_99(struct weir_error *error, void **item, void *context)
{
	*item = (void *)99;
	return 1;
}

static struct weir_flow *recover(struct weir_flow *up, uintptr_t key,
				 struct groups *groups)
{
	return weir_flow_recover(up, put_99, NULL);
}

static void an_error_from_upstream_comes_out_of_all(void **state)
{
	struct groups groups = {.compose = index_them, .n_keys = 3};
	struct weir_flow *flow =
		weir_flow_map(weir_flow_range(1, 9), fails_above, &the_6);

	ASSERT_FLOW(grouped_by(flow, 3, &groups, NULL), -EPROTO, 1, 2, 3, 104,
		    105);
	/* which does not mend it */
	groups.compose = recover;
	flow = weir_flow_map(weir_flow_range(1, 9), fails_above, &the_6);
	ASSERT_FLOW(grouped_by(flow, 3, &groups, NULL), -EPROTO, 1, 2, 3, 4, 5,
		    99, 99, 99);
}

static struct weir_flow *plain(struct weir_flow *up, uintptr_t key,
			       struct groups *groups)
{
	weir_flow_free(up);
	return weir_flow_range(70, 71);
}

static void upstream_need_not_be_used_and_other_items_are_refused(void **state)
{
	struct groups groups = {.compose = plain, .n_keys = 3};

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

/* --- Those that wait ------------------------------------------------------------------ */

/* Key 1 is late, one item each 5 ms. */
static struct weir_flow *late(struct weir_flow *up, uintptr_t key,
			      struct groups *groups)
{
	return key == 1 ? weir_flow_delay(up, 5 * MS, 1) : up;
}

static void others_go_by_one_that_waits(void **state)
{
	struct groups groups = {.compose = late, .n_keys = 10};

	world_by(&groups, NULL, OPEN);
	offer(&world, 1, 1);
	offer(&world, 11, 12);
	until(&world, 1 * MS);
	ASSERT_OUT(&world, 12);
	offer(&world, 2, 2);
	until(&world, 6 * MS);
	ASSERT_OUT(&world, 12, 2, 1);
	until(&world, 11 * MS);
	ASSERT_OUT(&world, 12, 2, 1, 11);
	world_end(&world, 0);
}

static void one_that_is_full_holds_all_up(void **state)
{
	struct weir_flow_group_options options = {.buffer = 2};
	struct groups groups = {.compose = late, .n_keys = 10};

	world_by(&groups, &options, OPEN);
	/* one is delayed and two wait when 2 comes */
	offer(&world, 1, 1);
	offer(&world, 11, 11);
	offer(&world, 21, 21);
	offer(&world, 2, 2);
	until(&world, 4 * MS);
	assert_int_equal(world.got.n, 0);
	until(&world, 20 * MS);
	ASSERT_OUT(&world, 1, 2, 11, 21);
	assert_int_equal(world.at_ns[1], 5 * MS);
	world_end(&world, 0);
}

static void it_takes_no_more_than_is_asked_for(void **state)
{
	struct groups groups = {.compose = index_them, .n_keys = 2};

	world_by(&groups, NULL, 0);
	offer(&world, 1, 1024);
	until(&world, 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 1);
	assert_int_equal(n_live, 1023);
	let_pass(&world, 2);
	ASSERT_OUT(&world, 1, 2, 103);
	weir_flow_run_cancel(world.run, NULL);
	world_end(&world, -ECANCELED);
}

static struct weir_flow *sum_of_late(struct weir_flow *up, uintptr_t key,
				     struct groups *groups)
{
	return weir_flow_last(late(up, key, groups));
}

static void a_drain_brings_out_the_results(void **state)
{
	struct groups groups = {.compose = sum_of_late, .n_keys = 10};

	world_by(&groups, NULL, OPEN);
	offer(&world, 1, 2);
	offer(&world, 11, 12);
	until(&world, 1 * MS);
	weir_flow_run_drain(world.run);
	until(&world, 20 * MS);
	ASSERT_OUT(&world, 12, 11);
	world_end(&world, 0);
}

/* --- The rest ------------------------------------------------------------------------- */

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct weir_flow_run_options options = {0};
	struct weir_flow_group_options by = {.buffer = 2};
	struct groups groups = {.compose = late, .n_keys = 3, .counted = true};
	struct weir_flow *flow;
	struct weir_flow_run *run;
	uint64_t seed, i;

	flow = grouped_by(counted(weir_flow_range(1, INT64_MAX / 100)), 3,
			  &groups, &by);
	for (seed = 1; seed <= 200; seed++) {
		options.unfused = (size_t)1 << seed % 3;
		assert_int_equal(weir_sim_new(&world.sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(flow,
						 weir_sim_executor(world.sim),
						 &options, &run),
				 0);
		for (i = weir_sim_random(world.sim, 50); i > 0; i--)
			weir_sim_step(world.sim);
		weir_flow_run_cancel(run, NULL);
		weir_sim_run(world.sim);
		weir_flow_run_free(run);
		assert_int_equal(weir_sim_free(world.sim), 0);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct groups groups = {
		.compose = first_two,
		.n_keys = 40,
		.counted = true,
	};
	struct weir_flow_group_options options = {.reopen = true};
	struct weir_flow *flow = grouped_by(counted(weir_flow_range(1, 90)), 40,
					    &groups, &options);

	flow = into(flow, &got);
	/* the stage's, and 40 groups and their flows */
	assert_true(assert_short_of_memory(flow, &got, 0) > 3 * 40);
	weir_flow_free(flow);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	static const struct weir_flow_keys no_hash = {.equal = equal_names};
	static const struct weir_flow_keys no_equal = {.hash = hash_name};
	static const struct weir_flow_keys no_keep = {
		.hash = hash_name,
		.equal = equal_names,
		.drop = drop_name,
	};
	const struct weir_flow_group_options options[] = {
		{.buffer = SIZE_MAX}, {.keys = &no_hash}, {.keys = &no_equal},
		{.keys = &no_keep},   {.reserved = {1}},
	};
	struct weir_flow *flows[9] = {
		weir_flow_group_by(NULL, 1, key_of, make, NULL, NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 0, key_of, make, NULL,
				   NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 1, NULL, make, NULL,
				   NULL),
		weir_flow_group_by(weir_flow_range(1, 2), 1, key_of, NULL, NULL,
				   NULL),
	};
	size_t i;

	for (i = 0; i < 5; i++)
		flows[4 + i] = weir_flow_group_by(weir_flow_range(1, 2), 1,
						  key_of, make, NULL,
						  &options[i]);
	for (i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		assert_int_equal(weir_flow_check(flows[i], NULL, NULL),
				 -EINVAL);
		weir_flow_free(flows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_go_through_one_flow_in_order),
		cmocka_unit_test(results_come_at_the_end_as_groups_have_begun),
		cmocka_unit_test(
			results_of_an_item_come_before_those_of_the_next),
		cmocka_unit_test(
			the_end_comes_behind_what_is_left_of_the_last_item),
		cmocka_unit_test(groups_end_as_they_have_begun),
		cmocka_unit_test(there_may_be_many),
		cmocka_unit_test(groups_that_were_given_nothing_are_left_alone),
		cmocka_unit_test(too_many_groups_are_an_error),
		cmocka_unit_test(items_of_a_flow_that_has_ended_are_dropped),
		cmocka_unit_test(a_flow_that_has_ended_still_counts),
		cmocka_unit_test(or_its_key_begins_anew_if_that_is_wanted),
		cmocka_unit_test(with_that_only_open_groups_count),
		cmocka_unit_test(
			items_that_a_flow_wants_no_more_hold_nobody_up),
		cmocka_unit_test(keys_may_be_strings_that_are_kept),
		cmocka_unit_test(an_item_without_a_key_is_left_out_or_ends_it),
		cmocka_unit_test(a_flow_that_is_not_made_is_its_item_s_failure),
		cmocka_unit_test(a_flow_that_fails_ends_all),
		cmocka_unit_test(an_error_from_upstream_comes_out_of_all),
		cmocka_unit_test(
			upstream_need_not_be_used_and_other_items_are_refused),
		cmocka_unit_test(others_go_by_one_that_waits),
		cmocka_unit_test(one_that_is_full_holds_all_up),
		cmocka_unit_test(it_takes_no_more_than_is_asked_for),
		cmocka_unit_test(a_drain_brings_out_the_results),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
