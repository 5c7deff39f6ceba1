/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_connections.h"

#include "net/address.h"

#include <sys/socket.h>

/* 0, or what weir_connection_new() says. */
static int make_one(struct weir_connection **connection, int *peer)
{
	int fds[2], rc;

	assert_int_equal(socketpair(AF_UNIX,
				    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
				    0, fds),
			 0);
	rc = weir_connection_new(connection, fds[0], NULL, memory);
	if (rc < 0)
		(void)close(fds[0]);
	if (peer && rc == 0)
		*peer = fds[1];
	else
		(void)close(fds[1]);
	return rc;
}

struct weir_connection *connection_with(int *peer)
{
	struct weir_connection *connection;

	assert_int_equal(make_one(&connection, peer), 0);
	return connection;
}

/* --- Bytes ---------------------------------------------------------------- */

/* All at once, as the kernel keeps each piece apart. */
static void send_all(int fd, const void *data, size_t n)
{
	if (n > 0)
		assert_int_equal(send(fd, data, n, MSG_NOSIGNAL), n);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
}

struct weir_flow *connection_read_of(struct made *made)
{
	int64_t numbers[SOURCE_LONG], i;

	for (i = 0; i < made->n; i++)
		numbers[i] = i;
	made->connections[0] = connection_with(&made->fds[0]);
	send_all(made->fds[0], numbers, (size_t)made->n * sizeof(*numbers));
	return goods_of_blocks(weir_connection_read(made->connections[0],
						    sizeof(*numbers)),
			       made);
}

struct weir_flow *connection_run_of(struct made *made)
{
	static const char bytes[SOURCE_LONG];

	made->connections[0] = connection_with(&made->fds[0]);
	send_all(made->fds[0], bytes, (size_t)made->n);
	return grown(weir_connection_run(made->connections[0], NULL, NULL),
		     made);
}

/* Some come from each side. */
struct weir_flow *connection_pipe_of(struct made *made)
{
	static const char bytes[SOURCE_LONG];
	size_t i, n = (size_t)made->n;

	for (i = 0; i < 2; i++) {
		made->connections[i] = connection_with(&made->fds[i]);
		send_all(made->fds[i], bytes, i ? n - n / 3 : n / 3);
	}
	return grown(weir_connection_pipe(made->connections[0],
					  made->connections[1], NULL),
		     made);
}

/* --- Clients and servers -------------------------------------------------- */

/* What it has of the connection is its number. */
static int take_connection(void **item, uint64_t index, void *context)
{
	int rc = called();

	if (rc < 0)
		return rc;
	weir_connection_unref(*item);
	*item = goods_make(context, (int64_t)index);
	return 0;
}

static int to_number(void **item, void *context)
{
	const struct made *made = context;
	int rc = called();

	if (rc < 0)
		return rc;
	weir_connection_unref(*item);
	*item = (void *)(intptr_t)made->n;
	return 0;
}

/* The name of a socket that is this one's, without a file. */
static void name_it(struct made *made, struct weir__address *at)
{
	(void)snprintf(made->path, sizeof(made->path), "unix:@%d-%p",
		       (int)getpid(), (void *)made);
	assert_int_equal(weir__address_parse(at, made->path), 0);
}

struct weir_flow *connect_of(struct made *made)
{
	struct weir__address at;
	struct weir_flow *flow;

	name_it(made, &at);
	made->fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(made->fds[0], &at.at.any, at.length), 0);
	assert_int_equal(listen(made->fds[0], 100), 0);
	flow = weir_flow_map(weir_flow_connect(made->path, NULL), to_number,
			     made);
	return grown(flow, made);
}

/* Who has come and gone is taken, too. */
static void clients_come(const char *address, void *context)
{
	const struct made *made = context;
	struct weir__address at;
	int64_t i;
	int fd;

	assert_int_equal(weir__address_parse(&at, address), 0);
	for (i = 0; i < made->n; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd, &at.at.any, at.length), 0);
		(void)close(fd);
	}
}

struct weir_flow *listen_of(struct made *made)
{
	const struct weir_listen_options options = {.listens = clients_come,
						    .context = made};
	struct weir__address at;
	struct weir_flow *flow;

	name_it(made, &at);
	flow = weir_flow_take(weir_flow_listen(made->path, &options), made->n);
	flow = weir_flow_index(flow, take_connection, made->items->context);
	return ahead(weir_flow_items(flow, made->items));
}

static int next_connection(void **state, void **item, void *context)
{
	const struct made *made = context;
	int64_t at = (intptr_t)*state;
	struct weir_connection *connection;
	int rc = called();

	if (rc < 0 || at == made->n)
		return rc;
	rc = make_one(&connection, NULL);
	if (rc < 0)
		return rc;
	*item = connection;
	*state = (void *)(intptr_t)(at + 1);
	return 1;
}

struct weir_flow *serve_nothing(struct weir_connection *connection,
				void *context)
{
	return weir_flow_empty();
}

static struct weir_flow *serve_echo(struct weir_connection *connection,
				    void *context)
{
	return weir_connection_run(connection, NULL, NULL);
}

struct weir_flow *each_connection_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_unfold(NULL, next_connection, made);

	flow = weir_flow_items(flow, weir_connection_items());
	flow = weir_flow_each_connection(flow, 3, serve_echo, NULL);
	return grown(flow, made);
}
