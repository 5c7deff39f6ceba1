/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading sockets and pipes: how many calls it takes, and peers that go away
 * while nobody reads or writes. Calls are counted.
 */
#include "flow/kit.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/flow_io.h>

/* --- Calls ---------------------------------------------------------------- */

static size_t n_reads, n_empty, n_controls;

ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n)
{
	ssize_t got = __real_read(fd, bytes, n);

	n_reads++;
	n_empty += got < 0 && errno == EAGAIN;
	return got;
}

int __real_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	n_controls++;
	return __real_epoll_ctl(set, op, fd, event);
}

static void count_anew(void)
{
	n_reads = n_empty = n_controls = 0;
}

/* --- Connections ---------------------------------------------------------- */

enum way { PIPE, UNIX, TCP };

static void connect_tcp(int ends[2])
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length),
			 0);
	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ends[1], (struct sockaddr *)&address, length),
			 0);
	ends[0] = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(ends[0] >= 0);
	assert_int_equal(close(fd), 0);
}

/* ends[0] is ours, and does not block. */
static void connect_by(enum way way, int ends[2])
{
	if (way == TCP)
		connect_tcp(ends);
	else if (way == UNIX)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
					    0, ends),
				 0);
	else
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
}

static void reset(int fd)
{
	const struct linger none = {.l_onoff = 1};

	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
	assert_int_equal(close(fd), 0);
}

/* --- A flow --------------------------------------------------------------- */

struct received {
	char bytes[4096];
	size_t n;
};

static int receive(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct received *received = context;

	assert_true(received->n + bytes->n <= sizeof(received->bytes));
	memcpy(received->bytes + received->n, bytes->data, bytes->n);
	received->n += bytes->n;
	weir_flow_bytes_unref(bytes);
	return 0;
}

struct running {
	struct weir_loop *loop;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static void start(struct running *self, struct weir_flow *flow)
{
	self->flow = flow;
	assert_int_equal(weir_loop_new(&self->loop, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_loop_executor(self->loop),
					 NULL, &self->run),
			 0);
}

static void settle(struct running *self)
{
	while (weir_loop_run(self->loop, 1000) > 0)
		;
}

/* The code that it ends with. */
static int finish(struct running *self)
{
	struct weir_error *error;
	int code;

	assert_int_equal(
		weir_flow_run_wait(self->run, WEIR_FOREVER, NULL, &error), 0);
	code = error ? error->code : 0;
	weir_error_unref(error);
	settle(self);
	weir_flow_run_free(self->run);
	weir_flow_free(self->flow);
	assert_int_equal(weir_loop_free(self->loop), 0);
	return code;
}

static void come(const int ends[2], const char *bytes)
{
	ssize_t n = (ssize_t)strlen(bytes);

	assert_int_equal(write(ends[1], bytes, (size_t)n), n);
}

/* --- Reads ---------------------------------------------------------------- */

/* A short read leaves nothing behind; only where the kernel says so. */
static void what_is_read_short_is_not_read_again(void **state)
{
	static const size_t empty[] = {[PIPE] = 0, [UNIX] = 1, [TCP] = 0};
	struct received received;
	struct running running;
	enum way way;
	size_t i;
	int ends[2];

	for (way = PIPE; way <= TCP; way++) {
		received.n = 0;
		connect_by(way, ends);
		start(&running, weir_flow_for_each(weir_flow_read(ends[0], 8),
						   receive, &received));
		settle(&running);
		for (i = 1; i <= 10; i++) {
			count_anew();
			come(ends, "1234567");
			settle(&running);
			assert_int_equal(received.n, 7 * i);
			assert_int_equal(n_reads, 1 + empty[way]);
			assert_int_equal(n_empty, empty[way]);
			assert_int_equal(n_controls, 0);
		}
		/* a whole block may not be all */
		count_anew();
		come(ends, "12345678");
		settle(&running);
		assert_int_equal(received.n, 78);
		assert_int_equal(n_empty, 1);
		assert_int_equal(close(ends[1]), 0);
		assert_int_equal(finish(&running), 0);
		assert_int_equal(close(ends[0]), 0);
	}
}

static void an_end_that_comes_with_bytes_is_read(void **state)
{
	struct received received;
	struct running running;
	enum way way;
	int ends[2], at_rest;

	for (way = PIPE; way <= TCP; way++) {
		for (at_rest = 0; at_rest < 2; at_rest++) {
			received.n = 0;
			connect_by(way, ends);
			start(&running,
			      weir_flow_for_each(weir_flow_read(ends[0], 8),
						 receive, &received));
			if (at_rest)
				settle(&running);
			come(ends, "123");
			assert_int_equal(close(ends[1]), 0);
			assert_int_equal(finish(&running), 0);
			assert_int_equal(received.n, 3);
			assert_int_equal(close(ends[0]), 0);
		}
	}
}

/* TCP stops a read there, and tells nothing of the bytes behind it again. */
static void what_is_behind_urgent_data_is_read(void **state)
{
	struct received received = {.n = 0};
	struct running running;
	int ends[2];

	connect_by(TCP, ends);
	start(&running, weir_flow_for_each(weir_flow_read(ends[0], 100),
					   receive, &received));
	settle(&running);
	come(ends, "abc");
	assert_int_equal(send(ends[1], "!", 1, MSG_OOB), 1);
	come(ends, "def");
	settle(&running);
	assert_int_equal(received.n, 6);
	assert_memory_equal(received.bytes, "abcdef", 6);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(finish(&running), 0);
	assert_int_equal(close(ends[0]), 0);
}

/* --- Peers that go away --------------------------------------------------- */

/* Takes blocks when it is not suspended. */
struct taker {
	struct weir_actor actor;
	struct weir_in in;
	struct received received;
};

static uint32_t take(struct weir_actor *actor, uint32_t n)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);

	(void)receive(weir_in_take(&self->in), &self->received);
	return 1;
}

static const struct weir_actor_ops taker_ops = {.turns = take};

/* A flow that is asked for two blocks, and for more when the taker goes on. */
static void held_back(struct running *running, struct taker *taker, int fd)
{
	struct weir_flow *flow =
		weir_flow_into_in(weir_flow_read(fd, 4), &taker->in);

	assert_int_equal(weir_loop_new(&running->loop, NULL), 0);
	assert_int_equal(weir_actor_init(&taker->actor, &taker_ops,
					 weir_loop_executor(running->loop)),
			 0);
	assert_int_equal(weir_in_init(&taker->in, &taker->actor, 2,
				      weir_flow_bytes_items()),
			 0);
	weir_actor_suspend(&taker->actor);
	running->flow = flow;
	assert_int_equal(weir_flow_start(flow,
					 weir_loop_executor(running->loop),
					 NULL, &running->run),
			 0);
	assert_int_equal(weir_actor_start(&taker->actor), 0);
	settle(running);
}

static void a_reset_ends_a_read_that_nobody_asks_for(void **state)
{
	struct taker taker = {.received.n = 0};
	struct running running;
	int ends[2], i;

	connect_by(TCP, ends);
	held_back(&running, &taker, ends[0]);
	for (i = 0; i < 2; i++) {
		come(ends, "1234");
		settle(&running);
	}
	reset(ends[1]);
	count_anew();
	/* until the flow has let go of the socket */
	for (i = 0; i < 1000 && !n_controls; i++)
		(void)weir_loop_wait(running.loop, 1, 1000000);
	assert_int_equal(n_controls, 1);
	assert_int_equal(taker.received.n, 0);
	weir_actor_resume(&taker.actor);
	assert_int_equal(finish(&running), -ECONNRESET);
	assert_int_equal(taker.received.n, 8);
	assert_int_equal(close(ends[0]), 0);
}

static void bytes_that_came_before_a_reset_are_read_first(void **state)
{
	struct taker taker = {.received.n = 0};
	struct running running;
	int ends[2], i;

	connect_by(TCP, ends);
	held_back(&running, &taker, ends[0]);
	for (i = 0; i < 10; i++)
		come(ends, "1234");
	settle(&running);
	reset(ends[1]);
	settle(&running);
	assert_int_equal(weir_flow_run_wait(running.run, 0, NULL, NULL),
			 -ETIMEDOUT);
	weir_actor_resume(&taker.actor);
	assert_int_equal(finish(&running), -ECONNRESET);
	assert_int_equal(taker.received.n, 40);
	assert_int_equal(close(ends[0]), 0);
}

static void a_reset_ends_a_write_that_has_nothing_to_write(void **state)
{
	struct weir_channel *channel;
	struct running running;
	int ends[2];

	connect_by(TCP, ends);
	assert_int_equal(weir_channel_new(&channel, 1, weir_flow_bytes_items(),
					  NULL),
			 0);
	start(&running,
	      weir_flow_write(weir_flow_from_channel(channel), ends[0]));
	settle(&running);
	reset(ends[1]);
	assert_int_equal(finish(&running), -ECONNRESET);
	assert_int_equal(weir_channel_end(channel, NULL), 0);
	assert_int_equal(weir_channel_free(channel), 0);
	assert_int_equal(close(ends[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_short_is_not_read_again),
		cmocka_unit_test(an_end_that_comes_with_bytes_is_read),
		cmocka_unit_test(what_is_behind_urgent_data_is_read),
		cmocka_unit_test(a_reset_ends_a_read_that_nobody_asks_for),
		cmocka_unit_test(bytes_that_came_before_a_reset_are_read_first),
		cmocka_unit_test(
			a_reset_ends_a_write_that_has_nothing_to_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
