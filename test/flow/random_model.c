/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_model.h"

/* --- Numbers from a seed -------------------------------------------------- */

uint64_t draw_from(uint64_t *random, uint64_t bound)
{
	return weir__splitmix(random) % bound;
}

/* --- Plans ---------------------------------------------------------------- */

struct weir_executor *composed_for;

/* --- Items, numbers or counted -------------------------------------------- */

intptr_t step_value(const struct step *step, void *item)
{
	return step->takes_items ? ((struct item *)item)->value
				 : (intptr_t)item;
}

void drop_taken(const struct step *step, void *item)
{
	if (step->takes_items)
		item_drop(item, NULL);
}

void *step_made(const struct step *step, intptr_t value)
{
	return step->puts_items ? (void *)item_new(value) : (void *)value;
}

void step_replace(const struct step *step, void **item, intptr_t value)
{
	struct item *own = *item;

	if (step->takes_items && step->puts_items && value % 2 &&
	    own->refs == 1) {
		own->value = value;
		return;
	}
	drop_taken(step, *item);
	*item = step_made(step, value);
}

struct weir_flow *of_items(struct weir_flow *flow, const struct step *step)
{
	return weir_flow_items(flow, step->puts_items ? &counted_items : NULL);
}

/* --- What functions make of values ---------------------------------------- */

bool step_fails(const struct step *step, intptr_t value)
{
	return step->fail && (uint64_t)value % step->fail == step->fail - 1;
}

intptr_t step_mapped(const struct step *step, intptr_t value)
{
	return (value * step->x + step->y) % VALUES;
}

bool step_wants(const struct step *step, intptr_t value)
{
	return (value + step->y) % (step->x + 1) != 0;
}

intptr_t folded(const struct step *step, intptr_t all, intptr_t value)
{
	return (all * step->x + value) % VALUES;
}

/* --- What operators make of streams --------------------------------------- */

bool survives(const struct step *step, struct stream *stream, struct kept *kept)
{
	if (step->decided == WEIR_DIRECTIVE_RESTART)
		*kept = (struct kept){0};
	if (step->decided == WEIR_DIRECTIVE_RESTART ||
	    step->decided == WEIR_DIRECTIVE_RESUME)
		return true;
	stream->code = -EDOM;
	return false;
}

bool has_room(struct stream *stream, size_t n)
{
	if (n <= LONG - stream->n)
		return true;
	stream->too_long = stream->loose = true;
	return false;
}

void stream_add(struct stream *stream, intptr_t value)
{
	if (has_room(stream, 1))
		stream->values[stream->n++] = value;
}

void stream_each(const struct step *step, struct stream *stream,
		 struct kept *kept,
		 enum fate_of (*one)(const struct step *step, struct kept *kept,
				     intptr_t *value))
{
	size_t n = stream->n, i;
	enum fate_of fate;
	intptr_t value;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		value = stream->values[i];
		fate = one(step, kept, &value);
		if (fate == GOES || fate == GOES_LAST)
			stream_add(stream, value);
		if (fate == GOES_LAST || fate == ENDS)
			stream->code = 0;
		if (fate == GOES_LAST || fate == ENDS ||
		    (fate == FAILS && !survives(step, stream, kept)))
			return;
	}
}

void stream_result(struct stream *stream, intptr_t value)
{
	stream->n = 0;
	if (stream->code == 0)
		stream_add(stream, value);
}

bool fold_all(const struct step *step, struct stream *stream, intptr_t zero,
	      intptr_t *all)
{
	struct kept kept = {0};
	size_t i;

	*all = zero;
	for (i = 0; i < stream->n; i++) {
		if (!step_fails(step, stream->values[i])) {
			*all = folded(step, *all, stream->values[i]);
			continue;
		}
		if (!survives(step, stream, &kept)) {
			stream->n = 0;
			return false;
		}
		if (step->decided == WEIR_DIRECTIVE_RESTART)
			*all = zero;
	}
	return true;
}
