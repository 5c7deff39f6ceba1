/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The states that were told. */
struct told {
	enum weir_nats_state states[16];
	uint32_t n;
};

static void tell(enum weir_nats_state state, const char *why, void *context)
{
	struct told *told = context;

	told->states[told->n] = state;
	__atomic_store_n(&told->n, told->n + 1, __ATOMIC_RELEASE);
}

static bool three_told(void *context)
{
	struct told *told = context;

	return __atomic_load_n(&told->n, __ATOMIC_ACQUIRE) >= 3;
}

static bool is_cut(void *nats)
{
	return weir_nats_state(nats) == WEIR_NATS_STATE_DISCONNECTED;
}

static bool is_connected(void *nats)
{
	return weir_nats_state(nats) == WEIR_NATS_STATE_CONNECTED;
}

static void a_connection_comes_back_and_says_so(void **state)
{
	struct weir_nats_stats stats;
	struct nats_world world;
	struct told told = {0};
	const struct weir_nats_options options = {.on_state = tell,
						  .context = &told};

	nats_begin_with(&world, &options);
	assert_int_equal(weir_nats_state(world.nats),
			 WEIR_NATS_STATE_CONNECTED);
	server_kill(&world.server, SIGKILL);
	await(is_cut, world.nats);
	server_again(&world.server);
	await(is_connected, world.nats);
	await(three_told, &told);
	assert_int_equal(told.states[0], WEIR_NATS_STATE_CONNECTED);
	assert_int_equal(told.states[1], WEIR_NATS_STATE_DISCONNECTED);
	assert_int_equal(told.states[2], WEIR_NATS_STATE_CONNECTED);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.reconnects, 1);
	nats_end(&world);
}

static void without_a_timeout_it_connects_when_there_is_a_server(void **state)
{
	struct weir_nats_options options = {.reconnect_ns = SECOND / 100};
	struct weir_nats *nats;
	struct server server;

	server_begin(&server);
	server_kill(&server, SIGTERM);
	options.url = server.url;
	assert_int_equal(weir_nats_new(&nats, &options, NULL), 0);
	assert_int_equal(weir_nats_state(nats), WEIR_NATS_STATE_CONNECTING);
	server_again(&server);
	await(is_connected, nats);
	assert_int_equal(weir_nats_free(nats), 0);
	/* and one that never does is freed as well */
	server_kill(&server, SIGTERM);
	assert_int_equal(weir_nats_new(&nats, &options, NULL), 0);
	assert_int_equal(weir_nats_free(nats), 0);
	server_end(&server);
}

static void with_a_timeout_an_absent_server_is_an_error(void **state)
{
	struct weir_nats_options options = {.timeout_ns = SECOND / 20};
	struct weir_nats *nats;
	struct server server;

	server_begin(&server);
	server_kill(&server, SIGTERM);
	options.url = server.url;
	assert_int_equal(weir_nats_new(&nats, &options, NULL), -ECONNREFUSED);
	assert_null(nats);
	server_end(&server);
}

static bool is_closed(void *nats)
{
	return weir_nats_state(nats) == WEIR_NATS_STATE_CLOSED;
}

static void one_that_gives_up_is_closed(void **state)
{
	struct weir_nats_options options = {.max_reconnects = 2,
					    .reconnect_ns = SECOND / 100};
	struct weir_nats *nats;
	struct server server;

	server_begin(&server);
	options.url = server.url;
	options.timeout_ns = LONG;
	assert_int_equal(weir_nats_new(&nats, &options, NULL), 0);
	server_kill(&server, SIGKILL);
	await(is_closed, nats);
	assert_int_equal(weir_nats_free(nats), 0);
	/* also if there never was one */
	options.timeout_ns = 0;
	assert_int_equal(weir_nats_new(&nats, &options, NULL), 0);
	await(is_closed, nats);
	assert_int_equal(weir_nats_free(nats), 0);
	server_end(&server);
}

static void bad_options_are_refused(void **state)
{
	const struct weir_nats_options bad[] = {
		{.reserved = {0, 0, 0, 1}}, {.max_reconnects = -1},
		{.cert = "cert"},	    {.url = ""},
		{.ca = "/nowhere/ca.pem"},
	};
	struct weir_nats *nats;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		nats = (struct weir_nats *)&nats;
		assert_true(weir_nats_new(&nats, &bad[i], NULL) < 0);
		assert_null(nats);
	}
	assert_int_equal(weir_nats_new(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_nats_free(NULL), 0);
	assert_int_equal(weir_nats_state(NULL), WEIR_NATS_STATE_CLOSED);
	assert_int_equal(weir_nats_end_wait(NULL, 0), -EINVAL);
	assert_int_equal(weir_nats_stats(NULL, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_comes_back_and_says_so),
		cmocka_unit_test(
			without_a_timeout_it_connects_when_there_is_a_server),
		cmocka_unit_test(with_a_timeout_an_absent_server_is_an_error),
		cmocka_unit_test(one_that_gives_up_is_closed),
		cmocka_unit_test(bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
