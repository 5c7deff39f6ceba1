/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators with outlets that do anything at any time, with numbers from a
 * seed, and outlets that are cut, slow or cancelled: what the operators are
 * told and answered is held against the rules, and every item is delivered or
 * dropped.
 */
#include "flow/kit.h"

#include "base/random.h"

#define KEPT_MAX 8
#define WAYS 3

struct wild {
	uint64_t random;
	void *kept[KEPT_MAX];
	size_t n_kept, n_inputs, n_outlets;
	int opens, closes;
	bool ahead, eager, open, in_call, ending, woken;
	bool asked[2], told[2];
	bool wanted[WAYS], over[WAYS];
	uint64_t due_ns;
	uint64_t pushes, cancels;
};

static bool one_in(struct wild *wild, uint64_t n)
{
	return weir__splitmix(&wild->random) % n == 0;
}

static bool any_wanted(const struct wild *wild)
{
	return wild->wanted[0] || wild->wanted[1] || wild->wanted[2];
}

static struct wild *enter(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);
	size_t i;

	assert_true(wild->open && !wild->in_call && !wild->ending);
	wild->in_call = true;
	for (i = 0; i < wild->n_outlets; i++)
		assert_int_equal(weir_operator_wanted_outlet(op, i),
				 wild->wanted[i]);
	return wild;
}

static void try_push(struct weir_operator *op, struct wild *wild, size_t to)
{
	void *item = wild->kept[wild->n_kept - 1];
	int rc = weir_operator_push_outlet(op, to, item);

	if (wild->ending || wild->over[to])
		assert_int_equal(rc, -EPIPE);
	else
		assert_int_equal(rc, wild->wanted[to] ? 0 : -EAGAIN);
	wild->n_kept -= rc == 0;
	wild->pushes += rc == 0;
	wild->wanted[to] = wild->wanted[to] && rc < 0;
}

static void push_all(struct weir_operator *op, struct wild *wild)
{
	size_t i;

	for (i = 0; i < wild->n_outlets; i++)
		if (wild->wanted[i] && wild->n_kept > 0)
			try_push(op, wild, i);
}

static void try_pull(struct weir_operator *op, struct wild *wild, size_t i)
{
	int rc = weir_operator_pull_input(op, i);

	if (i >= wild->n_inputs)
		assert_int_equal(rc, -EINVAL);
	else if (wild->ending || wild->told[i])
		assert_int_equal(rc, -EPIPE);
	else
		assert_int_equal(rc, wild->asked[i] ? -EALREADY : 0);
	wild->asked[i] = wild->asked[i] || rc == 0;
}

static void try_cancel(struct weir_operator *op, struct wild *wild, size_t i)
{
	int rc = weir_operator_cancel_input(op, i);

	if (i >= wild->n_inputs)
		assert_int_equal(rc, -EINVAL);
	else
		assert_int_equal(rc,
				 wild->ending || wild->told[i] ? -EALREADY : 0);
	wild->told[i] = true;
	wild->asked[i] = false;
}

static void try_end(struct weir_operator *op, struct wild *wild)
{
	struct weir_error *error = one_in(wild, 2) ? weir_error_of(-EPROTO)
						   : NULL;

	assert_int_equal(weir_operator_end(op, error),
			 wild->ending ? -EALREADY : 0);
	wild->ending = true;
	memset(wild->wanted, 0, sizeof(wild->wanted));
}

static void try_end_outlet(struct weir_operator *op, struct wild *wild,
			   size_t i)
{
	struct weir_error *error = one_in(wild, 8) ? weir_error_of(-EPROTO)
						   : NULL;
	size_t k, left = 0;

	assert_int_equal(weir_operator_end_outlet(op, i, error),
			 wild->ending || wild->over[i] ? -EALREADY : 0);
	wild->over[i] = true;
	wild->wanted[i] = false;
	for (k = 0; k < wild->n_outlets; k++)
		left += !wild->over[k];
	wild->ending = wild->ending || left == 0;
}

static void act(struct weir_operator *op, struct wild *wild)
{
	while (!one_in(wild, 3)) {
		if (wild->n_kept < KEPT_MAX && one_in(wild, 8))
			wild->kept[wild->n_kept++] = item_new(0);
		if (wild->n_kept > 0 && one_in(wild, 2))
			try_push(op, wild, wild->random % wild->n_outlets);
		if (wild->n_kept < KEPT_MAX && one_in(wild, 2))
			try_pull(op, wild, wild->random % 2);
		if (one_in(wild, 6)) {
			wild->due_ns = weir_operator_now(op) + wild->random % 4;
			weir_operator_timer_at(op, wild->due_ns);
		}
		if (one_in(wild, 300))
			try_end(op, wild);
		if (one_in(wild, 200))
			try_end_outlet(op, wild,
				       wild->random % wild->n_outlets);
		if (one_in(wild, 200))
			try_cancel(op, wild, wild->random % 2);
		if (one_in(wild, 6)) {
			weir_operator_wake(op);
			wild->woken = true;
		}
	}
}

/* The end of a function that may fail. */
static int leave(struct wild *wild)
{
	wild->in_call = false;
	if (!one_in(wild, 300))
		return 0;
	wild->ending = true;
	memset(wild->wanted, 0, sizeof(wild->wanted));
	return -EDOM;
}

static int wild_open(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_false(wild->open);
	wild->opens++;
	wild->open = true;
	wild->due_ns = WEIR_FOREVER;
	if (wild->n_inputs > 0 && one_in(wild, 2))
		try_pull(op, wild, 0);
	return 0;
}

static void wild_close(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_true(wild->open && !wild->in_call);
	wild->open = false;
	wild->closes++;
	assert_int_equal(weir_operator_push_outlet(op, 0, NULL), -EPIPE);
	while (wild->n_kept > 0)
		weir_operator_drop(op, wild->kept[--wild->n_kept]);
}

/* Of the last, or of all that are left of a run that is cancelled, it can do
 * nothing more. */
static void wild_cancel(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);
	size_t i = weir_operator_outlet(op);
	int rc;

	assert_true(wild->open && !wild->in_call && !wild->ending);
	assert_true(i < wild->n_outlets);
	assert_false(wild->over[i]);
	assert_int_equal(weir_operator_push_outlet(op, i, NULL), -EPIPE);
	wild->over[i] = true;
	wild->wanted[i] = false;
	wild->cancels++;
	rc = wild->n_inputs ? weir_operator_pull(op) : -EPIPE;
	wild->asked[0] = wild->asked[0] || rc == 0;
	if (wild->wanted[0] && weir_operator_wanted(op) && wild->n_kept > 0)
		try_push(op, wild, 0);
}

static int wild_pull(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);
	size_t i = weir_operator_outlet(op);

	assert_true(i < wild->n_outlets);
	assert_false(wild->wanted[i] || wild->over[i]);
	wild->wanted[i] = true;
	(void)enter(op);
	act(op, wild);
	/* so that most get on */
	if (one_in(wild, 16))
		return leave(wild);
	push_all(op, wild);
	if (wild->n_kept == 0)
		try_pull(op, wild, wild->random % 2);
	if (wild->n_inputs == 0 && wild->n_kept < KEPT_MAX && !wild->ending)
		wild->kept[wild->n_kept++] = item_new(1);
	return leave(wild);
}

static int wild_push(struct weir_operator *op, void *item)
{
	struct wild *wild = enter(op);
	size_t i = weir_operator_input(op);

	assert_true(i < wild->n_inputs);
	assert_true(wild->asked[i] && (any_wanted(wild) || wild->ahead));
	wild->asked[i] = false;
	if (one_in(wild, 100)) {
		wild->in_call = false;
		wild->ending = true;
		return -EDOM;
	}
	if (wild->n_kept < KEPT_MAX)
		wild->kept[wild->n_kept++] = item;
	else
		weir_operator_drop(op, item);
	act(op, wild);
	push_all(op, wild);
	if (any_wanted(wild))
		try_pull(op, wild, i);
	wild->in_call = false;
	return 0;
}

static int wild_end(struct weir_operator *op, struct weir_error *error)
{
	struct wild *wild = enter(op);
	size_t i = weir_operator_input(op);

	assert_true(i < (wild->n_inputs ? wild->n_inputs : 1));
	assert_false(wild->told[i]);
	wild->told[i] = true;
	wild->asked[i] = false;
	act(op, wild);
	if (!wild->ending && (error || one_in(wild, 2)))
		try_end(op, wild);
	return leave(wild);
}

static int wild_timer(struct weir_operator *op)
{
	struct wild *wild = enter(op);

	assert_true(weir_operator_now(op) >= wild->due_ns);
	wild->due_ns = WEIR_FOREVER;
	act(op, wild);
	return leave(wild);
}

static int wild_wake(struct weir_operator *op)
{
	struct wild *wild = enter(op);

	assert_true(wild->woken);
	wild->woken = false;
	act(op, wild);
	return leave(wild);
}

static struct weir_flow *input_of(uint64_t seed)
{
	struct weir_flow *flow =
		counted(weir_flow_range(1, (int64_t)(seed % 60)));

	return seed % 3 ? flow : weir_flow_async(flow, 2, NULL);
}

/* An outlet is cut, cancels early, waits for a time, or none of these. */
static struct weir_flow *downstream_of(struct weir_flow *flow, uint64_t seed)
{
	switch (seed % 5) {
	case 0:
		return weir_flow_take(flow, (int64_t)(seed % 7));
	case 1:
		return weir_flow_async(flow, 1, NULL);
	case 2:
		return weir_flow_delay(flow, 1, 4);
	case 3:
		return weir_flow_limit_rate(flow, 2, 0);
	default:
		return flow;
	}
}

static struct weir_flow *going_wild(struct wild *wild, uint64_t seed,
				    struct got *got)
{
	const struct weir_operator_ops ops = {
		.name = "wild",
		.open = wild_open,
		.close = wild_close,
		.on_pull = wild_pull,
		.on_push = wild->n_inputs ? wild_push : NULL,
		.on_end = wild_end,
		.on_cancel = wild_cancel,
		.on_timer = wild_timer,
		.on_wake = wild_wake,
		.ahead = wild->ahead,
	};
	const struct weir_flow_fan_options options = {
		.capacity = UINT64_C(1) << seed % 4,
		.eager = wild->eager,
	};
	struct weir_flow *flows[2], *outlets[WAYS];
	size_t i;

	for (i = 0; i < wild->n_inputs; i++)
		flows[i] = input_of(seed / 7 + i);
	assert_int_equal(weir_flow_operator_outlets(flows, wild->n_inputs, &ops,
						    wild, wild->n_outlets,
						    outlets, &options),
			 0);
	for (i = 0; i < wild->n_outlets; i++) {
		outlets[i] = weir_flow_items(outlets[i], &counted_items);
		outlets[i] = downstream_of(outlets[i], seed / 11 + i * 3);
	}
	if (seed % 2)
		return into(weir_flow_merge(outlets, wild->n_outlets), got);
	for (i = 0; i < wild->n_outlets; i++)
		outlets[i] = into(outlets[i], got);
	return weir_flow_all(outlets, wild->n_outlets);
}

static void an_operator_that_does_anything_is_called_by_the_rules(void **state)
{
	static const size_t unfused[] = {0, 0, 1, 4};
	uint64_t n = test_count(20000), pushes = 0, cancels = 0;
	struct wild wild;
	struct weir_flow *flow;
	static struct got got;

	for_each_seed(seed, n) {
		wild = (struct wild){
			.random = seed,
			.n_inputs = seed % 7 % 3,
			.n_outlets = 1 + seed % 3,
			.eager = seed % 13 == 0,
		};
		wild.ahead = wild.n_inputs && seed % 5 == 1;
		got = (struct got){.counted = true};
		flow = going_wild(&wild, seed, &got);
		(void)run_on_sim(flow, seed, unfused[seed % 4]);
		weir_flow_free(flow);
		assert_int_equal(n_live, 0);
		assert_false(wild.open);
		assert_int_equal(wild.opens, wild.closes);
		assert_true(got.n <= wild.pushes);
		pushes += wild.pushes;
		cancels += wild.cancels;
	}
	assert_true(n < 100 || test_seed_only() ||
		    (pushes > n && cancels > n / 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_operator_that_does_anything_is_called_by_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
