/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of connections. */
#include "net/kit.h"

#include "flow/world.h"
#include "net/address.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct net net;

static struct weir_flow *listen_at(const char *address)
{
	struct weir_listen_options options = listen_here(&net);

	return weir_flow_listen(address, &options);
}

/* Takes `n` connections, and closes each. */
static void take(const char *address, uintptr_t n)
{
	net_start(&net, weir_flow_count(weir_flow_take(listen_at(address), n)));
}

static void a_port_is_told_and_taken_connections_are_closed(void **state)
{
	char name[64];
	size_t i;
	int fd;

	(void)snprintf(name, sizeof(name), "unix:@weir-%d", (int)getpid());
	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			net_begin(&net, *kind);
			take(i ? name : "127.0.0.1:0", 1);
			if (i == 0)
				assert_string_not_equal(net.address,
							"127.0.0.1:0");
			else
				assert_string_equal(net.address, name);
			fd = dial(net.address);
			expect_end(&net, fd);
			close(fd);
			net_over(&net, 0, 1);
			net_end(&net);
		}
	}
}

static void a_path_is_removed_at_the_end(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX", socket_path[64], address[80];
	struct stat status;
	int fd;

	assert_non_null(mkdtemp(path));
	(void)snprintf(socket_path, sizeof(socket_path), "%s/socket", path);
	(void)snprintf(address, sizeof(address), "unix:%s", socket_path);
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		take(address, 1);
		assert_string_equal(net.address, address);
		assert_int_equal(lstat(socket_path, &status), 0);
		fd = dial(address);
		expect_end(&net, fd);
		close(fd);
		net_over(&net, 0, 1);
		assert_int_equal(lstat(socket_path, &status), -1);
		net_end(&net);
		/* but not that of another one, which was there */
		fd = open(socket_path, O_CREAT | O_CLOEXEC, 0600);
		close(fd);
		net_begin(&net, *kind);
		net.flow = weir_flow_count(listen_at(address));
		assert_int_equal(weir_flow_start(net.flow, net.place.executor,
						 NULL, NULL),
				 -EADDRINUSE);
		net_end(&net);
		assert_int_equal(lstat(socket_path, &status), 0);
		assert_int_equal(unlink(socket_path), 0);
		/* or which has taken its place */
		net_begin(&net, *kind);
		take(address, 1);
		assert_int_equal(unlink(socket_path), 0);
		fd = open(socket_path, O_CREAT | O_CLOEXEC, 0600);
		close(fd);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 0);
		net_end(&net);
		assert_int_equal(unlink(socket_path), 0);
	}
	assert_int_equal(rmdir(path), 0);
}

static void an_address_in_use_is_told_at_the_start(void **state)
{
	char taken[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir_flow *other;

	net_begin(&net, &loop);
	take("127.0.0.1:0", 1);
	memcpy(taken, net.address, sizeof(taken));
	other = weir_flow_count(listen_at(taken));
	assert_int_equal(weir_flow_start(other, net.place.executor, NULL, NULL),
			 -EADDRINUSE);
	weir_flow_free(other);
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	net_end(&net);
}

static void several_may_share_a_port(void **state)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_flow_run *run;
	struct weir_flow *flow;

	options.reuse_port = true;
	net_begin(&net, &loop);
	net_start(&net,
		  weir_flow_count(weir_flow_listen("127.0.0.1:0", &options)));
	flow = weir_flow_count(weir_flow_listen(net.address, &options));
	assert_int_equal(weir_flow_start(flow, net.place.executor, NULL, &run),
			 0);
	weir_flow_run_end(run);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	net_end(&net);
}

/* Listens there itself. */
static int listen_raw(const char *address)
{
	struct weir__address at;
	int fd;

	assert_int_equal(weir__address_parse(&at, address), 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, &at.at.any, at.length), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void a_socket_that_was_given_stays_open(void **state)
{
	char address[16];
	struct stat status;
	int fd, given;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		given = listen_raw("127.0.0.1:0");
		(void)snprintf(address, sizeof(address), "fd:%d", given);
		take(address, 1);
		fd = dial(net.address);
		expect_end(&net, fd);
		close(fd);
		net_over(&net, 0, 1);
		assert_int_equal(fstat(given, &status), 0);
		close(given);
		net_end(&net);
	}
}

/* What the kernel has taken, and nobody has asked for, waits there. */
static void one_is_accepted_for_each_demand(void **state)
{
	static struct flow_world world;
	struct flow_world *args = &world;
	struct weir_flow *flow;
	int fds[8];
	size_t i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		world = (struct flow_world){.open = 3};
		flow = weir__flow_upon(&gate_kind, listen_at("127.0.0.1:0"),
				       &args, sizeof(args), true);
		net_start(&net, weir_flow_count(flow));
		for (i = 0; i < 8; i++)
			fds[i] = dial(net.address);
		for (i = 0; i < 3; i++)
			expect_end(&net, fds[i]);
		for (i = 0; i < 1000; i++)
			net_drive(&net);
		for (i = 3; i < 8; i++)
			assert_int_equal(
				recv(fds[i], &(char){0}, 1, MSG_DONTWAIT), -1);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 3);
		/* those in the backlog hear of the end */
		for (i = 3; i < 8; i++)
			expect_reset(&net, fds[i]);
		for (i = 0; i < 8; i++)
			close(fds[i]);
		net_end(&net);
	}
}

/* 0, or what connect(2) says to somebody who does not wait. */
static int try_to_connect(const char *address, int *fd)
{
	struct weir__address at;

	assert_int_equal(weir__address_parse(&at, address), 0);
	*fd = socket(at.at.any.sa_family,
		     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(*fd >= 0);
	return connect(*fd, &at.at.any, at.length) < 0 ? errno : 0;
}

static bool is_connected(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	return poll(&poll_fd, 1, 0) == 1;
}

/* The kernel takes one more than it is told, as long as nobody is asked for. */
static void when_the_backlog_is_full_nobody_comes_in(void **state)
{
	struct weir_listen_options options = listen_here(&net);
	static struct flow_world world; /* its gate is closed */
	struct flow_world *args = &world;
	struct weir_flow *flow;
	char name[64];
	int fds[3], unix_domain, i;

	(void)snprintf(name, sizeof(name), "unix:@weir-%d", (int)getpid());
	options.backlog = 1;
	for (unix_domain = 0; unix_domain < 2; unix_domain++) {
		net_begin(&net, &loop);
		flow = weir_flow_listen(unix_domain ? name : "127.0.0.1:0",
					&options);
		flow = weir__flow_upon(&gate_kind, flow, &args, sizeof(args),
				       true);
		net_start(&net, weir_flow_count(flow));
		for (i = 0; i < 2; i++) {
			(void)try_to_connect(net.address, &fds[i]);
			while (!is_connected(fds[i]))
				net_drive(&net);
		}
		assert_int_equal(try_to_connect(net.address, &fds[2]),
				 unix_domain ? EAGAIN : EINPROGRESS);
		assert_true(unix_domain || !is_connected(fds[2]));
		weir_flow_run_end(net.run);
		net_over(&net, 0, 0);
		for (i = 0; i < 3; i++)
			close(fds[i]);
		net_end(&net);
	}
}

static void connections_that_are_not_taken_are_closed(void **state)
{
	struct weir_channel *channel;
	int fds[4];
	size_t i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		assert_int_equal(weir_channel_new(&channel, 2,
						  weir_connection_items(),
						  NULL),
				 0);
		net_start(&net, weir_flow_into_channel(listen_at("127.0.0.1:0"),
						       channel));
		for (i = 0; i < 4; i++)
			fds[i] = dial(net.address);
		while (weir_channel_count(channel) < 2)
			net_drive(&net);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		assert_int_equal(weir_channel_free(channel), 0);
		for (i = 0; i < 4; i++) {
			assert_true(recv(fds[i], &(char){0}, 1, 0) <= 0);
			close(fds[i]);
		}
		net_end(&net);
	}
}

static void options_are_those_of_each_connection(void **state)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_channel *channel;
	socklen_t length = sizeof(int);
	void *item;
	int fd, on = 0;

	options.connection.keepalive = true;
	net_begin(&net, &loop);
	assert_int_equal(weir_channel_new(&channel, 2, weir_connection_items(),
					  NULL),
			 0);
	net_start(&net,
		  weir_flow_into_channel(
			  weir_flow_listen("127.0.0.1:0", &options), channel));
	fd = dial(net.address);
	while (weir_channel_try_take(channel, &item) < 0)
		net_drive(&net);
	assert_int_equal(getsockopt(weir_connection_fd(item), SOL_SOCKET,
				    SO_KEEPALIVE, &on, &length),
			 0);
	assert_true(on);
	weir_connection_unref(item);
	close(fd);
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	assert_int_equal(weir_channel_free(channel), 0);
	net_end(&net);
}

/* --- No descriptor left --------------------------------------------------- */

/* In a child, whose limit it is. Returns its exit status. */
static int in_child(int (*test)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(test());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void leave_free(size_t n)
{
	struct rlimit limit = {.rlim_cur = 256, .rlim_max = 256};
	int fds[256];
	size_t i = 0;

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while ((fds[i] = dup(0)) >= 0)
		i++;
	while (n-- > 0)
		close(fds[--i]);
}

#define CLIENTS 5

static struct weir_channel *kept;
static int clients[CLIENTS + 1];
static struct weir__address there;

/* All have their sockets, and `n` descriptors are left. */
static void begin_without(size_t n, const struct weir_listen_options *options)
{
	size_t i;

	place_make(&net.place, &sim);
	assert_int_equal(weir_channel_new(&kept, CLIENTS,
					  weir_connection_items(), NULL),
			 0);
	net_start(&net,
		  weir_flow_into_channel(
			  weir_flow_listen("127.0.0.1:0", options), kept));
	net_drive(&net);
	for (i = 0; i <= CLIENTS; i++)
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(weir__address_parse(&there, net.address), 0);
	leave_free(n);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(
			connect(clients[i], &there.at.any, there.length), 0);
}

static uint64_t at_second(double seconds)
{
	return weir_sim_run_until(net.place.sim, (uint64_t)(seconds * 1e9),
				  100000);
}

static int none_is_lost(void)
{
	struct weir_listen_options options = listen_here(&net);
	uint64_t slices;
	double now = 10;
	void *items[1];
	size_t i;

	begin_without(1, &options);
	slices = at_second(now);
	/* by the one that is left, and the one that was kept back */
	if (weir_channel_count(kept) != 2)
		return 1;
	/* it looks 50 times a second, and does nothing else */
	if (slices < 400 || slices > 1100)
		return 2;
	for (i = 0; i < CLIENTS; i++) {
		if (weir_channel_try_take(kept, items) < 0)
			return 3;
		weir_connection_unref(items[0]);
		at_second(now += 0.1);
	}
	for (i = 0; i < CLIENTS; i++)
		if (recv(clients[i], &(char){0}, 1, 0) != 0)
			return 4;
	if (net_is_over(&net))
		return 5;
	/* another one is kept back since */
	while (dup(0) >= 0)
		;
	if (connect(clients[CLIENTS], &there.at.any, there.length) < 0)
		return 6;
	at_second(now += 0.1);
	if (weir_channel_count(kept) != 1)
		return 7;
	/* there is none left again, but nobody wants one */
	at_second(now += 100);
	if (net_is_over(&net))
		return 8;
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	return 0;
}

/* Those that were taken are kept, so no descriptor comes back. */
static int it_fails_in_time(void)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_error *error;

	options.accept_retry_ns = UINT64_C(3000000000);
	begin_without(0, &options);
	at_second(2.9);
	if (weir_channel_count(kept) != 1 || net_is_over(&net))
		return 1;
	at_second(3.1);
	if (!net_is_over(&net))
		return 2;
	if (weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, &error) < 0)
		return 3;
	return error->code == -EMFILE ? 0 : 4;
}

static void at_the_limit_of_descriptors_none_is_lost(void **state)
{
	assert_int_equal(in_child(none_is_lost), 0);
}

static void a_listener_without_a_descriptor_fails_in_time(void **state)
{
	assert_int_equal(in_child(it_fails_in_time), 0);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_listen_options strange = {.reserved = {1}};
	const struct weir_listen_options inside = {
		.connection = {.reserved = {1}}};
	const struct weir_listen_options many = {.backlog = SIZE_MAX};
	struct weir_flow *flows[] = {
		weir_flow_listen(NULL, NULL),
		weir_flow_listen("nowhere", NULL),
		weir_flow_listen("127.0.0.1:0", &strange),
		weir_flow_listen("127.0.0.1:0", &inside),
		weir_flow_listen("127.0.0.1:0", &many),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_port_is_told_and_taken_connections_are_closed),
		cmocka_unit_test(a_path_is_removed_at_the_end),
		cmocka_unit_test(an_address_in_use_is_told_at_the_start),
		cmocka_unit_test(several_may_share_a_port),
		cmocka_unit_test(a_socket_that_was_given_stays_open),
		cmocka_unit_test(one_is_accepted_for_each_demand),
		cmocka_unit_test(when_the_backlog_is_full_nobody_comes_in),
		cmocka_unit_test(connections_that_are_not_taken_are_closed),
		cmocka_unit_test(options_are_those_of_each_connection),
		cmocka_unit_test(at_the_limit_of_descriptors_none_is_lost),
		cmocka_unit_test(a_listener_without_a_descriptor_fails_in_time),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
