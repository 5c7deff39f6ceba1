/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's, from open() to close(): how often, why, how deep in
 * the stack, and what is decided upon failures.
 */
#include <pthread.h>

#include "flow/fan_kit.h"

/* --- Counting ------------------------------------------------------------- */

struct life {
	int opens, closes, cancels, ends;
	int open_fails; /* the nth; 0: none */
	intptr_t fails;
	int code; /* of on_end() */
};

static int life_open(struct weir_operator *op)
{
	struct life *life = weir_operator_context(op);
	const intptr_t *n = weir_operator_state(op);

	assert_int_equal(*n, 0);
	return ++life->opens == life->open_fails ? -EIO : 0;
}

static void life_close(struct weir_operator *op)
{
	struct life *life = weir_operator_context(op);

	life->closes++;
}

static void life_cancel(struct weir_operator *op)
{
	struct life *life = weir_operator_context(op);

	life->cancels++;
}

/* Ten times the item, and how many have come since it began. */
static int life_push(struct weir_operator *op, void *memory)
{
	struct life *life = weir_operator_context(op);
	intptr_t *n = weir_operator_state(op);
	struct item *item = memory;

	++*n;
	if (item->value == life->fails)
		return -EDOM;
	item->value = 10 * item->value + *n;
	return weir_operator_push(op, item);
}

static int life_end(struct weir_operator *op, struct weir_error *error)
{
	struct life *life = weir_operator_context(op);

	life->ends++;
	life->code = error ? error->code : 0;
	return weir_operator_end(op, error);
}

static struct weir_flow *living(struct weir_flow *up, struct life *life)
{
	static const struct weir_operator_ops ops = {
		.name = "living",
		.state_size = sizeof(intptr_t),
		.open = life_open,
		.close = life_close,
		.on_push = life_push,
		.on_end = life_end,
		.on_cancel = life_cancel,
	};

	return weir_flow_same_items(weir_flow_operator(up, &ops, life));
}

/* One run of it, which is freed: its code. */
static int run_through(struct weir_flow *flow, size_t unfused)
{
	static struct got got;
	int rc;

	got = (struct got){.counted = true};
	flow = into(flow, &got);
	rc = run_on_sim(flow, 1, unfused);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
	return rc;
}

static void assert_life(const struct life *life, int opens, int closes,
			int cancels, int ends)
{
	assert_int_equal(life->opens, opens);
	assert_int_equal(life->closes, closes);
	assert_int_equal(life->cancels, cancels);
	assert_int_equal(life->ends, ends);
}

static int fails_on_2(void **memory, void *context)
{
	return ((struct item *)*memory)->value == 2 ? -EPROTO : 0;
}

static void it_closes_once_when_upstream_ends(void **state)
{
	struct life well = {0}, failed = {0};
	struct weir_flow *flow = living(counted(weir_flow_range(1, 5)), &well);

	assert_int_equal(run_through(flow, 0), 0);
	assert_life(&well, 1, 1, 0, 1);
	assert_int_equal(well.code, 0);
	flow = weir_flow_same_items(weir_flow_map(
		counted(weir_flow_range(1, 5)), fails_on_2, NULL));
	assert_int_equal(run_through(living(flow, &failed), 1), -EPROTO);
	assert_life(&failed, 1, 1, 0, 1);
	assert_int_equal(failed.code, -EPROTO);
}

static void it_closes_once_when_it_fails(void **state)
{
	struct life life = {.fails = 3};

	assert_int_equal(
		run_through(living(counted(weir_flow_range(1, 5)), &life), 0),
		-EDOM);
	assert_life(&life, 1, 1, 0, 0);
}

static void it_is_told_of_a_cancel_and_closes_once(void **state)
{
	struct life life = {0};
	struct weir_flow *flow = living(counted(weir_flow_range(1, 5)), &life);
	struct trial trial;
	struct tap tap = {0};

	assert_int_equal(run_through(weir_flow_take(flow, 2), 0), 0);
	assert_life(&life, 1, 1, 1, 0);
	flow = living(counted(tap_flow(&tap)), &life);
	begin(&trial, into(flow, &(struct got){.counted = true}), 1, 0);
	assert_life(&life, 2, 1, 1, 0);
	assert_int_equal(end(&trial), -ECANCELED);
	assert_life(&life, 2, 2, 2, 0);
}

/* The upper one was opened, and the other could not be. */
static void it_closes_once_when_the_run_cannot_be_made(void **state)
{
	struct life upper = {0}, lower = {.open_fails = 1};
	struct weir_flow *flow = living(counted(weir_flow_range(1, 5)), &upper);

	assert_int_equal(run_through(living(flow, &lower), 0), -EIO);
	assert_life(&upper, 1, 1, 1, 0);
	assert_life(&lower, 1, 0, 0, 0);
}

/* --- Failures of single items --------------------------------------------- */

static enum weir_directive as_told(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	assert_string_equal(error->origin, "living");
	return *(enum weir_directive *)context;
}

static struct weir_flow *decided(struct life *life,
				 enum weir_directive *directive)
{
	struct weir_flow *flow = living(counted(weir_flow_range(1, 5)), life);

	return weir_flow_supervise(flow, as_told, directive);
}

static void a_failed_item_ends_it_or_is_left_out_or_it_begins_anew(void **state)
{
	static const intptr_t stopped[] = {11, 22};
	static const intptr_t resumed[] = {11, 22, 44, 55};
	static const intptr_t restarted[] = {11, 22, 41, 52};
	enum weir_directive directive = WEIR_DIRECTIVE_STOP;
	struct life life = {.fails = 3};

	assert_flow(decided(&life, &directive), true, stopped, 2, -EDOM);
	directive = WEIR_DIRECTIVE_ESCALATE;
	assert_flow(decided(&life, &directive), true, stopped, 2, -EDOM);
	directive = WEIR_DIRECTIVE_RESUME;
	assert_flow(decided(&life, &directive), true, resumed, 4, 0);
	directive = WEIR_DIRECTIVE_RESTART;
	assert_flow(decided(&life, &directive), true, restarted, 4, 0);
}

static void it_closes_once_before_it_begins_anew(void **state)
{
	enum weir_directive directive = WEIR_DIRECTIVE_RESTART;
	struct life life = {.fails = 3};

	assert_int_equal(run_through(decided(&life, &directive), 2), 0);
	assert_life(&life, 2, 2, 0, 1);
}

static void it_fails_when_it_cannot_begin_anew(void **state)
{
	enum weir_directive directive = WEIR_DIRECTIVE_RESTART;
	struct life life = {.fails = 3, .open_fails = 2};

	assert_int_equal(run_through(decided(&life, &directive), 0), -EIO);
	assert_life(&life, 2, 1, 0, 0);
}

/* --- Drains --------------------------------------------------------------- */

static int push_seven(struct weir_operator *op)
{
	return weir_operator_push(op, (void *)7);
}

static int wait_for_more(struct weir_operator *op)
{
	return 0;
}

static int push_eight(struct weir_operator *op, struct weir_error *error)
{
	assert_null(error);
	assert_int_equal(weir_operator_push(op, (void *)8), 0);
	return weir_operator_end(op, NULL);
}

static int drained(const struct weir_operator_ops *ops, struct got *got)
{
	struct weir_flow *flow = weir_flow_operator_source(ops, NULL);
	struct trial trial;

	begin(&trial, into(weir_flow_take(flow, 3), got), 1, 1);
	weir_flow_run_end(trial.run);
	return end(&trial);
}

static void a_drain_ends_a_source_which_may_have_a_last_item(void **state)
{
	static const struct weir_operator_ops at_once = {
		.on_pull = wait_for_more};
	static const struct weir_operator_ops with_last = {
		.on_pull = wait_for_more, .on_end = push_eight};
	static const struct weir_operator_ops endless = {.on_pull = push_seven};
	struct got got = {0};

	assert_int_equal(drained(&at_once, &got), 0);
	assert_int_equal(got.n, 0);
	assert_int_equal(drained(&with_last, &got), 0);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.values[0], 8);
	assert_int_equal(drained(&endless, &got), 0);
	assert_int_equal(got.n, 4);
}

/* --- Depth ---------------------------------------------------------------- */

#define MANY 1000000

static struct {
	const char *lowest, *highest;
} stack;

/* The frame, for AddressSanitizer keeps variables elsewhere. */
static void note_depth(void)
{
	const char *here = __builtin_frame_address(0);

	if (!stack.lowest || here < stack.lowest)
		stack.lowest = here;
	if (here > stack.highest)
		stack.highest = here;
}

static int deep_pull(struct weir_operator *op)
{
	intptr_t *last = weir_operator_state(op);

	note_depth();
	if (weir_operator_pull(op) == 0)
		return 0;
	if (++*last > MANY)
		return weir_operator_end(op, NULL);
	return weir_operator_push(op, (void *)*last);
}

static int deep_push(struct weir_operator *op, void *item)
{
	int rc = weir_operator_push(op, item);

	note_depth();
	return rc < 0 ? rc : weir_operator_pull(op);
}

static int deep_pull_of_operator(struct weir_operator *op)
{
	int rc = weir_operator_pull(op);

	note_depth();
	return rc == -EALREADY ? 0 : rc;
}

static void *run_deep(void *context)
{
	static const struct weir_operator_ops source = {
		.state_size = sizeof(intptr_t), .on_pull = deep_pull};
	static const struct weir_operator_ops ops = {
		.on_pull = deep_pull_of_operator, .on_push = deep_push};
	struct weir_flow *flow = weir_flow_operator_source(&source, NULL);
	struct weir_sim *sim;

	flow = weir_flow_operator(flow, &ops, NULL);
	flow = weir_flow_count(weir_flow_operator(flow, &ops, NULL));
	assert(weir_sim_new(&sim, 1, NULL) == 0);
	assert(weir_flow_run(flow, weir_sim_executor(sim), context) == 0);
	weir_flow_free(flow);
	assert(weir_sim_free(sim) == 0);
	return NULL;
}

static void a_million_items_need_no_more_stack_than_one(void **state)
{
	pthread_attr_t attr;
	void *n = NULL;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
	assert_int_equal(pthread_create(&thread, &attr, run_deep, &n), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_attr_destroy(&attr), 0);
	assert_int_equal((intptr_t)n, MANY);
	assert_in_range(stack.highest - stack.lowest, 1, 16 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_closes_once_when_upstream_ends),
		cmocka_unit_test(it_closes_once_when_it_fails),
		cmocka_unit_test(it_is_told_of_a_cancel_and_closes_once),
		cmocka_unit_test(it_closes_once_when_the_run_cannot_be_made),
		cmocka_unit_test(
			a_failed_item_ends_it_or_is_left_out_or_it_begins_anew),
		cmocka_unit_test(it_closes_once_before_it_begins_anew),
		cmocka_unit_test(it_fails_when_it_cannot_begin_anew),
		cmocka_unit_test(
			a_drain_ends_a_source_which_may_have_a_last_item),
		cmocka_unit_test(a_million_items_need_no_more_stack_than_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
