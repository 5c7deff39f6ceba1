/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection as an object. */
#include "net/kit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

static struct net net;

static void the_last_reference_closes_the_descriptor(void **state)
{
	struct weir_connection *connection;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		connection = weir_connection_ref(net.connection);
		assert_ptr_equal(connection, net.connection);
		assert_true(fcntl(weir_connection_fd(connection), F_GETFL) &
			    O_NONBLOCK);
		weir_connection_unref(connection);
		assert_int_equal(send(net.peer, "a", 1, MSG_NOSIGNAL), 1);
		connection = net.connection;
		net.connection = NULL;
		weir_connection_unref(connection);
		expect_reset(&net, net.peer);
		net_end(&net);
	}
}

static void flows_that_never_ran_hold_it(void **state)
{
	net_begin(&net, &loop);
	net_connect(&net, AF_UNIX, NULL);
	net.flow = weir_connection_run(net.connection, NULL, NULL);
	weir_connection_unref(net.connection);
	net.connection = NULL;
	assert_int_equal(recv(net.peer, &(char){0}, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	weir_flow_free(net.flow);
	net.flow = NULL;
	expect_end(&net, net.peer);
	net_end(&net);
}

static void what_is_no_connected_stream_socket_is_refused(void **state)
{
	const struct weir_connection_options strange = {.reserved = {1}};
	const struct weir_connection_options huge = {.rcvbuf = SIZE_MAX};
	struct weir_connection *connection = (void *)&net;
	int fds[2], fd;

	net_begin(&net, &loop);
	assert_int_equal(weir_connection_new(NULL, 0, NULL, NULL), -EINVAL);
	assert_int_equal(weir_connection_new(&connection, -1, NULL, NULL),
			 -EBADF);
	assert_null(connection);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(weir_connection_new(&connection, fds[0], NULL, NULL),
			 -ENOTSOCK);
	close(fds[0]);
	close(fds[1]);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(weir_connection_new(&connection, fd, NULL, NULL),
			 -ENOTCONN);
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	assert_int_equal(weir_connection_new(&connection, fds[0], NULL, NULL),
			 -EINVAL);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(weir_connection_new(&connection, fds[0], &strange,
					     NULL),
			 -EINVAL);
	assert_int_equal(weir_connection_new(&connection, fds[0], &huge, NULL),
			 -EINVAL);
	/* it is as it was, and the caller's */
	assert_false(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	close(fds[0]);
	close(fds[1]);
	net_end(&net);
}

static void it_knows_both_addresses(void **state)
{
	char peer[WEIR_CONNECTION_ADDRESS_MAX];
	char local[WEIR_CONNECTION_ADDRESS_MAX];

	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	assert_int_equal(
		weir_connection_peer(net.connection, peer, sizeof(peer)), 0);
	assert_int_equal(
		weir_connection_local(net.connection, local, sizeof(local)), 0);
	assert_memory_equal(peer, "127.0.0.1:", 10);
	assert_memory_equal(local, "127.0.0.1:", 10);
	assert_string_not_equal(peer, local);
	assert_int_equal(weir_connection_peer(net.connection, local, 4),
			 -ENOSPC);
	assert_memory_equal(local, "127.0.0.1:", 10);
	assert_int_equal(weir_connection_peer(NULL, local, 4), -EINVAL);
	/* also when the peer is gone */
	reset(net.peer);
	net.peer = -1;
	assert_int_equal(
		weir_connection_peer(net.connection, local, sizeof(local)), 0);
	assert_string_equal(peer, local);
	net_end(&net);
}

static void a_unix_socket_knows_who_has_connected(void **state)
{
	struct weir_connection_credentials who;
	char text[WEIR_CONNECTION_ADDRESS_MAX];

	net_begin(&net, &loop);
	net_connect(&net, AF_UNIX, NULL);
	assert_int_equal(weir_connection_peer_credentials(net.connection, &who),
			 0);
	assert_int_equal(who.pid, getpid());
	assert_int_equal(who.uid, getuid());
	assert_int_equal(who.gid, getgid());
	assert_int_equal(
		weir_connection_peer(net.connection, text, sizeof(text)), 0);
	assert_string_equal(text, "unix:");
	assert_int_equal(weir_connection_peer_credentials(NULL, &who), -EINVAL);
	net_end(&net);
	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	assert_int_equal(weir_connection_peer_credentials(net.connection, &who),
			 -ENOTSUP);
	net_end(&net);
}

static int option(int fd, int level, int name)
{
	socklen_t length = sizeof(int);
	int value = -1;

	assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
	return value;
}

static void options_reach_the_kernel(void **state)
{
	const struct weir_connection_options options = {.nagle = true,
							.keepalive = true,
							.unsent_bytes = 4096,
							.sndbuf = 8192,
							.rcvbuf = 8192};
	int fd;

	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	fd = weir_connection_fd(net.connection);
	assert_true(option(fd, IPPROTO_TCP, TCP_NODELAY));
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT),
			 128 * 1024);
	assert_false(option(fd, SOL_SOCKET, SO_KEEPALIVE));
	net_end(&net);
	net_begin(&net, &loop);
	net_connect(&net, AF_INET, &options);
	fd = weir_connection_fd(net.connection);
	assert_false(option(fd, IPPROTO_TCP, TCP_NODELAY));
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 4096);
	assert_true(option(fd, SOL_SOCKET, SO_KEEPALIVE));
	/* the kernel doubles them */
	assert_int_equal(option(fd, SOL_SOCKET, SO_SNDBUF), 2 * 8192);
	assert_int_equal(option(fd, SOL_SOCKET, SO_RCVBUF), 2 * 8192);
	net_end(&net);
}

static void it_counts_its_bytes(void **state)
{
	struct weir_connection_counts counts;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		net_start(&net,
			  weir_connection_run(net.connection, NULL, NULL));
		send_text(net.peer, "abcde");
		expect_text(&net, net.peer, "abcde");
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		expect_end(&net, net.peer);
		net_over(&net, 0, 5);
		assert_int_equal(weir_connection_count(net.connection, &counts),
				 0);
		assert_int_equal(counts.bytes_in, 5);
		assert_int_equal(counts.bytes_out, 5);
		assert_int_equal(counts.error, 0);
		assert_int_equal(weir_connection_count(NULL, &counts), -EINVAL);
		net_end(&net);
	}
}

static void a_stop_resets_the_peer_and_fails_both_flows(void **state)
{
	struct weir_connection_counts counts;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		net_start(&net,
			  weir_connection_run(net.connection, NULL, NULL));
		send_text(net.peer, "abc");
		expect_text(&net, net.peer, "abc");
		weir_connection_stop(net.connection);
		expect_reset(&net, net.peer);
		net_over(&net, -ECONNRESET, 0);
		(void)weir_connection_count(net.connection, &counts);
		assert_int_equal(counts.error, -ECONNRESET);
		weir_connection_stop(net.connection);
		weir_connection_stop(NULL);
		net_end(&net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_reference_closes_the_descriptor),
		cmocka_unit_test(flows_that_never_ran_hold_it),
		cmocka_unit_test(what_is_no_connected_stream_socket_is_refused),
		cmocka_unit_test(it_knows_both_addresses),
		cmocka_unit_test(a_unix_socket_knows_who_has_connected),
		cmocka_unit_test(options_reach_the_kernel),
		cmocka_unit_test(it_counts_its_bytes),
		cmocka_unit_test(a_stop_resets_the_peer_and_fails_both_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
