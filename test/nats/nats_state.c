/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_status_of_libnats_is_an_errno),
		cmocka_unit_test(the_clock_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
