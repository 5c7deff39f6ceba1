/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes come in place of TLS, or behind a handshake and a first record, or
 * change what a peer sends. Nothing gets through but what the peer has sent, and
 * the run fails, since the peer never ends as it should.
 */
#include "fuzz/fuzz.h"

#include "tls/kit.h"

#include <errno.h>

const char fuzz_alphabet[] = "\x14\x15\x16\x17\x18\x03\x01\x02\x04\x20";
const size_t fuzz_head = 4;

#define SECRET "secret"

static struct tls_net net;
static char got[64];
static size_t n_got;

static int keep(void *item, void *context)
{
	const struct weir_flow_bytes *bytes = item;

	assert(bytes->n <= sizeof(got) - n_got);
	memcpy(got + n_got, bytes->data, bytes->n);
	n_got += bytes->n;
	return 1;
}

static void begin(unsigned int side, int version)
{
	static bool made;

	if (!made)
		(void)tls_kit_begin(NULL);
	made = true;
	n_got = 0;
	tls_begin(&net, &sim, side, version);
	SSL_set_bio(net.peer, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	net_start(&net.net,
		  weir_connection_write(
			  weir_flow_filter(
				  weir_connection_read(net.net.connection, 16),
				  keep, NULL),
			  net.net.connection));
}

/* In pieces; it may have been reset. */
static void send_bytes(const void *bytes, size_t n, size_t piece)
{
	const char *from = bytes;
	size_t some;

	for (; n > 0; from += some, n -= some) {
		some = piece > 0 && piece < n ? piece : n;
		if (send(net.net.peer, from, some, MSG_NOSIGNAL) < 0)
			return;
		net_drive(&net.net);
	}
}

/* What the peer has made goes out, and what has come goes in: `bytes` say what
 * is changed. False: nothing has moved. */
static bool exchange(const uint8_t **bytes, size_t *n, bool change)
{
	char some[4096];
	ssize_t moved;
	bool any = false;
	size_t at;

	moved = BIO_read(SSL_get_wbio(net.peer), some, sizeof(some));
	if (moved > 0) {
		for (at = 0; change && *n > 1;) {
			at += (size_t)fuzz_byte(bytes, n) * 2;
			if (at >= (size_t)moved)
				break;
			some[at] ^= (char)fuzz_byte(bytes, n);
		}
		send_bytes(some, (size_t)moved, 0);
		any = true;
	}
	net_drive(&net.net);
	while ((moved = recv(net.net.peer, some, sizeof(some), MSG_DONTWAIT)) >
	       0) {
		(void)BIO_write(SSL_get_rbio(net.peer), some, (int)moved);
		any = true;
	}
	return any;
}

/* The peer says what it has to say, as far as it gets. */
static void converse(const uint8_t **bytes, size_t *n, bool change)
{
	bool said = false;

	do
		if (!said && SSL_do_handshake(net.peer) == 1)
			said = SSL_write(net.peer, SECRET, 6) == 6;
	while (exchange(bytes, n, change));
}

static void finish(void)
{
	struct weir_error *error;

	(void)shutdown(net.net.peer, SHUT_WR);
	assert_int_equal(
		weir_flow_run_wait(net.net.run, WEIR_FOREVER, NULL, &error), 0);
	assert(error);
	assert(error->code == -EPROTO || error->code == -EKEYREJECTED ||
	       error->code == -ECONNRESET);
	weir_error_unref(error);
	assert(n_got == 0 || (n_got == 6 && memcmp(got, SECRET, 6) == 0));
	tls_end(&net);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t how = fuzz_byte(&bytes, &n), piece = fuzz_byte(&bytes, &n);

	begin(how & 1, tls_versions[how >> 1 & 1]);
	switch (how >> 2 & 3) {
	case 0: /* no TLS */
		send_bytes(bytes, n, piece);
		break;
	case 1: /* behind it */
		converse(&bytes, &n, false);
		assert(n_got == 6);
		send_bytes(bytes, n, piece);
		break;
	default: /* in it */
		converse(&bytes, &n, true);
		break;
	}
	finish();
	return 0;
}
