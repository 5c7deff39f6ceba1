/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams that are received and sent. */
#include "flow/event_kit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/un.h>

static struct told told;
static struct net net;

/* --- Sockets -------------------------------------------------------------- */

struct end {
	int fd;
	struct sockaddr_storage address;
	socklen_t length;
};

/* Of UDP, at a port of its own. */
static struct end udp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct end end = {.length = sizeof(end.address)};

	end.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(end.fd >= 0);
	assert_int_equal(bind(end.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(end.fd, (struct sockaddr *)&end.address,
				     &end.length),
			 0);
	return end;
}

/* Of the Unix domain, with a name. */
static struct end named(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct end end = {.length = sizeof(at)};
	int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "weir-%d-%s",
			 (int)getpid(), name);

	end.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				 (size_t)n);
	memcpy(&end.address, &at, sizeof(at));
	end.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(end.fd, (void *)&at, end.length), 0);
	return end;
}

static void send_to(const struct end *from, const struct end *to,
		    const char *text)
{
	assert_int_equal(sendto(from->fd, text, strlen(text), MSG_DONTWAIT,
				(const void *)&to->address, to->length),
			 strlen(text));
}

/* What comes there, and from where if that is asked. */
static size_t take_at(int fd, char *text, size_t size)
{
	ssize_t n;

	while ((n = recv(fd, text, size, MSG_DONTWAIT)) < 0 &&
	       (errno == EAGAIN || errno == EINTR))
		net_drive(&net);
	assert_true(n >= 0);
	return (size_t)n;
}

static const struct weir_flow_datagram *datagram_at(uint32_t i)
{
	return told.items[i];
}

static void start(const struct weir_flow_datagrams_options *options, int fd,
		  int64_t n)
{
	struct weir_flow *flow =
		weir_flow_take(weir_flow_datagrams(fd, options), n);

	net_start(&net, tell_of(flow, &told, weir_flow_datagram_items()));
}

static void close_both(struct end *a, struct end *b)
{
	drop_told(&told);
	assert_int_equal(close(a->fd), 0);
	assert_int_equal(close(b->fd), 0);
	net_end(&net);
}

/* --- Receiving ------------------------------------------------------------ */

static void a_datagram_comes_with_its_sender(void **state)
{
	struct end here, peer;
	int of_unix;

	for_each_kind(kind)
	{
		for (of_unix = 0; of_unix < 2; of_unix++) {
			net_begin(&net, *kind);
			here = of_unix ? named("here") : udp();
			peer = of_unix ? named("peer") : udp();
			start(NULL, here.fd, 3);
			settle(&net);
			send_to(&peer, &here, "one");
			await_told(&net, &told, 1);
			send_to(&peer, &here, "");
			send_to(&peer, &here, "three");
			net_over(&net, 0, 0);
			assert_int_equal(datagram_at(0)->n, 3);
			assert_memory_equal(datagram_at(0)->data, "one", 3);
			assert_int_equal(datagram_at(0)->size, 3);
			assert_int_equal(datagram_at(0)->lost, 0);
			assert_int_equal(datagram_at(1)->n, 0);
			assert_memory_equal(datagram_at(2)->data, "three", 5);
			assert_int_equal(datagram_at(2)->address_length,
					 peer.length);
			assert_memory_equal(datagram_at(2)->address,
					    &peer.address, peer.length);
			close_both(&here, &peer);
		}
	}
}

/* The mode of the socket does not matter, nor is it changed. On the simulator: who
 * takes long is given less by one call. */
static void several_are_received_by_one_call(void **state)
{
	struct end here, peer;
	uint32_t i, n;

	net_begin(&net, &sim);
	here = udp();
	peer = udp();
	start(NULL, here.fd, 128);
	settle(&net);
	for (i = 0; i < 128; i++)
		send_to(&peer, &here, i % 2 ? "odd" : "even");
	calls_begin(0);
	net_over(&net, 0, 0);
	n = calls_end();
	assert_int_equal(told.n, 128);
	/* 1, 2, 4, ... 32, 32, 32, and what does not concern the socket */
	assert_in_range(n, 8, 12);
	assert_false(fcntl(here.fd, F_GETFL) & O_NONBLOCK);
	close_both(&here, &peer);
}

static void what_is_not_asked_for_stays_in_the_socket(void **state)
{
	struct end here, peer;
	char text[8];

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		peer = udp();
		send_to(&peer, &here, "one");
		send_to(&peer, &here, "two");
		start(NULL, here.fd, 1);
		net_over(&net, 0, 0);
		assert_memory_equal(datagram_at(0)->data, "one", 3);
		assert_int_equal(take_at(here.fd, text, sizeof(text)), 3);
		assert_memory_equal(text, "two", 3);
		close_both(&here, &peer);
	}
}

/* Those before it come. */
static void a_longer_datagram_fails_the_flow(void **state)
{
	const struct weir_flow_datagrams_options options = {.size = 3};
	struct weir_error *error;
	struct end here, peer;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		peer = udp();
		send_to(&peer, &here, "one");
		send_to(&peer, &here, "two");
		send_to(&peer, &here, "three");
		send_to(&peer, &here, "six");
		start(&options, here.fd, 10);
		error = error_over(&net);
		assert_int_equal(error->code, -EMSGSIZE);
		assert_string_equal(error->origin, "datagrams");
		weir_error_unref(error);
		assert_int_equal(told.n, 2);
		close_both(&here, &peer);
	}
}

static void or_it_comes_without_its_end(void **state)
{
	const struct weir_flow_datagrams_options options = {.size = 3,
							    .truncate = true};
	struct end here, peer;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		peer = udp();
		send_to(&peer, &here, "three");
		send_to(&peer, &here, "six");
		start(&options, here.fd, 2);
		net_over(&net, 0, 0);
		assert_int_equal(datagram_at(0)->n, 3);
		assert_int_equal(datagram_at(0)->size, 5);
		assert_memory_equal(datagram_at(0)->data, "thr", 3);
		assert_int_equal(datagram_at(1)->n, 3);
		assert_int_equal(datagram_at(1)->size, 3);
		close_both(&here, &peer);
	}
}

/* The emulator does not. */
static bool system_counts(void)
{
	struct end end = udp();
	int on = 1,
	    rc = setsockopt(end.fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));

	if (rc < 0)
		assert_int_equal(errno, ENOPROTOOPT);
	assert_int_equal(close(end.fd), 0);
	return rc == 0;
}

/* What has come and what was lost is what was sent. */
static void what_the_kernel_has_dropped_is_counted(void **state)
{
	enum { SENT = 500 };
	struct end here, peer;
	uint64_t lost = 0, n;
	int small = 1;
	uint32_t i;

	if (!system_counts())
		skip();
	net_begin(&net, &loop);
	here = udp();
	peer = udp();
	assert_int_equal(setsockopt(here.fd, SOL_SOCKET, SO_RCVBUF, &small,
				    sizeof(small)),
			 0);
	net_start(&net, tell_of(weir_flow_datagrams(here.fd, NULL), &told,
				weir_flow_datagram_items()));
	for (i = 0; i < SENT; i++)
		send_to(&peer, &here, "a datagram");
	settle(&net);
	n = told.n;
	assert_true(n > 0 && n < SENT);
	/* the next one tells of those before it, once */
	for (i = 0; i < 3; i++) {
		send_to(&peer, &here, "another");
		settle(&net);
	}
	assert_int_equal(told.n, n + 3);
	for (i = 0; i < told.n; i++)
		lost += datagram_at(i)->lost;
	assert_int_equal(lost + n, SENT);
	assert_int_equal(datagram_at((uint32_t)n + 2)->lost, 0);
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	close_both(&here, &peer);
}

/* The second call, behind a look at the socket, asks for the count. */
static void where_the_system_does_not_count_none_is_said_to_be_lost(
	void **state)
{
	struct end here, peer;

	net_begin(&net, &loop);
	here = udp();
	peer = udp();
	calls_begin(2);
	calls_fail_with(ENOPROTOOPT);
	net_start(&net, tell_of(weir_flow_datagrams(here.fd, NULL), &told,
				weir_flow_datagram_items()));
	assert_true(calls_end() >= 2);
	send_to(&peer, &here, "a datagram");
	await_told(&net, &told, 1);
	assert_int_equal(datagram_at(0)->lost, 0);
	weir_flow_run_end(net.run);
	net_over(&net, 0, 0);
	close_both(&here, &peer);
}

static void a_socket_that_is_shut_down_ends_the_flow(void **state)
{
	struct end here, peer;
	int early;

	for_each_kind(kind)
	{
		for (early = 0; early < 2; early++) {
			net_begin(&net, *kind);
			here = udp();
			peer = udp();
			assert_int_equal(connect(here.fd, (void *)&peer.address,
						 peer.length),
					 0);
			send_to(&peer, &here, "last");
			if (early)
				assert_int_equal(shutdown(here.fd, SHUT_RD), 0);
			net_start(&net,
				  tell_of(weir_flow_datagrams(here.fd, NULL),
					  &told, weir_flow_datagram_items()));
			await_told(&net, &told, 1);
			settle(&net);
			if (!early)
				assert_int_equal(shutdown(here.fd, SHUT_RD), 0);
			net_over(&net, 0, 0);
			assert_int_equal(told.n, 1);
			close_both(&here, &peer);
		}
	}
}

static void a_flow_at_rest_can_be_stopped(void **state)
{
	struct weir_error *error;
	struct end here, peer;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		peer = udp();
		start(NULL, here.fd, 10);
		settle(&net);
		weir_flow_run_stop(net.run, NULL);
		error = error_over(&net);
		assert_int_equal(error->code, -ECANCELED);
		weir_error_unref(error);
		close_both(&here, &peer);
	}
}

/* --- Sending -------------------------------------------------------------- */

/* What comes is sent back to who has sent it. */
static void answers_go_to_their_senders(void **state)
{
	struct end here, peers[3];
	char text[8];
	size_t i, round;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		net_start(&net, weir_flow_datagrams_send(
					weir_flow_take(weir_flow_datagrams(
							       here.fd, NULL),
						       30),
					here.fd));
		for (i = 0; i < 3; i++)
			peers[i] = udp();
		for (round = 0; round < 10; round++) {
			for (i = 0; i < 3; i++)
				send_to(&peers[i], &here,
					(const char *[]){"a", "bb", ""}[i]);
			for (i = 0; i < 3; i++)
				assert_int_equal(take_at(peers[i].fd, text,
							 sizeof(text)),
						 (i + 1) % 3);
		}
		net_over(&net, 0, 30);
		for (i = 0; i < 3; i++)
			assert_int_equal(close(peers[i].fd), 0);
		assert_int_equal(close(here.fd), 0);
		net_end(&net);
	}
}

/* Numbers become datagrams, to an end or where the socket is connected to. */
static int to_datagram(void **item, void *to)
{
	struct weir_flow_datagram *datagram;
	const struct end *end = to;
	intptr_t number = (intptr_t)*item;

	if (weir_flow_datagram_new(&datagram, sizeof(number), NULL) < 0)
		return -ENOMEM;
	memcpy(datagram->data, &number, sizeof(number));
	if (end) {
		memcpy(datagram->address, &end->address, end->length);
		datagram->address_length = end->length;
	}
	*item = datagram;
	return 0;
}

static struct weir_flow *numbers(int64_t n, struct end *to)
{
	struct weir_flow *flow = weir_flow_range(0, n - 1);

	flow = weir_flow_map(flow, to_datagram, to);
	return weir_flow_items(flow, weir_flow_datagram_items());
}

/* The peer has room for ten or so, and reads when nothing moves any more; one
 * that is sent to by its name cannot be waited for. */
static void a_full_receiver_is_waited_for(void **state)
{
	struct end here, peer;
	intptr_t number, i;
	int connected;

	for_each_kind(kind)
	{
		for (connected = 0; connected < 2; connected++) {
			/* the time of a simulator stands still */
			if (!connected && *kind == &sim)
				continue;
			net_begin(&net, *kind);
			here = named("here");
			peer = named("peer");
			if (connected)
				assert_int_equal(connect(here.fd,
							 (void *)&peer.address,
							 peer.length),
						 0);
			net_start(&net, weir_flow_datagrams_send(
						numbers(100, connected ? NULL
								       : &peer),
						here.fd));
			settle(&net);
			for (i = 0; i < 100; i++) {
				assert_int_equal(take_at(peer.fd,
							 (char *)&number,
							 sizeof(number)),
						 sizeof(number));
				assert_int_equal(number, i);
			}
			net_over(&net, 0, 100);
			close_both(&here, &peer);
		}
	}
}

/* The clock of a simulator is let go on: it is tried each 5 ms, and not more. */
static void a_name_that_is_full_is_tried_again_later(void **state)
{
	struct end here, peer;
	intptr_t number;
	uint32_t i, n;

	net_begin(&net, &sim);
	here = named("here");
	peer = named("peer");
	net_start(&net, weir_flow_datagrams_send(numbers(100, &peer), here.fd));
	settle(&net);
	calls_begin(0);
	(void)weir_sim_run_until(net.place.sim, UINT64_C(50000000), 1000);
	n = calls_end();
	assert_in_range(n, 9, 21);
	for (i = 0; i < 100; i++) {
		while (recv(peer.fd, &number, sizeof(number), MSG_DONTWAIT) < 0)
			(void)weir_sim_run_until(
				net.place.sim,
				weir_executor_now(net.place.executor) + 5000000,
				1000);
		assert_int_equal(number, i);
	}
	net_over(&net, 0, 100);
	close_both(&here, &peer);
}

static int too_long(void **item, void *to)
{
	struct weir_flow_datagram *datagram;
	const struct end *end = to;
	size_t n = (intptr_t)*item == 1 ? 100000 : 1;

	if (weir_flow_datagram_new(&datagram, n, NULL) < 0)
		return -ENOMEM;
	memset(datagram->data, 0, n);
	memcpy(datagram->address, &end->address, end->length);
	datagram->address_length = end->length;
	*item = datagram;
	return 0;
}

static struct weir_flow *one_too_long(struct end *to, int fd)
{
	struct weir_flow *flow = weir_flow_range(0, 2);

	flow = weir_flow_map(flow, too_long, to);
	flow = weir_flow_items(flow, weir_flow_datagram_items());
	return weir_flow_datagrams_send(flow, fd);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static void what_cannot_be_sent_fails_the_flow_or_is_dropped(void **state)
{
	struct weir_error *error;
	struct end here, peer;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		here = udp();
		peer = udp();
		net_start(&net, one_too_long(&peer, here.fd));
		error = error_over(&net);
		assert_int_equal(error->code, -EMSGSIZE);
		assert_string_equal(error->origin, "datagrams_send");
		assert_string_equal(
			error->message,
			"a datagram cannot be sent: Message too long");
		weir_error_unref(error);
		flow = weir_flow_supervise(one_too_long(&peer, here.fd), resume,
					   NULL);
		net_start(&net, flow);
		net_over(&net, 0, 2);
		close_both(&here, &peer);
	}
}

/* --- Errors --------------------------------------------------------------- */

static struct weir_flow *receive_at(void *context)
{
	return weir_flow_datagrams(*(int *)context, NULL);
}

static struct weir_flow *send_by(void *context)
{
	return weir_flow_datagrams_send(numbers(1, NULL), *(int *)context);
}

static void another_descriptor_fails_the_flow(void **state)
{
	int fds[3], closed = 1 << 20;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fds[2] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_told_why(receive_at, &fds[0], -ENOTSOCK, "no socket of");
	assert_told_why(receive_at, &fds[2], -EPROTOTYPE, "no socket of");
	assert_told_why(receive_at, &closed, -EBADF, "no socket of");
	assert_told_why(send_by, &fds[0], -ENOTSOCK, "no socket of");
	assert_told_why(send_by, &fds[2], -EPROTOTYPE, "no socket of");
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(close(fds[2]), 0);
}

/* The kernel tells of what was refused by the call behind it. */
static void a_peer_that_is_not_there_fails_the_flow(void **state)
{
	struct end here = udp(), gone = udp();

	assert_int_equal(connect(here.fd, (void *)&gone.address, gone.length),
			 0);
	assert_int_equal(close(gone.fd), 0);
	for_each_kind(kind)
	{
		struct weir_error *error;

		net_begin(&net, *kind);
		net_start(&net, weir_flow_ignore(receive_at(&here.fd)));
		settle(&net);
		assert_int_equal(send(here.fd, "x", 1, 0), 1);
		error = error_over(&net);
		assert_int_equal(error->code, -ECONNREFUSED);
		weir_error_unref(error);
		net_end(&net);
	}
	assert_int_equal(close(here.fd), 0);
}

static void assert_wrong(struct weir_flow *flow, const char *origin)
{
	const char *from = NULL;

	assert_int_equal(weir_flow_check(flow, &from, NULL), -EINVAL);
	assert_string_equal(from, origin);
	weir_flow_free(flow);
}

static void what_cannot_be_is_refused(void **state)
{
	const struct weir_flow_datagrams_options large = {.size = 1u << 31};
	const struct weir_flow_datagrams_options unknown = {.reserved = {1}};

	assert_wrong(weir_flow_datagrams(-1, NULL), "datagrams");
	assert_wrong(weir_flow_datagrams(0, &large), "datagrams");
	assert_wrong(weir_flow_datagrams(0, &unknown), "datagrams");
	assert_wrong(weir_flow_datagrams_send(numbers(1, NULL), -1),
		     "datagrams_send");
	assert_wrong(weir_flow_datagrams_send(weir_flow_range(0, 1), 0),
		     "datagrams_send");
	assert_wrong(weir_flow_datagrams_send(weir_flow_read(0, 1), 0),
		     "datagrams_send");
}

static void a_datagram_lives_as_long_as_it_is_referred_to(void **state)
{
	struct weir_flow_datagram *datagram;

	assert_int_equal(weir_flow_datagram_new(NULL, 1, NULL), -EINVAL);
	assert_int_equal(weir_flow_datagram_new(&datagram, SIZE_MAX, NULL),
			 -ENOMEM);
	assert_null(datagram);
	assert_int_equal(weir_flow_datagram_new(&datagram, 3, NULL), 0);
	assert_int_equal(datagram->n, 3);
	assert_int_equal(datagram->address_length, 0);
	assert_ptr_equal(weir_flow_datagram_ref(datagram), datagram);
	weir_flow_datagram_unref(datagram);
	memcpy(datagram->data, "abc", 3);
	weir_flow_datagram_unref(datagram);
	weir_flow_datagram_unref(NULL);
	assert_null(weir_flow_datagram_ref(NULL));
}

static bool feed_datagrams(void *context, uint32_t step)
{
	struct end *ends = context;
	int i;

	for (i = 0; i < 5; i++)
		send_to(&ends[1], &ends[0], "a datagram");
	return step < 3;
}

static struct weir_flow *receive_and_answer(void *context)
{
	struct weir_flow *flow = receive_at(context);

	return weir_flow_datagrams_send(flow, ((struct end *)context)->fd);
}

static void they_may_fail_anywhere(void **state)
{
	struct end ends[2] = {udp(), udp()};
	struct fallible fallible = {receive_at, feed_datagrams, ends,
				    weir_flow_datagram_items()};

	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
	fallible.make = receive_and_answer;
	fallible.kind = NULL;
	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
	assert_int_equal(close(ends[0].fd), 0);
	assert_int_equal(close(ends[1].fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_comes_with_its_sender),
		cmocka_unit_test(several_are_received_by_one_call),
		cmocka_unit_test(what_is_not_asked_for_stays_in_the_socket),
		cmocka_unit_test(a_longer_datagram_fails_the_flow),
		cmocka_unit_test(or_it_comes_without_its_end),
		cmocka_unit_test(what_the_kernel_has_dropped_is_counted),
		cmocka_unit_test(
			where_the_system_does_not_count_none_is_said_to_be_lost),
		cmocka_unit_test(a_socket_that_is_shut_down_ends_the_flow),
		cmocka_unit_test(a_flow_at_rest_can_be_stopped),
		cmocka_unit_test(answers_go_to_their_senders),
		cmocka_unit_test(a_full_receiver_is_waited_for),
		cmocka_unit_test(a_name_that_is_full_is_tried_again_later),
		cmocka_unit_test(
			what_cannot_be_sent_fails_the_flow_or_is_dropped),
		cmocka_unit_test(another_descriptor_fails_the_flow),
		cmocka_unit_test(a_peer_that_is_not_there_fails_the_flow),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_datagram_lives_as_long_as_it_is_referred_to),
		cmocka_unit_test(they_may_fail_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
