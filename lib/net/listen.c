/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listening. When there is no descriptor left, the one that was kept back is
 * given for one connection more; then the operator pauses, and looks again by a
 * timer: a watch would fire at once, again and again, as connections wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "net/connection.h"

#define PAUSE_NS UINT64_C(20000000)
#define RETRY_NS UINT64_C(60000000000)

struct listen_at {
	struct weir__address address;
	struct weir_listen_options options;
};

struct listening {
	struct weir__op_fd wait; /* must be first */
	struct weir__op_timer timer;
	int fd;
	int kept_back;		       /* a descriptor, or -1 */
	dev_t device;		       /* of the path that it has made */
	ino_t inode;		       /* 0: none */
	uint64_t pause_end_ns;	       /* 0: it does not pause */
	uint64_t until_ns;	       /* it fails, if there is no descriptor */
	struct weir_connection *spare; /* the next one to be accepted */
};

/* --- The socket ----------------------------------------------------------- */

/* Or looks again after a pause. */
static void keep_back(struct weir__op *op)
{
	struct listening *self = weir__op_state(op);

	if (self->kept_back < 0)
		self->kept_back = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (self->kept_back < 0)
		(void)weir__op_timer_at(&self->timer, op,
					weir__later(weir__op_now(op),
						    PAUSE_NS));
}

static void note_path(struct listening *self,
		      const struct weir__address *address)
{
	struct stat status;

	if (address->at.any.sa_family != AF_UNIX ||
	    address->at.un.sun_path[0] == '\0' ||
	    lstat(address->at.un.sun_path, &status) < 0)
		return;
	self->device = status.st_dev;
	self->inode = status.st_ino;
}

/* The path is left alone if another one has taken its place. */
static void remove_path(struct listening *self,
			const struct weir__address *address)
{
	struct stat status;

	if (self->inode && lstat(address->at.un.sun_path, &status) == 0 &&
	    status.st_dev == self->device && status.st_ino == self->inode)
		(void)unlink(address->at.un.sun_path);
	self->inode = 0;
}

static int set_flag(int fd, int name)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, name, &on, sizeof(on)) < 0 ? -errno
								     : 0;
}

static int bind_new(struct listening *self, const struct listen_at *args)
{
	const struct weir__address *address = &args->address;
	int family = address->at.any.sa_family, rc = 0;

	self->fd =
		socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (self->fd < 0)
		return -errno;
	if (family != AF_UNIX)
		rc = set_flag(self->fd, SO_REUSEADDR);
	if (rc == 0 && args->options.reuse_port)
		rc = set_flag(self->fd, SO_REUSEPORT);
	if (rc == 0)
		rc = weir__connection_set_up(self->fd, family,
					     &args->options.connection);
	if (rc < 0)
		return rc;
	if (bind(self->fd, &address->at.any, address->length) < 0)
		return -errno;
	note_path(self, address);
	return listen(self->fd, (int)args->options.backlog) < 0 ? -errno : 0;
}

/* A socket that the process was started with. */
static int take_given(struct listening *self, const struct listen_at *args)
{
	int fd = args->address.fd, flags = fcntl(fd, F_GETFL), listens = 0;
	socklen_t length = sizeof(listens);
	struct weir__address own;
	int rc;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) < 0)
		return -errno;
	rc = listens ? weir__address_of(&own, fd, false) : -EINVAL;
	if (rc == 0)
		rc = weir__connection_set_up(fd, own.at.any.sa_family,
					     &args->options.connection);
	if (rc < 0)
		return rc;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	self->fd = fd;
	return 0;
}

static int tell_address(const struct listening *self,
			const struct weir_listen_options *options)
{
	char text[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir__address own;
	int rc;

	if (!options->listens)
		return 0;
	rc = weir__address_of(&own, self->fd, false);
	if (rc == 0)
		rc = weir__address_format(&own, text, sizeof(text));
	if (rc == 0)
		options->listens(text, options->context);
	return rc;
}

static void listening_close(struct weir__op *op)
{
	const struct listen_at *args = weir__op_args(op);
	struct listening *self = weir__op_state(op);

	weir__op_fd_off(&self->wait, op);
	weir__op_timer_off(&self->timer);
	if (self->fd >= 0 && self->fd != args->address.fd) {
		remove_path(self, &args->address);
		(void)close(self->fd);
	}
	if (self->kept_back >= 0)
		(void)close(self->kept_back);
	weir__connection_dealloc(self->spare);
	self->spare = NULL;
	self->fd = self->kept_back = -1;
}

static int listening_open(struct weir__op *op)
{
	const struct listen_at *args = weir__op_args(op);
	struct listening *self = weir__op_state(op);
	int rc;

	self->fd = self->kept_back = -1;
	rc = args->address.fd >= 0 ? take_given(self, args)
				   : bind_new(self, args);
	if (rc == 0)
		rc = tell_address(self, &args->options);
	if (rc < 0)
		listening_close(op);
	return rc;
}

/* --- Accepting ------------------------------------------------------------ */

/* Errors of the connection, which the kernel tells here: accept(2). */
static bool concerns_one(int code)
{
	switch (code) {
	case EINTR:
	case ECONNABORTED:
	case EPERM: /* a firewall */
	case ENETDOWN:
	case EPROTO:
	case ENOPROTOOPT:
	case EHOSTDOWN:
	case ENONET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

static bool lacks(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOBUFS ||
	       code == ENOMEM;
}

/* Where there is no descriptor, the kernel says so before it looks whether
 * there is a connection. */
static bool none_comes(int fd, int code)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	return code == EAGAIN || code == EWOULDBLOCK ||
	       (lacks(code) && poll(&ready, 1, 0) == 0);
}

static void pause_accepting(struct weir__op *op, int code)
{
	const struct listen_at *args = weir__op_args(op);
	struct listening *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op);
	int rc;

	if (!self->until_ns)
		self->until_ns =
			weir__later(now_ns, args->options.accept_retry_ns);
	if (now_ns >= self->until_ns) {
		weir__op_fail_code(op, -code, "cannot accept connections");
		return;
	}
	self->pause_end_ns = weir__later(now_ns, PAUSE_NS);
	if (self->pause_end_ns > self->until_ns)
		self->pause_end_ns = self->until_ns;
	rc = weir__op_timer_at(&self->timer, op, self->pause_end_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static void wait_for_one(struct weir__op *op)
{
	struct listening *self = weir__op_state(op);

	if (!weir__op_fd_blocks(&self->wait, op, self->fd, POLLIN))
		weir__op_again(op);
}

/* A descriptor, or -1: none now, or the operator has ended. */
static int accept_one(struct weir__op *op, struct weir__address *peer)
{
	struct listening *self = weir__op_state(op);
	uint32_t tries = 64;
	int fd, code;

	for (;;) {
		peer->length = sizeof(peer->at);
		fd = accept4(self->fd, &peer->at.any, &peer->length,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		code = errno;
		if (concerns_one(code) && --tries > 0)
			continue;
		if (!lacks(code) || none_comes(self->fd, code) ||
		    self->kept_back < 0)
			break;
		(void)close(self->kept_back);
		self->kept_back = -1;
	}
	if (concerns_one(code))
		weir__op_again(op);
	else if (none_comes(self->fd, code))
		wait_for_one(op);
	else if (lacks(code))
		pause_accepting(op, code);
	else
		weir__op_fail_code(op, -code, "cannot accept connections");
	return -1;
}

static struct weir_connection *accept_next(struct weir__op *op)
{
	const struct listen_at *args = weir__op_args(op);
	struct listening *self = weir__op_state(op);
	struct weir_connection *connection;
	struct weir__address peer;
	int fd;

	/* so that none is accepted that could not be kept */
	if (!self->spare)
		self->spare = weir__connection_alloc(&args->options.connection,
						     weir__op_allocator(op));
	if (!self->spare) {
		weir__op_fail(op, -ENOMEM, "no memory for a connection");
		return NULL;
	}
	fd = accept_one(op, &peer);
	if (fd < 0)
		return NULL;
	connection = self->spare;
	self->spare = NULL;
	self->until_ns = self->pause_end_ns = 0;
	weir__connection_over(connection, fd, &peer);
	return connection;
}

/* True: it waits for a connection, or for a descriptor. */
static bool waits(struct weir__op *op)
{
	struct listening *self = weir__op_state(op);

	if (weir__op_fd_waits(&self->wait))
		return true;
	if (weir__op_now(op) >= self->pause_end_ns)
		return false;
	/* the timer may have fired for an earlier pause */
	(void)weir__op_timer_at(&self->timer, op, self->pause_end_ns);
	return true;
}

static size_t listening_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = 0;

	keep_back(op);
	if (room == 0 || waits(op))
		return 0;
	while (n < room && (items[n] = accept_next(op)))
		n++;
	return n;
}

static const struct weir_items *gives_connections(const struct weir_flow *flow)
{
	return weir_connection_items();
}

static const struct weir__kind listen_kind = {
	.name = "listen",
	.state_size = sizeof(struct listening),
	.items = gives_connections,
	.open = listening_open,
	.pull = listening_pull,
	.close = listening_close,
	.keeps = offsetof(struct listening, fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

static const char *wrong_options(const struct weir_listen_options *options)
{
	if (!options)
		return NULL;
	if (!weir__reserved_zero(options->reserved) ||
	    !weir__connection_valid(&options->connection))
		return "options have what is not known here";
	return options->backlog > INT32_MAX ? "backlog is too large" : NULL;
}

struct weir_flow *weir_flow_listen(const char *address,
				   const struct weir_listen_options *options)
{
	const char *wrong = wrong_options(options);
	struct listen_at args = {.address.fd = -1};
	struct weir_flow *flow;
	int rc = address ? weir__address_parse(&args.address, address)
			 : -EINVAL;

	if (options && !wrong)
		args.options = *options;
	if (!args.options.backlog)
		args.options.backlog = SOMAXCONN;
	if (!args.options.accept_retry_ns)
		args.options.accept_retry_ns = RETRY_NS;
	flow = weir__flow_source(&listen_kind, &args, sizeof(args),
				 rc == 0 && !wrong);
	if (rc < 0)
		return weir__flow_wrong(flow, &listen_kind,
					"%.60s is no address to listen at",
					address ? address : "NULL");
	return weir__flow_wrong_as(flow, &listen_kind, wrong);
}
