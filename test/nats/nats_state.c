/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nats/nats_state.h"

static void each_status_of_libnats_is_an_errno(void **state)
{
	int status;

	assert_int_equal(weir__nats_errno(NATS_OK), 0);
	for (status = NATS_ERR; status <= NATS_MISSED_HEARTBEAT; status++)
		assert_true(weir__nats_errno((natsStatus)status) < 0);
	assert_int_equal(weir__nats_errno(NATS_NO_SERVER), -ECONNREFUSED);
	assert_int_equal(weir__nats_errno(NATS_MAX_PAYLOAD), -EMSGSIZE);
	assert_int_equal(weir__nats_errno(NATS_NO_MEMORY), -ENOMEM);
}

static void the_clock_goes_on(void **state)
{
	uint64_t before = weir__nats_now();

	while (weir__nats_now() == before)
		;
	assert_true(weir__nats_now() > before);
}

static void a_name_and_a_number_are_joined_as_printf_would(void **state)
{
	static const uint64_t numbers[] = {0, 9, 10, 1234567890, UINT64_MAX};
	static const char *const names[] = {"", "S", "_INBOX.abc"};
	char expected[40], got[40];
	size_t i, j, size, n;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			for (size = 1; size <= sizeof(got); size++) {
				(void)snprintf(expected, size, "%s.%" PRIu64,
					       names[j], numbers[i]);
				n = weir__nats_join(got, size, names[j],
						    numbers[i]);
				assert_string_equal(got, expected);
				assert_int_equal(n, strlen(expected));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_status_of_libnats_is_an_errno),
		cmocka_unit_test(the_clock_goes_on),
		cmocka_unit_test(
			a_name_and_a_number_are_joined_as_printf_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
