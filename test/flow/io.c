/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes: read, cut into lines and frames, written. */
#include "base/random.h"
#include "flow/world.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* --- Bytes in, frames out ------------------------------------------------- */

/* A flow of the text in pieces of `n` bytes. */
struct text {
	const char *bytes;
	size_t length, piece;
};

static int next_piece(void **state, void **item, void *context)
{
	const struct text *text = context;
	size_t at = (size_t)*state, n = text->length - at;
	struct weir_flow_bytes *bytes;

	if (n == 0)
		return 0;
	if (n > text->piece)
		n = text->piece;
	assert_int_equal(weir_flow_bytes_new(&bytes, n, NULL), 0);
	memcpy(bytes->data, text->bytes + at, n);
	*state = (void *)(at + n);
	*item = bytes;
	return 1;
}

static struct weir_flow *pieces(struct text *text)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_piece, text),
			       weir_flow_bytes_items());
}

/* Frames are gathered as "a|b|". */
static int gather(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	char *all = context;

	strncat(all, bytes->data, bytes->n);
	strcat(all, "|");
	weir_flow_bytes_unref(bytes);
	return 0;
}

static struct weir_flow *lines_of(struct weir_flow *flow)
{
	return weir_flow_lines(flow, 5);
}

static struct weir_flow *crlf_of(struct weir_flow *flow)
{
	return weir_flow_delimited(flow, "\r\n", 2, 5,
				   WEIR_FLOW_REMAINDER_EMIT);
}

static struct weir_flow *crlf_all_of(struct weir_flow *flow)
{
	return weir_flow_delimited(flow, "\r\n", 2, 5,
				   WEIR_FLOW_REMAINDER_FAIL);
}

static struct weir_flow *crlf_whole_of(struct weir_flow *flow)
{
	return weir_flow_delimited(flow, "\r\n", 2, 5,
				   WEIR_FLOW_REMAINDER_DROP);
}

static struct weir_flow *short_of(struct weir_flow *flow)
{
	return weir_flow_length_prefixed(flow, 2, WEIR_FLOW_BYTE_ORDER_BIG, 5);
}

static struct weir_flow *little_of(struct weir_flow *flow)
{
	return weir_flow_length_prefixed(flow, 4, WEIR_FLOW_BYTE_ORDER_LITTLE,
					 5);
}

static struct weir_flow *inside_of(struct weir_flow *flow)
{
	const struct weir_flow_length_field_options options = {.offset = 2};

	return weir_flow_length_field(flow, 1, WEIR_FLOW_BYTE_ORDER_BIG, 8,
				      &options);
}

static struct weir_flow *little_field_of(struct weir_flow *flow)
{
	return weir_flow_length_field(flow, 2, WEIR_FLOW_BYTE_ORDER_LITTLE, 600,
				      NULL);
}

static struct weir_flow *huge_of(struct weir_flow *flow)
{
	return weir_flow_length_field(flow, 8, WEIR_FLOW_BYTE_ORDER_BIG, 600,
				      NULL);
}

/* The length is a digit, and a point is behind the frame. */
static int pointed(const char *head, uint64_t length, size_t *size,
		   void *context)
{
	assert_int_equal(head[2], length);
	assert_int_equal(*size, 3 + length);
	if (length == 'F')
		return -EDOM;
	if (length == 'P')
		return 1;
	*size = length == 'S' ? 2 : 3 + (size_t)length - '0' + 1;
	return 0;
}

static struct weir_flow *pointed_of(struct weir_flow *flow)
{
	const struct weir_flow_length_field_options options = {.offset = 2,
							       .size = pointed};

	return weir_flow_length_field(flow, 1, WEIR_FLOW_BYTE_ORDER_BIG, 8,
				      &options);
}

static struct weir_flow *objects_of(struct weir_flow *flow)
{
	return weir_flow_json_objects(flow, 9);
}

/* Whatever the pieces, whether fused or cut. */
static void assert_frames(struct weir_flow *(*cut)(struct weir_flow *flow),
			  const char *bytes, size_t length,
			  const char *expected, int code)
{
	struct text text = {bytes, length, 1};
	struct weir_flow *flow;
	char all[256];
	size_t unfused;

	for (text.piece = 1; text.piece <= length + 1; text.piece++) {
		for (unfused = 0; unfused <= 2; unfused++) {
			all[0] = '\0';
			flow = weir_flow_for_each(cut(pieces(&text)), gather,
						  all);
			assert_int_equal(run_on_sim(flow, 1, unfused), code);
			assert_string_equal(all, expected);
			weir_flow_free(flow);
		}
	}
}

#define ASSERT_FRAMES(cut, bytes, expected, code) \
	assert_frames(cut, bytes, sizeof(bytes) - 1, expected, code)

static void lines_need_no_newline_at_the_end(void **state)
{
	ASSERT_FRAMES(lines_of, "a\n\nbcdef\n", "a||bcdef|", 0);
	ASSERT_FRAMES(lines_of, "a\nbc", "a|bc|", 0);
	ASSERT_FRAMES(lines_of, "", "", 0);
	ASSERT_FRAMES(lines_of, "\n", "|", 0);
}

static void a_line_too_long_is_an_error(void **state)
{
	ASSERT_FRAMES(lines_of, "a\nbcdefg\nh\n", "a|", -EMSGSIZE);
	ASSERT_FRAMES(lines_of, "a\nbcdefg", "a|", -EMSGSIZE);
}

static void a_delimiter_may_be_cut_in_two(void **state)
{
	ASSERT_FRAMES(crlf_of, "a\r\nb\r\r\ncd\re\r\nfg", "a|b\r|cd\re|fg|", 0);
	ASSERT_FRAMES(crlf_of, "abcde\r\nabcdef\r\n", "abcde|", -EMSGSIZE);
}

static void the_remainder_is_what_was_asked_for(void **state)
{
	ASSERT_FRAMES(crlf_all_of, "a\r\nb", "a|", -EPROTO);
	ASSERT_FRAMES(crlf_all_of, "a\r\nb\r\n", "a|b|", 0);
	ASSERT_FRAMES(crlf_whole_of, "a\r\nb", "a|", 0);
}

static void frames_come_behind_their_length(void **state)
{
	ASSERT_FRAMES(short_of, "\0\1a\0\0\0\3bcd", "a||bcd|", 0);
	ASSERT_FRAMES(little_of, "\2\0\0\0ab\5\0\0\0cdefg", "ab|cdefg|", 0);
	ASSERT_FRAMES(short_of, "\0\1a\0\6bcdefg", "a|", -EMSGSIZE);
	ASSERT_FRAMES(short_of, "\0\1a\0\3bc", "a|", -EPROTO);
	ASSERT_FRAMES(short_of, "\0\1a\0", "a|", -EPROTO);
	ASSERT_FRAMES(little_of, "\377\377\377\377", "", -EMSGSIZE);
}

static void a_length_may_be_inside_of_its_frame(void **state)
{
	ASSERT_FRAMES(inside_of, "ab\3xyzcd\1xef\5vwxyz",
		      "ab\3xyz|cd\1x|ef\5vwxyz|", 0);
	ASSERT_FRAMES(inside_of, "ab\1xcd\6", "ab\1x|", -EMSGSIZE);
	ASSERT_FRAMES(inside_of, "ab\1xcd\2x", "ab\1x|", -EPROTO);
	ASSERT_FRAMES(inside_of, "ab\1xcd", "ab\1x|", -EPROTO);
	ASSERT_FRAMES(huge_of, "\377\377\377\377\377\377\377\377", "",
		      -EMSGSIZE);
}

static void a_length_has_a_byte_order(void **state)
{
	char bytes[2 + 513 + 3] = "\1\2", all[1024] = "";
	struct text text = {bytes, sizeof(bytes), 7};
	struct weir_flow *flow;

	memset(bytes + 2, 'x', 513);
	memcpy(bytes + 2 + 513, "\1\0y", 3);
	flow = little_field_of(pieces(&text));
	flow = weir_flow_for_each(flow, gather, all);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	/* gather() leaves out what is behind a 0 */
	assert_int_equal(strlen(all), 2 + 513 + 1 + 1 + 1);
	weir_flow_free(flow);
}

static void a_function_computes_the_size_of_a_frame(void **state)
{
	ASSERT_FRAMES(pointed_of, "ab3xyz.cd0.ef4wxyz.",
		      "ab3xyz.|cd0.|ef4wxyz.|", 0);
	ASSERT_FRAMES(pointed_of, "ab0.cd5", "ab0.|", -EMSGSIZE);
	ASSERT_FRAMES(pointed_of, "ab0.cd1x", "ab0.|", -EPROTO);
	ASSERT_FRAMES(pointed_of, "ab0.cdSx", "ab0.|", -EPROTO);
	ASSERT_FRAMES(pointed_of, "ab0.cdFx", "ab0.|", -EDOM);
	ASSERT_FRAMES(pointed_of, "ab0.cdPx", "ab0.|", -EINVAL);
}

/* Less each time. */
static int another(const char *head, uint64_t length, size_t *size,
		   void *context)
{
	size_t *next = context;

	*size = *next;
	*next /= 2;
	return 0;
}

static void a_size_that_changes_is_an_error(void **state)
{
	struct text text = {"abcdefghijkl", 12, 5};
	size_t next = 8;
	const struct weir_flow_length_field_options options = {
		.size = another, .context = &next};
	char all[32] = "";
	struct weir_flow *flow = weir_flow_for_each(
		weir_flow_length_field(pieces(&text), 1, 0, 8, &options),
		gather, all);

	assert_int_equal(run_on_sim(flow, 1, 0), -EPROTO);
	assert_string_equal(all, "");
	weir_flow_free(flow);
}

static void objects_are_frames(void **state)
{
	ASSERT_FRAMES(objects_of, "{}{\"a\":1}", "{}|{\"a\":1}|", 0);
	ASSERT_FRAMES(objects_of, " {1}\r\n\t{2},,\n{3} ", "{1}|{2}|{3}|", 0);
	ASSERT_FRAMES(objects_of, "[{1},\n{2} ] [] [{3}]", "{1}|{2}|{3}|", 0);
	ASSERT_FRAMES(objects_of, "{{}{{}}}{[}", "{{}{{}}}|{[}|", 0);
	ASSERT_FRAMES(objects_of, "", "", 0);
	ASSERT_FRAMES(objects_of, " ,\n", "", 0);
}

static void braces_in_strings_do_not_count(void **state)
{
	ASSERT_FRAMES(objects_of, "{\"}{\"}{\"[\"}", "{\"}{\"}|{\"[\"}|", 0);
	ASSERT_FRAMES(objects_of, "{\"\\\"}\"}{}", "{\"\\\"}\"}|{}|", 0);
	ASSERT_FRAMES(objects_of, "{\"\\\\\"}{}", "{\"\\\\\"}|{}|", 0);
	ASSERT_FRAMES(objects_of, "{\\}{}", "{\\}|{}|", 0);
	ASSERT_FRAMES(objects_of, "{\"\xff}\"}", "{\"\xff}\"}|", 0);
}

static void what_is_no_object_is_an_error(void **state)
{
	ASSERT_FRAMES(objects_of, "{1} 7", "{1}|", -EBADMSG);
	ASSERT_FRAMES(objects_of, "\"{}\"", "", -EBADMSG);
	ASSERT_FRAMES(objects_of, "[{}, null]", "{}|", -EBADMSG);
	ASSERT_FRAMES(objects_of, "[[{}]]", "", -EBADMSG);
	ASSERT_FRAMES(objects_of, "{}]", "{}|", -EBADMSG);
	ASSERT_FRAMES(objects_of, "{}}", "{}|", -EBADMSG);
	ASSERT_FRAMES(objects_of, "{}\0{}", "{}|", -EBADMSG);
}

static void an_object_has_a_greatest_length(void **state)
{
	ASSERT_FRAMES(objects_of, "{2345678}{2345678 }", "{2345678}|",
		      -EMSGSIZE);
	ASSERT_FRAMES(objects_of, "{}[{2345678 ", "{}|", -EMSGSIZE);
	/* what is between objects is in none */
	ASSERT_FRAMES(objects_of, "{}            {}", "{}|{}|", 0);
}

static void an_end_within_an_object_or_an_array_is_an_error(void **state)
{
	ASSERT_FRAMES(objects_of, "{}{", "{}|", -EPROTO);
	ASSERT_FRAMES(objects_of, "{\"}", "", -EPROTO);
	ASSERT_FRAMES(objects_of, "{\"\\", "", -EPROTO);
	ASSERT_FRAMES(objects_of, "[{},", "{}|", -EPROTO);
	ASSERT_FRAMES(objects_of, "[{}][", "{}|", -EPROTO);
}

static void assert_words(struct weir_flow *(*cut)(struct weir_flow *flow),
			 const char *bytes, const char *expected)
{
	struct text text = {bytes, strlen(bytes), 1};
	struct weir_error *error;

	for (text.piece = 1; text.piece <= text.length; text.piece++) {
		error = error_of(weir_flow_ignore(cut(pieces(&text))));
		assert_string_equal(error->message, expected);
		weir_error_unref(error);
	}
}

static void an_error_says_where_it_is(void **state)
{
	assert_words(objects_of, "[{1}, {2} ,null]",
		     "byte 11, which is 0x6e, begins no object");
	assert_words(objects_of, "[{1}, {234567890}",
		     "the frame at byte 6 is longer than 9");
	assert_words(objects_of, "{1} {", "the last frame is cut off");
	assert_words(objects_of, "[{1}", "the array of objects has no end");
	assert_words(lines_of, "a\n\nbcdefg\n",
		     "the frame at byte 3 is longer than 5");
	assert_words(short_of, "\1\1", "the frame at byte 0 is longer than 5");
}

/* --- Objects in blocks of any length -------------------------------------- */

#define LONGEST 400

struct chopped {
	char bytes[LONGEST];
	size_t length;
	uint64_t random;
};

static size_t draw(struct chopped *self, size_t bound)
{
	return (size_t)(weir__splitmix(&self->random) % bound);
}

static int chop(void **state, void **item, void *context)
{
	struct chopped *self = context;
	struct text text = {self->bytes, self->length, draw(self, 12)};

	if (text.piece > 0 || (size_t)*state == self->length)
		return next_piece(state, item, &text);
	assert_int_equal(weir_flow_bytes_new((struct weir_flow_bytes **)item, 0,
					     NULL),
			 0);
	return 1;
}

/* Mostly what is right. */
static void draw_text(struct chopped *self)
{
	static const char *const tokens[] = {
		"{}",	    "{1}",
		"{\"}\"}",  "{\"\\\"{\"}",
		"{{}{}}",   "{{\\}}",
		"[{1}",	    "{}]",
		"[{},{2}]", ",\r",
		" ",	    "\n\t",
		"{\"}",	    "{\"too long\"}",
		"]",	    "[",
		"\\",	    "{",
		"}",	    "x",
	};
	size_t n = draw(self, 30);
	const char *token;

	self->length = 0;
	for (; n > 0; n--) {
		token = tokens[draw(self, draw(self, 9) ? 12 : 20)];
		memcpy(self->bytes + self->length, token, strlen(token));
		self->length += strlen(token);
	}
}

/* How many bytes an object is long; 0: it has no end. */
static size_t object_length(const char *bytes, size_t n)
{
	const char *end = bytes + n, *at = bytes;
	int depth = 0;

	for (; at < end; at++) {
		depth += (*at == '{') - (*at == '}');
		if (depth == 0)
			return (size_t)(at - bytes) + 1;
		if (*at != '"')
			continue;
		for (at++; at < end && *at != '"'; at++)
			at += *at == '\\';
	}
	return 0;
}

/* The same as objects_of(), of all the bytes at once. */
static int expect_objects(const struct chopped *self, char *expected)
{
	bool listed = false;
	size_t i, n;

	for (i = 0; i < self->length; i += n) {
		n = 1;
		if (strchr(" ,\r\n\t", self->bytes[i]))
			continue;
		if (self->bytes[i] == (listed ? ']' : '[')) {
			listed = !listed;
			continue;
		}
		if (self->bytes[i] != '{')
			return -EBADMSG;
		n = object_length(self->bytes + i, self->length - i);
		if (n > 9 || (n == 0 && self->length - i >= 9))
			return -EMSGSIZE;
		if (n == 0)
			return -EPROTO;
		strncat(expected, self->bytes + i, n);
		strcat(expected, "|");
	}
	return listed ? -EPROTO : 0;
}

static void objects_are_the_same_however_they_are_cut(void **state)
{
	char expected[2 * LONGEST], all[2 * LONGEST];
	static struct chopped text;
	struct weir_flow *flow;
	int code;

	for_each_seed(seed, test_count(32000)) {
		text.random = seed;
		draw_text(&text);
		expected[0] = all[0] = '\0';
		code = expect_objects(&text, expected);
		flow = weir_flow_unfold(NULL, chop, &text);
		flow = weir_flow_items(flow, weir_flow_bytes_items());
		flow = weir_flow_for_each(objects_of(flow), gather, all);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), code);
		assert_string_equal(all, expected);
		weir_flow_free(flow);
	}
}

/* --- Descriptors ---------------------------------------------------------- */

static void a_file_is_read_to_its_end(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX", all[64] = "";
	int fd = mkstemp(path);
	struct weir_flow *flow;
	int i;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one\ntwo\nthree", 13), 13);
	assert_int_equal(close(fd), 0);
	flow = weir_flow_lines(weir_flow_read_file(path, 4), 100);
	flow = weir_flow_for_each(flow, gather, all);
	/* each run opens it anew */
	for (i = 0; i < 2; i++) {
		all[0] = '\0';
		assert_int_equal(run_on_sim(flow, 1, 0), 0);
		assert_string_equal(all, "one|two|three|");
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(run_on_sim(flow, 1, 0), -ENOENT);
	weir_flow_free(flow);
}

/* Through a pipe that is full or empty most of the time. */
static void a_descriptor_that_is_not_ready_is_waited_for(void **state)
{
	struct text text = {NULL, 1000000, 4096};
	char *bytes = malloc(text.length);
	struct weir_flow *from, *to;
	struct weir_flow_run *runs[2];
	struct weir_error *error;
	struct weir_loop *loop;
	void *result;
	int fds[2];
	size_t i;

	assert_non_null(bytes);
	for (i = 0; i < text.length; i++)
		bytes[i] = i % 100 == 99 ? '\n' : 'x';
	text.bytes = bytes;
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	to = weir_flow_write(pieces(&text), fds[1]);
	from = weir_flow_lines(weir_flow_read(fds[0], 1000), 100);
	from = weir_flow_count(from);
	assert_int_equal(weir_flow_start(to, weir_loop_executor(loop), NULL,
					 &runs[0]),
			 0);
	assert_int_equal(weir_flow_start(from, weir_loop_executor(loop), NULL,
					 &runs[1]),
			 0);
	assert_int_equal(
		weir_flow_run_wait(runs[0], WEIR_FOREVER, &result, &error), 0);
	assert_null(error);
	assert_int_equal((uintptr_t)result, text.length);
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(
		weir_flow_run_wait(runs[1], WEIR_FOREVER, &result, &error), 0);
	assert_null(error);
	assert_int_equal((uintptr_t)result, text.length / 100);
	assert_int_equal(close(fds[0]), 0);
	weir_flow_run_free(runs[0]);
	weir_flow_run_free(runs[1]);
	weir_flow_free(to);
	weir_flow_free(from);
	assert_int_equal(weir_loop_free(loop), 0);
	free(bytes);
}

static void a_wait_for_a_descriptor_can_be_cancelled(void **state)
{
	struct weir_error *error;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct weir_loop *loop;
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	flow = weir_flow_ignore(weir_flow_read(fds[0], 1000));
	assert_int_equal(
		weir_flow_start(flow, weir_loop_executor(loop), NULL, &run), 0);
	(void)weir_loop_run(loop, 1000);
	weir_flow_run_stop(run, NULL);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_int_equal(error->code, -ECANCELED);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

static void a_descriptor_that_fails_fails_the_stream(void **state)
{
	struct text text = {"abc", 3, 3};
	struct weir_flow *flow = weir_flow_ignore(weir_flow_read(1000, 10));

	assert_int_equal(run_on_sim(flow, 1, 0), -EBADF);
	weir_flow_free(flow);
	flow = weir_flow_write(pieces(&text), 1000);
	assert_int_equal(run_on_sim(flow, 1, 0), -EBADF);
	weir_flow_free(flow);
}

static int forget_frame(void **item, void *context)
{
	weir_flow_bytes_unref(*item);
	*item = NULL;
	return 0;
}

static void the_end_behind_the_last_frame_needs_no_demand(void **state)
{
	struct weir_flow *(*const cuts[])(struct weir_flow * flow) = {
		lines_of,
		crlf_of,
		short_of,
		objects_of,
	};
	static const char *const texts[] = {"a\nb\n", "a\r\nb\r\n",
					    "\0\1a\0\1b", "[{},{}] "};
	static const size_t lengths[] = {4, 6, 6, 8};
	static struct flow_world world;
	struct weir_flow_bytes *bytes;
	size_t i;

	for (i = 0; i < 4; i++) {
		flow_world_init(&world, weir_flow_bytes_items());
		world.flow =
			weir_flow_map(cuts[i](world.flow), forget_frame, NULL);
		world.flow = weir_flow_items(world.flow, NULL);
		world_start(&world, 2);
		assert_int_equal(weir_flow_bytes_new(&bytes, lengths[i], NULL),
				 0);
		memcpy(bytes->data, texts[i], lengths[i]);
		assert_int_equal(weir_flow_queue_offer(world.queue, bytes), 0);
		(void)weir_flow_queue_end(world.queue, NULL);
		until(&world, 0);
		assert_int_equal(world.got.n, 2);
		assert_true(
			weir_completion_done(weir_flow_run_over(world.run)));
		flow_world_end(&world, 0);
	}
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_flow_length_field_options far = {.offset = 8};
	const struct weir_flow_length_field_options last = {.offset = SIZE_MAX};
	const struct weir_flow_length_field_options strange = {.reserved = {1}};
	struct weir_flow *flows[] = {
		weir_flow_length_field(weir_flow_empty(), 3, 0, 9, NULL),
		weir_flow_length_field(weir_flow_empty(), 1, 2, 9, NULL),
		weir_flow_length_field(weir_flow_empty(), 1, 0, 8, &far),
		weir_flow_length_field(weir_flow_empty(), 1, 0, 8, &last),
		weir_flow_length_field(weir_flow_empty(), 1, 0, 8, &strange),
		weir_flow_length_field(weir_flow_empty(), 1, 0,
				       (size_t)1 << 30 | 1, NULL),
		weir_flow_read(-1, 10),
		weir_flow_read(0, 0),
		weir_flow_read_file(NULL, 10),
		weir_flow_write(weir_flow_empty(), -1),
		weir_flow_lines(weir_flow_empty(), 0),
		weir_flow_json_objects(weir_flow_empty(), 0),
		weir_flow_json_objects(weir_flow_empty(), (size_t)1 << 30 | 1),
		weir_flow_delimited(weir_flow_empty(), NULL, 1, 1,
				    WEIR_FLOW_REMAINDER_EMIT),
		weir_flow_delimited(weir_flow_empty(), "x", 17, 1,
				    WEIR_FLOW_REMAINDER_EMIT),
		weir_flow_length_prefixed(weir_flow_empty(), 3,
					  WEIR_FLOW_BYTE_ORDER_BIG, 1),
	};
	struct weir_flow_bytes *bytes;

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
	weir_flow_bytes_unref(NULL);
	assert_null(weir_flow_bytes_ref(NULL));
	assert_int_equal(weir_flow_bytes_new(NULL, 1, NULL), -EINVAL);
	assert_int_equal(weir_flow_bytes_new(&bytes, SIZE_MAX, NULL), -ENOMEM);
	assert_null(bytes);
}

/* --- What is kept --------------------------------------------------------- */

#define KEPT 1000
#define BLOCK ((size_t)1 << 20)

static size_t n_held; /* bytes that are allocated */

static void *alloc_held(size_t size, void *context)
{
	n_held += size;
	return malloc(size);
}

static void free_held(void *memory, size_t size, void *context)
{
	if (memory)
		n_held -= size;
	free(memory);
}

static const struct weir_allocator held = {.alloc = alloc_held,
					   .free = free_held};

/* The peer sends a line when the one before has come. */
static int send_next(void **item, void *context)
{
	int *left = context;

	if (--left[1] > 0)
		assert_int_equal(write(left[0], "0123456\n", 8), 8);
	else
		assert_int_equal(close(left[0]), 0);
	return 0;
}

static void lines_that_are_kept_hold_no_more_than_was_read(void **state)
{
	struct weir_executor_options options = {.allocator = &held};
	int fds[2], left[2];
	struct weir_flow_list *list;
	struct weir_flow *flow;
	struct weir_loop *loop;
	void *result = NULL;

	assert_int_equal(pipe(fds), 0);
	left[0] = fds[1];
	left[1] = KEPT;
	assert_int_equal(write(fds[1], "0123456\n", 8), 8);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(weir_loop_new(&loop, &options), 0);
	flow = weir_flow_lines(weir_flow_read(fds[0], BLOCK), 64);
	flow = weir_flow_collect(
		weir_flow_same_items(weir_flow_map(flow, send_next, left)), 0);
	assert_int_equal(weir_flow_run(flow, weir_loop_executor(loop), &result),
			 0);
	list = result;
	assert_int_equal(list->n, KEPT);
	assert_true(n_held < KEPT * 256 + BLOCK);
	weir_flow_list_free(list);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(n_held, 0);
	assert_int_equal(close(fds[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_need_no_newline_at_the_end),
		cmocka_unit_test(a_line_too_long_is_an_error),
		cmocka_unit_test(a_delimiter_may_be_cut_in_two),
		cmocka_unit_test(the_remainder_is_what_was_asked_for),
		cmocka_unit_test(frames_come_behind_their_length),
		cmocka_unit_test(a_length_may_be_inside_of_its_frame),
		cmocka_unit_test(a_length_has_a_byte_order),
		cmocka_unit_test(a_function_computes_the_size_of_a_frame),
		cmocka_unit_test(a_size_that_changes_is_an_error),
		cmocka_unit_test(objects_are_frames),
		cmocka_unit_test(braces_in_strings_do_not_count),
		cmocka_unit_test(what_is_no_object_is_an_error),
		cmocka_unit_test(an_object_has_a_greatest_length),
		cmocka_unit_test(
			an_end_within_an_object_or_an_array_is_an_error),
		cmocka_unit_test(an_error_says_where_it_is),
		cmocka_unit_test(objects_are_the_same_however_they_are_cut),
		cmocka_unit_test(the_end_behind_the_last_frame_needs_no_demand),
		cmocka_unit_test(a_file_is_read_to_its_end),
		cmocka_unit_test(a_descriptor_that_is_not_ready_is_waited_for),
		cmocka_unit_test(a_wait_for_a_descriptor_can_be_cancelled),
		cmocka_unit_test(a_descriptor_that_fails_fails_the_stream),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(
			lines_that_are_kept_hold_no_more_than_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
