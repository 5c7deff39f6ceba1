/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_run.h"

#define STEPS_MAX 300000 /* of the simulator, in a run */

/* --- What is expected ----------------------------------------------------- */

static bool begins_with(const struct stream *stream, const struct got *got)
{
	return got->n <= stream->n &&
	       memcmp(stream->values, got->values,
		      got->n * sizeof(*got->values)) == 0;
}

static bool is_expected(const struct stream *stream, const struct trial *trial)
{
	return trial->code == stream->code && trial->world.got.n == stream->n &&
	       begins_with(stream, &trial->world.got);
}

/* It is what becomes of some of what step `at` puts out. */
static bool was_cut(const struct trial *trial, size_t at)
{
	static struct stream stream;
	struct plan above = *trial->plan;
	size_t n, i;

	above.n = at + 1;
	plan_expect(&above, &stream);
	n = stream.n;
	if (stream.loose)
		return true;
	for (i = 0; i <= n + 1; i++) {
		plan_expect_cut(trial->plan, at, i, &stream);
		if (stream.loose || is_expected(&stream, trial))
			return true;
	}
	return false;
}

static bool mends(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].row->mends || plan->steps[i].delays)
			return true;
	return false;
}

bool ran_short(const struct trial *trial)
{
	return trial->fail &&
	       trial->world.base.heap.calls >= trial->world.base.heap.fail;
}

static bool has_gone_well(const struct trial *trial)
{
	static struct stream stream;

	plan_expect(trial->plan, &stream);
	if (stream.loose || is_expected(&stream, trial))
		return true;
	if (ran_short(trial))
		return mends(trial->plan) ||
		       (trial->code == -ENOMEM &&
			begins_with(&stream, &trial->world.got));
	switch (trial->disturbed) {
	case CANCEL:
		return trial->code == -ECANCELED &&
		       begins_with(&stream, &trial->world.got);
	case DRAIN:
		return was_cut(trial, 0);
	case THROW:
		return was_cut(trial, find_switch(trial->plan));
	default:
		return false;
	}
}

/* --- Running a plan ------------------------------------------------------- */

static enum weir_directive decide(struct weir_error *error, void *context)
{
	const struct step *step = context;

	assert_int_equal(error->code, -EDOM);
	return step->directive;
}

struct weir_flow *plan_compose(struct plan *plan)
{
	struct weir_flow *flow = NULL;
	struct step *step;
	size_t i;

	for (i = 0; i < plan->n; i++) {
		step = &plan->steps[i];
		step->queue = NULL;
		step->swtch = NULL;
		step->publisher = NULL;
		step->fed = 0;
		step->opened = step->started = step->ends = step->ended = 0;
		flow = step->row->make(flow, step);
		if (step->supervises)
			flow = weir_flow_supervise(flow, decide, step);
		if (step->async)
			flow = weir_flow_async(flow, step->async, NULL);
	}
	return flow;
}

static uint64_t draw(struct trial *trial, uint64_t bound)
{
	return draw_from(&trial->random, bound);
}

static bool open_gate(struct trial *trial)
{
	struct flow_world *world = &trial->world;

	if (!world->gate || world->open > 0)
		return false;
	world->open = 1 + draw(trial, 5);
	weir__op_wake(world->gate);
	return true;
}

/* Somebody gives or takes something. False: all that can be has been. */
static bool push(struct trial *trial)
{
	struct step *source = &trial->plan->steps[0];

	if (draw(trial, 2))
		return step_feed(source, draw(trial, 6)) || open_gate(trial);
	return open_gate(trial) || step_feed(source, draw(trial, 6));
}

static void disturb(struct trial *trial)
{
	const struct plan *plan = trial->plan;

	trial->disturbed = plan->disturbance;
	if (plan->disturbance == CANCEL)
		weir_flow_run_stop(trial->world.run, NULL);
	else if (plan->disturbance == DRAIN)
		weir_flow_run_end(trial->world.run);
	else if (find_switch(plan) != SIZE_MAX)
		(void)weir_flow_switch_end(
			plan->steps[find_switch(plan)].swtch);
}

static bool is_restless(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].row->restless)
			return true;
	return false;
}

/* NULL, or what went wrong. */
static const char *run_to_its_end(struct trial *trial, bool disturbed)
{
	struct weir_completion *over = weir_flow_run_over(trial->world.run);
	const struct plan *plan = trial->plan;
	bool patient = plan->patient && !is_restless(plan);
	uint64_t steps;

	for (steps = 0; !weir_completion_done(over); steps++) {
		if (steps == STEPS_MAX)
			return "it does not come to rest";
		if (disturbed && steps == plan->after)
			disturb(trial);
		if (!patient && draw(trial, 8) == 0)
			(void)push(trial);
		if (!weir_sim_step(trial->world.base.sim) && !push(trial) &&
		    (!disturbed || steps >= plan->after))
			return "it waits for ever";
	}
	return NULL;
}

static const char *finish(struct trial *trial)
{
	struct flow_world *world = &trial->world;
	struct weir_error *error = NULL;
	size_t i;

	if (world->run) {
		if (weir_flow_run_wait(world->run, 0, NULL, &error) != 0)
			return "it is not over";
		trial->code = error ? error->code : 0;
		weir_error_unref(error);
		weir_flow_run_free(world->run);
	}
	/* runs of publishers may borrow what is freed now */
	weir_sim_run(world->base.sim);
	weir_flow_free(world->flow);
	weir_flow_queue_free(trial->plan->steps[0].queue);
	for (i = 0; i < trial->plan->n; i++) {
		weir_flow_switch_free(trial->plan->steps[i].swtch);
		weir_flow_publisher_free(trial->plan->steps[i].publisher);
	}
	weir_sim_run(world->base.sim);
	ledger_fini(&world->base.ledger);
	if (weir_sim_free(world->base.sim) != 0)
		return "an actor is left";
	if (trial->world.base.heap.live > 0)
		return "memory is left";
	if (n_live != 0)
		return "items are left";
	for (i = 0; i < trial->plan->n; i++)
		if (trial->plan->steps[i].started !=
		    trial->plan->steps[i].ended)
			return "a hook was not told of the end";
	return has_gone_well(trial) ? NULL : "something else came out";
}

/* What is made while nothing comes has no end: all but the first are let go. No
 * expected stream is as long. */
static int out_of_trial(void *item, void *context)
{
	struct got *got = &((struct flow_world *)context)->got;

	if (got->n < OUT_MAX)
		return out_of_world(item, context);
	if (got->counted)
		item_drop(item, NULL);
	return 0;
}

const char *run_once(struct trial *trial, uint64_t seed, size_t unfused,
		     bool disturbed)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	struct flow_world *world = &trial->world;
	const char *wrong;

	trial->random = seed;
	trial->disturbed = NOTHING;
	world->got.n = 0;
	world->got.counted = trial->plan->steps[trial->plan->n - 1].puts_items;
	world->open = trial->plan->gated ? 0 : OPEN;
	world->gate = NULL;
	world_init(&world->base, seed, 0);
	composed_for = world->base.executor;
	world->flow = plan_compose(trial->plan);
	world->flow = weir__flow_upon(&gate_kind, world->flow, &world,
				      sizeof(world), true);
	world->flow = weir_flow_for_each(world->flow, out_of_trial, world);
	if (trial->fail)
		trial->world.base.heap.fail = trial->world.base.heap.calls +
					      trial->fail;
	trial->code = weir_flow_start(world->flow, world->base.executor,
				      &options, &world->run);
	wrong = trial->code == 0 ? run_to_its_end(trial, disturbed) : NULL;
	return wrong ? wrong : finish(trial);
}
