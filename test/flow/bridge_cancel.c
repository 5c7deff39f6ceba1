/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs that are cancelled while nobody takes what they have put. */
#include "flow/kit.h"

#include "actor/kit.h"

#include <weir/reactive.h>

static struct weir_sim *sim;
static struct weir_executor *executor;

/* An actor that takes an item from `in` for each that is put into `gate`. */
struct gated {
	struct weir_actor actor;
	struct weir_in gate, in;
	struct weir_reactive_in reactive;
	struct weir_semaphore acks;
	struct weir_channel *channel;
	size_t n; /* it has taken */
	int n_ends, code;
};

static struct gated actors[2];

static int take_one(struct weir_actor *actor)
{
	struct gated *self = weir_container_of(actor, struct gated, actor);

	(void)weir_in_take(&self->gate);
	if (self->n_ends)
		return 0;
	item_drop(weir_in_take(&self->in), NULL);
	self->n++;
	return 0;
}
WEIR_TURN(take_one)

static int ended(struct weir_actor *actor, struct weir_in *in,
		 struct weir_error *error)
{
	struct gated *self = weir_container_of(actor, struct gated, actor);

	assert_ptr_equal(in, &self->in);
	self->n_ends++;
	self->code = error ? error->code : 0;
	return 0;
}

static const struct weir_actor_ops gated_ops = {
	.turns = take_one_n,
	.ended = ended,
};

static void gated_init(struct gated *self)
{
	memset(self, 0, sizeof(*self));
	assert_int_equal(weir_actor_init(&self->actor, &gated_ops, executor),
			 0);
	assert_int_equal(weir_in_init(&self->gate, &self->actor, 16, NULL), 0);
	assert_int_equal(
		weir_in_init(&self->in, &self->actor, 4, &counted_items), 0);
	assert_int_equal(weir_semaphore_init(&self->acks, 100), 0);
	weir_actor_ref(&self->actor);
}

/* Goes on: `n` items, if so many are there. */
static void let_take(struct gated *self, size_t n)
{
	for (; n > 0; n--)
		assert_int_equal(weir_in_put(&self->gate, NULL), 0);
	weir_sim_run(sim);
}

static void gated_fini(struct gated *self)
{
	weir_actor_stop(&self->actor);
	weir_actor_unref(&self->actor);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&self->acks), 0);
	assert_int_equal(weir_channel_free(self->channel), 0);
}

static int set_up(void **state)
{
	n_live = 0;
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	return 0;
}

static int tear_down(void **state)
{
	sim_free(sim);
	assert_int_equal(n_live, 0);
	return 0;
}

/* --- What it is joined to ------------------------------------------------- */

static struct weir_flow *to_port(struct weir_flow *flow, struct gated *gated)
{
	return weir_flow_into_in(flow, &gated->in);
}

static struct weir_flow *to_merging_port(struct weir_flow *flow,
					 struct gated *gated)
{
	assert_int_equal(weir_in_merge(&gated->in, WEIR_MERGE_ALL), 0);
	return weir_flow_into_in(flow, &gated->in);
}

static struct weir_flow *to_acks(struct weir_flow *flow, struct gated *gated)
{
	return weir_flow_to_actor(flow, &gated->in, &gated->acks, NULL);
}

static struct weir_flow *to_subscriber(struct weir_flow *flow,
				       struct gated *gated)
{
	assert_int_equal(
		weir_reactive_in_init(&gated->reactive, &gated->in, NULL), 0);
	return weir_flow_into(flow, &gated->reactive.subscriber);
}

static struct weir_flow *to_channel(struct weir_flow *flow, struct gated *gated)
{
	assert_int_equal(
		weir_channel_new(&gated->channel, 2, &counted_items, NULL), 0);
	return weir_flow_into_channel(flow, gated->channel);
}

static struct weir_flow *(*const joins[])(struct weir_flow *flow,
					  struct gated *gated) = {
	to_port, to_merging_port, to_acks, to_subscriber, to_channel,
};

#define N_JOINS (sizeof(joins) / sizeof(*joins))
#define N_PORTS (N_JOINS - 1)

/* --- Their runs ----------------------------------------------------------- */

static struct weir_flow_run *begin(struct weir_flow *flow)
{
	struct weir_flow_run *run;

	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	return run;
}

static bool is_over(struct weir_flow_run *run)
{
	return weir_completion_done(weir_flow_run_over(run));
}

static void finish(struct weir_flow_run *run, struct weir_flow *flow, int code)
{
	struct weir_error *error;

	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
}

static struct weir_flow *numbers(intptr_t n)
{
	return counted(weir_flow_range(1, n));
}

static bool cancel_at(size_t join, size_t step)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	bool more = true;
	size_t i;

	gated_init(&actors[0]);
	flow = joins[join](numbers(1000), &actors[0]);
	run = begin(flow);
	assert_int_equal(weir_actor_start(&actors[0].actor), 0);
	for (i = 0; i < step && more; i++)
		more = weir_sim_step(sim);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	finish(run, flow, -ECANCELED);
	gated_fini(&actors[0]);
	return more;
}

static void a_cancelled_run_waits_for_nobody_who_takes(void **state)
{
	size_t i, step;

	for (i = 0; i < N_JOINS; i++)
		for (step = 0; cancel_at(i, step); step++)
			;
}

static void what_is_in_the_port_by_then_is_the_actors(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < N_PORTS; i++) {
		gated_init(&actors[0]);
		flow = joins[i](numbers(1000), &actors[0]);
		run = begin(flow);
		assert_int_equal(weir_actor_start(&actors[0].actor), 0);
		weir_sim_run(sim);
		weir_flow_run_stop(run, NULL);
		weir_sim_run(sim);
		finish(run, flow, -ECANCELED);
		assert_int_equal(actors[0].n_ends, 0);
		let_take(&actors[0], 9);
		assert_int_equal(actors[0].n, 4);
		assert_int_equal(actors[0].n_ends, 1);
		assert_int_equal(actors[0].code, -ECANCELED);
		gated_fini(&actors[0]);
	}
}

/* The flow has ended, and its run waits until that is taken. */
static void a_cancel_ends_that_wait_too(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < N_PORTS; i++) {
		if (joins[i] == to_acks)
			continue;
		gated_init(&actors[0]);
		flow = joins[i](numbers(2), &actors[0]);
		run = begin(flow);
		assert_int_equal(weir_actor_start(&actors[0].actor), 0);
		weir_sim_run(sim);
		assert_false(is_over(run));
		weir_flow_run_stop(run, NULL);
		weir_sim_run(sim);
		finish(run, flow, -ECANCELED);
		let_take(&actors[0], 9);
		assert_int_equal(actors[0].n, 2);
		assert_int_equal(actors[0].n_ends, 1);
		assert_int_equal(actors[0].code, 0);
		gated_fini(&actors[0]);
	}
}

static int fails_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

/* Each branch waits for its actor to take what comes before the error. */
static void a_cancel_ends_flows_that_await_the_error_of_a_fan(void **state)
{
	struct weir_flow *outlets[2], *flow;
	struct weir_flow_run *run;
	size_t i;

	flow = counted(weir_flow_map(weir_flow_range(1, 9), fails_on_3, NULL));
	assert_int_equal(weir_flow_broadcast(flow, 2, outlets, NULL), 0);
	for (i = 0; i < 2; i++) {
		gated_init(&actors[i]);
		outlets[i] = to_port(outlets[i], &actors[i]);
	}
	flow = weir_flow_all(outlets, 2);
	run = begin(flow);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_actor_start(&actors[i].actor), 0);
	weir_sim_run(sim);
	assert_false(is_over(run));
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	assert_true(is_over(run));
	finish(run, flow, -EDOM);
	for (i = 0; i < 2; i++) {
		let_take(&actors[i], 9);
		assert_int_equal(actors[i].n, 2);
		assert_int_equal(actors[i].n_ends, 1);
		gated_fini(&actors[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cancelled_run_waits_for_nobody_who_takes),
		TEST(what_is_in_the_port_by_then_is_the_actors),
		TEST(a_cancel_ends_that_wait_too),
		TEST(a_cancel_ends_flows_that_await_the_error_of_a_fan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
