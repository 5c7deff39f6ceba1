/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/kit.h"

#include "net/address.h"

#include <fcntl.h>
#include <sched.h>

const struct kind *const net_kinds[3] = {&loop, &threads, &sim};

void net_begin(struct net *net, const struct kind *kind)
{
	memset(net, 0, sizeof(*net));
	net->peer = -1;
	descriptors_note(&net->before);
	place_make(&net->place, kind);
}

static int listen_raw(struct weir__address *at)
{
	int fd;

	assert_int_equal(weir__address_parse(at, "127.0.0.1:0"), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, &at->at.any, at->length), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, &at->at.any, &at->length), 0);
	return fd;
}

void net_connect(struct net *net, int family,
		 const struct weir_connection_options *options)
{
	struct weir__address at;
	int fds[2], listener;

	if (family == AF_UNIX) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
					    0, fds),
				 0);
	} else {
		listener = listen_raw(&at);
		fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[1], &at.at.any, at.length), 0);
		fds[0] = accept(listener, NULL, NULL);
		assert_true(fds[0] >= 0);
		assert_int_equal(close(listener), 0);
	}
	net->peer = fds[1];
	assert_int_equal(weir_connection_new(&net->connection, fds[0], options,
					     NULL),
			 0);
}

void net_end(struct net *net)
{
	weir_flow_run_free(net->run);
	weir_flow_free(net->flow);
	weir_connection_unref(net->connection);
	if (net->peer >= 0)
		assert_int_equal(close(net->peer), 0);
	assert_int_equal(net->place.kind->free(&net->place), 0);
	descriptors_check(&net->before);
}

void net_drive(struct net *net)
{
	if (net->place.kind->has_threads)
		(void)sched_yield();
	else if (net->place.sim) /* the clock stands still */
		(void)weir_sim_run_until(net->place.sim,
					 weir_executor_now(net->place.executor),
					 100000);
	else
		net->place.kind->drive(&net->place);
}

void net_start(struct net *net, struct weir_flow *flow)
{
	net->flow = flow;
	assert_int_equal(
		weir_flow_start(flow, net->place.executor, NULL, &net->run), 0);
}

void net_over(struct net *net, int code, uintptr_t result)
{
	struct weir_error *error;
	void *got;

	assert_int_equal(
		weir_flow_run_wait(net->run, WEIR_FOREVER, &got, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	if (code == 0)
		assert_int_equal((uintptr_t)got, result);
	weir_error_unref(error);
	weir_flow_run_free(net->run);
	weir_flow_free(net->flow);
	net->run = NULL;
	net->flow = NULL;
}

bool net_is_over(const struct net *net)
{
	return weir_completion_done(weir_flow_run_over(net->run));
}

static void listens(const char *address, void *context)
{
	struct net *net = context;

	assert_true(strlen(address) < sizeof(net->address));
	strcpy(net->address, address);
}

struct weir_listen_options listen_here(struct net *net)
{
	return (struct weir_listen_options){.listens = listens, .context = net};
}

int dial(const char *address)
{
	struct weir__address at;
	int fd;

	assert_int_equal(weir__address_parse(&at, address), 0);
	fd = socket(at.at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &at.at.any, at.length), 0);
	return fd;
}

void send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
			 strlen(text));
}

/* The result of recv(2), which had something to tell. */
static ssize_t take(struct net *net, int fd, char *to, size_t n)
{
	ssize_t got;

	while ((got = recv(fd, to, n, MSG_DONTWAIT)) < 0 &&
	       (errno == EAGAIN || errno == EINTR))
		net_drive(net);
	return got;
}

void expect_text(struct net *net, int fd, const char *text)
{
	size_t left = strlen(text);
	char got[256];
	ssize_t n;

	while (left > 0) {
		n = take(net, fd, got, left < sizeof(got) ? left : sizeof(got));
		assert_true(n > 0);
		assert_memory_equal(got, text, (size_t)n);
		text += n;
		left -= (size_t)n;
	}
}

void expect_end(struct net *net, int fd)
{
	char got;

	assert_int_equal(take(net, fd, &got, 1), 0);
}

void expect_reset(struct net *net, int fd)
{
	char got;

	assert_int_equal(take(net, fd, &got, 1), -1);
	assert_int_equal(errno, ECONNRESET);
}

void reset(int fd)
{
	const struct linger hard = {.l_onoff = 1};

	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
	assert_int_equal(close(fd), 0);
}

static int next_text(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	const char *text = *state;

	if (!text)
		return 0;
	assert_int_equal(weir_flow_bytes_new(&bytes, strlen(text), NULL), 0);
	memcpy(bytes->data, text, strlen(text));
	*state = NULL;
	*item = bytes;
	return 1;
}

struct weir_flow *text_flow(const char *text)
{
	struct weir_flow *flow =
		weir_flow_unfold((void *)(uintptr_t)text, next_text, NULL);

	return weir_flow_items(flow, weir_flow_bytes_items());
}
