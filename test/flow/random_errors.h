/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of random_kinds.h: operators that do something about an error. */
#ifndef WEIR_TEST_FLOW_RANDOM_ERRORS_H
#define WEIR_TEST_FLOW_RANDOM_ERRORS_H

#include "flow/random_fans.h"

/* It is one of those that something is done about. */
static bool applies_to(const struct step *step, int code)
{
	return code < 0 && (step->x % 3 > 0 || code == -EDOM);
}

static bool applies(struct weir_error *error, void *context)
{
	return applies_to(context, error->code);
}

static int recover_one(struct weir_error *error, void **item, void *context)
{
	const struct step *step = context;

	if (!applies(error, context))
		return 0;
	*item = made(step, step->y);
	return 1;
}

static struct weir_flow *recover_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_recover(up, recover_one, step);
}

static void recover_expected(const struct step *step, struct stream *stream)
{
	if (!applies_to(step, stream->code))
		return;
	add(stream, step->y);
	stream->code = 0;
}

static struct weir_error *another_error(struct weir_error *error, void *context)
{
	return applies(error, context) ? weir_error_of(-EILSEQ) : NULL;
}

static struct weir_flow *map_error_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_map_error(up, another_error, step);
}

static void map_error_expected(const struct step *step, struct stream *stream)
{
	if (applies_to(step, stream->code))
		stream->code = -EILSEQ;
}

static struct weir_flow *complete_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_complete_on_error(up, applies, step);
}

static void complete_expected(const struct step *step, struct stream *stream)
{
	if (applies_to(step, stream->code))
		stream->code = 0;
}

static struct weir_flow *others_instead(struct weir_error *error, void *context)
{
	return applies(error, context) ? others(context) : NULL;
}

static struct weir_flow *resume_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_resume_with(up, others_instead, step);
}

static void resume_expected(const struct step *step, struct stream *stream)
{
	if (!applies_to(step, stream->code))
		return;
	stream->code = 0;
	add_others(step, stream, stream->n);
}

/* So often. */
static int64_t retries(const struct step *step)
{
	return step->n % 4;
}

/* One item, and it fails again. */
static struct weir_flow *tried_again(struct weir_error *error, void *context)
{
	const struct step *step = context;
	const struct weir_items *items = step->puts_items ? &counted_items
							  : NULL;
	struct weir_flow *flow = weir_flow_single((void *)step->y);

	if (step->puts_items)
		flow = counted(flow);
	return weir_flow_concat(
		(struct weir_flow *[]){
			flow,
			weir_flow_items(weir_flow_fail(-EIO, "once more"),
					items),
		},
		2);
}

static struct weir_flow *retry_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_retry(up, retries(step), tried_again, step);
}

static void retry_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	if (stream->code == 0 || retries(step) == 0)
		return;
	for (i = 0; i < retries(step); i++)
		add(stream, step->y);
	stream->code = -EIO;
	stream->loose = stream->loose || stream->cut;
}

#endif
