/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources that end while nobody asks them for anything: one item was requested
 * and has come, the run is at rest, and who is behind it is told at once.
 */
#include <inttypes.h>

#include "flow/kit.h"

#include <weir/testkit.h>

#define SEEDS 20

/* What a flow takes its items from, by hand. */
struct source {
	const char *name;
	struct weir_flow *(*flow)(void);
	void (*put)(void *item);
	void (*end)(struct weir_error *error);
	void (*free)(void);
};

static struct weir_flow_queue *queue;
static struct weir_channel *channel;
static struct weir_publisher_probe *publisher;
static struct weir_test_env env;

static struct weir_flow *from_queue(void)
{
	assert_int_equal(weir_flow_queue_new(&queue, 4, WEIR_OVERFLOW_FAIL,
					     &counted_items),
			 0);
	return weir_flow_from_queue(queue);
}

static void queue_put(void *item)
{
	assert_int_equal(weir_flow_queue_offer(queue, item), 0);
}

static void queue_end(struct weir_error *error)
{
	assert_int_equal(weir_flow_queue_end(queue, error), 0);
}

static void queue_free(void)
{
	weir_flow_queue_free(queue);
}

static struct weir_flow *from_channel(void)
{
	assert_int_equal(weir_channel_new(&channel, 4, &counted_items, NULL),
			 0);
	return weir_flow_from_channel(channel);
}

static void channel_put(void *item)
{
	assert_int_equal(weir_channel_try_put(channel, item), 0);
}

static void channel_end(struct weir_error *error)
{
	assert_int_equal(weir_channel_end(channel, error), 0);
}

static void channel_free(void)
{
	assert_int_equal(weir_channel_free(channel), 0);
}

static struct weir_flow *from_publisher(void)
{
	struct weir_flow *flow;

	assert_int_equal(
		weir_publisher_probe_new(&publisher, &env, &counted_items), 0);
	flow = weir_flow_from_publisher(weir_publisher_probe_base(publisher), 4,
					0);
	return weir_flow_items(flow, &counted_items);
}

static void publisher_put(void *item)
{
	assert_int_equal(weir_publisher_probe_send(publisher, item), 0);
}

static void publisher_end(struct weir_error *error)
{
	assert_int_equal(error ? weir_publisher_probe_error(publisher, error)
			       : weir_publisher_probe_complete(publisher),
			 0);
}

static void publisher_free(void)
{
	assert_int_equal(weir_publisher_probe_free(publisher), 0);
}

static const struct source sources[] = {
	{"queue", from_queue, queue_put, queue_end, queue_free},
	{"channel", from_channel, channel_put, channel_end, channel_free},
	{"publisher", from_publisher, publisher_put, publisher_end,
	 publisher_free},
};

#define N_SOURCES (sizeof(sources) / sizeof(*sources))

/* --- A run to a subscriber ------------------------------------------------ */

struct rested {
	const struct source *source;
	struct weir_sim *sim;
	struct weir_subscriber_probe *behind;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static void settle(void)
{
	assert_int_equal(weir_test_settle(&env), 0);
}

static void rested_init(struct rested *self, const struct source *source,
			uint64_t seed,
			struct weir_flow *(*upon)(struct weir_flow *flow))
{
	struct weir_flow *flow;

	*self = (struct rested){.source = source};
	assert_int_equal(weir_sim_new(&self->sim, seed, NULL), 0);
	env = weir_test_env_sim(self->sim);
	assert_int_equal(weir_subscriber_probe_new(&self->behind, &env, NULL),
			 0);
	flow = source->flow();
	self->flow = weir_flow_into(upon ? upon(flow) : flow,
				    weir_subscriber_probe_base(self->behind));
	assert_int_equal(weir_flow_start(self->flow,
					 weir_sim_executor(self->sim), NULL,
					 &self->run),
			 0);
	settle();
}

/* `n` are requested and have come. */
static void rested_pass(struct rested *self, int n)
{
	if (n > 0)
		weir_subscriber_probe_request(self->behind, n);
	settle();
	for (int i = 0; i < n; i++)
		self->source->put(item_new(i + 1));
	settle();
	assert_int_equal(weir_subscriber_probe_counts(self->behind).items, n);
}

static void rested_end(struct rested *self, int code)
{
	self->source->end(code ? weir_error_of(code) : NULL);
	settle();
}

static void assert_told(struct rested *self, int code)
{
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(self->behind);

	if (counts.errors != (code != 0) || counts.completions != (code == 0))
		fail_msg("%s was not told of %d, seed %" PRIu64,
			 self->source->name, code, weir_sim_seed(self->sim));
	if (code)
		assert_int_equal(
			weir_subscriber_probe_error(self->behind)->code, code);
}

static void rested_fini(struct rested *self)
{
	assert_int_equal(weir_subscriber_probe_free(self->behind), 0);
	settle();
	assert_true(weir_completion_done(weir_flow_run_over(self->run)));
	weir_flow_run_free(self->run);
	weir_flow_free(self->flow);
	self->source->free();
	settle();
	assert_int_equal(weir_sim_free(self->sim), 0);
	assert_int_equal(n_live, 0);
}

/* --- Tests ---------------------------------------------------------------- */

static void each(int n, int code,
		 struct weir_flow *(*upon)(struct weir_flow *flow))
{
	struct rested rested;

	for (size_t i = 0; i < N_SOURCES; i++) {
		for_each_seed(seed, SEEDS) {
			rested_init(&rested, &sources[i], seed, upon);
			rested_pass(&rested, n);
			rested_end(&rested, code);
			assert_told(&rested, code);
			rested_fini(&rested);
		}
	}
}

static void a_source_that_ends_is_heard_of_at_rest(void **state)
{
	each(1, 0, NULL);
	each(3, 0, NULL);
}

static void a_source_that_fails_is_heard_of_at_rest(void **state)
{
	each(1, -EIO, NULL);
	each(3, -EIO, NULL);
}

static void so_is_one_that_never_was_asked(void **state)
{
	each(0, 0, NULL);
	each(0, -EIO, NULL);
}

static struct weir_flow *tail_only(void *const *items, size_t n,
				   struct weir_flow *tail, void *context)
{
	for (size_t i = 0; i < n; i++)
		item_drop(items[i], NULL);
	return tail;
}

static struct weir_flow *upon_prefix(struct weir_flow *flow)
{
	flow = weir_flow_prefix_and_tail(flow, 2, tail_only, NULL);
	return weir_flow_items(flow, &counted_items);
}

static void a_prefix_that_is_not_full_is_no_reason_to_wait(void **state)
{
	each(0, 0, upon_prefix);
	each(0, -EIO, upon_prefix);
}

/* Each item twice; the second time it is said to be the last. */
static int twice(void *memory, uint64_t i, void **out, void *context)
{
	struct item *item = memory;

	*out = item_new(item->value);
	return i == 0 ? 1 : WEIR_NEXT_LAST;
}

static struct weir_flow *upon_map_concat(struct weir_flow *flow)
{
	flow = weir_flow_map_concat(flow, twice, NULL);
	return weir_flow_items(flow, &counted_items);
}

/* They are requested one by one, so that there is no room behind the last. The
 * end comes behind them, or before any was requested. */
static void an_end_behind_the_last_of_several_needs_no_demand(void **state)
{
	struct rested rested;

	for (size_t i = 0; i < N_SOURCES; i++) {
		for_each_seed(seed, SEEDS) {
			int code = seed % 2 ? -EIO : 0;

			rested_init(&rested, &sources[i], seed,
				    upon_map_concat);
			sources[i].put(item_new(7));
			if (seed % 4 < 2)
				rested_end(&rested, code);
			for (int n = 0; n < 2; n++) {
				weir_subscriber_probe_request(rested.behind, 1);
				settle();
			}
			if (seed % 4 >= 2)
				rested_end(&rested, code);
			assert_int_equal(
				weir_subscriber_probe_counts(rested.behind)
					.items,
				2);
			assert_told(&rested, code);
			rested_fini(&rested);
		}
	}
}

static struct weir_flow_queue *other;

static int keep_first(void *const *items, size_t n, void **result,
		      void *context)
{
	*result = items[0];
	item_drop(items[1], NULL);
	return 0;
}

/* With items that come through an actor of their own, which nobody wakes. */
static struct weir_flow *upon_zip(struct weir_flow *flow)
{
	struct weir_flow *both[] = {flow, NULL};

	assert_int_equal(weir_flow_queue_new(&other, 4, WEIR_OVERFLOW_FAIL,
					     &counted_items),
			 0);
	both[1] = weir_flow_async(weir_flow_from_queue(other), 1, NULL);
	flow = weir_flow_zip(both, 2, keep_first, NULL);
	return weir_flow_items(flow, &counted_items);
}

static void a_zip_that_waits_for_another_item_ends_with_it(void **state)
{
	struct rested rested;

	for (size_t i = 0; i < N_SOURCES; i++) {
		for_each_seed(seed, SEEDS) {
			rested_init(&rested, &sources[i], seed, upon_zip);
			weir_subscriber_probe_request(rested.behind, 1);
			settle();
			sources[i].put(item_new(1));
			settle();
			rested_end(&rested, 0);
			assert_int_equal(
				weir_flow_queue_offer(other, item_new(2)), 0);
			settle();
			assert_told(&rested, 0);
			weir_flow_queue_free(other);
			rested_fini(&rested);
		}
	}
}

/* Items that nobody has requested: the end is behind them. */
static void an_end_waits_for_the_items_before_it(void **state)
{
	struct rested rested;

	for (size_t i = 0; i < N_SOURCES; i++) {
		rested_init(&rested, &sources[i], 1, NULL);
		rested_pass(&rested, 1);
		sources[i].put(item_new(2));
		rested_end(&rested, 0);
		assert_int_equal(
			weir_subscriber_probe_counts(rested.behind).completions,
			0);
		weir_subscriber_probe_request(rested.behind, 1);
		settle();
		assert_told(&rested, 0);
		assert_int_equal(
			weir_subscriber_probe_counts(rested.behind).items, 2);
		rested_fini(&rested);
	}
}

static void a_queue_that_overflows_at_rest_says_so_behind_its_items(
	void **state)
{
	struct rested rested;
	void *item;

	rested_init(&rested, &sources[0], 1, NULL);
	rested_pass(&rested, 1);
	for (int i = 0; i < 4; i++)
		queue_put(item_new(i));
	item = item_new(5);
	assert_int_equal(weir_flow_queue_offer(queue, item), -EOVERFLOW);
	item_drop(item, NULL);
	settle();
	weir_subscriber_probe_request(rested.behind, 4);
	settle();
	assert_told(&rested, -EOVERFLOW);
	rested_fini(&rested);
}

static void who_waits_for_the_end_of_a_channel_keeps_it(void **state)
{
	struct rested rested;

	rested_init(&rested, &sources[1], 1, NULL);
	rested_pass(&rested, 1);
	assert_int_equal(weir_channel_free(channel), -EBUSY);
	weir_flow_run_stop(rested.run, NULL);
	settle();
	rested_fini(&rested);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_that_ends_is_heard_of_at_rest),
		cmocka_unit_test(a_source_that_fails_is_heard_of_at_rest),
		cmocka_unit_test(so_is_one_that_never_was_asked),
		cmocka_unit_test(
			a_prefix_that_is_not_full_is_no_reason_to_wait),
		cmocka_unit_test(
			an_end_behind_the_last_of_several_needs_no_demand),
		cmocka_unit_test(
			a_zip_that_waits_for_another_item_ends_with_it),
		cmocka_unit_test(an_end_waits_for_the_items_before_it),
		cmocka_unit_test(
			a_queue_that_overflows_at_rest_says_so_behind_its_items),
		cmocka_unit_test(who_waits_for_the_end_of_a_channel_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
