/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow that is made again after a while when it has failed: a source, or
 * operators between upstream and downstream. In the second case the made flow
 * gets one item at a time, so that a failure loses no more than the items it
 * has taken. It gets upstream's end behind the last item only, so that a
 * failure on the last item is the same whether the end comes with that item or
 * later.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <weir/flow_error.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/random.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/inner.h"
#include "flow/shared/nest.h"
#include "supervision/backoff.h"
#include "supervision/limit.h"

struct restart {
	struct weir_flow *(*make)(void *context);
	struct weir_flow *(*around)(struct weir_flow *upstream, void *context);
	void *context;
	bool (*restart_on)(struct weir_error *error, void *context);
	bool when_ended;
	bool backs_off, is_limited;
	struct weir_backoff backoff;
	struct weir_limit limit;
	uint64_t seed;
};

struct restarting {
	struct weir__op_timer timer; /* survives a restart: is first */
	struct weir__nest nest;
	struct weir__inner inner; /* of weir_flow_restart_around() */
	bool told;		  /* the made flow knows that upstream has
				   * ended */
	struct weir__restarts *record;
	uint64_t random;
	uint64_t last_ns; /* of the back-off, as `count` */
	uint64_t due_ns;  /* when the next flow is made */
	uint32_t count;
};

static bool is_source(const struct weir__op *op)
{
	return op->n_up == 0;
}

static size_t take_one(struct weir__inner *inner, void **items, size_t room)
{
	struct restarting *self =
		weir_container_of(inner, struct restarting, inner);
	struct weir__op *up = inner->around->up[0];
	size_t n = weir__pull(up, items, room ? 1 : 0);

	/* upstream's end is told once, to the last that is made */
	assert(!self->told);
	if (n == 0 && up->ended) {
		self->told = true;
		weir__op_end(inner->source, up->error);
	}
	return n;
}

static int restart_open(struct weir__op *op)
{
	const struct restart *args = weir__op_args(op);
	struct restarting *self = weir__op_state(op);

	self->inner = (struct weir__inner){.around = op, .pull = take_one};
	self->random = args->seed + weir__op_now(op);
	return 0;
}

static void restart_close(struct weir__op *op)
{
	struct restarting *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
	weir__nest_close(&self->nest);
	weir__restarts_free(self->record, weir__op_allocator(op));
	self->record = NULL;
}

/* 1: another restart is allowed, and is counted; 0: it is not; -ENOMEM. */
static int allowed(struct weir__op *op, struct weir_error *error, uint64_t now)
{
	const struct restart *args = weir__op_args(op);
	struct restarting *self = weir__op_state(op);
	bool wanted = error ? !args->restart_on ||
				      args->restart_on(error, args->context)
			    : args->when_ended;
	int rc = wanted && !self->told &&
		 !(is_source(op) && op->island->draining);

	if (rc == 0 || !args->is_limited)
		return rc;
	rc = weir__limit_ask(&args->limit, &self->record,
			     weir__op_allocator(op), now);
	if (rc == 1)
		weir__limit_count(&args->limit, self->record, now);
	return rc;
}

/* The made flow has ended, with `error` or well. */
static void remake_ended(struct weir__op *op, struct weir_error *error)
{
	const struct restart *args = weir__op_args(op);
	struct restarting *self = weir__op_state(op);
	uint64_t now = weir__op_now(op), delay_ns = 0;
	int rc = allowed(op, error, now);

	if (rc < 0) {
		weir__op_fail_code(op, rc, "could not count a restart");
		return;
	}
	if (rc == 0) {
		weir__op_end(op, error);
		return;
	}
	weir__nest_close(&self->nest);
	if (args->backs_off)
		delay_ns = weir__backoff_next(&args->backoff, &self->count,
					      &self->last_ns, now,
					      weir__splitmix(&self->random));
	self->due_ns = weir__clock_after(now, delay_ns);
	weir__op_again(op);
}

/* It is not time for the restart yet. An end of upstream is seen meanwhile. */
static void wait_for_it(struct weir__op *op)
{
	struct restarting *self = weir__op_state(op);
	int rc;

	if (!is_source(op)) {
		weir__pull_none(op->up[0]);
		if (weir__op_follow(op))
			return;
	}
	rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "could not wait for a restart");
}

static struct weir_flow *make_flow(struct weir__op *op)
{
	const struct restart *args = weir__op_args(op);
	struct restarting *self = weir__op_state(op);

	if (is_source(op))
		return args->make(args->context);
	return args->around(weir__inner_flow(&self->inner), args->context);
}

/* There is no made flow now: makes one if it is time to. */
static void begin(struct weir__op *op)
{
	const struct restart *args = weir__op_args(op);
	struct restarting *self = weir__op_state(op);
	uint64_t now = weir__op_now(op);
	struct weir_error *error;
	bool unfit = false;

	assert(!self->nest.op);
	if (is_source(op) && op->island->draining) {
		weir__op_end(op, NULL);
		return;
	}
	if (now < self->due_ns) {
		wait_for_it(op);
		return;
	}
	if (args->backs_off && self->count > 0)
		weir__backoff_restarted(&args->backoff, &self->last_ns, now);
	error = weir__nest_open(&self->nest, op, make_flow(op), &unfit);
	/* what does not fit will not fit another time */
	if (unfit)
		weir__op_end(op, error);
	else if (error)
		remake_ended(op, error);
	weir_error_unref(error);
}

/*
 * Tells the made flow of upstream's end, if that came with the last item, as
 * the wake of an end that comes later does: the made flow may not ask for more.
 */
static void tell_end(struct weir__op *op)
{
	struct restarting *self = weir__op_state(op);

	if (is_source(op) || !op->up[0]->ended || self->told)
		return;
	op->island->n_wakes++;
	weir__pull_none(self->nest.op);
}

static size_t restart_pull(struct weir__op *op, void **items, size_t room)
{
	struct restarting *self = weir__op_state(op);
	size_t n;

	if (!self->nest.op)
		begin(op);
	if (op->ended || !self->nest.op)
		return 0;
	n = weir__nest_pull(&self->nest, items, room);
	tell_end(op);
	if (self->nest.op->ended)
		remake_ended(op, self->nest.op->error);
	return n;
}

#define RESTART_KIND(kind) \
	static const struct weir__kind kind##_kind = { \
		.name = #kind, \
		.state_size = sizeof(struct restarting), \
		.keeps = sizeof(struct weir__op_timer), \
		.awaits = WEIR_WAIT_TIME, \
		.pull = restart_pull, \
		.open = restart_open, \
		.close = restart_close, \
		.holds = true, \
		.nests = true, \
	}
RESTART_KIND(restart);
RESTART_KIND(restart_around);

/* Says why weir__backoff_valid() is false. */
static const char *wrong_with_backoff(const struct weir_backoff *backoff)
{
	if ((unsigned int)backoff->law > WEIR_BACKOFF_LINEAR)
		return "backoff->law is no law";
	if (backoff->min_ns == 0)
		return "backoff->min_ns is 0";
	if (backoff->max_ns < backoff->min_ns)
		return "backoff->max_ns is below min_ns";
	if (!(backoff->random_factor >= 0 && backoff->random_factor <= 1))
		return "backoff->random_factor is not 0 to 1";
	return "backoff->reset_ns is not min_ns to max_ns";
}

/* NULL: nothing. */
static const char *wrong_with(const struct weir_flow_restart_options *options)
{
	if (!options)
		return NULL;
	if (options->backoff && !weir__backoff_valid(options->backoff))
		return wrong_with_backoff(options->backoff);
	if (options->limit && !weir__limit_valid(options->limit))
		return options->limit->max > WEIR_RESTARTS_MAX
			       ? "limit->max is above WEIR_RESTARTS_MAX"
			       : "limit->window is no window";
	if (!weir__reserved_zero(options->reserved))
		return "options->reserved is not zero";
	return NULL;
}

static void set_options(struct restart *args,
			const struct weir_flow_restart_options *options)
{
	if (!options)
		return;
	args->restart_on = options->restart_on;
	args->when_ended = options->when_ended;
	args->seed = options->seed;
	args->backs_off = options->backoff;
	args->is_limited = options->limit;
	if (args->backs_off)
		args->backoff = *options->backoff;
	if (args->is_limited)
		args->limit = *options->limit;
}

struct weir_flow *weir_flow_restart(
	struct weir_flow *(*make)(void *context), void *context,
	const struct weir_flow_restart_options *options)
{
	struct restart args = {.make = make, .context = context};
	const char *why = make ? wrong_with(options) : "make is NULL";
	struct weir_flow *flow;

	set_options(&args, options);
	flow = weir__flow_source(&restart_kind, &args, sizeof(args), !why);
	return weir__flow_wrong_as(flow, &restart_kind, why);
}

struct weir_flow *weir_flow_restart_around(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, const struct weir_flow_restart_options *options)
{
	struct restart args = {.around = make, .context = context};
	const char *why = make ? wrong_with(options) : "make is NULL";

	set_options(&args, options);
	flow = weir__flow_upon(&restart_around_kind, flow, &args, sizeof(args),
			       !why);
	return weir__flow_wrong_as(flow, &restart_around_kind, why);
}
