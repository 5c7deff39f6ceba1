/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ways of a connection, by calls that are interrupted, give nothing, or do
 * less than they were asked: each byte comes back once, in its place.
 */
#include "net/kit.h"

#include "base/random.h"

#include <stdio.h>
#include <sys/epoll.h>

#define MOST 20000
#define FDS 1024

static struct net net;
static uint64_t drawn;
static int client; /* whose calls are left alone */

static uint64_t draw(uint64_t bound)
{
	return weir__splitmix(&drawn) % bound;
}

/* How descriptors were registered last. */
static struct {
	int set;
	struct epoll_event event;
} registered[FDS];

int __real_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	int rc = __real_epoll_ctl(set, op, fd, event);

	assert_true(fd < FDS);
	registered[fd].set = 0;
	if (rc == 0 && op != EPOLL_CTL_DEL) {
		registered[fd].set = set;
		registered[fd].event = *event;
	}
	return rc;
}

/* An edge follows an EAGAIN, as it does where there was nothing. */
static void tell_again(int fd)
{
	if (registered[fd].set > 0)
		assert_int_equal(__real_epoll_ctl(registered[fd].set,
						  EPOLL_CTL_MOD, fd,
						  &registered[fd].event),
				 0);
}

/* True: the call fails, with errno. */
static bool hinders(int fd, int other)
{
	static const int codes[] = {EINTR, EAGAIN};
	uint64_t which = fd == client ? 9 : draw(10);
	int code;

	if (which > 2)
		return false;
	code = which == 2 ? other : codes[which];
	if (code == EAGAIN)
		tell_again(fd);
	errno = code;
	return true;
}

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
int __real_accept4(int fd, struct sockaddr *at, socklen_t *n, int flags);
int __wrap_accept4(int fd, struct sockaddr *at, socklen_t *n, int flags);

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	if (hinders(fd, EINTR))
		return -1;
	return __real_recv(fd, to, fd != client && draw(2) ? draw(n) + 1 : n,
			   flags);
}

/* Of the first part, or of all. */
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct iovec part = message->msg_iov[0];
	struct msghdr some = {.msg_iov = &part, .msg_iovlen = 1};

	if (hinders(fd, EAGAIN))
		return -1;
	if (draw(2))
		return __real_sendmsg(fd, message, flags);
	if (part.iov_len > 0)
		part.iov_len = draw(part.iov_len) + 1;
	return __real_sendmsg(fd, &some, flags);
}

int __wrap_accept4(int fd, struct sockaddr *at, socklen_t *n, int flags)
{
	return hinders(fd, ECONNABORTED) ? -1
					 : __real_accept4(fd, at, n, flags);
}

/* Cuts that the bytes do not notice. */
static struct weir_flow *between(struct weir_flow *flow, void *context)
{
	switch (draw(4)) {
	case 0:
		return weir_flow_async(flow, 1, NULL);
	case 1:
		return weir_flow_async(flow, 8, NULL);
	case 2:
		return weir_flow_buffer(flow, 16, WEIR_OVERFLOW_BACK_PRESSURE);
	default:
		return flow;
	}
}

/* In blocks of a drawn size. */
static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	struct weir_flow *flow =
		weir_connection_read(connection, draw(3) ? draw(9) + 1 : 4096);

	return weir_connection_write(between(flow, context), connection);
}

static int begin(uint64_t seed)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_flow *flow;
	char name[64];

	/* no timer of the kernel's is in the way of its small buffers */
	(void)snprintf(name, sizeof(name), "unix:@weir-random-%d",
		       (int)getpid());
	drawn = seed;
	client = -1;
	net_begin(&net, &sim);
	options.connection.sndbuf = draw(2) ? 1 : 0;
	options.connection.no_half_close = draw(2);
	flow = weir_flow_listen(name, &options);
	net_start(&net, weir_flow_each_connection(flow, 1, serve, NULL));
	return dial(net.address);
}

static void each_byte_comes_back_once(void **state)
{
	static char sent[MOST], got[MOST];
	size_t all, n_sent, n_got, i;
	ssize_t n;

	for_each_seed(seed, 200) {
		client = begin(seed);
		all = draw(MOST);
		for (i = 0; i < all; i++)
			sent[i] = (char)draw(256);
		for (n_sent = n_got = 0; n_got < all;) {
			n = n_sent < all && draw(2)
				    ? send(client, sent + n_sent,
					   draw(all - n_sent) + 1, MSG_DONTWAIT)
				    : 0;
			n_sent += n > 0 ? (size_t)n : 0;
			net_drive(&net);
			n = draw(2) ? recv(client, got + n_got,
					   draw(all - n_got) + 1, MSG_DONTWAIT)
				    : 0;
			n_got += n > 0 ? (size_t)n : 0;
		}
		assert_memory_equal(sent, got, all);
		assert_int_equal(shutdown(client, SHUT_WR), 0);
		expect_end(&net, client);
		close(client);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 1);
		net_end(&net);
	}
}

/* What comes back then is a beginning of what was sent. */
static void a_drain_cuts_nothing_out(void **state)
{
	static char sent[MOST], got[MOST + 1];
	size_t all, n_got, i;
	ssize_t n;

	for_each_seed(seed, 200) {
		client = begin(seed);
		all = draw(MOST) + 1;
		for (i = 0; i < all; i++)
			sent[i] = (char)draw(256);
		n = send(client, sent, all, MSG_DONTWAIT);
		assert_true(n > 0);
		for (i = draw(5); i > 0; i--)
			(void)weir_sim_step(net.place.sim);
		weir_flow_run_end(net.run);
		for (n_got = 0;;) {
			n = recv(client, got + n_got, sizeof(got) - n_got,
				 MSG_DONTWAIT);
			if (n == 0 || (n < 0 && errno != EAGAIN))
				break;
			n_got += n > 0 ? (size_t)n : 0;
			net_drive(&net);
		}
		/* that was never accepted, it is reset */
		assert_true(n == 0 || (errno == ECONNRESET && n_got == 0));
		assert_true(n_got <= all);
		assert_memory_equal(sent, got, n_got);
		close(client);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    NULL),
				 0);
		net_end(&net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_back_once),
		cmocka_unit_test(a_drain_cuts_nothing_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
