/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes between OpenSSL and the kernel: calls and memory are counted. */
#include "tls/kit.h"

#include <sys/epoll.h>

#include <ck_pr.h>

static struct tls_net net;

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

/* The peer's are within OpenSSL. */
ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	ck_pr_inc_32(&reads);
	return note(__real_recv(fd, to, n, flags));
}

ssize_t __real_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
	ck_pr_inc_32(&sends);
	return note(__real_send(fd, from, n, flags));
}

static void exchange(uint32_t times)
{
	while (times-- > 0) {
		peer_text(&net, "there and back");
		peer_expect(&net, "there and back");
	}
}

static void an_echo_takes_a_read_and_a_write_and_registers_nothing(void **state)
{
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net,
			  weir_connection_run(net.net.connection, NULL, NULL));
		peer_handshake(&net);
		exchange(2);
		count_anew();
		exchange(100);
		assert_int_equal(ck_pr_load_32(&controls), 0);
		assert_int_equal(ck_pr_load_32(&in_vain), 0);
		assert_int_equal(ck_pr_load_32(&sends), 100);
		assert_int_equal(ck_pr_load_32(&reads), 100);
		peer_end(&net);
		net_over(&net.net, 0, 14 * 102);
		tls_end(&net);
	}
}

static int next_word(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	size_t *left = context;

	if (*left == 0)
		return 0;
	--*left;
	assert_int_equal(weir_flow_bytes_new(&bytes, 10, NULL), 0);
	memcpy(bytes->data, "ten bytes ", 10);
	*item = bytes;
	return 1;
}

/* Those that are there at once share a record, and a call. */
static void small_items_are_written_together(void **state)
{
	struct weir_flow *flow;
	size_t left = 6400, i;

	tls_begin(&net, &sim, WE_ACCEPT, TLS1_3_VERSION);
	count_anew();
	flow = weir_flow_items(weir_flow_unfold(NULL, next_word, &left),
			       weir_flow_bytes_items());
	net_start(&net.net, weir_connection_write(flow, net.net.connection));
	peer_handshake(&net);
	for (i = 0; i < 6400; i++)
		peer_expect(&net, "ten bytes ");
	peer_expect_end(&net);
	net_over(&net.net, 0, 64000);
	assert_true(ck_pr_load_32(&sends) < 6400 / 16);
	tls_end(&net);
}

/* --- Memory ------------------------------------------------------------------- */

struct counted {
	size_t n, n_all, bytes;
};

static void *counted_alloc(size_t size, void *context)
{
	struct counted *counted = context;

	counted->n++;
	counted->n_all++;
	counted->bytes += size;
	return malloc(size);
}

static void counted_free(void *memory, size_t size, void *context)
{
	struct counted *counted = context;

	counted->n--;
	counted->bytes -= size;
	free(memory);
}

/* What is kept for records of few bytes is kept on. */
static void small_records_take_no_memory(void **state)
{
	struct counted counted = {0};
	const struct weir_allocator allocator = {
		.alloc = counted_alloc,
		.free = counted_free,
		.context = &counted,
	};

	net_begin(&net.net, &sim);
	net_connect(&net.net, AF_INET, NULL);
	assert_int_equal(weir_tls_accept(net.net.connection,
					 tls_server(CERT_GOOD, 0), NULL,
					 &allocator),
			 0);
	assert_int_equal(counted.n, 1);
	net.peer = SSL_new(tls_client(0));
	assert_int_equal(fcntl(net.net.peer, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(SSL_set_fd(net.peer, net.net.peer), 1);
	SSL_set_connect_state(net.peer);
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	peer_handshake(&net);
	exchange(2);
	counted.n_all = 0;
	exchange(100);
	assert_int_equal(counted.n_all, 0);
	assert_true(counted.bytes < 4096);
	peer_end(&net);
	net_over(&net.net, 0, 14 * 102);
	tls_end(&net);
	assert_int_equal(counted.n, 0);
	assert_int_equal(counted.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_echo_takes_a_read_and_a_write_and_registers_nothing),
		cmocka_unit_test(small_items_are_written_together),
		cmocka_unit_test(small_records_take_no_memory),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
