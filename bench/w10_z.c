/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W10, compression: an operator against its library alone, in a loop over the
 * same pieces and into blocks of the same size. What is packed must come to the
 * same bytes as by the other one, and what is unpacked to the text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/flow_compress.h>
#include <weir/weir.h>

#include <zlib.h>
#include <zstd.h>

#include "support.h"
#include "who.h"

#define BLOCK 65536

/* --- Texts, and what becomes of them ---------------------------------------- */

struct text {
	char *bytes;
	size_t n;
};

/* What has come out. */
struct sum {
	uint64_t n;
	uLong crc;	   /* of what was packed */
	struct text plain; /* that was to be unpacked, or nothing */
	bool wrong;
};

static void die(const char *what)
{
	fprintf(stderr, "weir-bench: W10: %s\n", what);
	exit(1);
}

static void *must(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

static struct text words(size_t n)
{
	struct text text = {.bytes = must(malloc(n)), .n = n};
	uint64_t random = 1;
	size_t i, word;

	for (i = 0; i < n;) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		word = (random >> 33) % 97 * ((random >> 50) % 61);
		do
			text.bytes[i++] = (char)('a' + word % 26);
		while (i < n && (word /= 7) > 0);
		if (i < n)
			text.bytes[i++] = ' ';
	}
	return text;
}

/* Of each block the first bytes alone: the sum is not what is measured. */
static void add(struct sum *sum, const char *bytes, size_t n)
{
	size_t looked = n < 64 ? n : 64;

	if (!sum->plain.bytes)
		sum->crc = crc32(sum->crc, (const Bytef *)bytes, (uInt)looked);
	else if (sum->n + n > sum->plain.n ||
		 memcmp(bytes, sum->plain.bytes + sum->n, looked) != 0)
		sum->wrong = true;
	sum->n += n;
}

/* --- As a flow ---------------------------------------------------------------- */

struct source {
	struct text text;
	size_t at;
	struct sum sum;
};

/* A piece that borrows nothing: both copy. */
static int next_piece(void **state, void **item, void *context)
{
	struct source *source = context;
	size_t n = source->text.n - source->at;
	struct weir_flow_bytes *bytes;

	(void)state;
	if (n == 0)
		return 0;
	n = n < BLOCK ? n : BLOCK;
	if (weir_flow_bytes_new(&bytes, n, NULL) < 0)
		return -ENOMEM;
	memcpy(bytes->data, source->text.bytes + source->at, n);
	source->at += n;
	*item = bytes;
	return 1;
}

static int take_block(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct source *source = context;

	add(&source->sum, bytes->data, bytes->n);
	weir_flow_bytes_unref(bytes);
	return 0;
}

static struct sum by_flow(struct text text, struct text plain,
			  struct weir_flow *(*upon)(struct weir_flow *flow))
{
	struct source source = {.text = text, .sum.plain = plain};
	struct weir_flow *flow = weir_flow_unfold(NULL, next_piece, &source);
	struct weir_loop *loop;

	flow = upon(weir_flow_items(flow, weir_flow_bytes_items()));
	flow = weir_flow_for_each(flow, take_block, &source);
	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_flow_run(flow, weir_loop_executor(loop), NULL) < 0)
		die("the flow fails");
	weir_flow_free(flow);
	if (weir_loop_free(loop) < 0)
		die("the loop is busy");
	return source.sum;
}

static struct weir_flow *deflated(struct weir_flow *flow)
{
	return weir_flow_deflate(flow, NULL);
}

static struct weir_flow *inflated(struct weir_flow *flow)
{
	return weir_flow_inflate(flow, NULL);
}

static struct weir_flow *zstded(struct weir_flow *flow)
{
	return weir_flow_zstd(flow, NULL);
}

static struct weir_flow *unzstded(struct weir_flow *flow)
{
	return weir_flow_unzstd(flow, NULL);
}

/* --- By the library alone ------------------------------------------------------ */

/* One call of a library. */
struct step {
	const char *in;
	size_t n_in; /* and what is left of it */
	char *out;
	size_t n_out; /* room, and what is left of it */
	bool last, over;
};

struct loop {
	void *state;
	void (*call)(void *state, struct step *step);
	bool decodes;
};

/* A block is given away when it is full, or when all is decoded that there is:
 * then the next one is new. */
static bool give_block(struct step *step, char **block, struct sum *sum,
		       bool decodes)
{
	size_t n = BLOCK - step->n_out;

	if (n == 0 || (n < BLOCK && !step->over && (!decodes || step->n_in)))
		return false;
	add(sum, *block, n);
	free(*block);
	*block = must(malloc(BLOCK));
	step->out = *block;
	step->n_out = BLOCK;
	return n == BLOCK;
}

/* A piece is copied, as it is for the flow. */
static struct sum by_loop(struct text text, struct text plain,
			  const struct loop *loop)
{
	char *piece, *block = must(malloc(BLOCK));
	struct step step = {.out = block, .n_out = BLOCK};
	struct sum sum = {.plain = plain};
	size_t at = 0, n;
	bool more;

	while (!step.over) {
		n = text.n - at < BLOCK ? text.n - at : BLOCK;
		step.last = n == 0;
		step.in = piece = must(malloc(n + 1));
		step.n_in = n;
		memcpy(piece, text.bytes + at, n);
		at += n;
		do {
			loop->call(loop->state, &step);
			more = give_block(&step, &block, &sum, loop->decodes);
		} while (!step.over && (more || step.n_in > 0));
		free(piece);
	}
	free(block);
	return sum;
}

static int call_zlib(z_stream *z, int (*function)(z_stream *z, int flush),
		     int flush, struct step *step)
{
	int rc;

	z->next_in = (Bytef *)(uintptr_t)step->in;
	z->avail_in = (uInt)step->n_in;
	z->next_out = (Bytef *)step->out;
	z->avail_out = (uInt)step->n_out;
	rc = function(z, flush);
	if (rc != Z_OK && rc != Z_BUF_ERROR && rc != Z_STREAM_END)
		die("zlib fails");
	step->in = (const char *)z->next_in;
	step->n_in = z->avail_in;
	step->out = (char *)z->next_out;
	step->n_out = z->avail_out;
	return rc;
}

static void call_deflate(void *state, struct step *step)
{
	step->over = call_zlib(state, deflate, step->last ? Z_FINISH : 0,
			       step) == Z_STREAM_END;
}

static void call_inflate(void *state, struct step *step)
{
	step->over = call_zlib(state, inflate, 0, step) == Z_STREAM_END;
}

static void after_zstd(struct step *step, const ZSTD_inBuffer *in,
		       const ZSTD_outBuffer *out, size_t rc)
{
	if (ZSTD_isError(rc))
		die("zstd fails");
	step->in += in->pos;
	step->n_in -= in->pos;
	step->out += out->pos;
	step->n_out -= out->pos;
}

static void call_zstd(void *state, struct step *step)
{
	ZSTD_inBuffer in = {.src = step->in, .size = step->n_in};
	ZSTD_outBuffer out = {.dst = step->out, .size = step->n_out};
	size_t rc = ZSTD_compressStream2(
		state, &out, &in, step->last ? ZSTD_e_end : ZSTD_e_continue);

	after_zstd(step, &in, &out, rc);
	step->over = step->last && rc == 0;
}

static void call_unzstd(void *state, struct step *step)
{
	ZSTD_inBuffer in = {.src = step->in, .size = step->n_in};
	ZSTD_outBuffer out = {.dst = step->out, .size = step->n_out};
	size_t rc = ZSTD_decompressStream(state, &out, &in);

	after_zstd(step, &in, &out, rc);
	step->over = rc == 0;
}

static struct sum deflate_alone(struct text text, struct text plain)
{
	z_stream z = {0};
	const struct loop loop = {&z, call_deflate, false};
	struct sum sum;

	if (deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		die("no memory");
	sum = by_loop(text, plain, &loop);
	(void)deflateEnd(&z);
	return sum;
}

static struct sum inflate_alone(struct text text, struct text plain)
{
	z_stream z = {0};
	const struct loop loop = {&z, call_inflate, true};
	struct sum sum;

	if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
		die("no memory");
	sum = by_loop(text, plain, &loop);
	(void)inflateEnd(&z);
	return sum;
}

static struct sum zstd_alone(struct text text, struct text plain)
{
	const struct loop loop = {must(ZSTD_createCCtx()), call_zstd, false};
	struct sum sum = by_loop(text, plain, &loop);

	(void)ZSTD_freeCCtx(loop.state);
	return sum;
}

static struct sum unzstd_alone(struct text text, struct text plain)
{
	const struct loop loop = {must(ZSTD_createDCtx()), call_unzstd, true};
	struct sum sum = by_loop(text, plain, &loop);

	(void)ZSTD_freeDCtx(loop.state);
	return sum;
}

/* --- The cells ------------------------------------------------------------------ */

static struct text packed_by_zlib(struct text text)
{
	uLong n = compressBound(text.n) + 64;
	struct text packed = {.bytes = must(malloc(n))};
	z_stream z = {
		.next_in = (Bytef *)text.bytes,
		.avail_in = (uInt)text.n,
		.next_out = (Bytef *)packed.bytes,
		.avail_out = (uInt)n,
	};

	if (deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		die("no memory");
	packed.n = z.total_out;
	(void)deflateEnd(&z);
	return packed;
}

static struct text packed_by_zstd(struct text text)
{
	size_t n = ZSTD_compressBound(text.n);
	struct text packed = {.bytes = must(malloc(n))};

	packed.n = ZSTD_compress(packed.bytes, n, text.bytes, text.n, 3);
	if (ZSTD_isError(packed.n))
		die("no memory");
	return packed;
}

struct way {
	const char *scene;
	struct weir_flow *(*upon)(struct weir_flow *flow);
	struct sum (*alone)(struct text text, struct text plain);
	struct text (*pack)(struct text text); /* of what is unpacked */
};

static const struct way ways[] = {
	{"deflate", deflated, deflate_alone, NULL},
	{"inflate", inflated, inflate_alone, packed_by_zlib},
	{"zstd", zstded, zstd_alone, NULL},
	{"unzstd", unzstded, unzstd_alone, packed_by_zstd},
};

#define WAYS (sizeof(ways) / sizeof(*ways))

/* What a way is given, of the last number of items that was asked for. */
static struct given {
	uint64_t items;
	struct text plain, packed;
	struct sum first; /* that has come out, of whoever was first */
} given[WAYS];

static struct given *give(const struct way *way, uint64_t items)
{
	struct given *it = &given[way - ways];

	if (it->items == items)
		return it;
	free(it->plain.bytes);
	free(it->packed.bytes);
	*it = (struct given){.items = items, .plain = words(items * BLOCK)};
	if (way->pack)
		it->packed = way->pack(it->plain);
	return it;
}

static bool is_right(struct given *it, struct sum sum)
{
	if (it->packed.bytes)
		return !sum.wrong && sum.n == it->plain.n;
	if (it->first.n == 0)
		it->first = sum;
	return sum.n == it->first.n && sum.crc == it->first.crc;
}

static int run(const struct bench_cell *cell, uint64_t items, bool by_weir,
	       struct bench_result *result)
{
	const struct text nothing = {0};
	const struct way *way = ways;
	uint64_t cpu_ns, start_ns;
	struct text in, plain;
	struct given *it;
	struct sum sum;

	while (strcmp(way->scene, cell->workload->scene) != 0)
		way++;
	it = give(way, items);
	in = way->pack ? it->packed : it->plain;
	plain = way->pack ? it->plain : nothing;
	cpu_ns = bench_cpu_ns();
	start_ns = bench_real_ns();
	sum = by_weir ? by_flow(in, plain, way->upon) : way->alone(in, plain);
	result->elapsed_ns = bench_real_ns() - start_ns;
	cpu_ns = bench_cpu_ns() - cpu_ns;
	result->count = items;
	result->sum = is_right(it, sum) ? items : 0;
	result->figures[0] = (double)cpu_ns / (double)items;
	result->figures[1] = (double)result->elapsed_ns / (double)items;
	result->figures[2] = (double)sum.n / (double)items;
	return 0;
}

int w10_alone(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return run(cell, items, false, result);
}

int w10_weir(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run(cell, items, true, result);
}
