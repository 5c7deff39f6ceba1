/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow that writes a connection. */
#include "net/kit.h"

#include "flow/kit.h"

#include <signal.h>
#include <time.h>

#include <ck_pr.h>

static struct net net;

static void all_items_arrive_and_are_counted(void **state)
{
	struct weir_flow *flows[3];

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		flows[0] = text_flow("one ");
		flows[1] = text_flow("");
		flows[2] = text_flow("two");
		net_start(&net,
			  weir_connection_write(weir_flow_concat(flows, 3),
						net.connection));
		expect_text(&net, net.peer, "one two");
		expect_end(&net, net.peer);
		net_over(&net, 0, 7);
		net_end(&net);
	}
}

static void the_end_is_a_half_close(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		net_start(&net, weir_connection_write(text_flow("question"),
						      net.connection));
		expect_text(&net, net.peer, "question");
		expect_end(&net, net.peer);
		net_over(&net, 0, 8);
		net_start(&net, weir_flow_count(weir_connection_read(
					net.connection, 100)));
		send_text(net.peer, "answer");
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_over(&net, 0, 1);
		net_end(&net);
	}
}

/* The read flow ends well, although the peer has not ended. */
static void the_end_may_be_that_of_both_ways(void **state)
{
	const struct weir_connection_options options = {.no_half_close = true};
	struct weir_flow_run *reads;
	struct weir_error *error;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, &options);
		flow = weir_flow_ignore(
			weir_connection_read(net.connection, 8));
		assert_int_equal(weir_flow_start(flow, net.place.executor, NULL,
						 &reads),
				 0);
		/* it reads */
		send_text(net.peer, "abc");
		net_drive(&net);
		net_start(&net, weir_connection_write(text_flow("answer"),
						      net.connection));
		expect_text(&net, net.peer, "answer");
		expect_end(&net, net.peer);
		send_text(net.peer, "def");
		assert_int_equal(close(net.peer), 0);
		net.peer = -1;
		net_over(&net, 0, 6);
		assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_null(error);
		weir_flow_run_free(reads);
		weir_flow_free(flow);
		net_end(&net);
	}
}

/* The peer must not take a part for the whole. */
static void a_failure_upstream_resets_the_peer(void **state)
{
	struct weir_flow *flows[2];

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		flows[0] = text_flow("half");
		flows[1] = weir_flow_fail(-EDOM, "no more");
		net_start(&net,
			  weir_connection_write(weir_flow_concat(flows, 2),
						net.connection));
		net_over(&net, -EDOM, 0);
		while (recv(net.peer, (char[8]){0}, 8, 0) > 0)
			;
		assert_int_equal(errno, ECONNRESET);
		net_end(&net);
	}
}

static void a_stopped_run_resets_the_peer(void **state)
{
	struct weir_flow_queue *queue;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		assert_int_equal(weir_flow_queue_new(
					 &queue, 1, WEIR_OVERFLOW_BACK_PRESSURE,
					 weir_flow_bytes_items()),
				 0);
		net_start(&net,
			  weir_connection_write(weir_flow_from_queue(queue),
						net.connection));
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		expect_reset(&net, net.peer);
		weir_flow_queue_free(queue);
		net_end(&net);
	}
}

static void a_peer_that_is_gone_raises_no_signal(void **state)
{
	for_each_kind(kind)
	{
		/* what SIGPIPE does by default would end the program */
		assert_ptr_not_equal(signal(SIGPIPE, SIG_DFL), SIG_ERR);
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		assert_int_equal(close(net.peer), 0);
		net.peer = -1;
		net_start(&net, weir_connection_write(text_flow("x"),
						      net.connection));
		net_over(&net, -ECONNRESET, 0);
		net_end(&net);
	}
}

/* Blocks of 4 KiB without end, which are counted while they are there. */
struct blocks {
	uint32_t live, most, made;
};

static struct blocks blocks;

static void *count_alloc(size_t size, void *context)
{
	uint32_t now;

	if (size > 4096) {
		now = ck_pr_faa_32(&blocks.live, 1) + 1;
		if (now > ck_pr_load_32(&blocks.most))
			ck_pr_store_32(&blocks.most, now);
	}
	return malloc(size);
}

static void count_free(void *memory, size_t size, void *context)
{
	if (memory && size > 4096)
		ck_pr_dec_32(&blocks.live);
	free(memory);
}

static const struct weir_allocator counted_blocks = {.alloc = count_alloc,
						     .free = count_free};

static int next_block(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 4096, &counted_blocks), 0);
	memset(bytes->data, 'x', 4096);
	ck_pr_inc_32(&blocks.made);
	*item = bytes;
	return 1;
}

static struct weir_flow *endless(void)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_block, NULL),
			       weir_flow_bytes_items());
}

static void a_slow_reader_takes_no_memory(void **state)
{
	const struct weir_connection_options options = {.unsent_bytes = 16384,
							.sndbuf = 16384};
	struct weir_connection_counts counts;
	size_t taken = 0, before;
	char some[4096];
	ssize_t n;

	for_each_kind(kind)
	{
		memset(&blocks, 0, sizeof(blocks));
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, &options);
		net_start(&net,
			  weir_connection_write(endless(), net.connection));
		for (taken = 0; taken < 4000000; taken += (size_t)n) {
			while ((n = recv(net.peer, some, sizeof(some),
					 MSG_DONTWAIT)) < 0)
				net_drive(&net);
			assert_true(n > 0);
		}
		/* nobody takes: it comes to rest, and the kernel's buffers
		 * are all that is filled */
		do {
			(void)weir_connection_count(net.connection, &counts);
			before = counts.bytes_out;
			for (n = 0; n < 1000; n++)
				net_drive(&net);
			(void)weir_connection_count(net.connection, &counts);
		} while (counts.bytes_out != before);
		assert_true(ck_pr_load_32(&blocks.most) <= 64);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		assert_int_equal(blocks.live, 0);
		net_end(&net);
	}
}

#define SECOND UINT64_C(1000000000)

static void a_peer_that_takes_nothing_times_out(void **state)
{
	const struct weir_connection_options options = {
		.write_stall_ns = SECOND};
	static char some[1 << 20];

	net_begin(&net, &sim);
	net_connect(&net, AF_UNIX, &options);
	net_start(&net, weir_connection_write(endless(), net.connection));
	(void)weir_sim_run_until(net.place.sim, SECOND * 9 / 10, 100000);
	assert_true(recv(net.peer, some, sizeof(some), MSG_DONTWAIT) > 0);
	(void)weir_sim_run_until(net.place.sim, SECOND * 18 / 10, 100000);
	assert_false(net_is_over(&net));
	(void)weir_sim_run_until(net.place.sim, SECOND * 2, 100000);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	net_end(&net);
}

/* It cannot take the answer before it has sent all. */
static void a_peer_is_heard_out_while_it_takes_nothing(void **state)
{
	static char much[100000];
	size_t sent = 0, taken = 0;
	struct weir_flow *flow;
	ssize_t n;

	for_each_kind(kind)
	{
		sent = taken = 0;
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX,
			    &(struct weir_connection_options){
				    .linger_bytes = 10000000});
		/* the read flow is over at once */
		flow = weir_flow_take(weir_connection_read(net.connection, 1),
				      1);
		net_start(&net, weir_flow_ignore(flow));
		while (!net_is_over(&net)) {
			n = send(net.peer, much, 1, MSG_DONTWAIT);
			assert_true(n == 1 || errno == EAGAIN);
			net_drive(&net);
		}
		net_over(&net, 0, 0);
		flow = weir_flow_take(endless(), 1000);
		net_start(&net, weir_connection_write(flow, net.connection));
		while (sent < 5000000) {
			n = send(net.peer, much, sizeof(much), MSG_DONTWAIT);
			if (n > 0)
				sent += (size_t)n;
			else
				net_drive(&net);
		}
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		while (taken < 1000 * 4096) {
			n = recv(net.peer, much, sizeof(much), MSG_DONTWAIT);
			if (n > 0)
				taken += (size_t)n;
			else
				net_drive(&net);
		}
		expect_end(&net, net.peer);
		net_over(&net, 0, 1000 * 4096);
		net_end(&net);
	}
}

/* The kernel's buffers are full, and the writer waits. */
static void come_to_rest(void)
{
	struct weir_connection_counts counts = {0};
	uint64_t before;
	int i;

	do {
		before = counts.bytes_out;
		for (i = 0; i < 1000; i++)
			net_drive(&net);
		(void)weir_connection_count(net.connection, &counts);
	} while (counts.bytes_out == 0 || counts.bytes_out != before);
}

/* Who reads ends while who writes waits already. */
static void a_peer_is_heard_out_when_the_reader_ends(void **state)
{
	const struct weir_connection_options options = {
		.linger_bytes = 10000000};
	static char much[100000];
	struct weir_flow_run *writes;
	struct weir_flow *flow;
	size_t sent;
	ssize_t n;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, &options);
		flow = weir_connection_write(endless(), net.connection);
		assert_int_equal(weir_flow_start(flow, net.place.executor, NULL,
						 &writes),
				 0);
		come_to_rest();
		net_start(&net,
			  weir_flow_ignore(weir_flow_take(
				  weir_connection_read(net.connection, 1), 1)));
		send_text(net.peer, "a");
		net_over(&net, 0, 0);
		for (sent = 0; sent < 5000000;) {
			n = send(net.peer, much, sizeof(much), MSG_DONTWAIT);
			if (n > 0)
				sent += (size_t)n;
			else
				net_drive(&net);
		}
		net.run = writes;
		net.flow = flow;
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		net_end(&net);
	}
}

static struct {
	size_t calls;
	uint64_t take_ns;
} slow;

static uint64_t real_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_long(void)
{
	uint64_t now = real_ns();

	slow.calls++;
	while (real_ns() < now + slow.take_ns)
		;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	take_long();
	return __real_sendmsg(fd, message, flags);
}

ssize_t __real_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
	take_long();
	return __real_send(fd, from, n, flags);
}

static int letter(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, 1, NULL);

	if (rc < 0)
		return rc;
	bytes->data[0] = (char)(intptr_t)*item;
	*item = bytes;
	return 0;
}

/* Also when the island has learnt from the time of its turns, which is that of
 * calls, to ask for one item at a time. */
static void items_that_come_quickly_are_sent_by_one_call(void **state)
{
	const struct weir_executor_options options = {.publish_ns = 100000};
	struct weir_connection *connection;
	struct weir_flow *flow;
	struct weir_loop *made;
	char text[200];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(weir_loop_new(&made, &options), 0);
	assert_int_equal(weir_connection_new(&connection, fds[1], NULL, NULL),
			 0);
	flow = weir_flow_map(weir_flow_range(1, 200), letter, NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_connection_write(flow, connection);
	slow.calls = 0;
	slow.take_ns = 300000;
	assert_int_equal(weir_flow_run(flow, weir_loop_executor(made), NULL),
			 0);
	slow.take_ns = 0;
	assert_in_range(slow.calls, 1, 200 / 8);
	assert_int_equal(recv(fds[0], text, 200, MSG_WAITALL), 200);
	for (size_t i = 0; i < 200; i++)
		assert_int_equal((unsigned char)text[i], i + 1);
	weir_flow_free(flow);
	weir_connection_unref(connection);
	assert_int_equal(weir_loop_free(made), 0);
	assert_int_equal(close(fds[0]), 0);
}

static void only_bytes_are_written(void **state)
{
	struct weir_flow *flow;

	net_begin(&net, &loop);
	net_connect(&net, AF_UNIX, NULL);
	flow = weir_connection_write(weir_flow_range(1, 3), net.connection);
	assert_misfit(flow, "connection_write",
		      "takes bytes, see weir_flow_bytes_items()");
	flow = weir_connection_write(weir_flow_empty(), NULL);
	assert_refused_all(&flow, 1);
	net_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_items_arrive_and_are_counted),
		cmocka_unit_test(the_end_is_a_half_close),
		cmocka_unit_test(the_end_may_be_that_of_both_ways),
		cmocka_unit_test(a_failure_upstream_resets_the_peer),
		cmocka_unit_test(a_stopped_run_resets_the_peer),
		cmocka_unit_test(a_peer_that_is_gone_raises_no_signal),
		cmocka_unit_test(a_slow_reader_takes_no_memory),
		cmocka_unit_test(a_peer_that_takes_nothing_times_out),
		cmocka_unit_test(a_peer_is_heard_out_while_it_takes_nothing),
		cmocka_unit_test(a_peer_is_heard_out_when_the_reader_ends),
		cmocka_unit_test(items_that_come_quickly_are_sent_by_one_call),
		cmocka_unit_test(only_bytes_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
