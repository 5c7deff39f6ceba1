/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that is asked for, on the simulator's clock. */
#include "inspect_http/kit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>
#include <weir/trace.h>

#include "actor/kit.h"

#define SECOND UINT64_C(1000000000)

static struct served served;

static int setup(void **state)
{
	served_begin(&served, &sim, NULL);
	return 0;
}

static int teardown(void **state)
{
	served_end(&served);
	return 0;
}

/* Has been asked; the answer may be due later. */
static int ask(const char *what)
{
	int fd = client_new(&served);
	char text[100];

	(void)snprintf(text, sizeof(text),
		       "%s HTTP/1.1\r\nHost: localhost\r\n\r\n", what);
	client_text(&served, fd, text);
	served_drive(&served);
	return fd;
}

static bool is_answered(int fd)
{
	char byte;

	served_drive(&served);
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static int status_of(int fd)
{
	int status = answer_status(client_answer(&served, fd));

	assert_int_equal(close(fd), 0);
	return status;
}

/* Or somebody else has one. */
static bool can_trace(void)
{
	struct weir_trace *trace;
	int rc = weir_trace_new(&trace, NULL, NULL);

	assert_true(rc == 0 || rc == -EBUSY);
	weir_trace_free(trace);
	return rc == 0;
}

static void what_runs_meanwhile_is_answered_at_the_end(void **state)
{
	int fd = ask("GET /trace?seconds=2");
	const char *got;

	served_stage(&served);
	served_advance(&served, 2 * SECOND - 1);
	assert_false(is_answered(fd));
	assert_false(can_trace());
	served_advance(&served, 1);
	assert_true(is_answered(fd));
	got = client_answer(&served, fd);
	assert_int_equal(answer_status(got), 200);
	assert_string_equal(answer_header(got, "Content-Type"),
			    "application/json");
	assert_string_equal(answer_header(got, "Cache-Control"), "no-store");
	assert_non_null(strstr(answer_body(got),
			       "{\"name\":\"ignore < slow\",\"cat\":"
			       "\"slice\",\"ph\":\"X\""));
	assert_string_equal(got + strlen(got) - 3, "}}\n");
	assert_true(can_trace());
	/* the connection goes on */
	client_text(&served, fd,
		    "GET /why HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(status_of(fd), 200);
}

static void it_is_of_a_second_if_nothing_is_said(void **state)
{
	int fd = ask("GET /trace");

	served_advance(&served, SECOND - 1);
	assert_false(is_answered(fd));
	served_advance(&served, 1);
	assert_int_equal(status_of(fd), 200);
}

static void others_are_answered_meanwhile(void **state)
{
	int fd = ask("GET /trace?seconds=60");

	assert_int_equal(status_of(ask("GET /why")), 200);
	assert_int_equal(status_of(ask("GET /trace?seconds=1")), 409);
	/* it waits for longer than others may */
	served_advance(&served, 60 * SECOND - 1);
	assert_int_equal(status_of(ask("GET /why")), 200);
	assert_false(is_answered(fd));
	served_advance(&served, 1);
	assert_int_equal(status_of(fd), 200);
}

static void who_has_been_answered_may_be_late_again(void **state)
{
	int fd = ask("GET /trace?seconds=60");

	served_advance(&served, 60 * SECOND);
	assert_int_equal(answer_status(client_answer(&served, fd)), 200);
	served_advance(&served, 30 * SECOND - 1);
	assert_false(is_answered(fd));
	served_advance(&served, 1);
	client_closed(&served, fd);
}

static void trace_of_the_programs_own_goes_first(void **state)
{
	struct weir_trace *trace;

	assert_int_equal(weir_trace_new(&trace, NULL, NULL), 0);
	assert_int_equal(status_of(ask("GET /trace?seconds=1")), 409);
	weir_trace_free(trace);
}

static void absurd_times_are_refused(void **state)
{
	static const char *const lines[] = {
		"GET /trace?seconds=0",
		"GET /trace?seconds=61",
		"GET /trace?seconds=-1",
		"GET /trace?seconds=1.5",
		"GET /trace?seconds=",
		"GET /trace?seconds=18446744073709551617",
		"GET /trace?seconds=1e1",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(status_of(ask(lines[i])), 400);
	assert_true(can_trace());
}

static void head_records_nothing(void **state)
{
	int fd = ask("HEAD /trace?seconds=1");

	client_text(&served, fd,
		    "GET /none HTTP/1.1\r\nHost: localhost\r\n"
		    "Connection: close\r\n\r\n");
	assert_non_null(strstr(client_rest(&served, fd),
			       "HTTP/1.1 405 Method Not Allowed\r\n"));
	assert_int_equal(close(fd), 0);
	assert_true(can_trace());
}

static void who_has_gone_leaves_nothing_behind(void **state)
{
	int fd = ask("GET /trace?seconds=1");

	assert_int_equal(close(fd), 0);
	served_advance(&served, SECOND);
	assert_true(can_trace());
	fd = ask("GET /trace?seconds=1");
	served_advance(&served, SECOND);
	assert_int_equal(status_of(fd), 200);
}

static void end_of_the_server_ends_it(void **state)
{
	int fd = ask("GET /trace?seconds=60");

	assert_false(can_trace());
	weir_inspect_http_stop(served.http);
	served_drive(&served);
	assert_true(can_trace());
	client_closed(&served, fd);
}

static void end_of_the_server_leaves_no_memory(void **state)
{
	struct heap heap;
	int fd;

	served_end(&served);
	heap_init(&heap, 0);
	memset(&served, 0, sizeof(served));
	descriptors_note(&served.before);
	place_make(&served.place, &sim);
	assert_int_equal(weir_inspect_http_new(&served.http,
					       served.place.executor, NULL,
					       &heap.allocator),
			 0);
	fd = ask("GET /trace?seconds=60");
	assert_int_equal(weir_inspect_http_free(served.http), 0);
	served.http = NULL;
	assert_int_equal(heap.live, 0);
	client_closed(&served, fd);
}

/* --- Without memory, or descriptors --------------------------------------- */

static bool no_response;

struct MHD_Response *__real_MHD_create_response_from_fd64(uint64_t size,
							  int fd);
struct MHD_Response *__wrap_MHD_create_response_from_fd64(uint64_t size,
							  int fd);
struct MHD_Response *__wrap_MHD_create_response_from_fd64(uint64_t size, int fd)
{
	return no_response ? NULL
			   : __real_MHD_create_response_from_fd64(size, fd);
}

static void without_a_response_it_is_unavailable(void **state)
{
	int fd = ask("GET /trace?seconds=1");

	no_response = true;
	served_advance(&served, SECOND);
	assert_int_equal(status_of(fd), 503);
	no_response = false;
	assert_true(can_trace());
}

static void without_memory_it_is_unavailable(void **state)
{
	struct heap heap;
	size_t fail = 0;
	int fd, status;

	do {
		served_end(&served);
		heap_init(&heap, ++fail);
		memset(&served, 0, sizeof(served));
		descriptors_note(&served.before);
		place_make(&served.place, &sim);
		if (weir_inspect_http_new(&served.http, served.place.executor,
					  NULL, &heap.allocator) < 0) {
			status = 0;
			continue;
		}
		fd = ask("GET /trace?seconds=1");
		served_advance(&served, SECOND);
		status = status_of(fd);
		assert_true(status == (heap.calls >= fail ? 503 : 200));
		assert_int_equal(weir_inspect_http_free(served.http), 0);
		served.http = NULL;
		assert_int_equal(heap.live, 0);
	} while (status != 200);
	assert_true(fail > 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_runs_meanwhile_is_answered_at_the_end),
		TEST(it_is_of_a_second_if_nothing_is_said),
		TEST(others_are_answered_meanwhile),
		TEST(who_has_been_answered_may_be_late_again),
		TEST(trace_of_the_programs_own_goes_first),
		TEST(absurd_times_are_refused),
		TEST(head_records_nothing),
		TEST(who_has_gone_leaves_nothing_behind),
		TEST(end_of_the_server_ends_it),
		TEST(end_of_the_server_leaves_no_memory),
		TEST(without_a_response_it_is_unavailable),
		TEST(without_memory_it_is_unavailable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
