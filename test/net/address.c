/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as text. */
#include "support.h"

#include "net/address.h"

#include <errno.h>
#include <string.h>

#include <weir/connection.h>

static void assert_same(const char *text)
{
	char got[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir__address address;

	assert_int_equal(weir__address_parse(&address, text), 0);
	assert_int_equal(weir__address_format(&address, got, sizeof(got)), 0);
	assert_string_equal(got, text);
	/* one byte less is too few */
	memset(got, 'x', sizeof(got));
	assert_int_equal(weir__address_format(&address, got, strlen(text)),
			 -ENOSPC);
	assert_int_equal(got[0], 'x');
	assert_int_equal(weir__address_format(&address, got, strlen(text) + 1),
			 0);
}

static void what_is_parsed_is_printed_again(void **state)
{
	assert_same("127.0.0.1:80");
	assert_same("0.0.0.0:0");
	assert_same("255.255.255.255:65535");
	assert_same("[::]:0");
	assert_same("[::1]:443");
	assert_same("[2001:db8::ff00:42:8329]:65535");
	assert_same("unix:/tmp/socket");
	assert_same("unix:relative");
	assert_same("unix:@name");
}

static void a_descriptor_is_a_number(void **state)
{
	struct weir__address address;

	assert_int_equal(weir__address_parse(&address, "fd:3"), 0);
	assert_int_equal(address.fd, 3);
	assert_int_equal(weir__address_parse(&address, "127.0.0.1:80"), 0);
	assert_int_equal(address.fd, -1);
}

static void the_longest_path_fits_in_a_text(void **state)
{
	char path[5 + sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct weir__address address;

	memset(path, 'p', sizeof(path));
	memcpy(path, "unix:", 5);
	path[sizeof(path) - 2] = '\0';
	assert_same(path);
	path[sizeof(path) - 2] = 'p';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(weir__address_parse(&address, path), -EINVAL);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const none[] = {
		"",
		"80",
		":80",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:x",
		"1.2.3.4:-1",
		"1.2.3.4:65536",
		"1.2.3.4:+80",
		"1.2.3.4: 80",
		"1.2.3:80",
		"1.2.3.4:000080",
		"[::1]",
		"[::1:80",
		"::1:80",
		"[]:80",
		"[1.2.3.4]:1",
		"unix:",
		"unix:@",
		"fd:",
		"fd:-1",
		"fd:x",
		"fd:1234567",
		"host:80",
		"[::1]x:80",
		"fd:3 ",
		"1.2.3.4:80 ",
		"[:80",
	};
	struct weir__address address;
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (weir__address_parse(&address, none[i]) != -EINVAL)
			fail_msg("\"%s\" is taken", none[i]);
}

static void a_host_and_a_port_are_parts(void **state)
{
	uint16_t port;
	size_t n;

	assert_int_equal(weir__address_split("example.org:8080", &n, &port), 0);
	assert_int_equal(n, 11);
	assert_int_equal(port, 8080);
	assert_int_equal(weir__address_split("example.org", &n, &port),
			 -EINVAL);
	assert_int_equal(weir__address_split(":8080", &n, &port), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_parsed_is_printed_again),
		cmocka_unit_test(a_descriptor_is_a_number),
		cmocka_unit_test(the_longest_path_fits_in_a_text),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(a_host_and_a_port_are_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
