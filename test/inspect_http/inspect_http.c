/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's life, on each kind of executor, and its limits. */
#include "inspect_http/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>
#include <weir/completion.h>

#include "actor/kit.h"

static struct served served;

#define SECOND UINT64_C(1000000000)

static const char why[] = "GET /why HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* --- Calls of libmicrohttpd that fail ------------------------------------- */

/* The `fails`-th call has no memory. */
static size_t n_calls, fails;

static bool refuses(void)
{
	return ++n_calls == fails;
}

struct MHD_Daemon *__real_MHD_start_daemon(unsigned int flags, uint16_t port,
					   MHD_AcceptPolicyCallback accept,
					   void *accept_context,
					   MHD_AccessHandlerCallback answer,
					   void *context, ...);
struct MHD_Daemon *__wrap_MHD_start_daemon(unsigned int flags, uint16_t port,
					   MHD_AcceptPolicyCallback accept,
					   void *accept_context,
					   MHD_AccessHandlerCallback answer,
					   void *context, ...);
struct MHD_Daemon *__wrap_MHD_start_daemon(unsigned int flags, uint16_t port,
					   MHD_AcceptPolicyCallback accept,
					   void *accept_context,
					   MHD_AccessHandlerCallback answer,
					   void *context, ...)
{
	struct MHD_OptionItem *options;
	va_list rest;

	if (refuses())
		return NULL;
	va_start(rest, context);
	assert_int_equal(va_arg(rest, int), MHD_OPTION_ARRAY);
	options = va_arg(rest, struct MHD_OptionItem *);
	va_end(rest);
	return __real_MHD_start_daemon(flags, port, accept, accept_context,
				       answer, context, MHD_OPTION_ARRAY,
				       options, MHD_OPTION_END);
}

enum MHD_Result __real_MHD_add_response_header(struct MHD_Response *response,
					       const char *name,
					       const char *value);
enum MHD_Result __wrap_MHD_add_response_header(struct MHD_Response *response,
					       const char *name,
					       const char *value);
enum MHD_Result __wrap_MHD_add_response_header(struct MHD_Response *response,
					       const char *name,
					       const char *value)
{
	return refuses()
		       ? MHD_NO
		       : __real_MHD_add_response_header(response, name, value);
}

enum MHD_Result __real_MHD_queue_response(struct MHD_Connection *connection,
					  unsigned int status,
					  struct MHD_Response *response);
enum MHD_Result __wrap_MHD_queue_response(struct MHD_Connection *connection,
					  unsigned int status,
					  struct MHD_Response *response);
enum MHD_Result __wrap_MHD_queue_response(struct MHD_Connection *connection,
					  unsigned int status,
					  struct MHD_Response *response)
{
	return refuses() ? MHD_NO
			 : __real_MHD_queue_response(connection, status,
						     response);
}

struct MHD_Response *
__real_MHD_create_response_from_buffer_with_free_callback_cls(
	size_t size, void *buffer, MHD_ContentReaderFreeCallback free,
	void *context);
struct MHD_Response *
__wrap_MHD_create_response_from_buffer_with_free_callback_cls(
	size_t size, void *buffer, MHD_ContentReaderFreeCallback free,
	void *context);
struct MHD_Response *
__wrap_MHD_create_response_from_buffer_with_free_callback_cls(
	size_t size, void *buffer, MHD_ContentReaderFreeCallback free,
	void *context)
{
	return refuses()
		       ? NULL
		       : __real_MHD_create_response_from_buffer_with_free_callback_cls(
				 size, buffer, free, context);
}

/* --- On each kind of executor --------------------------------------------- */

static void page_is_served_on_each_kind_of_executor(void **state)
{
	for_each_served(kind)
	{
		served_begin(&served, *kind, NULL);
		served_stage(&served);
		assert_int_equal(answer_status(client_get(&served, "/")), 200);
		/* the flow stands still soon */
		while (!strstr(client_get(&served, "/why"),
			       " held up by: ignore < slow waits for a "
			       "permit in slow\n"))
			served_drive(&served);
		served_end(&served);
	}
}

static void free_cuts_off_what_is_under_way(void **state)
{
	int idle, half, over;

	for_each_served(kind)
	{
		served_begin(&served, *kind, NULL);
		idle = client_new(&served);
		half = client_new(&served);
		over = client_new(&served);
		client_text(&served, half, "GET / HT");
		client_text(&served, over, why);
		assert_int_equal(answer_status(client_answer(&served, over)),
				 200);
		/* asks again, and is answered or not */
		client_text(&served, over, why);
		assert_int_equal(weir_inspect_http_free(served.http), 0);
		served.http = NULL;
		client_closed(&served, idle);
		client_closed(&served, half);
		client_closed(&served, over);
		served_end(&served);
	}
}

static uint32_t n_done; /* any thread */

static void done(struct weir_ending *ending)
{
	ck_pr_inc_32(&n_done);
}

static void end_of_the_executor_ends_it(void **state)
{
	static struct weir_ending ending;
	int fd;

	for_each_served(kind)
	{
		served_begin(&served, *kind, NULL);
		fd = client_new(&served);
		client_text(&served, fd, why);
		assert_int_equal(answer_status(client_answer(&served, fd)),
				 200);
		ending = (struct weir_ending){.done = done};
		n_done = 0;
		assert_int_equal(weir_executor_end_async(served.place.executor,
							 &ending, WEIR_FOREVER),
				 0);
		client_closed(&served, fd);
		while (!ck_pr_load_32(&n_done))
			served_drive(&served);
		assert_true(weir_completion_done(
			weir_inspect_http_over(served.http)));
		weir_inspect_http_stop(served.http);
		served_end(&served);
	}
}

static void stop_gives_the_port_up_at_once(void **state)
{
	struct weir_inspect_http_options options = {0};
	char address[40];

	for_each_served(kind)
	{
		served_begin(&served, *kind, NULL);
		strcpy(address, weir_inspect_http_address(served.http));
		weir_inspect_http_stop(served.http);
		weir_inspect_http_stop(served.http);
		assert_int_equal(weir_completion_wait(
					 weir_inspect_http_over(served.http),
					 WEIR_FOREVER),
				 0);
		assert_int_equal(weir_inspect_http_free(served.http), 0);
		options.address = address;
		assert_int_equal(weir_inspect_http_new(&served.http,
						       served.place.executor,
						       &options, NULL),
				 0);
		assert_string_equal(weir_inspect_http_address(served.http),
				    address);
		served_end(&served);
	}
}

/* An actor that frees the server. */
struct freer {
	struct weir_actor actor;
	int rc;
};

static int free_it(struct weir_actor *actor)
{
	struct freer *self = (struct freer *)actor;

	self->rc = weir_inspect_http_free(served.http);
	return weir_actor_end(actor);
}

static void free_where_no_call_may_wait_is_an_error(void **state)
{
	static const struct weir_actor_ops ops = {.signalled = free_it};
	struct freer freer = {.rc = 1};
	struct weir_completion *over;

	served_begin(&served, &sim, NULL);
	over = weir_inspect_http_over(served.http);
	assert_int_equal(
		weir_actor_init(&freer.actor, &ops, served.place.executor), 0);
	assert_int_equal(weir_actor_start(&freer.actor), 0);
	weir_actor_signal(&freer.actor);
	served_drive(&served);
	assert_int_equal(freer.rc, -EDEADLK);
	/* it was stopped */
	assert_true(weir_completion_done(over));
	served_end(&served);
}

static void another_executor_than_the_one_that_serves_is_shown(void **state)
{
	struct weir_inspect_http_options options = {0};
	struct place shown;
	struct pair pair;

	place_make(&shown, &sim);
	options.executors = &shown.executor;
	options.n_executors = 1;
	served_begin(&served, &loop, &options);
	pair_init(&pair, shown.executor, 1, 1);
	pair_start(&pair);
	assert_non_null(strstr(client_get(&served, "/dot"), "sink"));
	weir_sim_run(shown.sim);
	served_end(&served);
	pair_fini(&pair);
	assert_int_equal(shown.kind->free(&shown), 0);
}

static void all_executors_of_the_process_are_shown(void **state)
{
	struct place other;
	struct pair pair;

	place_make(&other, &sim);
	served_begin(&served, &loop, NULL);
	pair_init(&pair, other.executor, 1, 1);
	pair_start(&pair);
	assert_non_null(strstr(client_get(&served, "/dot"), "sink"));
	weir_sim_run(other.sim);
	served_end(&served);
	pair_fini(&pair);
	assert_int_equal(other.kind->free(&other), 0);
}

static void sampler_tells_since_when(void **state)
{
	struct weir_sampler_options by_hand = {.by_hand = true};
	struct weir_inspect_http_options options = {0};
	struct weir_sampler *sampler;
	struct place shown;

	place_make(&shown, &sim);
	assert_int_equal(
		weir_sampler_new(&sampler, &shown.executor, 1, &by_hand), 0);
	options.sampler = sampler;
	served_begin(&served, &loop, &options);
	assert_non_null(strstr(client_get(&served, "/snapshot.json"),
			       "\"moved_ns\": "));
	served_end(&served);
	served_begin(&served, &loop, NULL);
	assert_null(strstr(client_get(&served, "/snapshot.json"),
			   "\"moved_ns\": "));
	served_end(&served);
	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(shown.kind->free(&shown), 0);
}

/* --- Limits --------------------------------------------------------------- */

static void late_connection_is_cut_off(void **state)
{
	struct weir_inspect_http_options options = {.idle_ns = SECOND};
	int idle, half, good;
	char byte;

	served_begin(&served, &sim, &options);
	idle = client_new(&served);
	half = client_new(&served);
	good = client_new(&served);
	client_text(&served, half, "GET / HTTP/1.1\r\n");
	served_drive(&served);
	served_advance(&served, SECOND / 2);
	client_text(&served, good, why);
	assert_int_equal(answer_status(client_answer(&served, good)), 200);
	/* a byte now and then does not help */
	client_text(&served, half, "A");
	served_drive(&served);
	served_advance(&served, SECOND / 2 - 1);
	assert_int_equal(recv(idle, &byte, 1, 0), -1);
	assert_int_equal(recv(half, &byte, 1, 0), -1);
	served_advance(&served, 1);
	client_closed(&served, idle);
	client_closed(&served, half);
	client_text(&served, good, why);
	assert_int_equal(answer_status(client_answer(&served, good)), 200);
	served_advance(&served, SECOND - 1);
	assert_int_equal(recv(good, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
	served_advance(&served, 1);
	client_closed(&served, good);
	served_end(&served);
}

static void answer_that_nobody_takes_is_cut_off(void **state)
{
	struct weir_inspect_http_options options = {.idle_ns = SECOND};
	char folder[] = "/tmp/weir-XXXXXX", text[80];
	struct place *place = &served.place;
	enum { PAIRS = 2000 };
	static struct pair pairs[PAIRS];
	int fd, i;

	/* what the kernel holds of a path's connection is less than an answer */
	assert_non_null(mkdtemp(folder));
	(void)snprintf(text, sizeof(text), "unix:%s/sock", folder);
	options.address = text;
	served_begin(&served, &sim, &options);
	for (i = 0; i < PAIRS; i++) {
		pair_init(&pairs[i], place->executor, 1, 1);
		weir_actor_suspend(&pairs[i].source.actor);
		pair_start(&pairs[i]);
	}
	fd = client_new(&served);
	client_text(&served, fd,
		    "GET /snapshot.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
	served_drive(&served);
	served_advance(&served, SECOND);
	served_drive(&served);
	client_closed(&served, fd);
	for (i = 0; i < PAIRS; i++)
		weir_actor_resume(&pairs[i].source.actor);
	weir_sim_run_until(place->sim, weir_executor_now(place->executor),
			   SIZE_MAX);
	served_end(&served);
	for (i = 0; i < PAIRS; i++)
		pair_fini(&pairs[i]);
	assert_int_equal(rmdir(folder), 0);
}

static void connections_above_the_limit_wait(void **state)
{
	struct weir_inspect_http_options options = {.connections_max = 2};
	int fds[6], i;
	char byte;

	served_begin(&served, &sim, &options);
	for (i = 0; i < 6; i++) {
		fds[i] = client_new(&served);
		client_text(&served, fds[i], why);
	}
	for (i = 0; i < 6; i++) {
		assert_int_equal(answer_status(client_answer(&served, fds[i])),
				 200);
		if (i + 2 < 6) {
			served_drive(&served);
			assert_int_equal(recv(fds[i + 2], &byte, 1, 0), -1);
		}
		assert_int_equal(close(fds[i]), 0);
	}
	served_end(&served);
}

static void it_sleeps_while_no_descriptor_is_free(void **state)
{
	struct rlimit limit, low;
	int fd, others[64], n = 0;

	served_begin(&served, &sim, NULL);
	(void)client_get(&served, "/why");
	fd = client_new(&served);
	client_text(&served, fd, why);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while (n < 64 && (others[n] = dup(0)) >= 0)
		n++;
	/* it does not go on and on */
	assert_true(weir_sim_run_until(served.place.sim,
				       weir_executor_now(served.place.executor),
				       1000) < 10);
	while (n > 0)
		assert_int_equal(close(others[--n]), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	served_advance(&served, SECOND);
	assert_int_equal(answer_status(client_answer(&served, fd)), 200);
	assert_int_equal(close(fd), 0);
	served_end(&served);
}

static void idle_server_does_nothing(void **state)
{
	/* time goes by, and no slice runs */
	served_begin(&served, &sim, NULL);
	served_drive(&served);
	assert_int_equal(
		weir_sim_run_until(served.place.sim,
				   weir_executor_now(served.place.executor) +
					   3600 * SECOND,
				   1000),
		0);
	served_end(&served);
}

/* --- Errors --------------------------------------------------------------- */

static void bad_input_is_an_error(void **state)
{
	static const struct weir_inspect_http_options rows[] = {
		{.address = "10.0.0.1:80"}, {.address = ""},
		{.n_executors = 1},	    {.connections_max = 65537},
		{.reserved = {0, 0, 0, 1}},
	};
	struct weir_executor *none[] = {NULL};
	struct weir_inspect_http_options options = {.executors = none};
	struct weir_inspect_http *http = (void *)1;
	struct descriptors before;
	struct place place;
	size_t i;

	place_make(&place, &sim);
	descriptors_note(&before);
	assert_int_equal(weir_inspect_http_new(NULL, place.executor, NULL,
					       NULL),
			 -EINVAL);
	assert_int_equal(weir_inspect_http_new(&http, NULL, NULL, NULL),
			 -EINVAL);
	assert_null(http);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(weir_inspect_http_new(&http, place.executor,
						       &rows[i], NULL),
				 -EINVAL);
	assert_int_equal(weir_inspect_http_new(&http, place.executor, &options,
					       NULL),
			 -EINVAL);
	options.n_executors = 1;
	assert_int_equal(weir_inspect_http_new(&http, place.executor, &options,
					       NULL),
			 -EINVAL);
	options.executors = &place.executor;
	options.sampler = (void *)&place; /* one or the other */
	assert_int_equal(weir_inspect_http_new(&http, place.executor, &options,
					       NULL),
			 -EINVAL);
	assert_null(weir_inspect_http_address(NULL));
	assert_null(weir_inspect_http_over(NULL));
	weir_inspect_http_stop(NULL);
	assert_int_equal(weir_inspect_http_free(NULL), 0);
	assert_int_equal(weir_executor_alive(place.executor), 0);
	descriptors_check(&before);
	assert_int_equal(place.kind->free(&place), 0);
}

static void executor_without_descriptors_is_an_error(void **state)
{
	struct weir_inspect_http *http;
	struct descriptors before;
	struct place place;

	place_make(&place, &direct);
	descriptors_note(&before);
	assert_int_equal(weir_inspect_http_new(&http, place.executor, NULL,
					       NULL),
			 -ENOTSUP);
	assert_null(http);
	descriptors_check(&before);
	assert_int_equal(place.kind->free(&place), 0);
}

static void port_in_use_is_an_error(void **state)
{
	struct weir_inspect_http_options options = {0};
	struct weir_inspect_http *http;
	struct descriptors before;

	served_begin(&served, &loop, NULL);
	options.address = weir_inspect_http_address(served.http);
	descriptors_note(&before);
	assert_int_equal(weir_inspect_http_new(&http, served.place.executor,
					       &options, NULL),
			 -EADDRINUSE);
	assert_null(http);
	descriptors_check(&before);
	served_end(&served);
}

static void executor_that_ends_takes_no_server(void **state)
{
	static struct weir_ending ending;
	struct weir_inspect_http *http;
	struct descriptors before;
	struct place place;

	place_make(&place, &sim);
	descriptors_note(&before);
	ending = (struct weir_ending){.done = done};
	assert_int_equal(weir_executor_end_async(place.executor, &ending,
						 WEIR_FOREVER),
			 0);
	assert_int_equal(weir_inspect_http_new(&http, place.executor, NULL,
					       NULL),
			 -ESHUTDOWN);
	assert_null(http);
	descriptors_check(&before);
	assert_int_equal(place.kind->free(&place), 0);
}

/* --- Without memory ------------------------------------------------------- */

/* True: all is well. */
static bool serve_without(struct heap *heap)
{
	struct weir_executor_options executor = {.allocator = &heap->allocator};
	struct weir_loop *made;
	bool well = false;
	int rc, fd;

	rc = weir_loop_new(&made, &executor);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		return false;
	}
	served.place = (struct place){.kind = &loop,
				      .loop = made,
				      .executor = weir_loop_executor(made)};
	rc = weir_inspect_http_new(&served.http, served.place.executor, NULL,
				   &heap->allocator);
	if (rc == 0) {
		fd = client_new(&served);
		client_text(&served, fd,
			    "GET /dot HTTP/1.1\r\nHost: localhost\r\n"
			    "Connection: close\r\n\r\n");
		rc = answer_status(client_rest(&served, fd));
		assert_true(rc == 200 || rc == 503 || rc == 0);
		well = rc == 200;
		assert_int_equal(close(fd), 0);
		assert_int_equal(weir_inspect_http_free(served.http), 0);
	} else {
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(weir_loop_free(made), 0);
	return well;
}

static void without_memory_nothing_is_left(void **state)
{
	struct descriptors before;
	struct heap heap;
	size_t fail = 0;

	descriptors_note(&before);
	do {
		heap_init(&heap, ++fail);
		if (serve_without(&heap))
			assert_true(heap.calls < fail);
		assert_int_equal(heap.live, 0);
	} while (heap.calls >= fail);
	assert_true(fail > 5);
	heap_init(&heap, 0);
	do {
		n_calls = 0;
		fails++;
		if (serve_without(&heap))
			assert_true(n_calls < fails);
		assert_int_equal(heap.live, 0);
	} while (n_calls >= fails);
	assert_true(fails > 10);
	fails = 0;
	descriptors_check(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_is_served_on_each_kind_of_executor),
		cmocka_unit_test(free_cuts_off_what_is_under_way),
		cmocka_unit_test(end_of_the_executor_ends_it),
		cmocka_unit_test(stop_gives_the_port_up_at_once),
		cmocka_unit_test(free_where_no_call_may_wait_is_an_error),
		cmocka_unit_test(
			another_executor_than_the_one_that_serves_is_shown),
		cmocka_unit_test(all_executors_of_the_process_are_shown),
		cmocka_unit_test(sampler_tells_since_when),
		cmocka_unit_test(late_connection_is_cut_off),
		cmocka_unit_test(answer_that_nobody_takes_is_cut_off),
		cmocka_unit_test(connections_above_the_limit_wait),
		cmocka_unit_test(it_sleeps_while_no_descriptor_is_free),
		cmocka_unit_test(idle_server_does_nothing),
		cmocka_unit_test(bad_input_is_an_error),
		cmocka_unit_test(executor_without_descriptors_is_an_error),
		cmocka_unit_test(port_in_use_is_an_error),
		cmocka_unit_test(executor_that_ends_takes_no_server),
		cmocka_unit_test(without_memory_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
