/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random texts in random pieces through random formats, levels and blocks come
 * back; spoilt in random places they end, with what was right in front.
 */
#include "z/kit.h"

#include "base/random.h"

static struct text draw_text(uint64_t *random)
{
	size_t n = weir__splitmix(random) % 4 == 0
			   ? weir__splitmix(random) % 60000
			   : weir__splitmix(random) % 600;

	switch (weir__splitmix(random) % 3) {
	case 0:
		return text_of_zeros(n);
	case 1:
		return text_of_noise(n, *random);
	default:
		return text_of_words(n, *random);
	}
}

static size_t draw_block(uint64_t *random)
{
	return weir__splitmix(random) % 3 ? 64 + weir__splitmix(random) % 1000
					  : 0;
}

static void draw_run(struct z_run *run, struct text in, uint64_t *random)
{
	*run = (struct z_run){
		.in = in,
		.seed = weir__splitmix(random) % 1000,
		.unfused = (size_t)1 << weir__splitmix(random) % 3,
	};
	if (weir__splitmix(random) % 2)
		run->unfused = 0;
	if (weir__splitmix(random) % 2)
		run->piece = 1 + weir__splitmix(random) % 5000;
}

static const struct z_format *draw_format(uint64_t *random)
{
	return &z_formats[weir__splitmix(random) % Z_FORMATS];
}

static void random_texts_come_back(void **state)
{
	for_each_seed(seed, 600) {
		uint64_t random = seed;
		const struct z_format *format = draw_format(&random);
		struct text text = draw_text(&random), packed;
		struct z_limits limits = {.block = draw_block(&random)};
		struct z_run run;

		draw_run(&run, text, &random);
		z_go(&run, format->pack(z_pieces(&run), draw_block(&random),
					weir__splitmix(&random) % 2));
		assert_int_equal(run.code, 0);
		packed = run.out;
		draw_run(&run, packed, &random);
		z_go(&run, format->unpack(z_pieces(&run), &limits));
		assert_int_equal(run.code, 0);
		assert_text(run.out, text);
		text_free(run.out);
		text_free(packed);
		text_free(text);
	}
}

/* Bytes changed, cut out, put in, or cut off. */
static void spoil(struct text *packed, uint64_t *random)
{
	size_t n = 1 + weir__splitmix(random) % 4, at, i;

	for (i = 0; i < n && packed->n > 0; i++) {
		at = weir__splitmix(random) % packed->n;
		switch (weir__splitmix(random) % 3) {
		case 0:
			packed->bytes[at] = (char)weir__splitmix(random);
			break;
		case 1:
			memmove(packed->bytes + at, packed->bytes + at + 1,
				packed->n - at - 1);
			packed->n--;
			break;
		default:
			packed->n = at;
			break;
		}
	}
}

static void random_bytes_end(void **state)
{
	for_each_seed(seed, 4000) {
		uint64_t random = seed;
		const struct z_format *format = draw_format(&random);
		struct text text = draw_text(&random),
			    packed = format->plain_pack(text);
		struct z_limits limits = {
			.block = draw_block(&random),
			.max_bytes = 100000,
			.ignore_trailing = weir__splitmix(&random) % 2,
		};
		struct z_run run;

		spoil(&packed, &random);
		draw_run(&run, packed, &random);
		z_go(&run, format->unpack(z_pieces(&run), &limits));
		assert_true(run.code == 0 || run.code == -EPROTO ||
			    run.code == -EBADMSG || run.code == -E2BIG);
		assert_true(run.out.n <= 100000);
		text_free(run.out);
		text_free(packed);
		text_free(text);
	}
}

static void noise_is_no_member(void **state)
{
	for_each_seed(seed, 1000) {
		uint64_t random = seed;
		const struct z_format *format = draw_format(&random);
		struct text noise = text_of_noise(1 + seed % 300, seed);
		struct z_limits limits = {.max_bytes = 1 << 20};
		struct z_run run;

		draw_run(&run, noise, &random);
		z_go(&run, format->unpack(z_pieces(&run), &limits));
		if (format != &z_formats[2]) /* which may be anything */
			assert_true(run.code == -EBADMSG ||
				    run.code == -EPROTO);
		text_free(run.out);
		text_free(noise);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_texts_come_back),
		cmocka_unit_test(random_bytes_end),
		cmocka_unit_test(noise_is_no_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
