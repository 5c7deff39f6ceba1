/* SPDX-License-Identifier: BSD-2-Clause */
/* What two connections that are joined need: calls, descriptors, memory. */
#include "net/splice_kit.h"

#include "actor/kit.h"
#include "flow/kit.h"

static bool no_pipes;
static uint32_t n_received; /* calls of the library's, where one thread is */

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	if (spliced.net.place.sim && fd != spliced.peers[0] &&
	    fd != spliced.peers[1])
		n_received++;
	return __real_recv(fd, to, n, flags);
}

int __real_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags);

int __wrap_pipe2(int fds[2], int flags)
{
	if (!no_pipes)
		return __real_pipe2(fds, flags);
	errno = EMFILE;
	return -1;
}

/* True: nothing runs, and only what the clock brings would. */
static bool rests(void)
{
	net_drive(&spliced.net);
	return weir_sim_run_until(spliced.net.place.sim,
				  weir_executor_now(spliced.net.place.executor),
				  100000) == 0;
}

/* More than is copied. */
#define MUCH 10000

static const char much[MUCH];

static void send_much(int i)
{
	assert_int_equal(send(spliced.peers[i], much, MUCH, MSG_NOSIGNAL),
			 MUCH);
}

static void expect_much(int i)
{
	char some[MUCH];
	size_t got = 0;
	ssize_t n;

	while (got < MUCH) {
		n = recv(spliced.peers[i], some, MUCH - got, MSG_DONTWAIT);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		got += n > 0 ? (size_t)n : 0;
		net_drive(&spliced.net);
	}
}

/* Nobody is woken, and no descriptor is needed, while nothing comes, or little;
 * much needs two. */
static void peers_that_are_silent_cost_nothing(void **state)
{
	size_t before;

	spliced_begin(&sim, spliced_families[1]);
	assert_true(rests());
	before = descriptors_count();
	send_text(spliced.peers[0], "hello");
	expect_text(&spliced.net, spliced.peers[1], "hello");
	assert_int_equal(descriptors_count(), before);
	send_much(0);
	expect_much(1);
	assert_int_equal(descriptors_count(), before + 2);
	assert_true(rests());
	spliced_peer_ends(0);
	assert_int_equal(descriptors_count(), before);
	assert_true(rests());
	spliced_peer_ends(1);
	net_over(&spliced.net, 0, 5 + MUCH);
	spliced_end();
}

/* A short piece was all there is: nobody asks again, but behind an end. */
static void little_needs_one_call_to_each(void **state)
{
	int i;

	spliced_begin(&sim, spliced_families[0]);
	assert_true(rests());
	n_received = 0;
	for (i = 0; i < 10; i++) {
		send_text(spliced.peers[0], "hello");
		expect_text(&spliced.net, spliced.peers[1], "hello");
	}
	assert_int_equal(n_received, 10);
	spliced_peer_ends(0);
	spliced_peer_ends(1);
	net_over(&spliced.net, 0, 50);
	spliced_end();
}

/* --- Without pipes -------------------------------------------------------- */

static void it_goes_on_where_no_descriptor_is_left(void **state)
{
	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			spliced_begin(*kind, *pair);
			no_pipes = true;
			send_much(0);
			expect_much(1);
			no_pipes = false;
			send_much(1);
			expect_much(0);
			send_text(spliced.peers[0], "more");
			expect_text(&spliced.net, spliced.peers[1], "more");
			spliced_peer_ends(0);
			spliced_peer_ends(1);
			net_over(&spliced.net, 0, 2 * MUCH + 4);
			spliced_end();
		}
	}
}

/* Whatever allocation fails: both are reset, and all is given back. */
static void out_of_memory_loses_nothing(void **state)
{
	struct weir_executor_options options = {0};
	struct weir_error *error;
	bool failed = true;
	struct heap heap;
	size_t fail;
	int i, rc;

	for (fail = 1; failed; fail++) {
		memset(&spliced.net, 0, sizeof(spliced.net));
		spliced.net.peer = -1;
		descriptors_note(&spliced.net.before);
		heap_init(&heap, 0);
		options.allocator = &heap.allocator;
		assert_int_equal(
			weir_sim_new(&spliced.net.place.sim, 1, &options), 0);
		spliced.net.place.executor =
			weir_sim_executor(spliced.net.place.sim);
		spliced.net.place.kind = &sim;
		for (i = 0; i < 2; i++) {
			spliced_make(i, AF_UNIX);
			send_much(i);
			assert_int_equal(shutdown(spliced.peers[i], SHUT_WR),
					 0);
		}
		heap.fail = heap.calls + fail;
		spliced.net.flow = weir_connection_pipe(
			spliced.joined[0], spliced.joined[1], NULL);
		/* it may be tried again */
		do
			rc = weir_flow_start(spliced.net.flow,
					     spliced.net.place.executor, NULL,
					     &spliced.net.run);
		while (rc == -ENOMEM);
		assert_int_equal(rc, 0);
		no_pipes = true;
		net_drive(&spliced.net);
		no_pipes = false;
		failed = heap.calls >= heap.fail;
		assert_int_equal(weir_flow_run_wait(spliced.net.run,
						    WEIR_FOREVER, NULL, &error),
				 0);
		assert_int_equal(error ? error->code : 0,
				 error && failed ? -ENOMEM : 0);
		weir_error_unref(error);
		spliced_end();
		assert_int_equal(heap.live, 0);
	}
	assert_in_range(fail, 5, 100);
}

/* After a first block each way no more memory is asked for. */
static void blocks_need_no_memory(void **state)
{
	struct weir_executor_options options = {0};
	struct heap heap;
	size_t before = 0;
	int i;

	net_begin(&spliced.net, &sim);
	assert_int_equal(weir_sim_free(spliced.net.place.sim), 0);
	heap_init(&heap, 0);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&spliced.net.place.sim, 1, &options), 0);
	spliced.net.place.executor = weir_sim_executor(spliced.net.place.sim);
	spliced_make(0, AF_INET);
	spliced_make(1, AF_INET);
	net_start(&spliced.net, weir_connection_pipe(spliced.joined[0],
						     spliced.joined[1], NULL));
	for (i = 0; i < 200; i++) {
		if (i == 2)
			before = heap.calls;
		send_text(spliced.peers[i % 2], "hello");
		expect_text(&spliced.net, spliced.peers[!(i % 2)], "hello");
	}
	assert_int_equal(heap.calls, before);
	spliced_peer_ends(0);
	spliced_peer_ends(1);
	net_over(&spliced.net, 0, 1000);
	spliced_end();
	assert_int_equal(heap.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers_that_are_silent_cost_nothing),
		cmocka_unit_test(little_needs_one_call_to_each),
		cmocka_unit_test(it_goes_on_where_no_descriptor_is_left),
		cmocka_unit_test(out_of_memory_loses_nothing),
		cmocka_unit_test(blocks_need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
