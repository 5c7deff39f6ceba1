/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that are views of their block: what they cost, what they hold, and when
 * it is freed. */
#include "base/random.h"
#include "flow/shared/bytes.h"
#include "flow/world.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ck_pr.h>

#include <weir/flow_io.h>

#define N 300 /* frames at most */

/* A block, and what was cut out of it. */
static struct {
	struct heap heap;
	uint64_t random;
	char text[N * 21];
	size_t length;
	struct weir_flow_bytes *frames[N];
	size_t n, at[N]; /* where the frames begin */
} block;

static size_t draw(size_t n)
{
	return (size_t)(weir__splitmix(&block.random) % n);
}

static void line(size_t n)
{
	memset(block.text + block.length, 'a' + (char)draw(26), n);
	block.length += n;
	block.text[block.length++] = '\n';
}

static int next_block(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	if (*state)
		return 0;
	assert_int_equal(weir_flow_bytes_new(&bytes, block.length,
					     &block.heap.allocator),
			 0);
	memcpy(bytes->data, block.text, block.length);
	*state = bytes;
	*item = bytes;
	return 1;
}

static int keep(void *item, void *context)
{
	block.frames[block.n++] = item;
	return 0;
}

/* Of one block. */
static struct weir_flow *bytes_of_block(void)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_block, NULL),
			       weir_flow_bytes_items());
}

static void keep_all(struct weir_flow *flow, uint64_t seed)
{
	block.n = 0;
	flow = weir_flow_for_each(flow, keep, NULL);
	assert_int_equal(run_on_sim(flow, seed, 0), 0);
	weir_flow_free(flow);
}

static void keep_lines(uint64_t seed)
{
	size_t at = 0;

	keep_all(weir_flow_lines(bytes_of_block(), N), seed);
	for (size_t i = 0; i < block.n; i++) {
		block.at[i] = at;
		at += block.frames[i]->n + 1;
	}
	assert_int_equal(at, block.length);
}

static void begin(uint64_t seed)
{
	heap_init(&block.heap, 0);
	block.random = seed;
	block.length = 0;
}

static void assert_frame(size_t i)
{
	assert_memory_equal(block.frames[i]->data, block.text + block.at[i],
			    block.frames[i]->n);
}

static void drop(size_t i)
{
	weir_flow_bytes_unref(block.frames[i]);
	block.frames[i] = block.frames[--block.n];
	block.at[i] = block.at[block.n];
}

static void lines_are_not_allocated_one_by_one(void **state)
{
	begin(1);
	for (size_t i = 0; i < 160; i++)
		line(20);
	keep_lines(1);
	assert_int_equal(block.n, 160);
	assert_int_equal(block.heap.calls, 1 + 160 / 16);
	while (block.n > 0)
		drop(0);
	assert_int_equal(block.heap.live, 0);
}

/* As many more lines are expected as there would be of the same length. */
static void the_block_goes_with_the_last_line_whatever_their_lengths_are(
	void **state)
{
	for_each_seed(seed, 500) {
		begin(seed);
		for (size_t n = 1 + draw(N - 1); n > 0; n--)
			line(draw(2) ? draw(3) : draw(20));
		keep_lines(seed);
		while (block.n > 0) {
			assert_true(block.heap.live >= 2);
			for (size_t i = 0; i < block.n; i++)
				assert_frame(i);
			drop(draw(block.n));
		}
		assert_int_equal(block.heap.live, 0);
		assert_int_equal(block.heap.bytes, 0);
	}
}

static void a_line_that_is_shared_stays(void **state)
{
	struct weir_flow_bytes *first;

	begin(1);
	for (size_t i = 0; i < 5; i++)
		line(i);
	keep_lines(1);
	/* in the memory of the first one are the others */
	first = weir_flow_bytes_ref(block.frames[0]);
	while (block.n > 0)
		drop(0);
	assert_int_equal(first->n, 0);
	assert_int_equal(block.heap.live, 2);
	weir_flow_bytes_unref(first);
	assert_int_equal(block.heap.live, 0);
}

static void a_frame_of_a_frame_holds_the_block_alone(void **state)
{
	struct weir_flow *flow;

	begin(1);
	line(3);
	line(3);
	block.text[block.length++] = ';';
	line(3);
	line(3);
	flow = weir_flow_delimited(bytes_of_block(), ";", 1, N,
				   WEIR_FLOW_REMAINDER_FAIL);
	block.text[block.length++] = ';';
	keep_all(weir_flow_lines(flow, N), 1);
	assert_int_equal(block.n, 4);
	/* the block, and the lines of both frames */
	assert_int_equal(block.heap.live, 3);
	while (block.n > 0)
		drop(0);
	assert_int_equal(block.heap.live, 0);
}

/* Some are shared, and others have memory of their own; none goes before its
 * last reference. */
static void frames_are_dropped_together(void **state)
{
	struct weir_flow_bytes *shared[N];
	size_t n_shared, n, at;

	for_each_seed(seed, 500) {
		begin(seed);
		for (n = 1 + draw(100); n > 0; n--)
			line(draw(20));
		keep_lines(seed);
		n_shared = 0;
		for (size_t i = 0; i < block.n; i++) {
			if (draw(20) == 0)
				shared[n_shared++] =
					weir_flow_bytes_ref(block.frames[i]);
			if (draw(20) == 0) {
				weir_flow_bytes_unref(block.frames[i]);
				assert_int_equal(weir_flow_bytes_new(
							 &block.frames[i], 3,
							 &block.heap.allocator),
						 0);
			}
		}
		for (at = 0; at < block.n; at += n) {
			n = 1 + draw(block.n - at);
			weir__bytes_drop(block.frames + at, n);
		}
		for (size_t i = 0; i < n_shared; i++) {
			assert_int_equal(shared[i]->data[shared[i]->n], '\n');
			weir_flow_bytes_unref(shared[i]);
		}
		assert_int_equal(block.heap.live, 0);
	}
	weir__bytes_drop(NULL, 0);
}

/* --- What stands behind a frame ------------------------------------------- */

/* Bytes of the text, in pieces. */
struct pieces {
	const char *text;
	size_t length, piece;
};

static int next_piece(void **state, void **item, void *context)
{
	const struct pieces *self = context;
	size_t at = (size_t)*state, n = self->length - at;
	struct weir_flow_bytes *bytes;

	if (n == 0)
		return 0;
	if (n > self->piece)
		n = self->piece;
	assert_int_equal(weir_flow_bytes_new(&bytes, n, &block.heap.allocator),
			 0);
	memcpy(bytes->data, self->text + at, n);
	*state = (void *)(at + n);
	*item = bytes;
	return 1;
}

/* Takes a frame as a string, and with its delimiter; tells what it was. */
static int with_delimiter(void *item, void *context)
{
	struct weir_flow_bytes *frame = item;
	const char *delimiter = context;
	size_t n = strlen(delimiter);

	assert_memory_equal(frame->data + frame->n, delimiter, n);
	frame->data[frame->n] = '\0';
	strcat(block.text, frame->data);
	strcat(block.text, "|");
	memcpy(frame->data + frame->n, delimiter, n);
	frame->n += n;
	assert_memory_equal(frame->data + frame->n - n, delimiter, n);
	weir_flow_bytes_unref(frame);
	return 0;
}

static void assert_behind(const char *text, char *delimiter,
			  const char *expected)
{
	struct pieces pieces = {text, strlen(text), 1};
	struct weir_flow *flow;

	begin(1);
	for (; pieces.piece <= pieces.length; pieces.piece++) {
		block.text[0] = '\0';
		flow = weir_flow_items(weir_flow_unfold(NULL, next_piece,
							&pieces),
				       weir_flow_bytes_items());
		flow = weir_flow_delimited(flow, delimiter, strlen(delimiter),
					   10, WEIR_FLOW_REMAINDER_EMIT);
		flow = weir_flow_for_each(flow, with_delimiter, delimiter);
		assert_int_equal(run_on_sim(flow, 1, 0), 0);
		weir_flow_free(flow);
		assert_string_equal(block.text, expected);
		assert_int_equal(block.heap.live, 0);
	}
}

/* In pieces of every size; also behind the last, which had none. */
static void the_delimiter_stands_behind_each_frame(void **state)
{
	char newline[] = "\n", crlf[] = "\r\n", long_one[] = "0123456789abcdef";

	assert_behind("ab\n\ncdefghijkl\n\nm\n", newline, "ab||cdefghijkl||m|");
	assert_behind("ab\n\ncdefghijkl\n\nm", newline, "ab||cdefghijkl||m|");
	assert_behind("ab\r\n\r\ncd\r\r\ne", crlf, "ab||cd\r|e|");
	assert_behind("ab\r\n\r", crlf, "ab|\r|");
	assert_behind("x0123456789abcdefy", long_one, "x|y|");
}

/* --- Several threads ------------------------------------------------------ */

static uint32_t n_pieces; /* atomic */

static void *alloc_anywhere(size_t size, void *context)
{
	ck_pr_inc_32(&n_pieces);
	return malloc(size);
}

static void free_anywhere(void *memory, size_t size, void *context)
{
	ck_pr_dec_32(&n_pieces);
	free(memory);
}

static void *drop_odd(void *argument)
{
	for (size_t i = 1; i < block.n; i += 2) {
		assert_frame(i);
		block.frames[i]->data[0] = 'x';
		weir_flow_bytes_unref(block.frames[i]);
	}
	return NULL;
}

static void several_threads_drop_the_lines_of_a_block(void **state)
{
	pthread_t thread;

	for (uint64_t run = test_count(1000); run > 0; run--) {
		begin(run);
		block.heap.allocator = (struct weir_allocator){
			.alloc = alloc_anywhere, .free = free_anywhere};
		for (size_t i = 0; i < 40; i++)
			line(1 + draw(20));
		keep_lines(run);
		assert_int_equal(pthread_create(&thread, NULL, drop_odd, NULL),
				 0);
		for (size_t i = 0; i < block.n; i += 2) {
			assert_frame(i);
			block.frames[i]->data[0] = 'x';
			weir_flow_bytes_unref(block.frames[i]);
		}
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(ck_pr_load_32(&n_pieces), 0);
	}
}

/* --- A line that another thread has had ----------------------------------- */

static struct {
	struct weir_flow_bytes *lines[N];
	uint32_t n; /* atomic: only ever from the flow to the thread */
	uint32_t all;
} lent;

static int lend(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;
	uint32_t n = ck_pr_load_32(&lent.n);

	line->n++;
	lent.lines[n] = weir_flow_bytes_ref(line);
	/* release: the line; pairs with the acquire in look_and_drop() */
	ck_pr_fence_release();
	ck_pr_store_32(&lent.n, n + 1);
	return 0;
}

static void *look_and_drop(void *argument)
{
	size_t *sum = argument;

	for (uint32_t i = 0; i < lent.all; i++) {
		while (ck_pr_load_32(&lent.n) <= i)
			ck_pr_stall();
		ck_pr_fence_acquire();
		*sum += lent.lines[i]->n;
		weir_flow_bytes_unref(lent.lines[i]);
	}
	return NULL;
}

static void write_lent(uint64_t seed)
{
	struct weir_flow *flow = weir_flow_lines(bytes_of_block(), N);
	char came[sizeof(block.text)];
	pthread_t thread;
	size_t sum = 0;
	int out[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	flow = weir_flow_same_items(weir_flow_map(flow, lend, NULL));
	flow = weir_flow_write(flow, out[1]);
	assert_int_equal(pthread_create(&thread, NULL, look_and_drop, &sum), 0);
	assert_int_equal(run_on_sim(flow, seed, 0), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	weir_flow_free(flow);
	assert_int_equal(sum, block.length);
	assert_int_equal(recv(out[0], came, sizeof(came), 0), block.length);
	assert_memory_equal(came, block.text, block.length);
	assert_int_equal(close(out[0]), 0);
	assert_int_equal(close(out[1]), 0);
}

/* A writer gives a line the bytes behind it when the other thread has dropped
 * it, and not before. */
static void a_line_grows_when_nobody_else_has_it(void **state)
{
	for (uint64_t run = test_count(1000); run > 0; run--) {
		begin(run);
		block.heap.allocator = (struct weir_allocator){
			.alloc = alloc_anywhere, .free = free_anywhere};
		lent.all = 20 + (uint32_t)draw(200);
		ck_pr_store_32(&lent.n, 0);
		for (uint32_t i = 0; i < lent.all; i++)
			line(1 + draw(19));
		write_lent(run);
		assert_int_equal(ck_pr_load_32(&n_pieces), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_not_allocated_one_by_one),
		cmocka_unit_test(
			the_block_goes_with_the_last_line_whatever_their_lengths_are),
		cmocka_unit_test(a_line_that_is_shared_stays),
		cmocka_unit_test(a_frame_of_a_frame_holds_the_block_alone),
		cmocka_unit_test(frames_are_dropped_together),
		cmocka_unit_test(the_delimiter_stands_behind_each_frame),
		cmocka_unit_test(several_threads_drop_the_lines_of_a_block),
		cmocka_unit_test(a_line_grows_when_nobody_else_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
