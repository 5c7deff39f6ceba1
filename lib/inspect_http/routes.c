/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests and answers. Everything is a function of one snapshot, which is taken
 * when somebody asks and the last one is older than AGE_NS: so who asks often,
 * or many who ask at once, cost the program no more than that.
 */
#include "inspect_http/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/allocator.h>
#include <weir/executor.h>
#include <weir/sampler.h>

#include "inspect_http/page.h"

#define AGE_NS UINT64_C(200000000)

#define PLAIN "text/plain; charset=utf-8"

/* A text on its way. */
struct body {
	const struct weir_allocator *allocator;
	size_t size; /* of all of this */
	char bytes[];
};

/* What the answer to a request is made of. */
struct answer {
	struct weir__http_view *view;
	struct MHD_Connection *connection;
	unsigned int status;
	const char *type;
	const char *constant; /* its bytes; NULL: those of `body` */
	struct body *body;
	size_t n;
	bool is_look; /* it shows a look, which has a number */
	bool is_late; /* it comes when the connection goes on */
	bool is_head; /* only what is above it is asked for */
};

static void refuse(struct answer *answer, unsigned int status, const char *why)
{
	answer->status = status;
	answer->type = PLAIN;
	answer->constant = why;
	answer->n = strlen(why);
	answer->is_look = false;
}

/* --- Looks ---------------------------------------------------------------- */

void weir__http_view_forget(struct weir__http_view *view)
{
	weir_snapshot_free(view->snapshot);
	view->snapshot = NULL;
}

static int look(struct weir__http_view *view)
{
	uint64_t now_ns = weir_executor_now(view->clock);
	struct weir_snapshot *snapshot;
	int rc;

	if (view->snapshot && now_ns - view->at_ns < AGE_NS)
		return 0;
	rc = view->sampler ? weir_sampler_snapshot(view->sampler, &snapshot)
			   : weir_snapshot_new(&snapshot, view->executors,
					       view->n_executors, 0);
	if (rc < 0)
		return rc;
	weir__http_view_forget(view);
	view->snapshot = snapshot;
	view->at_ns = now_ns;
	view->number++;
	return 0;
}

/* --- Texts of a look ------------------------------------------------------ */

typedef size_t saying(const struct weir_snapshot *snapshot, size_t actor,
		      char *text, size_t n);

static size_t say_json(const struct weir_snapshot *snapshot, size_t actor,
		       char *text, size_t n)
{
	return weir_snapshot_json(snapshot, text, n);
}

static size_t say_dot(const struct weir_snapshot *snapshot, size_t actor,
		      char *text, size_t n)
{
	return weir_snapshot_dot(snapshot, text, n);
}

static size_t say_metrics(const struct weir_snapshot *snapshot, size_t actor,
			  char *text, size_t n)
{
	return weir_snapshot_prometheus(snapshot, text, n);
}

static struct body *body_new(const struct weir_allocator *allocator, size_t n)
{
	size_t size = sizeof(struct body) + n;
	struct body *body = allocator->alloc(size, allocator->context);

	if (body)
		*body = (struct body){.allocator = allocator, .size = size};
	return body;
}

static void body_free(void *context)
{
	struct body *body = context;

	body->allocator->free(body, body->size, body->allocator->context);
}

/* There is a look. */
static void tell(struct answer *answer, size_t actor, saying *say)
{
	const struct weir__http_view *view = answer->view;
	size_t n = say(view->snapshot, actor, NULL, 0);

	answer->body = body_new(view->allocator, n + 1);
	if (!answer->body) {
		refuse(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
		return;
	}
	answer->n = say(view->snapshot, actor, answer->body->bytes, n + 1);
	answer->is_look = true;
}

static void look_and_tell(struct answer *answer, saying *say)
{
	int rc = look(answer->view);

	if (rc < 0)
		refuse(answer, MHD_HTTP_SERVICE_UNAVAILABLE,
		       rc == -ENOMEM ? "no memory\n" : "cannot look\n");
	else
		tell(answer, WEIR_NOWHERE, say);
}

/* --- What is asked for ---------------------------------------------------- */

/* An argument that is a number; false: it is something else. *value stays as it
 * is if there is none. */
static bool number_of(const struct answer *answer, const char *name,
		      uint64_t *value)
{
	const char *text = MHD_lookup_connection_value(
		answer->connection, MHD_GET_ARGUMENT_KIND, name);
	char *end;

	if (!text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

/* Places in a look are known to who has that look. */
static void tell_why(struct answer *answer)
{
	const struct weir__http_view *view = answer->view;
	uint64_t actor = UINT64_MAX, number = 0;

	if (!number_of(answer, "actor", &actor) ||
	    !number_of(answer, "look", &number)) {
		refuse(answer, MHD_HTTP_BAD_REQUEST, "a number is wanted\n");
	} else if (actor == UINT64_MAX) {
		look_and_tell(answer, weir_snapshot_why_text);
	} else if (number > 0 && (!view->snapshot || view->number != number)) {
		refuse(answer, MHD_HTTP_GONE, "that look is gone\n");
	} else if (number == 0 && look(answer->view) < 0) {
		refuse(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "cannot look\n");
	} else if (actor >= view->snapshot->n_actors) {
		refuse(answer, MHD_HTTP_NOT_FOUND, "no such actor\n");
	} else {
		tell(answer, (size_t)actor, weir_snapshot_why_text);
	}
}

static void tell_page(struct answer *answer)
{
	answer->constant = weir__http_page;
	answer->n = weir__http_page_size;
}

static void tell_json(struct answer *answer)
{
	look_and_tell(answer, say_json);
}

static void tell_dot(struct answer *answer)
{
	look_and_tell(answer, say_dot);
}

static void tell_metrics(struct answer *answer)
{
	look_and_tell(answer, say_metrics);
}

static void record(struct answer *answer)
{
	struct weir__http_view *view = answer->view;
	uint64_t seconds = 1;
	int rc;

	if (!number_of(answer, "seconds", &seconds) || seconds == 0 ||
	    seconds > WEIR__HTTP_RECORDING_S_MAX) {
		refuse(answer, MHD_HTTP_BAD_REQUEST,
		       "a trace is of 1 to 60 seconds\n");
		return;
	}
	if (answer->is_head) {
		refuse(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "GET\n");
		return;
	}
	rc = weir__http_recording_begin(&view->recording, answer->connection,
					weir_executor_now(view->clock) +
						seconds * UINT64_C(1000000000),
					view->allocator);
	answer->is_late = rc == 0;
	if (rc == -EBUSY)
		refuse(answer, MHD_HTTP_CONFLICT,
		       "another trace records in this process\n");
	else if (rc < 0)
		refuse(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
}

static const struct {
	const char *path, *type;
	void (*tell)(struct answer *answer);
} pages[] = {
	{"/", "text/html; charset=utf-8", tell_page},
	{"/snapshot.json", "application/json", tell_json},
	{"/why", PLAIN, tell_why},
	{"/dot", "text/vnd.graphviz; charset=utf-8", tell_dot},
	{"/metrics", "text/plain; version=0.0.4; charset=utf-8", tell_metrics},
	{"/trace", "application/json", record},
};

static void find(struct answer *answer, const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		if (strcmp(pages[i].path, path) != 0)
			continue;
		answer->type = pages[i].type;
		pages[i].tell(answer);
		return;
	}
	refuse(answer, MHD_HTTP_NOT_FOUND,
	       "/ /snapshot.json /why /why?actor=N /dot /metrics "
	       "/trace?seconds=N\n");
}

/* --- Who asks ------------------------------------------------------------- */

static const char *header_of(const struct answer *answer, const char *name)
{
	return MHD_lookup_connection_value(answer->connection, MHD_HEADER_KIND,
					   name);
}

/* A browser says that another site has made it ask. A link to the page may stand
 * anywhere. */
static bool is_of_another_site(const struct answer *answer, const char *path)
{
	const char *site = header_of(answer, "Sec-Fetch-Site");
	const char *mode = header_of(answer, "Sec-Fetch-Mode");

	if (!site || strcmp(site, "same-origin") == 0 ||
	    strcmp(site, "none") == 0)
		return false;
	return !mode || strcmp(mode, "navigate") != 0 || strcmp(path, "/") != 0;
}

static void judge(struct answer *answer, const char *path, const char *method)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		answer->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (!info ||
	    !weir__loopback_may_look(answer->view->address, info->connect_fd))
		refuse(answer, MHD_HTTP_FORBIDDEN, "another user's program\n");
	else if (!weir__loopback_is_host(
			 header_of(answer, MHD_HTTP_HEADER_HOST)))
		refuse(answer, MHD_HTTP_FORBIDDEN, "the host is localhost\n");
	else if (is_of_another_site(answer, path))
		refuse(answer, MHD_HTTP_FORBIDDEN, "not for another site\n");
	else if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
		 strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		refuse(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	else
		find(answer, path);
}

/* --- Sending -------------------------------------------------------------- */

static struct MHD_Response *response_of(const struct answer *answer)
{
	struct MHD_Response *response;

	if (answer->constant)
		return MHD_create_response_from_buffer(
			answer->n, (void *)(uintptr_t)answer->constant,
			MHD_RESPMEM_PERSISTENT);
	response = MHD_create_response_from_buffer_with_free_callback_cls(
		answer->n, answer->body->bytes, body_free, answer->body);
	if (!response)
		body_free(answer->body);
	return response;
}

static bool put_headers(const struct answer *answer,
			struct MHD_Response *response)
{
	const char *const headers[][2] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, answer->type},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"Content-Security-Policy", weir__http_page_policy},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
	};
	char number[24];
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (MHD_add_response_header(response, headers[i][0],
					    headers[i][1]) != MHD_YES)
			return false;
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		return MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					       answer->is_head ? "GET"
							       : "GET, HEAD") ==
		       MHD_YES;
	if (!answer->is_look)
		return true;
	(void)snprintf(number, sizeof(number), "%" PRIu64,
		       answer->view->number);
	return MHD_add_response_header(response, "Weir-Look", number) ==
	       MHD_YES;
}

/* MHD_NO: there is no memory, and the connection is closed. The response may be
 * NULL; it is given up. */
static enum MHD_Result send_response(const struct answer *answer,
				     struct MHD_Response *response)
{
	enum MHD_Result rc = MHD_NO;

	if (!response)
		return MHD_NO;
	if (put_headers(answer, response))
		rc = MHD_queue_response(answer->connection, answer->status,
					response);
	MHD_destroy_response(response);
	return rc;
}

/* The time is over for which the connection was suspended. */
static enum MHD_Result send_recording(struct answer *answer)
{
	struct MHD_Response *response =
		weir__http_recording_take(&answer->view->recording);

	answer->type = "application/json";
	if (!response) {
		refuse(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
		response = response_of(answer);
	}
	return send_response(answer, response);
}

/* Its type is libmicrohttpd's.
 * NOLINTBEGIN(readability-non-const-parameter) */
enum MHD_Result weir__http_answer(void *context,
				  struct MHD_Connection *connection,
				  const char *path, const char *method,
				  const char *version, const char *upload,
				  size_t *n_upload, void **request)
/* NOLINTEND(readability-non-const-parameter) */
{
	static const char begun;
	struct answer answer = {
		.view = context,
		.connection = connection,
		.status = MHD_HTTP_OK,
		.is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0,
	};

	/* what is to be read comes with a body, for which there is no use */
	if (*n_upload > 0)
		return MHD_NO;
	/* once before the body: to refuse one without reading it */
	if (!*request && strcmp(method, MHD_HTTP_METHOD_GET) == 0) {
		*request = (void *)(uintptr_t)&begun;
		return MHD_YES;
	}
	if (weir__http_recording_is_of(&answer.view->recording, connection))
		return send_recording(&answer);
	judge(&answer, path, method);
	if (answer.is_late)
		return MHD_YES;
	return send_response(&answer, response_of(&answer));
}
