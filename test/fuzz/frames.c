/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of any bytes: as a few lines of plain C find them in all of the bytes
 * at once, and the same wherever the bytes are cut.
 */
#include "fuzz/fuzz.h"

#include "base/random.h"

#include <errno.h>
#include <string.h>

#include <weir/flow_io.h>
#include <weir/sim.h>
#include <weir/weir.h>

const char fuzz_alphabet[] = "a\n\n{}[]\",\\ 1\r\1\2\3\4";
const size_t fuzz_head = 3;

/* --- What comes out ------------------------------------------------------- */

/* Frames, one behind the other, each with its length in front. */
struct out {
	char *bytes;
	size_t n, room;
	int code;
};

static void add(struct out *out, const void *bytes, size_t n)
{
	size_t room = out->n + sizeof(n) + n;

	if (room > out->room) {
		out->bytes = realloc(out->bytes, out->room = 2 * room);
		assert(out->bytes);
	}
	memcpy(out->bytes + out->n, &n, sizeof(n));
	if (n > 0)
		memcpy(out->bytes + out->n + sizeof(n), bytes, n);
	out->n = room;
}

static int keep(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;

	add(context, bytes->data, bytes->n);
	weir_flow_bytes_unref(bytes);
	return 0;
}

static void compare(const struct out *a, const struct out *b)
{
	assert(a->code == b->code);
	assert(a->n == b->n);
	assert(a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

/* --- How frames are cut --------------------------------------------------- */

enum { LINES, DELIMITED, PREFIXED, FIELD, JSON, KINDS };

struct framing {
	unsigned kind;
	size_t max;
	char delimiter[3];
	size_t length; /* of the delimiter */
	enum weir_flow_remainder remainder;
	size_t header, offset;
	enum weir_flow_byte_order order;
};

static struct framing framing_of(const uint8_t **bytes, size_t *n)
{
	struct framing framing = {.kind = fuzz_byte(bytes, n) % KINDS};
	uint8_t drawn = fuzz_byte(bytes, n);

	framing.max = fuzz_byte(bytes, n);
	if (framing.max % 2)
		framing.max %= 8;
	framing.length = drawn % 3 + 1;
	memset(framing.delimiter, '\n', 3);
	framing.delimiter[2] = 'a';
	framing.remainder = (enum weir_flow_remainder)(drawn / 3 % 3);
	framing.header = (size_t)1 << drawn % 4;
	framing.order = drawn / 4 % 2 ? WEIR_FLOW_BYTE_ORDER_LITTLE
				      : WEIR_FLOW_BYTE_ORDER_BIG;
	framing.offset = drawn / 8 % 4;
	if (framing.kind == LINES || framing.kind == DELIMITED ||
	    framing.kind == JSON)
		framing.max++;
	if (framing.kind == FIELD)
		framing.max += framing.header + framing.offset;
	return framing;
}

static struct weir_flow *frames(struct weir_flow *flow,
				const struct framing *framing)
{
	const struct weir_flow_length_field_options options = {
		.offset = framing->offset};

	switch (framing->kind) {
	case LINES:
		return weir_flow_lines(flow, framing->max);
	case DELIMITED:
		return weir_flow_delimited(flow, framing->delimiter,
					   framing->length, framing->max,
					   framing->remainder);
	case PREFIXED:
		return weir_flow_length_prefixed(flow, framing->header,
						 framing->order, framing->max);
	case FIELD:
		return weir_flow_length_field(flow, framing->header,
					      framing->order, framing->max,
					      &options);
	default:
		return weir_flow_json_objects(flow, framing->max);
	}
}

/* --- By plain C ----------------------------------------------------------- */

static int delimited(const struct framing *framing, const uint8_t *bytes,
		     size_t n, struct out *out)
{
	const uint8_t *found;

	while ((found = n ? memmem(bytes, n, framing->delimiter,
				   framing->length)
			  : NULL)) {
		size_t length = (size_t)(found - bytes);

		if (length > framing->max)
			return -EMSGSIZE;
		add(out, bytes, length);
		bytes += length + framing->length;
		n -= length + framing->length;
	}
	/* that the delimiter might have begun in; only if emitted it is too long */
	if (n > framing->max + framing->length - 1)
		return -EMSGSIZE;
	if (n == 0 || framing->remainder == WEIR_FLOW_REMAINDER_DROP)
		return 0;
	if (framing->remainder == WEIR_FLOW_REMAINDER_FAIL)
		return -EPROTO;
	if (n > framing->max)
		return -EMSGSIZE;
	add(out, bytes, n);
	return 0;
}

static uint64_t number(const struct framing *framing, const uint8_t *bytes)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < framing->header; i++)
		number |= (uint64_t)bytes[i]
			  << 8 * (framing->order == WEIR_FLOW_BYTE_ORDER_LITTLE
					  ? i
					  : framing->header - 1 - i);
	return number;
}

/* The length is of what is behind it, and `max` is of what is emitted. */
static int with_length(const struct framing *framing, const uint8_t *bytes,
		       size_t n, struct out *out)
{
	bool whole = framing->kind == FIELD;
	size_t offset = whole ? framing->offset : 0;
	size_t head = offset + framing->header;
	uint64_t length;

	while (n >= head) {
		length = number(framing, bytes + offset);
		if (length > framing->max - (whole ? head : 0))
			return -EMSGSIZE;
		if (length > n - head)
			break;
		add(out, whole ? bytes : bytes + head,
		    (size_t)length + (whole ? head : 0));
		bytes += head + length;
		n -= head + length;
	}
	return n ? -EPROTO : 0;
}

/* False: plain C has nothing to say. */
static bool plain(const struct framing *framing, const uint8_t *bytes, size_t n,
		  struct out *out)
{
	struct framing lines = *framing;

	switch (framing->kind) {
	case LINES:
		lines.length = 1;
		lines.remainder = WEIR_FLOW_REMAINDER_EMIT;
		out->code = delimited(&lines, bytes, n, out);
		return true;
	case DELIMITED:
		out->code = delimited(framing, bytes, n, out);
		return true;
	case PREFIXED:
	case FIELD:
		out->code = with_length(framing, bytes, n, out);
		return true;
	default:
		return false;
	}
}

/* --- By the library ------------------------------------------------------- */

struct in {
	const uint8_t *bytes;
	size_t n;
	uint64_t most; /* of a piece */
	uint64_t random;
};

/* Some pieces are empty. */
static int next_piece(void **state, void **item, void *context)
{
	struct in *in = context;
	struct weir_flow_bytes *bytes;
	size_t n = in->n;

	if (in->n == 0)
		return 0;
	if (in->most)
		n = weir__splitmix(&in->random) % (in->most + 1);
	if (n > in->n)
		n = in->n;
	assert(weir_flow_bytes_new(&bytes, n, NULL) == 0);
	if (n > 0)
		memcpy(bytes->data, in->bytes, n);
	in->bytes += n;
	in->n -= n;
	*item = bytes;
	return 1;
}

static void run(const struct framing *framing, struct in in, struct out *out)
{
	static struct weir_sim *sim;
	struct weir_flow *flow = weir_flow_unfold(NULL, next_piece, &in);
	struct weir_flow_run *run;
	struct weir_error *error;

	if (!sim)
		assert(weir_sim_new(&sim, 1, NULL) == 0);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_for_each(frames(flow, framing), keep, out);
	assert(weir_flow_start(flow, weir_sim_executor(sim), NULL, &run) == 0);
	assert(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error) == 0);
	out->code = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct framing framing = framing_of(&bytes, &n);
	static const uint64_t most[] = {0, 1, 7, 50};
	struct out first = {0}, out;
	bool known = plain(&framing, bytes, n, &first);
	size_t i;

	for (i = 0; i < sizeof(most) / sizeof(*most); i++) {
		out = (struct out){0};
		run(&framing, (struct in){bytes, n, most[i], n}, &out);
		if (known)
			compare(&first, &out);
		else
			first = out;
		if (known)
			free(out.bytes);
		known = true;
	}
	free(first.bytes);
	return 0;
}
