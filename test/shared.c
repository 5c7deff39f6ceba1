/* SPDX-License-Identifier: BSD-2-Clause */

/* Sees only what the shared library exports and <weir/...> declares. */
#include "support.h"

#include <weir/version.h>

static void shared_library_is_the_headers_version(void **state)
{
	assert_int_equal(weir_version_number(), WEIR_VERSION);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_library_is_the_headers_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
