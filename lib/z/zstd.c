/* SPDX-License-Identifier: BSD-2-Clause */
/* What libzstd compresses, and decompresses; its stable interface alone. */
#include <errno.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "z/coder.h"

#define LEVEL_DEFAULT 3
#define WINDOW_DEFAULT ((size_t)8 << 20)
#define WINDOW_LOG_MIN 10 /* of the format */
#define WINDOW_LOG_MAX 30 /* of libzstd where a size has 32 bits */
#define MAGIC 4		  /* bytes */

static int code_of(size_t rc)
{
	switch (ZSTD_getErrorCode(rc)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -E2BIG;
	case ZSTD_error_prefix_unknown:
		return -EILSEQ;
	default:
		return -EBADMSG;
	}
}

/* What is left goes into *step. `rc`: the library's result. */
static int judge(struct weir__coder_step *step, const ZSTD_inBuffer *in,
		 const ZSTD_outBuffer *out, size_t rc)
{
	step->n_in -= in->pos;
	step->n_out -= out->pos;
	if (!ZSTD_isError(rc))
		return rc == 0;
	step->message = ZSTD_getErrorName(rc);
	return code_of(rc);
}

/* --- Compress --------------------------------------------------------------- */

static int zstd_open(void *state, const struct weir__coder_args *args,
		     const struct weir_allocator *allocator)
{
	ZSTD_CCtx **self = state;

	(void)allocator; /* libzstd takes one in its unstable interface only */
	*self = ZSTD_createCCtx();
	if (*self &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(*self, ZSTD_c_compressionLevel,
						 args->level)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(*self, ZSTD_c_checksumFlag,
						 args->checksum)))
		return 0;
	(void)ZSTD_freeCCtx(*self);
	return -ENOMEM;
}

static void zstd_close(void *state)
{
	ZSTD_CCtx **self = state;

	(void)ZSTD_freeCCtx(*self);
}

static int zstd_step(void *state, struct weir__coder_step *step)
{
	static const ZSTD_EndDirective directive[] = {
		[WEIR__CODING_RUN] = ZSTD_e_continue,
		[WEIR__CODING_FLUSH] = ZSTD_e_flush,
		[WEIR__CODING_END] = ZSTD_e_end,
	};
	ZSTD_CCtx **self = state;
	ZSTD_inBuffer in = {.src = step->in, .size = step->n_in};
	ZSTD_outBuffer out = {.dst = step->out, .size = step->n_out};
	size_t rc =
		ZSTD_compressStream2(*self, &out, &in, directive[step->coding]);

	return judge(step, &in, &out, rc);
}

static const struct weir__codec zstd_codec = {
	.name = "zstd",
	.state_size = sizeof(ZSTD_CCtx *),
	.open = zstd_open,
	.close = zstd_close,
	.step = zstd_step,
};

struct weir_flow *weir_flow_zstd(struct weir_flow *flow,
				 const struct weir_flow_zstd_options *options)
{
	static const struct weir_flow_zstd_options defaults;
	const struct weir_flow_zstd_options *o = options ? options : &defaults;
	struct weir__coder_args args = {
		.codec = &zstd_codec,
		.level = o->level ? o->level : LEVEL_DEFAULT,
		.checksum = o->checksum,
		.block = o->block,
		.quiet_ns = o->quiet_ns,
	};
	const char *wrong = weir__coder_wrong(&args, o->reserved);

	if (args.level < ZSTD_minCLevel() || args.level > ZSTD_maxCLevel())
		wrong = "level is not ZSTD_minCLevel() to ZSTD_maxCLevel()";
	return weir__coder_new(flow, &args, wrong);
}

/* --- Decompress ------------------------------------------------------------- */

static int log_of(size_t window)
{
	int log = 0;

	while (log < WINDOW_LOG_MAX && (size_t)1 << log < window)
		log++;
	return log;
}

static int unzstd_open(void *state, const struct weir__coder_args *args,
		       const struct weir_allocator *allocator)
{
	ZSTD_DCtx **self = state;

	(void)allocator;
	*self = ZSTD_createDCtx();
	if (*self &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(*self, ZSTD_d_windowLogMax,
						 log_of(args->max_window))))
		return 0;
	(void)ZSTD_freeDCtx(*self);
	return -ENOMEM;
}

static void unzstd_close(void *state)
{
	ZSTD_DCtx **self = state;

	(void)ZSTD_freeDCtx(*self);
}

/* It begins the next frame by itself. */
static int unzstd_next(void *state)
{
	(void)state;
	return 0;
}

static int unzstd_step(void *state, struct weir__coder_step *step)
{
	ZSTD_DCtx **self = state;
	ZSTD_inBuffer in = {.src = step->in, .size = step->n_in};
	ZSTD_outBuffer out = {.dst = step->out, .size = step->n_out};
	size_t rc = ZSTD_decompressStream(*self, &out, &in);

	return judge(step, &in, &out, rc);
}

static const struct weir__codec unzstd_codec = {
	.name = "unzstd",
	.state_size = sizeof(ZSTD_DCtx *),
	.decodes = true,
	.magic = MAGIC,
	.open = unzstd_open,
	.close = unzstd_close,
	.step = unzstd_step,
	.next = unzstd_next,
};

struct weir_flow *weir_flow_unzstd(
	struct weir_flow *flow, const struct weir_flow_unzstd_options *options)
{
	static const struct weir_flow_unzstd_options defaults;
	const struct weir_flow_unzstd_options *o = options ? options
							   : &defaults;
	struct weir__coder_args args = {
		.codec = &unzstd_codec,
		.max_window = o->max_window ? o->max_window : WINDOW_DEFAULT,
		.block = o->block,
		.max_bytes = o->max_bytes,
		.max_ratio = o->max_ratio,
		.ignore_trailing = o->ignore_trailing,
	};
	const char *wrong = weir__coder_wrong(&args, o->reserved);
	int log = log_of(args.max_window);

	if (log < WINDOW_LOG_MIN || args.max_window != (size_t)1 << log)
		wrong = "max_window is no power of two of 1 KiB to 1 GiB";
	return weir__coder_new(flow, &args, wrong);
}
