/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two connections, joined, by calls that are interrupted, do less than they were
 * asked, or cannot be had, and peers that send and take in pieces: each byte
 * comes once, in its place, and the ends behind them.
 */
#include "net/kit.h"

#include "base/random.h"

#include <fcntl.h>

#include <weir/weir.h>

#define MOST 200000

static struct net net;
static uint64_t drawn;
static struct weir_connection *joined[2];
static int peers[2];

static uint64_t draw(uint64_t bound)
{
	return weir__splitmix(&drawn) % bound;
}

/* What becomes of calls in this world. */
static struct {
	bool hinders;  /* some are interrupted, or would block */
	bool less;     /* some do less */
	bool no_pipes; /* from a drawn one on */
	bool no_splice_in, no_splice_out;
} laws;

/* True: the call fails, with errno. A descriptor that would block is one that
 * does: else nobody would tell when it does no more. */
static bool hinders(void)
{
	if (!laws.hinders || draw(10) > 0)
		return false;
	errno = EINTR;
	return true;
}

static size_t less(size_t n)
{
	return laws.less && draw(2) ? draw(n) + 1 : n;
}

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __real_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags);
ssize_t __real_splice(int from, off64_t *at, int to, off64_t *to_at, size_t n,
		      unsigned int flags);
ssize_t __wrap_splice(int from, off64_t *at, int to, off64_t *to_at, size_t n,
		      unsigned int flags);
int __real_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags);

static bool is_peer(int fd)
{
	return fd == peers[0] || fd == peers[1];
}

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	if (is_peer(fd))
		return __real_recv(fd, to, n, flags);
	/* of what there is TCP gives as much as a piece has room for */
	return hinders() ? -1
			 : __real_recv(fd, to, n > 4096 ? less(n) : n, flags);
}

ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
	if (is_peer(fd))
		return __real_send(fd, from, n, flags);
	return hinders() ? -1 : __real_send(fd, from, less(n), flags);
}

ssize_t __wrap_splice(int from, off64_t *at, int to, off64_t *to_at, size_t n,
		      unsigned int flags)
{
	bool in = from == weir_connection_fd(joined[0]) ||
		  from == weir_connection_fd(joined[1]);

	if (hinders())
		return -1;
	if ((in ? laws.no_splice_in : laws.no_splice_out) && draw(4) == 0) {
		errno = EINVAL;
		return -1;
	}
	return __real_splice(from, at, to, to_at, less(n), flags);
}

int __wrap_pipe2(int fds[2], int flags)
{
	if (!laws.no_pipes || draw(2))
		return __real_pipe2(fds, flags);
	errno = ENFILE;
	return -1;
}

/* --- A world -------------------------------------------------------------- */

/* What goes from one peer to the other. */
static struct stream {
	char bytes[MOST];
	size_t all, sent, got;
	bool ended, seen;
} streams[2];

static void begin(uint64_t seed)
{
	const struct weir_connection_options options[2] = {
		{0}, {.sndbuf = 1, .rcvbuf = 1}};
	size_t i, k;

	drawn = seed;
	laws.hinders = draw(2);
	laws.less = draw(2);
	laws.no_pipes = draw(4) == 0;
	laws.no_splice_in = draw(4) == 0;
	laws.no_splice_out = draw(4) == 0;
	net_begin(&net, draw(8) ? &sim : &loop);
	for (i = 0; i < 2; i++) {
		/* TCP with small buffers waits for timers of the kernel */
		bool tcp = draw(2);

		net_connect(&net, tcp ? AF_INET : AF_UNIX,
			    &options[!tcp && draw(2)]);
		joined[i] = net.connection;
		peers[i] = net.peer;
		net.connection = NULL;
		net.peer = -1;
		streams[i] =
			(struct stream){.all = draw(draw(4) ? 3000 : MOST)};
		for (k = 0; k < streams[i].all; k++)
			streams[i].bytes[k] = (char)draw(256);
	}
	net_start(&net, weir_connection_pipe(joined[0], joined[1], NULL));
}

static void send_piece(int i)
{
	struct stream *stream = &streams[i];
	size_t left = stream->all - stream->sent;
	ssize_t n;

	if (left > 0) {
		n = send(peers[i], stream->bytes + stream->sent, draw(left) + 1,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		assert_true(n > 0 || errno == EAGAIN);
		stream->sent += n > 0 ? (size_t)n : 0;
	} else if (!stream->ended) {
		assert_int_equal(shutdown(peers[i], SHUT_WR), 0);
		stream->ended = true;
	}
}

/* What comes is what is next. */
static void take_piece(int i)
{
	struct stream *stream = &streams[!i];
	static char got[MOST];
	ssize_t n = recv(peers[i], got, draw(2) ? draw(9) + 1 : sizeof(got),
			 MSG_DONTWAIT);

	if (n == 0) {
		assert_int_equal(stream->got, stream->all);
		assert_true(stream->ended);
		stream->seen = true;
	}
	assert_true(n >= 0 || errno == EAGAIN);
	if (n <= 0)
		return;
	assert_true((size_t)n <= stream->sent - stream->got);
	assert_memory_equal(got, stream->bytes + stream->got, n);
	stream->got += (size_t)n;
}

static void end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		weir_connection_unref(joined[i]);
		assert_int_equal(close(peers[i]), 0);
	}
	net_end(&net);
}

static void each_byte_comes_once(void **state)
{
	for_each_seed(seed, test_count(3200)) {
		begin(seed);
		while (!streams[0].seen || !streams[1].seen) {
			switch (draw(6)) {
			case 0:
			case 1:
				send_piece((int)draw(2));
				break;
			case 2:
			case 3:
				take_piece((int)draw(2));
				break;
			default:
				net_drive(&net);
			}
		}
		net_over(&net, 0, streams[0].all + streams[1].all);
		end();
	}
}

/* A peer resets, or somebody stops it: what has come is a beginning. */
static void a_cut_leaves_a_beginning(void **state)
{
	size_t steps;
	int rc;

	for_each_seed(seed, test_count(3200)) {
		begin(seed);
		for (steps = draw(100); steps > 0; steps--) {
			if (!streams[0].seen || !streams[1].seen)
				send_piece((int)draw(2));
			net_drive(&net);
			if (!streams[0].seen && draw(2))
				take_piece(1);
			if (!streams[1].seen && draw(2))
				take_piece(0);
		}
		switch (draw(3)) {
		case 0:
			weir_connection_stop(joined[draw(2)]);
			break;
		case 1:
			weir_flow_run_stop(net.run, NULL);
			break;
		default:
			reset(peers[0]);
			peers[0] = dup(peers[1]);
		}
		do {
			net_drive(&net);
			rc = (int)recv(peers[1], &(char){0}, 1, MSG_DONTWAIT);
		} while (rc > 0 || (rc < 0 && errno == EAGAIN));
		/* one that was closed without a reset has ended */
		(void)shutdown(peers[1], SHUT_WR);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    NULL),
				 0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_once),
		cmocka_unit_test(a_cut_leaves_a_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
