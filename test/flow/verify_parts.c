/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_parts.h"

#include "flow/outlets_kit.h"

/* NULL in the call that is to fail. */
static struct weir_flow *map_part(struct weir_flow *upstream, void *context)
{
	if (called() == 0)
		return weir_flow_same_items(
			weir_flow_map(upstream, pass, NULL));
	weir_flow_free(upstream);
	return NULL;
}

/* It has had enough before the next part begins. */
static struct weir_flow *take_of_part(struct weir_flow *upstream, void *context)
{
	return weir_flow_take(map_part(upstream, context), 2);
}

/* Lets items wait before it, where time passes. */
static struct weir_flow *pace_part(struct weir_flow *upstream, void *context)
{
	return paced(map_part(upstream, context));
}

/* Keeps items back, up to the end of the part. */
static struct weir_flow *last_of_part(struct weir_flow *upstream, void *context)
{
	return weir_flow_last(map_part(upstream, context));
}

/* --- By key --------------------------------------------------------------- */

int key_of_three(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)((struct good *)item)->number % 3;
	return called();
}

static struct weir_flow *map_group(struct weir_flow *upstream, uintptr_t key,
				   void *context)
{
	return map_part(upstream, context);
}

static struct weir_flow *pace_group(struct weir_flow *upstream, uintptr_t key,
				    void *context)
{
	return pace_part(upstream, context);
}

static struct weir_flow *by_three(struct weir_flow *flow,
				  struct weir_flow *(*make)(struct weir_flow *,
							    uintptr_t, void *))
{
	static const struct weir_flow_group_options options = {.buffer = 4};

	return weir_flow_group_by(flow, 3, key_of_three, make, NULL, &options);
}

struct weir_flow *upon_groups_that_wait(struct weir_flow *flow,
					const struct weir_items *items)
{
	return ahead(by_three(flow, pace_group));
}

struct weir_flow *upon_group_by(struct weir_flow *flow,
				const struct weir_items *items)
{
	return by_three(flow, map_group);
}

static struct weir_flow *take_of_group(struct weir_flow *upstream,
				       uintptr_t key, void *context)
{
	return take_of_part(upstream, context);
}

/* A key that is kept is a good as well. */
static uint64_t hash_of_key(uintptr_t key, void *context)
{
	return (uint64_t)((struct good *)key)->number % 3;
}

static bool keys_are_equal(uintptr_t a, uintptr_t b, void *context)
{
	return hash_of_key(a, context) == hash_of_key(b, context);
}

static int keep_key(uintptr_t *key, void *context)
{
	int rc = called();

	if (rc == 0)
		*key = (uintptr_t)goods_make(context,
					     ((struct good *)*key)->number);
	return rc;
}

static void drop_key(uintptr_t key, void *context)
{
	goods_drop((void *)key, context);
}

static int item_is_key(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item;
	return called();
}

struct weir_flow *upon_group_by_again(struct weir_flow *flow,
				      const struct weir_items *items)
{
	static const struct weir_flow_key_functions keys = {
		hash_of_key, keys_are_equal, keep_key, drop_key};
	const struct weir_flow_group_options options = {
		.buffer = 1,
		.reopen = true,
		.keys = &keys,
	};

	return weir_flow_group_by(flow, 3, item_is_key, take_of_group,
				  items->context, &options);
}

static struct weir_flow *last_of_group(struct weir_flow *upstream,
				       uintptr_t key, void *context)
{
	return last_of_part(upstream, context);
}

struct weir_flow *upon_last_of_groups(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return by_three(flow, last_of_group);
}

/* --- One behind the other ------------------------------------------------- */

int is_third(void *item, void *context)
{
	int rc = called();

	return rc < 0 ? rc : ((struct good *)item)->number % 3 == 0;
}

struct weir_flow *upon_splits(struct weir_flow *flow,
			      const struct weir_items *items)
{
	flow = weir_flow_split_when(flow, is_third, map_part, NULL);
	return weir_flow_split_after(flow, is_third, map_part, NULL);
}

struct weir_flow *upon_splits_that_wait(struct weir_flow *flow,
					const struct weir_items *items)
{
	flow = weir_flow_split_when(flow, is_third, pace_part, NULL);
	return weir_flow_split_after(flow, is_third, pace_part, NULL);
}

struct weir_flow *upon_takes_of_splits(struct weir_flow *flow,
				       const struct weir_items *items)
{
	flow = weir_flow_split_when(flow, is_third, take_of_part, NULL);
	return weir_flow_split_after(flow, keep, take_of_part, NULL);
}

struct weir_flow *upon_last_of_splits(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_split_after(flow, keep, last_of_part, NULL);
	return weir_flow_split_when(flow, is_third, last_of_part, NULL);
}

static const struct weir_flow_window_options threes = {.n = 3};

/* Where no time passes, no timer may be waited for: what is at rest is done. */
static struct weir_flow *in_time(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context))
{
	const struct weir_flow_window_options options = {
		.within_ns = pace_ns ? 2 * pace_ns + 1 : HOUR_NS,
		.quiet_ns = pace_ns ? pace_ns + 1 : HOUR_NS,
	};

	return weir_flow_window(flow, &options, make, NULL);
}

struct weir_flow *upon_windows(struct weir_flow *flow,
			       const struct weir_items *items)
{
	flow = weir_flow_window(flow, &threes, map_part, NULL);
	return in_time(flow, map_part);
}

struct weir_flow *upon_windows_that_wait(struct weir_flow *flow,
					 const struct weir_items *items)
{
	flow = in_time(flow, pace_part);
	return weir_flow_window(flow, &threes, pace_part, NULL);
}

struct weir_flow *upon_takes_of_windows(struct weir_flow *flow,
					const struct weir_items *items)
{
	flow = weir_flow_window(flow, &threes, take_of_part, NULL);
	return in_time(flow, take_of_part);
}

struct weir_flow *upon_last_of_windows(struct weir_flow *flow,
				       const struct weir_items *items)
{
	flow = in_time(flow, last_of_part);
	return weir_flow_window(flow, &threes, last_of_part, NULL);
}

struct weir_flow *upon_window_by(struct weir_flow *flow,
				 const struct weir_items *items)
{
	return weir_flow_window_by(flow, weir_flow_never(), map_part, NULL);
}

/* Boundaries that must be dropped. */
struct weir_flow *upon_window_by_some(struct weir_flow *flow,
				      const struct weir_items *items)
{
	struct weir_flow *boundary = to_goods(weir_flow_range(1, 9), items);

	return weir_flow_window_by(flow, paced(boundary), last_of_part, NULL);
}

/* The same numbers before the tail, made anew. */
static struct weir_flow *put_before(void *const *prefix, size_t n,
				    struct weir_flow *tail, void *context)
{
	const struct weir_items *items = context;
	int64_t first = n > 0 ? ((struct good *)prefix[0])->number : 0;
	struct weir_flow *both[] = {
		to_goods(weir_flow_range(first, first + (int64_t)n - 1), items),
		map_part(tail, NULL),
	};

	for (size_t i = 0; i < n; i++)
		goods_drop(prefix[i], items->context);
	return weir_flow_concat(both, 2);
}

struct weir_flow *upon_prefix(struct weir_flow *flow,
			      const struct weir_items *items)
{
	return ahead(
		weir_flow_prefix_and_tail(flow, 1, put_before, (void *)items));
}

struct weir_flow *upon_prefix_of_five(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return ahead(
		weir_flow_prefix_and_tail(flow, 5, put_before, (void *)items));
}

/* --- Made again ----------------------------------------------------------- */

struct weir_flow *upon_restart_around(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return weir_flow_restart_around(flow, map_part, NULL, NULL);
}

struct weir_flow *upon_restart_of_takes(struct weir_flow *flow,
					const struct weir_items *items)
{
	static const struct weir_backoff backoff = {.min_ns = 1, .max_ns = 1};
	const struct weir_flow_restart_options options = {
		.backoff = pace_ns ? &backoff : NULL,
		.when_ended = true,
	};

	return ahead(
		weir_flow_restart_around(flow, take_of_part, NULL, &options));
}

/* --- Of your own ---------------------------------------------------------- */

static int own_item(struct weir_operator *op, void *item)
{
	int rc = called();

	return rc < 0 ? rc : weir_operator_push(op, item);
}

struct weir_flow *upon_operator(struct weir_flow *flow,
				const struct weir_items *items)
{
	static const struct weir_operator_ops ops = {.on_push = own_item};

	return weir_flow_same_items(weir_flow_operator(flow, &ops, NULL));
}

static struct weir_flow *own_of(struct weir_flow *first,
				struct weir_flow *second)
{
	static const struct weir_operator_ops ops = {.on_push = own_item};
	struct weir_flow *both[] = {first, second};

	return weir_flow_same_items(
		weir_flow_operator_inputs(both, 2, &ops, NULL));
}

struct weir_flow *upon_operator_inputs(struct weir_flow *flow,
				       const struct weir_items *items)
{
	struct weir_flow *none = weir_flow_items(weir_flow_empty(), items);

	return own_of(none, own_of(flow, weir_flow_empty()));
}

struct weir_flow *upon_operator_of_actors(struct weir_flow *flow,
					  const struct weir_items *items)
{
	struct weir_flow *none = weir_flow_items(weir_flow_empty(), items);

	return own_of(ahead(flow), ahead(none));
}

struct weir_flow *upon_operator_outlets(struct weir_flow *flow,
					const struct weir_items *items)
{
	static const struct weir_operator_ops ops = {.on_push = own_item};

	return weir_flow_same_items(one_outlet(flow, &ops));
}

struct weir_flow *upon_operator_of_two_outlets(struct weir_flow *flow,
					       const struct weir_items *items)
{
	static const struct weir_operator_ops deals = {.name = "deals"};
	static const struct weir_flow_fan_options narrow = {.capacity = 4};
	struct weir_flow *outlets[2];
	size_t i;

	(void)weir_flow_operator_outlets(&flow, 1, &deals, NULL, 2, outlets,
					 &narrow);
	for (i = 0; i < 2; i++)
		outlets[i] = weir_flow_same_items(outlets[i]);
	return weir_flow_merge(outlets, 2);
}

/* An operator that lets each item wait: for a wake, or a time. */
struct waiting {
	void *kept; /* NULL: none */
	struct weir_error *error;
	bool over;
};

static int wait_with(struct weir_operator *op, void *item)
{
	struct waiting *self = weir_operator_state(op);
	int rc = called();

	if (rc < 0)
		return rc;
	self->kept = item;
	if (pace_ns)
		weir_operator_timer_at(op, weir_operator_now(op) + pace_ns);
	else
		weir_operator_wake(op);
	return 0;
}

static int give_kept(struct weir_operator *op)
{
	struct waiting *self = weir_operator_state(op);
	void *kept = self->kept;
	int rc = called();

	if (rc < 0)
		return rc;
	self->kept = NULL;
	assert_int_equal(weir_operator_push(op, kept), 0);
	return self->over ? weir_operator_end(op, self->error) : 0;
}

static int end_behind_it(struct weir_operator *op, struct weir_error *error)
{
	struct waiting *self = weir_operator_state(op);

	self->over = true;
	self->error = weir_error_ref(error);
	return self->kept ? 0 : weir_operator_end(op, error);
}

static void drop_kept(struct weir_operator *op)
{
	struct waiting *self = weir_operator_state(op);

	if (self->kept)
		weir_operator_drop(op, self->kept);
	weir_error_unref(self->error);
}

struct weir_flow *upon_operator_that_waits(struct weir_flow *flow,
					   const struct weir_items *items)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct waiting),
		.on_push = wait_with,
		.on_timer = give_kept,
		.on_wake = give_kept,
		.on_end = end_behind_it,
		.close = drop_kept,
	};

	return weir_flow_same_items(weir_flow_operator(flow, &ops, NULL));
}

/* It keeps one that downstream does not want yet. */
static int ahead_open(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static int ahead_push(struct weir_operator *op, void *item)
{
	struct waiting *self = weir_operator_state(op);
	int rc = called();

	if (rc < 0)
		return rc;
	if (!weir_operator_wanted(op)) {
		self->kept = item;
		return 0;
	}
	assert_int_equal(weir_operator_push(op, item), 0);
	return weir_operator_pull(op);
}

static int ahead_pull(struct weir_operator *op)
{
	struct waiting *self = weir_operator_state(op);
	void *kept = self->kept;

	if (!kept)
		return 0;
	self->kept = NULL;
	assert_int_equal(weir_operator_push(op, kept), 0);
	return self->over ? weir_operator_end(op, self->error)
			  : weir_operator_pull(op);
}

struct weir_flow *upon_operator_that_runs_ahead(struct weir_flow *flow,
						const struct weir_items *items)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct waiting),
		.open = ahead_open,
		.close = drop_kept,
		.on_pull = ahead_pull,
		.on_push = ahead_push,
		.on_end = end_behind_it,
		.ahead = true,
	};

	return weir_flow_same_items(weir_flow_operator(flow, &ops, NULL));
}
