/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing: how much goes into a call, what a call may do with it, and peers
 * that go away. The calls are interposed.
 */
#include "flow/kit.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <weir/flow_io.h>

/* --- Calls ---------------------------------------------------------------- */

static struct {
	size_t calls,
		torn;	 /* torn: longer than a pipe keeps whole, of several */
	uint64_t random; /* not 0: takes a part, or fails for a moment */
	size_t left;	 /* before `code`, calls */
	int code;	 /* < 0: fails with it; 1: writes nothing */
	size_t sends, parts; /* of sendmsg(2): calls, parts of the last */
	uint64_t takes_ns;   /* a sendmsg(2), a read(2) */
} kernel;

/* From here on time is what calls and functions take, if not 0. */
static uint64_t now_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!now_ns)
		return __real_clock_gettime(clock, time);
	time->tv_sec = (time_t)(now_ns / 1000000000);
	time->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static uint32_t draw(uint32_t n)
{
	kernel.random = kernel.random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
	return (uint32_t)(kernel.random >> 33) % n;
}

static size_t total(const struct iovec *parts, int n)
{
	size_t sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += parts[i].iov_len;
	return sum;
}

static bool refuses(ssize_t *rc)
{
	if (!kernel.code || kernel.left-- > 0)
		return false;
	kernel.left = 0;
	if (kernel.code < 0)
		errno = -kernel.code;
	*rc = kernel.code < 0 ? -1 : 0;
	return true;
}

ssize_t __real_write(int fd, const void *data, size_t n);

static struct {
	int end; /* to read from */
	char bytes[4096];
	size_t n;
} drained;

static size_t take(size_t n)
{
	ssize_t got = read(drained.end, drained.bytes + drained.n, n);

	return got > 0 ? (size_t)got : 0;
}

/*
 * The pipe has been full for a moment, and what was in it was read: as somebody
 * must have done who makes it ready again.
 */
static void be_full(int fd)
{
	char fill[PIPE_BUF] = "";
	size_t n = 0;

	drained.n += take(sizeof(drained.bytes) - drained.n);
	while (__real_write(fd, fill, sizeof(fill)) > 0)
		n++;
	assert_int_equal(errno, EAGAIN);
	while (n-- > 0)
		assert_int_equal(read(drained.end, fill, sizeof(fill)),
				 sizeof(fill));
}

ssize_t __real_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n)
{
	ssize_t rc;

	kernel.calls++;
	kernel.torn += n > 1 && total(parts, n) > PIPE_BUF;
	if (refuses(&rc))
		return rc;
	if (!kernel.random)
		return __real_writev(fd, parts, n);
	if (draw(4) == 0) {
		errno = EINTR;
		if (draw(2)) {
			be_full(fd);
			errno = EAGAIN;
		}
		return -1;
	}
	/* some of the first parts, and a piece of the next */
	return write(fd, parts[0].iov_base, 1 + draw((uint32_t)parts->iov_len));
}

ssize_t __wrap_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n)
{
	ssize_t rc;

	kernel.calls += !kernel.random;
	if (!kernel.random && refuses(&rc))
		return rc;
	return __real_write(fd, data, n);
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	kernel.calls++;
	kernel.sends++;
	kernel.parts = message->msg_iovlen;
	now_ns += kernel.takes_ns;
	return __real_sendmsg(fd, message, flags);
}

ssize_t __real_read(int fd, void *data, size_t n);
ssize_t __wrap_read(int fd, void *data, size_t n);
ssize_t __wrap_read(int fd, void *data, size_t n)
{
	now_ns += kernel.takes_ns;
	return __real_read(fd, data, n);
}

static size_t opens;

/* The name that 64 bits of offset give it. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	if (opens++ == 0) {
		errno = EINTR;
		return -1;
	}
	return __real_open64(path, flags);
}

/* --- Items ---------------------------------------------------------------- */

static size_t n_alive; /* blocks of memory */

static void *counted_alloc(size_t size, void *context)
{
	n_alive++;
	return malloc(size);
}

static void counted_free(void *memory, size_t size, void *context)
{
	n_alive -= memory != NULL;
	free(memory);
}

static const struct weir_allocator counting = {counted_alloc, counted_free,
					       NULL};

/* Items of `size` bytes, each of its number; `size` 0: 0 to 9 bytes. */
struct numbered {
	size_t n, size;
};

static size_t size_of(const struct numbered *numbered, size_t i)
{
	return numbered->size ? numbered->size : i * 7 % 10;
}

static int next_item(void **state, void **item, void *context)
{
	const struct numbered *numbered = context;
	size_t i = (size_t)*state;
	struct weir_flow_bytes *bytes;

	if (i == numbered->n)
		return 0;
	assert_int_equal(weir_flow_bytes_new(&bytes, size_of(numbered, i),
					     &counting),
			 0);
	memset(bytes->data, 'a' + (int)(i % 26), bytes->n);
	*state = (void *)(i + 1);
	*item = bytes;
	return 1;
}

static struct weir_flow *items_of(struct numbered *numbered)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_item, numbered),
			       weir_flow_bytes_items());
}

static void assert_written(int fd, const struct numbered *numbered)
{
	char byte;
	size_t i, at;

	for (i = 0; i < numbered->n; i++) {
		for (at = 0; at < size_of(numbered, i); at++) {
			assert_int_equal(read(fd, &byte, 1), 1);
			assert_int_equal(byte, 'a' + (int)(i % 26));
		}
	}
	assert_int_equal(n_alive, 0);
}

static int temporary(void)
{
	char path[] = "/tmp/weir-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static int written(struct numbered *numbered, int fd, uint64_t seed)
{
	struct weir_flow *flow = weir_flow_write(items_of(numbered), fd);
	int rc;

	kernel.calls = kernel.torn = 0;
	rc = run_on_sim(flow, seed, seed % 2 * 16);
	weir_flow_free(flow);
	return rc;
}

/* --- How much goes into a call -------------------------------------------- */

static void what_is_there_is_written_by_one_call(void **state)
{
	struct numbered numbered = {10000, 20};
	int fd = temporary();

	assert_int_equal(written(&numbered, fd, 2), 0);
	assert_in_range(kernel.calls, 1, 10000 / 16);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_written(fd, &numbered);
	assert_int_equal(close(fd), 0);
}

static void parts_of_items_and_failures_for_a_moment(uint64_t seed)
{
	struct numbered numbered = {200, 0};
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, PIPE_BUF) >= PIPE_BUF);
	drained.end = fds[0];
	drained.n = 0;
	kernel.random = seed;
	assert_int_equal(written(&numbered, fds[1], seed), 0);
	kernel.random = 0;
	drained.n += take(sizeof(drained.bytes) - drained.n);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
	/* from the beginning, as if nobody had read it */
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(__real_write(fds[1], drained.bytes, drained.n),
			 drained.n);
	assert_int_equal(close(fds[1]), 0);
	assert_written(fds[0], &numbered);
	assert_int_equal(read(fds[0], drained.bytes, 1), 0);
	assert_int_equal(close(fds[0]), 0);
}

static void each_byte_is_written_once_whatever_a_call_takes(void **state)
{
	for_each_seed(seed, test_count(200))
		parts_of_items_and_failures_for_a_moment(seed);
}

static void a_failure_in_the_middle_drops_the_rest(void **state)
{
	struct numbered numbered = {1000, 20};
	int fd = temporary();

	for (kernel.left = 0; kernel.left < 4; kernel.left++) {
		size_t left = kernel.left;

		kernel.code = -ENOSPC;
		assert_int_equal(written(&numbered, fd, left), -ENOSPC);
		assert_int_equal(n_alive, 0);
		kernel.left = left;
	}
	kernel.code = 0;
	assert_int_equal(close(fd), 0);
}

static void a_call_that_writes_nothing_fails_the_stream(void **state)
{
	struct numbered numbered = {10, 20};
	int fd = temporary();

	kernel.code = 1;
	kernel.left = 0;
	assert_int_equal(written(&numbered, fd, 2), -EIO);
	kernel.code = 0;
	assert_int_equal(n_alive, 0);
	assert_int_equal(close(fd), 0);
}

static void a_pipe_gets_no_more_at_once_than_it_keeps_whole(void **state)
{
	struct numbered short_ones = {100, 100}, long_ones = {3, 5000};
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(written(&short_ones, fds[1], 2), 0);
	assert_in_range(kernel.calls, 3, 10);
	assert_int_equal(kernel.torn, 0);
	assert_written(fds[0], &short_ones);
	assert_int_equal(written(&long_ones, fds[1], 2), 0);
	assert_int_equal(kernel.torn, 0);
	assert_written(fds[0], &long_ones);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

/* An item is a message. */
static void assert_messages(int from, int to)
{
	struct numbered numbered = {9, 30};
	char bytes[300];
	size_t i;

	assert_int_equal(written(&numbered, to, 2), 0);
	assert_int_equal(n_alive, 0);
	for (i = 0; i < 9; i++)
		assert_int_equal(read(from, bytes, sizeof(bytes)), 30);
	assert_int_equal(close(from), 0);
	assert_int_equal(close(to), 0);
}

static void messages_stay_apart(void **state)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	assert_messages(fds[0], fds[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	assert_messages(fds[0], fds[1]);
	assert_int_equal(pipe2(fds, O_DIRECT | O_CLOEXEC), 0);
	assert_messages(fds[0], fds[1]);
}

static void a_stream_socket_gathers(void **state)
{
	struct numbered numbered = {640, 20};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(written(&numbered, fds[1], 2), 0);
	assert_in_range(kernel.calls, 1, 640 / 16);
	assert_written(fds[0], &numbered);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

static int with_newline(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;

	line->n++;
	return 0;
}

/* Returns how many parts the call had that has written these lines. */
static size_t parts_for(const char *lines, bool newlines)
{
	size_t n = strlen(lines);
	struct weir_flow *flow;
	int in[2], out[2];
	char came[100];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(write(in[1], lines, n), n);
	assert_int_equal(close(in[1]), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	flow = weir_flow_lines(weir_flow_read(in[0], sizeof(came)), 9);
	if (newlines)
		flow = weir_flow_same_items(
			weir_flow_map(flow, with_newline, NULL));
	flow = weir_flow_write(flow, out[1]);
	kernel.sends = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(kernel.sends, 1);
	weir_flow_free(flow);
	if (newlines) {
		assert_int_equal(recv(out[0], came, sizeof(came), 0), n);
		assert_memory_equal(came, lines, n);
	}
	assert_int_equal(close(in[0]), 0);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	return kernel.parts;
}

static void items_that_are_neighbours_are_one_part(void **state)
{
	assert_int_equal(parts_for("a\nbc\n\ndef\n", true), 1);
	assert_int_equal(parts_for("a\nbc\nd\n", false), 3);
}

/* Returns how many parts the first call had that has written these items. */
static size_t parts_of(size_t n, size_t size)
{
	struct numbered numbered = {n, size};
	int out[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	kernel.sends = 0;
	assert_int_equal(written(&numbered, out[1], 2), 0);
	assert_int_equal(kernel.sends, 1);
	assert_written(out[0], &numbered);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	return kernel.parts;
}

static void many_short_items_are_copied_to_one_part(void **state)
{
	assert_int_equal(parts_of(64, 0), 1); /* some of them are empty */
	assert_int_equal(parts_of(64, 128), 1);
	assert_int_equal(parts_of(64, 129), 64);
	assert_int_equal(parts_of(9, 910), 1);
	assert_int_equal(parts_of(8, 10), 8);
}

/* --- What comes quickly --------------------------------------------------- */

#define PUBLISH_NS UINT64_C(5000)
#define SLOW_NS (3 * PUBLISH_NS) /* a call, or an item */

static struct weir_loop *slow_loop(void)
{
	const struct weir_executor_options options = {.publish_ns = PUBLISH_NS};
	struct weir_loop *loop;

	assert_int_equal(weir_loop_new(&loop, &options), 0);
	kernel.sends = 0;
	kernel.takes_ns = SLOW_NS;
	now_ns = 1000000000;
	return loop;
}

static void fast_again(struct weir_loop *loop)
{
	kernel.takes_ns = now_ns = 0;
	assert_int_equal(weir_loop_free(loop), 0);
}

struct slow {
	size_t n, from, to; /* items, those that are slow */
};

static int takes_long(void **item, void *context)
{
	struct slow *slow = context;

	now_ns += slow->n >= slow->from && slow->n < slow->to ? SLOW_NS : 1;
	slow->n++;
	return 0;
}

/* Returns how many calls write 200 items, of which some are slow. */
static size_t calls_for_200(size_t from, size_t to)
{
	struct numbered numbered = {200, 20};
	struct weir_loop *loop = slow_loop();
	struct slow slow = {0, from, to};
	struct weir_flow *flow;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	flow = weir_flow_map(items_of(&numbered), takes_long, &slow);
	flow = weir_flow_write(weir_flow_same_items(flow), fds[1]);
	assert_int_equal(weir_flow_run(flow, weir_loop_executor(loop), NULL),
			 0);
	fast_again(loop);
	assert_written(fds[0], &numbered);
	weir_flow_free(flow);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
	return kernel.sends;
}

/* The island learns from its turns, which are as long as a call, to ask for one
 * item at a time. */
static void items_that_come_quickly_are_written_by_one_call(void **state)
{
	assert_int_equal(calls_for_200(0, 0), 200 / 64 + 1);
}

static void an_item_does_not_wait_for_a_slow_one(void **state)
{
	assert_int_equal(calls_for_200(0, 200), 200);
}

/* Those that have become slow are gathered once more; those that have become
 * quick are, too. */
static void the_speed_of_items_is_learnt_anew(void **state)
{
	/* 64, 36 with 28 slow ones, 72 alone */
	assert_int_equal(calls_for_200(100, 200), 2 + 72);
	/* 100 alone, 64, 36 */
	assert_int_equal(calls_for_200(0, 100), 100 + 2);
}

/* A call that reads takes as long as one that writes, and brings them all. */
static void lines_that_were_read_at_once_are_written_at_once(void **state)
{
	struct weir_loop *loop = slow_loop();
	struct weir_flow_run *run;
	struct weir_flow *flow;
	int in[2], out[2];
	char came[100];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, in), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	flow = weir_flow_write(weir_flow_lines(weir_flow_read(in[0], 4096), 9),
			       out[1]);
	assert_int_equal(
		weir_flow_start(flow, weir_loop_executor(loop), NULL, &run), 0);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(send(in[1], "a\nb\nc\nd\ne\nf\n", 12, 0), 12);
		while (recv(out[0], came, sizeof(came),
			    MSG_PEEK | MSG_DONTWAIT) < 6)
			assert_true(weir_loop_run(loop, 16) >= 0);
		assert_int_equal(recv(out[0], came, sizeof(came), 0), 6);
		assert_memory_equal(came, "abcdef", 6);
	}
	assert_int_equal(close(in[1]), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	/* of the first six it is not known that they come quickly */
	assert_int_equal(kernel.sends, 11);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	fast_again(loop);
	assert_int_equal(close(in[0]), 0);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
}

static void opening_is_tried_again_after_a_signal(void **state)
{
	struct weir_flow *flow =
		weir_flow_ignore(weir_flow_read_file("/dev/null", 10));

	opens = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(opens, 2);
	weir_flow_free(flow);
}

/* --- Peers that go away --------------------------------------------------- */

static void blocked(sigset_t *set)
{
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, set), 0);
}

static bool pipe_signal_waits(void)
{
	sigset_t set;

	assert_int_equal(sigpending(&set), 0);
	return sigismember(&set, SIGPIPE) == 1;
}

/*
 * On the thread of a simulator, and of a loop; SIGPIPE would end this program.
 */
static void assert_no_signal(int fd)
{
	struct numbered numbered = {100, 20};
	struct weir_flow *flow = weir_flow_write(items_of(&numbered), fd);
	sigset_t before, after;
	struct weir_loop *loop;

	blocked(&before);
	assert_int_equal(run_on_sim(flow, 1, 0), -EPIPE);
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	assert_int_equal(weir_flow_run(flow, weir_loop_executor(loop), NULL),
			 -EPIPE);
	assert_int_equal(weir_loop_free(loop), 0);
	weir_flow_free(flow);
	assert_int_equal(n_alive, 0);
	assert_false(pipe_signal_waits());
	blocked(&after);
	assert_int_equal(sigismember(&before, SIGPIPE),
			 sigismember(&after, SIGPIPE));
}

static void assert_peer_gone(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};
	size_t i;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(close(fds[0]), 0);
	assert_no_signal(fds[1]);
	assert_int_equal(close(fds[1]), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, types[i], 0, fds), 0);
		assert_int_equal(close(fds[0]), 0);
		assert_no_signal(fds[1]);
		assert_int_equal(close(fds[1]), 0);
	}
}

static void a_peer_that_goes_away_is_an_error_and_no_signal(void **state)
{
	assert_int_equal(signal(SIGPIPE, SIG_DFL), SIG_DFL);
	assert_peer_gone();
}

static void no_signal_is_left_where_the_thread_blocks_it(void **state)
{
	sigset_t set, kept;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &kept), 0);
	assert_peer_gone();
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &kept, NULL), 0);
}

static void a_signal_of_somebody_elses_stays(void **state)
{
	struct numbered numbered = {100, 20};
	sigset_t set, kept;
	int fds[2], number;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &kept), 0);
	assert_int_equal(raise(SIGPIPE), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(written(&numbered, fds[1], 2), -EPIPE);
	assert_true(pipe_signal_waits());
	assert_int_equal(sigwait(&set, &number), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &kept, NULL), 0);
	assert_int_equal(close(fds[1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_written_by_one_call),
		cmocka_unit_test(
			each_byte_is_written_once_whatever_a_call_takes),
		cmocka_unit_test(a_failure_in_the_middle_drops_the_rest),
		cmocka_unit_test(a_call_that_writes_nothing_fails_the_stream),
		cmocka_unit_test(
			a_pipe_gets_no_more_at_once_than_it_keeps_whole),
		cmocka_unit_test(messages_stay_apart),
		cmocka_unit_test(a_stream_socket_gathers),
		cmocka_unit_test(items_that_are_neighbours_are_one_part),
		cmocka_unit_test(many_short_items_are_copied_to_one_part),
		cmocka_unit_test(
			items_that_come_quickly_are_written_by_one_call),
		cmocka_unit_test(an_item_does_not_wait_for_a_slow_one),
		cmocka_unit_test(the_speed_of_items_is_learnt_anew),
		cmocka_unit_test(
			lines_that_were_read_at_once_are_written_at_once),
		cmocka_unit_test(opening_is_tried_again_after_a_signal),
		cmocka_unit_test(
			a_peer_that_goes_away_is_an_error_and_no_signal),
		cmocka_unit_test(no_signal_is_left_where_the_thread_blocks_it),
		cmocka_unit_test(a_signal_of_somebody_elses_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
