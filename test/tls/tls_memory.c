/* SPDX-License-Identifier: BSD-2-Clause */
/* Each allocation fails once, ours and OpenSSL's: a call or a run says so, or
 * goes on without, and nothing is left. */
#include "tls/kit.h"

#include <openssl/crypto.h>
#include <signal.h>

#include "actor/kit.h"

static struct tls_net net;

/* --- OpenSSL's memory ------------------------------------------------------- */

/* While `armed`, what the library does is counted; the `fails`-th has none. */
static bool armed;
static size_t n_allocations, fails;

static bool refuses(void)
{
	return armed && ++n_allocations == fails;
}

static void *ssl_malloc(size_t size, const char *file, int line)
{
	return refuses() ? NULL : malloc(size);
}

static void *ssl_realloc(void *memory, size_t size, const char *file, int line)
{
	return refuses() ? NULL : realloc(memory, size);
}

static void ssl_free(void *memory, const char *file, int line)
{
	free(memory);
}

/* --- A conversation ---------------------------------------------------------- */

static bool waits(int rc)
{
	int error = SSL_get_error(net.peer, rc);

	armed = true;
	net_drive(&net.net);
	armed = false;
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* True: all has gone well, as far as the peer knows. */
static bool converse(void)
{
	static char much[40000], got[40000];
	size_t n = 0;
	int rc;

	while ((rc = SSL_do_handshake(net.peer)) != 1)
		if (!waits(rc))
			return false;
	while ((rc = SSL_write(net.peer, much, sizeof(much))) <= 0)
		if (!waits(rc))
			return false;
	while (n < sizeof(got)) {
		rc = SSL_read(net.peer, got, (int)(sizeof(got) - n));
		if (rc > 0)
			n += (size_t)rc;
		else if (!waits(rc))
			return false;
	}
	peer_end(&net);
	while ((rc = SSL_read(net.peer, got, 1)) < 0)
		if (!waits(rc))
			return false;
	return SSL_get_error(net.peer, rc) == SSL_ERROR_ZERO_RETURN;
}

static int attach(unsigned int side, SSL_CTX *ctx,
		  const struct weir_allocator *allocator)
{
	int rc;

	armed = true;
	rc = side == WE_ACCEPT
		     ? weir_tls_accept(net.net.connection, ctx, NULL, allocator)
		     : weir_tls_connect(net.net.connection, ctx, "server.test",
					NULL, allocator);
	armed = false;
	return rc;
}

/* True: nothing was missing. */
static bool try_it(unsigned int side, SSL_CTX *ctx, SSL_CTX *peer_ctx,
		   const struct weir_allocator *allocator)
{
	struct weir_error *error = NULL;
	bool well;
	int rc;

	net.peer = NULL;
	net_begin(&net.net, &loop);
	net_connect(&net.net, AF_INET, NULL);
	rc = attach(side, ctx, allocator);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		assert_null(weir_tls_ssl(net.net.connection));
		tls_end(&net);
		return false;
	}
	net.peer = SSL_new(peer_ctx);
	assert_int_equal(fcntl(net.net.peer, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(SSL_set_fd(net.peer, net.net.peer), 1);
	if (side == WE_ACCEPT)
		SSL_set_connect_state(net.peer);
	else
		SSL_set_accept_state(net.peer);
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	well = converse();
	peer_close(&net);
	armed = true;
	assert_int_equal(
		weir_flow_run_wait(net.net.run, WEIR_FOREVER, NULL, &error), 0);
	armed = false;
	assert_true(well || error);
	well = !error;
	weir_error_unref(error);
	tls_end(&net);
	return well;
}

static void without_memory_of_ours_it_fails(void **state)
{
	struct heap heap;
	bool well;
	size_t i;

	for (i = 0; i < 2; i++) {
		SSL_CTX *ctx = i ? tls_client(0) : tls_server(CERT_GOOD, 0);
		SSL_CTX *peer = i ? tls_server(CERT_GOOD, 0) : tls_client(0);
		size_t fail = 1;

		do {
			heap_init(&heap, fail++);
			well = try_it((unsigned int)i, ctx, peer,
				      &heap.allocator);
			assert_int_equal(heap.live, 0);
		} while (!well);
		assert_true(fail > 3);
	}
}

static void without_memory_of_openssl_s_nothing_is_left(void **state)
{
	size_t i, n_well;

	for (i = 0; i < 2; i++) {
		SSL_CTX *ctx = i ? tls_client(0) : tls_server(CERT_GOOD, 0);
		SSL_CTX *peer = i ? tls_server(CERT_GOOD, 0) : tls_client(0);

		/* what is made once, and stays */
		fails = 0;
		assert_true(try_it((unsigned int)i, ctx, peer, NULL));
		for (n_well = 0, fails = 1;; fails += 1 + fails / 200) {
			n_allocations = 0;
			n_well += try_it((unsigned int)i, ctx, peer, NULL);
			if (n_allocations < fails)
				break;
		}
		fails = 0;
		/* some are for what can be done without */
		assert_true(n_well < n_allocations);
		assert_true(n_allocations > 100);
	}
}

static int begin(void **state)
{
	return tls_kit_begin(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_of_ours_it_fails),
		cmocka_unit_test(without_memory_of_openssl_s_nothing_is_left),
	};

	/* the peer's, when we have failed */
	(void)signal(SIGPIPE, SIG_IGN);
	/* before it has any */
	if (!CRYPTO_set_mem_functions(ssl_malloc, ssl_realloc, ssl_free))
		return 1;
	return cmocka_run_group_tests(tests, begin, tls_kit_end);
}
