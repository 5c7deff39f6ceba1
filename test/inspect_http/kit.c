/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect_http/kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const struct kind *const served_kinds[4] = {&loop, &threads, &blocking, &sim};

static char answer[1 << 20];

void served_begin(struct served *served, const struct kind *kind,
		  const struct weir_inspect_http_options *options)
{
	memset(served, 0, sizeof(*served));
	descriptors_note(&served->before);
	place_make(&served->place, kind);
	assert_int_equal(weir_inspect_http_new(&served->http,
					       served->place.executor, options,
					       NULL),
			 0);
}

void served_stage(struct served *served)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);

	assert_int_equal(weir_semaphore_init(&served->permits, 0), 0);
	flow = weir_flow_async(weir_flow_name(flow, "fast"), 16, NULL);
	flow = weir_flow_name(weir_flow_acquire(flow, &served->permits),
			      "slow");
	served->flow = weir_flow_ignore(flow);
	assert_int_equal(weir_flow_start(served->flow, served->place.executor,
					 NULL, &served->run),
			 0);
}

void served_advance(struct served *served, uint64_t ns)
{
	(void)weir_sim_run_until(served->place.sim,
				 weir_executor_now(served->place.executor) + ns,
				 100000);
}

void served_drive(struct served *served)
{
	if (served->place.kind->has_threads)
		(void)sched_yield();
	else if (served->hurries)
		served_advance(served, UINT64_C(10000000000));
	else if (served->place.sim) /* the clock stands still */
		(void)weir_sim_run_until(
			served->place.sim,
			weir_executor_now(served->place.executor), 100000);
	else
		served->place.kind->drive(&served->place);
}

void served_end(struct served *served)
{
	if (served->run) {
		weir_flow_run_stop(served->run, NULL);
		assert_int_equal(weir_flow_run_wait(served->run, WEIR_FOREVER,
						    NULL, NULL),
				 0);
		weir_flow_run_free(served->run);
		weir_flow_free(served->flow);
		assert_int_equal(weir_semaphore_fini(&served->permits), 0);
	}
	assert_int_equal(weir_inspect_http_free(served->http), 0);
	assert_int_equal(served->place.kind->free(&served->place), 0);
	descriptors_check(&served->before);
}

/* --- Clients -------------------------------------------------------------- */

int client_try(const struct served *served)
{
	const char *text = weir_inspect_http_address(served->http);
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	bool is_path = strncmp(text, "unix:", 5) == 0;
	int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
			0);
	int rc;

	assert_true(fd >= 0);
	if (is_path) {
		strcpy(un.sun_path, text + 5);
		rc = connect(fd, (struct sockaddr *)&un, sizeof(un));
	} else {
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		in.sin_port = htons((uint16_t)atoi(strchr(text, ':') + 1));
		rc = connect(fd, (struct sockaddr *)&in, sizeof(in));
	}
	if (rc < 0) {
		assert_int_equal(close(fd), 0);
		return -1;
	}
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

int client_new(const struct served *served)
{
	int fd = client_try(served);

	assert_true(fd >= 0);
	return fd;
}

/* Bytes, 0 at the end or a reset. */
static size_t read_some(struct served *served, int fd, char *to, size_t n)
{
	ssize_t rc;

	while ((rc = recv(fd, to, n, 0)) < 0 && errno == EAGAIN)
		served_drive(served);
	if (rc < 0)
		assert_true(errno == ECONNRESET || errno == EPIPE);
	return rc > 0 ? (size_t)rc : 0;
}

void client_send(struct served *served, int fd, const void *bytes, size_t n)
{
	const char *at = bytes;
	ssize_t rc;

	while (n > 0) {
		rc = send(fd, at, n, MSG_NOSIGNAL);
		if (rc > 0) {
			at += rc;
			n -= (size_t)rc;
		} else if (errno == EAGAIN) {
			served_drive(served);
		} else {
			return; /* it was closed, which its reader sees */
		}
	}
}

void client_text(struct served *served, int fd, const char *text)
{
	client_send(served, fd, text, strlen(text));
}

const char *client_rest(struct served *served, int fd)
{
	size_t n = 0, got;

	while ((got = read_some(served, fd, answer + n,
				sizeof(answer) - 1 - n)) > 0)
		n += got;
	answer[n] = '\0';
	return answer;
}

const char *client_answer(struct served *served, int fd)
{
	size_t n = 0, got, size = 0;
	char *end = NULL;

	while (!end || n < size) {
		got = read_some(served, fd, answer + n, sizeof(answer) - 1 - n);
		assert_true(got > 0);
		n += got;
		answer[n] = '\0';
		end = strstr(answer, "\r\n\r\n");
		if (end)
			size = (size_t)(end + 4 - answer) +
			       strtoul(answer_header(answer, "Content-Length"),
				       NULL, 10);
	}
	assert_int_equal(n, size);
	return answer;
}

void client_closed(struct served *served, int fd)
{
	while (read_some(served, fd, answer, sizeof(answer)) > 0)
		;
	assert_int_equal(close(fd), 0);
}

const char *client_ask(struct served *served, const char *text)
{
	int fd = client_new(served);

	client_text(served, fd, text);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	(void)client_rest(served, fd);
	assert_int_equal(close(fd), 0);
	return answer;
}

const char *client_get(struct served *served, const char *path)
{
	static const char *const heads[][2] = {
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Access-Control-Allow-Origin", ""},
	};
	char text[200];
	size_t i;

	(void)snprintf(text, sizeof(text),
		       "GET %s HTTP/1.1\r\nHost: localhost\r\n"
		       "Connection: close\r\n\r\n",
		       path);
	(void)client_ask(served, text);
	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		assert_string_equal(answer_header(answer, heads[i][0]),
				    heads[i][1]);
	assert_non_null(strstr(answer_header(answer, "Content-Security-Policy"),
			       "default-src 'none'; script-src 'sha256-"));
	return answer;
}

/* --- Answers -------------------------------------------------------------- */

int answer_status(const char *of)
{
	int status = 0;

	(void)sscanf(of, "HTTP/1.1 %d ", &status);
	return status;
}

const char *answer_body(const char *of)
{
	const char *end = strstr(of, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

const char *answer_header(const char *of, const char *name)
{
	static char value[600];
	size_t n = strlen(name);
	const char *line;

	for (line = strstr(of, "\r\n"); line && strncmp(line, "\r\n\r\n", 4);
	     line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, name, n) == 0 &&
		    strncmp(line + 2 + n, ": ", 2) == 0) {
			(void)sscanf(line + 4 + n, "%599[^\r]", value);
			return value;
		}
	return "";
}
