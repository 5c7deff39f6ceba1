/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/mark.h"

#include <errno.h>
#include <string.h>

#include "support.h"

static natsMsg *message_of(const char *from, const struct weir_error *error)
{
	struct weir_flow_bytes *bytes = weir__nats_mark_new(from, 3, error);
	natsMsg *msg = NULL;

	assert_non_null(bytes);
	assert_int_equal(bytes->n, 0);
	assert_int_equal(weir__nats_mark_of(bytes)->partition, 3);
	assert_int_equal(natsMsg_Create(&msg, "a", NULL, NULL, 0), NATS_OK);
	assert_int_equal(weir__nats_mark_headers(bytes, msg), NATS_OK);
	weir_flow_bytes_unref(bytes);
	return msg;
}

static void an_end_is_in_headers(void **state)
{
	natsMsg *msg = message_of("me", NULL);
	const char *value;

	assert_int_equal(natsMsgHeader_Get(msg, "Weir-From", &value), NATS_OK);
	assert_string_equal(value, "me");
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-End", &value), NATS_OK);
	assert_int_not_equal(natsMsgHeader_Get(msg, "Weir-Error", &value),
			     NATS_OK);
	natsMsg_Destroy(msg);
	msg = message_of(NULL, NULL);
	assert_int_not_equal(natsMsgHeader_Get(msg, "Weir-From", &value),
			     NATS_OK);
	natsMsg_Destroy(msg);
}

static void an_error_goes_by_a_header_and_comes_back(void **state)
{
	struct weir_error *error, *other;
	const char *value;
	natsMsg *msg;

	error = weir_error_format(-EBADMSG, "check", "line\r\nand %d; so", 7);
	msg = message_of("me", error);
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-Error", &value), NATS_OK);
	other = weir__nats_mark_error(value);
	assert_int_equal(other->code, -EBADMSG);
	assert_string_equal(other->message, "check: line  and 7; so");
	weir_error_unref(other);
	weir_error_unref(error);
	natsMsg_Destroy(msg);
}

static void an_error_of_others_is_an_error(void **state)
{
	static const char *const texts[] = {"", "x", "5; a; b", "-99999; a",
					    "; ; "};
	struct weir_error *error;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		error = weir__nats_mark_error(texts[i]);
		assert_int_equal(error->code, -EIO);
		weir_error_unref(error);
	}
}

static void other_bytes_are_no_end(void **state)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 4, NULL), 0);
	assert_null(weir__nats_mark_of(bytes));
	assert_int_equal(weir__nats_mark_headers(bytes, NULL), NATS_OK);
	weir_flow_bytes_unref(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_is_in_headers),
		cmocka_unit_test(an_error_goes_by_a_header_and_comes_back),
		cmocka_unit_test(an_error_of_others_is_an_error),
		cmocka_unit_test(other_bytes_are_no_end),
	};
	int n_failed;

	/* messages are freed by a thread of libnats' */
	if (nats_Open(-1) != NATS_OK)
		return 1;
	n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	nats_Close();
	return n_failed;
}
