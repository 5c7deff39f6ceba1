/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/parts.h"

intptr_t value_of(const struct parts *parts, void *item)
{
	return parts->counted ? ((struct item *)item)->value : (intptr_t)item;
}

bool is_bad(const struct parts *parts, intptr_t value)
{
	return parts->bad && value == parts->bad;
}

bool fails(const struct parts *parts, intptr_t value)
{
	return (parts->bad_item && value == parts->bad_item) ||
	       (parts->fails_on && value % parts->fails_on == 0);
}

struct weir_flow *make(struct weir_flow *up, void *context)
{
	struct parts *parts = context;

	parts->n_made++;
	return parts->compose(up, parts);
}

/* --- What is composed ----------------------------------------------------- */

/* What is 100 more for each item before it. */
static int add_index(void **item, uint64_t index, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, *item);

	if (fails(parts, value))
		return -EDOM;
	value += 100 * (intptr_t)index;
	if (parts->counted)
		((struct item *)*item)->value = value;
	else
		*item = (void *)value;
	return 0;
}

struct weir_flow *index_them(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_same_items(weir_flow_index(up, add_index, parts));
}

struct weir_flow *first_two(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_take(index_them(up, parts), 2);
}

struct weir_flow *first_alone(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_take(up, 1);
}

struct weir_flow *count(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_count(index_them(up, parts));
}

static int three_of_each(void *item, uint64_t i, void **out, void *context)
{
	*out = (void *)((intptr_t)item * 10 + (intptr_t)i);
	return i < 3;
}

struct weir_flow *expand(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_map_concat(up, three_of_each, parts);
}

struct weir_flow *none(struct weir_flow *up, struct parts *parts)
{
	weir_flow_free(up);
	return NULL;
}

struct weir_flow *others(struct weir_flow *up, struct parts *parts)
{
	weir_flow_free(up);
	return weir_flow_range(70, 71);
}

static int put_99(struct weir_error *error, void **item, void *context)
{
	assert_int_equal(error->code, -EPROTO);
	*item = (void *)99;
	return 1;
}

struct weir_flow *recover(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_recover(up, put_99, NULL);
}

/* --- What fails above ----------------------------------------------------- */

static int is_five(void **item, void *context)
{
	return (intptr_t)*item == 5 ? -EPROTO : 0;
}

struct weir_flow *failing(void)
{
	return weir_flow_map(weir_flow_range(1, 9), is_five, NULL);
}

enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- Ends ----------------------------------------------------------------- */

void assert_ends_without_demand(struct weir_flow *flow, int64_t n)
{
	const struct weir_subscriber_probe_options options = {
		.request_first = n,
		.drops = true,
	};
	struct weir_sim *sim = sim_new(1);
	struct weir_test_env env = weir_test_env_sim(sim);
	struct weir_subscriber_probe *probe;

	assert_int_equal(weir_subscriber_probe_new(&probe, &env, &options), 0);
	flow = weir_flow_into(flow, weir_subscriber_probe_base(probe));
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, NULL), 0);
	assert_true(weir_subscriber_probe_expect_subscription(probe));
	assert_true(weir_subscriber_probe_expect_next_n(probe, n));
	assert_true(weir_subscriber_probe_expect_complete(probe));
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	weir_sim_run(sim);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- Worlds --------------------------------------------------------------- */

struct flow_world world;

void world_counted(struct parts *parts)
{
	parts->counted = true;
	flow_world_init(&world, &counted_items);
	world.got.counted = true;
}

void world_cancel(void)
{
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}
