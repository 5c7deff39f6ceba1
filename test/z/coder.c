/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds in all formats: whatever the pieces and the blocks, what comes out
 * is what went in; what is cut off, spoilt or too much is told.
 */
#include "z/kit.h"

#include <stdio.h>

#define EACH_FORMAT(format) \
	const struct z_format *format = z_formats; \
	format < z_formats + Z_FORMATS; \
	format++

static const size_t pieces[] = {1, 2, 7, 64, 1000, 70000};

#define N_PIECES (sizeof(pieces) / sizeof(*pieces))

static struct text short_text(void)
{
	static const char hello[] = "hello hello hello, weir; and good-bye";

	return text_copy(hello, sizeof(hello) - 1);
}

/* --- There and back --------------------------------------------------------- */

static void assert_there_and_back(const struct z_format *format,
				  struct text text, size_t piece, size_t block)
{
	struct z_limits limits = {.block = block};
	struct text packed = z_packed(format, text, piece, block), got;
	int code;

	got = format->plain_unpack(packed);
	assert_non_null(got.bytes);
	assert_text(got, text);
	text_free(got);
	got = z_unpacked(format, packed, piece, &limits, &code);
	assert_int_equal(code, 0);
	assert_text(got, text);
	text_free(got);
	text_free(packed);
	packed = format->plain_pack(text);
	got = z_unpacked(format, packed, piece, &limits, &code);
	assert_int_equal(code, 0);
	assert_text(got, text);
	text_free(got);
	text_free(packed);
}

static void any_text_comes_back_whatever_its_pieces(void **state)
{
	struct text texts[] = {
		text_of_words(5000, 1), text_of_noise(5000, 2),
		text_of_zeros(5000),	text_of_words(1, 3),
		text_of_words(0, 4),	text_of_words(200000, 5),
	};
	/* one in three, each with others of the texts */
	size_t step = test_count(30) == 1 ? 3 : 1, i, j;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		/* 1-byte pieces of the longest are what the others have had */
		for (j = texts[i].n > 100000 ? 3 : i % step; j < N_PIECES;
		     j += step) {
			for (EACH_FORMAT(format)) {
				assert_there_and_back(format, texts[i],
						      pieces[j], 0);
				assert_there_and_back(format, texts[i],
						      pieces[j], 64);
			}
		}
		text_free(texts[i]);
	}
}

/* Of each place at which a short member can be cut in two. */
static void a_member_may_be_cut_anywhere(void **state)
{
	struct text text = short_text(), packed, got;
	size_t at;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		for (at = 1; at <= packed.n; at++) {
			got = z_unpacked(format, packed, at, NULL, &code);
			assert_int_equal(code, 0);
			assert_text(got, text);
			text_free(got);
		}
		text_free(packed);
	}
	text_free(text);
}

/* A block that is exactly full at the end has an end behind it. */
static void every_length_around_a_block_comes_back(void **state)
{
	size_t n;
	struct text text;

	for (n = 56; n < 72; n++) {
		text = text_of_noise(n, n);
		for (EACH_FORMAT(format)) {
			assert_there_and_back(format, text, 1000, 64);
			assert_there_and_back(format, text, n, n < 64 ? 64 : n);
		}
		text_free(text);
	}
}

/* --- Blocks ----------------------------------------------------------------- */

static void blocks_are_full_but_for_the_last(void **state)
{
	struct text text = text_of_noise(100000, 1);

	for (EACH_FORMAT(format)) {
		struct z_run run = {.in = text, .piece = 3000};

		z_go(&run, format->pack(z_pieces(&run), 1000, 0));
		assert_int_equal(run.code, 0);
		assert_int_equal(run.longest, 1000);
		assert_int_equal(run.n_items, (run.out.n + 999) / 1000);
		text_free(run.out);
	}
	text_free(text);
}

/* Allocations go by blocks, and not by pieces or what is in them. */
static void a_block_is_one_allocation(void **state)
{
	struct text text = text_of_words(100000, 1);
	size_t calls[2];

	for (EACH_FORMAT(format)) {
		struct z_run run = {.in = text, .piece = 10};
		size_t i;

		for (i = 0; i < 2; i++) {
			run.piece = i ? 1000 : 10;
			z_go(&run, format->pack(z_pieces(&run), 0, 0));
			assert_int_equal(run.code, 0);
			calls[i] = run.heap.calls - text.n / run.piece;
			text_free(run.out);
		}
		assert_true(calls[0] <= calls[1] + 2);
	}
	text_free(text);
}

struct kept {
	struct weir_flow_bytes *all[1000];
	size_t n;
};

static int keep(void *item, void *context)
{
	struct kept *kept = context;

	assert_true(kept->n < 1000);
	kept->all[kept->n++] = item;
	return 0;
}

/* Each piece of 20 bytes comes out as soon as it has come. */
static void what_is_kept_holds_no_whole_blocks(void **state)
{
	struct text text = text_of_noise(10000, 1), packed;
	static struct kept kept;
	struct weir_flow *flow;
	struct weir_sim *sim;

	for (EACH_FORMAT(format)) {
		struct z_run run = {.piece = 20};
		const struct z_limits none = {0};
		struct weir_executor_options on;

		heap_init(&run.heap, 0);
		on = (struct weir_executor_options){
			.allocator = &run.heap.allocator};
		packed = format->plain_pack(text);
		run.in = packed;
		kept.n = 0;
		flow = format->unpack(z_pieces(&run), &none);
		flow = weir_flow_for_each(flow, keep, &kept);
		assert_int_equal(weir_sim_new(&sim, 1, &on), 0);
		assert_int_equal(
			weir_flow_run(flow, weir_sim_executor(sim), NULL), 0);
		weir_flow_free(flow);
		/* zstd gives whole blocks of its own */
		assert_true(kept.n > (format == &z_formats[3] ? 0 : 100));
		assert_true(run.heap.bytes < 100000);
		while (kept.n > 0)
			weir_flow_bytes_unref(kept.all[--kept.n]);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_int_equal(run.heap.live, 0);
		text_free(packed);
	}
	text_free(text);
}

/* --- What is wrong ------------------------------------------------------------ */

static bool is_prefix(struct text part, struct text of)
{
	return part.n <= of.n && memcmp(part.bytes, of.bytes, part.n) == 0;
}

static void a_member_that_is_cut_off_is_no_end(void **state)
{
	struct text text = short_text(), packed, got, part;
	size_t at, j;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		for (at = 0; at < packed.n; at++) {
			part = text_copy(packed.bytes, at);
			for (j = 0; j < 3; j++) {
				got = z_unpacked(format, part, pieces[j], NULL,
						 &code);
				assert_int_equal(code, -EPROTO);
				assert_true(is_prefix(got, text));
				text_free(got);
			}
			text_free(part);
		}
		text_free(packed);
	}
	text_free(text);
}

/* Whole bytes that were there before it was cut come out before it is told. */
static void what_came_before_the_cut_comes_out(void **state)
{
	struct text text = text_of_words(100000, 1), packed, got;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		packed.n -= 1;
		got = z_unpacked(format, packed, 5000, NULL, &code);
		assert_int_equal(code, -EPROTO);
		assert_true(is_prefix(got, text));
		assert_true(got.n > 99000 || format == &z_formats[3]);
		text_free(got);
		text_free(packed);
	}
	text_free(text);
}

static bool may_be_told(int code)
{
	return code == 0 || code == -EPROTO || code == -EBADMSG ||
	       code == -E2BIG;
}

/* With a check sum nothing wrong comes to a good end. */
static void a_member_that_is_spoilt_is_told(void **state)
{
	struct text text = short_text(), packed, got;
	size_t at, bit;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		for (at = 0; at < packed.n; at++) {
			for (bit = 0; bit < 8; bit++) {
				packed.bytes[at] ^= (char)(1 << bit);
				got = z_unpacked(format, packed, 5, NULL,
						 &code);
				assert_true(may_be_told(code));
				if (code == 0 &&
				    format->plain_unpack !=
					    z_formats[2].plain_unpack)
					assert_text(got, text);
				text_free(got);
				packed.bytes[at] ^= (char)(1 << bit);
			}
		}
		text_free(packed);
	}
	text_free(text);
}

static void an_error_has_the_words_of_its_library(void **state)
{
	struct text text = short_text(), packed;
	static const char *const said[] = {
		"inflate: incorrect data check",
		"inflate: incorrect data check",
		NULL, /* nothing checks it */
		"unzstd: Restored data doesn't match checksum",
	};
	size_t i;

	for (i = 0; i < Z_FORMATS; i++) {
		const struct z_limits none = {0};
		struct z_run run = {.piece = 5};

		if (!said[i])
			continue;
		packed = z_formats[i].plain_pack(text);
		packed.bytes[packed.n - (i == 0 ? 8 : 1)] ^= 1;
		run.in = packed;
		z_go(&run, z_formats[i].unpack(z_pieces(&run), &none));
		assert_int_equal(run.code, -EBADMSG);
		assert_string_equal(run.message, said[i]);
		text_free(run.out);
		text_free(packed);
	}
	text_free(text);
}

static void no_bytes_are_no_member(void **state)
{
	struct text none = text_of_zeros(0), got;
	int code;

	for (EACH_FORMAT(format)) {
		got = z_unpacked(format, none, 1, NULL, &code);
		assert_int_equal(code, -EPROTO);
		assert_int_equal(got.n, 0);
		text_free(got);
	}
	text_free(none);
}

/* --- Too much ----------------------------------------------------------------- */

static void more_than_max_bytes_is_refused(void **state)
{
	struct text text = text_of_zeros(1000000), packed, got;
	int code;

	for (EACH_FORMAT(format)) {
		struct z_limits limits = {.max_bytes = text.n};

		packed = format->plain_pack(text);
		got = z_unpacked(format, packed, 1000, &limits, &code);
		assert_int_equal(code, 0);
		assert_int_equal(got.n, text.n);
		text_free(got);
		limits.max_bytes--;
		got = z_unpacked(format, packed, 1000, &limits, &code);
		assert_int_equal(code, -E2BIG);
		assert_true(got.n <= limits.max_bytes);
		assert_true(got.n > 900000);
		text_free(got);
		limits.max_bytes = 1;
		got = z_unpacked(format, packed, 1000, &limits, &code);
		assert_int_equal(code, -E2BIG);
		assert_int_equal(got.n, 0);
		text_free(got);
		text_free(packed);
	}
	text_free(text);
}

static void more_than_max_ratio_is_refused(void **state)
{
	struct text bomb = text_of_zeros(10000000),
		    text = text_of_words(100000, 1), packed, got;
	struct z_limits limits = {.max_ratio = 20};
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		got = z_unpacked(format, packed, 1000, &limits, &code);
		assert_int_equal(code, 0);
		assert_text(got, text);
		text_free(got);
		text_free(packed);
		packed = format->plain_pack(bomb);
		got = z_unpacked(format, packed, 1000, &limits, &code);
		assert_int_equal(code, -E2BIG);
		/* what had come out by then is what the ratio allows */
		assert_true(got.n <= 20 * packed.n);
		text_free(got);
		text_free(packed);
	}
	text_free(bomb);
	text_free(text);
}

/* The limits are of all that goes through, whatever the numbers. */
static void limits_may_be_as_large_as_they_like(void **state)
{
	const struct z_limits limits = {
		.max_bytes = UINT64_MAX,
		.max_ratio = UINT64_MAX,
	};
	struct text text = text_of_zeros(100000), packed, got;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		got = z_unpacked(format, packed, 10, &limits, &code);
		assert_int_equal(code, 0);
		assert_text(got, text);
		text_free(got);
		text_free(packed);
	}
	text_free(text);
}

/* --- Several, and what is behind ---------------------------------------------- */

static void several_members_are_one_text(void **state)
{
	struct text text = short_text(), twice = text_join(text, text), packed,
		    both, got;
	size_t i;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		both = text_join(packed, packed);
		for (i = 0; i < N_PIECES; i++) {
			got = z_unpacked(format, both, pieces[i], NULL, &code);
			assert_int_equal(code, format->several ? 0 : -EBADMSG);
			assert_text(got, format->several ? twice : text);
			text_free(got);
		}
		text_free(both);
		text_free(packed);
	}
	text_free(text);
	text_free(twice);
}

/* The same with each of its bytes cut off: the second member is there or not. */
static void a_second_member_that_is_cut_off_is_no_end(void **state)
{
	struct text text = short_text(), packed, both, got;
	size_t n;
	int code;

	for (EACH_FORMAT(format)) {
		packed = format->plain_pack(text);
		both = text_join(packed, packed);
		for (n = packed.n + 1; format->several && n < 2 * packed.n;
		     n++) {
			both.n = n;
			got = z_unpacked(format, both, 3, NULL, &code);
			assert_int_equal(code, -EPROTO);
			assert_true(got.n >= text.n);
			text_free(got);
		}
		text_free(both);
		text_free(packed);
	}
	text_free(text);
}

static void assert_behind(const struct z_format *format, struct text behind,
			  int expected)
{
	struct text text = short_text(), packed = format->plain_pack(text),
		    all = text_join(packed, behind), got;
	struct z_limits limits = {.block = 64};
	size_t i;
	int code;

	for (i = 0; i < N_PIECES; i++) {
		limits.ignore_trailing = false;
		got = z_unpacked(format, all, pieces[i], &limits, &code);
		assert_int_equal(code, expected);
		assert_text(got, text);
		text_free(got);
		limits.ignore_trailing = true;
		got = z_unpacked(format, all, pieces[i], &limits, &code);
		assert_int_equal(code, 0);
		assert_text(got, text);
		text_free(got);
	}
	text_free(all);
	text_free(packed);
	text_free(text);
}

static void bytes_behind_the_last_member_are_told_or_passed_over(void **state)
{
	struct text noise = text_of_noise(1000, 1), zeros = text_of_zeros(512);
	struct text one = text_of_zeros(1);

	for (EACH_FORMAT(format)) {
		assert_behind(format, noise, -EBADMSG);
		assert_behind(format, zeros, -EBADMSG);
	}
	/* zlib looks at two bytes at once */
	assert_behind(&z_formats[0], one, -EPROTO);
	assert_behind(&z_formats[1], one, -EBADMSG);
	assert_behind(&z_formats[2], one, -EBADMSG);
	assert_behind(&z_formats[3], one, -EBADMSG);
	one.bytes[0] = '\x28'; /* as a frame begins */
	assert_behind(&z_formats[3], one, -EPROTO);
	text_free(noise);
	text_free(zeros);
	text_free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_text_comes_back_whatever_its_pieces),
		cmocka_unit_test(a_member_may_be_cut_anywhere),
		cmocka_unit_test(every_length_around_a_block_comes_back),
		cmocka_unit_test(blocks_are_full_but_for_the_last),
		cmocka_unit_test(a_block_is_one_allocation),
		cmocka_unit_test(what_is_kept_holds_no_whole_blocks),
		cmocka_unit_test(a_member_that_is_cut_off_is_no_end),
		cmocka_unit_test(what_came_before_the_cut_comes_out),
		cmocka_unit_test(a_member_that_is_spoilt_is_told),
		cmocka_unit_test(an_error_has_the_words_of_its_library),
		cmocka_unit_test(no_bytes_are_no_member),
		cmocka_unit_test(more_than_max_bytes_is_refused),
		cmocka_unit_test(more_than_max_ratio_is_refused),
		cmocka_unit_test(limits_may_be_as_large_as_they_like),
		cmocka_unit_test(several_members_are_one_text),
		cmocka_unit_test(a_second_member_that_is_cut_off_is_no_end),
		cmocka_unit_test(
			bytes_behind_the_last_member_are_told_or_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
