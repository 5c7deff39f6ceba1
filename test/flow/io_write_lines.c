/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing lines that lie one behind the other. The calls are counted. */
#include "flow/world.h"

#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weir/flow_io.h>

#define LINES 2000 /* of 5 bytes, in one block */

static struct heap heap;      /* the block, and its lines */
static size_t sends, longest; /* sendmsg(2); of writev(2), bytes */

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	sends++;
	return __real_sendmsg(fd, message, flags);
}

ssize_t __real_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int n)
{
	ssize_t rc = __real_writev(fd, parts, n);

	if (rc > 0 && (size_t)rc > longest)
		longest = (size_t)rc;
	return rc;
}

static int same(void **item, void *context)
{
	return 0;
}

static int with_newline(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;

	line->n++;
	return 0;
}

static struct weir_flow_bytes *kept[LINES];
static size_t n_kept;

static int keep_too(void **item, void *context)
{
	with_newline(item, NULL);
	kept[n_kept++] = weir_flow_bytes_ref(*item);
	return 0;
}

static void letters_of(size_t i, char line[6])
{
	(void)snprintf(line, 6, "%04zu\n", i);
}

static int one_block(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	char line[6];

	if (*state)
		return 0;
	assert_int_equal(weir_flow_bytes_new(&bytes, (size_t)LINES * 5,
					     &heap.allocator),
			 0);
	for (size_t i = 0; i < LINES; i++) {
		letters_of(i, line);
		memcpy(bytes->data + i * 5, line, 5);
	}
	*state = *item = bytes;
	return 1;
}

/* `n` of the lines, as `map` makes them, to be written to `fd`. */
static struct weir_flow *write_lines(int (*map)(void **item, void *context),
				     int fd, uint64_t n)
{
	struct weir_flow *flow = weir_flow_unfold(NULL, one_block, NULL);

	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_map(weir_flow_lines(flow, 9), map, NULL);
	heap_init(&heap, 0);
	sends = longest = n_kept = 0;
	return weir_flow_write(weir_flow_take(weir_flow_same_items(flow), n),
			       fd);
}

static void assert_lines(int fd)
{
	char came[LINES * 5], line[6];
	size_t n = 0;

	while (n < sizeof(came)) {
		ssize_t got = recv(fd, came + n, sizeof(came) - n, 0);

		assert_true(got > 0);
		n += (size_t)got;
	}
	for (size_t i = 0; i < LINES; i++) {
		letters_of(i, line);
		assert_memory_equal(came + i * 5, line, 5);
	}
}

static size_t sends_for(int (*map)(void **item, void *context))
{
	struct weir_flow *flow;
	int out[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	flow = write_lines(map, out[1], LINES);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	if (map != same)
		assert_lines(out[0]);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	return sends;
}

static void neighbours_are_one_item(void **state)
{
	assert_int_equal(sends_for(with_newline), 1);
	assert_int_equal(sends_for(same), LINES / 64 + 1);
	assert_int_equal(heap.live, 0);
}

static void an_item_that_somebody_else_has_stays_as_it_is(void **state)
{
	char line[6];

	assert_int_equal(sends_for(keep_too), LINES / 64 + 1);
	assert_int_equal(n_kept, LINES);
	for (size_t i = 0; i < LINES; i++) {
		letters_of(i, line);
		assert_int_equal(kept[i]->n, 5);
		assert_memory_equal(kept[i]->data, line, 5);
		weir_flow_bytes_unref(kept[i]);
	}
	assert_int_equal(heap.live, 0);
}

/* A pipe has other writers, and a socket may have messages. */
static void neighbours_stay_apart_where_an_item_is_a_whole(void **state)
{
	struct weir_flow *flow;
	char some[LINES * 5];
	int out[2];

	assert_int_equal(pipe(out), 0);
	flow = write_lines(with_newline, out[1], LINES);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_in_range(longest, 1, PIPE_BUF);
	assert_int_equal(read(out[0], some, sizeof(some)), sizeof(some));
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, out), 0);
	flow = write_lines(with_newline, out[1], 50);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	for (size_t i = 0; i < 50; i++)
		assert_int_equal(recv(out[0], some, sizeof(some), 0), 5);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	assert_int_equal(heap.live, 0);
}

static void neighbours_go_out_in_pieces_where_the_peer_is_slow(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct weir_loop *loop;
	char came[LINES * 5], line[6];
	int out[2], size = 1;
	size_t n = 0;
	ssize_t got;

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, out), 0);
	assert_int_equal(setsockopt(out[1], SOL_SOCKET, SO_SNDBUF, &size,
				    sizeof(size)),
			 0);
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	flow = write_lines(with_newline, out[1], LINES);
	assert_int_equal(
		weir_flow_start(flow, weir_loop_executor(loop), NULL, &run), 0);
	while (n < sizeof(came)) {
		assert_true(weir_loop_run(loop, 16) >= 0);
		got = recv(out[0], came + n, 7, 0);
		n += got > 0 ? (size_t)got : 0;
	}
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	for (size_t i = 0; i < LINES; i++) {
		letters_of(i, line);
		assert_memory_equal(came + i * 5, line, 5);
	}
	assert_true(sends > 1);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
	assert_int_equal(heap.live, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_one_item),
		cmocka_unit_test(an_item_that_somebody_else_has_stays_as_it_is),
		cmocka_unit_test(
			neighbours_stay_apart_where_an_item_is_a_whole),
		cmocka_unit_test(
			neighbours_go_out_in_pieces_where_the_peer_is_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
