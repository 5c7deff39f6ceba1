/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shares: the last subscriber leaves as another one comes, or two come at once;
 * or the time is over for a run that lingers. Whoever is there then takes part
 * in a run that goes on. Slices run where they are submitted: so each thread
 * does all of what it begins.
 */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

#include <weir/flow_hub.h>
#include <weir/flow_switch.h>

#define LINGER 1

struct sharing {
	struct crossing crossing; /* first; its run is the first subscriber's */
	struct weir_flow_share *share;
	struct weir_flow_switch *swtch;
	struct weir_flow *flow; /* the second's */
	struct weir_flow_run *run;
	uint32_t over;	      /* atomic */
	uint32_t n_runs_over; /* atomic: of the share */
	uint32_t most_over;   /* of these, before all leave */
	bool has_left;	      /* the first has */
};

static struct sharing sharing;

static struct weir_flow *subscriber(struct sharing *self)
{
	return weir_flow_ignore(weir_flow_from_share(self->share));
}

static void run_is_over(struct weir_error *error, void *result, void *context)
{
	struct sharing *self = context;

	ck_pr_inc_32(&self->n_runs_over);
}

/* `n` subscribers connect it. */
static struct sharing *sharing_open_for(void *context, size_t n,
					uint64_t linger_ns)
{
	struct sharing *self = context;
	struct crossing *c = crossing_open(context);
	const struct weir_flow_share_options options = {
		.hub.connect_after = n,
		.run = {.done = run_is_over, .context = self},
		.linger_ns = linger_ns,
	};

	c->scene.at_once = true;
	/* the second finds the run of the first, or is there for the first */
	self->most_over = linger_ns == 0;
	explorer_assert(weir_flow_share_new(&self->share, weir_flow_never(),
					    &c->scene.executor, &options) == 0);
	return self;
}

static struct sharing *sharing_open(void *context)
{
	return sharing_open_for(context, 1, 0);
}

static void is_over(struct weir_error *error, void *result, void *context)
{
	struct sharing *self = context;

	ck_pr_store_32(&self->over, 1);
}

static void none_is_there(void *context)
{
	sharing_open(context);
}

static void first_comes(void *context)
{
	struct sharing *self = context;

	crossing_start(&self->crossing, subscriber(self));
}

static void one_is_there(void *context)
{
	first_comes(sharing_open(context));
}

static void one_of_two_is_there(void *context)
{
	first_comes(sharing_open_for(context, 2, 0));
}

static void one_is_there_of_one_that_lingers(void *context)
{
	first_comes(sharing_open_for(context, 1, LINGER));
}

static void none_is_there_of_one_that_lingers(void *context)
{
	struct sharing *self = sharing_open_for(context, 1, LINGER);

	explorer_assert(weir_flow_switch_new(&self->swtch) == 0);
}

static void one_comes_with_a_switch(void *context)
{
	struct sharing *self = context;
	struct weir_flow *flow = weir_flow_from_share(self->share);

	flow = weir_flow_kill_switch(flow, self->swtch);
	crossing_start(&self->crossing, weir_flow_ignore(flow));
}

static void throw_it(void *context)
{
	struct sharing *self = context;

	explorer_assert(weir_flow_switch_end(self->swtch) == 0);
}

static void first_leaves(void *context)
{
	struct sharing *self = context;

	self->has_left = true;
	cancel(context);
}

static void first_looks_in(void *context)
{
	first_comes(context);
	first_leaves(context);
}

static void it_lingers(void *context)
{
	one_is_there_of_one_that_lingers(context);
	first_leaves(context);
	((struct sharing *)context)->most_over = 1;
}

static void time_passes(void *context)
{
	struct scene *s = context;

	scene_pass_time(s, s->now + LINGER);
}

static void second_comes(void *context)
{
	struct sharing *self = context;
	const struct weir_flow_run_options options = {.done = is_over,
						      .context = self};

	self->flow = subscriber(self);
	explorer_assert(weir_flow_start(self->flow,
					&self->crossing.scene.executor,
					&options, &self->run) == 0);
}

/* Nobody is over who has not left; and then all of it ends. */
static void share_goes_on(void *context)
{
	struct sharing *self = context;
	struct crossing *c = &self->crossing;

	explorer_assert(!self->over);
	explorer_assert(c->over == self->has_left);
	explorer_assert(self->n_runs_over <= self->most_over);
	cancel(c);
	weir_flow_run_stop(self->run, NULL);
	explorer_assert(self->over);
	/* for a timer that was set for less, too */
	time_passes(c);
	time_passes(c);
	weir_flow_run_free(self->run);
	weir_flow_free(self->flow);
	weir_flow_share_free(self->share);
	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED);
}

/* What was begun for one that has left ends too. */
static void nothing_lingers(void *context)
{
	struct sharing *self = context;

	time_passes(context);
	weir_flow_switch_free(self->swtch);
	weir_flow_share_free(self->share);
	crossing_is_over(context);
	explorer_assert(self->crossing.code == 0);
}

#define SHARING(...) \
	{ \
		.context = &sharing, .context_size = sizeof(sharing), \
		.check = share_goes_on, __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SHARING(.name = "one comes as the last one leaves",
		.setup = one_is_there, .thread = {first_leaves, second_comes}),
	SHARING(.name = "two come at once", .setup = none_is_there,
		.thread = {first_comes, second_comes}),
	SHARING(.name = "one comes and leaves as another one comes",
		.setup = none_is_there,
		.thread = {first_looks_in, second_comes}),
	SHARING(.name = "one leaves as the other one connects",
		.setup = one_of_two_is_there,
		.thread = {first_leaves, second_comes}),
	SHARING(.name = "one comes as the last one leaves a run that lingers",
		.setup = one_is_there_of_one_that_lingers,
		.thread = {first_leaves, second_comes}),
	SHARING(.name = "one comes as the time is over", .setup = it_lingers,
		.thread = {time_passes, second_comes}),
	{.name = "the last one leaves as its run begins",
	 .context = &sharing,
	 .context_size = sizeof(sharing),
	 .setup = none_is_there_of_one_that_lingers,
	 .thread = {one_comes_with_a_switch, throw_it},
	 .check = nothing_lingers},
};

const struct scene_group shares = SCENE_GROUP(scenarios);
