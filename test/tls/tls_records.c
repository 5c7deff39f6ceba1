/* SPDX-License-Identifier: BSD-2-Clause */
/* Records: large ones, those cut anywhere, and those that carry no bytes; and
 * how demand reaches the kernel through them. */
#include "tls/kit.h"

#include "base/random.h"

static struct tls_net net;

/* --- A flow without demand -------------------------------------------------- */

/* Asks for nothing until it is told to, and then for all. */
static struct weir_operator *gate;
static bool gate_open;

static int gate_start(struct weir_operator *op)
{
	gate = op;
	weir_operator_hold(op);
	return 0;
}

static int gate_ask(struct weir_operator *op)
{
	return gate_open ? weir_operator_pull(op) : 0;
}

static int gate_woken(struct weir_operator *op)
{
	(void)weir_operator_pull(op);
	return 0;
}

static struct weir_flow *gated(struct weir_flow *flow)
{
	static const struct weir_operator_ops ops = {
		.open = gate_start, .on_pull = gate_ask, .on_wake = gate_woken};

	gate_open = false;
	return weir_flow_items(weir_flow_operator(flow, &ops, NULL),
			       weir_flow_bytes_items());
}

static void let_in(void)
{
	gate_open = true;
	weir_operator_wake(gate);
}

static void begin_gated(const struct kind *kind, unsigned int side, int version)
{
	tls_begin(&net, kind, side, version);
	net_start(&net.net, weir_flow_count(gated(weir_connection_read(
				    net.net.connection, 4096))));
}

/* The gate is closed still. */
static void end_gated(int code)
{
	weir_operator_unhold(gate);
	net_over(&net.net, code, 0);
	tls_end(&net);
}

static const struct kind *const turn_kinds[2] = {&loop, &sim};

/* --- Without demand --------------------------------------------------------- */

static int n_updates, n_tickets;

static void count_updates(int is_write, int version, int type,
			  const void *bytes, size_t n, SSL *ssl, void *context)
{
	if (!is_write && type == SSL3_RT_HANDSHAKE && n > 0 &&
	    *(const unsigned char *)bytes == SSL3_MT_KEY_UPDATE)
		n_updates++;
}

/* OpenSSL answers in front of its next record: so what we write is behind it
 * only if the update was taken in. */
static void a_key_update_is_taken_without_demand(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow_bytes *bytes;
	struct weir_flow_run *reads;
	struct weir_flow *flow;
	size_t i, k, turns;

	for (i = 0; i < 4; i++) {
		tls_begin(&net, turn_kinds[i / 2], (unsigned int)i % 2,
			  TLS1_3_VERSION);
		assert_int_equal(weir_flow_queue_new(
					 &queue, 4, WEIR_OVERFLOW_BACK_PRESSURE,
					 weir_flow_bytes_items()),
				 0);
		net_start(&net.net,
			  weir_connection_write(weir_flow_from_queue(queue),
						net.net.connection));
		flow = weir_flow_count(
			gated(weir_connection_read(net.net.connection, 4096)));
		assert_int_equal(weir_flow_start(flow, net.net.place.executor,
						 NULL, &reads),
				 0);
		peer_handshake(&net);
		SSL_set_msg_callback(net.peer, count_updates);
		for (k = n_updates = 0; k < 3; k++) {
			assert_int_equal(
				SSL_key_update(net.peer,
					       SSL_KEY_UPDATE_REQUESTED),
				1);
			peer_handshake(&net);
			for (turns = 0; turns < 10; turns++)
				net_drive(&net.net);
			assert_int_equal(weir_flow_bytes_new(&bytes, 4, NULL),
					 0);
			memcpy(bytes->data, "word", 4);
			assert_int_equal(weir_flow_queue_offer(queue, bytes),
					 0);
			peer_expect(&net, "word");
			assert_int_equal(n_updates, k + 1);
		}
		peer_text(&net, "hello");
		peer_end(&net);
		let_in();
		weir_operator_unhold(gate);
		assert_int_equal(
			weir_flow_run_wait(reads, WEIR_FOREVER, NULL, NULL), 0);
		weir_flow_run_free(reads);
		weir_flow_free(flow);
		assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
		net_over(&net.net, 0, 12);
		weir_flow_queue_free(queue);
		tls_end(&net);
	}
}

static int count_tickets(SSL *ssl, SSL_SESSION *session)
{
	n_tickets++;
	return 0;
}

static void tickets_are_taken_without_demand(void **state)
{
	SSL_CTX *ctx;
	size_t i;

	for (i = 0; i < 2; i++) {
		ctx = tls_client(TLS1_3_VERSION);
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT);
		SSL_CTX_sess_set_new_cb(ctx, count_tickets);
		n_tickets = 0;
		tls_begin_with(&net, turn_kinds[i], WE_CONNECT, ctx,
			       tls_server(CERT_GOOD, TLS1_3_VERSION), NULL,
			       NULL);
		net_start(&net.net, weir_flow_count(gated(weir_connection_read(
					    net.net.connection, 4096))));
		peer_handshake(&net);
		while (n_tickets < 2)
			net_drive(&net.net);
		peer_close(&net);
		end_gated(-EPROTO);
	}
}

static void a_peer_that_is_cut_off_is_known_without_demand(void **state)
{
	size_t i;

	for (i = 0; i < 8; i++) {
		begin_gated(turn_kinds[i / 4], (unsigned int)i / 2 % 2,
			    tls_versions[i % 2]);
		peer_handshake(&net);
		assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
		end_gated(-EPROTO);
	}
}

/* One record, beside what is in the kernel; and all of it comes later. */
static void nothing_is_read_ahead_but_a_record(void **state)
{
	static char much[16384];
	size_t i, n, idle;
	int rc;

	for (i = 0; i < 4; i++) {
		begin_gated(turn_kinds[i / 2], WE_ACCEPT, tls_versions[i % 2]);
		peer_handshake(&net);
		for (n = idle = 0; idle < 100; idle++) {
			rc = SSL_write(net.peer, much, sizeof(much));
			if (rc > 0)
				n += (size_t)rc;
			if (rc > 0)
				idle = 0;
			net_drive(&net.net);
		}
		assert_true(n < 20000000);
		/* decrypted: one record at most */
		assert_true(SSL_pending(weir_tls_ssl(net.net.connection)) <=
			    16384);
		let_in();
		weir_operator_unhold(gate);
		peer_send(&net, much, sizeof(much));
		peer_end(&net);
		net_over(&net.net, 0, (n + sizeof(much)) / 4096);
		tls_end(&net);
	}
}

/* --- Large ones --------------------------------------------------------------- */

#define LARGE 3000000u

static uint64_t draws;

static int draw_block(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	uintptr_t *left = context;
	size_t n = weir__splitmix(&draws) % 100000, i;

	if (*left == 0)
		return 0;
	if (n > *left)
		n = *left;
	assert_int_equal(weir_flow_bytes_new(&bytes, n, NULL), 0);
	for (i = 0; i < n; i++)
		bytes->data[i] = (char)((LARGE - *left + i) % 251);
	*left -= n;
	*item = bytes;
	return 1;
}

static struct weir_flow *large_flow(uintptr_t *left)
{
	*left = LARGE;
	draws = 1;
	return weir_flow_items(weir_flow_unfold(NULL, draw_block, left),
			       weir_flow_bytes_items());
}

/* Empty items are among them, and such as are several records. */
static void large_items_are_written_whole(void **state)
{
	static unsigned char got[LARGE];
	uintptr_t left;
	size_t i;

	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net, weir_connection_write(large_flow(&left),
							  net.net.connection));
		peer_handshake(&net);
		peer_take(&net, got, LARGE);
		for (i = 0; i < LARGE; i++)
			if (got[i] != i % 251)
				fail_msg("byte %zu", i);
		peer_expect_end(&net);
		net_over(&net.net, 0, LARGE);
		tls_end(&net);
	}
}

static size_t n_checked;

static int check_block(void *item, void *context)
{
	const struct weir_flow_bytes *bytes = item;
	size_t i;

	for (i = 0; i < bytes->n; i++, n_checked++)
		if ((unsigned char)bytes->data[i] != n_checked % 251)
			return -EBADMSG;
	return 1;
}

/* Into blocks that are less than a record, or more. */
static void large_writes_are_read_whole(void **state)
{
	static const size_t blocks[] = {1000, 16384, 65536, 1000000};
	static unsigned char sent[LARGE];
	size_t i = 0, k;

	for (k = 0; k < LARGE; k++)
		sent[k] = (unsigned char)(k % 251);
	for_each_case(kind, side, version)
	{
		n_checked = 0;
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net,
			  weir_flow_ignore(weir_flow_filter(
				  weir_connection_read(net.net.connection,
						       blocks[i++ % 4]),
				  check_block, NULL)));
		peer_handshake(&net);
		for (k = 0; k < LARGE; k += 30000)
			peer_send(&net, sent + k, 30000);
		peer_end(&net);
		net_over(&net.net, 0, 0);
		assert_int_equal(n_checked, LARGE);
		tls_end(&net);
	}
}

/* The peer takes nothing, so nothing more is made; nor is it for a while. */
static void a_peer_that_takes_nothing_holds_us_up(void **state)
{
	const struct weir_connection_options options = {.sndbuf = 4096};
	static unsigned char got[LARGE];
	uintptr_t left;
	size_t i;

	for (i = 0; i < 2; i++) {
		tls_begin_with(&net, turn_kinds[i], WE_ACCEPT,
			       tls_server(CERT_GOOD, 0), tls_client(0), NULL,
			       &options);
		SSL_set_rfd(net.peer, net.net.peer);
		net_start(&net.net, weir_connection_write(large_flow(&left),
							  net.net.connection));
		peer_handshake(&net);
		for (size_t idle = 0, last = left; idle < 100; idle++) {
			net_drive(&net.net);
			if (left != last)
				idle = 0;
			last = left;
		}
		peer_take(&net, got, LARGE);
		peer_expect_end(&net);
		net_over(&net.net, 0, LARGE);
		tls_end(&net);
	}
}

/* It takes a little in less time than the limit, and a call's records in more.
 * (Over a Unix domain socket: TCP has timers of its own.) */
static void a_peer_that_is_slow_is_not_taken_for_one_that_stands(void **state)
{
	const struct weir_connection_options options = {
		.sndbuf = 4096, .write_stall_ns = 1000000000};
	static unsigned char got[LARGE];
	struct weir_executor *executor;
	uintptr_t left;
	size_t n;

	net_begin(&net.net, &sim);
	net_connect(&net.net, AF_UNIX, &options);
	assert_int_equal(weir_tls_accept(net.net.connection,
					 tls_server(CERT_GOOD, 0), NULL, NULL),
			 0);
	net.peer = SSL_new(tls_client(0));
	assert_int_equal(fcntl(net.net.peer, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(SSL_set_fd(net.peer, net.net.peer), 1);
	SSL_set_connect_state(net.peer);
	executor = net.net.place.executor;
	net_start(&net.net,
		  weir_connection_write(large_flow(&left), net.net.connection));
	peer_handshake(&net);
	for (n = 0; n < 60; n++) {
		peer_take(&net, got, 16384);
		(void)weir_sim_run_until(
			net.net.place.sim,
			weir_executor_now(executor) + 500000000, 100000);
	}
	assert_false(net_is_over(&net.net));
	/* now it stands */
	(void)weir_sim_run_until(net.net.place.sim,
				 weir_executor_now(executor) + 2000000000,
				 100000);
	tls_over(&net, -ETIMEDOUT, "");
	tls_end(&net);
}

/* --- Small ones --------------------------------------------------------------- */

/* The peer is not at the socket: what it sends is in memory, and is cut. */
static void piped_begin(const struct kind *kind, unsigned int side, int version)
{
	tls_begin(&net, kind, side, version);
	SSL_set_bio(net.peer, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
}

/* Gives the peer what has come. */
static void piped_receive(void)
{
	char bytes[4096];
	ssize_t n;

	net_drive(&net.net);
	while ((n = recv(net.net.peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		assert_int_equal(
			BIO_write(SSL_get_rbio(net.peer), bytes, (int)n), n);
}

/* Sends up to `most` bytes of what the peer has made. */
static size_t piped_send(size_t most)
{
	char bytes[4096];
	int n;

	if (most > sizeof(bytes))
		most = sizeof(bytes);
	n = BIO_read(SSL_get_wbio(net.peer), bytes, (int)most);
	if (n <= 0)
		return 0;
	assert_int_equal(send(net.net.peer, bytes, (size_t)n, MSG_NOSIGNAL), n);
	return (size_t)n;
}

/*
 * A whole conversation. The peer's bytes go out `step` at a time, if that is
 * not 0, or are cut in two behind `cut`. Returns how many they were.
 */
static size_t converse(size_t step, size_t cut)
{
	enum { SHAKE, SAY, HEAR, END, HEAR_END, OVER } at = SHAKE;
	size_t sent = 0, n;
	char got[8];
	int rc;

	while (at != OVER) {
		switch (at) {
		case SHAKE:
			at += SSL_do_handshake(net.peer) == 1;
			break;
		case SAY:
			at += SSL_write(net.peer, "hello", 5) == 5;
			break;
		case HEAR:
			rc = SSL_read(net.peer, got, sizeof(got));
			if (rc > 0) {
				assert_int_equal(rc, 5);
				assert_memory_equal(got, "hello", 5);
				at++;
			}
			break;
		case END:
			at += SSL_shutdown(net.peer) >= 0;
			break;
		case HEAR_END:
			rc = SSL_read(net.peer, got, 1);
			if (rc == 0 && SSL_get_error(net.peer, rc) ==
					       SSL_ERROR_ZERO_RETURN)
				at++;
			break;
		case OVER:
			break;
		}
		do {
			n = piped_send(step	    ? step
				       : sent < cut ? cut - sent
						    : 4096);
			sent += n;
			piped_receive();
		} while (n > 0);
	}
	assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
	return sent;
}

static void byte_by_byte_it_is_the_same(void **state)
{
	size_t i, step;

	for (i = 0; i < 8; i++) {
		for (step = 1; step < 8; step += 2) {
			piped_begin(turn_kinds[i / 4], (unsigned int)i / 2 % 2,
				    tls_versions[i % 2]);
			(void)converse(step, 0);
			net_over(&net.net, 0, 5);
			tls_end(&net);
		}
	}
}

static void cut_anywhere_it_is_the_same(void **state)
{
	size_t step = test_count(30) == 1 ? 4 : 1, i, cut, n;

	for (i = 0; i < 4; i++) {
		for (cut = 1, n = 2; cut < n; cut += step * (i + 1)) {
			piped_begin(&loop, (unsigned int)i / 2,
				    tls_versions[i % 2]);
			n = converse(0, cut);
			net_over(&net.net, 0, 5);
			tls_end(&net);
		}
		assert_true(n > 300);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_update_is_taken_without_demand),
		cmocka_unit_test(tickets_are_taken_without_demand),
		cmocka_unit_test(
			a_peer_that_is_cut_off_is_known_without_demand),
		cmocka_unit_test(nothing_is_read_ahead_but_a_record),
		cmocka_unit_test(large_items_are_written_whole),
		cmocka_unit_test(large_writes_are_read_whole),
		cmocka_unit_test(a_peer_that_takes_nothing_holds_us_up),
		cmocka_unit_test(
			a_peer_that_is_slow_is_not_taken_for_one_that_stands),
		cmocka_unit_test(byte_by_byte_it_is_the_same),
		cmocka_unit_test(cut_anywhere_it_is_the_same),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
