/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes by a seed, where there is no libFuzzer. */
#include "fuzz/fuzz.h"

#include "base/random.h"

#include <string.h>

#define MOST 600

static size_t draw_bytes(uint8_t *bytes, uint64_t random)
{
	size_t n = weir__splitmix(&random) % MOST, i;
	uint64_t strange = weir__splitmix(&random) % 20;

	if (weir__splitmix(&random) % 2)
		n %= 40;
	for (i = 0; i < n; i++) {
		uint64_t drawn = weir__splitmix(&random);

		if (i < fuzz_head || drawn % 20 < strange)
			bytes[i] = (uint8_t)(drawn >> 40);
		else
			bytes[i] =
				(uint8_t)fuzz_alphabet[(drawn >> 40) %
						       strlen(fuzz_alphabet)];
	}
	return n;
}

static void whatever_comes_in(void **state)
{
	uint8_t bytes[MOST];
	size_t n;

	for_each_seed(seed, test_count(24000)) {
		n = draw_bytes(bytes, seed);
		assert_int_equal(LLVMFuzzerTestOneInput(bytes, n), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_comes_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
