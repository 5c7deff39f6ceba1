/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connecting, as RFC 8305 has it: the addresses of a name are tried one after
 * the other, the families in turn. Each has STAGGER_NS before the next one is
 * tried beside it; one that fails lets the next begin at once. The first that
 * connects is taken, and the others are closed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "net/connection.h"
#include "net/lookup.h"

#define STAGGER_NS UINT64_C(250000000)
#define ADDRESSES 16u /* of a name; the others are not tried */
#define HOST_MAX 255u

struct connect_to {
	struct weir__address address; /* if `host` is empty */
	char host[HOST_MAX + 1];
	uint16_t port;
	struct weir_connect_options options;
};

struct candidate {
	const struct sockaddr *at;
	socklen_t length;
};

struct attempt {
	struct weir__op_fd wait;
	int fd; /* -1: it is over */
};

struct connecting {
	struct attempt attempts[ADDRESSES]; /* the first `next` have begun */
	struct weir__op_timer timer;
	struct candidate candidates[ADDRESSES];
	uint32_t n, next, active;
	bool begun;
	bool known;	      /* the candidates */
	uint64_t next_ns;     /* when the next one may begin */
	uint64_t deadline_ns; /* WEIR_FOREVER: none */
	int error;	      /* of the last that has failed */
	struct weir__lookup *lookup;
	struct weir_connection *spare; /* what will be emitted */
};

static void connect_fail(struct weir__op *op, int code, const char *message)
{
	const struct connect_to *args = weir__op_args(op);
	char text[WEIR_CONNECTION_ADDRESS_MAX] = "";
	struct weir_error *error;

	if (!args->host[0])
		(void)weir__address_format(&args->address, text, sizeof(text));
	error = weir__error_format(weir__op_allocator(op), code,
				   weir__op_name(op), "%s: %s",
				   args->host[0] ? args->host : text, message);
	weir__op_end(op, error);
	weir_error_unref(error);
}

static void attempt_end(struct weir__op *op, struct attempt *attempt)
{
	struct connecting *self = weir__op_state(op);

	if (attempt->fd < 0)
		return;
	weir__op_fd_off(&attempt->wait, op);
	(void)close(attempt->fd);
	attempt->fd = -1;
	self->active--;
}

static void connecting_close(struct weir__op *op)
{
	struct connecting *self = weir__op_state(op);
	uint32_t i;

	for (i = 0; i < self->next; i++)
		attempt_end(op, &self->attempts[i]);
	weir__op_timer_off(&self->timer);
	weir__lookup_leave(self->lookup);
	weir__connection_dealloc(self->spare);
	self->lookup = NULL;
	self->spare = NULL;
}

/* --- To what -------------------------------------------------------------- */

/* The next of that family, or of any other; NULL: none. */
static const struct addrinfo *next_of(const struct addrinfo *list, int family,
				      bool is)
{
	while (list && (list->ai_family == family) != is)
		list = list->ai_next;
	return list;
}

/* The families in turn: first that of the first. */
static void take_list(struct connecting *self, const struct addrinfo *list)
{
	int family = list->ai_family;
	const struct addrinfo *ways[2] = {list, next_of(list, family, false)};
	uint32_t way = 0;

	while (self->n < ADDRESSES && (ways[0] || ways[1])) {
		if (!ways[way])
			way = !way;
		self->candidates[self->n++] = (struct candidate){
			ways[way]->ai_addr, ways[way]->ai_addrlen};
		ways[way] = next_of(ways[way]->ai_next, family, way == 0);
		way = !way;
	}
	self->known = true;
}

static int begin(struct weir__op *op)
{
	const struct connect_to *args = weir__op_args(op);
	struct connecting *self = weir__op_state(op);

	self->begun = true;
	self->deadline_ns = WEIR_FOREVER;
	if (args->options.connect_ns)
		self->deadline_ns =
			weir__later(weir__op_now(op), args->options.connect_ns);
	/* so that what has connected can be kept */
	self->spare = weir__connection_alloc(&args->options.connection,
					     weir__op_allocator(op));
	if (!self->spare)
		return -ENOMEM;
	if (args->host[0])
		return weir__lookup_start(&self->lookup, op, args->host,
					  strlen(args->host), args->port);
	self->candidates[self->n++] =
		(struct candidate){&args->address.at.any, args->address.length};
	self->known = true;
	return 0;
}

static void hear(struct weir__op *op)
{
	struct connecting *self = weir__op_state(op);
	const struct addrinfo *list;
	const char *message;
	int code;

	if (self->known ||
	    !weir__lookup_done(self->lookup, &list, &code, &message))
		return;
	if (code < 0)
		connect_fail(op, code, message);
	else
		take_list(self, list);
}

/* --- Attempts ------------------------------------------------------------- */

/* 1: it is connected; 0: it will be, or not; a negative errno. */
static int attempt_begin(struct weir__op *op, struct attempt *attempt,
			 const struct candidate *to)
{
	const struct connect_to *args = weir__op_args(op);
	struct connecting *self = weir__op_state(op);
	int rc;

	attempt->fd = socket(to->at->sa_family,
			     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0)
		return -errno;
	self->active++;
	rc = weir__connection_set_up(attempt->fd, to->at->sa_family,
				     &args->options.connection);
	if (rc < 0)
		return rc;
	do
		rc = connect(attempt->fd, to->at, to->length);
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		return 1;
	if (errno != EINPROGRESS)
		return -errno;
	weir__op_fd_wait(&attempt->wait, op, attempt->fd, POLLOUT);
	return 0;
}

/* The same of one that had begun. */
static int attempt_look(struct attempt *attempt)
{
	socklen_t length = sizeof(int);
	int code = 0;

	if (weir__op_fd_armed(&attempt->wait))
		return 0;
	if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &code, &length) < 0)
		code = errno;
	return code ? -code : 1;
}

static void failed(struct weir__op *op, struct attempt *attempt, int code)
{
	struct connecting *self = weir__op_state(op);

	self->error = code;
	attempt_end(op, attempt);
	/* another one need not wait */
	self->next_ns = 0;
}

/* One that has connected, or NULL. */
static struct attempt *look_at_all(struct weir__op *op)
{
	struct connecting *self = weir__op_state(op);
	uint32_t i;
	int rc;

	for (i = 0; i < self->next; i++) {
		if (self->attempts[i].fd < 0)
			continue;
		rc = attempt_look(&self->attempts[i]);
		if (rc > 0)
			return &self->attempts[i];
		if (rc < 0)
			failed(op, &self->attempts[i], rc);
	}
	return NULL;
}

/* Begins those that are due. One that has connected at once, or NULL. */
static struct attempt *begin_more(struct weir__op *op)
{
	struct connecting *self = weir__op_state(op);
	struct attempt *attempt;
	int rc;

	while (self->next < self->n && !op->ended &&
	       (self->active == 0 || weir__op_now(op) >= self->next_ns)) {
		attempt = &self->attempts[self->next];
		rc = attempt_begin(op, attempt,
				   &self->candidates[self->next++]);
		if (rc > 0)
			return attempt;
		self->next_ns = weir__later(weir__op_now(op), STAGGER_NS);
		if (rc < 0)
			failed(op, attempt, rc);
	}
	return NULL;
}

static struct weir_connection *connected(struct weir__op *op,
					 struct attempt *attempt)
{
	struct connecting *self = weir__op_state(op);
	const struct candidate *to =
		&self->candidates[attempt - self->attempts];
	struct weir_connection *connection = self->spare;
	struct weir__address peer = {.fd = -1};

	weir__op_fd_off(&attempt->wait, op);
	if (to->length <= sizeof(peer.at))
		memcpy(&peer.at, to->at, to->length);
	weir__connection_over(connection, attempt->fd, &peer);
	attempt->fd = -1;
	self->active--;
	self->spare = NULL;
	weir__op_end(op, NULL);
	return connection;
}

/* Nothing has connected yet. */
static void connect_wait(struct weir__op *op)
{
	struct connecting *self = weir__op_state(op);
	uint64_t at_ns = self->deadline_ns;
	int rc = 0;

	if (weir__op_now(op) >= self->deadline_ns) {
		connect_fail(op, -ETIMEDOUT, "not connected in time");
		return;
	}
	if (self->known && self->active == 0 && self->next == self->n) {
		connect_fail(op, self->error, weir_strerror(self->error));
		return;
	}
	if (self->active > 0 && self->next < self->n && self->next_ns < at_ns)
		at_ns = self->next_ns;
	if (at_ns != WEIR_FOREVER)
		rc = weir__op_timer_at(&self->timer, op, at_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static size_t connecting_pull(struct weir__op *op, void **items, size_t room)
{
	struct connecting *self = weir__op_state(op);
	struct attempt *found;
	int rc = 0;

	if (room == 0)
		return 0;
	if (!self->begun)
		rc = begin(op);
	if (rc < 0)
		connect_fail(op, rc, weir_strerror(rc));
	else
		hear(op);
	if (op->ended)
		return 0;
	found = look_at_all(op);
	if (!found)
		found = begin_more(op);
	if (found) {
		items[0] = connected(op, found);
		return 1;
	}
	if (!op->ended)
		connect_wait(op);
	return 0;
}

static const struct weir_items *gives_one(const struct weir_flow *flow)
{
	return weir_connection_items();
}

static const struct weir__kind connect_kind = {
	.name = "connect",
	.state_size = sizeof(struct connecting),
	.items = gives_one,
	.pull = connecting_pull,
	.close = connecting_close,
	.keeps = offsetof(struct connecting, candidates),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

/* 0, or -EINVAL. */
static int parse(struct connect_to *args, const char *address)
{
	size_t n;

	if (!address)
		return -EINVAL;
	if (weir__address_parse(&args->address, address) == 0)
		return args->address.fd >= 0 ? -EINVAL : 0;
	/* an address that is none, and no name either */
	if (address[0] == '[' || strncmp(address, "unix:", 5) == 0 ||
	    strncmp(address, "fd:", 3) == 0 ||
	    weir__address_split(address, &n, &args->port) < 0 || n > HOST_MAX ||
	    memchr(address, ':', n))
		return -EINVAL;
	memcpy(args->host, address, n);
	return 0;
}

struct weir_flow *weir_flow_connect(const char *address,
				    const struct weir_connect_options *options)
{
	const struct weir__kind *kind = &connect_kind;
	struct connect_to args = {.address.fd = -1};
	int rc = parse(&args, address);
	struct weir_flow *flow;
	bool known;

	known = !options || (weir__reserved_zero(options->reserved) &&
			     weir__connection_valid(&options->connection));
	if (options && known)
		args.options = *options;
	flow = weir__flow_source(kind, &args, sizeof(args), rc == 0 && known);
	if (rc == 0)
		return weir__flow_wrong_as(
			flow, kind,
			known ? NULL : "options are not known here");
	return weir__flow_wrong(flow, kind, "%.60s is no address to connect to",
				address ? address : "NULL");
}
