/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread listens, reads a line from each client, and sends what
 * weir__answer() makes of it. It sleeps in poll() and has nothing to do while
 * nobody asks; after some questions it goes on looking for a while: onlooker.h.
 * An answer is whole before its first byte is sent, so a client that reads slowly
 * holds nothing of the program up. One that has asked for a trace has it recorded
 * meanwhile, until its time is over or it goes; the process has one trace, so
 * there is one such client at a time.
 *
 * CLIENTS are served at a time, and others wait in the kernel. One that has
 * neither sent its line, nor taken a part of the answer, for PATIENCE_NS is
 * hung up on, so these are no longer in the way.
 */
#include <weir/inspector.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ck_pr.h>

#include <weir/trace.h>

#include "base/clock.h"
#include "base/forkmark.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/own_thread.h"
#include "executor/living.h"
#include "inspect/answer.h"
#include "inspect/inspector.h"
#include "inspect/socket_path.h"
#include "inspect/onlooker.h"
#include "inspect/trace_answer.h"

#define CLIENTS 4u
#define RETRY_MS 50

/* For tests, which have less. */
uint64_t weir__inspector_patience_ns = 5 * WEIR__SECOND;

struct client {
	int fd; /* -1: free */
	uint64_t until_ns;
	size_t n_read, n_sent;
	char line[WEIR__REQUEST_MAX + 1];
	struct weir__answer answer; /* no text: its line is not whole, or */
	struct weir_trace *trace;   /* records until then; NULL: none */
};

struct weir_inspector {
	const struct weir_allocator *allocator;
	pid_t made_by;
	struct sockaddr_un address;
	int listener, stop; /* stop: readable when the thread is to end */
	pthread_t thread;
	/* the thread's */
	struct client clients[CLIENTS];
	struct weir__onlooker onlooker;
};

/* --- Clients -------------------------------------------------------------- */

/* A child of the process may have the descriptor, too. */
static void hang_up(struct weir_inspector *self, struct client *client)
{
	weir_trace_free(client->trace);
	weir__free(self->allocator, client->answer.text, client->answer.size);
	(void)shutdown(client->fd, SHUT_RDWR);
	(void)close(client->fd);
	*client = (struct client){.fd = -1};
}

/* Its user, as it was when it connected. */
static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	return peer.uid == 0 || peer.uid == geteuid();
}

static void begin(struct client *client, int fd)
{
	*client = (struct client){
		.fd = fd,
		.until_ns = weir__clock_after(weir__clock_ns(),
					      weir__inspector_patience_ns),
	};
}

static void let_in(struct weir_inspector *self)
{
	int fd = accept4(self->listener, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i;

	if (fd < 0) {
		/* no descriptor is left: it would be told of at once, again */
		if (errno != EAGAIN && errno != ECONNABORTED)
			(void)poll(NULL, 0, RETRY_MS);
		return;
	}
	for (i = 0; i < CLIENTS && self->clients[i].fd >= 0; i++)
		;
	if (i < CLIENTS && may_ask(fd))
		begin(&self->clients[i], fd);
	else
		(void)close(fd);
}

/* Sends what there is room for, and hangs up behind the end. */
static void send_some(struct weir_inspector *self, struct client *client)
{
	const struct weir__answer *answer = &client->answer;
	ssize_t n;

	while (client->n_sent < answer->n) {
		n = send(client->fd, answer->text + client->n_sent,
			 answer->n - client->n_sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break;
		client->n_sent += (size_t)n;
		client->until_ns = weir__clock_after(
			weir__clock_ns(), weir__inspector_patience_ns);
	}
	hang_up(self, client);
}

/* There is an answer, or no memory for one. */
static void begin_to_send(struct weir_inspector *self, struct client *client,
			  int rc)
{
	if (rc < 0)
		hang_up(self, client);
	else
		send_some(self, client);
}

static void answer_with(struct weir_inspector *self, struct client *client,
			const char *text)
{
	begin_to_send(self, client,
		      weir__answer_text(text, self->allocator,
					&client->answer));
}

static void begin_trace(struct weir_inspector *self, struct client *client,
			uint64_t ns)
{
	int rc = weir_trace_new(&client->trace, NULL, self->allocator);

	if (rc == 0)
		client->until_ns = weir__clock_after(weir__clock_ns(), ns);
	else if (rc == -EBUSY)
		answer_with(self, client,
			    "error: another trace records in this process\n");
	else
		hang_up(self, client);
}

/* Its time is over. */
static void end_trace(struct weir_inspector *self, struct client *client)
{
	int rc = weir__trace_answer(client->trace, self->allocator,
				    &client->answer);

	weir_trace_free(client->trace);
	client->trace = NULL;
	client->until_ns = weir__clock_after(weir__clock_ns(),
					     weir__inspector_patience_ns);
	begin_to_send(self, client, rc);
}

static void answer_line(struct weir_inspector *self, struct client *client)
{
	uint64_t ns;
	int rc = weir__trace_asked(client->line, &ns);

	if (rc == 0)
		begin_trace(self, client, ns);
	else if (rc == -EINVAL)
		answer_with(self, client,
			    "error: a trace is of more than 0 and at most 60 "
			    "seconds\n");
	else
		begin_to_send(self, client,
			      weir__answer(client->line, &self->onlooker,
					   self->allocator, &client->answer));
}

/* A line ends at a newline, or where nothing more comes. */
static void read_some(struct weir_inspector *self, struct client *client)
{
	size_t left = sizeof(client->line) - client->n_read;
	char *to = client->line + client->n_read, *end;
	ssize_t n = recv(client->fd, to, left, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || (n == 0 && client->n_read == 0)) {
		hang_up(self, client);
		return;
	}
	end = n ? memchr(to, '\n', (size_t)n) : to;
	client->n_read += (size_t)n;
	if (end) {
		*end = '\0';
		answer_line(self, client);
	} else if (client->n_read == sizeof(client->line)) {
		answer_with(self, client, "error: the line is too long\n");
	}
}

static void serve(struct weir_inspector *self, struct client *client,
		  short events)
{
	if (events && client->answer.text)
		send_some(self, client);
	else if (events && !client->trace)
		read_some(self, client);
	else if (!events && weir__clock_ns() < client->until_ns)
		return;
	else if (!events && client->trace)
		end_trace(self, client);
	else
		hang_up(self, client); /* it is late, or has gone */
}

/* --- The thread ----------------------------------------------------------- */

enum { STOP, LISTENER, FIRST };

/* How long until the first client has waited for too long, or the next look is
 * due; -1: there is none. */
static int patience(const struct weir_inspector *self)
{
	uint64_t now_ns = weir__clock_ns(), left;
	uint64_t least = weir__onlooker_left_ns(&self->onlooker, now_ns);
	size_t i;

	for (i = 0; i < CLIENTS; i++) {
		if (self->clients[i].fd < 0)
			continue;
		left = self->clients[i].until_ns > now_ns
			       ? self->clients[i].until_ns - now_ns
			       : 0;
		if (left < least)
			least = left;
	}
	/* rounded up: then its time is over */
	return least == UINT64_MAX ? -1 : (int)(least / 1000000u) + 1;
}

static short events_of(const struct client *client)
{
	if (client->trace)
		return 0;
	return client->answer.text ? POLLOUT : POLLIN;
}

static void fill(const struct weir_inspector *self, struct pollfd *polled)
{
	bool is_room = false;
	size_t i;

	for (i = 0; i < CLIENTS; i++) {
		const struct client *client = &self->clients[i];

		is_room |= client->fd < 0;
		polled[FIRST + i] = (struct pollfd){
			.fd = client->fd,
			.events = events_of(client),
		};
	}
	polled[STOP] = (struct pollfd){.fd = self->stop, .events = POLLIN};
	polled[LISTENER] = (struct pollfd){.fd = is_room ? self->listener : -1,
					   .events = POLLIN};
}

static void *run(void *context)
{
	struct weir_inspector *self = context;
	struct pollfd polled[FIRST + CLIENTS];
	size_t i;

	for (;;) {
		fill(self, polled);
		if (poll(polled, FIRST + CLIENTS, patience(self)) < 0)
			continue;
		if (polled[STOP].revents)
			break;
		for (i = 0; i < CLIENTS; i++)
			if (self->clients[i].fd >= 0)
				serve(self, &self->clients[i],
				      polled[FIRST + i].revents);
		if (polled[LISTENER].revents)
			let_in(self);
		weir__onlooker_step(&self->onlooker, weir__clock_ns());
	}
	weir__onlooker_fini(&self->onlooker);
	for (i = 0; i < CLIENTS; i++)
		if (self->clients[i].fd >= 0)
			hang_up(self, &self->clients[i]);
	(void)shutdown(self->listener, SHUT_RDWR);
	return NULL;
}

/* --- Beginning and end ---------------------------------------------------- */

static int set_path(struct weir_inspector *self, const char *path)
{
	return path ? weir__socket_path_set(&self->address, path)
		    : weir__socket_path_default(&self->address);
}

/* Whatever goes wrong, stop_listening() takes it back. */
static int start_listening(struct weir_inspector *self)
{
	int rc;

	self->stop = eventfd(0, EFD_CLOEXEC);
	self->listener =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (self->stop < 0 || self->listener < 0)
		return -errno;
	rc = weir__socket_path_bind(self->listener, &self->address);
	if (rc < 0)
		return rc;
	rc = listen(self->listener, CLIENTS) < 0 ? -errno : 0;
	if (rc == 0)
		rc = weir__own_thread_start(&self->thread, "weir-inspect", run,
					    self);
	if (rc < 0)
		(void)unlink(self->address.sun_path);
	return rc;
}

static void release(struct weir_inspector *self)
{
	size_t i;

	/* there are some in a child */
	for (i = 0; i < CLIENTS; i++) {
		weir_trace_free(self->clients[i].trace);
		if (self->clients[i].fd >= 0)
			(void)close(self->clients[i].fd);
	}
	if (self->stop >= 0)
		(void)close(self->stop);
	if (self->listener >= 0)
		(void)close(self->listener);
	weir__free(self->allocator, self, sizeof(*self));
}

int weir_inspector_new(struct weir_inspector **inspector,
		       const struct weir_inspector_options *options,
		       const struct weir_allocator *allocator)
{
	static const struct weir_inspector_options defaults;
	struct weir_inspector *made;
	size_t i;
	int rc;

	if (!inspector)
		return -EINVAL;
	*inspector = NULL;
	if (!options)
		options = &defaults;
	if (!weir__reserved_zero(options->reserved))
		return -EINVAL;
	if (!allocator)
		allocator = weir_allocator_default();
	made = weir__alloc(allocator, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->allocator = allocator;
	made->made_by = getpid();
	made->stop = made->listener = -1;
	for (i = 0; i < CLIENTS; i++)
		made->clients[i].fd = -1;
	rc = set_path(made, options->path);
	if (rc == 0)
		rc = start_listening(made);
	if (rc < 0) {
		release(made);
		return rc;
	}
	*inspector = made;
	return 0;
}

const char *weir_inspector_path(const struct weir_inspector *inspector)
{
	return inspector->address.sun_path;
}

void weir_inspector_free(struct weir_inspector *inspector)
{
	const uint64_t one = 1;

	if (!inspector)
		return;
	if (!weir__forked_since(inspector->made_by)) {
		weir__not_refused(write(inspector->stop, &one, sizeof(one)) < 0
					  ? -errno
					  : 0);
		(void)pthread_join(inspector->thread, NULL);
		(void)unlink(inspector->address.sun_path);
	}
	release(inspector);
}

/* --- By itself: lib/executor/living.h ------------------------------------- */

/* Of this process; in a child, the parent's. */
static struct weir_inspector *automatic;

static void end_automatic(void)
{
	weir_inspector_free(automatic);
	automatic = NULL;
}

/*
 * Of the process, or of the library. A process that ends while actors run, which
 * may have what is on the stack of its main(), is not held up.
 */
static __attribute__((destructor)) void end(void)
{
	struct weir_executor *none[1];

	if (automatic && weir__living_hold(none, 0) > 0 &&
	    !weir__forked_since(automatic->made_by))
		(void)unlink(automatic->address.sun_path);
	else
		end_automatic();
}

void weir__inspector_begin(void)
{
	const char *value = secure_getenv("WEIR_INSPECT");
	struct weir_inspector_options options = {0};

	end_automatic();
	if (!value || !*value || strcmp(value, "0") == 0)
		return;
	if (strcmp(value, "1") != 0)
		options.path = value;
	/* a program goes on without it */
	if (weir_inspector_new(&automatic, &options, NULL) < 0)
		automatic = NULL;
}
