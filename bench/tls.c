/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls [MEGABYTES [ROUNDS]]: bytes over TLS by a flow against OpenSSL alone, in a loop
 * over a socket of the same kind that polls where it would block, as s_server does: the
 * time that this thread computes in the fastest of rounds in turns, and what the flow
 * makes of the loop's rate. The peer is a thread. Fails if not all bytes come.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <weir/tls.h>
#include <weir/weir.h>

#define PIECE 65536
#define ROUNDS_MAX 99

static SSL_CTX *server_ctx, *client_ctx;

static void die(const char *what)
{
	fprintf(stderr, "tls: %s\n", what);
	exit(1);
}

static void must(bool holds)
{
	if (!holds)
		die("a call fails");
}

/* --- What is sent ----------------------------------------------------------- */

/* Each piece begins with its number. */
static void make_piece(char *to, uint64_t number)
{
	memset(to, 'a' + (int)(number % 26), PIECE);
	memcpy(to, &number, sizeof(number));
}

/* What has come: all bytes, at any cuts, of which one in 509 is looked at. */
struct sum {
	uint64_t n, hash;
};

static void add(struct sum *sum, const char *bytes, size_t n)
{
	size_t i = (509 - sum->n % 509) % 509;

	for (; i < n; i += 509)
		sum->hash = sum->hash * 1099511628211u +
			    (unsigned char)bytes[i];
	sum->n += n;
}

/* --- The peer --------------------------------------------------------------- */

struct peer {
	int fd;
	uint64_t pieces; /* that it sends; 0: it takes */
	struct sum sum;
	pthread_t thread;
};

static void *peer_main(void *context)
{
	static _Thread_local char bytes[PIECE];
	struct peer *peer = context;
	SSL *ssl = SSL_new(client_ctx);
	uint64_t i;
	int n;

	must(ssl && SSL_set_fd(ssl, peer->fd) == 1 && SSL_connect(ssl) == 1);
	for (i = 0; i < peer->pieces; i++) {
		make_piece(bytes, i);
		add(&peer->sum, bytes, PIECE);
		must(SSL_write(ssl, bytes, PIECE) == PIECE);
	}
	must(SSL_shutdown(ssl) >= 0 && shutdown(peer->fd, SHUT_WR) == 0);
	while ((n = SSL_read(ssl, bytes, PIECE)) > 0)
		add(&peer->sum, bytes, (size_t)n);
	SSL_free(ssl);
	close(peer->fd);
	return NULL;
}

/* Starts it; the other end of its connection. */
static int peer_start(struct peer *peer, uint64_t pieces)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t length = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;
	int unsent = 128 * 1024; /* as weir sets it */

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(bind(listener, (struct sockaddr *)&at, length) == 0);
	must(listen(listener, 1) == 0);
	must(getsockname(listener, (struct sockaddr *)&at, &length) == 0);
	*peer = (struct peer){.pieces = pieces};
	peer->fd = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(peer->fd, (struct sockaddr *)&at, length) == 0);
	fd = accept(listener, NULL, NULL);
	must(fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
	must(setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
			sizeof(unsent)) == 0);
	close(listener);
	must(pthread_create(&peer->thread, NULL, peer_main, peer) == 0);
	return fd;
}

/* --- By OpenSSL alone --------------------------------------------------------- */

/* True: once more, when the socket is ready. */
static bool waits(SSL *ssl, int rc)
{
	struct pollfd wait = {.fd = SSL_get_fd(ssl)};

	switch (SSL_get_error(ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		wait.events = POLLIN;
		break;
	case SSL_ERROR_WANT_WRITE:
		wait.events = POLLOUT;
		break;
	default:
		return false;
	}
	(void)poll(&wait, 1, -1);
	return true;
}

static void send_all(SSL *ssl, uint64_t pieces)
{
	uint64_t i;
	char *piece;
	int at, rc;

	for (i = 0; i < pieces; i++) {
		piece = malloc(PIECE);
		make_piece(piece, i);
		for (at = 0; at < PIECE; at += rc) {
			while ((rc = SSL_write(ssl, piece + at, PIECE - at)) <=
			       0)
				must(waits(ssl, rc));
		}
		free(piece);
	}
}

static struct sum take_all(SSL *ssl)
{
	struct sum sum = {0};
	char *piece;
	int rc;

	do {
		piece = malloc(PIECE);
		while ((rc = SSL_read(ssl, piece, PIECE)) < 0 && waits(ssl, rc))
			;
		if (rc > 0)
			add(&sum, piece, (size_t)rc);
		free(piece);
	} while (rc > 0);
	return sum;
}

static struct sum by_loop(int fd, uint64_t pieces)
{
	SSL *ssl = SSL_new(server_ctx);
	struct sum sum = {0};
	int rc;

	must(ssl && SSL_set_fd(ssl, fd) == 1);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
	while ((rc = SSL_accept(ssl)) != 1)
		must(waits(ssl, rc));
	if (pieces > 0)
		send_all(ssl, pieces);
	else
		sum = take_all(ssl);
	while ((rc = SSL_shutdown(ssl)) < 0)
		must(waits(ssl, rc));
	must(shutdown(fd, SHUT_WR) == 0);
	/* its end, so that the close is no reset */
	if (pieces > 0)
		(void)take_all(ssl);
	SSL_free(ssl);
	close(fd);
	return sum;
}

/* --- By a flow ------------------------------------------------------------------ */

struct source {
	uint64_t next, pieces;
	struct sum sum;
};

static int next_piece(void **state, void **item, void *context)
{
	struct source *source = context;
	struct weir_flow_bytes *bytes;

	(void)state;
	if (source->next == source->pieces)
		return 0;
	if (weir_flow_bytes_new(&bytes, PIECE, NULL) < 0)
		return -ENOMEM;
	make_piece(bytes->data, source->next++);
	*item = bytes;
	return 1;
}

static int take_block(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct source *source = context;

	add(&source->sum, bytes->data, bytes->n);
	weir_flow_bytes_unref(bytes);
	return 0;
}

/* Both ways: the one that has nothing to carry ends at once. */
static struct sum by_flow(int fd, uint64_t pieces)
{
	struct source source = {.pieces = pieces};
	struct weir_connection *connection;
	struct weir_flow *ways[2], *flow;
	struct weir_loop *loop;

	must(weir_loop_new(&loop, NULL) == 0);
	must(weir_connection_new(&connection, fd, NULL, NULL) == 0);
	must(weir_tls_accept(connection, server_ctx, NULL, NULL) == 0);
	flow = weir_flow_unfold(NULL, next_piece, &source);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	ways[0] = weir_connection_write(flow, connection);
	flow = weir_connection_read(connection, PIECE);
	ways[1] = weir_flow_for_each(flow, take_block, &source);
	flow = weir_flow_merge(ways, 2);
	if (weir_flow_run(flow, weir_loop_executor(loop), NULL) < 0)
		die("the flow fails");
	weir_flow_free(flow);
	weir_connection_unref(connection);
	if (weir_loop_free(loop) < 0)
		die("the loop is busy");
	return source.sum;
}

/* --- Both ------------------------------------------------------------------------ */

static double seconds(void)
{
	struct timespec now;

	must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct sum expected(uint64_t pieces)
{
	static char bytes[PIECE];
	struct sum sum = {0};
	uint64_t i;

	for (i = 0; i < pieces; i++) {
		make_piece(bytes, i);
		add(&sum, bytes, PIECE);
	}
	return sum;
}

static void once(struct sum (*way)(int fd, uint64_t pieces), bool sends,
		 uint64_t pieces, double *least)
{
	struct sum wanted = expected(pieces), sum;
	struct peer peer;
	int fd = peer_start(&peer, sends ? 0 : pieces);
	double since = seconds();

	sum = way(fd, sends ? pieces : 0);
	since = seconds() - since;
	if (*least == 0 || since < *least)
		*least = since;
	must(pthread_join(peer.thread, NULL) == 0);
	if (sends)
		sum = peer.sum;
	if (sum.n != wanted.n || sum.hash != wanted.hash)
		die("not all bytes have come");
}

static void compare(const char *name, bool sends, uint64_t pieces,
		    size_t rounds)
{
	double flow = 0, loop = 0;
	size_t i;

	for (i = 0; i < rounds; i++) {
		once(by_flow, sends, pieces, &flow);
		once(by_loop, sends, pieces, &loop);
	}
	printf("%-8s loop %8.1f MB/s  flow %8.1f MB/s  ratio %5.3f\n", name,
	       1e-6 * PIECE * (double)pieces / loop,
	       1e-6 * PIECE * (double)pieces / flow, loop / flow);
}

/* With a key and a certificate for nobody. */
static void make_ctx(int version)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	must(key && cert && X509_set_pubkey(cert, key) == 1);
	must(X509_gmtime_adj(X509_getm_notBefore(cert), 0) &&
	     X509_gmtime_adj(X509_getm_notAfter(cert), 3600));
	must(X509_sign(cert, key, EVP_sha256()) > 0);
	server_ctx = SSL_CTX_new(TLS_server_method());
	client_ctx = SSL_CTX_new(TLS_client_method());
	must(server_ctx && client_ctx &&
	     SSL_CTX_use_certificate(server_ctx, cert) == 1 &&
	     SSL_CTX_use_PrivateKey(server_ctx, key) == 1 &&
	     SSL_CTX_set_max_proto_version(client_ctx, version) == 1);
	X509_free(cert);
	EVP_PKEY_free(key);
}

int main(int argc, char **argv)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 9, i;

	if (megabytes < 1 || megabytes > 10000 || rounds < 1 ||
	    rounds > ROUNDS_MAX)
		die("1 to 10000 megabytes, 1 to 99 rounds");
	for (i = 0; i < 2; i++) {
		make_ctx(versions[i]);
		compare(i ? "1.3 out" : "1.2 out", true,
			megabytes * 1000000 / PIECE + 1, rounds);
		compare(i ? "1.3 in" : "1.2 in", false,
			megabytes * 1000000 / PIECE + 1, rounds);
		SSL_CTX_free(server_ctx);
		SSL_CTX_free(client_ctx);
	}
	return 0;
}
