/* SPDX-License-Identifier: BSD-2-Clause */
/* What is an address of this machine, and what is a name of it. */
#include "inspect_http/loopback.h"

#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/weir-XXXXXX", path[64], text[80];

static int setup(void **state)
{
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	(void)snprintf(text, sizeof(text), "unix:%s", path);
	return 0;
}

static int teardown(void **state)
{
	return rmdir(folder);
}

static void only_loopback_ports_and_paths_are_addresses(void **state)
{
	static const char *const good[] = {
		"127.0.0.1:0",	   "127.1.2.3:65535", "[::1]:8080",
		"localhost:00080", "LocalHost:1",     "unix:/run/my.sock",
		"unix:a",
	};
	static const char *const bad[] = {
		"",
		":80",
		"0.0.0.0:80",
		"10.0.0.1:80",
		"[::]:80",
		"[fe80::1]:80",
		"[::1]",
		"[::1:80",
		"::1:80",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"127.0.0.1: 1",
		"127.0.0.1:1x",
		"127.0.0.1:000080",
		"127.1:80",
		"localhost",
		"localhost.:80",
		"example.org:80",
		"[127.0.0.1]:80",
		"unix:",
		"unix:@name",
		"128.0.0.1:80",
		"[::ffff:127.0.0.1]:80",
		"fd:3",
	};
	struct weir__loopback address;
	char longest[120];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(weir__loopback_parse(&address, good[i]), 0);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(weir__loopback_parse(&address, bad[i]),
				 -EINVAL);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "unix:", 5);
	longest[5 + 107] = '\0';
	assert_int_equal(weir__loopback_parse(&address, longest), 0);
	longest[5 + 107] = 'a';
	longest[5 + 108] = '\0';
	assert_int_equal(weir__loopback_parse(&address, longest), -EINVAL);
}

static void only_names_of_this_machine_are_hosts(void **state)
{
	static const char *const good[] = {
		"localhost", "localhost:8080", "LOCALHOST",  "127.0.0.1",
		"[::1]",     "127.0.0.1:80",   "[::1]:8080",
	};
	static const char *const bad[] = {
		"",
		"evil.example",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"evil.example:80",
		"10.0.0.1",
		"localhost:",
		"localhost:80:80",
		"localhost@evil.example",
		" localhost",
		"localhost ",
		"[::1",
		"[::2]",
		"[::1]x",
	};
	size_t i;

	assert_false(weir__loopback_is_host(NULL));
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(weir__loopback_is_host(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(weir__loopback_is_host(bad[i]));
}

static int listen_at(struct weir__loopback *address, const char *at)
{
	assert_int_equal(weir__loopback_parse(address, at), 0);
	return weir__loopback_listen(address);
}

static void port_0_becomes_one_that_is_free(void **state)
{
	static const char *const starts[] = {"127.0.0.1:", "[::1]:"};
	struct weir__loopback address, other;
	char at[40];
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		(void)snprintf(at, sizeof(at), "%s0", starts[i]);
		fd = listen_at(&address, at);
		if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT)
			continue; /* a machine without IPv6 */
		assert_true(fd >= 0);
		assert_int_equal(
			strncmp(address.text, starts[i], strlen(starts[i])), 0);
		assert_true(atoi(address.text + strlen(starts[i])) > 0);
		assert_int_equal(listen_at(&other, address.text), -EADDRINUSE);
		assert_int_equal(close(fd), 0);
	}
}

static void path_is_for_its_user_alone(void **state)
{
	struct weir__loopback address;
	mode_t mask = umask(0);
	int fd = listen_at(&address, text);
	struct stat made;

	(void)umask(mask);
	assert_true(fd >= 0);
	assert_string_equal(address.text, text);
	assert_int_equal(lstat(path, &made), 0);
	assert_int_equal(made.st_mode, S_IFSOCK | 0600);
	weir__loopback_forget(&address);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(close(fd), 0);
}

static void path_that_is_there_is_left_alone(void **state)
{
	struct weir__loopback address;
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(listen_at(&address, text), -EADDRINUSE);
	weir__loopback_forget(&address);
	assert_int_equal(unlink(path), 0);
	/* another one has taken its place */
	assert_int_equal(close(fd), 0);
	fd = listen_at(&address, text);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	weir__loopback_forget(&address);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_loopback_ports_and_paths_are_addresses),
		cmocka_unit_test(only_names_of_this_machine_are_hosts),
		cmocka_unit_test(port_0_becomes_one_that_is_free),
		cmocka_unit_test(path_is_for_its_user_alone),
		cmocka_unit_test(path_that_is_there_is_left_alone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
