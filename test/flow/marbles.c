/* SPDX-License-Identifier: BSD-2-Clause */
/* What operators do to order and time, as docs/operators.md shows it. */
#include "flow/marbles_kit.h"

/* --- What the calls below are given --------------------------------------- */

static struct weir_flow *make(void *item, void *context)
{
	return made_for(item);
}

static struct weir_flow *begin(void *context)
{
	return made_for(NULL);
}

static struct weir_flow *instead(struct weir_error *error, void *context)
{
	return made_for(NULL);
}

static int join(void **all, void *item, void *context)
{
	*all = joined(*all, item);
	return 0;
}

static const struct weir_flow_conflate_functions joining = {.add = join};

static int pair(void *const *items, size_t n, void **result, void *context)
{
	*result = joined(items[0], items[1]);
	return 0;
}

static int pair_of(void *left, void *right, void **result, void *context)
{
	*result = joined(left, right);
	return 1;
}

static int all_of(void *left, void *const *rights, size_t n, void **result,
		  void *context)
{
	char *label = joined(left, "");
	size_t i;

	for (i = 0; i < n; i++)
		label = joined(label, rights[i]);
	*result = label;
	return 1;
}

static const struct weir_flow_join_options open = {.left_ns = 30 * MS,
						   .right_ns = 20 * MS,
						   .left_max = 4,
						   .right_max = 4};

static int by_letter(void *a, void *b, void *context)
{
	return strcmp(a, b);
}

static uint64_t digit(void *item, void *context)
{
	return (uint64_t)(*(const char *)item - '0');
}

static int with(void **item, void *newest, void *context)
{
	*item = joined(*item, newest);
	return 0;
}

static const struct weir_flow_window_options threes = {.n = 3,
						       .within_ns = 30 * MS},
					     sessions = {.quiet_ns = 15 * MS};

static int64_t ten_each(void *item, void *context)
{
	return (*(const char *)item - '0') * (int64_t)(10 * MS);
}

static const struct weir_flow_delay_options
	each_its_own = {.delay = ten_each, .n = 8},
	two_newest = {.delay_ns = 30 * MS,
		      .n = 2,
		      .overflow = WEIR_OVERFLOW_DROP_HEAD},
	two_early = {.delay_ns = 30 * MS, .n = 2, .emit_early = true};

static int put_open(void **item, void *context)
{
	*item = joined("[", "");
	return 0;
}

static int put_comma(void **item, void *context)
{
	*item = joined(",", "");
	return 0;
}

static int put_close(void **item, void *context)
{
	*item = joined("]", "");
	return 0;
}

static int put_dash(void **item, void *context)
{
	*item = joined("-", "");
	return 0;
}

static int again_twice(void *last, uint64_t i, void **item, void *context)
{
	if (i == 2)
		return 0;
	*item = joined(last, i ? "2" : "1");
	return 1;
}

static const struct weir_flow_intersperse_functions list_text = {
	put_open, put_comma, put_close};

static uint64_t weigh(void *item, void *context)
{
	return (uint64_t)(*(const char *)item - '0');
}

static int is_capital(void *item, void *context)
{
	return *(const char *)item >= 'A' && *(const char *)item <= 'Z';
}

static int letter(void *item, uintptr_t *key, void *context)
{
	*key = *(const unsigned char *)item;
	return 0;
}

static int by_case(void *item, size_t *outlet, void *context)
{
	*outlet = is_capital(item, NULL) ? 0 : 1;
	return 0;
}

static struct weir_flow *list(struct weir_flow *upstream, void *context)
{
	return labels(weir_flow_collect(upstream, 0));
}

static struct weir_flow *twos(struct weir_flow *upstream, uintptr_t key,
			      void *context)
{
	return labels(weir_flow_grouped(upstream, 2));
}

static struct weir_flow *again(void *const *items, size_t n,
			       struct weir_flow *tail, void *context)
{
	return weir_flow_prepend(tail,
				 weir_flow_single(joined(items[0], items[1])));
}

static int no_capital(void **item, void *context)
{
	return is_capital(*item, NULL) ? -EIO : 0;
}

static struct weir_flow *fragile(struct weir_flow *upstream, void *context)
{
	return weir_flow_map(upstream, no_capital, NULL);
}

static int last_words(struct weir_error *error, void **item, void *context)
{
	*item = joined("z", "");
	return 1;
}

static const struct weir_backoff doubling = {
	.min_ns = 20 * MS,
	.max_ns = 80 * MS,
	.reset_ns = WEIR_FOREVER,
};
static const struct weir_flow_restart_options later = {.backoff = &doubling};
static struct weir_flow *slowly(struct weir_flow *upstream, void *context)
{
	static const struct weir_flow_rate rate = {
		.n = 1,
		.per_ns = 20 * MS,
	};

	return weir_flow_throttle(upstream, &rate);
}

static const struct weir_flow_fan_options one_each = {.capacity = 1};

static const uint32_t two_to_one[] = {2, 1};

static char a[] = "a";
static char dash[] = "-";
static void *const padding[] = {dash, dash};
static struct weir_flow_switch *stop;
static struct weir_semaphore permits;

static void not_thrown(void)
{
	weir_flow_switch_free(stop);
	assert_int_equal(weir_flow_switch_new(&stop), 0);
}

static void shut_down(void)
{
	assert_int_equal(weir_flow_switch_end(stop), 0);
}

static void release(void)
{
	assert_int_equal(weir_semaphore_release(&permits, 1), 0);
}

/* --- Calls that take a time ----------------------------------------------- */

/*
 * Runs what it is given 30 ms later, then 10, 15 and 20; and from then on at
 * once.
 */
static struct slow {
	struct weir_executor executor;
	struct weir_timer timers[16];
	struct weir_task *tasks[16];
	size_t n;
} slow;

static void slow_fire(struct weir_timer *timer)
{
	weir_task_run(slow.tasks[timer - slow.timers]);
}

static int slow_submit(struct weir_executor *executor, struct weir_task *task)
{
	static const unsigned ms[16] = {30, 10, 15, 20};
	struct weir_timer *timer = &slow.timers[slow.n];

	assert_true(slow.n < 16);
	timer->fire = slow_fire;
	slow.tasks[slow.n] = task;
	return weir_timer_arm(weir_sim_executor(marbles.sim), timer,
			      sim_now() + ms[slow.n++] * MS);
}

static uint64_t slow_now(struct weir_executor *executor)
{
	return sim_now();
}

static void nothing_called(void)
{
	static const struct weir_executor_ops ops = {
		.submit = slow_submit,
		.now = slow_now,
	};

	if (slow.executor.ops)
		assert_int_equal(weir_executor_fini(&slow.executor), 0);
	memset(&slow, 0, sizeof(slow));
	assert_int_equal(weir_executor_init(&slow.executor, &ops, NULL), 0);
}

static const struct weir_flow_parallel_options elsewhere = {
	.executor = &slow.executor,
};

static int call(void **item, void *context)
{
	return 0;
}

/* --- Sources -------------------------------------------------------------- */

PICTURE(tick, weir_flow_tick(20 * MS, 30 * MS, a), .out = {"a@20 a@50 a@80"},
	.until_ms = 100)

PICTURE(restart, weir_flow_restart(begin, NULL, &later),
	.made = "a@0 b@10 !EIO@20", .out = {"a@0 b@10 a@40 b@50 a@100 b@110"},
	.until_ms = 130, .note = "waits 20 ms, then 40, then 80 at most")

/* --- By keys, between others, the last ones -------------------------------- */

PICTURE(distinct, weir_flow_distinct(flow, 2, letter, NULL, NULL),
	.in = {"a1@0 b1@10 a2@20 c1@30 a3@40 |@60"},
	.out = {"a1@0 b1@10 c1@30 a3@40 |@60"},
	.note = "remembers two letters: with c1 it forgets a")

PICTURE(intersperse, weir_flow_intersperse(flow, &list_text, NULL),
	.in = {"a@0 b@20 c@40 |@60"},
	.out = {"[@0 a@0 ,@20 b@20 ,@40 c@40 ]@60 |@60"},
	.note = "[ comes first, a comma between two, ] at the end")

PICTURE(take_last, weir_flow_take_last(flow, 2), .in = {"a@0 b@10 c@30 |@50"},
	.out = {"b@50 c@50 |@50"})

PICTURE(drop_last, weir_flow_drop_last(flow, 2),
	.in = {"a@0 b@10 c@30 d@40 |@60"}, .out = {"a@30 b@40 |@60"})

/* --- Nested flows --------------------------------------------------------- */

PICTURE(map_parallel,
	weir_flow_map_parallel(flow, 2, WEIR_ORDER_KEPT, call, NULL,
			       &elsewhere),
	.in = {"a@0 b@0 c@20 |@40"}, .set_up = nothing_called,
	.out = {"a@30 b@30 c@45 |@45"},
	.note = "a takes 30 ms, b 10, c 15; b waits for a, and c for room")

PICTURE(map_parallel_unordered,
	weir_flow_map_parallel(flow, 2, WEIR_ORDER_ANY, call, NULL, &elsewhere),
	.in = {"a@0 b@0 c@20 |@40"}, .set_up = nothing_called,
	.out = {"b@10 a@30 c@35 |@40"},
	.note = "a takes 30 ms, b 10, c 15; results as they are ready")

PICTURE(map_parallel_partitioned,
	weir_flow_map_parallel_partitioned(flow, 3, letter, NULL, call, NULL,
					   &elsewhere),
	.in = {"a1@0 a2@0 b1@0 |@20"}, .set_up = nothing_called,
	.out = {"a1@30 a2@50 b1@50 |@50"},
	.note = "a1 takes 30 ms, b1 15; a2 begins behind a1, and takes 20")

PICTURE(flat_map, weir_flow_flat_map(flow, 2, make, NULL),
	.in = {"a@0 b@20 c@30 |@50"}, .made = "x1@10 x2@40 |@40",
	.out = {"a1@10 b1@30 a2@40 c1@50 b2@60 c2@80 |@80"},
	.note = "two at once: c waits until the flow of a has ended")

PICTURE(flat_map_ordered, weir_flow_flat_map_ordered(flow, 2, 8, make, NULL),
	.in = {"a@0 b@5 |@50"}, .made = "x1@10 x2@40 |@40",
	.out = {"a1@10 a2@40 b1@40 b2@45 |@50"},
	.note = "both run at once: b1 waits for the flow of a")

PICTURE(delay_until, weir_flow_delay_until(flow, make, NULL),
	.in = {"a@0 b@5 c@70 |@100"}, .made = "x1@10 |@20",
	.out = {"a@20 b@40 c@90 |@100"},
	.note = "each waits for the end of its flow, and for the one before it")

PICTURE(switch_map, weir_flow_switch_map(flow, make, NULL),
	.in = {"a@0 b@30 |@50"}, .made = "x1@10 x2@20 x3@40 |@40",
	.out = {"a1@10 a2@20 b1@40 b2@50 b3@70 |@70"},
	.note = "b cancels the flow of a")

PICTURE(group_by, weir_flow_group_by(flow, 8, letter, twos, NULL, NULL),
	.in = {"a1@0 b1@10 a2@20 b2@40 a3@60 |@80"},
	.out = {"[a1 a2]@20 [b1 b2]@40 [a3]@80 |@80"},
	.note = "each letter's items through a flow that makes groups of two")

PICTURE(split_when, weir_flow_split_when(flow, is_capital, list, NULL),
	.in = {"A@0 b@10 c@20 D@40 e@50 |@70"},
	.out = {"[A b c]@40 [D e]@70 |@70"},
	.note = "a capital begins a part; each part through a flow that makes a list")

PICTURE(split_after, weir_flow_split_after(flow, is_capital, list, NULL),
	.in = {"a@0 b@10 C@20 d@40 E@50 |@70"},
	.out = {"[a b C]@20 [d E]@50 |@70"},
	.note = "a capital ends a part; each part through a flow that makes a list")

PICTURE(window, weir_flow_window(flow, &threes, list, NULL),
	.in = {"a@0 b@10 c@20 d@25 e@40 f@70 |@80"},
	.out = {"[a b c]@20 [d e]@55 [f]@80 |@80"},
	.note = "three items, or 30 ms from the first: d and e have no third")

PICTURE(window_quiet, weir_flow_window(flow, &sessions, list, NULL),
	.in = {"a@0 b@10 c@20 d@50 e@60 |@90"},
	.out = {"[a b c]@35 [d e]@75 |@90"},
	.note = "a session ends when no item has come for 15 ms")

PICTURE(window_by, weir_flow_window_by(flow, other, list, NULL),
	.in = {"a@0 b@10 c@30 d@60 |@80", "x@20 x@40 x@50 x@70 |@100"},
	.out = {"[a b]@20 [c]@40 [d]@70 |@80"},
	.note = "each x ends a window; where none is, it does nothing")

PICTURE(prefix_and_tail, weir_flow_prefix_and_tail(flow, 2, again, NULL),
	.in = {"a@0 b@10 c@30 d@40 |@60"}, .out = {"ab@10 c@30 d@40 |@60"},
	.note = "the flow made of a and b begins with both, the others follow")

/* --- Buffers, rates and time ---------------------------------------------- */

PICTURE(buffer, weir_flow_buffer(flow, 2, WEIR_OVERFLOW_BACK_PRESSURE),
	.in = {"a@0 b@10 c@20 d@30 |@40"},
	.asked = {"ask@50 ask@60 ask@70 ask@80"},
	.out = {"a@50 b@60 c@70 d@80 |@80"},
	.note = "c and d wait in front of it, nothing is lost")

PICTURE(buffer_head, weir_flow_buffer(flow, 2, WEIR_OVERFLOW_DROP_HEAD),
	.in = {"a@0 b@10 c@20 d@30 |@80"}, .asked = {"ask@50 ask@60 ask@70"},
	.out = {"c@50 d@60 |@80"}, .note = "the oldest make room for c and d")

PICTURE(buffer_new, weir_flow_buffer(flow, 2, WEIR_OVERFLOW_DROP_NEW),
	.in = {"a@0 b@10 c@20 d@30 |@80"}, .asked = {"ask@50 ask@60 ask@70"},
	.out = {"a@50 b@60 |@80"}, .note = "there is no room for c and d")

PICTURE(buffer_fail, weir_flow_buffer(flow, 2, WEIR_OVERFLOW_FAIL),
	.in = {"a@0 b@10 c@20 d@30 |@80"}, .asked = {"ask@50 ask@60"},
	.out = {"!EOVERFLOW@20"})

PICTURE(conflate, weir_flow_conflate(flow, &joining, NULL),
	.in = {"a@0 b@10 c@20 d@50 e@70 |@80"},
	.asked = {"ask@30 ask@40 ask@90"}, .out = {"abc@30 d@50 e@90 |@90"},
	.note = "what waits is joined to one item")

PICTURE(batch, weir_flow_batch(flow, 2, &joining, NULL),
	.in = {"a@0 b@10 c@20 d@30 |@40"}, .asked = {"ask@25 ask@50 ask@60"},
	.out = {"ab@25 cd@50 |@50"},
	.note = "two at most: c waits in front of it")

PICTURE(batch_weighted,
	weir_flow_batch_weighted(flow, 5, weigh, &joining, NULL),
	.in = {"1@0 3@10 2@20 1@40 |@60"}, .asked = {"ask@30 ask@50 ask@70"},
	.out = {"13@30 21@50 |@60"},
	.note = "a number weighs as much: 5 or less")

PICTURE(grouped, weir_flow_grouped(flow, 2),
	.in = {"a@0 b@10 c@30 d@50 e@60 |@80"},
	.out = {"[a b]@10 [c d]@50 [e]@80 |@80"}, .lists = true)

PICTURE(grouped_within, weir_flow_grouped_within(flow, 3, 40 * MS),
	.in = {"a@0 b@10 c@20 d@30 e@50 f@70 |@90"},
	.out = {"[a b c]@20 [d e]@60 [f]@90 |@90"}, .lists = true)

PICTURE(grouped_weighted,
	weir_flow_grouped_weighted(flow, 5, weigh, NULL, 8, 0),
	.in = {"1@0 3@10 2@20 5@40 1@50 |@70"},
	.out = {"[1 3 2]@20 [5]@40 [1]@70 |@70"}, .lists = true,
	.note = "a number weighs as much: 5 or more")

PICTURE(grouped_up_to, weir_flow_grouped_up_to(flow, 5, weigh, NULL, 8, 0),
	.in = {"1@0 3@10 2@20 3@40 1@50 |@70"},
	.out = {"[1 3]@20 [2 3]@40 [1]@70 |@70"}, .lists = true,
	.note = "a number weighs as much: 5 or less")

PICTURE(sliding, weir_flow_sliding(flow, 3, 2),
	.in = {"a@0 b@10 c@20 d@40 e@50 f@60 |@80"},
	.out = {"[a b c]@20 [c d e]@50 [e f]@80 |@80"}, .lists = true)

PICTURE(throttle,
	weir_flow_throttle(flow,
			   &(struct weir_flow_rate){.n = 1, .per_ns = 20 * MS}),
	.in = {"a@0 b@0 c@10 d@80 |@90"}, .out = {"a@0 b@20 c@40 d@80 |@90"})

PICTURE(throttle_enforce,
	weir_flow_throttle(flow,
			   &(struct weir_flow_rate){
				   .n = 2,
				   .per_ns = 40 * MS,
				   .how = WEIR_FLOW_THROTTLE_ENFORCE}),
	.in = {"a@0 b@10 c@20 d@30 |@60"}, .out = {"a@0 b@10 c@20 !EBUSY@30"})

PICTURE(debounce, weir_flow_debounce(flow, 20 * MS),
	.in = {"a@0 b@10 c@20 d@60 e@70 |@80"}, .out = {"c@40 e@80 |@80"})

PICTURE(sample, weir_flow_sample(flow, 30 * MS, false),
	.in = {"a@10 b@20 c@40 d@70 e@80 |@100"},
	.out = {"b@30 c@60 e@90 |@100"})

PICTURE(throttle_first, weir_flow_throttle_first(flow, 30 * MS),
	.in = {"a@0 b@10 c@20 d@40 e@50 f@80 |@90"},
	.out = {"a@0 d@40 f@80 |@90"})

PICTURE(throttle_latest, weir_flow_throttle_latest(flow, 30 * MS, false),
	.in = {"a@0 b@10 c@20 d@40 e@50 f@100 |@110"},
	.out = {"a@0 c@30 e@60 f@100 |@110"})

PICTURE(delay, weir_flow_delay(flow, 30 * MS, 8), .in = {"a@0 b@20 c@30 |@40"},
	.out = {"a@30 b@50 c@60 |@60"})

PICTURE(delay_with, weir_flow_delay_with(flow, &each_its_own),
	.in = {"3@0 1@10 2@40 |@50"}, .out = {"3@30 1@30 2@60 |@60"},
	.note = "3 takes 30 ms, and 1, which takes 10, waits behind it")

PICTURE(delay_with_drop, weir_flow_delay_with(flow, &two_newest),
	.in = {"a@0 b@10 c@20 d@50 |@60"}, .out = {"b@40 c@50 d@80 |@80"},
	.note = "30 ms each, and two may wait: c drives out a")

PICTURE(delay_with_early, weir_flow_delay_with(flow, &two_early),
	.in = {"a@0 b@10 c@20 d@50 |@60"}, .out = {"a@20 b@40 c@50 d@80 |@80"},
	.note = "30 ms each, and two may wait: a goes when c comes")

PICTURE(take_within, weir_flow_take_within(flow, 50 * MS),
	.in = {"a@0 b@20 c@40 d@60 |@80"}, .out = {"a@0 b@20 c@40 |@50"})

PICTURE(drop_within, weir_flow_drop_within(flow, 30 * MS),
	.in = {"a@0 b@20 c@40 d@60 |@80"}, .out = {"c@40 d@60 |@80"})

PICTURE(initial_delay, weir_flow_initial_delay(flow, 30 * MS),
	.in = {"a@0 b@20 c@40 d@60 |@80"}, .out = {"a@30 b@30 c@40 d@60 |@80"})

PICTURE(idle_timeout, weir_flow_idle_timeout(flow, 30 * MS),
	.in = {"a@0 b@20 c@70 |@80"}, .out = {"a@0 b@20 !ETIMEDOUT@50"})

PICTURE(completion_timeout, weir_flow_completion_timeout(flow, 50 * MS),
	.in = {"a@0 b@20 c@40 d@60 |@80"},
	.out = {"a@0 b@20 c@40 !ETIMEDOUT@50"})

PICTURE(initial_timeout, weir_flow_initial_timeout(flow, 30 * MS),
	.in = {"a@50 b@70 |@80"}, .out = {"!ETIMEDOUT@30"})

PICTURE(backpressure_timeout, weir_flow_backpressure_timeout(flow, 30 * MS),
	.in = {"a@0 b@20 c@40 |@90"}, .asked = {"ask@0 ask@20 ask@60"},
	.out = {"a@0 b@20 !ETIMEDOUT@50"})

PICTURE(keep_alive, weir_flow_keep_alive(flow, 20 * MS, put_dash, NULL),
	.in = {"a@0 b@10 c@60 |@70"}, .out = {"a@0 b@10 -@30 -@50 c@60 |@70"})

PICTURE(extrapolate, weir_flow_extrapolate(flow, again_twice, NULL),
	.in = {"a@0 b@20 |@80"},
	.asked = {"ask@0 ask@10 ask@30 ask@40 ask@50 ask@60"},
	.out = {"a@0 a1@10 b@30 b1@40 b2@50 |@80"},
	.note = "two more are made of each item")

/* --- Several flows, several outlets --------------------------------------- */

PICTURE(merge, weir_flow_merge(flows, 2),
	.in = {"a@0 c@40 |@60", "b@10 d@50 e@70 |@90"},
	.out = {"a@0 b@10 c@40 d@50 e@70 |@90"})

PICTURE(merge_delayed,
	weir_flow_delay_errors(weir_flow_merge(flows, 2), NULL, NULL),
	.in = {"a@0 !EIO@20", "b@10 c@50 |@70"},
	.out = {"a@0 b@10 c@50 !EIO@70"})

PICTURE(merge_eager, weir_flow_merge_eager(flows, 2),
	.in = {"a@0 c@40 |@60", "b@10 d@50 e@70 |@90"},
	.out = {"a@0 b@10 c@40 d@50 |@60"})

PICTURE(merge_preferred, weir_flow_merge_preferred(flows, 2),
	.in = {"a@0 b@30 |@50", "c@0 d@10 |@50"},
	.asked = {"ask@20 ask@40 ask@60 ask@80"},
	.out = {"a@20 b@40 c@60 d@80 |@80"},
	.note = "the first flow is asked first each time")

PICTURE(zip, weir_flow_zip(flows, 2, pair, NULL),
	.in = {"1@0 2@30 3@40 |@60", "a@10 b@20 c@70 |@90"},
	.out = {"1a@10 2b@30 3c@70 |@70"})

PICTURE(zip_all, weir_flow_zip_all(flows, 2, padding, pair, NULL),
	.in = {"1@0 2@30 |@40", "a@10 b@20 c@60 |@80"},
	.out = {"1a@10 2b@30 -c@60 |@80"},
	.note = "padding is a dash for each flow")

PICTURE(interleave, weir_flow_interleave(flows, 2, 2),
	.in = {"a@0 b@10 c@20 |@60", "x@30 y@50 z@70 |@80"},
	.out = {"a@0 b@10 x@30 y@50 c@50 z@70 |@80"},
	.note = "c waits until two of the second flow have come")

PICTURE(merge_sorted, weir_flow_merge_sorted(flows, 2, by_letter, NULL),
	.in = {"a@0 d@30 |@60", "b@10 c@20 e@40 |@70"},
	.out = {"a@10 b@30 c@30 d@40 e@60 |@70"},
	.note = "an item waits until the other flow has one, or has completed")

PICTURE(merge_sequence, weir_flow_merge_sequence(flows, 2, digit, NULL),
	.in = {"0@0 1@20 4@40 |@60", "2@10 3@30 5@50 |@80"},
	.out = {"0@0 1@20 2@20 3@30 4@40 5@50 |@80"},
	.note = "2 waits until 1 has come, in whichever flow")

PICTURE(merge_prioritized, weir_flow_merge_prioritized(flows, 2, two_to_one),
	.in = {"a@0 b@0 c@0 d@0 |@70", "x@0 y@0 z@0 |@70"},
	.asked = {"ask@10 ask@20 ask@30 ask@40 ask@50 ask@60 ask@70"},
	.out = {"a@10 b@20 x@30 c@40 d@50 y@60 z@70 |@70"},
	.note = "two of the first flow, then one of the second")

PICTURE(concat, weir_flow_concat(flows, 2),
	.in = {"a@0 b@20 |@40", "c@10 d@60 |@80"},
	.out = {"a@0 b@20 c@40 d@60 |@80"},
	.note = "c waits for the end of the first flow")

PICTURE(prepend, weir_flow_prepend(flow, other),
	.in = {"c@10 d@60 |@80", "a@0 b@20 |@40"},
	.out = {"a@0 b@20 c@40 d@60 |@80"},
	.note = "c waits for the end of the other flow")

PICTURE(concat_lazy,
	weir_flow_concat((struct weir_flow *[]){flow, weir_flow_lazy(other)},
			 2),
	.in = {"a@0 b@20 |@30", "c@10 d@30 |@40"},
	.out = {"a@0 b@20 c@40 d@60 |@70"},
	.note = "the other flow begins when it is its turn")

PICTURE(or_else, weir_flow_or_else(flow, other),
	.in = {"|@30", "a@10 b@50 |@60"}, .out = {"a@30 b@50 |@60"},
	.note = "the other flow, as this one has no items")

PICTURE(combine_latest, weir_flow_combine_latest(flows, 2, pair, NULL),
	.in = {"1@0 2@30 3@60 |@70", "a@10 b@40 |@50"},
	.out = {"1a@10 2a@30 2b@40 3b@60 |@70"})

PICTURE(with_latest_from, weir_flow_with_latest_from(flow, other, with, NULL),
	.in = {"1@0 2@20 3@40 4@60 |@70", "a@10 b@30 c@50 |@80"},
	.out = {"2a@20 3b@40 4c@60 |@70"},
	.note = "1 comes before the first item of the other flow")

PICTURE(join, weir_flow_join(flow, other, pair_of, NULL, &open),
	.in = {"1@0 2@20 |@80", "a@10 b@40 c@60 |@90"},
	.out = {"1a@10 2a@20 2b@40 |@80"},
	.note = "numbers are open for 30 ms, letters for 20 ms")

PICTURE(group_join, weir_flow_group_join(flow, other, all_of, NULL, &open),
	.in = {"1@0 2@20 |@80", "a@10 b@35 c@60 |@90"},
	.out = {"1a@30 2ab@50 |@80"},
	.note = "numbers are open for 30 ms, letters for 20 ms")

PICTURE(take_until, weir_flow_take_until(flow, other),
	.in = {"a@0 b@20 c@40 |@60", "x@30 y@50 |@70"},
	.out = {"a@0 b@20 |@30"})

PICTURE(skip_until, weir_flow_skip_until(flow, other),
	.in = {"a@0 b@20 c@40 d@60 |@70", "x@30 y@50 |@80"},
	.out = {"c@40 d@60 |@70"})

PICTURE(amb, weir_flow_amb(flows, 2),
	.in = {"a@20 b@40 |@60", "x@10 y@50 |@70"}, .out = {"x@10 y@50 |@70"},
	.note = "the second flow is the first to have an item")

PICTURE(then, weir_flow_then(flow, other),
	.in = {"a@0 b@20 |@30", "c@10 d@50 |@60"}, .out = {"c@30 d@50 |@60"},
	.note = "the first flow's items are dropped; c waits for its end")

PICTURE(also_to, weir_flow_also_to(flow, slowly, NULL, 1),
	.in = {"a@0 b@5 c@10 d@15 |@20"}, .out = {"a@0 b@5 c@10 d@20 |@60"},
	.note = "the flow beside takes one in 20 ms, and has room for one")

PICTURE(wire_tap, weir_flow_wire_tap(flow, slowly, NULL, 1),
	.in = {"a@0 b@5 c@10 d@15 |@20"}, .out = {"a@0 b@5 c@10 d@15 |@40"},
	.note = "the tap takes one in 20 ms: it misses some")

FAN_PICTURE(broadcast, weir_flow_broadcast(flow, 2, outlets, &one_each),
	    .in = {"a@0 b@10 c@20 |@30"},
	    .asked = {NULL, "ask@20 ask@40 ask@60"},
	    .out = {"a@0 b@20 c@40 |@40", "a@20 b@40 c@60 |@60"},
	    .note = "capacity 1: the slower outlet sets the pace")

FAN_PICTURE(balance, weir_flow_balance(flow, 2, outlets, &one_each),
	    .in = {"a@0 b@10 c@20 d@30 e@50 |@60"},
	    .asked = {"ask@15 ask@25 ask@45 ask@65", "ask@55"},
	    .out = {"a@15 c@25 d@45 e@65 |@65", "b@55 |@60"},
	    .note = "capacity 1: who asks more often gets more")

FAN_PICTURE(partition,
	    weir_flow_partition(flow, 2, by_case, NULL, outlets, NULL),
	    .in = {"A@0 b@10 C@30 D@40 e@60 |@70"},
	    .out = {"A@0 C@30 D@40 |@70", "b@10 e@60 |@70"},
	    .note = "capitals to the first outlet")

/* --- Ends from outside, errors -------------------------------------------- */

PICTURE(kill_switch, weir_flow_kill_switch(flow, stop),
	.in = {"a@0 b@20 c@50 |@70"}, .acts = "shutdown@40", .act = shut_down,
	.set_up = not_thrown, .out = {"a@0 b@20 |@40"})

PICTURE(acquire, weir_flow_acquire(flow, &permits),
	.in = {"a@0 b@10 c@30 |@50"},
	.acts = "release@20 release@40 release@60", .act = release,
	.out = {"a@20 b@40 c@60 |@60"})

PICTURE(recover, weir_flow_recover(flow, last_words, NULL),
	.in = {"a@0 b@20 !EIO@40"}, .out = {"a@0 b@20 z@40 |@40"})

PICTURE(complete_on_error, weir_flow_complete_on_error(flow, NULL, NULL),
	.in = {"a@0 b@20 !EIO@40"}, .out = {"a@0 b@20 |@40"})

PICTURE(resume_with, weir_flow_resume_with(flow, instead, NULL),
	.in = {"a@0 b@20 !EIO@40"}, .made = "y@10 z@30 |@40",
	.out = {"a@0 b@20 y@50 z@70 |@80"})

PICTURE(retry, weir_flow_retry(flow, 2, instead, NULL),
	.in = {"a@0 b@20 !EIO@40"}, .made = "z@10 !EIO@20",
	.out = {"a@0 b@20 z@50 z@70 !EIO@80"},
	.note = "twice, then the error stands")

PICTURE(restart_around, weir_flow_restart_around(flow, fragile, NULL, &later),
	.in = {"a@0 B@10 c@20 d@50 |@60"}, .out = {"a@0 c@30 d@50 |@60"},
	.note = "it fails on B, and is made again 20 ms later")

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tick_is_as_drawn),
		cmocka_unit_test(restart_is_as_drawn),
		cmocka_unit_test(distinct_is_as_drawn),
		cmocka_unit_test(intersperse_is_as_drawn),
		cmocka_unit_test(take_last_is_as_drawn),
		cmocka_unit_test(drop_last_is_as_drawn),
		cmocka_unit_test(map_parallel_is_as_drawn),
		cmocka_unit_test(map_parallel_unordered_is_as_drawn),
		cmocka_unit_test(map_parallel_partitioned_is_as_drawn),
		cmocka_unit_test(flat_map_is_as_drawn),
		cmocka_unit_test(flat_map_ordered_is_as_drawn),
		cmocka_unit_test(delay_until_is_as_drawn),
		cmocka_unit_test(switch_map_is_as_drawn),
		cmocka_unit_test(group_by_is_as_drawn),
		cmocka_unit_test(split_when_is_as_drawn),
		cmocka_unit_test(split_after_is_as_drawn),
		cmocka_unit_test(window_is_as_drawn),
		cmocka_unit_test(window_quiet_is_as_drawn),
		cmocka_unit_test(window_by_is_as_drawn),
		cmocka_unit_test(prefix_and_tail_is_as_drawn),
		cmocka_unit_test(buffer_is_as_drawn),
		cmocka_unit_test(buffer_head_is_as_drawn),
		cmocka_unit_test(buffer_new_is_as_drawn),
		cmocka_unit_test(buffer_fail_is_as_drawn),
		cmocka_unit_test(conflate_is_as_drawn),
		cmocka_unit_test(batch_is_as_drawn),
		cmocka_unit_test(batch_weighted_is_as_drawn),
		cmocka_unit_test(grouped_is_as_drawn),
		cmocka_unit_test(grouped_within_is_as_drawn),
		cmocka_unit_test(grouped_weighted_is_as_drawn),
		cmocka_unit_test(grouped_up_to_is_as_drawn),
		cmocka_unit_test(sliding_is_as_drawn),
		cmocka_unit_test(throttle_is_as_drawn),
		cmocka_unit_test(throttle_enforce_is_as_drawn),
		cmocka_unit_test(debounce_is_as_drawn),
		cmocka_unit_test(sample_is_as_drawn),
		cmocka_unit_test(throttle_first_is_as_drawn),
		cmocka_unit_test(throttle_latest_is_as_drawn),
		cmocka_unit_test(delay_is_as_drawn),
		cmocka_unit_test(delay_with_is_as_drawn),
		cmocka_unit_test(delay_with_drop_is_as_drawn),
		cmocka_unit_test(delay_with_early_is_as_drawn),
		cmocka_unit_test(take_within_is_as_drawn),
		cmocka_unit_test(drop_within_is_as_drawn),
		cmocka_unit_test(initial_delay_is_as_drawn),
		cmocka_unit_test(idle_timeout_is_as_drawn),
		cmocka_unit_test(completion_timeout_is_as_drawn),
		cmocka_unit_test(initial_timeout_is_as_drawn),
		cmocka_unit_test(backpressure_timeout_is_as_drawn),
		cmocka_unit_test(keep_alive_is_as_drawn),
		cmocka_unit_test(extrapolate_is_as_drawn),
		cmocka_unit_test(merge_is_as_drawn),
		cmocka_unit_test(merge_delayed_is_as_drawn),
		cmocka_unit_test(merge_eager_is_as_drawn),
		cmocka_unit_test(merge_preferred_is_as_drawn),
		cmocka_unit_test(zip_is_as_drawn),
		cmocka_unit_test(zip_all_is_as_drawn),
		cmocka_unit_test(interleave_is_as_drawn),
		cmocka_unit_test(merge_sorted_is_as_drawn),
		cmocka_unit_test(merge_sequence_is_as_drawn),
		cmocka_unit_test(merge_prioritized_is_as_drawn),
		cmocka_unit_test(concat_is_as_drawn),
		cmocka_unit_test(prepend_is_as_drawn),
		cmocka_unit_test(concat_lazy_is_as_drawn),
		cmocka_unit_test(or_else_is_as_drawn),
		cmocka_unit_test(combine_latest_is_as_drawn),
		cmocka_unit_test(with_latest_from_is_as_drawn),
		cmocka_unit_test(join_is_as_drawn),
		cmocka_unit_test(group_join_is_as_drawn),
		cmocka_unit_test(take_until_is_as_drawn),
		cmocka_unit_test(skip_until_is_as_drawn),
		cmocka_unit_test(amb_is_as_drawn),
		cmocka_unit_test(then_is_as_drawn),
		cmocka_unit_test(also_to_is_as_drawn),
		cmocka_unit_test(wire_tap_is_as_drawn),
		cmocka_unit_test(broadcast_is_as_drawn),
		cmocka_unit_test(balance_is_as_drawn),
		cmocka_unit_test(partition_is_as_drawn),
		cmocka_unit_test(kill_switch_is_as_drawn),
		cmocka_unit_test(acquire_is_as_drawn),
		cmocka_unit_test(recover_is_as_drawn),
		cmocka_unit_test(complete_on_error_is_as_drawn),
		cmocka_unit_test(resume_with_is_as_drawn),
		cmocka_unit_test(retry_is_as_drawn),
		cmocka_unit_test(restart_around_is_as_drawn),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	weir_flow_switch_free(stop);
	return weir_executor_fini(&slow.executor) < 0 || rc;
}
