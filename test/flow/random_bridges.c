/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_bridges.h"

static const struct weir_items *taken_items(const struct step *step)
{
	return step->takes_items ? &counted_items : NULL;
}

/* --- Publishers and permits ----------------------------------------------- */

/* A subscriber gets no NULL, which 0 is. */
static int one_more(void **item, void *context)
{
	*item = (void *)((intptr_t)*item + 1);
	return 0;
}

static int one_less(void **item, void *context)
{
	*item = (void *)((intptr_t)*item - 1);
	return 0;
}

struct weir_flow *publisher_make(struct weir_flow *up, struct step *step)
{
	const struct weir_items *items = taken_items(step);
	size_t prefetch = (size_t)step->n + 1;

	if (!step->takes_items)
		up = weir_flow_map(up, one_more, NULL);
	/* without memory: no flow of it either */
	(void)!weir_flow_publisher_new(&step->publisher, up, composed_for,
				       NULL);
	up = weir_flow_from_publisher(weir_flow_publisher_base(step->publisher),
				      prefetch, 1 + (size_t)step->y % prefetch);
	up = weir_flow_items(up, items);
	return step->takes_items ? up : weir_flow_map(up, one_less, NULL);
}

void publisher_expected(const struct step *step, struct stream *stream)
{
	stream->loose = stream->loose || stream->cut;
}

static int give_permit(void **item, void *context)
{
	return weir_semaphore_release(context, 1);
}

struct weir_flow *acquire_make(struct weir_flow *up, struct step *step)
{
	assert_int_equal(weir_semaphore_init(&step->semaphore, step->x), 0);
	up = weir_flow_acquire(up, &step->semaphore);
	return weir_flow_same_items(
		weir_flow_map(up, give_permit, &step->semaphore));
}

/* --- Graphs --------------------------------------------------------------- */

struct weir_flow *diamond_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *outlets[2], *inlets[2];
	struct weir_flow_graph *graph;
	struct weir_flow *joined;

	/* without memory: what is put in is freed, and nothing built */
	(void)!weir_flow_graph_new(&graph);
	(void)weir_flow_broadcast(up, 2, outlets, NULL);
	(void)weir_flow_graph_add(graph, "left", outlets[0]);
	inlets[0] = weir_flow_graph_inlet(graph, "to the left");
	inlets[1] = weir_flow_graph_inlet(graph, "to the right");
	joined = of_items(weir_flow_zip(inlets, 2, zip_combine, step), step);
	(void)weir_flow_graph_add(graph, NULL, joined);
	(void)weir_flow_graph_add(graph, "right", outlets[1]);
	(void)weir_flow_graph_connect(graph, "left", "to the left", 8);
	(void)weir_flow_graph_connect(graph, "right", "to the right", 0);
	return weir_flow_graph_build(graph);
}

/* --- Bytes ---------------------------------------------------------------- */

#define TEXT_MAX 24

static struct weir_flow_bytes *bytes_of(const char *data, size_t n)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, n, NULL), 0);
	memcpy(bytes->data, data, n);
	return bytes;
}

static bool in_braces(const struct step *step)
{
	return step->x % 8 == 0;
}

/* Its digits, behind their number, and a newline; or in braces. Byte `i` in a
 * piece each, or all in the first one. */
static int next_piece(void *item, uint64_t i, void **out, void *context)
{
	const struct step *step = context;
	char text[TEXT_MAX];
	int n = snprintf(text + 1, sizeof(text) - 1, "%d%c",
			 (int)step_value(step, item),
			 in_braces(step) ? '}' : '\n');
	size_t whole = (size_t)n + 1;

	text[0] = in_braces(step) ? '{' : (char)n;
	if (step->y % 2 ? i == 1 : i == whole)
		return 0;
	*out = step->y % 2 ? bytes_of(text, whole) : bytes_of(text + i, 1);
	return 1;
}

static int from_frame(void **item, void *context)
{
	struct weir_flow_bytes *bytes = *item;
	const struct step *step = context;
	char text[TEXT_MAX];
	bool prefixed = step->x % 2;

	/* without what is in front, which only length_prefixed takes off */
	snprintf(text, sizeof(text), "%.*s", (int)bytes->n - !prefixed,
		 bytes->data + !prefixed);
	weir_flow_bytes_unref(bytes);
	*item = step->takes_items ? (void *)item_new(strtol(text, NULL, 10))
				  : (void *)strtol(text, NULL, 10);
	return 0;
}

struct weir_flow *frames_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_items(weir_flow_map_concat(up, next_piece, step),
			     weir_flow_bytes_items());
	if (step->x % 2)
		up = weir_flow_length_prefixed(up, 1, WEIR_FLOW_BYTE_ORDER_BIG,
					       TEXT_MAX);
	else if (step->x % 4)
		up = weir_flow_length_field(up, 1, WEIR_FLOW_BYTE_ORDER_BIG,
					    TEXT_MAX, NULL);
	else if (in_braces(step))
		up = weir_flow_json_objects(up, TEXT_MAX);
	else
		up = weir_flow_lines(up, TEXT_MAX);
	return weir_flow_items(weir_flow_map(up, from_frame, step),
			       taken_items(step));
}
