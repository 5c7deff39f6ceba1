/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip, zlib and deflate as other programs know them. */
#include "z/kit.h"

#include <stdio.h>
#include <unistd.h>

#include <zlib.h>

#define GZIP (&z_formats[0])

/* The bytes that `command` makes of these. */
static struct text through(const char *command, struct text in)
{
	char from[] = "/tmp/weir-z-XXXXXX", line[256];
	int fd = mkstemp(from);
	struct text out = {.bytes = malloc(1 << 20)};
	FILE *pipe;

	assert_true(fd >= 0);
	assert_non_null(out.bytes);
	assert_int_equal(write(fd, in.bytes, in.n), in.n);
	assert_int_equal(close(fd), 0);
	(void)snprintf(line, sizeof(line), "%s <%s", command, from);
	pipe = popen(line,
		     "r"); /* NOLINT(cert-env33-c): the test's own words */
	assert_non_null(pipe);
	out.n = fread(out.bytes, 1, 1 << 20, pipe);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(unlink(from), 0);
	return out;
}

static bool has(const char *command)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "command -v %s >/dev/null", command);
	return system(line) == 0; /* NOLINT(cert-env33-c) */
}

static void assert_understood(const struct z_format *format, const char *pack,
			      const char *unpack)
{
	struct text text = text_of_words(300000, 1), packed, got;
	int code;

	packed = z_packed(format, text, 1000, 0);
	got = through(unpack, packed);
	assert_text(got, text);
	text_free(got);
	text_free(packed);
	packed = through(pack, text);
	got = z_unpacked(format, packed, 1000, NULL, &code);
	assert_int_equal(code, 0);
	assert_text(got, text);
	text_free(got);
	text_free(packed);
	text_free(text);
}

static void the_program_gzip_understands_and_is_understood(void **state)
{
	if (!has("gzip"))
		skip();
	assert_understood(GZIP, "gzip -c", "gzip -dc");
	assert_understood(GZIP, "gzip -9c", "gzip -dc");
	assert_understood(GZIP, "gzip -1c", "gzip -dc");
}

static void the_program_zstd_understands_and_is_understood(void **state)
{
	if (!has("zstd"))
		skip();
	assert_understood(&z_formats[3], "zstd -qc", "zstd -dqc");
	assert_understood(&z_formats[3], "zstd -19qc", "zstd -dqc");
	assert_understood(&z_formats[3], "zstd --no-check -qc", "zstd -dqc");
}

/* Byte for byte what zlib makes of all at once, with no name and no time. */
static void a_member_is_what_zlib_alone_makes(void **state)
{
	struct text text = text_of_words(100000, 1), ours, plain;
	size_t i;

	for (i = 0; i < 3; i++) {
		ours = z_packed(&z_formats[i], text, text.n, 0);
		plain = z_formats[i].plain_pack(text);
		assert_text(ours, plain);
		text_free(ours);
		text_free(plain);
	}
	text_free(text);
}

static size_t size_at(int level, struct text text)
{
	const struct weir_flow_deflate_options options = {.level = level};
	struct z_run run = {.in = text, .piece = 1000};

	z_go(&run, weir_flow_deflate(z_pieces(&run), &options));
	assert_int_equal(run.code, 0);
	text_free(run.out);
	return run.out.n;
}

static void a_higher_level_makes_less(void **state)
{
	struct text text = text_of_words(300000, 1);

	assert_true(size_at(1, text) > size_at(6, text));
	assert_true(size_at(6, text) >= size_at(9, text));
	assert_int_equal(size_at(0, text), size_at(6, text));
	text_free(text);
}

/* As RFC 1952 has them: a name, a comment, extra bytes, a check sum. */
static void all_fields_of_a_header_are_passed_over(void **state)
{
	struct text text = text_of_words(1000, 1),
		    out = {.bytes = malloc(4096)}, got;
	gz_header header = {
		.extra = (Bytef *)"extra",
		.extra_len = 5,
		.name = (Bytef *)"name",
		.comment = (Bytef *)"comment",
		.hcrc = 1,
		.time = 12345,
	};
	z_stream z = {
		.next_in = (Bytef *)text.bytes,
		.avail_in = (uInt)text.n,
		.next_out = (Bytef *)out.bytes,
		.avail_out = 4096,
	};
	int code;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.n = z.total_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
	got = z_unpacked(GZIP, out, 1, NULL, &code);
	assert_int_equal(code, 0);
	assert_text(got, text);
	text_free(got);
	text_free(out);
	text_free(text);
}

static void a_dictionary_that_is_missing_is_told(void **state)
{
	struct text text = text_of_words(1000, 1),
		    out = {.bytes = malloc(4096)};
	z_stream z = {
		.next_in = (Bytef *)text.bytes,
		.avail_in = (uInt)text.n,
		.next_out = (Bytef *)out.bytes,
		.avail_out = 4096,
	};
	const struct z_limits none = {0};
	struct z_run run = {.piece = 10};

	assert_int_equal(deflateInit(&z, 6), Z_OK);
	assert_int_equal(
		deflateSetDictionary(&z, (const Bytef *)"weir weir", 9), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.n = z.total_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
	run.in = out;
	z_go(&run, z_formats[1].unpack(z_pieces(&run), &none));
	assert_int_equal(run.code, -EBADMSG);
	assert_string_equal(run.message, "inflate: a dictionary is needed");
	text_free(run.out);
	text_free(out);
	text_free(text);
}

/* Members without bytes, and many. */
static void many_members_are_one_text(void **state)
{
	struct text empty = text_of_zeros(0), one = text_of_words(10, 1),
		    all = text_of_zeros(0), expected = text_of_zeros(0), next,
		    got;
	size_t i;
	int code;

	for (i = 0; i < 200; i++) {
		struct text text = i % 3 ? one : empty,
			    packed = GZIP->plain_pack(text);

		next = text_join(all, packed);
		text_free(all);
		all = next;
		next = text_join(expected, text);
		text_free(expected);
		expected = next;
		text_free(packed);
	}
	for (i = 1; i < 100; i += 7) {
		got = z_unpacked(GZIP, all, i, NULL, &code);
		assert_int_equal(code, 0);
		assert_text(got, expected);
		text_free(got);
	}
	text_free(empty);
	text_free(one);
	text_free(all);
	text_free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_program_gzip_understands_and_is_understood),
		cmocka_unit_test(
			the_program_zstd_understands_and_is_understood),
		cmocka_unit_test(a_member_is_what_zlib_alone_makes),
		cmocka_unit_test(a_higher_level_makes_less),
		cmocka_unit_test(all_fields_of_a_header_are_passed_over),
		cmocka_unit_test(a_dictionary_that_is_missing_is_told),
		cmocka_unit_test(many_members_are_one_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
