/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes cut into frames. A frame within a block is a view of the block. A frame
 * that begins in one block and ends in another is put together in `carry`.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/io_bytes.h"
#include "flow/shared/bytes.h"

#define DELIMITER_MAX 16u

struct cutting {
	struct weir_flow_bytes *block;
	struct weir__views views; /* of the block */
	size_t at;		  /* in the block */
	char *carry;
	size_t n_carried, capacity;
	uint64_t before; /* how many bytes came in front of the block */
	/* of objects: in how many braces the next byte is; whether it is in a
	 * string, behind a backslash there, in an array of objects */
	uint32_t depth;
	bool quoted, escaped, listed;
};

struct framing {
	/*
	 * Looks for a frame at the beginning of `n` bytes, of which the first
	 * self->n_carried were looked through before. Returns how many bytes
	 * the frame takes up in all, and its content in *data and *length; 0:
	 * the frame is not complete; or a negative errno.
	 */
	ssize_t (*scan)(const struct framing *args, struct cutting *self,
			const char *bytes, size_t n, const char **data,
			size_t *length);
	bool objects; /* of JSON, which have other bytes between them */
	size_t max, overhead;
	size_t offset, header; /* of a length, and its size */
	int (*size)(const char *head, uint64_t length, size_t *size,
		    void *context);
	void *context;
	enum weir_flow_remainder remainder;
	enum weir_flow_byte_order order;
	char delimiter[DELIMITER_MAX];
};

/* --- Where a frame ends --------------------------------------------------- */

static ssize_t scan_delimited(const struct framing *args, struct cutting *self,
			      const char *bytes, size_t n, const char **data,
			      size_t *length)
{
	size_t seen = self->n_carried;
	size_t from = seen < args->overhead ? 0 : seen - args->overhead + 1;
	const char *end =
		args->overhead == 1
			? memchr(bytes + from, args->delimiter[0], n - from)
			: memmem(bytes + from, n - from, args->delimiter,
				 args->overhead);

	if (!end)
		return n >= args->max + args->overhead ? -EMSGSIZE : 0;
	*data = bytes;
	*length = (size_t)(end - bytes);
	if (*length > args->max)
		return -EMSGSIZE;
	return (ssize_t)(*length + args->overhead);
}

static uint64_t number(const struct framing *args, const char *bytes)
{
	size_t n = args->header, i;
	uint64_t value = 0;

	for (i = 0; i < n; i++)
		value = value << 8 |
			(unsigned char)
				bytes[args->order == WEIR_FLOW_BYTE_ORDER_BIG
					      ? i
					      : n - 1 - i];
	return value;
}

static ssize_t scan_prefixed(const struct framing *args, struct cutting *self,
			     const char *bytes, size_t n, const char **data,
			     size_t *length)
{
	uint64_t value;

	if (n < args->overhead)
		return 0;
	value = number(args, bytes);
	if (value > args->max)
		return -EMSGSIZE;
	if (n - args->overhead < value)
		return 0;
	*data = bytes + args->overhead;
	*length = (size_t)value;
	return (ssize_t)(args->overhead + *length);
}

static ssize_t scan_field(const struct framing *args, struct cutting *self,
			  const char *bytes, size_t n, const char **data,
			  size_t *length)
{
	size_t head = args->offset + args->header, size;
	uint64_t value;
	int rc = 0;

	if (n < head)
		return 0;
	value = number(args, bytes + args->offset);
	size = value < SIZE_MAX - head ? head + (size_t)value : SIZE_MAX;
	if (args->size)
		rc = args->size(bytes, value, &size, args->context);
	if (rc != 0)
		return rc < 0 ? rc : -EINVAL;
	/* what was seen before was no whole frame */
	if (size < head || size <= self->n_carried)
		return -EPROTO;
	if (size > args->max)
		return -EMSGSIZE;
	if (n < size)
		return 0;
	*data = bytes;
	*length = size;
	return (ssize_t)size;
}

/* A byte of an object. True: the last one. */
static bool is_last(struct cutting *self, char byte)
{
	if (self->escaped)
		self->escaped = false;
	else if (byte == '"')
		self->quoted = !self->quoted;
	else if (self->quoted)
		self->escaped = byte == '\\';
	else if (byte == '{')
		self->depth++;
	else if (byte == '}')
		self->depth--;
	return self->depth == 0;
}

static ssize_t scan_object(const struct framing *args, struct cutting *self,
			   const char *bytes, size_t n, const char **data,
			   size_t *length)
{
	size_t most = n < args->max ? n : args->max, i;

	for (i = self->n_carried; i < most; i++) {
		if (is_last(self, bytes[i])) {
			*data = bytes;
			*length = i + 1;
			return (ssize_t)*length;
		}
	}
	return n >= args->max ? -EMSGSIZE : 0;
}

static bool is_between(struct cutting *self, char byte)
{
	if (byte == (self->listed ? ']' : '[')) {
		self->listed = !self->listed;
		return true;
	}
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' ||
	       byte == ',';
}

/* --- The operator --------------------------------------------------------- */

static void drop_block(struct weir__op *op)
{
	struct cutting *self = weir__op_state(op);

	weir__views_end(&self->views);
	if (self->block) {
		self->before += self->block->n;
		weir__op_drop_one(op->up[0], self->block);
	}
	self->block = NULL;
	self->at = 0;
}

static void cut_close(struct weir__op *op)
{
	struct cutting *self = weir__op_state(op);

	drop_block(op);
	weir__free(weir__op_allocator(op), self->carry, self->capacity);
	self->carry = NULL;
	self->capacity = self->n_carried = 0;
}

/* Takes a block if there is none. False: upstream has none now. */
static bool take_block(struct weir__op *op)
{
	struct cutting *self = weir__op_state(op);
	void *item;

	if (self->block)
		return true;
	if (weir__pull(op->up[0], &item, 1) == 0)
		return false;
	self->block = item;
	return true;
}

/* Room for `n` bytes more in `carry`. */
static bool grow(struct weir__op *op, size_t n)
{
	struct cutting *self = weir__op_state(op);
	size_t capacity = self->capacity ? self->capacity : 256;
	char *carry;

	assert(self->n_carried <= self->capacity);
	if (n <= self->capacity - self->n_carried)
		return true;
	while (capacity - self->n_carried < n)
		capacity *= 2;
	carry = weir__alloc(weir__op_allocator(op), capacity);
	if (!carry)
		return false;
	if (self->n_carried)
		memcpy(carry, self->carry, self->n_carried);
	weir__free(weir__op_allocator(op), self->carry, self->capacity);
	self->carry = carry;
	self->capacity = capacity;
	return true;
}

/* The delimiter stands behind it, as behind a frame that lies in a block. */
static struct weir_flow_bytes *copy(struct weir__op *op, const char *data,
				    size_t n)
{
	const struct framing *args = weir__op_args(op);
	size_t behind = args->scan == scan_delimited ? args->overhead : 0;
	struct weir_flow_bytes *bytes;

	if (weir_flow_bytes_new(&bytes, n + behind, weir__op_allocator(op)) < 0)
		return NULL;
	if (n)
		memcpy(bytes->data, data, n);
	memcpy(bytes->data + n, args->delimiter, behind);
	bytes->n = n;
	return bytes;
}

static struct weir_flow_bytes *no_memory(struct weir__op *op)
{
	weir__op_fail(op, -ENOMEM, "no memory for a frame");
	return NULL;
}

static void fail(struct weir__op *op, struct weir_error *error)
{
	weir__op_end(op, error);
	weir_error_unref(error);
}

/* Where the frame begins that is not complete. */
static unsigned long long begins(struct weir__op *op)
{
	struct cutting *self = weir__op_state(op);

	return self->before + self->at - self->n_carried;
}

static void too_long(struct weir__op *op)
{
	const struct framing *args = weir__op_args(op);

	fail(op, weir__error_format(weir__op_allocator(op), -EMSGSIZE,
				    weir__op_name(op),
				    "the frame at byte %llu is longer than %zu",
				    begins(op), args->max));
}

static void scan_failed(struct weir__op *op, ssize_t code)
{
	if (code == -EMSGSIZE)
		too_long(op);
	else
		weir__op_fail_code(op, (int)code,
				   "the size of a frame is wrong");
}

/* The next byte is between frames, and must not be. */
static void is_strange(struct weir__op *op)
{
	struct cutting *self = weir__op_state(op);
	unsigned byte = (unsigned char)self->block->data[self->at];

	fail(op, weir__error_format(weir__op_allocator(op), -EBADMSG,
				    weir__op_name(op),
				    "byte %llu, which is 0x%02x, begins no "
				    "object",
				    begins(op), byte));
}

/*
 * Passes the bytes between frames. A block that is used up is dropped at once:
 * so if upstream has ended, the operator ends without waiting for demand.
 * False: there is no more of the block, or there was an error.
 */
static bool pass(struct weir__op *op)
{
	const struct framing *args = weir__op_args(op);
	struct cutting *self = weir__op_state(op);
	const char *data = self->block->data;
	size_t n = self->block->n;

	while (args->objects && self->at < n &&
	       is_between(self, data[self->at]))
		self->at++;
	if (self->at == n)
		drop_block(op);
	else if (args->objects && data[self->at] != '{')
		is_strange(op);
	return self->block;
}

/* `n` more bytes of the block are in frames. */
static void advance(struct weir__op *op, size_t n)
{
	struct cutting *self = weir__op_state(op);

	assert(n > 0 && n <= self->block->n - self->at);
	self->n_carried = 0;
	self->at += n;
	(void)pass(op);
}

/* Cuts a frame that lies in the block. NULL: there is none, and the rest of the
 * block is moved to `carry`. */
static struct weir_flow_bytes *cut_block(struct weir__op *op)
{
	const struct framing *args = weir__op_args(op);
	struct cutting *self = weir__op_state(op);
	struct weir_flow_bytes *frame;
	const char *from, *data;
	size_t n, length;
	ssize_t all;

	if (args->objects && !pass(op))
		return NULL;
	from = self->block->data + self->at;
	n = self->block->n - self->at;
	/* the most frequent one is no call then */
	all = args->scan == scan_delimited
		      ? scan_delimited(args, self, from, n, &data, &length)
		      : args->scan(args, self, from, n, &data, &length);
	if (all < 0) {
		scan_failed(op, all);
		return NULL;
	}
	if (all > 0) {
		/* if the others are as long */
		if (!weir__views_any(&self->views) &&
		    !weir__views_make(&self->views, self->block,
				      n / (size_t)all))
			return no_memory(op);
		frame = weir__views_use(&self->views, data, length);
		advance(op, (size_t)all);
		return frame;
	}
	if (!grow(op, n))
		return no_memory(op);
	if (n)
		memcpy(self->carry, from, n);
	self->n_carried = n;
	drop_block(op);
	return NULL;
}

/*
 * Completes the frame that begins in `carry`. NULL: the block was not enough,
 * or an error.
 */
static struct weir_flow_bytes *cut_carry(struct weir__op *op)
{
	const struct framing *args = weir__op_args(op);
	struct cutting *self = weir__op_state(op);
	size_t seen = self->n_carried, n = self->block->n - self->at, length;
	size_t most = args->max + args->overhead - seen;
	struct weir_flow_bytes *frame;
	const char *data;
	ssize_t all;

	/* else the frame would have failed as too long before */
	assert(seen > 0 && seen < args->max + args->overhead);
	if (n > most)
		n = most;
	if (!grow(op, n))
		return no_memory(op);
	memcpy(self->carry + seen, self->block->data + self->at, n);
	all = args->scan(args, self, self->carry, seen + n, &data, &length);
	if (all < 0) {
		scan_failed(op, all);
		return NULL;
	}
	if (all == 0) {
		self->n_carried += n;
		drop_block(op);
		return NULL;
	}
	/* no frame ends in the bytes that were looked through before */
	assert((size_t)all > seen);
	frame = copy(op, data, length);
	if (!frame)
		return no_memory(op);
	advance(op, (size_t)all - seen);
	return frame;
}

/* Handles the bytes that are left when upstream has completed. */
static size_t cut_rest(struct weir__op *op, void **items, size_t room)
{
	const struct framing *args = weir__op_args(op);
	struct cutting *self = weir__op_state(op);
	size_t n = self->n_carried;

	if (op->up[0]->error || (n == 0 && !self->listed) ||
	    args->remainder == WEIR_FLOW_REMAINDER_DROP) {
		weir__op_end(op, op->up[0]->error);
		return 0;
	}
	if (args->remainder == WEIR_FLOW_REMAINDER_FAIL) {
		weir__op_fail(op, -EPROTO,
			      n ? "the last frame is cut off"
				: "the array of objects has no end");
		return 0;
	}
	if (n > args->max) {
		too_long(op);
		return 0;
	}
	if (room == 0)
		return 0;
	items[0] = copy(op, self->carry, n);
	if (!items[0]) {
		(void)no_memory(op);
		return 0;
	}
	weir__op_end(op, NULL);
	return 1;
}

/*
 * Emits the frames of one block, or the first frame behind it: taking another
 * block might wait. After a block that was there before, it looks upstream
 * (rule 8).
 */
static size_t cut_pull(struct weir__op *op, void **items, size_t room)
{
	struct cutting *self = weir__op_state(op);
	struct weir_flow_bytes *frame;
	unsigned n_blocks = 0;
	bool asked = false;
	size_t n = 0;

	while (n < room && !op->ended && (n == 0 || self->block) &&
	       n_blocks < WEIR_FLOW_BATCH) {
		asked = asked || !self->block;
		if (!take_block(op))
			break;
		frame = self->n_carried ? cut_carry(op) : cut_block(op);
		n_blocks += frame == NULL;
		if (frame)
			items[n++] = frame;
	}
	if (!op->ended && !self->block && !asked)
		weir__pull_none(op->up[0]);
	if (!op->ended && !self->block && op->up[0]->ended)
		n += cut_rest(op, items + n, room - n);
	return n;
}

#define FRAME_KIND(kind) \
	static const struct weir__kind kind##_kind = { \
		.name = #kind, \
		.state_size = sizeof(struct cutting), \
		.items = weir__gives_bytes, \
		.refuses = weir__takes_bytes, \
		.pull = cut_pull, \
		.close = cut_close, \
		.holds = true, \
		.makes = true, \
	}
FRAME_KIND(lines);
FRAME_KIND(delimited);
FRAME_KIND(length_prefixed);
FRAME_KIND(length_field);
FRAME_KIND(json_objects);

static struct weir_flow *wrong_max(struct weir_flow *flow,
				   const struct weir__kind *kind, size_t least,
				   size_t max)
{
	if (max >= least && max <= WEIR__BYTES_MAX)
		return flow;
	return weir__flow_wrong(flow, kind, "max %zu is not %zu to %zu", max,
				least, (size_t)WEIR__BYTES_MAX);
}

struct weir_flow *weir_flow_lines(struct weir_flow *flow, size_t max)
{
	struct framing args = {
		.scan = scan_delimited,
		.max = max,
		.overhead = 1,
		.delimiter = "\n",
	};

	flow = weir__flow_upon(&lines_kind, flow, &args, sizeof(args),
			       max > 0 && max <= WEIR__BYTES_MAX);
	return wrong_max(flow, &lines_kind, 1, max);
}

struct weir_flow *weir_flow_delimited(struct weir_flow *flow,
				      const void *delimiter, size_t length,
				      size_t max,
				      enum weir_flow_remainder remainder)
{
	struct framing args = {
		.scan = scan_delimited,
		.max = max,
		.overhead = length,
		.remainder = remainder,
	};
	bool valid = delimiter && length > 0 && length <= DELIMITER_MAX &&
		     max > 0 && max <= WEIR__BYTES_MAX && (int)remainder >= 0 &&
		     remainder <= WEIR_FLOW_REMAINDER_DROP;

	if (valid)
		memcpy(args.delimiter, delimiter, length);
	flow = weir__flow_upon(&delimited_kind, flow, &args, sizeof(args),
			       valid);
	flow = wrong_max(flow, &delimited_kind, 1, max);
	if (length == 0 || length > DELIMITER_MAX)
		return weir__flow_wrong(flow, &delimited_kind,
					"length %zu is not 1 to %u", length,
					DELIMITER_MAX);
	return weir__flow_wrong_as(flow, &delimited_kind,
				   delimiter ? "no such remainder"
					     : "delimiter is NULL");
}

static bool length_valid(size_t header, enum weir_flow_byte_order order)
{
	return (header == 1 || header == 2 || header == 4 || header == 8) &&
	       (int)order >= 0 && order <= WEIR_FLOW_BYTE_ORDER_LITTLE;
}

/* Says what is wrong with a length, if anything is. */
static struct weir_flow *wrong_length(struct weir_flow *flow,
				      const struct weir__kind *kind,
				      size_t header,
				      enum weir_flow_byte_order order)
{
	if ((int)order < 0 || order > WEIR_FLOW_BYTE_ORDER_LITTLE)
		return weir__flow_wrong_as(flow, kind, "no such byte order");
	return weir__flow_wrong(flow, kind, "header %zu is not 1, 2, 4 or 8",
				header);
}

struct weir_flow *weir_flow_length_prefixed(struct weir_flow *flow,
					    size_t header,
					    enum weir_flow_byte_order order,
					    size_t max)
{
	struct framing args = {
		.scan = scan_prefixed,
		.max = max,
		.overhead = header,
		.header = header,
		.remainder = WEIR_FLOW_REMAINDER_FAIL,
		.order = order,
	};

	flow = weir__flow_upon(&length_prefixed_kind, flow, &args, sizeof(args),
			       length_valid(header, order) &&
				       max <= WEIR__BYTES_MAX);
	flow = wrong_max(flow, &length_prefixed_kind, 0, max);
	return wrong_length(flow, &length_prefixed_kind, header, order);
}

struct weir_flow *weir_flow_length_field(
	struct weir_flow *flow, size_t header, enum weir_flow_byte_order order,
	size_t max, const struct weir_flow_length_field_options *options)
{
	static const struct weir_flow_length_field_options none;
	const struct weir_flow_length_field_options *o = options ? options
								 : &none;
	struct framing args = {
		.scan = scan_field,
		.max = max,
		.offset = o->offset,
		.header = header,
		.size = o->size,
		.context = o->context,
		.remainder = WEIR_FLOW_REMAINDER_FAIL,
		.order = order,
	};
	bool zero = weir__reserved_zero(o->reserved);
	bool fits = max >= header && max - header >= o->offset;

	flow = weir__flow_upon(&length_field_kind, flow, &args, sizeof(args),
			       length_valid(header, order) && zero && fits &&
				       max <= WEIR__BYTES_MAX);
	if (!zero)
		return weir__flow_wrong_as(flow, &length_field_kind,
					   "options->reserved is not zero");
	if (!fits)
		return weir__flow_wrong(flow, &length_field_kind,
					"max %zu is less than offset %zu and "
					"header %zu",
					max, o->offset, header);
	flow = wrong_max(flow, &length_field_kind, 0, max);
	return wrong_length(flow, &length_field_kind, header, order);
}

struct weir_flow *weir_flow_json_objects(struct weir_flow *flow, size_t max)
{
	struct framing args = {
		.scan = scan_object,
		.objects = true,
		.max = max,
		.remainder = WEIR_FLOW_REMAINDER_FAIL,
	};

	flow = weir__flow_upon(&json_objects_kind, flow, &args, sizeof(args),
			       max > 0 && max <= WEIR__BYTES_MAX);
	return wrong_max(flow, &json_objects_kind, 1, max);
}
