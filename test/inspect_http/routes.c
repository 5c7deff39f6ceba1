/* SPDX-License-Identifier: BSD-2-Clause */
/* What is answered to whom. */
#include "inspect_http/kit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Of localhost, on a connection that is closed behind the answer. */
static const char *request(const char *line, const char *headers)
{
	char text[1000];

	(void)snprintf(text, sizeof(text),
		       "%s HTTP/1.1\r\n%sConnection: close\r\n\r\n", line,
		       headers);
	return client_ask(&served, text);
}

static void each_path_has_its_type(void **state)
{
	static const char *const paths[][3] = {
		{"/", "text/html; charset=utf-8", "<!doctype html>\n"},
		{"/snapshot.json", "application/json", "{\"version\": "},
		{"/why", "text/plain; charset=utf-8", "2 held up by: "},
		{"/why?actor=0", "text/plain; charset=utf-8", ""},
		{"/dot", "text/vnd.graphviz; charset=utf-8", "digraph weir {"},
		{"/metrics", "text/plain; version=0.0.4; charset=utf-8",
		 "# HELP "},
	};
	const char *got;
	size_t i;

	served_stage(&served);
	served_drive(&served);
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		got = client_get(&served, paths[i][0]);
		assert_int_equal(answer_status(got), 200);
		assert_string_equal(answer_header(got, "Content-Type"),
				    paths[i][1]);
		assert_int_equal(strncmp(answer_body(got), paths[i][2],
					 strlen(paths[i][2])),
				 0);
		assert_int_equal(strlen(answer_body(got)),
				 strtoul(answer_header(got, "Content-Length"),
					 NULL, 10));
	}
}

static void what_is_said_is_what_the_library_says(void **state)
{
	struct weir_snapshot *snapshot;
	char *text = malloc(1 << 16);
	const char *end;
	size_t i;

	assert_non_null(text);
	served_stage(&served);
	served_drive(&served);
	assert_int_equal(
		weir_snapshot_new(&snapshot, &served.place.executor, 1, 0), 0);
	assert_int_equal(snapshot->n_actors, 2);
	(void)weir_snapshot_json(snapshot, text, 1 << 16);
	/* but of the executor, which is busy when it looks itself */
	end = strstr(text, "\"executors\": ");
	assert_non_null(end);
	assert_memory_equal(answer_body(client_get(&served, "/snapshot.json")),
			    text, (size_t)(end - text));
	(void)weir_snapshot_dot(snapshot, text, 1 << 16);
	assert_string_equal(answer_body(client_get(&served, "/dot")), text);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text, 1 << 16);
	assert_string_equal(answer_body(client_get(&served, "/why")), text);
	for (i = 0; i < 2; i++) {
		(void)weir_snapshot_why_text(snapshot, i, text, 1 << 16);
		assert_string_equal(
			answer_body(client_get(&served, i ? "/why?actor=1"
							  : "/why?actor=0")),
			text);
	}
	weir_snapshot_free(snapshot);
	free(text);
}

static void server_itself_is_not_seen(void **state)
{
	assert_string_equal(answer_body(client_get(&served, "/why")),
			    "no actor is alive\n");
}

static void who_asks_soon_after_gets_the_same_look(void **state)
{
	/* a connection that stays: the look is kept as long as there is one */
	int fd = client_new(&served);
	char number[24];

	served_stage(&served);
	served_drive(&served);
	strcpy(number, answer_header(client_get(&served, "/snapshot.json"),
				     "Weir-Look"));
	served_advance(&served, 199999999);
	assert_string_equal(answer_header(client_get(&served, "/dot"),
					  "Weir-Look"),
			    number);
	served_advance(&served, 1);
	assert_string_not_equal(answer_header(client_get(&served, "/why"),
					      "Weir-Look"),
				number);
	assert_int_equal(close(fd), 0);
}

static void place_in_a_look_that_is_gone_is_refused(void **state)
{
	int fd = client_new(&served);
	char path[60];
	const char *got;

	served_stage(&served);
	served_drive(&served);
	got = client_get(&served, "/snapshot.json");
	(void)snprintf(path, sizeof(path), "/why?actor=0&look=%s",
		       answer_header(got, "Weir-Look"));
	/* however old it is */
	served_advance(&served, 1000000000);
	assert_int_equal(answer_status(client_get(&served, path)), 200);
	assert_int_equal(answer_status(client_get(&served, "/snapshot.json")),
			 200);
	assert_int_equal(answer_status(client_get(&served, path)), 410);
	assert_int_equal(close(fd), 0);
}

static void bad_arguments_are_refused(void **state)
{
	static const struct {
		const char *path;
		int status;
	} rows[] = {
		{"/why?actor=2", 404},
		{"/why?actor=18446744073709551614", 404},
		{"/why?actor=18446744073709551616", 400},
		{"/why?actor=-1", 400},
		{"/why?actor=", 400},
		{"/why?actor=1x", 400},
		{"/why?actor=+1", 400},
		{"/why?actor=0&look=x", 400},
		{"/why?actor=0&look=99", 410},
		{"/why?actor", 200}, /* no value, so none was given */
		{"/why?other=3", 200},
		{"/whys", 404},
		{"/../../etc/passwd", 404},
		{"/%2e", 404},
		{"//", 404},
	};
	size_t i;

	served_stage(&served);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(
			answer_status(client_get(&served, rows[i].path)),
			rows[i].status);
}

static void only_get_and_head_are_taken(void **state)
{
	static const char *const lines[] = {
		"POST /",  "PUT /why",	 "DELETE /snapshot.json", "OPTIONS *",
		"TRACE /", "PATCH /dot", "CONNECT localhost:80",  "get /",
		"BREW /",
	};
	const char *got;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		got = request(lines[i], "Host: localhost\r\n");
		assert_int_equal(answer_status(got), 405);
		assert_string_equal(answer_header(got, "Allow"), "GET, HEAD");
	}
	got = request("HEAD /", "Host: localhost\r\n");
	assert_int_equal(answer_status(got), 200);
	assert_string_equal(answer_body(got), "");
	assert_true(atoi(answer_header(got, "Content-Length")) > 0);
}

/* A page of another site is open in a browser on this machine. */
static void other_sites_get_nothing(void **state)
{
	static const struct {
		const char *path, *headers;
		int status;
	} rows[] = {
		/* its name points to this machine now */
		{"GET /snapshot.json", "Host: evil.example\r\n", 403},
		{"GET /", "Host: evil.example:8080\r\n", 403},
		{"GET /", "Host: 10.0.0.1\r\n", 403},
		{"GET http://evil.example/", "Host: evil.example\r\n", 403},
		{"GET /dot",
		 "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"GET /dot", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n",
		 403},
		{"GET /why",
		 "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
		 "Sec-Fetch-Mode: navigate\r\n",
		 403},
		{"GET /",
		 "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
		 "Sec-Fetch-Mode: no-cors\r\n",
		 403},
		/* a link to the page, or its own script */
		{"GET /",
		 "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
		 "Sec-Fetch-Mode: navigate\r\n",
		 200},
		{"GET /dot",
		 "Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", 200},
		{"GET /dot", "Host: [::1]:1\r\nSec-Fetch-Site: none\r\n", 200},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(
			answer_status(request(rows[i].path, rows[i].headers)),
			rows[i].status);
	/* HTTP/1.1 wants a host, and before it none was known */
	assert_int_equal(answer_status(request("GET /", "")), 400);
	assert_int_equal(
		answer_status(client_ask(&served, "GET / HTTP/1.0\r\n\r\n")),
		403);
}

static void connection_carries_several_requests(void **state)
{
	int fd = client_new(&served), i;

	for (i = 0; i < 3; i++) {
		client_text(&served, fd,
			    "GET /why HTTP/1.1\r\nHost: localhost\r\n\r\n");
		assert_int_equal(answer_status(client_answer(&served, fd)),
				 200);
	}
	assert_int_equal(close(fd), 0);
}

static void malformed_requests_close_their_connection(void **state)
{
	static const char *const texts[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
		"GET /\r\nHost\r\n\r\n",
		"\x16\x03\x01\x02\x01\x01\xfc\x03\x03", /* it speaks TLS */
		"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\n"
		"Content-Length: 99999999999999999999\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\n"
		"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"GET / HTTP/1.1\r\n: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	};
	size_t i;

	/* an end that comes with a text may be seen late */
	served.hurries = true;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		(void)client_ask(&served, texts[i]);
	assert_int_equal(answer_status(client_get(&served, "/why")), 200);
}

static void body_is_not_read(void **state)
{
	static char much[1 << 20];
	int fd = client_new(&served);
	const char *got;

	memset(much, 'a', sizeof(much));
	client_text(&served, fd,
		    "POST /why HTTP/1.1\r\nHost: localhost\r\n"
		    "Content-Length: 1000000000\r\n\r\n");
	got = client_rest(&served, fd);
	assert_int_equal(answer_status(got), 405);
	assert_int_equal(close(fd), 0);
	fd = client_new(&served);
	client_text(&served, fd,
		    "GET /why HTTP/1.1\r\nHost: localhost\r\n"
		    "Content-Length: 1000000000\r\n\r\n");
	client_send(&served, fd, much, sizeof(much));
	client_closed(&served, fd);
}

static void large_heads_are_refused(void **state)
{
	static char head[100000];
	int fd = client_new(&served);
	size_t n;

	n = (size_t)snprintf(head, sizeof(head),
			     "GET /why HTTP/1.1\r\nHost: localhost\r\nA: ");
	memset(head + n, 'a', sizeof(head) - n - 1);
	client_text(&served, fd, head);
	client_closed(&served, fd);
	/* a long path */
	memset(head, '/', sizeof(head) - 1);
	memcpy(head, "GET ", 4);
	fd = client_new(&served);
	client_text(&served, fd, head);
	client_closed(&served, fd);
	/* many small ones */
	for (n = 0; n + 4 < sizeof(head); n += 4)
		memcpy(head + n, "a:\r\n", 4);
	memcpy(head, "GET / HTTP/1.1\r\n", 16);
	fd = client_new(&served);
	client_text(&served, fd, head);
	client_closed(&served, fd);
	assert_int_equal(answer_status(client_get(&served, "/why")), 200);
}

static void random_bytes_do_no_harm(void **state)
{
	static const char good[] = "GET /why?actor=1&look=2 HTTP/1.1\r\n"
				   "Host: localhost\r\nSec-Fetch-Site: none\r\n"
				   "Connection: close\r\n\r\n";
	char bytes[sizeof(good)];
	size_t i, n;
	int fd;

	served.hurries = true;
	for_each_seed(seed, test_count(2000)) {
		srandom((unsigned int)seed);
		memcpy(bytes, good, sizeof(good));
		n = (size_t)random() % 8;
		for (i = 0; i < n; i++)
			bytes[(size_t)random() % (sizeof(good) - 1)] =
				(char)random();
		fd = client_new(&served);
		client_send(&served, fd, bytes,
			    (size_t)random() % sizeof(good));
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		client_closed(&served, fd);
	}
	assert_int_equal(answer_status(client_get(&served, "/why")), 200);
}

/* --- Another user --------------------------------------------------------- */

/* In a process of its own: 0: it cannot connect; or the status it gets. */
static int status_of_another_user(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char text[20] = "";
	int fd;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		_exit(1);
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		_exit(errno == EACCES ? 0 : 1);
	if (write(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 36) != 36 ||
	    read(fd, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(answer_status(text) / 100);
}

static int judge_another_user(const char *path)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		(void)status_of_another_user(path);
	while (waitpid(child, &status, WNOHANG) == 0)
		served_drive(&served);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void other_users_do_not_get_through_a_path(void **state)
{
	struct weir_inspect_http_options options = {0};
	char folder[] = "/tmp/weir-XXXXXX", path[64], text[80];

	if (geteuid() != 0)
		skip(); /* only root can be another user */
	served_end(&served);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	(void)snprintf(text, sizeof(text), "unix:%s", path);
	options.address = text;
	served_begin(&served, &sim, &options);
	assert_int_equal(judge_another_user(path), 0);
	/* even if somebody lets all connect */
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(judge_another_user(path), 403 / 100);
	assert_int_equal(answer_status(client_get(&served, "/why")), 200);
	assert_int_equal(weir_inspect_http_free(served.http), 0);
	served.http = NULL;
	assert_int_equal(rmdir(folder), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_path_has_its_type),
		TEST(what_is_said_is_what_the_library_says),
		TEST(server_itself_is_not_seen),
		TEST(who_asks_soon_after_gets_the_same_look),
		TEST(place_in_a_look_that_is_gone_is_refused),
		TEST(bad_arguments_are_refused),
		TEST(only_get_and_head_are_taken),
		TEST(other_sites_get_nothing),
		TEST(connection_carries_several_requests),
		TEST(malformed_requests_close_their_connection),
		TEST(body_is_not_read),
		TEST(large_heads_are_refused),
		TEST(random_bytes_do_no_harm),
		TEST(other_users_do_not_get_through_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
