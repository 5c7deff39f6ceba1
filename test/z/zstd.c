/* SPDX-License-Identifier: BSD-2-Clause */
/* What is Zstandard's alone: windows, check sums, frames to be skipped, and its
 * memory, which is not the executor's. */
#include "z/kit.h"

#include <zstd.h>
#include <zstd_errors.h>

#define ZSTD (&z_formats[3])

/* --- The library, whose memory runs short --------------------------------------- */

static bool no_context;
static int fails_at; /* the call of a stream; 0: none */

ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
size_t __real_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out,
				   ZSTD_inBuffer *in, ZSTD_EndDirective end);
size_t __real_ZSTD_decompressStream(ZSTD_DCtx *z, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out,
				   ZSTD_inBuffer *in, ZSTD_EndDirective end);
size_t __wrap_ZSTD_decompressStream(ZSTD_DCtx *z, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in);

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
	return no_context ? NULL : __real_ZSTD_createCCtx();
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
	return no_context ? NULL : __real_ZSTD_createDCtx();
}

static bool fails_now(void)
{
	return fails_at > 0 && --fails_at == 0;
}

size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out,
				   ZSTD_inBuffer *in, ZSTD_EndDirective end)
{
	if (fails_now())
		return (size_t)-ZSTD_error_memory_allocation;
	return __real_ZSTD_compressStream2(z, out, in, end);
}

size_t __wrap_ZSTD_decompressStream(ZSTD_DCtx *z, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in)
{
	if (fails_now())
		return (size_t)-ZSTD_error_memory_allocation;
	return __real_ZSTD_decompressStream(z, out, in);
}

static void without_memory_of_its_own_it_does_not_start(void **state)
{
	struct text text = text_of_words(100, 1);
	const struct z_limits none = {0};
	struct z_run run = {.in = text, .piece = 10};

	no_context = true;
	z_go(&run, ZSTD->pack(z_pieces(&run), 0, 0));
	assert_int_equal(run.code, -ENOMEM);
	text_free(run.out);
	z_go(&run, ZSTD->unpack(z_pieces(&run), &none));
	assert_int_equal(run.code, -ENOMEM);
	text_free(run.out);
	no_context = false;
	text_free(text);
}

static void memory_that_runs_short_later_is_told(void **state)
{
	struct text text = text_of_words(1000, 1), packed;
	const struct z_limits none = {0};
	struct z_run run = {.in = text, .piece = 100};
	int at;

	packed = ZSTD->plain_pack(text);
	for (at = 1; at <= 11; at++) {
		run.in = text;
		fails_at = at;
		z_go(&run, ZSTD->pack(z_pieces(&run), 0, 0));
		assert_int_equal(run.code, -ENOMEM);
		assert_int_equal(fails_at, 0);
		text_free(run.out);
		run.in = packed;
		run.piece = 1;
		fails_at = at;
		z_go(&run, ZSTD->unpack(z_pieces(&run), &none));
		assert_int_equal(run.code, -ENOMEM);
		text_free(run.out);
		run.piece = 100;
	}
	text_free(packed);
	text_free(text);
}

/* --- Frames ----------------------------------------------------------------- */

static int code_with_window(struct text packed, size_t max_window, char *said)
{
	const struct weir_flow_unzstd_options options = {
		.max_window = max_window,
	};
	struct z_run run = {.in = packed, .piece = 1000};

	z_go(&run, weir_flow_unzstd(z_pieces(&run), &options));
	strcpy(said, run.message);
	text_free(run.out);
	return run.code;
}

/* A stream of unknown size at level 3 has a window of 2 MiB. */
static void a_window_that_is_too_large_is_refused(void **state)
{
	struct text text = text_of_words(100000, 1);
	const struct weir_flow_zstd_options options = {0};
	struct z_run run = {.in = text, .piece = 1000};
	char said[128];

	z_go(&run, weir_flow_zstd(z_pieces(&run), &options));
	assert_int_equal(run.code, 0);
	assert_int_equal(code_with_window(run.out, 0, said), 0);
	assert_int_equal(code_with_window(run.out, 2 << 20, said), 0);
	assert_int_equal(code_with_window(run.out, 1 << 20, said), -E2BIG);
	assert_string_equal(said, "unzstd: Frame requires too much memory for"
				  " decoding");
	text_free(run.out);
	text_free(text);
}

static size_t size_with(struct text text, int level, bool checksum)
{
	const struct weir_flow_zstd_options options = {
		.level = level,
		.checksum = checksum,
	};
	struct z_run run = {.in = text, .piece = 1000};

	z_go(&run, weir_flow_zstd(z_pieces(&run), &options));
	assert_int_equal(run.code, 0);
	text_free(run.out);
	return run.out.n;
}

static void options_are_the_library_s(void **state)
{
	struct text text = text_of_words(300000, 1);

	assert_int_equal(size_with(text, 0, false), size_with(text, 3, false));
	assert_true(size_with(text, -5, false) > size_with(text, 3, false));
	assert_true(size_with(text, 12, false) < size_with(text, 3, false));
	assert_int_equal(size_with(text, 3, true),
			 size_with(text, 3, false) + 4);
	text_free(text);
}

static void frames_to_be_skipped_are(void **state)
{
	static const char skip[] = "\x50\x2a\x4d\x18\x05\0\0\0skip!";
	struct text text = text_of_words(1000, 1),
		    packed = ZSTD->plain_pack(text),
		    skipped = text_copy(skip, 13),
		    before = text_join(skipped, packed),
		    all = text_join(before, skipped), got;
	size_t piece;
	int code;

	for (piece = 1; piece < 20; piece++) {
		got = z_unpacked(ZSTD, all, piece, NULL, &code);
		assert_int_equal(code, 0);
		assert_text(got, text);
		text_free(got);
	}
	text_free(all);
	text_free(before);
	text_free(skipped);
	text_free(packed);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_of_its_own_it_does_not_start),
		cmocka_unit_test(memory_that_runs_short_later_is_told),
		cmocka_unit_test(a_window_that_is_too_large_is_refused),
		cmocka_unit_test(options_are_the_library_s),
		cmocka_unit_test(frames_to_be_skipped_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
