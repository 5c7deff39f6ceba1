/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How operators that compress begin and end: when upstream is quiet or fails,
 * without demand, without memory, cancelled at each step; and what they refuse.
 */
#include "flow/world.h"
#include "z/kit.h"

#define EACH_FORMAT(format) \
	const struct z_format *format = z_formats; \
	format < z_formats + Z_FORMATS; \
	format++

/* --- Quiet ------------------------------------------------------------------ */

struct line {
	struct flow_world world;
	char out[4096];
	size_t n;
	uint64_t at_ns[64];
	size_t n_blocks;
};

static int take_block(void **item, void *context)
{
	struct weir_flow_bytes *bytes = *item;
	struct line *line = context;

	assert_true(line->n + bytes->n <= sizeof(line->out));
	memcpy(line->out + line->n, bytes->data, bytes->n);
	line->n += bytes->n;
	line->at_ns[line->n_blocks++] = world_now(&line->world.base);
	weir_flow_bytes_unref(bytes);
	*item = NULL;
	return 0;
}

static void line_init(struct line *line, size_t open,
		      const struct z_format *format, uint64_t quiet_ns)
{
	struct weir_flow *flow;

	memset(line, 0, sizeof(*line));
	flow_world_init(&line->world, weir_flow_bytes_items());
	flow = format->pack(line->world.flow, 0, quiet_ns);
	flow = weir_flow_map(flow, take_block, line);
	line->world.flow = weir_flow_items(flow, NULL);
	world_start(&line->world, open);
}

static void say(struct line *line, const char *words)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, strlen(words), NULL), 0);
	memcpy(bytes->data, words, strlen(words));
	assert_int_equal(weir_flow_queue_offer(line->world.queue, bytes), 0);
	until(&line->world, world_now(&line->world.base));
}

/* What a receiver can read of what has come out. */
static void assert_readable(const struct line *line,
			    const struct z_format *format, const char *words)
{
	struct text sent = text_copy(line->out, line->n), got;
	int code;

	got = z_unpacked(format, sent, 10, NULL, &code);
	assert_int_equal(code, -EPROTO); /* it goes on */
	assert_int_equal(got.n, strlen(words));
	assert_memory_equal(got.bytes, words, got.n);
	text_free(got);
	text_free(sent);
}

static void what_was_said_comes_out_when_upstream_is_quiet(void **state)
{
	static struct line line;

	for (EACH_FORMAT(format)) {
		line_init(&line, OPEN, format, 5 * MS);
		say(&line, "one");
		until(&line.world, 4 * MS);
		assert_int_equal(line.n_blocks, 0);
		say(&line, "two"); /* puts it off */
		until(&line.world, 8 * MS);
		assert_int_equal(line.n_blocks, 0);
		until(&line.world, 9 * MS);
		assert_int_equal(line.n_blocks, 1);
		assert_int_equal(line.at_ns[0], 9 * MS);
		assert_readable(&line, format, "onetwo");
		/* nothing was said since, and nothing wakes for it */
		assert_true(weir_sim_run_until(line.world.base.sim, 1000 * MS,
					       1000) < 5);
		assert_int_equal(line.n_blocks, 1);
		say(&line, "three");
		until(&line.world, 1005 * MS);
		assert_int_equal(line.n_blocks, 2);
		assert_readable(&line, format, "onetwothree");
		flow_world_end(&line.world, 0);
		assert_int_equal(line.n_blocks, 3);
	}
}

static void without_being_asked_nothing_comes_out_early(void **state)
{
	static struct line line;

	for (EACH_FORMAT(format)) {
		line_init(&line, OPEN, format, 0);
		say(&line, "one");
		until(&line.world, 1000 * MS);
		assert_int_equal(line.n_blocks, 0);
		flow_world_end(&line.world, 0);
		assert_int_equal(line.n_blocks, 1);
	}
}

static void a_long_quiet_is_for_ever(void **state)
{
	static struct line line;

	line_init(&line, OPEN, z_formats, WEIR_FOREVER);
	say(&line, "one");
	until(&line.world, 1000 * MS);
	assert_int_equal(line.n_blocks, 0);
	flow_world_end(&line.world, 0);
}

/* The block is made, and waits. */
static void a_flush_waits_for_demand(void **state)
{
	static struct line line;

	for (EACH_FORMAT(format)) {
		line_init(&line, 1, format, 5 * MS);
		say(&line, "one");
		until(&line.world, 5 * MS);
		assert_int_equal(line.n_blocks, 1);
		say(&line, "two");
		until(&line.world, 50 * MS);
		assert_int_equal(line.n_blocks, 1);
		let_pass(&line.world, 1);
		until(&line.world, 60 * MS);
		assert_int_equal(line.n_blocks, 2);
		assert_readable(&line, format, "onetwo");
		let_pass(&line.world, OPEN);
		flow_world_end(&line.world, 0);
	}
}

/* --- Ends ------------------------------------------------------------------- */

static int forget_block(void **item, void *context)
{
	weir_flow_bytes_unref(*item);
	*item = NULL;
	return 0;
}

static void the_end_of_a_member_needs_no_demand(void **state)
{
	static struct flow_world world;
	const struct z_limits limits = {.block = 64};
	struct weir_flow_bytes *bytes;
	struct text text, packed;
	size_t n;

	for (EACH_FORMAT(format)) {
		/* of one block that is not full, and of one that is */
		for (n = 63; n <= 64; n++) {
			text = text_of_noise(n, 1);
			packed = format->plain_pack(text);
			flow_world_init(&world, weir_flow_bytes_items());
			world.flow = format->unpack(world.flow, &limits);
			world.flow =
				weir_flow_map(world.flow, forget_block, NULL);
			world.flow = weir_flow_items(world.flow, NULL);
			world_start(&world, 1);
			assert_int_equal(
				weir_flow_bytes_new(&bytes, packed.n, NULL), 0);
			memcpy(bytes->data, packed.bytes, packed.n);
			assert_int_equal(
				weir_flow_queue_offer(world.queue, bytes), 0);
			(void)weir_flow_queue_end(world.queue, NULL);
			until(&world, 0);
			assert_int_equal(world.got.n, 1);
			assert_true(weir_completion_done(
				weir_flow_run_over(world.run)));
			flow_world_end(&world, 0);
			text_free(packed);
			text_free(text);
		}
	}
}

/* What has come is emitted first, of a text that is being decompressed. */
static void an_error_of_upstream_comes_behind_what_has_come(void **state)
{
	struct text text = text_of_words(3000, 1), packed;
	const struct z_limits limits = {.block = 100};

	for (EACH_FORMAT(format)) {
		struct z_run run = {.piece = 50, .fails = -EIO};

		packed = format->plain_pack(text);
		run.in = packed;
		z_go(&run, format->unpack(z_pieces(&run), &limits));
		assert_int_equal(run.code, -EIO);
		assert_text(run.out, text);
		text_free(run.out);
		run.in = text;
		z_go(&run, format->pack(z_pieces(&run), 100, 0));
		assert_int_equal(run.code, -EIO);
		/* there is no end, so that nobody takes it for whole */
		assert_null(format->plain_unpack(run.out).bytes);
		text_free(run.out);
		text_free(packed);
	}
	text_free(text);
}

/* Each run of a flow begins anew. */
static void a_flow_runs_again(void **state)
{
	struct text text = text_of_words(3000, 1), first;

	for (EACH_FORMAT(format)) {
		struct z_run run = {.in = text, .piece = 50};
		struct weir_executor_options on;
		struct weir_sim *sim;

		z_start(&run, format->pack(z_pieces(&run), 100, 0));
		assert_int_equal(weir_flow_run_wait(run.handle, WEIR_FOREVER,
						    NULL, NULL),
				 0);
		first = run.out;
		run.out = (struct text){.bytes = malloc(1)};
		run.at = 0;
		on = (struct weir_executor_options){
			.allocator = &run.heap.allocator};
		assert_int_equal(weir_sim_new(&sim, 9, &on), 0);
		assert_int_equal(weir_flow_run(run.flow, weir_sim_executor(sim),
					       NULL),
				 0);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_text(run.out, first);
		z_finish(&run);
		text_free(first);
		text_free(run.out);
	}
	text_free(text);
}

/* --- Cancelled, and without memory -------------------------------------------- */

/* There and back in one run. */
static struct weir_flow *there_and_back(struct z_run *run,
					const struct z_format *format)
{
	const struct z_limits limits = {.block = 100};

	return format->unpack(format->pack(z_pieces(run), 100, 1000), &limits);
}

/* At each step there is, until it ends first. */
static void a_run_may_be_stopped_at_any_step(void **state)
{
	struct text text = text_of_words(2000, 1);
	size_t step, i, n_stopped;

	for (EACH_FORMAT(format)) {
		n_stopped = 0;
		for (step = 0; step < 100000; step++) {
			struct z_run run = {
				.in = text,
				.piece = 37,
				.seed = step,
				.unfused = 1,
			};

			z_start(&run, there_and_back(&run, format));
			assert_int_equal(run.code, 0);
			for (i = 0; i < step && weir_sim_step(run.sim); i++)
				;
			weir_flow_run_stop(run.handle, NULL);
			z_finish(&run);
			assert_true(run.out.n <= text.n);
			assert_memory_equal(run.out.bytes, text.bytes,
					    run.out.n);
			text_free(run.out);
			if (run.code == 0)
				break;
			assert_int_equal(run.code, -ECANCELED);
			n_stopped++;
		}
		assert_true(n_stopped > 5);
	}
	text_free(text);
}

static void downstream_may_stop_behind_any_block(void **state)
{
	struct text text = text_of_words(2000, 1);
	int64_t n;

	for (EACH_FORMAT(format)) {
		for (n = 0; n < 25; n++) {
			struct z_run run = {.in = text, .piece = 37};

			z_go(&run,
			     weir_flow_take(there_and_back(&run, format), n));
			assert_int_equal(run.code, 0);
			assert_true(run.n_items <= (size_t)n);
			assert_memory_equal(run.out.bytes, text.bytes,
					    run.out.n);
			text_free(run.out);
		}
	}
	text_free(text);
}

static void without_memory_it_fails_and_loses_nothing(void **state)
{
	struct text text = text_of_words(2000, 1);
	size_t fail, n_failed;

	for (EACH_FORMAT(format)) {
		n_failed = 0;
		for (fail = 1; fail < 10000; fail++) {
			struct z_run run = {.in = text, .piece = 700};

			run.heap.fail = fail;
			z_start(&run, there_and_back(&run, format));
			z_finish(&run);
			assert_true(run.code == 0 || run.code == -ENOMEM);
			assert_memory_equal(run.out.bytes, text.bytes,
					    run.out.n);
			if (run.code == 0)
				assert_text(run.out, text);
			text_free(run.out);
			n_failed += run.code != 0;
			if (run.heap.calls < run.heap.fail)
				break;
		}
		assert_true(n_failed > 10);
		assert_true(fail < 10000);
	}
	text_free(text);
}

/* --- What is refused ------------------------------------------------------------ */

static void other_items_are_refused(void **state)
{
	const struct z_limits none = {0};

	for (EACH_FORMAT(format)) {
		struct weir_flow *flow = weir_flow_range(1, 9);
		bool is_zstd = format == &z_formats[3];

		flow = weir_flow_ignore(format->pack(flow, 0, 0));
		assert_misfit(flow, is_zstd ? "zstd" : "deflate",
			      "is given other items than it takes");
		flow = weir_flow_range(1, 9);
		flow = weir_flow_ignore(format->unpack(flow, &none));
		assert_misfit(flow, is_zstd ? "unzstd" : "inflate",
			      "is given other items than it takes");
	}
}

static void bad_options_make_a_failed_flow(void **state)
{
	const struct weir_flow_deflate_options d[] = {
		{.format = 3},	   {.level = 10},
		{.level = -1},	   {.block = 63},
		{.reserved = {1}}, {.block = ((size_t)1 << 30) + 1},
	};
	const struct weir_flow_inflate_options i[] = {
		{.format = 3},
		{.block = 1},
		{.reserved = {0, 0, 0, 1}},
	};
	const struct weir_flow_zstd_options z[] = {
		{.level = 23},
		{.level = -200000},
		{.block = 1},
		{.reserved = {1}},
	};
	const struct weir_flow_unzstd_options u[] = {
		{.max_window = 1000},
		{.max_window = 512},
		{.max_window = ((size_t)1 << 30) + 1},
		{.block = 1},
		{.reserved = {1}},
	};
	struct weir_flow *flows[] = {
		weir_flow_deflate(weir_flow_empty(), &d[0]),
		weir_flow_deflate(weir_flow_empty(), &d[1]),
		weir_flow_deflate(weir_flow_empty(), &d[2]),
		weir_flow_deflate(weir_flow_empty(), &d[3]),
		weir_flow_deflate(weir_flow_empty(), &d[4]),
		weir_flow_deflate(weir_flow_empty(), &d[5]),
		weir_flow_deflate(NULL, NULL),
		weir_flow_inflate(weir_flow_empty(), &i[0]),
		weir_flow_inflate(weir_flow_empty(), &i[1]),
		weir_flow_inflate(weir_flow_empty(), &i[2]),
		weir_flow_zstd(weir_flow_empty(), &z[0]),
		weir_flow_zstd(weir_flow_empty(), &z[1]),
		weir_flow_zstd(weir_flow_empty(), &z[2]),
		weir_flow_zstd(weir_flow_empty(), &z[3]),
		weir_flow_unzstd(weir_flow_empty(), &u[0]),
		weir_flow_unzstd(weir_flow_empty(), &u[1]),
		weir_flow_unzstd(weir_flow_empty(), &u[2]),
		weir_flow_unzstd(weir_flow_empty(), &u[3]),
		weir_flow_unzstd(weir_flow_empty(), &u[4]),
	};
	const char *origin, *message;

	assert_int_equal(weir_flow_check(flows[1], &origin, &message), -EINVAL);
	assert_string_equal(origin, "deflate");
	assert_string_equal(message, "level is not 1 to 9");
	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_was_said_comes_out_when_upstream_is_quiet),
		cmocka_unit_test(without_being_asked_nothing_comes_out_early),
		cmocka_unit_test(a_long_quiet_is_for_ever),
		cmocka_unit_test(a_flush_waits_for_demand),
		cmocka_unit_test(the_end_of_a_member_needs_no_demand),
		cmocka_unit_test(
			an_error_of_upstream_comes_behind_what_has_come),
		cmocka_unit_test(a_flow_runs_again),
		cmocka_unit_test(a_run_may_be_stopped_at_any_step),
		cmocka_unit_test(downstream_may_stop_behind_any_block),
		cmocka_unit_test(without_memory_it_fails_and_loses_nothing),
		cmocka_unit_test(other_items_are_refused),
		cmocka_unit_test(bad_options_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
