/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops and simulators that are run inside a turn: where turns may block they
 * run, with their actors; in any other turn all calls that would run them, or
 * wait, say so at once.
 */
#include <errno.h>

#include "executor/places.h"

#define ITEMS 1000
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* An actor whose handler does something, and ends. */
struct job {
	struct weir_actor actor;
	void (*does)(struct job *self);
	const struct kind *inner;
	struct weir_latch over;
	int rc, free_rc, inner_rc;
	uint64_t slices;
	uint32_t items;
	bool finished;
};

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int job_signalled(struct weir_actor *actor)
{
	struct job *self = weir_container_of(actor, struct job, actor);

	self->does(self);
	/* still the owner */
	self->finished = weir_actor_end(actor) == 0;
	return 0;
}

static void job_released(struct weir_actor *actor)
{
	struct job *self = weir_container_of(actor, struct job, actor);

	(void)weir_latch_count_down(&self->over, 1);
}

static const struct weir_actor_ops job_ops = {
	.turns = no_turns,
	.signalled = job_signalled,
	.released = job_released,
};

static void job_run(struct job *self, const struct kind *outer)
{
	struct place place;

	place_make(&place, outer);
	assert_int_equal(weir_latch_init(&self->over, 1), 0);
	assert_int_equal(
		weir_actor_init(&self->actor, &job_ops, place.executor), 0);
	weir_actor_signal(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	place.kind->drive(&place);
	assert_int_equal(
		weir_completion_wait(&self->over.completion, WEIR_FOREVER), 0);
	assert_int_equal(weir_latch_fini(&self->over), 0);
	assert_int_equal(place.kind->free(&place), 0);
	assert_true(self->finished);
}

static int count(void *item, void *context)
{
	((struct job *)context)->items++;
	return 0;
}

static struct weir_flow *counts(struct job *self)
{
	return weir_flow_for_each(weir_flow_range(1, ITEMS), count, self);
}

/* --- Where turns may block ------------------------------------------------ */

static void run_a_flow(struct job *self)
{
	struct weir_flow *flow = counts(self);
	struct place place;

	place_make(&place, self->inner);
	self->rc = weir_flow_run(flow, place.executor, NULL);
	weir_flow_free(flow);
	self->free_rc = place.kind->free(&place);
}

static void drive_a_flow(struct job *self)
{
	struct weir_flow *flow = counts(self);
	struct place place;

	place_make(&place, self->inner);
	self->rc = weir_flow_start(flow, place.executor, NULL, NULL);
	while (self->rc == 0 && weir_executor_alive(place.executor))
		place.kind->drive(&place);
	weir_flow_free(flow);
	self->free_rc = place.kind->free(&place);
}

static const struct kind *const own[] = {&loop, &sim};

static void a_turn_that_may_block_runs_loops_and_simulators(void **state)
{
	static void (*const ways[])(struct job * self) = {run_a_flow,
							  drive_a_flow};
	size_t i, j;

	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(ways); j++) {
			struct job job = {.does = ways[j], .inner = own[i]};

			job_run(&job, &blocking);
			assert_int_equal(job.rc, 0);
			assert_int_equal(job.items, ITEMS);
			assert_int_equal(job.free_rc, 0);
		}
	}
}

/* A turn of those may not wait, though the one around it may. */
static int wait_in_vain(void *item, void *context)
{
	struct job *self = context;
	struct weir_latch never;

	self->items++;
	assert_int_equal(weir_latch_init(&never, 1), 0);
	self->inner_rc = weir_completion_wait(&never.completion, WEIR_FOREVER);
	assert_int_equal(weir_latch_fini(&never), 0);
	return 0;
}

static void run_a_flow_that_waits(struct job *self)
{
	struct weir_flow *flow =
		weir_flow_for_each(weir_flow_range(1, 1), wait_in_vain, self);
	struct place place;

	place_make(&place, self->inner);
	self->rc = weir_flow_run(flow, place.executor, NULL);
	weir_flow_free(flow);
	self->free_rc = place.kind->free(&place);
}

static void turns_of_an_inner_loop_may_not_wait(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(own); i++) {
		struct job job = {.does = run_a_flow_that_waits,
				  .inner = own[i]};

		job_run(&job, &blocking);
		assert_int_equal(job.rc, 0);
		assert_int_equal(job.items, 1);
		assert_int_equal(job.inner_rc, -EDEADLK);
		assert_int_equal(job.free_rc, 0);
	}
}

/* What the turn has put off for an executor that runs at once stays so. */
struct put_off {
	struct job job;
	struct place at_once;
	struct weir_actor actor;
	uint32_t slices;
	bool before;
};

static int late_signalled(struct weir_actor *actor)
{
	weir_container_of(actor, struct put_off, actor)->slices++;
	return weir_actor_end(actor);
}

static const struct weir_actor_ops late_ops = {
	.turns = no_turns,
	.signalled = late_signalled,
};

static void put_off_and_run(struct job *job)
{
	struct put_off *self = weir_container_of(job, struct put_off, job);

	weir_actor_signal(&self->actor);
	run_a_flow(job);
	self->before = self->slices > 0;
}

static void what_a_turn_has_put_off_runs_behind_it(void **state)
{
	struct put_off self = {
		.job = {.does = put_off_and_run, .inner = &loop}};

	place_make(&self.at_once, &direct);
	self.at_once.direct.at_once = true;
	assert_int_equal(weir_actor_init(&self.actor, &late_ops,
					 self.at_once.executor),
			 0);
	assert_int_equal(weir_actor_start(&self.actor), 0);
	job_run(&self.job, &blocking);
	assert_int_equal(self.job.items, ITEMS);
	assert_false(self.before);
	assert_int_equal(self.slices, 1);
	assert_int_equal(self.at_once.kind->free(&self.at_once), 0);
}

/* --- Where they may not --------------------------------------------------- */

static void try_loop(struct job *self)
{
	struct weir_loop *made;

	assert_int_equal(weir_loop_new(&made, NULL), 0);
	self->rc = weir_loop_run(made, 1);
	self->inner_rc = weir_loop_wait(made, 1, WEIR_FOREVER);
	self->free_rc = weir_loop_free(made);
}

static void try_flow(struct job *self)
{
	self->inner_rc = -EDEADLK;
	run_a_flow(self);
}

static void try_sim(struct job *self)
{
	struct weir_latch never;
	struct weir_sim *made;

	assert_int_equal(weir_sim_new(&made, 1, NULL), 0);
	assert_int_equal(weir_latch_init(&never, 1), 0);
	self->slices = weir_sim_run(made) + weir_sim_step(made) +
		       weir_sim_run_until(made, 5, UINT64_MAX);
	self->slices += weir_executor_now(weir_sim_executor(made));
	self->rc = weir_completion_wait(&never.completion, 1);
	self->inner_rc = weir_completion_wait(&never.completion, WEIR_FOREVER);
	assert_int_equal(weir_latch_fini(&never), 0);
	self->free_rc = weir_sim_free(made);
}

static void any_other_turn_is_refused_at_once(void **state)
{
	static const struct kind *const outer[] = {&threads, &loop, &sim,
						   &direct};
	static void (*const ways[])(struct job * self) = {try_loop, try_flow,
							  try_sim};
	size_t i, j, k;

	for (i = 0; i < LENGTH(outer); i++) {
		for (j = 0; j < LENGTH(ways); j++) {
			for (k = 0; k < LENGTH(own); k++) {
				struct job job = {.does = ways[j],
						  .inner = own[k]};

				job_run(&job, outer[i]);
				assert_int_equal(job.rc, -EDEADLK);
				assert_int_equal(job.inner_rc, -EDEADLK);
				assert_int_equal(job.free_rc, 0);
				assert_int_equal(job.items, 0);
				assert_int_equal(job.slices, 0);
			}
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_turn_that_may_block_runs_loops_and_simulators),
		cmocka_unit_test(turns_of_an_inner_loop_may_not_wait),
		cmocka_unit_test(what_a_turn_has_put_off_runs_behind_it),
		cmocka_unit_test(any_other_turn_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
