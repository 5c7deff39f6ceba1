/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_rates.h"

void loose_expected(const struct step *step, struct stream *stream)
{
	stream->loose = true;
}

struct weir_flow *buffer_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_buffer(up, (size_t)step->n + 1,
				WEIR_OVERFLOW_BACK_PRESSURE);
}

struct weir_flow *lossy_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_buffer(
		up, (size_t)step->n + 1,
		1 + (enum weir_overflow)(step->y % WEIR_OVERFLOW_FAIL));
}

struct weir_flow *demand_make(struct weir_flow *up, struct step *step)
{
	size_t max = (size_t)step->n + 1;

	return weir_flow_limit_rate(up, max, (size_t)step->y % max);
}

/* Into a number, and all of these into one, whatever came out on the way. */
static int conflate_seed(void **item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	drop_taken(step, *item);
	*item = (void *)value;
	return 0;
}

static int conflate_add(void **all, void *item, void *context)
{
	const struct step *step = context;

	*all = (void *)((intptr_t)*all + step_value(step, item));
	drop_taken(step, item);
	return 0;
}

static int sum(void **all, void *item, void *context)
{
	*all = (void *)(((intptr_t)*all + (intptr_t)item) % VALUES);
	return 0;
}

struct weir_flow *conflate_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_conflate_functions functions = {
		conflate_seed,
		conflate_add,
	};
	static const struct weir_flow_fold_functions summing = {NULL, sum};

	up = weir_flow_conflate(up, &functions, step);
	return weir_flow_fold(weir_flow_items(up, NULL), &summing, step);
}

static uint64_t batch_weight(void *item, void *context)
{
	return step_value(context, item) % 5;
}

struct weir_flow *batch_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_conflate_functions functions = {
		conflate_seed,
		conflate_add,
	};
	static const struct weir_flow_fold_functions summing = {NULL, sum};

	if (step->y % 2)
		up = weir_flow_batch(up, (uint64_t)step->x, &functions, step);
	else
		up = weir_flow_batch_weighted(up, (uint64_t)step->x,
					      batch_weight, &functions, step);
	return weir_flow_fold(weir_flow_items(up, NULL), &summing, step);
}

void conflate_expected(const struct step *step, struct stream *stream)
{
	intptr_t all = 0;
	size_t i;

	for (i = 0; i < stream->n; i++)
		all += stream->values[i];
	stream_result(stream, all % VALUES);
}

static int64_t throttle_cost(void *item, void *context)
{
	return (uint64_t)step_value(context, item) % 5;
}

struct weir_flow *throttle_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_rate rate = {
		.n = (uint64_t)step->x,
		.per_ns = (uint64_t)step->y + 1,
		.burst = (uint64_t)step->n,
		.cost = step->y % 2 ? throttle_cost : NULL,
		.context = step,
	};

	return weir_flow_throttle(up, &rate);
}

struct weir_flow *sample_make(struct weir_flow *up, struct step *step)
{
	uint64_t span_ns = (uint64_t)step->y + 1;

	switch (step->n % 4) {
	case 0:
		return weir_flow_debounce(up, span_ns);
	case 1:
		return weir_flow_sample(up, span_ns, step->x % 2);
	case 2:
		return weir_flow_throttle_first(up, span_ns);
	default:
		return weir_flow_throttle_latest(up, span_ns, step->x % 2);
	}
}

struct weir_flow *within_time_make(struct weir_flow *up, struct step *step)
{
	uint64_t within_ns = (uint64_t)step->y;

	up = weir_flow_initial_delay(up, within_ns);
	return step->x % 2 ? weir_flow_take_within(up, within_ns * 2)
			   : weir_flow_drop_within(up, within_ns / 2);
}

static int keep_one(void **item, void *context)
{
	const struct step *step = context;

	*item = step->puts_items ? (void *)item_new(step->x) : (void *)step->x;
	return 0;
}

struct weir_flow *keep_alive_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_keep_alive(up, (uint64_t)step->y + 1, keep_one, step);
}

static int one_more(void *last, uint64_t i, void **item, void *context)
{
	const struct step *step = context;

	if (i == (uint64_t)step->x % 3)
		return 0;
	*item = step_made(step, step_value(step, last));
	return 1;
}

struct weir_flow *extrapolate_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_extrapolate(up, one_more, step);
}

struct weir_flow *delay_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_delay(up, (uint64_t)step->y, (size_t)step->n + 1);
}

void delay_expected(const struct step *step, struct stream *stream)
{
	if (stream->code < 0)
		stream->loose = true;
}

static int64_t delay_of(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	return step_fails(step, value) ? -EDOM : value % 7;
}

struct weir_flow *delay_with_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_delay_options options = {
		.delay = delay_of,
		.context = step,
		.n = (size_t)step->n + 1,
		.emit_early = step->y % 2,
	};

	return weir_flow_delay_with(up, &options);
}

/* Of plain values, whatever waits. */
static struct weir_flow *wait_for(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);
	struct weir_flow *flow;

	if (step_fails(step, value))
		return weir__flow_failed(-EDOM, "test", "no flow of that");
	flow = weir_flow_range(1, value % 4);
	return value % 3 ? flow : weir_flow_delay(flow, (uint64_t)step->x, 2);
}

struct weir_flow *delay_until_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_delay_until(up, wait_for, step);
}

struct weir_flow *lossy_delay_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_delay_options options = {
		.delay_ns = (uint64_t)step->x,
		.n = (size_t)step->n + 1,
		.overflow = 1 +
			    (enum weir_overflow)(step->y % WEIR_OVERFLOW_FAIL),
	};

	return weir_flow_delay_with(up, &options);
}

static enum fate_of delay_one(const struct step *step, struct kept *kept,
			      intptr_t *value)
{
	return step_fails(step, *value) ? FAILS : GOES;
}

void until_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, delay_one);
}

/* An error does not wait for the items before it. */
void delay_with_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, delay_one);
	delay_expected(step, stream);
}

struct weir_flow *timeouts_make(struct weir_flow *up, struct step *step)
{
	uint64_t timeout_ns = (uint64_t)step->y + 1;

	up = weir_flow_idle_timeout(up, timeout_ns);
	up = weir_flow_initial_timeout(up, timeout_ns);
	up = weir_flow_backpressure_timeout(up, timeout_ns);
	return weir_flow_completion_timeout(up, timeout_ns * 10);
}
