/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection as an object: its descriptor, its references, its end. */
#include "net/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/refcount.h"

#define UNSENT (128u * 1024)
#define LINGER_NS UINT64_C(5000000000)
#define LINGER_BYTES (256u * 1024)

/* --- Options -------------------------------------------------------------- */

bool weir__connection_valid(const struct weir_connection_options *options)
{
	return !options ||
	       (weir__reserved_zero(options->reserved) &&
		options->rcvbuf <= INT_MAX && options->sndbuf <= INT_MAX &&
		options->unsent_bytes <= INT_MAX);
}

static int set(int fd, int level, int name, size_t value)
{
	int n = (int)value;

	return setsockopt(fd, level, name, &n, sizeof(n)) < 0 ? -errno : 0;
}

static int set_up_tcp(int fd, const struct weir_connection_options *options)
{
	int rc = set(fd, IPPROTO_TCP, TCP_NODELAY, !options->nagle);

	if (rc < 0)
		return rc;
	return set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
		   options->unsent_bytes ? options->unsent_bytes : UNSENT);
}

int weir__connection_set_up(int fd, int family,
			    const struct weir_connection_options *options)
{
	int rc = 0;

	if (options->rcvbuf)
		rc = set(fd, SOL_SOCKET, SO_RCVBUF, options->rcvbuf);
	if (rc == 0 && options->sndbuf)
		rc = set(fd, SOL_SOCKET, SO_SNDBUF, options->sndbuf);
	if (rc == 0 && options->keepalive)
		rc = set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (rc == 0 && family != AF_UNIX)
		rc = set_up_tcp(fd, options);
	return rc;
}

/* --- Its life ------------------------------------------------------------- */

struct weir_connection *weir__connection_alloc(
	const struct weir_connection_options *options,
	const struct weir_allocator *allocator)
{
	struct weir_connection *connection;

	if (!allocator)
		allocator = weir_allocator_default();
	connection = weir__alloc(allocator, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->allocator = allocator;
	connection->fd = -1;
	connection->refs = 1;
	if (options)
		connection->options = *options;
	if (!connection->options.linger_ns)
		connection->options.linger_ns = LINGER_NS;
	if (!connection->options.linger_bytes)
		connection->options.linger_bytes = LINGER_BYTES;
	return connection;
}

void weir__connection_over(struct weir_connection *connection, int fd,
			   const struct weir__address *peer)
{
	connection->fd = fd;
	if (peer->at.any.sa_family == AF_INET)
		connection->peer.in = peer->at.in;
	else if (peer->at.any.sa_family == AF_INET6)
		connection->peer.in6 = peer->at.in6;
	else
		connection->peer.any.sa_family = AF_UNIX;
}

void weir__connection_dealloc(struct weir_connection *connection)
{
	if (connection)
		weir__free(connection->allocator, connection,
			   sizeof(*connection));
}

static int check_socket(int fd)
{
	socklen_t length = sizeof(int);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0)
		return -errno;
	return type == SOCK_STREAM ? 0 : -EINVAL;
}

int weir_connection_new(struct weir_connection **connection, int fd,
			const struct weir_connection_options *options,
			const struct weir_allocator *allocator)
{
	struct weir_connection *made;
	struct weir__address peer = {.fd = -1};
	int rc, flags;

	if (!connection)
		return -EINVAL;
	*connection = NULL;
	if (!weir__connection_valid(options))
		return -EINVAL;
	rc = check_socket(fd);
	if (rc == 0)
		rc = weir__address_of(&peer, fd, true);
	if (rc < 0)
		return rc;
	made = weir__connection_alloc(options, allocator);
	if (!made)
		return -ENOMEM;
	rc = weir__connection_set_up(fd, peer.at.any.sa_family, &made->options);
	flags = rc == 0 ? fcntl(fd, F_GETFL) : 0;
	if (flags < 0 || (rc == 0 && !(flags & O_NONBLOCK) &&
			  fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
		rc = -errno;
	if (rc < 0) {
		weir__connection_dealloc(made);
		return rc;
	}
	weir__connection_over(made, fd, &peer);
	*connection = made;
	return 0;
}

struct weir_connection *weir_connection_ref(struct weir_connection *connection)
{
	if (connection)
		weir__ref(&connection->refs);
	return connection;
}

void weir_connection_unref(struct weir_connection *connection)
{
	if (!connection || !weir__unref(&connection->refs))
		return;
	if (connection->layer)
		connection->layer->free(connection->layers);
	(void)close(connection->fd);
	weir__connection_dealloc(connection);
}

static void items_drop(void *item, void *context)
{
	weir_connection_unref(item);
}

static int items_share(void *item, void *context)
{
	(void)weir_connection_ref(item);
	return 0;
}

const struct weir_items *weir_connection_items(void)
{
	static const struct weir_items items = {
		.drop = items_drop,
		.share = items_share,
		.name = "connections",
	};

	return &items;
}

/* --- What is known of it -------------------------------------------------- */

int weir_connection_fd(const struct weir_connection *connection)
{
	return connection ? connection->fd : -EINVAL;
}

static bool is_unix(const struct weir_connection *connection)
{
	return connection->peer.any.sa_family == AF_UNIX;
}

static int format_of(const struct weir_connection *connection, bool peer,
		     char *text, size_t n)
{
	struct weir__address address;
	int rc = weir__address_of(&address, connection->fd, peer);

	return rc < 0 ? rc : weir__address_format(&address, text, n);
}

int weir_connection_peer(const struct weir_connection *connection, char *text,
			 size_t n)
{
	struct weir__address address = {.fd = -1};

	if (!connection || !text)
		return -EINVAL;
	if (is_unix(connection))
		return format_of(connection, true, text, n);
	address.at.in6 = connection->peer.in6;
	return weir__address_format(&address, text, n);
}

int weir_connection_local(const struct weir_connection *connection, char *text,
			  size_t n)
{
	return connection && text ? format_of(connection, false, text, n)
				  : -EINVAL;
}

int weir_connection_peer_credentials(
	const struct weir_connection *connection,
	struct weir_connection_credentials *credentials)
{
	struct ucred told;
	socklen_t length = sizeof(told);

	if (!connection || !credentials)
		return -EINVAL;
	if (!is_unix(connection))
		return -ENOTSUP;
	if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &told,
		       &length) < 0)
		return -errno;
	credentials->pid = told.pid;
	credentials->uid = told.uid;
	credentials->gid = told.gid;
	return 0;
}

int weir_connection_count(const struct weir_connection *connection,
			  struct weir_connection_counts *counts)
{
	int unsent = 0;

	if (!connection || !counts)
		return -EINVAL;
	if (ioctl(connection->fd, SIOCOUTQ, &unsent) < 0 || unsent < 0)
		unsent = 0;
	*counts = (struct weir_connection_counts){
		.bytes_in = ck_pr_load_64(&connection->bytes_in),
		.bytes_out = ck_pr_load_64(&connection->bytes_out),
		.unsent = (size_t)unsent,
		.error = weir__connection_error(connection),
	};
	return 0;
}

/* --- How it ends ---------------------------------------------------------- */

/* Of the operators in `halves`. They are held under the lock, so that they are
 * there when they are woken behind it. */
static void wake(struct weir_connection *connection, unsigned int halves)
{
	struct weir__op *ops[2] = {NULL, NULL};
	unsigned int i;

	weir__lock(&connection->lock);
	for (i = 0; i < 2; i++) {
		if ((halves & 1u << i) && connection->ops[i]) {
			ops[i] = connection->ops[i];
			weir__op_hold(ops[i]);
		}
	}
	weir__unlock(&connection->lock);
	for (i = 0; i < 2; i++) {
		if (!ops[i])
			continue;
		weir__op_wake(ops[i]);
		weir__op_unhold(ops[i]);
	}
}

static void fail(struct weir_connection *connection, uint32_t error)
{
	/* relaxed: the wake orders it for those that are woken */
	(void)ck_pr_cas_32(&connection->error, 0, error);
	wake(connection, 3);
}

void weir__connection_fail(struct weir_connection *connection, int code)
{
	fail(connection, (uint32_t)-code);
}

void weir__connection_break(struct weir_connection *connection, int code)
{
	uint32_t mark = 0;

	if (connection->layer && connection->layer->reason(connection->layers))
		mark = WEIR__CONNECTION_LAYERS;
	fail(connection, (uint32_t)-code | mark);
}

void weir__connection_tell(struct weir_connection *connection, uint32_t bits,
			   enum weir__half half)
{
	ck_pr_or_32(&connection->state, bits);
	wake(connection, 1u << half);
}

bool weir__connection_has(struct weir_connection *connection,
			  enum weir__half half)
{
	bool has;

	weir__lock(&connection->lock);
	has = connection->ops[half];
	weir__unlock(&connection->lock);
	return has;
}

int weir__connection_look(struct weir_connection *connection)
{
	socklen_t length = sizeof(int);
	int code = 0;

	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &code, &length) <
	    0)
		code = errno;
	/* a reset behind the peer's end */
	if (code == EPIPE)
		code = ECONNRESET;
	if (code)
		weir__connection_fail(connection, -code);
	return weir__connection_error(connection);
}

/* A socket of TCP that is no longer connected has had its reset sent; it tells
 * so itself. (Called by its number: ThreadSanitizer takes a connect() for the
 * making of the descriptor.) One of the other family can only be shut. */
void weir_connection_stop(struct weir_connection *connection)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (!connection)
		return;
	weir__connection_fail(connection, -ECONNRESET);
	if (is_unix(connection))
		(void)shutdown(connection->fd, SHUT_RDWR);
	else
		(void)syscall(SYS_connect, connection->fd, &none, sizeof(none));
}

bool weir__connection_discard(struct weir_connection *connection, size_t *left)
{
	char none[4096];
	ssize_t n;

	while (*left > 0) {
		n = recv(connection->fd, none, sizeof(none), MSG_DONTWAIT);
		if (n > 0) {
			*left -= (size_t)n < *left ? (size_t)n : *left;
		} else if (n == 0) {
			ck_pr_or_32(&connection->state,
				    WEIR__CONNECTION_PEER_ENDED);
			return true;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			return false;
		} else if (errno != EINTR) {
			weir__connection_fail(connection, -errno);
			return true;
		}
	}
	return true;
}
