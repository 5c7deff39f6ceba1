/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that wait for a peer, over loopback: what is said of them. */
#include <stdio.h>

#include <netinet/in.h>

#include "net/kit.h"

#include "inspect/kit.h"

static struct net net;

static bool anybody_runs(const struct weir_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++)
		if (snapshot->actors[i].wait == WEIR_WAIT_NONE)
			return true;
	return false;
}

/* What is said of the program when nothing moves any more. */
static const char *said(void)
{
	static char text[1024];
	struct weir_snapshot *snapshot;
	bool settled;

	do {
		net_drive(&net);
		assert_int_equal(weir_snapshot_new(&snapshot,
						   &net.place.executor, 1,
						   1000000),
				 0);
		settled = snapshot->settled && !anybody_runs(snapshot);
		(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
					     sizeof(text));
		weir_snapshot_free(snapshot);
	} while (!settled);
	return text;
}

/* As much as the other end takes. */
static void send_all(void)
{
	static const char bytes[65536];

	while (send(net.peer, bytes, sizeof(bytes),
		    MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		;
}

/* That is said at last, with the descriptor in between. Threads may not have been
 * told yet of what the kernel knows, however long nothing has moved. */
static void expect_around(const char *before, const char *after,
			  void (*push)(void))
{
	const char *text = said();
	size_t n = strlen(after);
	int tries = 0;

	while (strncmp(text, before, strlen(before)) != 0 ||
	       strcmp(text + strlen(text) - n, after) != 0) {
		if (++tries == 5000)
			fail_msg("%s", text);
		if (push)
			push();
		text = said();
	}
}

/* The same, of the descriptor of a connection. */
static void expect(const struct weir_connection *connection, const char *before,
		   const char *after, void (*push)(void))
{
	char begins[256];

	(void)snprintf(begins, sizeof(begins), "%s%d%s\n", before,
		       weir_connection_fd(connection), after);
	expect_around(begins, "", push);
}

#define IDLE "idle: nobody is held up, and nobody runs\n"

static int to_bytes(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, 65536, NULL);

	*item = bytes;
	return rc;
}

static struct weir_flow *endless(void)
{
	struct weir_flow *flow = weir_flow_range(1, INT32_MAX);

	flow = weir_flow_async(weir_flow_map(flow, to_bytes, NULL), 4, NULL);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static void end(void)
{
	weir_flow_run_stop(net.run, NULL);
	net_over(&net, -ECANCELED, 0);
	net_end(&net);
}

static void a_peer_that_takes_nothing_holds_its_sender_up(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		net_start(&net,
			  weir_connection_write(endless(), net.connection));
		expect(net.connection,
		       "2 held up by: connection_write waits until descriptor ",
		       " is writable in connection_write", NULL);
		end();
	}
}

/* Who sends, and does not read the answers: no item is in any link. */
static void a_peer_that_takes_no_answer_holds_it_up(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		net_start(&net,
			  weir_connection_run(net.connection, NULL, NULL));
		expect(net.connection,
		       "1 held up by: connection_write < connection_read waits "
		       "until descriptor ",
		       " is writable in connection_write", send_all);
		end();
	}
}

static void a_peer_that_sends_nothing_is_waited_for(void **state)
{
	struct weir_flow *flow;
	int i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		flow = weir_connection_read(net.connection, 100);
		flow = weir_flow_ignore(weir_flow_async(flow, 4, NULL));
		net_start(&net, flow);
		for (i = 0; i < 2; i++) {
			expect(net.connection,
			       IDLE "connection_read waits until descriptor ",
			       " is readable in connection_read", NULL);
			send_text(net.peer, "not all");
		}
		end();
	}
}

static void of_a_pipe_the_end_is_told_that_takes_nothing(void **state)
{
	struct weir_connection *other;
	int fds[2];

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
					    0, fds),
				 0);
		assert_int_equal(
			weir_connection_new(&other, fds[0], NULL, NULL), 0);
		net_start(&net,
			  weir_connection_pipe(net.connection, other, NULL));
		expect(net.connection,
		       IDLE "connection_pipe waits until descriptor ",
		       " is readable in connection_pipe", NULL);
		expect(other,
		       "1 held up by: connection_pipe waits until descriptor ",
		       " is writable in connection_pipe", send_all);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		weir_connection_unref(other);
		assert_int_equal(close(fds[1]), 0);
		net_end(&net);
	}
}

/* Its queue is full: what is asked of the kernel is left alone. */
static void a_peer_that_does_not_answer_holds_its_caller_up(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t length = sizeof(at);
	int listener, first;
	char address[32];

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		at.sin_port = 0;
		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(bind(listener, (void *)&at, length), 0);
		assert_int_equal(listen(listener, 0), 0);
		assert_int_equal(getsockname(listener, (void *)&at, &length),
				 0);
		(void)snprintf(address, sizeof(address), "127.0.0.1:%u",
			       (unsigned)ntohs(at.sin_port));
		first = dial(address);
		net_start(&net,
			  weir_flow_ignore(weir_flow_connect(address, NULL)));
		expect_around("1 held up by: ignore < connect waits until "
			      "descriptor ",
			      " is writable in connect\n", NULL);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		assert_int_equal(close(first), 0);
		assert_int_equal(close(listener), 0);
		net_end(&net);
	}
}

static void a_listener_whom_nobody_calls_is_idle(void **state)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		flow = weir_flow_listen("127.0.0.1:0", &options);
		net_start(&net, weir_flow_ignore(flow));
		expect_around(IDLE "ignore < listen waits until descriptor ",
			      " is readable in listen\n", NULL);
		end();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_takes_nothing_holds_its_sender_up),
		cmocka_unit_test(a_peer_that_takes_no_answer_holds_it_up),
		cmocka_unit_test(a_peer_that_sends_nothing_is_waited_for),
		cmocka_unit_test(of_a_pipe_the_end_is_told_that_takes_nothing),
		cmocka_unit_test(
			a_peer_that_does_not_answer_holds_its_caller_up),
		cmocka_unit_test(a_listener_whom_nobody_calls_is_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
