/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/faults_kit.h"

#include "base/random.h"
#include "kit/calls.h"
#include "kit/leftovers.h"
#include "net/kit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include <weir/weir.h>

#define MOST 60000
#define LINE_MAX_BYTES 100000

static struct net net;
static struct place elsewhere;
static bool is_two;
static uint64_t drawn;

static uint64_t draw(uint64_t bound)
{
	return weir__splitmix(&drawn) % bound;
}

/* What goes in, and where it comes out. */
static struct {
	int in, out; /* the test's; maybe the same, or -1 */
	/* closed behind the run: what flows borrow */
	int lent[2];
	struct weir_connection *joined[2];
	char sent[MOST];
	size_t all, n_sent, n_got;
	size_t block; /* of what reads */
	size_t cut;   /* the capacity of an async boundary; 0: there is none */
	char from[64], to[64]; /* files */
	bool messages;	       /* each is sent by one call */
	bool is_socket;
	bool late;    /* nothing comes before the run is over */
	bool endless; /* the run does not end by itself */
	bool ended;   /* the flow was told that nothing more comes */
	bool drains;  /* the run is drained, to end it */
} way;

/* --- Flows ---------------------------------------------------------------- */

/* A cut that the bytes do not notice; or none. Any thread. */
static struct weir_flow *between(struct weir_flow *flow)
{
	if (way.cut == 0)
		return flow;
	return weir_flow_async(flow, way.cut,
			       is_two ? elsewhere.executor : NULL);
}

static int with_newline(void **item, void *context)
{
	struct weir_flow_bytes *line = *item, *whole;
	int rc = weir_flow_bytes_new(&whole, line->n + 1, NULL);

	if (rc < 0)
		return rc;
	memcpy(whole->data, line->data, line->n);
	whole->data[line->n] = '\n';
	weir_flow_bytes_unref(line);
	*item = whole;
	return 0;
}

static struct weir_flow *operators(struct weir_flow *flow, void *context)
{
	const bool *lines = context;

	flow = between(flow);
	if (!*lines)
		return flow;
	flow = weir_flow_map(weir_flow_lines(flow, LINE_MAX_BYTES),
			     with_newline, NULL);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	struct weir_flow *flow = weir_connection_read(connection, way.block);

	return weir_connection_write(operators(flow, context), connection);
}

static void socket_pair(int fds[2], int type)
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
}

static void pipe_pair(int fds[2])
{
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static struct weir_flow *server(bool lines)
{
	static bool is_lines;
	struct weir_listen_options options = listen_here(&net);
	char name[64];
	struct weir_flow *flow;

	is_lines = lines;
	(void)snprintf(name, sizeof(name), "unix:@weir-faults-%d",
		       (int)getpid());
	options.connection.sndbuf = draw(2) ? 1 : 0;
	options.connection.no_half_close = draw(2);
	if (draw(2)) {
		strcpy(name, "127.0.0.1:0");
		/* no timer of the kernel's is in the way of small buffers */
		options.connection.sndbuf = 0;
	}
	flow = weir_flow_listen(name, &options);
	way.drains = true;
	way.is_socket = true;
	return weir_flow_each_connection(flow, 1, serve, &is_lines);
}

static struct weir_flow *proxy(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		net_connect(&net, draw(2) ? AF_INET : AF_UNIX, NULL);
		way.joined[i] = net.connection;
		*(i ? &way.out : &way.in) = net.peer;
		net.connection = NULL;
		net.peer = -1;
	}
	way.is_socket = true;
	return weir_connection_pipe(way.joined[0], way.joined[1], NULL);
}

static struct weir_flow *pipes(bool child)
{
	static const char *const cat[] = {"cat", NULL};
	int in[2], out[2];
	struct weir_flow *flow;

	pipe_pair(in);
	pipe_pair(out);
	way.lent[0] = in[0];
	way.in = in[1];
	way.lent[1] = out[1];
	way.out = out[0];
	flow = weir_flow_read(in[0], way.block);
	if (child)
		flow = weir_flow_child(flow, cat, NULL);
	return weir_flow_write(between(flow), out[1]);
}

static void make_files(void)
{
	(void)snprintf(way.from, sizeof(way.from), "/tmp/weir-faults-%d-from",
		       (int)getpid());
	(void)snprintf(way.to, sizeof(way.to), "/tmp/weir-faults-%d-to",
		       (int)getpid());
	way.in = open(way.from,
		      O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
		      0600);
	assert_true(way.in >= 0);
}

static struct weir_flow *copy(void)
{
	make_files();
	assert_int_equal(write(way.in, way.sent, way.all), way.all);
	assert_int_equal(close(way.in), 0);
	way.in = -1;
	way.n_sent = way.all;
	way.late = true;
	return weir_flow_write_file(
		between(weir_flow_read_file(way.from, way.block * 16)), way.to,
		WEIR_FLOW_SYNC_NONE);
}

static struct weir_flow *tail(void)
{
	const struct weir_flow_tail_options options = {.block = way.block,
						       .beginning = true};
	int out[2];

	make_files();
	pipe_pair(out);
	way.lent[1] = out[1];
	way.out = out[0];
	way.endless = true;
	return weir_flow_write(between(weir_flow_tail(way.from, &options)),
			       out[1]);
}

static struct weir_flow *datagrams(void)
{
	int in[2], out[2];

	socket_pair(in, SOCK_DGRAM | SOCK_NONBLOCK);
	socket_pair(out, SOCK_DGRAM | SOCK_NONBLOCK);
	way.lent[0] = in[0];
	way.in = in[1];
	way.lent[1] = out[1];
	way.out = out[0];
	way.is_socket = true;
	way.messages = true;
	way.endless = true;
	return weir_flow_datagrams_send(
		between(weir_flow_datagrams(in[0], NULL)), out[1]);
}

static struct weir_flow *make(enum carrier carrier)
{
	switch (carrier) {
	case CARRIER_ECHO:
	case CARRIER_LINES:
		return server(carrier == CARRIER_LINES);
	case CARRIER_PROXY:
		return proxy();
	case CARRIER_COPY:
		return copy();
	case CARRIER_TAIL:
		return tail();
	case CARRIER_DATAGRAMS:
		return datagrams();
	default:
		return pipes(carrier == CARRIER_CHILD);
	}
}

/* --- The test's end ------------------------------------------------------- */

/* The clock goes on a little: who has no descriptor looks again by a timer. */
static void drive_one(struct place *place)
{
	uint64_t now_ns;

	if (!place->sim) {
		if (!place->kind->has_threads)
			place->kind->drive(place);
		return;
	}
	now_ns = weir_executor_now(place->executor);
	(void)weir_sim_run_until(place->sim, now_ns + 1000000, 1000);
}

static void drive(void)
{
	drive_one(&net.place);
	if (is_two)
		drive_one(&elsewhere);
	if (net.place.kind->has_threads)
		net_drive(&net);
}

static ssize_t put(const char *bytes, size_t n)
{
	return way.is_socket
		       ? send(way.in, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL)
		       : write(way.in, bytes, n);
}

static void send_piece(void)
{
	size_t left = way.all - way.n_sent;
	ssize_t n;

	if (left > 0) {
		if (way.messages && left > 100)
			left = 100;
		calls_own(true);
		n = put(way.sent + way.n_sent, draw(left) + 1);
		calls_own(false);
		assert_true(n > 0 || errno == EAGAIN);
		way.n_sent += n > 0 ? (size_t)n : 0;
		return;
	}
	if (way.ended || way.endless || way.in < 0)
		return;
	way.ended = true;
	if (way.is_socket) {
		assert_int_equal(shutdown(way.in, SHUT_WR), 0);
		/* the other way of a proxy is empty */
		if (way.out != way.in)
			assert_int_equal(shutdown(way.out, SHUT_WR), 0);
		return;
	}
	assert_int_equal(close(way.in), 0);
	way.in = -1;
}

/* False: the end has come. */
static bool take_piece(void)
{
	static char got[MOST];
	/* who has the other end of the pipe does not close it */
	bool is_over = net_is_over(&net);
	ssize_t n;

	if (way.late)
		return !is_over;
	calls_own(true);
	n = read(way.out, got,
		 draw(2) && !way.messages ? draw(9) + 1 : sizeof(got));
	calls_own(false);
	if (n == 0)
		return false;
	assert_true(n > 0 || errno == EAGAIN);
	if (n < 0)
		return way.endless ? way.n_got < way.all : !is_over;
	assert_true((size_t)n <= way.n_sent - way.n_got);
	assert_memory_equal(got, way.sent + way.n_got, n);
	way.n_got += (size_t)n;
	return true;
}

/* What has come into the file. */
static void take_file(void)
{
	way.out = open(way.to, O_RDONLY | O_CLOEXEC);
	assert_true(way.out >= 0);
	way.late = false;
	while (take_piece())
		;
	assert_int_equal(unlink(way.to), 0);
}

static void pump(void)
{
	bool goes_on = true;

	while (goes_on) {
		switch (draw(6)) {
		case 0:
		case 1:
			send_piece();
			break;
		case 2:
		case 3:
			goes_on = take_piece();
			break;
		default:
			drive();
		}
	}
}

/* --- A world -------------------------------------------------------------- */

static void begin(enum carrier carrier, uint64_t seed, const struct kind *kind,
		  const struct kind *other)
{
	size_t i;

	drawn = seed;
	memset(&way, 0, sizeof(way));
	way.in = way.out = way.lent[0] = way.lent[1] = -1;
	way.block = draw(3) ? draw(9) + 1 : 4096;
	way.cut = other || draw(2) ? (size_t)1 << draw(4) : 0;
	way.all = draw(draw(4) ? 2000 : MOST) + 1;
	for (i = 0; i < way.all; i++)
		way.sent[i] = (char)(draw(20) ? 'a' + draw(26) : '\n');
	way.sent[way.all - 1] = '\n';
	calls_own(true);
	net_begin(&net, kind);
	is_two = other;
	if (other)
		place_make(&elsewhere, other);
	net_start(&net, make(carrier));
	if (way.drains) {
		way.in = way.out = dial(net.address);
		assert_int_equal(fcntl(way.in, F_SETFL, O_NONBLOCK), 0);
	} else if (way.out >= 0) {
		assert_int_equal(fcntl(way.out, F_SETFL, O_NONBLOCK), 0);
	}
	calls_own(false);
}

static void close_one(int fd)
{
	if (fd >= 0)
		assert_int_equal(close(fd), 0);
}

static void end(void)
{
	size_t i;

	if (way.from[0])
		assert_int_equal(unlink(way.from), 0);
	for (i = 0; i < 2; i++) {
		weir_connection_unref(way.joined[i]);
		close_one(way.lent[i]);
	}
	if (way.out != way.in)
		close_one(way.out);
	close_one(way.in);
	weir_flow_run_free(net.run);
	weir_flow_free(net.flow);
	net.run = NULL;
	net.flow = NULL;
	if (is_two)
		assert_int_equal(elsewhere.kind->free(&elsewhere), 0);
	net_end(&net);
}

/* What is behind the last byte: nothing. */
static void over(void)
{
	struct weir_error *error;
	char one;
	int i;

	for (i = 0; i < 10; i++)
		drive();
	calls_own(true);
	assert_true(way.late || read(way.out, &one, 1) <= 0);
	calls_own(false);
	if (way.drains)
		weir_flow_run_end(net.run);
	if (way.endless)
		weir_flow_run_stop(net.run, NULL);
	while (!net_is_over(&net))
		drive();
	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, way.endless ? -ECANCELED : 0);
	weir_error_unref(error);
	if (way.late)
		take_file();
	assert_int_equal(way.n_sent, way.all);
	assert_int_equal(way.n_got, way.all);
}

/* A descriptor that is watched anew may give one more, and each of two halves. */
#define SPUN 2

uint64_t carry(enum carrier carrier, uint64_t seed, const struct kind *kind,
	       const struct kind *other)
{
	struct calls_laws laws = calls_draw(seed);
	struct leftovers leftovers;

	leftovers_note(&leftovers);
	/* a child that gets no pipe is not started */
	if (carrier == CARRIER_CHILD)
		laws.lack = false;
	calls_by_seed(seed, &laws);
	begin(carrier, seed, kind, other);
	pump();
	over();
	end();
	calls_plain();
	leftovers_check(&leftovers);
	if (calls_spun() > SPUN)
		fail_msg("%d calls more than there were news", calls_spun());
	return calls_hindered();
}
