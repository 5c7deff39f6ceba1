/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layers of connections, by one that is small: bytes are in the next case on the
 * wire, each side says "?" first, and "." is the end.
 */
#include "net/kit.h"

#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <sys/uio.h>

static struct net net;

struct shift {
	pthread_mutex_t lock;
	bool asked, open, ended, told;
	char ahead[64]; /* what came behind the "?" */
	ssize_t n_ahead;
	bool fails_open; /* by itself, at once */
	const char *reason;
	int *freed;
};

static ssize_t io(ssize_t n, short *events, short event)
{
	if (n >= 0)
		return n;
	if (errno != EAGAIN)
		return -errno;
	*events = event;
	return -EAGAIN;
}

static ssize_t put(int fd, char c, short *events)
{
	return io(send(fd, &c, 1, MSG_NOSIGNAL | MSG_DONTWAIT), events,
		  POLLOUT);
}

static int open_it(struct shift *self, int fd, short *events)
{
	char bytes[sizeof(self->ahead) + 1] = {0};
	ssize_t rc;

	if (self->fails_open) {
		self->reason = "it does not open";
		return -EPROTO;
	}
	if (!self->asked) {
		rc = put(fd, '?', events);
		if (rc < 0)
			return (int)rc;
		self->asked = true;
	}
	if (self->open)
		return 0;
	rc = io(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), events, POLLIN);
	if (rc < 0)
		return (int)rc;
	self->open = rc > 0 && bytes[0] == '?';
	self->n_ahead = rc - 1;
	memcpy(self->ahead, bytes + 1, sizeof(self->ahead));
	if (!self->open)
		self->reason = "it was not asked";
	return self->open ? 0 : -EPROTO;
}

static int shift_open(int fd, short *events, void *context)
{
	struct shift *self = context;
	int rc;

	pthread_mutex_lock(&self->lock);
	rc = open_it(self, fd, events);
	pthread_mutex_unlock(&self->lock);
	return rc;
}

static ssize_t shift_read(void *to, size_t n, int fd, short *events,
			  void *context)
{
	struct shift *self = context;
	char *bytes = to;
	ssize_t got, i;

	/* nothing of its own comes */
	if (n == 0)
		return 0;
	if (self->ended)
		return 0;
	if (self->n_ahead > 0) {
		got = self->n_ahead < (ssize_t)n ? self->n_ahead : (ssize_t)n;
		memcpy(to, self->ahead, (size_t)got);
		self->n_ahead -= got;
		memmove(self->ahead, self->ahead + got, (size_t)self->n_ahead);
	} else {
		got = io(recv(fd, to, n, MSG_DONTWAIT), events, POLLIN);
	}
	for (i = 0; i < got; i++) {
		if (bytes[i] == '.') {
			self->ended = true;
			return i;
		}
		if (bytes[i] == '!') {
			self->reason = "it was shouted at";
			return -EBADMSG;
		}
		bytes[i] = (char)tolower(bytes[i]);
	}
	return got;
}

static ssize_t shift_write(const struct iovec *parts, int n, int fd,
			   short *events, void *context)
{
	const char *from = parts->iov_base;
	char bytes[100];
	size_t i;

	for (i = 0; i < sizeof(bytes) && i < parts->iov_len; i++)
		bytes[i] = (char)toupper(from[i]);
	return io(send(fd, bytes, i, MSG_NOSIGNAL | MSG_DONTWAIT), events,
		  POLLOUT);
}

static int shift_end(int fd, short *events, void *context)
{
	struct shift *self = context;
	ssize_t rc = self->told ? 0 : put(fd, self->reason ? 'X' : '.', events);

	if (rc < 0)
		return (int)rc;
	self->told = true;
	return 0;
}

static const char *shift_reason(void *context)
{
	struct shift *self = context;
	const char *reason;

	pthread_mutex_lock(&self->lock);
	reason = self->reason;
	pthread_mutex_unlock(&self->lock);
	return reason;
}

static void shift_free(void *context)
{
	struct shift *self = context;

	++*self->freed;
	pthread_mutex_destroy(&self->lock);
}

static const struct weir_connection_layer_ops shift_layer = {
	.open = shift_open,
	.read = shift_read,
	.write = shift_write,
	.end = shift_end,
	.reason = shift_reason,
	.free = shift_free,
};

static struct shift shift;
static int freed;

static void begin(const struct kind *kind, uint64_t open_ns)
{
	freed = 0;
	shift = (struct shift){.freed = &freed};
	assert_int_equal(pthread_mutex_init(&shift.lock, NULL), 0);
	net_begin(&net, kind);
	net_connect(&net, AF_INET, NULL);
	assert_int_equal(weir_connection_put_layer(net.connection, &shift_layer,
						   &shift, open_ns),
			 0);
}

static void end(void)
{
	net_end(&net);
	assert_int_equal(freed, 1);
}

/* --- Tests ------------------------------------------------------------------ */

static void flows_and_the_socket_see_other_bytes(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, WEIR_FOREVER);
		net_start(&net,
			  weir_connection_run(net.connection, NULL, NULL));
		expect_text(&net, net.peer, "?");
		send_text(net.peer, "?HELLO");
		expect_text(&net, net.peer, "HELLO");
		send_text(net.peer, "AGAIN.");
		expect_text(&net, net.peer, "AGAIN.");
		expect_end(&net, net.peer);
		net_over(&net, 0, 10);
		end();
	}
}

/* Each half alone, and a half whose layer the other one has opened. */
static void either_flow_opens_it(void **state)
{
	struct weir_flow_run *reads;
	struct weir_flow *flow;
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 3; i++) {
			begin(*kind, WEIR_FOREVER);
			flow = weir_flow_ignore(
				weir_connection_read(net.connection, 64));
			if (i != 1)
				assert_int_equal(
					weir_flow_start(flow,
							net.place.executor,
							NULL, &reads),
					0);
			if (i != 0)
				net_start(&net, weir_connection_write(
							text_flow("hello"),
							net.connection));
			expect_text(&net, net.peer, "?");
			send_text(net.peer, "?");
			if (i != 0) {
				expect_text(&net, net.peer, "HELLO.");
				net_over(&net, 0, 5);
			}
			send_text(net.peer, "WELL.");
			if (i != 1) {
				assert_int_equal(
					weir_flow_run_wait(reads, WEIR_FOREVER,
							   NULL, NULL),
					0);
				weir_flow_run_free(reads);
			}
			weir_flow_free(flow);
			end();
		}
	}
}

static int is_hello(void *item, void *context)
{
	const struct weir_flow_bytes *bytes = item;

	return bytes->n == 5 && memcmp(bytes->data, "hello", 5) == 0;
}

/*
 * The flows are on two executors. The one that writes opens the layer, and takes
 * in with that what is for the other one, whose epoll has nothing to tell then.
 */
static void what_was_taken_in_by_the_other_flow_is_read(void **state)
{
	struct place other;
	struct weir_flow_run *reads;
	struct weir_flow *flow;
	void *n;

	begin(&loop, WEIR_FOREVER);
	place_make(&other, &loop);
	flow = weir_flow_count(weir_flow_filter(
		weir_connection_read(net.connection, 64), is_hello, NULL));
	assert_int_equal(weir_flow_start(flow, other.executor, NULL, &reads),
			 0);
	other.kind->drive(&other);
	send_text(net.peer, "?HELLO.");
	net_start(&net,
		  weir_connection_write(text_flow("hello"), net.connection));
	expect_text(&net, net.peer, "?HELLO.");
	net_over(&net, 0, 5);
	assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER, &n, NULL), 0);
	assert_int_equal((uintptr_t)n, 1);
	weir_flow_run_free(reads);
	weir_flow_free(flow);
	assert_int_equal(other.kind->free(&other), 0);
	end();
}

/* Both flows have its words; the peer has what it says last, and an end. */
static void a_layer_that_fails_tells_both_and_the_peer(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_error *error;
	struct weir_flow_run *reads;
	struct weir_flow *flow;
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, WEIR_FOREVER);
			shift.fails_open = i == 1;
			assert_int_equal(
				weir_flow_queue_new(&queue, 1,
						    WEIR_OVERFLOW_BACK_PRESSURE,
						    weir_flow_bytes_items()),
				0);
			net_start(&net, weir_connection_write(
						weir_flow_from_queue(queue),
						net.connection));
			flow = weir_flow_ignore(
				weir_connection_read(net.connection, 64));
			assert_int_equal(weir_flow_start(flow,
							 net.place.executor,
							 NULL, &reads),
					 0);
			if (i == 0) {
				expect_text(&net, net.peer, "?");
				send_text(net.peer, "?WELL!");
			}
			expect_text(&net, net.peer, "X");
			expect_end(&net, net.peer);
			assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER,
							    NULL, &error),
					 0);
			assert_string_equal(error->message,
					    i ? "it does not open"
					      : "it was shouted at");
			weir_error_unref(error);
			weir_flow_run_free(reads);
			weir_flow_free(flow);
			/* so that we need not wait for more of it */
			assert_int_equal(close(net.peer), 0);
			net.peer = -1;
			assert_int_equal(weir_flow_run_wait(net.run,
							    WEIR_FOREVER, NULL,
							    &error),
					 0);
			assert_int_equal(error->code, i ? -EPROTO : -EBADMSG);
			assert_string_equal(error->message,
					    i ? "it does not open"
					      : "it was shouted at");
			weir_error_unref(error);
			weir_flow_queue_free(queue);
			end();
		}
	}
}

/* A peer that does not end then is given the time of linger_ns. */
static void a_peer_has_time_to_take_what_was_said(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	uint64_t began;

	begin(&sim, WEIR_FOREVER);
	net_start(&net, weir_connection_run(net.connection, NULL, NULL));
	send_text(net.peer, "?!");
	expect_text(&net, net.peer, "?X");
	began = weir_executor_now(net.place.executor);
	(void)weir_sim_run_until(net.place.sim, began + 5 * second - 1, 100000);
	assert_false(net_is_over(&net));
	(void)weir_sim_run_until(net.place.sim, began + 5 * second, 100000);
	assert_true(net_is_over(&net));
	expect_end(&net, net.peer);
	net_over(&net, -EBADMSG, 0);
	end();
}

static void a_layer_that_takes_too_long_to_open_fails_both(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	uint64_t began;

	begin(&sim, second);
	net_start(&net, weir_connection_run(net.connection, NULL, NULL));
	expect_text(&net, net.peer, "?");
	began = weir_executor_now(net.place.executor);
	(void)weir_sim_run_until(net.place.sim, began + second - 1, 100000);
	assert_false(net_is_over(&net));
	(void)weir_sim_run_until(net.place.sim, began + second, 100000);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	expect_reset(&net, net.peer);
	end();
}

/* While it opens nobody drops what the peer sends, as it is the layer's. */
static void a_flow_that_is_cancelled_leaves_the_opening_alone(void **state)
{
	struct weir_flow_run *reads;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		begin(*kind, WEIR_FOREVER);
		flow = weir_flow_ignore(
			weir_connection_read(net.connection, 64));
		assert_int_equal(weir_flow_start(flow, net.place.executor, NULL,
						 &reads),
				 0);
		expect_text(&net, net.peer, "?");
		weir_flow_run_stop(reads, NULL);
		assert_int_equal(
			weir_flow_run_wait(reads, WEIR_FOREVER, NULL, NULL), 0);
		weir_flow_run_free(reads);
		weir_flow_free(flow);
		net_start(&net, weir_connection_write(text_flow("hello"),
						      net.connection));
		send_text(net.peer, "?");
		expect_text(&net, net.peer, "HELLO.");
		expect_end(&net, net.peer);
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_over(&net, 0, 5);
		end();
	}
}

static void an_upstream_that_fails_while_it_opens_resets_the_peer(void **state)
{
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		begin(*kind, WEIR_FOREVER);
		flow = weir_flow_items(weir_flow_fail(-EIO, "no more"),
				       weir_flow_bytes_items());
		net_start(&net, weir_connection_write(flow, net.connection));
		expect_text(&net, net.peer, "?");
		net_over(&net, -EIO, 0);
		expect_reset(&net, net.peer);
		end();
	}
}

/* --- Arguments ---------------------------------------------------------------- */

static void a_layer_needs_its_functions(void **state)
{
	struct weir_connection_layer_ops layer;
	size_t i;

	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	for (i = 0; i < 4; i++) {
		layer = shift_layer;
		if (i == 0)
			layer.read = NULL;
		if (i == 1)
			layer.write = NULL;
		if (i == 2)
			layer.reason = NULL;
		if (i == 3)
			layer.free = NULL;
		assert_int_equal(weir_connection_put_layer(net.connection,
							   &layer, NULL, 1),
				 -EINVAL);
	}
	assert_int_equal(weir_connection_put_layer(NULL, &shift_layer, NULL, 1),
			 -EINVAL);
	assert_int_equal(weir_connection_put_layer(net.connection, NULL, NULL,
						   1),
			 -EINVAL);
	assert_int_equal(weir_connection_put_layer(net.connection, &shift_layer,
						   NULL, 0),
			 -EINVAL);
	assert_null(weir_connection_layer(net.connection, &shift_layer));
	net_end(&net);
}

static void a_connection_that_is_used_takes_no_layer(void **state)
{
	begin(&loop, WEIR_FOREVER);
	assert_ptr_equal(weir_connection_layer(net.connection, &shift_layer),
			 &shift);
	assert_null(weir_connection_layer(NULL, &shift_layer));
	assert_null(weir_connection_layer(net.connection, NULL));
	assert_int_equal(weir_connection_put_layer(net.connection, &shift_layer,
						   &shift, 1),
			 -EALREADY);
	end();
	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	net_start(&net, weir_connection_run(net.connection, NULL, NULL));
	assert_int_equal(weir_connection_put_layer(net.connection, &shift_layer,
						   &shift, 1),
			 -EALREADY);
	assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
	net_over(&net, 0, 0);
	net_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_and_the_socket_see_other_bytes),
		cmocka_unit_test(either_flow_opens_it),
		cmocka_unit_test(what_was_taken_in_by_the_other_flow_is_read),
		cmocka_unit_test(a_layer_that_fails_tells_both_and_the_peer),
		cmocka_unit_test(a_peer_has_time_to_take_what_was_said),
		cmocka_unit_test(
			a_layer_that_takes_too_long_to_open_fails_both),
		cmocka_unit_test(
			a_flow_that_is_cancelled_leaves_the_opening_alone),
		cmocka_unit_test(
			an_upstream_that_fails_while_it_opens_resets_the_peer),
		cmocka_unit_test(a_layer_needs_its_functions),
		cmocka_unit_test(a_connection_that_is_used_takes_no_layer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
