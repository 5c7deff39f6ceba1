/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server: an actor that waits for libmicrohttpd's epoll descriptor, and for
 * the time when a connection is late. Only its turns, and its end, touch the
 * daemon. The kernel tells of a descriptor of epoll's once, as of any other: so a
 * turn looks whether something is left before it waits.
 *
 * Who holds the object may stop the actor at any time, also when an end of the
 * executor has stopped it: `lock` keeps it from being released meanwhile, and
 * `ended` says that it may be.
 */
#include <weir/inspect_http.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <weir/actor.h>
#include <weir/allocator.h>
#include <weir/any.h>
#include <weir/completion.h>
#include <weir/delay.h>
#include <weir/fd.h>

#include "inspect_http/loopback.h"
#include "inspect_http/routes.h"

#define CONNECTIONS 16u
#define CONNECTIONS_MAX (1u << 16)
#define IDLE_NS UINT64_C(30000000000)
#define REQUEST_SIZE ((size_t)16 << 10) /* with what is kept of it */
#define RETRY_NS UINT64_C(100000000)

/* A connection, which has to be done with a request by then. */
struct guest {
	int fd; /* -1: none is here */
	uint64_t deadline_ns;
};

struct weir_inspect_http {
	struct weir_actor actor; /* first */
	struct weir_any any;
	struct weir_fd ready;
	struct weir_delay due;
	struct weir_completion over;
	pthread_mutex_t lock;
	bool ended; /* under the lock */
	/* constant */
	const struct weir_allocator *allocator;
	uint64_t idle_ns;
	size_t n_guests, n_executors;
	struct weir_executor **executors;
	struct weir__loopback address;
	/* the actor's */
	struct MHD_Daemon *daemon;
	int fd; /* the daemon's, of epoll; -1: none */
	struct guest *guests;
	size_t n_open;
	struct weir__http_view view;
};

static struct weir_inspect_http *of(struct weir_actor *actor)
{
	return (struct weir_inspect_http *)actor;
}

/* --- Connections ---------------------------------------------------------- */

static uint64_t deadline_after(const struct weir_inspect_http *self,
			       uint64_t from_ns)
{
	return self->idle_ns < WEIR_FOREVER - from_ns ? from_ns + self->idle_ns
						      : WEIR_FOREVER;
}

static uint64_t deadline_of(const struct weir_inspect_http *self)
{
	return deadline_after(self, weir_executor_now(self->actor.executor));
}

/* The daemon has no more connections than there are places. */
static struct guest *guest_new(struct weir_inspect_http *self, int fd)
{
	size_t i = 0;

	while (self->guests[i].fd >= 0)
		i++;
	self->guests[i] = (struct guest){fd, deadline_of(self)};
	self->n_open++;
	return &self->guests[i];
}

static void connected(void *context, struct MHD_Connection *connection,
		      void **socket, enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct weir_inspect_http *self = context;
	struct guest *guest = *socket;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket = guest_new(self, info->connect_fd);
	} else {
		guest->fd = -1;
		self->n_open--;
	}
}

static struct guest *guest_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info->socket_context;
}

static void answered(void *context, struct MHD_Connection *connection,
		     void **request, enum MHD_RequestTerminationCode code)
{
	struct weir_inspect_http *self = context;

	guest_of(connection)->deadline_ns = deadline_of(self);
	weir__http_recording_drop(&self->view.recording, connection);
}

/* The daemon sees that a connection is over, and closes it. Returns when the
 * next one is late. */
static uint64_t cut_off_late(struct weir_inspect_http *self)
{
	uint64_t now_ns = weir_executor_now(self->actor.executor);
	uint64_t next_ns = WEIR_FOREVER;
	size_t i, left = self->n_open;

	for (i = 0; left > 0; i++) {
		if (self->guests[i].fd < 0)
			continue;
		left--;
		if (self->guests[i].deadline_ns <= now_ns) {
			(void)shutdown(self->guests[i].fd, SHUT_RDWR);
			self->guests[i].deadline_ns = WEIR_FOREVER;
		} else if (self->guests[i].deadline_ns < next_ns) {
			next_ns = self->guests[i].deadline_ns;
		}
	}
	return next_ns;
}

/* Who waits for a trace is not late before it has ended. Returns when it does. */
static uint64_t wait_for_trace(struct weir_inspect_http *self)
{
	const struct weir__http_recording *recording = &self->view.recording;
	uint64_t until_ns = weir__http_recording_until(recording);

	if (until_ns != WEIR_FOREVER)
		guest_of(recording->connection)->deadline_ns =
			deadline_after(self, until_ns);
	return until_ns;
}

/* --- The actor ------------------------------------------------------------ */

static inline int turn(struct weir_actor *actor)
{
	struct weir_inspect_http *self = of(actor);
	struct pollfd polled = {.fd = self->fd, .events = POLLIN};
	uint64_t next_ns = weir_executor_now(actor->executor) + RETRY_NS;
	uint64_t traced_ns;
	MHD_UNSIGNED_LONG_LONG left_ms = 1;
	int rc;

	if (weir__http_recording_until(&self->view.recording) <=
	    weir_executor_now(actor->executor))
		weir__http_recording_end(&self->view.recording);
	if (MHD_run(self->daemon) != MHD_YES)
		return -EIO;
	traced_ns = wait_for_trace(self);
	if (self->n_open > 0)
		next_ns = cut_off_late(self);
	else
		weir__http_view_forget(&self->view);
	(void)MHD_get_timeout(self->daemon, &left_ms);
	/* what is left, or has come since */
	if (left_ms == 0 || poll(&polled, 1, 0) > 0) {
		/* but nobody could be accepted: no descriptor is free */
		if (self->n_open > 0)
			return 0;
	} else if (self->n_open == 0) {
		next_ns = WEIR_FOREVER;
	}
	rc = weir_fd_again(&self->ready);
	return rc < 0 ? rc
		      : weir_delay_until(&self->due, traced_ns < next_ns
							     ? traced_ns
							     : next_ns);
}
WEIR_TURN(turn)

static void close_all(struct weir_inspect_http *self)
{
	/* what is suspended could not be closed */
	weir__http_recording_end(&self->view.recording);
	if (self->daemon)
		MHD_stop_daemon(self->daemon);
	self->daemon = NULL;
	weir__loopback_forget(&self->address);
	weir__http_view_forget(&self->view);
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir_inspect_http *self = of(actor);

	close_all(self);
	(void)pthread_mutex_lock(&self->lock);
	self->ended = true;
	(void)pthread_mutex_unlock(&self->lock);
}

static void released(struct weir_actor *actor)
{
	(void)weir_completion_complete(&of(actor)->over, NULL);
}

/* The dot leaves it out of snapshots. */
static const struct weir_actor_ops ops = {
	.name = ".inspect_http",
	.turns = turn_n,
	.stopped = stopped,
	.released = released,
};

/* --- Making one ----------------------------------------------------------- */

static bool is_valid(const struct weir_inspect_http_options *options)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (options->reserved[i] != 0)
			return false;
	for (i = 0; options->executors && i < options->n_executors; i++)
		if (!options->executors[i])
			return false;
	return !options->executors == !options->n_executors &&
	       !(options->executors && options->sampler) &&
	       options->connections_max <= CONNECTIONS_MAX;
}

static void *alloc(struct weir_inspect_http *self, size_t n, size_t size)
{
	return self->allocator->alloc(n * size, self->allocator->context);
}

/* Nobody else knows it. */
static void destroy(struct weir_inspect_http *self)
{
	const struct weir_allocator *allocator = self->allocator;

	if (self->guests)
		allocator->free(self->guests,
				self->n_guests * sizeof(*self->guests),
				allocator->context);
	if (self->executors)
		allocator->free(self->executors,
				self->n_executors * sizeof(*self->executors),
				allocator->context);
	(void)pthread_mutex_destroy(&self->lock);
	allocator->free(self, sizeof(*self), allocator->context);
}

/* It is over. */
static int dispose(struct weir_inspect_http *self)
{
	int rc = weir_completion_fini(&self->over);

	if (rc == 0)
		destroy(self);
	return rc;
}

static struct weir_inspect_http *create(
	struct weir_executor *executor,
	const struct weir_inspect_http_options *options,
	const struct weir_allocator *allocator)
{
	struct weir_inspect_http *self;
	size_t i;

	self = allocator->alloc(sizeof(*self), allocator->context);
	if (!self)
		return NULL;
	*self = (struct weir_inspect_http){
		.allocator = allocator,
		.idle_ns = options->idle_ns ? options->idle_ns : IDLE_NS,
		.n_guests = options->connections_max ? options->connections_max
						     : CONNECTIONS,
		.n_executors = options->n_executors,
		.fd = -1,
	};
	(void)pthread_mutex_init(&self->lock, NULL);
	self->guests = alloc(self, self->n_guests, sizeof(*self->guests));
	if (self->n_executors > 0)
		self->executors = alloc(self, self->n_executors,
					sizeof(*self->executors));
	if (!self->guests || (self->n_executors > 0 && !self->executors)) {
		destroy(self);
		return NULL;
	}
	for (i = 0; i < self->n_guests; i++)
		self->guests[i].fd = -1;
	for (i = 0; i < self->n_executors; i++)
		self->executors[i] = options->executors[i];
	self->view = (struct weir__http_view){
		.allocator = allocator,
		.address = &self->address,
		.clock = executor,
		.executors = self->executors,
		.n_executors = self->n_executors,
		.sampler = options->sampler,
	};
	return self;
}

/* The socket is the daemon's from then on. */
static int start_daemon(struct weir_inspect_http *self)
{
	int fd = weir__loopback_listen(&self->address);
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, (intptr_t)self->n_guests, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_SIZE, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connected, self},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)answered, self},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	const union MHD_DaemonInfo *info;

	if (fd < 0)
		return fd;
	self->daemon =
		MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0,
				 NULL, NULL, weir__http_answer, &self->view,
				 MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (!self->daemon) {
		(void)close(fd);
		return -ENOMEM;
	}
	info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	self->fd = info->epoll_fd;
	return 0;
}

/* The actor is set up, and nobody else knows it yet. */
static int start(struct weir_inspect_http *self)
{
	int rc = start_daemon(self);

	if (rc == 0)
		rc = weir_any_init(&self->any, &self->actor);
	if (rc == 0)
		rc = weir_fd_init(&self->ready, &self->actor, self->fd, POLLIN);
	if (rc == 0)
		rc = weir_delay_init(&self->due, &self->actor);
	if (rc == 0)
		rc = weir_any_add(&self->any, &self->ready.port);
	if (rc == 0)
		rc = weir_any_add(&self->any, &self->due.port);
	return rc < 0 ? rc : weir_actor_start(&self->actor);
}

int weir_inspect_http_new(struct weir_inspect_http **http,
			  struct weir_executor *executor,
			  const struct weir_inspect_http_options *options,
			  const struct weir_allocator *allocator)
{
	static const struct weir_inspect_http_options none;
	struct weir__loopback address;
	struct weir_inspect_http *self;
	int rc;

	if (!http)
		return -EINVAL;
	*http = NULL;
	if (!options)
		options = &none;
	if (!executor || !is_valid(options))
		return -EINVAL;
	rc = weir__loopback_parse(&address, options->address ? options->address
							     : "127.0.0.1:0");
	if (rc < 0)
		return rc;
	self = create(executor, options,
		      allocator ? allocator : weir_allocator_default());
	if (!self)
		return -ENOMEM;
	self->address = address;
	(void)weir_completion_init(&self->over);
	(void)weir_actor_init(&self->actor, &ops, executor);
	rc = start(self);
	if (rc < 0) {
		/* it has not been started: it ends now */
		weir_actor_stop(&self->actor);
		(void)dispose(self);
		return rc;
	}
	*http = self;
	return 0;
}

/* --- Calls ---------------------------------------------------------------- */

const char *weir_inspect_http_address(const struct weir_inspect_http *http)
{
	return http ? http->address.text : NULL;
}

void weir_inspect_http_stop(struct weir_inspect_http *http)
{
	bool alive;

	if (!http)
		return;
	(void)pthread_mutex_lock(&http->lock);
	alive = !http->ended;
	if (alive)
		(void)weir_actor_ref(&http->actor);
	(void)pthread_mutex_unlock(&http->lock);
	if (!alive)
		return;
	weir_actor_stop(&http->actor);
	weir_actor_unref(&http->actor);
}

struct weir_completion *weir_inspect_http_over(struct weir_inspect_http *http)
{
	return http ? &http->over : NULL;
}

int weir_inspect_http_free(struct weir_inspect_http *http)
{
	int rc;

	if (!http)
		return 0;
	weir_inspect_http_stop(http);
	rc = weir_completion_wait(&http->over, WEIR_FOREVER);
	return rc < 0 ? rc : dispose(http);
}
