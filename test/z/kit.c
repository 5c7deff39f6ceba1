/* SPDX-License-Identifier: BSD-2-Clause */
#include "z/kit.h"

#include <zlib.h>
#include <zstd.h>

#include "base/random.h"

/* --- Texts ---------------------------------------------------------------- */

static struct text text_new(size_t n)
{
	struct text text = {.bytes = malloc(n + 1), .n = n};

	assert_non_null(text.bytes);
	return text;
}

struct text text_of_words(size_t n, uint64_t seed)
{
	struct text text = text_new(n);
	size_t i = 0, word, j;

	while (i < n) {
		word = weir__splitmix(&seed) % 64 + weir__splitmix(&seed) % 64;
		for (j = 0; j <= word % 7 && i < n; j++)
			text.bytes[i++] = (char)('a' + word * (j + 3) % 26);
		if (i < n)
			text.bytes[i++] = ' ';
	}
	return text;
}

struct text text_of_zeros(size_t n)
{
	struct text text = text_new(n);

	memset(text.bytes, 0, n);
	return text;
}

struct text text_of_noise(size_t n, uint64_t seed)
{
	struct text text = text_new(n);
	size_t i;

	for (i = 0; i < n; i++)
		text.bytes[i] = (char)(weir__splitmix(&seed) >> 16);
	return text;
}

struct text text_copy(const char *bytes, size_t n)
{
	struct text text = text_new(n);

	if (n > 0)
		memcpy(text.bytes, bytes, n);
	return text;
}

struct text text_join(struct text a, struct text b)
{
	struct text text = text_new(a.n + b.n);

	memcpy(text.bytes, a.bytes, a.n);
	memcpy(text.bytes + a.n, b.bytes, b.n);
	return text;
}

void text_free(struct text text)
{
	free(text.bytes);
}

void assert_text(struct text a, struct text b)
{
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.bytes, b.bytes, a.n);
}

/* --- zlib --------------------------------------------------------------------- */

static struct weir_flow *deflate_as(struct weir_flow *flow, size_t block,
				    uint64_t quiet_ns,
				    enum weir_flow_deflate_format format)
{
	const struct weir_flow_deflate_options options = {
		.format = format,
		.block = block,
		.quiet_ns = quiet_ns,
	};

	return weir_flow_deflate(flow, &options);
}

static struct weir_flow *inflate_as(struct weir_flow *flow,
				    const struct z_limits *limits,
				    enum weir_flow_deflate_format format)
{
	const struct weir_flow_inflate_options options = {
		.format = format,
		.block = limits->block,
		.max_bytes = limits->max_bytes,
		.max_ratio = limits->max_ratio,
		.ignore_trailing = limits->ignore_trailing,
	};

	return weir_flow_inflate(flow, &options);
}

static struct text plain_deflate(struct text text, int bits)
{
	struct text packed = text_new(text.n + text.n / 8 + 256);
	z_stream z = {
		.next_in = (Bytef *)text.bytes,
		.avail_in = (uInt)text.n,
		.next_out = (Bytef *)packed.bytes,
		.avail_out = (uInt)packed.n,
	};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed.n = z.total_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
	return packed;
}

static struct text plain_inflate(struct text packed, int bits)
{
	struct text text = text_new((packed.n + 64) * 1100);
	z_stream z = {
		.next_in = (Bytef *)packed.bytes,
		.avail_in = (uInt)packed.n,
		.next_out = (Bytef *)text.bytes,
		.avail_out = (uInt)text.n,
	};
	int rc;

	assert_int_equal(inflateInit2(&z, bits), Z_OK);
	rc = inflate(&z, Z_FINISH);
	text.n = z.total_out;
	if (rc != Z_STREAM_END || z.avail_in > 0) {
		free(text.bytes);
		text = (struct text){0};
	}
	assert_int_equal(inflateEnd(&z), Z_OK);
	return text;
}

#define DEFLATE_FORMAT(name, format, bits) \
	static struct weir_flow *name##_pack(struct weir_flow *flow, \
					     size_t block, uint64_t quiet_ns) \
	{ \
		return deflate_as(flow, block, quiet_ns, format); \
	} \
	static struct weir_flow *name##_unpack(struct weir_flow *flow, \
					       const struct z_limits *limits) \
	{ \
		return inflate_as(flow, limits, format); \
	} \
	static struct text name##_plain_pack(struct text text) \
	{ \
		return plain_deflate(text, bits); \
	} \
	static struct text name##_plain_unpack(struct text packed) \
	{ \
		return plain_inflate(packed, bits); \
	}

DEFLATE_FORMAT(gzip, WEIR_FLOW_DEFLATE_FORMAT_GZIP, MAX_WBITS + 16)
DEFLATE_FORMAT(zlib, WEIR_FLOW_DEFLATE_FORMAT_ZLIB, MAX_WBITS)
DEFLATE_FORMAT(raw, WEIR_FLOW_DEFLATE_FORMAT_RAW, -MAX_WBITS)

/* --- libzstd ------------------------------------------------------------------ */

static struct weir_flow *zstd_pack(struct weir_flow *flow, size_t block,
				   uint64_t quiet_ns)
{
	/* so that what is corrupt is found */
	const struct weir_flow_zstd_options options = {
		.level = 1,
		.checksum = true,
		.block = block,
		.quiet_ns = quiet_ns,
	};

	return weir_flow_zstd(flow, &options);
}

static struct weir_flow *zstd_unpack(struct weir_flow *flow,
				     const struct z_limits *limits)
{
	const struct weir_flow_unzstd_options options = {
		.block = limits->block,
		.max_bytes = limits->max_bytes,
		.max_ratio = limits->max_ratio,
		.ignore_trailing = limits->ignore_trailing,
	};

	return weir_flow_unzstd(flow, &options);
}

static struct text zstd_plain_pack(struct text text)
{
	struct text packed = text_new(ZSTD_compressBound(text.n));
	ZSTD_CCtx *z = ZSTD_createCCtx();

	assert_false(ZSTD_isError(
		ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)));
	packed.n =
		ZSTD_compress2(z, packed.bytes, packed.n, text.bytes, text.n);
	assert_false(ZSTD_isError(packed.n));
	(void)ZSTD_freeCCtx(z);
	return packed;
}

/* Its calls for a whole text want to know the size: a stream. */
static struct text zstd_plain_unpack(struct text packed)
{
	struct text text = text_new((packed.n + 64) * 40000);
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = packed.bytes, .size = packed.n};
	ZSTD_outBuffer out = {.dst = text.bytes, .size = text.n};
	size_t rc = 1;

	while (in.pos < in.size && rc != 0 && !ZSTD_isError(rc))
		rc = ZSTD_decompressStream(z, &out, &in);
	text.n = out.pos;
	if (rc != 0 || in.pos < in.size) {
		free(text.bytes);
		text = (struct text){0};
	}
	(void)ZSTD_freeDCtx(z);
	return text;
}

const struct z_format z_formats[Z_FORMATS] = {
	{"gzip", gzip_pack, gzip_unpack, gzip_plain_pack, gzip_plain_unpack,
	 true},
	{"zlib", zlib_pack, zlib_unpack, zlib_plain_pack, zlib_plain_unpack,
	 false},
	{"raw", raw_pack, raw_unpack, raw_plain_pack, raw_plain_unpack, false},
	{"zstd", zstd_pack, zstd_unpack, zstd_plain_pack, zstd_plain_unpack,
	 true},
};

/* --- Runs --------------------------------------------------------------------- */

static int next_piece(void **state, void **item, void *context)
{
	struct z_run *run = context;
	size_t n = run->in.n - run->at, most = run->piece;
	struct weir_flow_bytes *bytes;

	if (n == 0)
		return run->fails;
	if (most == 0) /* also empty ones */
		most = weir__splitmix(&run->random) % 200;
	n = n < most ? n : most;
	if (weir_flow_bytes_new(&bytes, n, &run->heap.allocator) < 0)
		return -ENOMEM;
	memcpy(bytes->data, run->in.bytes + run->at, n);
	run->at += n;
	*item = bytes;
	return 1;
}

struct weir_flow *z_pieces(struct z_run *run)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_piece, run),
			       weir_flow_bytes_items());
}

static int gather(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct z_run *run = context;

	assert_true(bytes->n > 0);
	run->out.bytes = realloc(run->out.bytes, run->out.n + bytes->n);
	assert_non_null(run->out.bytes);
	memcpy(run->out.bytes + run->out.n, bytes->data, bytes->n);
	run->out.n += bytes->n;
	run->n_items++;
	if (bytes->n > run->longest)
		run->longest = bytes->n;
	weir_flow_bytes_unref(bytes);
	return 0;
}

void z_start(struct z_run *run, struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {.unfused = run->unfused};
	struct weir_executor_options on = {.allocator = &run->heap.allocator};
	size_t fail = run->heap.fail;

	heap_init(&run->heap, 0);
	run->out = (struct text){.bytes = malloc(1)};
	run->n_items = run->longest = run->at = 0;
	run->random = run->seed + 1;
	run->message[0] = '\0';
	run->flow = weir_flow_for_each(flow, gather, run);
	assert_int_equal(weir_sim_new(&run->sim, run->seed + 1, &on), 0);
	if (fail)
		run->heap.fail = run->heap.calls + fail;
	run->code = weir_flow_start(run->flow, weir_sim_executor(run->sim),
				    &options, &run->handle);
	if (run->code < 0)
		run->handle = NULL;
}

void z_finish(struct z_run *run)
{
	struct weir_error *error = NULL;

	if (run->handle) {
		assert_int_equal(weir_flow_run_wait(run->handle, WEIR_FOREVER,
						    NULL, &error),
				 0);
		weir_flow_run_free(run->handle);
		run->code = error ? error->code : 0;
		if (error)
			(void)snprintf(run->message, sizeof(run->message),
				       "%s: %s", error->origin, error->message);
		weir_error_unref(error);
	}
	weir_flow_free(run->flow);
	assert_int_equal(weir_sim_free(run->sim), 0);
	assert_int_equal(run->heap.live, 0);
}

void z_go(struct z_run *run, struct weir_flow *flow)
{
	z_start(run, flow);
	z_finish(run);
}

struct text z_packed(const struct z_format *format, struct text in,
		     size_t piece, size_t block)
{
	struct z_run run = {.in = in, .piece = piece, .seed = piece};

	z_go(&run, format->pack(z_pieces(&run), block, 0));
	assert_int_equal(run.code, 0);
	assert_true(run.longest <= (block ? block : 65536));
	return run.out;
}

struct text z_unpacked(const struct z_format *format, struct text in,
		       size_t piece, const struct z_limits *limits, int *code)
{
	static const struct z_limits none;
	struct z_run run = {.in = in, .piece = piece, .seed = piece};

	if (!limits)
		limits = &none;
	z_go(&run, format->unpack(z_pieces(&run), limits));
	assert_true(run.longest <= (limits->block ? limits->block : 65536));
	*code = run.code;
	return run.out;
}
