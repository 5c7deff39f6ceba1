/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's that wait for a time, while there may be no room for
 * what they push then; and that have much to do at once.
 */
#include "flow/memory_kit.h"
#include "flow/world.h"

static struct weir_flow *own(struct weir_flow *up,
			     const struct weir_operator_ops *ops)
{
	return weir_flow_same_items(weir_flow_operator(up, ops, NULL));
}

/* The last item, when none has come for 10 ms. */
#define QUIET (10 * MS)

struct debounce {
	struct item *last;
	bool ended;
};

static int debounce_push(struct weir_operator *op, void *item)
{
	struct debounce *self = weir_operator_state(op);

	if (self->last)
		weir_operator_drop(op, self->last);
	self->last = item;
	weir_operator_timer_at(op, weir_operator_now(op) + QUIET);
	return weir_operator_pull(op);
}

static int debounce_timer(struct weir_operator *op)
{
	struct debounce *self = weir_operator_state(op);
	struct item *item = self->last;
	int rc;

	self->last = NULL;
	rc = weir_operator_push(op, item);
	return self->ended ? weir_operator_end(op, NULL) : rc;
}

static int debounce_pull(struct weir_operator *op)
{
	int rc = weir_operator_pull(op);

	return rc == -EALREADY ? 0 : rc;
}

static int debounce_end(struct weir_operator *op, struct weir_error *error)
{
	struct debounce *self = weir_operator_state(op);

	self->ended = true;
	return self->last ? 0 : weir_operator_end(op, error);
}

static void debounce_close(struct weir_operator *op)
{
	struct debounce *self = weir_operator_state(op);

	if (self->last)
		weir_operator_drop(op, self->last);
}

static const struct weir_operator_ops debounce = {
	.name = "debounce",
	.state_size = sizeof(struct debounce),
	.on_pull = debounce_pull,
	.on_push = debounce_push,
	.on_timer = debounce_timer,
	.on_end = debounce_end,
	.close = debounce_close,
};

static void begin_debounce(struct flow_world *world, size_t open)
{
	flow_world_init(world, &counted_items);
	world->got.counted = true;
	world->flow = own(world->flow, &debounce);
	world_start(world, open);
}

static void a_timer_is_put_off_by_each_item(void **state)
{
	static struct flow_world world;

	begin_debounce(&world, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 6 * MS);
	flow_offer(&world, 3, 3);
	until(&world, 15 * MS);
	assert_int_equal(world.got.n, 0);
	until(&world, 30 * MS);
	flow_offer(&world, 4, 4);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 3, 4);
	assert_true(world.at_ns[0] == 6 * MS + QUIET);
	assert_true(world.at_ns[1] == 30 * MS + QUIET);
}

/* Downstream has asked, and has no room when the time comes. */
static void what_is_pushed_where_there_is_no_room_waits_for_it(void **state)
{
	static struct flow_world world;

	begin_debounce(&world, 1);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	let_pass(&world, 0);
	flow_offer(&world, 2, 3);
	until(&world, 50 * MS);
	assert_int_equal(world.got.n, 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 1);
	until(&world, 100 * MS);
	let_pass(&world, OPEN);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1, 3);
}

/* The end comes behind it, well or not. */
static void and_the_end_comes_behind_it(void **state)
{
	static struct flow_world world;

	begin_debounce(&world, 1);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	let_pass(&world, 0);
	assert_int_equal(weir_flow_queue_end(world.queue, NULL), 0);
	until(&world, 50 * MS);
	assert_false(weir_completion_done(weir_flow_run_over(world.run)));
	let_pass(&world, 1);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1);
}

static void or_it_is_dropped_by_a_cancel(void **state)
{
	static struct flow_world world;

	begin_debounce(&world, 1);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	let_pass(&world, 0);
	until(&world, 50 * MS);
	assert_int_equal(n_live, 1);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
	assert_int_equal(world.got.n, 0);
}

static int push_and_end(struct weir_operator *op)
{
	assert_int_equal(weir_operator_push(op, item_new(7)), 0);
	return weir_operator_end(op, NULL);
}

static void and_upstream_is_cancelled_meanwhile(void **state)
{
	static const struct weir_operator_ops ops = {
		.on_push = debounce_push,
		.state_size = sizeof(struct debounce),
		.on_timer = push_and_end,
		.close = debounce_close,
	};
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = own(world.flow, &ops);
	world_start(&world, 1);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	let_pass(&world, 0);
	until(&world, 50 * MS);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EPIPE);
	let_pass(&world, 1);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 7);
}

static int in_an_hour(struct weir_operator *op)
{
	weir_operator_timer_at(op, weir_operator_now(op) + 3600000 * MS);
	return weir_operator_pull(op);
}

static void an_end_does_not_wait_for_a_timer(void **state)
{
	static const struct weir_operator_ops ops = {.on_pull = in_an_hour};
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = own(world.flow, &ops);
	world_start(&world, OPEN);
	until(&world, 1 * MS);
	assert_int_equal(weir_flow_queue_end(world.queue, NULL), 0);
	until(&world, 2 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	flow_world_end(&world, 0);
}

/* So often a timer that is due at once, and then it pulls. */
static int ring(struct weir_operator *op)
{
	const int *rings = weir_operator_context(op);
	int *n = weir_operator_state(op);

	if ((*n)++ == *rings)
		return weir_operator_pull(op);
	weir_operator_timer_at(op, 0);
	return 0;
}

static int ring_push(struct weir_operator *op, void *item)
{
	*(int *)weir_operator_state(op) = 0;
	return weir_operator_push(op, item);
}

/* However its work is cut in pieces. */
static void much_to_do_at_once_is_all_done(void **state)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(int),
		.on_pull = ring,
		.on_push = ring_push,
		.on_timer = ring,
	};
	int rings;

	for (rings = 250; rings < 260; rings++)
		ASSERT_FLOW(weir_flow_operator(weir_flow_range(1, 3), &ops,
					       &rings),
			    0, 1, 2, 3);
}

static int wake_again(struct weir_operator *op)
{
	weir_operator_wake(op);
	return 0;
}

static void one_that_always_wakes_itself_lets_others_do_something(void **state)
{
	static const struct weir_operator_ops ops = {.open = wake_again,
						     .on_pull = wake_again,
						     .on_wake = wake_again};
	static struct flow_world world;
	int i;

	flow_world_init(&world, NULL);
	world.flow = own(world.flow, &ops);
	world_start(&world, OPEN);
	for (i = 0; i < 100; i++)
		assert_true(weir_sim_step(world.base.sim));
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

static int fail_late(struct weir_operator *op)
{
	weir_operator_timer_at(op, weir_operator_now(op) + 1);
	return 0;
}

static int not_now(struct weir_operator *op)
{
	return -EDOM;
}

static void a_time_that_is_past_comes_at_once_and_its_failure_ends_it(
	void **state)
{
	static const struct weir_operator_ops ops = {
		.open = fail_late,
		.on_timer = not_now,
	};
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = own(world.flow, &ops);
	assert_int_equal(weir_sim_run_until(world.base.sim, 0, 10), 0);
	world_start(&world, OPEN);
	until(&world, 5);
	flow_world_end(&world, -EDOM);
}

/* An executor of one's own, without timers. */
struct bare {
	struct weir_executor executor;
	struct weir_task *tasks[8];
	size_t n;
};

static int bare_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct bare *bare = weir_container_of(executor, struct bare, executor);

	bare->tasks[bare->n++] = task;
	return 0;
}

static uint64_t bare_now(struct weir_executor *executor)
{
	return 0;
}

static void where_there_are_no_timers_the_stream_fails(void **state)
{
	static const struct weir_executor_ops ops = {.submit = bare_submit,
						     .now = bare_now};
	struct bare bare = {.n = 0};
	struct weir_flow *flow = counted(weir_flow_range(1, 3));
	struct weir_error *error;
	struct weir_flow_run *run;

	assert_int_equal(weir_executor_init(&bare.executor, &ops, NULL), 0);
	flow = own(flow, &debounce);
	assert_int_equal(weir_flow_start(flow, &bare.executor, NULL, &run), 0);
	while (bare.n > 0)
		weir_task_run(bare.tasks[--bare.n]);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	assert_int_equal(error->code, -ENOTSUP);
	assert_string_equal(error->origin, "debounce");
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&bare.executor), 0);
	assert_int_equal(n_live, 0);
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, 9));

	flow = own(weir_flow_async(own(flow, &debounce), 2, NULL), &debounce);
	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

/* --- Turns -------------------------------------------------------------------- */

struct slow {
	struct weir_loop *loop;
	uint64_t taken, seen; /* items; and when the loop came back */
	uint64_t most;	      /* taken between two of its steps */
};

static int take_slowly(struct weir_operator *op, void *item)
{
	struct slow *slow = weir_operator_context(op);
	uint64_t now = weir_operator_now(op), until = now + 50000;

	while (now < until)
		now = weir_operator_now(op);
	slow->taken++;
	return weir_operator_pull(op);
}

static int come_by(struct weir_operator *op)
{
	struct slow *slow = weir_operator_context(op);

	if (slow->taken - slow->seen > slow->most)
		slow->most = slow->taken - slow->seen;
	slow->seen = slow->taken;
	return slow->taken >= 2000 ? weir_operator_end(op, NULL)
				   : weir_operator_push(op, NULL);
}

/* One that takes long for an item, and makes nothing of it, takes few in a turn:
 * fewer still where the machine is slow. */
static void a_slow_operator_that_emits_nothing_lets_others_run(void **state)
{
	const struct weir_operator_ops slowly = {.on_push = take_slowly};
	const struct weir_operator_ops beside = {.on_pull = come_by};
	struct slow slow = {0};
	struct weir_flow *flow, *other;
	struct weir_flow_run *run;

	assert_int_equal(weir_loop_new(&slow.loop, NULL), 0);
	flow = weir_flow_ignore(
		weir_flow_operator(weir_flow_range(1, 2000), &slowly, &slow));
	other = weir_flow_ignore(weir_flow_async(
		weir_flow_operator_source(&beside, &slow), 1, NULL));
	assert_int_equal(weir_flow_start(other, weir_loop_executor(slow.loop),
					 NULL, &run),
			 0);
	assert_int_equal(
		weir_flow_run(flow, weir_loop_executor(slow.loop), NULL), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_flow_free(other);
	assert_int_equal(weir_loop_free(slow.loop), 0);
	assert_int_equal(slow.taken, 2000);
	assert_true(slow.most < WEIR_FLOW_BATCH / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_is_put_off_by_each_item),
		cmocka_unit_test(
			what_is_pushed_where_there_is_no_room_waits_for_it),
		cmocka_unit_test(and_the_end_comes_behind_it),
		cmocka_unit_test(or_it_is_dropped_by_a_cancel),
		cmocka_unit_test(and_upstream_is_cancelled_meanwhile),
		cmocka_unit_test(an_end_does_not_wait_for_a_timer),
		cmocka_unit_test(much_to_do_at_once_is_all_done),
		cmocka_unit_test(
			one_that_always_wakes_itself_lets_others_do_something),
		cmocka_unit_test(
			a_time_that_is_past_comes_at_once_and_its_failure_ends_it),
		cmocka_unit_test(where_there_are_no_timers_the_stream_fails),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(
			a_slow_operator_that_emits_nothing_lets_others_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
