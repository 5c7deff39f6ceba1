/* SPDX-License-Identifier: BSD-2-Clause */
/* Two connections, joined. */
#include "net/kit.h"

#include "actor/kit.h"
#include "flow/kit.h"

#include <poll.h>

#include <ck_pr.h>

static struct net net; /* a run, and nothing else */
static struct weir_connection *joined[2];
static int peers[2];

static const int families[3][2] = {{AF_INET, AF_INET},
				   {AF_UNIX, AF_UNIX},
				   {AF_INET, AF_UNIX}};
#define for_each_pair(pair) \
	for (const int(*pair)[2] = families; pair < families + 3; pair++)

static void make(int i, int family)
{
	net_connect(&net, family, NULL);
	joined[i] = net.connection;
	peers[i] = net.peer;
	net.connection = NULL;
	net.peer = -1;
}

/* Joined by a run that is started, whose references are the only ones. */
static void begin_with(const struct kind *kind, const int *pair,
		       const struct weir_connection_pipe_options *options)
{
	int i;

	net_begin(&net, kind);
	for (i = 0; i < 2; i++)
		make(i, pair[i]);
	net_start(&net, weir_connection_pipe(joined[0], joined[1], options));
}

static void begin(const struct kind *kind, const int *pair)
{
	begin_with(kind, pair, NULL);
}

static void end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		weir_connection_unref(joined[i]);
		if (peers[i] >= 0)
			assert_int_equal(close(peers[i]), 0);
	}
	net_end(&net);
}

static void peer_ends(int i)
{
	assert_int_equal(shutdown(peers[i], SHUT_WR), 0);
	expect_end(&net, peers[!i]);
}

/* --- Bytes and ends ------------------------------------------------------- */

static void bytes_go_both_ways(void **state)
{
	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			begin(*kind, *pair);
			send_text(peers[0], "question");
			expect_text(&net, peers[1], "question");
			send_text(peers[1], "answer");
			expect_text(&net, peers[0], "answer");
			send_text(peers[0], "more");
			expect_text(&net, peers[1], "more");
			peer_ends(0);
			peer_ends(1);
			net_over(&net, 0, 18);
			end();
		}
	}
}

/* The one that has not ended may go on. */
static void either_peer_may_end_first(void **state)
{
	int first;

	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			for (first = 0; first < 2; first++) {
				begin(*kind, *pair);
				send_text(peers[first], "bye");
				expect_text(&net, peers[!first], "bye");
				peer_ends(first);
				send_text(peers[!first], "and more");
				expect_text(&net, peers[first], "and more");
				assert_false(net_is_over(&net));
				peer_ends(!first);
				net_over(&net, 0, 11);
				end();
			}
		}
	}
}

static void both_peers_may_end_at_once(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			begin(*kind, *pair);
			for (i = 0; i < 2; i++) {
				send_text(peers[i], "bye");
				assert_int_equal(shutdown(peers[i], SHUT_WR),
						 0);
			}
			for (i = 0; i < 2; i++) {
				expect_text(&net, peers[i], "bye");
				expect_end(&net, peers[i]);
			}
			net_over(&net, 0, 6);
			end();
		}
	}
}

/* A read stops there, so a short piece is not all. */
static void urgent_data_holds_nothing_up(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, families[0]);
		assert_int_equal(send(peers[0], "ab", 2, MSG_OOB), 2);
		send_text(peers[0], "c");
		expect_text(&net, peers[1], "ac");
		peer_ends(0);
		peer_ends(1);
		net_over(&net, 0, 2);
		end();
	}
}

/* As after a short visit: all is there before the pipe begins. */
static void peers_may_have_ended_before_it_begins(void **state)
{
	int i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		for (i = 0; i < 2; i++) {
			make(i, AF_INET);
			send_text(peers[i], "bye");
			assert_int_equal(shutdown(peers[i], SHUT_WR), 0);
		}
		net_start(&net,
			  weir_connection_pipe(joined[0], joined[1], NULL));
		for (i = 0; i < 2; i++) {
			expect_text(&net, peers[i], "bye");
			expect_end(&net, peers[i]);
		}
		net_over(&net, 0, 6);
		end();
	}
}

static void both_are_closed_when_it_is_over(void **state)
{
	int i;

	for_each_kind(kind)
	{
		begin(*kind, families[0]);
		for (i = 0; i < 2; i++) {
			weir_connection_unref(joined[i]);
			joined[i] = NULL;
		}
		send_text(peers[0], "abc");
		peer_ends(1);
		expect_text(&net, peers[1], "abc");
		peer_ends(0);
		net_over(&net, 0, 3);
		end(); /* no descriptor is left */
	}
}

static struct weir_flow *echo(struct weir_connection *client, void *context)
{
	return weir_connection_run(client, NULL, NULL);
}

static struct weir_flow *join(struct weir_connection *server, void *client)
{
	return weir_connection_pipe(client, server, NULL);
}

/* The client is borrowed until its run is over: after the connect, too. */
static struct weir_flow *relay(struct weir_connection *client, void *address)
{
	struct weir_flow *flow = weir_flow_connect(address, NULL);

	return weir_flow_each_connection(flow, 1, join, client);
}

static void a_server_joins_its_clients_to_another_server(void **state)
{
	char address[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir_listen_options options;
	struct weir_flow_run *echoes;
	struct weir_flow *flows[2];
	int fd;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		options = listen_here(&net);
		flows[0] = weir_flow_listen("127.0.0.1:0", &options);
		flows[0] = weir_flow_each_connection(flows[0], 9, echo, NULL);
		assert_int_equal(weir_flow_start(flows[0], net.place.executor,
						 NULL, &echoes),
				 0);
		strcpy(address, net.address);
		flows[1] = weir_flow_listen("127.0.0.1:0", &options);
		net_start(&net, weir_flow_each_connection(flows[1], 9, relay,
							  address));
		fd = dial(net.address);
		send_text(fd, "hello");
		expect_text(&net, fd, "hello");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect_end(&net, fd);
		close(fd);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 1);
		weir_flow_run_end(echoes);
		assert_int_equal(weir_flow_run_wait(echoes, WEIR_FOREVER, NULL,
						    NULL),
				 0);
		weir_flow_run_free(echoes);
		weir_flow_free(flows[0]);
		net_end(&net);
	}
}

/* --- Calls ---------------------------------------------------------------- */

static bool no_pipes;
static uint32_t n_received; /* calls of the library's, where one thread is */

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	if (net.place.sim && fd != peers[0] && fd != peers[1])
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

/* --- Demand --------------------------------------------------------------- */

/* How many bytes the pipe holds on that way. */
static uint64_t held(int i)
{
	struct weir_connection_counts from, to;

	assert_int_equal(weir_connection_count(joined[!i], &to), 0);
	assert_int_equal(weir_connection_count(joined[i], &from), 0);
	return from.bytes_in - to.bytes_out;
}

/* Sends until nobody takes any more, and the pipe holds some. */
static size_t fill(int i)
{
	static const char some[65536];
	size_t sent = 0;
	int refused = 0;
	ssize_t n;

	while (refused < 1000 || held(i) == 0) {
		n = send(peers[i], some, sizeof(some),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		refused = n > 0 ? 0 : refused + 1;
		net_drive(&net);
	}
	assert_true(held(i) <= 65536);
	return sent;
}

static void a_peer_that_takes_nothing_holds_up_its_sender_alone(void **state)
{
	char some[4096];
	size_t sent, got;
	ssize_t n;

	for_each_kind(kind)
	{
		begin(*kind, families[1]);
		sent = fill(0);
		/* the other way goes on */
		send_text(peers[1], "hello");
		expect_text(&net, peers[0], "hello");
		assert_int_equal(shutdown(peers[0], SHUT_WR), 0);
		for (got = 0; got<sent; got += n> 0 ? (size_t)n : 0) {
			n = recv(peers[1], some, sizeof(some), MSG_DONTWAIT);
			assert_true(n > 0 || (n < 0 && errno == EAGAIN));
			net_drive(&net);
		}
		expect_end(&net, peers[1]);
		peer_ends(1);
		net_over(&net, 0, sent + 5);
		end();
	}
}

/* True: nothing runs, and only what the clock brings would. */
static bool rests(void)
{
	net_drive(&net);
	return weir_sim_run_until(net.place.sim,
				  weir_executor_now(net.place.executor),
				  100000) == 0;
}

/* More than is copied. */
#define MUCH 10000

static const char much[MUCH];

static void send_much(int i)
{
	assert_int_equal(send(peers[i], much, MUCH, MSG_NOSIGNAL), MUCH);
}

static void expect_much(int i)
{
	char some[MUCH];
	size_t got = 0;
	ssize_t n;

	while (got < MUCH) {
		n = recv(peers[i], some, MUCH - got, MSG_DONTWAIT);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		got += n > 0 ? (size_t)n : 0;
		net_drive(&net);
	}
}

/* Nobody is woken, and no descriptor is needed, while nothing comes, or little;
 * much needs two. */
static void peers_that_are_silent_cost_nothing(void **state)
{
	size_t before;

	begin(&sim, families[1]);
	assert_true(rests());
	before = descriptors_count();
	send_text(peers[0], "hello");
	expect_text(&net, peers[1], "hello");
	assert_int_equal(descriptors_count(), before);
	send_much(0);
	expect_much(1);
	assert_int_equal(descriptors_count(), before + 2);
	assert_true(rests());
	peer_ends(0);
	assert_int_equal(descriptors_count(), before);
	assert_true(rests());
	peer_ends(1);
	net_over(&net, 0, 5 + MUCH);
	end();
}

/* A short piece was all there is: nobody asks again, but behind an end. */
static void little_needs_one_call_to_each(void **state)
{
	int i;

	begin(&sim, families[0]);
	assert_true(rests());
	n_received = 0;
	for (i = 0; i < 10; i++) {
		send_text(peers[0], "hello");
		expect_text(&net, peers[1], "hello");
	}
	assert_int_equal(n_received, 10);
	peer_ends(0);
	peer_ends(1);
	net_over(&net, 0, 50);
	end();
}

/* --- Time ----------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

static void at_second(double seconds)
{
	(void)weir_sim_run_until(net.place.sim, (uint64_t)(seconds * SECOND),
				 100000);
}

static void both_are_reset(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (peers[i] >= 0)
			expect_reset(&net, peers[i]);
}

static void silence_behind_an_end_is_not_waited_for_for_ever(void **state)
{
	begin(&sim, families[0]);
	at_second(500); /* before there is no limit */
	peer_ends(0);
	at_second(559);
	send_text(peers[1], "still here");
	expect_text(&net, peers[0], "still here");
	at_second(618);
	assert_false(net_is_over(&net));
	at_second(619.5);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	expect_reset(&net, peers[0]);
	end();
}

/* It cannot be read yet, and is heard of all the same. */
static void an_end_behind_bytes_that_nobody_takes_counts(void **state)
{
	const struct weir_connection_pipe_options options = {
		.idle_ns = 10 * SECOND, .half_close_ns = SECOND};

	begin_with(&sim, families[1], &options);
	(void)fill(0);
	at_second(0.5);
	assert_int_equal(shutdown(peers[0], SHUT_WR), 0);
	at_second(1.4);
	assert_false(net_is_over(&net));
	at_second(1.6);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	end();
}

static void bytes_of_either_way_put_the_idle_limit_off(void **state)
{
	const struct weir_connection_pipe_options options = {.idle_ns = SECOND};
	int i;

	begin_with(&sim, families[0], &options);
	for (i = 0; i < 4; i++) {
		at_second(0.9 * (i + 1));
		assert_false(net_is_over(&net));
		send_text(peers[i % 2], "tick");
		expect_text(&net, peers[!(i % 2)], "tick");
	}
	at_second(3.6 + 0.9);
	assert_false(net_is_over(&net));
	at_second(3.6 + 1.1);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	both_are_reset();
	end();
}

/* The smaller limit counts, whichever that is. */
static void both_limits_hold_behind_an_end(void **state)
{
	const struct weir_connection_pipe_options options[2] = {
		{.idle_ns = SECOND, .half_close_ns = 5 * SECOND},
		{.idle_ns = 5 * SECOND, .half_close_ns = SECOND}};
	int i;

	for (i = 0; i < 2; i++) {
		begin_with(&sim, families[0], &options[i]);
		at_second(0.5);
		peer_ends(1);
		at_second(1.4);
		assert_false(net_is_over(&net));
		at_second(1.6);
		assert_true(net_is_over(&net));
		net_over(&net, -ETIMEDOUT, 0);
		end();
	}
}

static void a_drain_lets_it_go_on_to_its_end(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, families[0]);
		send_text(peers[0], "question");
		expect_text(&net, peers[1], "question");
		weir_flow_run_end(net.run);
		net_drive(&net);
		send_text(peers[1], "answer");
		expect_text(&net, peers[0], "answer");
		peer_ends(0);
		peer_ends(1);
		net_over(&net, 0, 14);
		end();
	}
}

static void a_drain_does_not_wait_for_silent_peers_for_ever(void **state)
{
	begin(&sim, families[0]);
	at_second(500);
	weir_flow_run_end(net.run);
	at_second(559);
	assert_false(net_is_over(&net));
	at_second(561);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	end();
}

/* --- Errors --------------------------------------------------------------- */

static void a_reset_of_one_resets_the_other(void **state)
{
	struct weir_connection_counts counts;
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[0]);
			send_text(peers[i], "hello");
			expect_text(&net, peers[!i], "hello");
			reset(peers[i]);
			peers[i] = -1;
			net_over(&net, -ECONNRESET, 0);
			both_are_reset();
			assert_int_equal(
				weir_connection_count(joined[i], &counts), 0);
			assert_int_equal(counts.error, -ECONNRESET);
			end();
		}
	}
}

/* Its own way is over, so nobody reads there any more. */
static void a_reset_behind_an_end_is_heard(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[0]);
			peer_ends(i);
			reset(peers[i]);
			peers[i] = -1;
			net_over(&net, -ECONNRESET, 0);
			end();
		}
	}
}

static void a_reset_is_heard_while_nothing_can_be_carried(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, families[0]);
		(void)fill(0);
		reset(peers[0]);
		peers[0] = -1;
		net_over(&net, -ECONNRESET, 0);
		end();
	}
}

/* A write to it would raise SIGPIPE, which ends the program. */
static void a_peer_that_has_gone_raises_no_signal(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, families[1]);
		assert_int_equal(close(peers[1]), 0);
		peers[1] = -1;
		expect_end(&net, peers[0]);
		send_text(peers[0], "hello");
		net_over(&net, -ECONNRESET, 0);
		end();
	}
}

static void either_can_be_stopped_from_outside(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[0]);
			send_text(peers[0], "hello");
			expect_text(&net, peers[1], "hello");
			weir_connection_stop(joined[i]);
			net_over(&net, -ECONNRESET, 0);
			both_are_reset();
			end();
		}
	}
}

static void a_stop_of_the_run_resets_both(void **state)
{
	int started;

	for_each_kind(kind)
	{
		for (started = 0; started < 2; started++) {
			begin(*kind, families[0]);
			if (started) {
				send_text(peers[0], "hello");
				expect_text(&net, peers[1], "hello");
			}
			weir_flow_run_stop(net.run, NULL);
			net_over(&net, -ECANCELED, 0);
			both_are_reset();
			end();
		}
	}
}

static void a_flow_that_never_ran_leaves_both_as_they_were(void **state)
{
	net_begin(&net, &loop);
	make(0, AF_INET);
	make(1, AF_INET);
	weir_flow_free(weir_connection_pipe(joined[0], joined[1], NULL));
	net_start(&net, weir_connection_pipe(joined[1], joined[0], NULL));
	send_text(peers[0], "hello");
	expect_text(&net, peers[1], "hello");
	peer_ends(0);
	peer_ends(1);
	net_over(&net, 0, 5);
	end();
}

static void assert_already(struct weir_flow *flow)
{
	struct weir_flow_run *run;

	assert_int_equal(weir_flow_start(flow, net.place.executor, NULL, &run),
			 -EALREADY);
	weir_flow_free(flow);
}

/* What is refused has taken nothing of either connection. */
static void it_has_all_flows_of_both(void **state)
{
	struct weir_connection *third;
	struct weir_flow *used;
	int peer;

	net_begin(&net, &loop);
	make(0, AF_INET);
	third = joined[0];
	peer = peers[0];
	make(0, AF_INET);
	make(1, AF_INET);
	used = weir_connection_pipe(joined[0], joined[1], NULL);
	net_start(&net, weir_flow_ignore(weir_connection_read(joined[1], 1)));
	assert_already(used);
	assert_int_equal(shutdown(peers[1], SHUT_WR), 0);
	net_over(&net, 0, 0);
	net_start(&net, weir_connection_pipe(joined[0], third, NULL));
	assert_already(weir_connection_read(joined[0], 1));
	assert_already(weir_connection_write(text_flow("x"), third));
	assert_already(weir_connection_pipe(joined[1], third, NULL));
	assert_already(weir_connection_pipe(third, joined[0], NULL));
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	assert_int_equal(shutdown(peers[0], SHUT_WR), 0);
	expect_end(&net, peer);
	assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, NULL),
			 0);
	assert_already(weir_connection_pipe(third, joined[0], NULL));
	weir_connection_unref(third);
	close(peer);
	end();
}

static void an_executor_must_watch_descriptors(void **state)
{
	begin(&direct, families[1]);
	net.place.kind->drive(&net.place);
	net_over(&net, -ENOTSUP, 0);
	end();
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_connection_pipe_options wrong = {.reserved = {0, 1}};
	struct weir_flow *flows[4];

	net_begin(&net, &loop);
	make(0, AF_UNIX);
	make(1, AF_UNIX);
	flows[0] = weir_connection_pipe(NULL, joined[1], NULL);
	flows[1] = weir_connection_pipe(joined[0], NULL, NULL);
	flows[2] = weir_connection_pipe(joined[0], joined[0], NULL);
	flows[3] = weir_connection_pipe(joined[0], joined[1], &wrong);
	assert_refused_all(flows, 4);
	end();
}

/* --- Without pipes -------------------------------------------------------- */

static void it_goes_on_where_no_descriptor_is_left(void **state)
{
	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			begin(*kind, *pair);
			no_pipes = true;
			send_much(0);
			expect_much(1);
			no_pipes = false;
			send_much(1);
			expect_much(0);
			send_text(peers[0], "more");
			expect_text(&net, peers[1], "more");
			peer_ends(0);
			peer_ends(1);
			net_over(&net, 0, 2 * MUCH + 4);
			end();
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
		memset(&net, 0, sizeof(net));
		net.peer = -1;
		descriptors_note(&net.before);
		heap_init(&heap, 0);
		options.allocator = &heap.allocator;
		assert_int_equal(weir_sim_new(&net.place.sim, 1, &options), 0);
		net.place.executor = weir_sim_executor(net.place.sim);
		net.place.kind = &sim;
		for (i = 0; i < 2; i++) {
			make(i, AF_UNIX);
			send_much(i);
			assert_int_equal(shutdown(peers[i], SHUT_WR), 0);
		}
		heap.fail = heap.calls + fail;
		net.flow = weir_connection_pipe(joined[0], joined[1], NULL);
		/* it may be tried again */
		do
			rc = weir_flow_start(net.flow, net.place.executor, NULL,
					     &net.run);
		while (rc == -ENOMEM);
		assert_int_equal(rc, 0);
		no_pipes = true;
		net_drive(&net);
		no_pipes = false;
		failed = heap.calls >= heap.fail;
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_int_equal(error ? error->code : 0,
				 error && failed ? -ENOMEM : 0);
		weir_error_unref(error);
		end();
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

	net_begin(&net, &sim);
	assert_int_equal(weir_sim_free(net.place.sim), 0);
	heap_init(&heap, 0);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&net.place.sim, 1, &options), 0);
	net.place.executor = weir_sim_executor(net.place.sim);
	make(0, AF_INET);
	make(1, AF_INET);
	net_start(&net, weir_connection_pipe(joined[0], joined[1], NULL));
	for (i = 0; i < 200; i++) {
		if (i == 2)
			before = heap.calls;
		send_text(peers[i % 2], "hello");
		expect_text(&net, peers[!(i % 2)], "hello");
	}
	assert_int_equal(heap.calls, before);
	peer_ends(0);
	peer_ends(1);
	net_over(&net, 0, 1000);
	end();
	assert_int_equal(heap.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(either_peer_may_end_first),
		cmocka_unit_test(both_peers_may_end_at_once),
		cmocka_unit_test(urgent_data_holds_nothing_up),
		cmocka_unit_test(peers_may_have_ended_before_it_begins),
		cmocka_unit_test(both_are_closed_when_it_is_over),
		cmocka_unit_test(a_server_joins_its_clients_to_another_server),
		cmocka_unit_test(
			a_peer_that_takes_nothing_holds_up_its_sender_alone),
		cmocka_unit_test(peers_that_are_silent_cost_nothing),
		cmocka_unit_test(little_needs_one_call_to_each),
		cmocka_unit_test(
			silence_behind_an_end_is_not_waited_for_for_ever),
		cmocka_unit_test(an_end_behind_bytes_that_nobody_takes_counts),
		cmocka_unit_test(bytes_of_either_way_put_the_idle_limit_off),
		cmocka_unit_test(both_limits_hold_behind_an_end),
		cmocka_unit_test(a_drain_lets_it_go_on_to_its_end),
		cmocka_unit_test(
			a_drain_does_not_wait_for_silent_peers_for_ever),
		cmocka_unit_test(a_reset_of_one_resets_the_other),
		cmocka_unit_test(a_reset_behind_an_end_is_heard),
		cmocka_unit_test(a_reset_is_heard_while_nothing_can_be_carried),
		cmocka_unit_test(a_peer_that_has_gone_raises_no_signal),
		cmocka_unit_test(either_can_be_stopped_from_outside),
		cmocka_unit_test(a_stop_of_the_run_resets_both),
		cmocka_unit_test(
			a_flow_that_never_ran_leaves_both_as_they_were),
		cmocka_unit_test(it_has_all_flows_of_both),
		cmocka_unit_test(an_executor_must_watch_descriptors),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(it_goes_on_where_no_descriptor_is_left),
		cmocka_unit_test(out_of_memory_loses_nothing),
		cmocka_unit_test(blocks_need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
