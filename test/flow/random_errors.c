/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_errors.h"

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
	*item = step_made(step, step->y);
	return 1;
}

struct weir_flow *recover_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_recover(up, recover_one, step);
}

void recover_expected(const struct step *step, struct stream *stream)
{
	if (!applies_to(step, stream->code))
		return;
	stream_add(stream, step->y);
	stream->code = 0;
}

static struct weir_error *another_error(struct weir_error *error, void *context)
{
	return applies(error, context) ? weir_error_of(-EILSEQ) : NULL;
}

struct weir_flow *map_error_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_map_error(up, another_error, step);
}

void map_error_expected(const struct step *step, struct stream *stream)
{
	if (applies_to(step, stream->code))
		stream->code = -EILSEQ;
}

struct weir_flow *complete_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_complete_on_error(up, applies, step);
}

void complete_expected(const struct step *step, struct stream *stream)
{
	if (applies_to(step, stream->code))
		stream->code = 0;
}

static struct weir_flow *others_instead(struct weir_error *error, void *context)
{
	return applies(error, context) ? other_numbers(context) : NULL;
}

struct weir_flow *resume_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_resume_with(up, others_instead, step);
}

void resume_expected(const struct step *step, struct stream *stream)
{
	if (!applies_to(step, stream->code))
		return;
	stream->code = 0;
	add_other_numbers(step, stream, stream->n);
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

struct weir_flow *retry_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_retry(up, retries(step), tried_again, step);
}

void retry_expected(const struct step *step, struct stream *stream)
{
	int64_t i;

	if (stream->code == 0 || retries(step) == 0)
		return;
	for (i = 0; i < retries(step); i++)
		stream_add(stream, step->y);
	stream->code = -EIO;
	stream->loose = stream->loose || stream->cut;
}
