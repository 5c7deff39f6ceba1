/* SPDX-License-Identifier: BSD-2-Clause */
/* What zlib compresses, and decompresses. */
#include <errno.h>
#include <limits.h>

#include "z/coder.h"

#define ZLIB_CONST
#include <zlib.h>

#define LEVEL_DEFAULT 6

/* --- zlib's streams --------------------------------------------------------- */

struct stream {
	z_stream z;
};

/* Each piece of zlib's memory has its size before it. */
union piece {
	size_t size;
	max_align_t align;
};

static void *z_alloc(void *opaque, uInt n, uInt size)
{
	const struct weir_allocator *allocator = opaque;
	size_t all = sizeof(union piece) + (size_t)n * size;
	union piece *piece = allocator->alloc(all, allocator->context);

	if (!piece)
		return NULL;
	piece->size = all;
	return piece + 1;
}

static void z_free(void *opaque, void *memory)
{
	const struct weir_allocator *allocator = opaque;
	union piece *piece = (union piece *)memory - 1;

	allocator->free(piece, piece->size, allocator->context);
}

static void set_memory(z_stream *z, const struct weir_allocator *allocator)
{
	z->zalloc = z_alloc;
	z->zfree = z_free;
	z->opaque = (void *)(uintptr_t)allocator;
}

/* As zlib counts: the window, and what stands around the bytes. */
static int window_bits(int format)
{
	switch (format) {
	case WEIR_FLOW_DEFLATE_FORMAT_GZIP:
		return MAX_WBITS + 16;
	case WEIR_FLOW_DEFLATE_FORMAT_ZLIB:
		return MAX_WBITS;
	default:
		return -MAX_WBITS;
	}
}

static bool is_format(enum weir_flow_deflate_format format)
{
	return (unsigned int)format <= WEIR_FLOW_DEFLATE_FORMAT_RAW;
}

static uInt most(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

/* One call. What is left goes into *step. */
static int call(z_stream *z, int (*function)(z_stream *z, int flush), int flush,
		struct weir__coder_step *step)
{
	uInt n_in = most(step->n_in), n_out = most(step->n_out);
	int rc;

	z->next_in = (const Bytef *)step->in;
	z->avail_in = n_in;
	z->next_out = (Bytef *)step->out;
	z->avail_out = n_out;
	rc = function(z, flush);
	step->n_in -= n_in - z->avail_in;
	step->n_out -= n_out - z->avail_out;
	step->message = z->msg;
	return rc;
}

/* --- Compress --------------------------------------------------------------- */

static int deflate_open(void *state, const struct weir__coder_args *args,
			const struct weir_allocator *allocator)
{
	struct stream *self = state;

	set_memory(&self->z, allocator);
	return deflateInit2(&self->z, args->level, Z_DEFLATED,
			    window_bits(args->format), 8,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static void deflate_close(void *state)
{
	struct stream *self = state;

	(void)deflateEnd(&self->z);
}

/* It cannot fail: it has its memory. */
static int deflate_step(void *state, struct weir__coder_step *step)
{
	static const int flush[] = {
		[WEIR__CODING_RUN] = Z_NO_FLUSH,
		[WEIR__CODING_FLUSH] = Z_SYNC_FLUSH,
		[WEIR__CODING_END] = Z_FINISH,
	};
	struct stream *self = state;
	int rc = call(&self->z, deflate, flush[step->coding], step);

	switch (step->coding) {
	case WEIR__CODING_FLUSH:
		return step->n_out > 0;
	case WEIR__CODING_END:
		return rc == Z_STREAM_END;
	default:
		return 0;
	}
}

static const struct weir__codec deflate_codec = {
	.name = "deflate",
	.state_size = sizeof(struct stream),
	.open = deflate_open,
	.close = deflate_close,
	.step = deflate_step,
};

struct weir_flow *weir_flow_deflate(
	struct weir_flow *flow, const struct weir_flow_deflate_options *options)
{
	static const struct weir_flow_deflate_options defaults;
	const struct weir_flow_deflate_options *o = options ? options
							    : &defaults;
	struct weir__coder_args args = {
		.codec = &deflate_codec,
		.format = (int)o->format,
		.level = o->level ? o->level : LEVEL_DEFAULT,
		.block = o->block,
		.quiet_ns = o->quiet_ns,
	};
	const char *wrong = weir__coder_wrong(&args, o->reserved);

	if (!is_format(o->format))
		wrong = "no such format";
	if (args.level < Z_BEST_SPEED || args.level > Z_BEST_COMPRESSION)
		wrong = "level is not 1 to 9";
	return weir__coder_new(flow, &args, wrong);
}

/* --- Decompress ------------------------------------------------------------- */

static int inflate_open(void *state, const struct weir__coder_args *args,
			const struct weir_allocator *allocator)
{
	struct stream *self = state;

	set_memory(&self->z, allocator);
	return inflateInit2(&self->z, window_bits(args->format)) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static void inflate_close(void *state)
{
	struct stream *self = state;

	(void)inflateEnd(&self->z);
}

static int inflate_next(void *state)
{
	struct stream *self = state;

	return inflateReset(&self->z) == Z_OK ? 0 : -EINVAL;
}

static int inflate_step(void *state, struct weir__coder_step *step)
{
	struct stream *self = state;

	switch (call(&self->z, inflate, Z_NO_FLUSH, step)) {
	case Z_STREAM_END:
		return 1;
	case Z_OK:
	case Z_BUF_ERROR: /* nothing was left to be given */
		return 0;
	case Z_NEED_DICT:
		step->message = "a dictionary is needed";
		return -EBADMSG;
	case Z_MEM_ERROR:
		step->message = "no memory for the window";
		return -ENOMEM;
	default:
		/* it does not begin as it should, in its first two bytes */
		return self->z.total_in <= 2 ? -EILSEQ : -EBADMSG;
	}
}

static const struct weir__codec inflate_codec = {
	.name = "inflate",
	.state_size = sizeof(struct stream),
	.decodes = true,
	.open = inflate_open,
	.close = inflate_close,
	.step = inflate_step,
};

static const struct weir__codec gunzip_codec = {
	.name = "inflate",
	.state_size = sizeof(struct stream),
	.decodes = true,
	.magic = 2,
	.open = inflate_open,
	.close = inflate_close,
	.step = inflate_step,
	.next = inflate_next,
};

struct weir_flow *weir_flow_inflate(
	struct weir_flow *flow, const struct weir_flow_inflate_options *options)
{
	static const struct weir_flow_inflate_options defaults;
	const struct weir_flow_inflate_options *o = options ? options
							    : &defaults;
	struct weir__coder_args args = {
		.codec = o->format == WEIR_FLOW_DEFLATE_FORMAT_GZIP
				 ? &gunzip_codec
				 : &inflate_codec,
		.format = (int)o->format,
		.block = o->block,
		.max_bytes = o->max_bytes,
		.max_ratio = o->max_ratio,
		.ignore_trailing = o->ignore_trailing,
	};
	const char *wrong = weir__coder_wrong(&args, o->reserved);

	if (!is_format(o->format))
		wrong = "no such format";
	return weir__coder_new(flow, &args, wrong);
}
