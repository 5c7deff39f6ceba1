/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <weir/version.h>

static void version_text_is_the_build_files(void **state)
{
	assert_string_equal(weir_version(), PROJECT_VERSION);
}

static void version_number_is_the_headers(void **state)
{
	assert_int_equal(weir_version_number(), WEIR_VERSION);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_text_is_the_build_files),
		cmocka_unit_test(version_number_is_the_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
