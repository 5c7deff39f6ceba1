/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of one connection. Names are looked up in the test. */
#include "actor/kit.h"
#include "flow/kit.h"
#include "net/address.h"
#include "net/kit.h"

#include <netdb.h>
#include <sched.h>
#include <semaphore.h>

static struct net net;

#define SECOND UINT64_C(1000000000)

/* --- A resolver ----------------------------------------------------------- */

#define LISTED 4

static struct {
	struct weir__address at[LISTED];
	struct addrinfo entries[LISTED];
	size_t n;
	int code;
	bool waits; /* for `answer` */
	sem_t asked, answer;
	uint32_t given, freed; /* lists; atomic */
} resolver;

int __wrap_getaddrinfo(const char *host, const char *port,
		       const struct addrinfo *hints, struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *host, const char *port,
		       const struct addrinfo *hints, struct addrinfo **list)
{
	assert_string_equal(host, "some.host");
	assert_string_equal(port, "80");
	assert_int_equal(hints->ai_socktype, SOCK_STREAM);
	(void)sem_post(&resolver.asked);
	while (resolver.waits && sem_wait(&resolver.answer) < 0)
		;
	*list = resolver.n ? resolver.entries : NULL;
	if (*list)
		ck_pr_inc_32(&resolver.given);
	return resolver.code;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	assert_ptr_equal(list, resolver.entries);
	ck_pr_inc_32(&resolver.freed);
}

/* The thread of a look-up may be the last to let go of its list. */
static void resolver_end(void)
{
	uint32_t given = ck_pr_load_32(&resolver.given);

	while (ck_pr_load_32(&resolver.freed) < given)
		(void)sched_yield();
	assert_int_equal(ck_pr_load_32(&resolver.freed), given);
}

/* Nothing is known of the host, until list_address(). */
static void resolver_begin(void)
{
	resolver_end();
	memset(&resolver, 0, sizeof(resolver));
	assert_int_equal(sem_init(&resolver.asked, 0, 0), 0);
	assert_int_equal(sem_init(&resolver.answer, 0, 0), 0);
}

static void list_address(const struct weir__address *address)
{
	struct addrinfo *entry = &resolver.entries[resolver.n];

	resolver.at[resolver.n] = *address;
	*entry = (struct addrinfo){
		.ai_family = address->at.any.sa_family,
		.ai_addr = &resolver.at[resolver.n].at.any,
		.ai_addrlen = address->length,
	};
	if (resolver.n++)
		entry[-1].ai_next = entry;
}

/* --- What is connected to ------------------------------------------------- */

static struct weir__address parsed(const char *text)
{
	struct weir__address address;

	assert_int_equal(weir__address_parse(&address, text), 0);
	return address;
}

/* A socket there, whose address is then in *at. */
static int bound(struct weir__address *at)
{
	int fd = socket(at->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, &at->at.any, at->length), 0);
	assert_int_equal(getsockname(fd, &at->at.any, &at->length), 0);
	return fd;
}

static int listening(struct weir__address *at)
{
	int fd = bound(at);

	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/* It neither takes nor refuses: its backlog is full. */
struct silent {
	struct weir__address at;
	int listener, first, second;
};

static void silent_begin(struct silent *silent)
{
	silent->at = parsed("127.0.0.1:0");
	silent->listener = bound(&silent->at);
	assert_int_equal(listen(silent->listener, 0), 0);
	silent->first = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(silent->first, &silent->at.at.any,
				 silent->at.length),
			 0);
	silent->second = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	(void)connect(silent->second, &silent->at.at.any, silent->at.length);
}

static void silent_end(struct silent *silent)
{
	close(silent->listener);
	close(silent->first);
	close(silent->second);
}

static void start_to(const struct weir__address *at,
		     const struct weir_connect_options *options)
{
	char text[WEIR_CONNECTION_ADDRESS_MAX];

	assert_int_equal(weir__address_format(at, text, sizeof(text)), 0);
	net_start(&net, weir_flow_connect(text, options));
}

static void start_by_name(void)
{
	net_start(&net, weir_flow_connect("some.host:80", NULL));
}

/* The run is over, and has given a connection that carries. */
static void expect_connected(int listener)
{
	struct weir_connection *connection;
	struct weir_error *error;
	void *result;
	int fd;

	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, &result, &error), 0);
	assert_null(error);
	connection = result;
	assert_non_null(connection);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	send_text(fd, "hello");
	expect_text(&net, weir_connection_fd(connection), "hello");
	close(fd);
	weir_connection_unref(connection);
}

/* --- Addresses ------------------------------------------------------------ */

static void it_connects_to_an_address(void **state)
{
	char name[64];
	const char *const addresses[] = {"127.0.0.1:0", name};
	struct weir__address at;
	int listener;
	size_t i;

	(void)snprintf(name, sizeof(name), "unix:@weir-connect-%d",
		       (int)getpid());
	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			net_begin(&net, *kind);
			at = parsed(addresses[i]);
			listener = listening(&at);
			start_to(&at, NULL);
			expect_connected(listener);
			close(listener);
			net_end(&net);
		}
	}
}

static void it_knows_its_peer(void **state)
{
	char wanted[WEIR_CONNECTION_ADDRESS_MAX];
	char text[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir_connect_options options = {
		.connection.keepalive = true,
	};
	struct weir__address at = parsed("127.0.0.1:0");
	socklen_t length = sizeof(int);
	int listener, on = 0;
	void *result;

	net_begin(&net, &loop);
	listener = listening(&at);
	start_to(&at, &options);
	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, &result, NULL), 0);
	assert_int_equal(weir_connection_peer(result, text, sizeof(text)), 0);
	assert_int_equal(weir__address_format(&at, wanted, sizeof(wanted)), 0);
	assert_string_equal(text, wanted);
	assert_int_equal(getsockopt(weir_connection_fd(result), SOL_SOCKET,
				    SO_KEEPALIVE, &on, &length),
			 0);
	assert_true(on);
	weir_connection_unref(result);
	close(listener);
	net_end(&net);
}

static void who_is_refused_is_told(void **state)
{
	struct weir__address at;
	struct weir_error *error;
	char text[64];
	int fd;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		at = parsed("127.0.0.1:0");
		/* nobody listens there, and nobody else may */
		fd = bound(&at);
		assert_int_equal(weir__address_format(&at, text, sizeof(text)),
				 0);
		strcat(text, ": Connection refused");
		start_to(&at, NULL);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_int_equal(error->code, -ECONNREFUSED);
		assert_string_equal(error->origin, "connect");
		assert_string_equal(error->message, text);
		weir_error_unref(error);
		close(fd);
		net_end(&net);
	}
	net_begin(&net, &loop);
	net_start(&net, weir_flow_connect("unix:/no/such/path", NULL));
	net_over(&net, -ENOENT, 0);
	net_end(&net);
}

static void a_limit_of_time_is_kept(void **state)
{
	const struct weir_connect_options options = {.connect_ns = 3 * SECOND};
	struct silent silent;

	net_begin(&net, &sim);
	silent_begin(&silent);
	start_to(&silent.at, &options);
	(void)weir_sim_run_until(net.place.sim, 3 * SECOND - 1, 100000);
	assert_false(net_is_over(&net));
	(void)weir_sim_run_until(net.place.sim, 3 * SECOND, 100000);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	silent_end(&silent);
	net_end(&net);
}

static void a_cancel_midway_leaves_nothing(void **state)
{
	struct silent silent;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		silent_begin(&silent);
		start_to(&silent.at, NULL);
		net_drive(&net);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		silent_end(&silent);
		net_end(&net);
	}
}

/* A connection that was made and not asked for. */
static void a_connection_that_nobody_takes_is_closed(void **state)
{
	struct weir__address at;
	int listener, fd;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		at = parsed("127.0.0.1:0");
		listener = listening(&at);
		start_to(&at, NULL);
		while (!net_is_over(&net))
			net_drive(&net);
		fd = accept(listener, NULL, NULL);
		/* the run has it as its result */
		weir_flow_run_free(net.run);
		net.run = NULL;
		expect_end(&net, fd);
		close(fd);
		close(listener);
		while (weir_executor_alive(net.place.executor) > 0)
			net_drive(&net);
		net_end(&net);
	}
}

/* --- Names ---------------------------------------------------------------- */

static void the_next_address_is_tried_when_one_refuses(void **state)
{
	struct weir__address refuses, takes;
	int fd, listener;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		resolver_begin();
		refuses = takes = parsed("127.0.0.1:0");
		fd = bound(&refuses);
		listener = listening(&takes);
		list_address(&refuses);
		list_address(&refuses);
		list_address(&takes);
		start_by_name();
		expect_connected(listener);
		resolver_end();
		assert_int_equal(resolver.given, 1);
		close(fd);
		close(listener);
		net_end(&net);
	}
}

/* 250 ms, and not earlier; and the silent one is closed. */
static void the_next_address_is_tried_when_one_is_silent(void **state)
{
	struct weir__address takes = parsed("127.0.0.1:0");
	struct silent silent;
	int listener;

	net_begin(&net, &sim);
	resolver_begin();
	silent_begin(&silent);
	listener = listening(&takes);
	list_address(&silent.at);
	list_address(&silent.at);
	list_address(&takes);
	start_by_name();
	(void)weir_sim_run_until(net.place.sim, SECOND / 2 - 1, 100000);
	assert_false(net_is_over(&net));
	(void)weir_sim_run_until(net.place.sim, SECOND / 2, 100000);
	assert_true(net_is_over(&net));
	expect_connected(listener);
	close(listener);
	silent_end(&silent);
	net_end(&net);
}

static void the_last_error_is_told(void **state)
{
	struct weir__address refuses;
	int fd;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		resolver_begin();
		refuses = parsed("127.0.0.1:0");
		fd = bound(&refuses);
		list_address(&refuses);
		list_address(&refuses);
		start_by_name();
		net_over(&net, -ECONNREFUSED, 0);
		close(fd);
		net_end(&net);
	}
}

/* --- The order ------------------------------------------------------------ */

static int families[8];
static size_t n_families; /* SIZE_MAX: they are not noted */

int __real_connect(int fd, const struct sockaddr *at, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *at, socklen_t length);

int __wrap_connect(int fd, const struct sockaddr *at, socklen_t length)
{
	if (n_families >= 8)
		return __real_connect(fd, at, length);
	families[n_families++] = at->sa_family;
	errno = ECONNREFUSED;
	return -1;
}

static void the_families_are_tried_in_turn(void **state)
{
	static const int wanted[] = {AF_INET6, AF_INET, AF_INET6, AF_INET6};
	struct weir__address six = parsed("[::1]:80");
	struct weir__address four = parsed("127.0.0.1:80");
	size_t i;

	net_begin(&net, &sim);
	resolver_begin();
	list_address(&six);
	list_address(&six);
	list_address(&six);
	list_address(&four);
	n_families = 0;
	start_by_name();
	net_over(&net, -ECONNREFUSED, 0);
	assert_int_equal(n_families, 4);
	n_families = SIZE_MAX;
	for (i = 0; i < 4; i++)
		assert_int_equal(families[i], wanted[i]);
	net_end(&net);
}

static void a_name_that_is_none_is_told(void **state)
{
	struct weir_error *error;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		resolver_begin();
		resolver.code = EAI_NONAME;
		start_by_name();
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_int_equal(error->code, -ENOENT);
		assert_memory_equal(error->message, "some.host: ", 11);
		weir_error_unref(error);
		net_end(&net);
	}
	net_begin(&net, &loop);
	resolver_begin();
	resolver.code = EAI_AGAIN;
	start_by_name();
	net_over(&net, -EAGAIN, 0);
	net_end(&net);
}

/* The run does not wait for the look-up, which ends by itself. */
static void a_look_up_is_left_behind(void **state)
{
	static const struct kind *const others[] = {&loop, &threads};
	struct weir__address at = parsed("127.0.0.1:80");
	size_t i;

	for (i = 0; i < 2; i++) {
		net_begin(&net, others[i]);
		resolver_begin();
		resolver.waits = true;
		list_address(&at);
		start_by_name();
		while (sem_trywait(&resolver.asked) < 0)
			net_drive(&net);
		weir_flow_run_stop(net.run, NULL);
		net_over(&net, -ECANCELED, 0);
		net_end(&net);
		assert_int_equal(ck_pr_load_32(&resolver.freed), 0);
		assert_int_equal(sem_post(&resolver.answer), 0);
		while (ck_pr_load_32(&resolver.freed) == 0)
			(void)sched_yield();
	}
}

static void a_look_up_takes_no_longer_than_allowed(void **state)
{
	const struct weir_connect_options options = {.connect_ns = 1000000};
	struct weir__address at = parsed("127.0.0.1:80");

	net_begin(&net, &loop);
	resolver_begin();
	resolver.waits = true;
	list_address(&at);
	net_start(&net, weir_flow_connect("some.host:80", &options));
	net_over(&net, -ETIMEDOUT, 0);
	net_end(&net);
	assert_int_equal(sem_post(&resolver.answer), 0);
	while (ck_pr_load_32(&resolver.freed) == 0)
		(void)sched_yield();
}

/* --- Besides -------------------------------------------------------------- */

static void out_of_memory_loses_nothing(void **state)
{
	struct weir_executor_options options = {0};
	struct weir__address at = parsed("127.0.0.1:0");
	struct weir_error *error;
	int listener, rc;
	bool failed = true;
	struct heap heap;
	char text[64];
	void *result;
	size_t fail;

	for (fail = 1; failed; fail++) {
		memset(&net, 0, sizeof(net));
		net.peer = -1;
		descriptors_note(&net.before);
		listener = listening(&at);
		heap_init(&heap, 0);
		options.allocator = &heap.allocator;
		assert_int_equal(weir_sim_new(&net.place.sim, 1, &options), 0);
		net.place.executor = weir_sim_executor(net.place.sim);
		net.place.kind = &sim;
		heap.fail = heap.calls + fail;
		assert_int_equal(weir__address_format(&at, text, sizeof(text)),
				 0);
		net.flow = weir_flow_connect(text, NULL);
		do
			rc = weir_flow_start(net.flow, net.place.executor, NULL,
					     &net.run);
		while (rc == -ENOMEM);
		assert_int_equal(rc, 0);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER,
						    &result, &error),
				 0);
		failed = heap.calls >= heap.fail;
		assert_true(failed || result);
		assert_true(!error || (failed && error->code == -ENOMEM));
		weir_error_unref(error);
		weir_connection_unref(result);
		close(listener);
		net_end(&net);
		assert_int_equal(heap.live, 0);
		at = parsed("127.0.0.1:0");
	}
	assert_in_range(fail, 5, 100);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_connect_options strange = {.reserved = {1}};
	const struct weir_connect_options inside = {
		.connection = {.reserved = {1}}};
	char name[300];
	struct weir_flow *flows[] = {
		weir_flow_connect(NULL, NULL),
		weir_flow_connect("", NULL),
		weir_flow_connect("host", NULL),
		weir_flow_connect("host:", NULL),
		weir_flow_connect("host:99999", NULL),
		weir_flow_connect(":80", NULL),
		weir_flow_connect("fd:3", NULL),
		weir_flow_connect("fd:", NULL),
		weir_flow_connect("unix:", NULL),
		weir_flow_connect("[::1:80", NULL),
		weir_flow_connect("a:b:80", NULL),
		weir_flow_connect("127.0.0.1:80", &strange),
		weir_flow_connect("127.0.0.1:80", &inside),
		NULL,
	};

	memset(name, 'n', sizeof(name));
	memcpy(name + sizeof(name) - 4, ":80", 4);
	flows[13] = weir_flow_connect(name, NULL);
	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_connects_to_an_address),
		cmocka_unit_test(it_knows_its_peer),
		cmocka_unit_test(who_is_refused_is_told),
		cmocka_unit_test(a_limit_of_time_is_kept),
		cmocka_unit_test(a_cancel_midway_leaves_nothing),
		cmocka_unit_test(a_connection_that_nobody_takes_is_closed),
		cmocka_unit_test(the_next_address_is_tried_when_one_refuses),
		cmocka_unit_test(the_next_address_is_tried_when_one_is_silent),
		cmocka_unit_test(the_last_error_is_told),
		cmocka_unit_test(the_families_are_tried_in_turn),
		cmocka_unit_test(a_name_that_is_none_is_told),
		cmocka_unit_test(a_look_up_is_left_behind),
		cmocka_unit_test(a_look_up_takes_no_longer_than_allowed),
		cmocka_unit_test(out_of_memory_loses_nothing),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	n_families = SIZE_MAX;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
