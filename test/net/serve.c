/* SPDX-License-Identifier: BSD-2-Clause */
/* A run for each connection. */
#include "net/kit.h"

#include "actor/kit.h"
#include "flow/kit.h"

#include <stdio.h>

#include <ck_pr.h>

static struct net net;

static struct weir_flow *echo(struct weir_connection *connection, void *context)
{
	return weir_connection_run(connection, NULL, NULL);
}

static struct weir_flow *listening(void)
{
	struct weir_listen_options options = listen_here(&net);

	return weir_flow_listen("127.0.0.1:0", &options);
}

static void start_echo(const struct kind *kind, size_t max)
{
	net_begin(&net, kind);
	net_start(&net,
		  weir_flow_each_connection(listening(), max, echo, NULL));
}

/* All are gone, and `n` were served. */
static void end_echo(uintptr_t n)
{
	weir_flow_run_end(net.run);
	net_over(&net, 0, n);
	net_end(&net);
}

static void what_is_sent_comes_back(void **state)
{
	int fd;

	for_each_kind(kind)
	{
		start_echo(*kind, 10);
		fd = dial(net.address);
		send_text(fd, "hello");
		expect_text(&net, fd, "hello");
		send_text(fd, "again");
		expect_text(&net, fd, "again");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect_end(&net, fd);
		close(fd);
		end_echo(1);
	}
}

static struct weir_flow *lines(struct weir_flow *flow, void *context)
{
	return weir_flow_delimited(flow, context, 1, 100,
				   WEIR_FLOW_REMAINDER_EMIT);
}

static struct weir_flow *join(struct weir_connection *connection, void *context)
{
	return weir_connection_run(connection, lines, context);
}

static void operators_stand_between_the_two_ways(void **state)
{
	int fd;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_start(&net, weir_flow_each_connection(listening(), 1, join,
							  (void *)","));
		fd = dial(net.address);
		send_text(fd, "a,b,c");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect_text(&net, fd, "abc");
		expect_end(&net, fd);
		close(fd);
		end_echo(1);
	}
}

/* In turns of some, as long as this is. */
static void thousands_come_and_go(void **state)
{
	const size_t rounds = test_count(25), many = 100;
	char text[32];
	size_t i, n;
	int fds[100];

	for_each_kind(kind)
	{
		start_echo(*kind, 1000);
		for (n = 0; n < rounds; n++) {
			for (i = 0; i < many; i++) {
				fds[i] = dial(net.address);
				(void)snprintf(text, sizeof(text), "%zu %zu", n,
					       i);
				send_text(fds[i], text);
			}
			for (i = 0; i < many; i++) {
				(void)snprintf(text, sizeof(text), "%zu %zu", n,
					       i);
				expect_text(&net, fds[i], text);
				if (i % 3 == 0)
					reset(fds[i]);
				else if (i % 3 == 1)
					close(fds[i]);
			}
			for (i = 2; i < many; i += 3) {
				assert_int_equal(shutdown(fds[i], SHUT_WR), 0);
				expect_end(&net, fds[i]);
				close(fds[i]);
			}
		}
		end_echo(rounds * many);
	}
}

static void no_more_than_max_are_served_at_once(void **state)
{
	int fds[5];
	size_t i;

	for_each_kind(kind)
	{
		start_echo(*kind, 2);
		for (i = 0; i < 5; i++) {
			fds[i] = dial(net.address);
			send_text(fds[i], "x");
		}
		for (i = 0; i < 5; i++) {
			expect_text(&net, fds[i], "x");
			/* the next but one waits */
			if (i + 2 < 5) {
				expect_text(&net, fds[i + 1], "x");
				send_text(fds[i + 1], "x");
				assert_int_equal(recv(fds[i + 2], &(char){0}, 1,
						      MSG_DONTWAIT),
						 -1);
			}
			close(fds[i]);
		}
		end_echo(5);
	}
}

/* Every second one cannot be served, or fails. */
static struct weir_flow *some(struct weir_connection *connection, void *context)
{
	uint32_t *n = context;

	switch ((*n)++ % 4) {
	case 0:
		return NULL;
	case 1:
		return weir_flow_map(weir_flow_empty(), NULL, NULL);
	case 2:
		return weir_flow_fail(-EDOM, "no");
	default:
		return weir_connection_run(connection, NULL, NULL);
	}
}

static void one_that_fails_leaves_the_others(void **state)
{
	uint32_t n;
	size_t i;
	int fd;

	for_each_kind(kind)
	{
		n = 0;
		net_begin(&net, *kind);
		net_start(&net,
			  weir_flow_each_connection(listening(), 2, some, &n));
		for (i = 0; i < 8; i++) {
			fd = dial(net.address);
			if (i % 4 == 3) {
				send_text(fd, "x");
				expect_text(&net, fd, "x");
				assert_int_equal(shutdown(fd, SHUT_WR), 0);
			}
			expect_end(&net, fd);
			close(fd);
		}
		/* those that could not begin are not served */
		end_echo(4);
	}
}

static enum weir_directive stop_at_edom(struct weir_error *error, void *context)
{
	uint32_t *n = context;

	(*n)++;
	return error->code == -EDOM ? WEIR_DIRECTIVE_STOP
				    : WEIR_DIRECTIVE_RESUME;
}

static void a_decision_may_end_all(void **state)
{
	uint32_t n, heard;
	int fds[3];
	size_t i;

	for_each_kind(kind)
	{
		n = heard = 0;
		net_begin(&net, *kind);
		net_start(&net,
			  weir_flow_supervise(weir_flow_each_connection(
						      listening(), 5, some, &n),
					      stop_at_edom, &heard));
		for (i = 0; i < 3; i++)
			fds[i] = dial(net.address);
		net_over(&net, -EDOM, 0);
		assert_int_equal(heard, 3);
		for (i = 0; i < 3; i++)
			close(fds[i]);
		net_end(&net);
	}
}

static void a_stop_resets_all_of_them(void **state)
{
	int fds[10];
	size_t i;

	for_each_kind(kind)
	{
		start_echo(*kind, 10);
		for (i = 0; i < 10; i++) {
			fds[i] = dial(net.address);
			send_text(fds[i], "x");
		}
		for (i = 0; i < 10; i++)
			expect_text(&net, fds[i], "x");
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		/* the run is over when they are: so none is left here */
		for (i = 0; i < 10; i++) {
			expect_reset(&net, fds[i]);
			close(fds[i]);
		}
		net_end(&net);
	}
}

static void a_drain_lets_all_of_them_end(void **state)
{
	int fds[10];
	size_t i;

	for_each_kind(kind)
	{
		start_echo(*kind, 10);
		for (i = 0; i < 10; i++) {
			fds[i] = dial(net.address);
			send_text(fds[i], "x");
		}
		for (i = 0; i < 10; i++)
			expect_text(&net, fds[i], "x");
		weir_flow_run_end(net.run);
		for (i = 0; i < 10; i++) {
			expect_end(&net, fds[i]);
			close(fds[i]);
		}
		net_over(&net, 0, 10);
		net_end(&net);
	}
}

/* A connection that is kept outlives its run. */
static struct weir_flow *keep(struct weir_connection *connection, void *context)
{
	*(struct weir_connection **)context = weir_connection_ref(connection);
	return weir_flow_empty();
}

static void a_connection_may_be_kept(void **state)
{
	struct weir_connection *kept;
	int fd;

	for_each_kind(kind)
	{
		kept = NULL;
		net_begin(&net, *kind);
		net_start(&net, weir_flow_each_connection(listening(), 1, keep,
							  &kept));
		fd = dial(net.address);
		while (!ck_pr_load_ptr(&kept))
			net_drive(&net);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 1);
		assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
		weir_connection_unref(kept);
		expect_end(&net, fd);
		close(fd);
		net_end(&net);
	}
}

/* Whatever allocation fails: all that there was is given back. */
static void out_of_memory_loses_nothing(void **state)
{
	struct weir_executor_options options = {0};
	struct weir_error *error;
	bool failed = true;
	size_t fail;
	struct heap heap;
	int fd, rc;

	for (fail = 1; failed; fail++) {
		memset(&net, 0, sizeof(net));
		descriptors_note(&net.before);
		heap_init(&heap, 0);
		options.allocator = &heap.allocator;
		assert_int_equal(weir_sim_new(&net.place.sim, 1, &options), 0);
		net.place.executor = weir_sim_executor(net.place.sim);
		net.place.kind = &sim;
		heap.fail = heap.calls + fail;
		net.flow =
			weir_flow_each_connection(listening(), 2, echo, NULL);
		/* it may be tried again */
		do
			rc = weir_flow_start(net.flow, net.place.executor, NULL,
					     &net.run);
		while (rc == -ENOMEM);
		assert_int_equal(rc, 0);
		fd = dial(net.address);
		send_text(fd, "abc");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		while ((rc = (int)recv(fd, &(char){0}, 1, MSG_DONTWAIT)) < 0 &&
		       errno == EAGAIN)
			net_drive(&net);
		failed = heap.calls >= heap.fail;
		assert_true(failed || rc == 1);
		close(fd);
		weir_flow_run_end(net.run);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_true(!error || (failed && error->code == -ENOMEM));
		weir_error_unref(error);
		net.peer = -1;
		net_end(&net);
		assert_int_equal(heap.live, 0);
	}
	assert_in_range(fail, 10, 200);
}

static void only_connections_are_served(void **state)
{
	struct weir_flow *flows[3];

	assert_misfit(weir_flow_each_connection(weir_flow_range(1, 3), 1, echo,
						NULL),
		      "each_connection",
		      "takes connections, see weir_connection_items()");
	flows[0] = weir_flow_each_connection(weir_flow_empty(), 0, echo, NULL);
	flows[1] = weir_flow_each_connection(weir_flow_empty(), 1, NULL, NULL);
	flows[2] = weir_flow_each_connection(weir_flow_empty(), SIZE_MAX, echo,
					     NULL);
	assert_refused_all(flows, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_comes_back),
		cmocka_unit_test(operators_stand_between_the_two_ways),
		cmocka_unit_test(thousands_come_and_go),
		cmocka_unit_test(no_more_than_max_are_served_at_once),
		cmocka_unit_test(one_that_fails_leaves_the_others),
		cmocka_unit_test(a_decision_may_end_all),
		cmocka_unit_test(a_stop_resets_all_of_them),
		cmocka_unit_test(a_drain_lets_all_of_them_end),
		cmocka_unit_test(a_connection_may_be_kept),
		cmocka_unit_test(out_of_memory_loses_nothing),
		cmocka_unit_test(only_connections_are_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
