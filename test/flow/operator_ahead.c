/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's that take items while downstream wants nothing; and
 * what all of them are told of upstream without a pull.
 */
#include "flow/memory_kit.h"
#include "flow/world.h"

static struct weir_flow *own(struct weir_flow *up,
			     const struct weir_operator_ops *ops, void *context)
{
	return weir_flow_same_items(weir_flow_operator(up, ops, context));
}

/* --- The newest ----------------------------------------------------------- */

struct newest {
	struct item *item;
	bool ended;
};

static int begin_at_once(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static int newest_push(struct weir_operator *op, void *item)
{
	struct newest *self = weir_operator_state(op);

	if (weir_operator_wanted(op)) {
		assert_null(self->item);
		assert_int_equal(weir_operator_push(op, item), 0);
	} else {
		if (self->item)
			weir_operator_drop(op, self->item);
		self->item = item;
	}
	return weir_operator_pull(op);
}

static int newest_pull(struct weir_operator *op)
{
	struct newest *self = weir_operator_state(op);
	struct item *item = self->item;

	self->item = NULL;
	if (item)
		assert_int_equal(weir_operator_push(op, item), 0);
	return self->ended ? weir_operator_end(op, NULL) : 0;
}

static int newest_end(struct weir_operator *op, struct weir_error *error)
{
	struct newest *self = weir_operator_state(op);

	self->ended = true;
	return self->item && !error ? 0 : weir_operator_end(op, error);
}

static void newest_close(struct weir_operator *op)
{
	struct newest *self = weir_operator_state(op);

	if (self->item)
		weir_operator_drop(op, self->item);
}

static const struct weir_operator_ops newest = {
	.name = "newest",
	.state_size = sizeof(struct newest),
	.open = begin_at_once,
	.close = newest_close,
	.on_pull = newest_pull,
	.on_push = newest_push,
	.on_end = newest_end,
	.ahead = true,
};

static struct flow_world *begin_ahead(const struct weir_operator_ops *ops,
				      void *context, size_t open)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = own(world.flow, ops, context);
	world_start(&world, open);
	until(&world, 0);
	return &world;
}

static void it_keeps_the_newest_while_nothing_is_wanted(void **state)
{
	struct flow_world *world = begin_ahead(&newest, NULL, 0);

	flow_offer(world, 1, 5);
	until(world, 1 * MS);
	assert_int_equal(n_live, 1);
	let_pass(world, 1);
	ASSERT_OUT(world, 5);
	/* it holds nothing that nobody has asked for */
	flow_offer(world, 6, 6);
	until(world, 2 * MS);
	flow_offer(world, 7, 8);
	until(world, 3 * MS);
	let_pass(world, 1);
	ASSERT_OUT(world, 5, 8);
	let_pass(world, OPEN);
	flow_offer(world, 9, 9);
	flow_world_end(world, 0);
	ASSERT_OUT(world, 5, 8, 9);
}

static void it_is_told_of_the_end_while_nothing_is_wanted(void **state)
{
	struct flow_world *world = begin_ahead(&newest, NULL, 0);

	flow_offer(world, 1, 2);
	assert_int_equal(
		weir_flow_queue_end(world->queue, weir_error_of(-EPROTO)), 0);
	until(world, 1 * MS);
	assert_int_equal(n_live, 0);
	assert_true(weir_completion_done(weir_flow_run_over(world->run)));
	flow_world_end(world, -EPROTO);
	world = begin_ahead(&newest, NULL, 0);
	flow_offer(world, 1, 2);
	assert_int_equal(weir_flow_queue_end(world->queue, NULL), 0);
	until(world, 1 * MS);
	assert_false(weir_completion_done(weir_flow_run_over(world->run)));
	let_pass(world, 1);
	flow_world_end(world, 0);
	ASSERT_OUT(world, 2);
}

static void a_cancel_drops_what_it_keeps(void **state)
{
	struct flow_world *world = begin_ahead(&newest, NULL, 0);

	flow_offer(world, 1, 3);
	until(world, 1 * MS);
	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
	assert_cancel(own(counted(weir_flow_range(1, 9)), &newest, NULL));
}

/* --- What it has not asked for -------------------------------------------- */

/* It keeps three, and asks for no more. */
struct three {
	struct item *items[3];
	size_t n;
};

static int three_push(struct weir_operator *op, void *item)
{
	struct three *self = weir_operator_state(op);

	self->items[self->n++] = item;
	return self->n < 3 ? weir_operator_pull(op) : 0;
}

static int three_pull(struct weir_operator *op)
{
	struct three *self = weir_operator_state(op);
	size_t i;

	if (self->n == 0)
		return 0;
	assert_int_equal(weir_operator_push(op, self->items[0]), 0);
	for (i = 1; i < self->n; i++)
		self->items[i - 1] = self->items[i];
	if (self->n-- == 3)
		return weir_operator_pull(op);
	return 0;
}

static void three_close(struct weir_operator *op)
{
	struct three *self = weir_operator_state(op);

	while (self->n > 0)
		weir_operator_drop(op, self->items[--self->n]);
}

static void it_gets_no_more_than_it_asks_for(void **state)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct three),
		.open = begin_at_once,
		.close = three_close,
		.on_pull = three_pull,
		.on_push = three_push,
		.ahead = true,
	};
	struct flow_world *world = begin_ahead(&ops, NULL, 0);
	int i;

	/* the queue has room for 1024: one each that has left it */
	flow_offer(world, 1, 1024);
	assert_int_equal(weir_flow_queue_offer(world->queue, NULL), -EAGAIN);
	until(world, 1 * MS);
	flow_offer(world, 1025, 1027);
	assert_int_equal(weir_flow_queue_offer(world->queue, NULL), -EAGAIN);
	let_pass(world, 2);
	ASSERT_OUT(world, 1, 2);
	flow_offer(world, 1028, 1029);
	assert_int_equal(weir_flow_queue_offer(world->queue, NULL), -EAGAIN);
	for (i = 3; i <= 7; i++)
		let_pass(world, 1);
	ASSERT_OUT(world, 1, 2, 3, 4, 5, 6, 7);
	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
}

/* It counts what it drops. */
static int count_and_drop(struct weir_operator *op, void *item)
{
	uint64_t *n = weir_operator_context(op);

	++*n;
	return weir_operator_pull(op);
}

static void one_that_drops_all_lets_others_do_something(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = begin_at_once,
		.on_push = count_and_drop,
		.ahead = true,
	};
	static struct flow_world world;
	struct weir_flow *flow = weir_flow_range(0, INT64_MAX);
	static uint64_t n;
	uint64_t before;
	int i;

	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	world.flow = weir_flow_operator(flow, &ops, &n);
	world_start(&world, 0);
	for (i = 0; i < 100; i++) {
		before = n;
		assert_true(weir_sim_step(world.base.sim));
		assert_true(n - before <= 256 * WEIR_FLOW_BATCH);
	}
	assert_true(n > 0);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

/* An executor of one's own, whose clock the operator moves. */
static struct slow {
	struct weir_executor executor;
	struct weir_task *tasks[8];
	size_t n;
	uint64_t now_ns, n_items;
} slow;

static int slow_submit(struct weir_executor *executor, struct weir_task *task)
{
	slow.tasks[slow.n++] = task;
	return 0;
}

static uint64_t slow_now(struct weir_executor *executor)
{
	return slow.now_ns;
}

static int slow_push(struct weir_operator *op, void *item)
{
	slow.now_ns += 10 * MS;
	slow.n_items++;
	return weir_operator_pull(op);
}

static void slow_begin(struct weir_flow *flow, struct weir_flow_run **run)
{
	static const struct weir_executor_ops on = {.submit = slow_submit,
						    .now = slow_now};

	slow.n_items = 0;
	assert_int_equal(weir_executor_init(&slow.executor, &on, NULL), 0);
	assert_int_equal(weir_flow_start(flow, &slow.executor, NULL, run), 0);
}

/* The one that was submitted first. */
static void slow_step(void)
{
	struct weir_task *task = slow.tasks[0];
	size_t i;

	assert_true(slow.n > 0);
	for (i = 1; i < slow.n; i++)
		slow.tasks[i - 1] = slow.tasks[i];
	slow.n--;
	weir_task_run(task);
}

static void slow_end(struct weir_flow_run *run, struct weir_flow *flow)
{
	weir_flow_run_stop(run, NULL);
	while (slow.n > 0)
		slow_step();
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&slow.executor), 0);
}

static void one_that_is_slow_takes_few_at_once(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = begin_at_once,
		.on_push = slow_push,
		.ahead = true,
	};
	struct weir_flow *flow = weir_flow_range(0, INT64_MAX);
	struct weir_flow_run *run;
	uint64_t before;
	int i;

	flow = weir_flow_ignore(weir_flow_operator(flow, &ops, NULL));
	slow_begin(flow, &run);
	for (i = 0; i < 100; i++) {
		before = slow.n_items;
		slow_step();
		assert_true(slow.n_items - before <= 4);
	}
	assert_true(slow.n_items >= 50);
	slow_end(run, flow);
}

static int slow_pull(struct weir_operator *op)
{
	slow.now_ns += 10 * MS;
	return weir_operator_push(op, (void *)7);
}

static int64_t n_pushed;

static int count_pushed(void *item, void *context)
{
	n_pushed++;
	return 0;
}

/* Where it is asked for one item at a time. */
static void one_that_always_pushes_takes_as_much_as_it_gives(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = begin_at_once,
		.on_pull = slow_pull,
		.on_push = slow_push,
		.ahead = true,
	};
	struct weir_flow *flow = weir_flow_range(0, INT64_MAX);
	struct weir_flow_run *run;
	int i;

	n_pushed = 0;
	flow = weir_flow_operator(flow, &ops, NULL);
	flow = weir_flow_for_each(flow, count_pushed, NULL);
	slow_begin(flow, &run);
	for (i = 0; i < 400; i++)
		slow_step();
	assert_true(n_pushed >= 50);
	assert_true((int64_t)slow.n_items >= n_pushed / 2);
	slow_end(run, flow);
}

static int wake_again(struct weir_operator *op)
{
	weir_operator_wake(op);
	return 0;
}

static int push_seven(struct weir_operator *op)
{
	return weir_operator_push(op, (void *)7);
}

/* Where there is no room in what it stands above. */
static void one_that_always_wakes_itself_lets_others_do_something(void **state)
{
	static const struct weir_operator_ops plain = {.open = wake_again,
						       .on_pull = push_seven,
						       .on_wake = wake_again};
	struct weir_operator_ops ahead = plain;
	static struct flow_world world;
	struct weir_flow *flow;
	int i, which;

	ahead.ahead = true;
	for (which = 0; which < 2; which++) {
		flow = weir_flow_operator_source(which ? &ahead : &plain, NULL);
		flow_world_init(&world, NULL);
		weir_flow_free(world.flow);
		world.flow =
			weir_flow_buffer(flow, 2, WEIR_OVERFLOW_BACK_PRESSURE);
		world_start(&world, 0);
		for (i = 0; i < 100; i++)
			assert_true(weir_sim_step(world.base.sim));
		weir_flow_run_stop(world.run, NULL);
		flow_world_end(&world, -ECANCELED);
	}
}

/* --- Time ----------------------------------------------------------------- */

struct calls {
	int timers, wakes;
	struct weir_operator *op;
};

static int note_timer(struct weir_operator *op)
{
	struct calls *calls = weir_operator_context(op);

	calls->timers++;
	weir_operator_timer_at(op, weir_operator_now(op) + 10 * MS);
	return 0;
}

static int note_wake(struct weir_operator *op)
{
	struct calls *calls = weir_operator_context(op);

	calls->wakes++;
	return 0;
}

static int note_open(struct weir_operator *op)
{
	struct calls *calls = weir_operator_context(op);

	calls->op = op;
	return note_timer(op);
}

static void a_time_and_a_wake_do_not_wait_for_downstream(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = note_open,
		.on_timer = note_timer,
		.on_wake = note_wake,
		.ahead = true,
	};
	static struct flow_world world;
	struct calls calls = {0};

	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	world.flow = weir_flow_operator_source(&ops, &calls);
	world_start(&world, 0);
	assert_true(weir_sim_run_until(world.base.sim, 35 * MS, 1000) < 1000);
	assert_int_equal(calls.timers, 4);
	weir_operator_wake(calls.op);
	assert_true(weir_sim_run_until(world.base.sim, 36 * MS, 1000) < 1000);
	assert_int_equal(calls.wakes, 1);
	weir_flow_run_end(world.run);
	flow_world_end(&world, 0);
}

/* --- What is known without a pull ----------------------------------------- */

struct known {
	struct weir_operator *op;
	bool available, ended;
};

static int known_open(struct weir_operator *op)
{
	struct known *known = weir_operator_context(op);

	known->op = op;
	assert_false(weir_operator_available(op, 0));
	assert_false(weir_operator_ended(op, 0));
	return 0;
}

static int asks_for_nothing(struct weir_operator *op)
{
	return 0;
}

static int known_wake(struct weir_operator *op)
{
	struct known *known = weir_operator_context(op);

	known->available = weir_operator_available(op, 0);
	known->ended = weir_operator_ended(op, 0);
	assert_false(weir_operator_available(op, 1));
	assert_true(weir_operator_ended(op, 1));
	return 0;
}

static int known_end(struct weir_operator *op, struct weir_error *error)
{
	assert_true(weir_operator_ended(op, 0));
	assert_false(weir_operator_available(op, 0));
	return weir_operator_end(op, error);
}

static int pulls_in_open(struct weir_operator *op)
{
	(void)known_open(op);
	return weir_operator_pull(op);
}

static int last_has_come(struct weir_operator *op, void *item)
{
	struct known *known = weir_operator_context(op);

	known->ended = weir_operator_ended(op, 0);
	weir_operator_drop(op, item);
	return weir_operator_pull(op);
}

static const struct weir_operator_ops knowing = {
	.open = known_open,
	.on_pull = asks_for_nothing,
	.on_wake = known_wake,
	.on_end = known_end,
};

static void wake_known(struct flow_world *world, const struct known *known)
{
	weir_operator_wake(known->op);
	until(world, world_now(&world->base));
}

static struct weir_flow *behind_async(struct weir_flow *flow)
{
	return weir_flow_async(flow, 2, NULL);
}

static struct weir_flow *behind_buffer(struct weir_flow *flow)
{
	return weir_flow_buffer(flow, 2, WEIR_OVERFLOW_BACK_PRESSURE);
}

static struct weir_flow *behind_outlet(struct weir_flow *flow)
{
	struct weir_flow *outlet = NULL;

	assert_int_equal(weir_flow_broadcast(flow, 1, &outlet, NULL), 0);
	return outlet;
}

static struct weir_flow *fused(struct weir_flow *flow)
{
	return flow;
}

static void an_item_in_a_link_is_known_and_one_to_be_made_is_not(void **state)
{
	static struct weir_flow *(*const behind[])(struct weir_flow * flow) = {
		fused, behind_async, behind_buffer, behind_outlet};
	static struct flow_world world;
	struct known known;
	size_t i;

	for (i = 0; i < 4; i++) {
		known = (struct known){0};
		flow_world_init(&world, NULL);
		world.flow = own(behind[i](world.flow), &knowing, &known);
		world_start(&world, OPEN);
		until(&world, 1 * MS);
		wake_known(&world, &known);
		assert_false(known.available || known.ended);
		flow_offer(&world, 1, 1);
		until(&world, 2 * MS);
		wake_known(&world, &known);
		assert_int_equal(known.available, i > 0);
		assert_false(known.ended);
		weir_flow_run_stop(world.run, NULL);
		flow_world_end(&world, -ECANCELED);
	}
}

/* A range that is fused ends with its last item; over a link the end comes behind
 * that. */
static void an_end_is_known_with_the_last_item_if_it_has_come(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = pulls_in_open,
		.on_push = last_has_come,
		.on_end = known_end,
	};
	struct known known = {0};
	struct weir_flow *flow;

	flow = weir_flow_operator(weir_flow_range(1, 3), &ops, &known);
	assert_flow(flow, false, NULL, 0, 0);
	flow = weir_flow_operator(weir_flow_range(1, 3), &ops, &known);
	flow = weir_flow_ignore(flow);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_true(known.ended);
	weir_flow_free(flow);
}

/* --- What is not right ---------------------------------------------------- */

static struct weir_flow *nested(void *item, void *context)
{
	return own(weir_flow_range(1, 2), &newest, NULL);
}

static void it_needs_a_function_for_items_and_an_actor(void **state)
{
	static const struct weir_operator_ops ops = {.ahead = true};
	struct weir_flow *flow =
		weir_flow_operator(weir_flow_range(1, 3), &ops, NULL);

	assert_refused_all(&flow, 1);
	flow = weir_flow_flat_map(weir_flow_range(1, 3), 1, nested, NULL);
	ASSERT_FLOW(flow, -ENOTSUP);
}

/* --- Memory --------------------------------------------------------------- */

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, 9));

	flow = own(weir_flow_async(own(flow, &newest, NULL), 2, NULL), &newest,
		   NULL);
	flow = into(weir_flow_ignore(flow), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_keeps_the_newest_while_nothing_is_wanted),
		cmocka_unit_test(it_is_told_of_the_end_while_nothing_is_wanted),
		cmocka_unit_test(a_cancel_drops_what_it_keeps),
		cmocka_unit_test(it_gets_no_more_than_it_asks_for),
		cmocka_unit_test(one_that_drops_all_lets_others_do_something),
		cmocka_unit_test(one_that_is_slow_takes_few_at_once),
		cmocka_unit_test(
			one_that_always_pushes_takes_as_much_as_it_gives),
		cmocka_unit_test(
			one_that_always_wakes_itself_lets_others_do_something),
		cmocka_unit_test(a_time_and_a_wake_do_not_wait_for_downstream),
		cmocka_unit_test(
			an_item_in_a_link_is_known_and_one_to_be_made_is_not),
		cmocka_unit_test(
			an_end_is_known_with_the_last_item_if_it_has_come),
		cmocka_unit_test(it_needs_a_function_for_items_and_an_actor),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
