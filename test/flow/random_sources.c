/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_sources.h"

/* With pairs, so that some follow their like. */
static intptr_t source_value(const struct step *step, int64_t i)
{
	return (step->x * (i / 2) + step->y) % VALUES;
}

static void *source_item(const struct step *step, int64_t i)
{
	return step_made(step, source_value(step, i));
}

static void values_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	for (i = 0; i < step->n; i++)
		stream_add(stream, source_value(step, i));
}

/* --- What is known -------------------------------------------------------- */

static struct weir_flow *array_make(struct weir_flow *up, struct step *step)
{
	int64_t i;

	for (i = 0; i < step->n; i++)
		step->array[i] = (void *)source_value(step, i);
	return weir_flow_array(step->array, (size_t)step->n);
}

static struct weir_flow *range_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_range(step->y, step->y + step->n - 1);
}

static void range_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	for (i = 0; i < step->n; i++)
		stream_add(stream, step->y + i);
}

static struct weir_flow *single_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_single((void *)step->y);
}

static void single_expected(const struct step *step, struct stream *stream)
{
	stream_add(stream, step->y);
}

static struct weir_flow *empty_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_empty();
}

static void empty_expected(const struct step *step, struct stream *stream)
{
}

static struct weir_flow *fail_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_fail(-EIO, "as it was told");
}

static void fail_expected(const struct step *step, struct stream *stream)
{
	stream->code = -EIO;
}

/* --- unfold --------------------------------------------------------------- */

static int unfold_next(void **state, void **item, void *context)
{
	const struct step *step = context;
	intptr_t i = (intptr_t)*state;

	if (i == step->n)
		return 0;
	if (step_fails(step, source_value(step, i)))
		return -EDOM;
	*item = source_item(step, i);
	*state = (void *)(i + 1);
	return 1;
}

static struct weir_flow *unfold_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_unfold(NULL, unfold_next, step), step);
}

/* The same, of the user's. */
static int own_next(struct weir_operator *op)
{
	struct step *step = weir_operator_context(op);
	void *item;
	int rc = unfold_next(weir_operator_state(op), &item, step);

	if (rc == 1)
		return weir_operator_push(op, item);
	return rc < 0 ? rc : weir_operator_end(op, NULL);
}

static struct weir_flow *own_source_make(struct weir_flow *up,
					 struct step *step)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(void *),
		.on_pull = own_next,
	};

	return of_items(weir_flow_operator_source(&ops, step), step);
}

/* Nobody decides upon what it says. */
static void unfold_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	for (i = 0; i < step->n; i++) {
		if (step_fails(step, source_value(step, i))) {
			stream->code = -EDOM;
			return;
		}
		stream_add(stream, source_value(step, i));
	}
}

/* --- resource ------------------------------------------------------------- */

/* So often it may fail; it would begin again for ever. */
#define OPENED_MAX 3

static int resource_open(void **resource, void *context)
{
	struct step *step = context;

	*resource = item_new(0);
	step->opened++;
	return 0;
}

static int resource_read(void *resource, void **item, void *context)
{
	const struct step *step = context;
	struct item *at = resource;

	if (at->value == step->n)
		return 0;
	if (step->opened < OPENED_MAX &&
	    step_fails(step, source_value(step, at->value))) {
		at->value++;
		return -EDOM;
	}
	*item = source_item(step, at->value++);
	return 1;
}

static void resource_close(void *resource, void *context)
{
	item_drop(resource, NULL);
}

static struct weir_flow *resource_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_resource_functions functions = {
		resource_open,
		resource_read,
		resource_close,
	};

	return of_items(weir_flow_resource(&functions, step), step);
}

static void resource_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};
	size_t opened = 1;
	int64_t i;

	for (i = 0; i < step->n; i++) {
		if (opened == OPENED_MAX ||
		    !step_fails(step, source_value(step, i))) {
			stream_add(stream, source_value(step, i));
			continue;
		}
		if (!survives(step, stream, &kept))
			return;
		if (step->decided != WEIR_DIRECTIVE_RESTART)
			continue;
		opened++;
		i = -1;
	}
}

/* --- What is fed, and what comes by itself -------------------------------- */

/* With an error at its end, or without. */
static int queue_code(const struct step *step)
{
	return step->y % 4 == 0 ? -EPROTO : 0;
}

static struct weir_flow *queue_make(struct weir_flow *up, struct step *step)
{
	const struct weir_items *items = step->puts_items ? &counted_items
							  : NULL;

	/* without memory: no flow of it either */
	(void)!weir_flow_queue_new(&step->queue, 64,
				   WEIR_OVERFLOW_BACK_PRESSURE, items);
	return weir_flow_from_queue(step->queue);
}

static void queue_expected(const struct step *step, struct stream *stream)
{
	values_expected(step, stream);
	stream->code = queue_code(step);
}

bool step_feed(struct step *step, uint64_t n)
{
	void *item;
	int rc = 0;

	if (!step->queue || step->fed > step->n)
		return false;
	for (; n > 0 && step->fed < step->n; n--) {
		item = source_item(step, step->fed);
		rc = weir_flow_queue_offer(step->queue, item);
		if (rc == 0) {
			step->fed++;
			continue;
		}
		if (step->puts_items)
			item_drop(item, NULL);
		assert_true(rc == -EAGAIN || rc == -EPIPE);
		return rc == -EAGAIN;
	}
	if (n == 0 || step->fed < step->n)
		return true;
	step->fed++;
	(void)weir_flow_queue_end(
		step->queue, queue_code(step) ? weir_error_of(-EPROTO) : NULL);
	return true;
}

static struct weir_flow *tick_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flow = weir_flow_tick(
		(uint64_t)step->y, (uint64_t)step->x, (void *)step->y);

	return weir_flow_take(flow, step->n);
}

static void tick_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	for (i = 0; i < step->n; i++)
		stream_add(stream, step->y);
}

/* --- restart -------------------------------------------------------------- */

/* So often it begins again. */
static size_t restarts(const struct step *step)
{
	return (size_t)step->x % 3;
}

/* Not for want of memory: then it would go on for ever. */
static bool was_not_yet(struct weir_error *error, void *context)
{
	return error->code == -EIO;
}

/* The numbers, and then an error, but for the last time. */
static struct weir_flow *begin_again(void *context)
{
	struct step *step = context;
	const struct weir_items *items = step->puts_items ? &counted_items
							  : NULL;
	struct weir_flow *flow =
		weir_flow_range(step->y, step->y + step->n - 1);

	if (step->puts_items)
		flow = counted(flow);
	if (step->opened++ == restarts(step))
		return flow;
	return weir_flow_concat(
		(struct weir_flow *[]){
			flow,
			weir_flow_items(weir_flow_fail(-EIO, "not yet"), items),
		},
		2);
}

static struct weir_flow *restart_make(struct weir_flow *up, struct step *step)
{
	const struct weir_backoff backoff = {
		.min_ns = (uint64_t)step->x,
		.max_ns = (uint64_t)step->x * 8,
		.random_factor = 0.5,
	};
	const struct weir_flow_restart_options options = {
		.backoff = step->y % 2 ? &backoff : NULL,
		.restart_on = was_not_yet,
	};

	return of_items(weir_flow_restart(begin_again, step, &options), step);
}

static void restart_expected(const struct step *step, struct stream *stream)
{
	size_t i;

	for (i = 0; i <= restarts(step); i++)
		range_expected(step, stream);
}

/* --- defer ---------------------------------------------------------------- */

static struct weir_flow *begin_late(void *context)
{
	const struct step *step = context;
	struct weir_flow *flow =
		weir_flow_range(step->y, step->y + step->n - 1);

	return step->puts_items ? counted(flow) : flow;
}

static struct weir_flow *defer_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_defer(begin_late, step), step);
}

const struct row random_sources[] = {
	{"array", 0, false, NUMBERS, array_make, values_expected},
	{"range", 0, false, NUMBERS, range_make, range_expected},
	{"single", 0, false, SAME, single_make, single_expected},
	{"empty", 0, false, SAME, empty_make, empty_expected},
	{"fail", 0, false, SAME, fail_make, fail_expected},
	{"unfold", 0, true, EITHER, unfold_make, unfold_expected},
	{"operator_source", 0, true, EITHER, own_source_make, unfold_expected},
	{"resource", 0, true, EITHER, resource_make, resource_expected},
	{"from_queue", 0, false, EITHER, queue_make, queue_expected},
	{"from_queue", 0, false, EITHER, queue_make, queue_expected},
	{"tick", 0, false, NUMBERS, tick_make, tick_expected},
	{"restart", 0, false, EITHER, restart_make, restart_expected},
	{"defer", 0, false, EITHER, defer_make, range_expected},
};

const size_t n_random_sources = sizeof(random_sources) /
				sizeof(*random_sources);
