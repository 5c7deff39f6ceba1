/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's that do anything at any time, with numbers from a
 * seed: what they are told and answered is held against the rules, and every
 * item is delivered or dropped.
 */
#include "flow/kit.h"

#include "base/random.h"

#define KEPT_MAX 8

struct wild {
	uint64_t random;
	void *kept[KEPT_MAX];
	size_t n_kept;
	int opens, closes;
	bool ahead, open, in_call, wanted, ending, woken;
	size_t n_inputs;
	bool asked[2], told[2];
	uint64_t due_ns;
};

static bool one_in(struct wild *wild, uint64_t n)
{
	return weir__splitmix(&wild->random) % n == 0;
}

static struct wild *enter(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_true(wild->open && !wild->in_call && !wild->ending);
	wild->in_call = true;
	assert_int_equal(weir_operator_wanted(op), wild->wanted);
	return wild;
}

static void try_push(struct weir_operator *op, struct wild *wild)
{
	int rc = weir_operator_push(op, wild->kept[wild->n_kept - 1]);

	if (wild->ending)
		assert_int_equal(rc, -EPIPE);
	else
		assert_int_equal(rc, wild->wanted ? 0 : -EAGAIN);
	wild->n_kept -= rc == 0;
	wild->wanted = wild->wanted && rc < 0;
}

static void try_pull(struct weir_operator *op, struct wild *wild)
{
	size_t i = wild->n_inputs > 1 ? wild->random % 2 : 0;
	int rc = weir_operator_pull_input(op, i);

	if (wild->ending || wild->told[i])
		assert_int_equal(rc, -EPIPE);
	else
		assert_int_equal(rc, wild->asked[i] ? -EALREADY : 0);
	wild->asked[i] = wild->asked[i] || rc == 0;
	if (wild->told[i])
		assert_true(weir_operator_ended(op, i));
}

static void try_cancel(struct weir_operator *op, struct wild *wild)
{
	size_t i = wild->n_inputs > 1 ? wild->random % 2 : 0;
	int rc = weir_operator_cancel_input(op, i);

	assert_int_equal(rc, wild->ending || wild->told[i] ? -EALREADY : 0);
	wild->told[i] = true;
	wild->asked[i] = false;
}

static void try_time(struct weir_operator *op, struct wild *wild)
{
	wild->due_ns = one_in(wild, 3)
			       ? WEIR_FOREVER
			       : weir_operator_now(op) + wild->random % 4;
	weir_operator_timer_at(op, wild->due_ns);
}

static void try_end(struct weir_operator *op, struct wild *wild)
{
	struct weir_error *error = one_in(wild, 2) ? weir_error_of(-EPROTO)
						   : NULL;

	assert_int_equal(weir_operator_end(op, error),
			 wild->ending ? -EALREADY : 0);
	wild->ending = true;
}

static void act(struct weir_operator *op, struct wild *wild)
{
	while (!one_in(wild, 3)) {
		if (wild->n_kept < KEPT_MAX && one_in(wild, 8))
			wild->kept[wild->n_kept++] = item_new(0);
		if (wild->n_kept > 0 && one_in(wild, 2))
			try_push(op, wild);
		if (wild->n_kept < KEPT_MAX && one_in(wild, 2))
			try_pull(op, wild);
		if (one_in(wild, 6))
			try_time(op, wild);
		if (one_in(wild, 200))
			try_end(op, wild);
		if (one_in(wild, 200))
			try_cancel(op, wild);
		if (one_in(wild, 6)) {
			weir_operator_hold(op);
			weir_operator_wake(op);
			weir_operator_unhold(op);
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
	return -EDOM;
}

static int wild_open(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);
	uint64_t *state = weir_operator_state(op);

	assert_false(wild->open || wild->ending);
	assert_int_equal(*state, 0);
	*state = 1;
	if (wild->opens > 0 && one_in(wild, 8))
		return -EIO;
	wild->opens++;
	wild->open = true;
	wild->wanted = false;
	memset(wild->asked, 0, sizeof(wild->asked));
	memset(wild->told, 0, sizeof(wild->told));
	wild->due_ns = WEIR_FOREVER;
	if (one_in(wild, 2))
		try_pull(op, wild);
	return 0;
}

static void wild_close(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_true(wild->open && !wild->in_call);
	wild->open = false;
	wild->closes++;
	while (wild->n_kept > 0)
		weir_operator_drop(op, wild->kept[--wild->n_kept]);
}

static void wild_cancel(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_true(wild->open && !wild->in_call && !wild->ending);
	wild->ending = true;
}

static int wild_pull(struct weir_operator *op)
{
	struct wild *wild = weir_operator_context(op);

	assert_false(wild->wanted);
	wild->wanted = true;
	(void)enter(op);
	act(op, wild);
	/* so that most get on */
	if (one_in(wild, 16))
		return leave(wild);
	if (wild->wanted && wild->n_kept > 0)
		try_push(op, wild);
	else if (wild->wanted)
		try_pull(op, wild);
	return leave(wild);
}

static int wild_push(struct weir_operator *op, void *item)
{
	struct wild *wild = enter(op);
	size_t i = weir_operator_input(op);

	assert_true(i < wild->n_inputs);
	assert_true(wild->asked[i] && (wild->wanted || wild->ahead));
	wild->asked[i] = false;
	if (one_in(wild, 10)) {
		act(op, wild);
		wild->asked[i] = !wild->told[i];
		wild->in_call = false;
		return -EDOM;
	}
	if (wild->n_kept < KEPT_MAX)
		wild->kept[wild->n_kept++] = item;
	else
		weir_operator_drop(op, item);
	act(op, wild);
	if (wild->wanted && wild->n_kept > 0)
		try_push(op, wild);
	wild->in_call = false;
	return 0;
}

static int wild_end(struct weir_operator *op, struct weir_error *error)
{
	struct wild *wild = enter(op);
	size_t i = weir_operator_input(op);

	assert_true(i < wild->n_inputs);
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

static enum weir_directive any_directive(struct weir_error *error,
					 void *context)
{
	struct wild *wild = context;

	if (one_in(wild, 8))
		return WEIR_DIRECTIVE_STOP;
	return one_in(wild, 2) ? WEIR_DIRECTIVE_RESTART : WEIR_DIRECTIVE_RESUME;
}

/* `other`: an input more, or NULL. */
static struct weir_flow *going_wild(struct weir_flow *up,
				    struct weir_flow *other, struct wild *wild)
{
	struct weir_flow *flows[] = {up, other};
	const struct weir_operator_ops ops = {
		.state_size = sizeof(uint64_t),
		.open = wild_open,
		.close = wild_close,
		.on_pull = wild_pull,
		.on_push = wild_push,
		.on_end = wild_end,
		.on_cancel = wild_cancel,
		.on_timer = wild_timer,
		.on_wake = wild_wake,
		.ahead = wild->ahead,
	};

	wild->n_inputs = other ? 2 : 1;
	up = other ? weir_flow_operator_inputs(flows, 2, &ops, wild)
		   : weir_flow_operator(up, &ops, wild);
	return weir_flow_supervise(weir_flow_same_items(up), any_directive,
				   wild);
}

/* Of every other seed; an actor of its own, or fused. */
static struct weir_flow *other_of(uint64_t seed)
{
	struct weir_flow *flow;

	if (seed % 2)
		return NULL;
	flow = counted(weir_flow_range(1, (int64_t)(seed % 13)));
	return seed % 4 ? weir_flow_async(flow, 2, NULL) : flow;
}

static void an_operator_that_does_anything_is_called_by_the_rules(void **state)
{
	static const size_t unfused[] = {0, 0, 1, 4};
	uint64_t n = test_count(20000), out = 0, anew = 0;
	struct wild upper, lower;
	struct weir_flow *flow;
	static struct got got;

	for_each_seed(seed, n) {
		upper = (struct wild){.random = seed};
		lower = (struct wild){.random = ~seed};
		upper.ahead = seed % 5 == 1;
		lower.ahead = seed % 3 == 1;
		flow = counted(weir_flow_range(1, (int64_t)(seed % 40)));
		flow = going_wild(flow, other_of(seed), &upper);
		flow = going_wild(flow, other_of(seed / 4), &lower);
		if (seed % 3 == 0)
			flow = weir_flow_take(flow, 9);
		got = (struct got){.counted = true};
		flow = into(flow, &got);
		(void)run_on_sim(flow, seed, unfused[seed % 4]);
		weir_flow_free(flow);
		assert_int_equal(n_live, 0);
		assert_false(upper.open || lower.open);
		assert_int_equal(upper.opens, upper.closes);
		assert_int_equal(lower.opens, lower.closes);
		out += got.n;
		anew += (uint64_t)(upper.opens > 1);
	}
	assert_true(n < 100 || test_seed_only() || (out > n && anew > n / 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_operator_that_does_anything_is_called_by_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
