/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shares: the last subscriber leaves as another one comes, or two come at once.
 * Whoever is there then takes part in a run that goes on. Slices run where they
 * are submitted: so each thread does all of what it begins.
 */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

#include <weir/flow_hub.h>

struct sharing {
	struct crossing crossing; /* first; its run is the first subscriber's */
	struct weir_flow_share *share;
	struct weir_flow *flow; /* the second's */
	struct weir_flow_run *run;
	uint32_t over; /* atomic */
	bool has_left; /* the first has */
};

static struct sharing sharing;

static struct weir_flow *subscriber(struct sharing *self)
{
	return weir_flow_ignore(weir_flow_from_share(self->share));
}

static struct sharing *sharing_open(void *context)
{
	struct sharing *self = context;
	struct crossing *c = crossing_open(context);

	c->scene.at_once = true;
	explorer_assert(weir_flow_share_new(&self->share, weir_flow_never(),
					    &c->scene.executor, NULL) == 0);
	return self;
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
	cancel(c);
	weir_flow_run_stop(self->run, NULL);
	explorer_assert(self->over);
	weir_flow_run_free(self->run);
	weir_flow_free(self->flow);
	weir_flow_share_free(self->share);
	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED);
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
};

const struct scene_group shares = SCENE_GROUP(scenarios);
