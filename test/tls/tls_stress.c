/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections over TLS on a pool of threads, whose two flows run in two actors
 * and share what OpenSSL has: clients that end, reset, update keys or are no
 * clients, and a thread that stops connections from outside.
 */
#include "tls/kit.h"

#include "base/random.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <ck_pr.h>

#define CLIENTS 3u
#define KEPT 16u
#define MOST 40000u

static struct net net;
static SSL_CTX *servers[2], *clients[2];
static uint32_t over; /* atomic */
/* References of connections that somebody may stop; atomic. */
static struct weir_connection *kept[KEPT];
static uint32_t n_served, n_well; /* atomic */

/* What is read goes to another actor, which writes it. */
static struct weir_flow *cut(struct weir_flow *flow, void *context)
{
	return weir_flow_async(flow, 4, NULL);
}

static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	uint32_t i = ck_pr_faa_32(&n_served, 1);
	struct weir_connection *old;

	if (weir_tls_accept(connection, servers[i % 2], NULL, NULL) < 0)
		return NULL;
	if (i % 8 == 0) {
		(void)weir_connection_ref(connection);
		ck_pr_fence_release();
		old = ck_pr_fas_ptr(&kept[i / 8 % KEPT], connection);
		weir_connection_unref(old);
	}
	return weir_connection_run(connection, i % 3 ? cut : NULL, NULL);
}

static void *stops(void *context)
{
	struct weir_connection *one;
	uint64_t random = 7;
	uint32_t i;

	while (!ck_pr_load_32(&over)) {
		i = (uint32_t)(weir__splitmix(&random) % KEPT);
		one = ck_pr_fas_ptr(&kept[i], NULL);
		ck_pr_fence_acquire();
		if (i % 2)
			weir_connection_stop(one);
		weir_connection_unref(one);
		(void)sched_yield();
	}
	return NULL;
}

/* Sends `n` bytes, and takes them, while others come. False: it was stopped. */
static bool talk(SSL *ssl, int fd, size_t n, bool updates)
{
	static const char some[MOST];
	char got[MOST];
	size_t taken = 0;
	int rc;

	if (SSL_do_handshake(ssl) != 1)
		return false;
	if (updates)
		(void)SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
	if (SSL_write(ssl, some, (int)n) != (int)n)
		return false;
	while (taken < n) {
		rc = SSL_read(ssl, got, (int)(n - taken));
		if (rc <= 0)
			return false;
		taken += (size_t)rc;
		if (updates)
			(void)SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
	}
	if (SSL_shutdown(ssl) < 0)
		return false;
	(void)shutdown(fd, SHUT_WR);
	return SSL_read(ssl, got, 1) == 0 &&
	       SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN;
}

static void *visit(void *context)
{
	uint64_t random = (uintptr_t)context;
	size_t rounds = test_count(150), i;
	char some[100];

	for (i = 0; i < rounds; i++) {
		uint64_t drawn = weir__splitmix(&random);
		int fd = dial(net.address);
		SSL *ssl = SSL_new(clients[drawn >> 50 & 1]);

		assert_int_equal(SSL_set_fd(ssl, fd), 1);
		SSL_set_connect_state(ssl);
		switch (drawn >> 40 & 7) {
		case 0:
			reset(fd);
			break;
		case 1:
			(void)send(fd, "no TLS at all", 13, MSG_NOSIGNAL);
			while (recv(fd, some, sizeof(some), 0) > 0)
				;
			close(fd);
			break;
		case 2:
			(void)SSL_do_handshake(ssl);
			close(fd);
			break;
		default:
			if (talk(ssl, fd, drawn % MOST + 1, drawn >> 60 & 1))
				ck_pr_inc_32(&n_well);
			close(fd);
		}
		SSL_free(ssl);
	}
	return NULL;
}

/* `ends`: it is drained, else stopped, while a client is there. */
static void serve_all(bool ends)
{
	struct weir_listen_options options = listen_here(&net);
	pthread_t threads_of[CLIENTS + 1];
	struct weir_error *error;
	struct weir_flow *flow;
	uint32_t i;
	int late;

	n_served = n_well = over = 0;
	net_begin(&net, &threads);
	flow = weir_flow_listen("127.0.0.1:0", &options);
	net_start(&net, weir_flow_each_connection(flow, 64, serve, NULL));
	assert_int_equal(
		pthread_create(&threads_of[CLIENTS], NULL, stops, NULL), 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads_of[i], NULL, visit,
						(void *)(uintptr_t)(i + 1)),
				 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_join(threads_of[i], NULL), 0);
	late = dial(net.address);
	if (ends)
		weir_flow_run_end(net.run);
	else
		weir_flow_run_stop(net.run, NULL);
	assert_int_equal(close(late), 0);
	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, ends ? 0 : -ECANCELED);
	weir_error_unref(error);
	ck_pr_store_32(&over, 1);
	assert_int_equal(pthread_join(threads_of[CLIENTS], NULL), 0);
	for (i = 0; i < KEPT; i++) {
		weir_connection_unref(kept[i]);
		kept[i] = NULL;
	}
	assert_true(n_well > 0);
	net_end(&net);
}

static void connections_come_and_go_until_a_drain(void **state)
{
	serve_all(true);
}

static void connections_come_and_go_until_a_stop(void **state)
{
	serve_all(false);
}

static int begin(void **state)
{
	size_t i;

	/* the clients' own */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)tls_kit_begin(state);
	/* with either version */
	for (i = 0; i < 2; i++) {
		servers[i] = tls_server(CERT_GOOD, 0);
		clients[i] = tls_client(tls_versions[i]);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_come_and_go_until_a_drain),
		cmocka_unit_test(connections_come_and_go_until_a_stop),
	};

	return cmocka_run_group_tests(tests, begin, tls_kit_end);
}
