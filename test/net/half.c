/* SPDX-License-Identifier: BSD-2-Clause */
/* How the halves of a connection wait: its descriptor is registered once, and
 * the calls that a message takes are counted. */
#include "net/kit.h"

#include <sys/epoll.h>

#include <ck_pr.h>

static struct net net;

/* --- Calls ---------------------------------------------------------------- */

/* Of the library, atomic. Those in vain: they were told EAGAIN. */
static uint32_t controls, reads, sends, in_vain;

static void count_anew(void)
{
	ck_pr_store_32(&controls, 0);
	ck_pr_store_32(&reads, 0);
	ck_pr_store_32(&sends, 0);
	ck_pr_store_32(&in_vain, 0);
}

static ssize_t note(ssize_t rc)
{
	if (rc < 0 && errno == EAGAIN)
		ck_pr_inc_32(&in_vain);
	return rc;
}

int __real_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	ck_pr_inc_32(&controls);
	return __real_epoll_ctl(set, op, fd, event);
}

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	if (fd == net.peer)
		return __real_recv(fd, to, n, flags);
	ck_pr_inc_32(&reads);
	return note(__real_recv(fd, to, n, flags));
}

ssize_t __real_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
	if (fd == net.peer)
		return __real_send(fd, from, n, flags);
	ck_pr_inc_32(&sends);
	return note(__real_send(fd, from, n, flags));
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	ck_pr_inc_32(&sends);
	return note(__real_sendmsg(fd, message, flags));
}

/* --- Tests ---------------------------------------------------------------- */

static void exchange(uint32_t times)
{
	while (times-- > 0) {
		send_text(net.peer, "there and back");
		expect_text(&net, net.peer, "there and back");
	}
}

static void echo(const struct kind *kind, int family)
{
	net_begin(&net, kind);
	net_connect(&net, family, NULL);
	net_start(&net, weir_connection_run(net.connection, NULL, NULL));
	exchange(2);
	count_anew();
	exchange(100);
}

static void finish(uintptr_t written)
{
	assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
	expect_end(&net, net.peer);
	net_over(&net, 0, written);
	net_end(&net);
}

static void an_echo_takes_a_read_and_a_write_and_registers_nothing(void **state)
{
	for_each_kind(kind)
	{
		echo(*kind, AF_INET);
		assert_int_equal(ck_pr_load_32(&controls), 0);
		assert_int_equal(ck_pr_load_32(&in_vain), 0);
		assert_int_equal(ck_pr_load_32(&sends), 100);
		assert_int_equal(ck_pr_load_32(&reads), 100);
		finish(14 * 102);
	}
}

/* Where a short read may have stopped at descriptors the next one is needed. */
static void an_echo_of_a_unix_socket_registers_nothing(void **state)
{
	for_each_kind(kind)
	{
		echo(*kind, AF_UNIX);
		assert_int_equal(ck_pr_load_32(&controls), 0);
		assert_int_equal(ck_pr_load_32(&sends), 100);
		assert_true(ck_pr_load_32(&in_vain) <= 101);
		finish(14 * 102);
	}
}

static size_t take_some(size_t most)
{
	static char to[65536];
	size_t sum = 0;
	ssize_t n;

	while (sum < most) {
		n = recv(net.peer, to, sizeof(to), MSG_DONTWAIT);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		if (n > 0)
			sum += (size_t)n;
		else
			net_drive(&net);
	}
	return sum;
}

/* Once it has had to wait, it is registered for that, too. */
static void a_slow_peer_is_waited_for_without_registering_again(void **state)
{
	const struct weir_connection_options options = {.sndbuf = 1};
	static const int families[] = {AF_INET, AF_UNIX};
	static char text[2000001];
	const int small = 65536;
	size_t sum, i;

	memset(text, 'x', sizeof(text) - 1);
	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			net_begin(&net, *kind);
			net_connect(&net, families[i], &options);
			assert_int_equal(setsockopt(net.peer, SOL_SOCKET,
						    SO_RCVBUF, &small,
						    sizeof(small)),
					 0);
			count_anew();
			net_start(&net, weir_connection_write(text_flow(text),
							      net.connection));
			while (ck_pr_load_32(&in_vain) == 0)
				net_drive(&net);
			sum = take_some(sizeof(text) / 2);
			count_anew();
			sum += take_some(sizeof(text) / 4);
			assert_int_equal(ck_pr_load_32(&controls), 0);
			(void)take_some(sizeof(text) - 1 - sum);
			expect_end(&net, net.peer);
			net_over(&net, 0, sizeof(text) - 1);
			net_end(&net);
		}
	}
}

/* Each is accepted before the next one dials. */
static void a_listener_is_registered_once(void **state)
{
	struct weir_listen_options options;
	int fds[20], i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		options = listen_here(&net);
		count_anew();
		net_start(&net,
			  weir_flow_count(weir_flow_take(
				  weir_flow_listen("127.0.0.1:0", &options),
				  20)));
		while (ck_pr_load_32(&controls) == 0)
			net_drive(&net);
		for (i = 0; i < 20; i++) {
			fds[i] = dial(net.address);
			expect_end(&net, fds[i]);
			if (i == 1)
				count_anew();
			if (i == 18)
				assert_int_equal(ck_pr_load_32(&controls), 0);
		}
		net_over(&net, 0, 20);
		for (i = 0; i < 20; i++)
			assert_int_equal(close(fds[i]), 0);
		net_end(&net);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_echo_takes_a_read_and_a_write_and_registers_nothing),
		cmocka_unit_test(an_echo_of_a_unix_socket_registers_nothing),
		cmocka_unit_test(
			a_slow_peer_is_waited_for_without_registering_again),
		cmocka_unit_test(a_listener_is_registered_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
