/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the page share: a server on an executor of any kind, and
 * clients that are plain sockets of the test. The executor is driven while a
 * client waits.
 */
#ifndef WEIR_TEST_INSPECT_HTTP_KIT_H
#define WEIR_TEST_INSPECT_HTTP_KIT_H

#include "executor/places.h"
#include "kit/descriptors.h"

#include <weir/inspect_http.h>

struct served {
	struct place place;
	struct descriptors before;
	struct weir_inspect_http *http;
	bool hurries; /* of a simulator: time goes by while a client waits */
	/* a flow that waits for a permit, if it was staged */
	struct weir_semaphore permits;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

extern const struct kind *const served_kinds[4];
#define for_each_served(kind) \
	for (const struct kind *const *kind = served_kinds; \
	     kind < served_kinds + 4; kind++)

void served_begin(struct served *served, const struct kind *kind,
		  const struct weir_inspect_http_options *options);
/* "slow" waits for a permit, and holds up "fast". */
void served_stage(struct served *served);
void served_drive(struct served *served);
/* Of a simulator: time goes by. */
void served_advance(struct served *served, uint64_t ns);
/* All is freed, and no descriptor is left. */
void served_end(struct served *served);

/* A client that is connected, and does not block; or -1: nobody listens. */
int client_try(const struct served *served);
int client_new(const struct served *served);
void client_send(struct served *served, int fd, const void *bytes, size_t n);
void client_text(struct served *served, int fd, const char *text);
/* One answer, with its head; or all that comes to the end of the connection.
 * Until the next call. */
const char *client_answer(struct served *served, int fd);
const char *client_rest(struct served *served, int fd);
/* The server closes it, whatever it sends before. */
void client_closed(struct served *served, int fd);

/* The answer to that text on a connection of its own. */
const char *client_ask(struct served *served, const char *text);
/* The same to "GET `path`" of localhost; the answer's head is checked. */
const char *client_get(struct served *served, const char *path);

/* Of an answer: its status; what is behind its head; a header's value, "" if there
 * is none, until the next call. */
int answer_status(const char *answer);
const char *answer_body(const char *answer);
const char *answer_header(const char *answer, const char *name);

#endif
