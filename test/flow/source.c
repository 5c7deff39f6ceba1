/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources, and the queue that any thread puts items into. */
#include "flow/world.h"

#include <pthread.h>

/* --- What is known -------------------------------------------------------- */

static void plain_sources_put_out_what_they_say(void **state)
{
	static void *const items[] = {(void *)3, (void *)1, (void *)2};

	ASSERT_FLOW(weir_flow_array(items, 3), 0, 3, 1, 2);
	assert_flow(weir_flow_array(NULL, 0), false, NULL, 0, 0);
	ASSERT_FLOW(weir_flow_range(-1, 1), 0, -1, 0, 1);
	assert_flow(weir_flow_range(1, 0), false, NULL, 0, 0);
	ASSERT_FLOW(weir_flow_range(INT64_MAX - 1, INT64_MAX), 0, INT64_MAX - 1,
		    INT64_MAX);
	ASSERT_FLOW(weir_flow_single((void *)9), 0, 9);
	assert_flow(weir_flow_empty(), false, NULL, 0, 0);
}

static void an_error_carries_its_words(void **state)
{
	struct weir_flow *flow =
		weir_flow_name(weir_flow_fail(-EIO, "broken"), "disk");
	struct weir_error *error;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_int_equal(error->code, -EIO);
	assert_string_equal(error->origin, "disk");
	assert_string_equal(error->message, "broken");
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void never_waits_without_work(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	world.flow = weir_flow_never();
	world_start(&world, OPEN);
	until(&world, MS);
	assert_false(weir_sim_step(world.base.sim));
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

/* --- What is made --------------------------------------------------------- */

static int n_calls;

static int fibonacci(void **state, void **item, void *context)
{
	intptr_t now = (intptr_t)*state % 1000,
		 before = (intptr_t)*state / 1000;

	n_calls++;
	if (now > 100)
		return (int)(intptr_t)context;
	*item = (void *)now;
	*state = (void *)((now * 1000) + now + before);
	return 1;
}

static void unfold_makes_one_for_each_that_is_asked_for(void **state)
{
	static struct flow_world world;

	ASSERT_FLOW(weir_flow_unfold((void *)1, fibonacci, NULL), 0, 1, 1, 2, 3,
		    5, 8, 13, 21, 34, 55, 89);
	ASSERT_FLOW(weir_flow_take(weir_flow_unfold((void *)55034, fibonacci,
						    (void *)-EIO),
				   9),
		    -EIO, 34, 89);
	n_calls = 0;
	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	world.flow = weir_flow_unfold((void *)1, fibonacci, NULL);
	world_start(&world, 4);
	until(&world, 0);
	assert_int_equal(n_calls, 4);
	let_pass(&world, OPEN);
	flow_world_end(&world, 0);
}

static int n_open;

static int open_it(void **resource, void *context)
{
	static intptr_t next;

	if (context && (intptr_t)context < 0)
		return (int)(intptr_t)context;
	n_open++;
	next = 0;
	*resource = &next;
	return 0;
}

static int read_it(void *resource, void **item, void *context)
{
	intptr_t *next = resource;

	++*next;
	if (context && *next == (intptr_t)context)
		return -EIO;
	*item = (void *)*next;
	return *next <= 5;
}

static void close_it(void *resource, void *context)
{
	n_open--;
}

static const struct weir_flow_resource_functions access_it = {open_it, read_it,
							      close_it};

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static void a_resource_is_closed_once_however_it_ends(void **state)
{
	struct weir_flow *flow;

	ASSERT_FLOW(weir_flow_resource(&access_it, NULL), 0, 1, 2, 3, 4, 5);
	assert_int_equal(n_open, 0);
	ASSERT_FLOW(weir_flow_resource(&access_it, (void *)3), -EIO, 1, 2);
	assert_int_equal(n_open, 0);
	ASSERT_FLOW(weir_flow_take(weir_flow_resource(&access_it, NULL), 2), 0,
		    1, 2);
	assert_int_equal(n_open, 0);
	assert_flow(weir_flow_resource(&access_it, (void *)-ENOENT), false,
		    NULL, 0, -ENOENT);
	assert_int_equal(n_open, 0);
	flow = weir_flow_resource(&access_it, (void *)3);
	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 2, 4, 5);
	assert_int_equal(n_open, 0);
}

static enum weir_directive restart_twice(struct weir_error *error,
					 void *context)
{
	return --*(int *)context >= 0 ? WEIR_DIRECTIVE_RESTART
				      : WEIR_DIRECTIVE_STOP;
}

static void a_resource_that_restarts_is_opened_again(void **state)
{
	struct weir_flow *flow = weir_flow_resource(&access_it, (void *)3);
	struct got got = {0};
	int left = 2;

	flow = into(weir_flow_supervise(flow, restart_twice, &left), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), -EIO);
	assert_int_equal(got.n, 6);
	assert_int_equal(n_open, 0);
	weir_flow_free(flow);
}

/* --- The queue ------------------------------------------------------------ */

static void a_queue_is_empty_when_it_ends(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	flow_offer(&world, 1, 3);
	world_start(&world, OPEN);
	until(&world, 0);
	flow_offer(&world, 4, 5);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5);
}

static void a_queue_that_is_full_says_so(void **state)
{
	struct weir_flow_queue *queue;
	struct item *item = item_new(2);

	assert_int_equal(weir_flow_queue_new(&queue, 1,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     &counted_items),
			 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(1)), 0);
	assert_int_equal(weir_flow_queue_offer(queue, item), -EAGAIN);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_flow_queue_new(&queue, 1, WEIR_OVERFLOW_DROP_NEW,
					     &counted_items),
			 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(1)), 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(3)), -ENOBUFS);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_flow_queue_new(&queue, 1, WEIR_OVERFLOW_DROP_HEAD,
					     &counted_items),
			 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(1)), 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(3)), 1);
	assert_int_equal(n_live, 2);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_flow_queue_new(&queue, 1, WEIR_OVERFLOW_FAIL,
					     &counted_items),
			 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(1)), 0);
	assert_int_equal(weir_flow_queue_offer(queue, item), -EOVERFLOW);
	assert_int_equal(weir_flow_queue_offer(queue, item), -EPIPE);
	weir_flow_queue_free(queue);
	item_drop(item, NULL);
	assert_int_equal(n_live, 0);
}

/*
 * Offers 1 to 130 to a queue for 128 items, of which that many stay alive, and
 * checks what comes out: 1 to `first`, and `then` to 130.
 */
static void assert_overflow(enum weir_overflow overflow, int n_alive,
			    intptr_t first, intptr_t then)
{
	static struct got got;
	struct weir_flow_queue *queue;
	intptr_t expected[130], i;
	struct weir_flow *flow;
	size_t n = 0;
	int rc;

	assert_int_equal(
		weir_flow_queue_new(&queue, 128, overflow, &counted_items), 0);
	for (i = 1; i <= 130; i++) {
		rc = i == 129 ||
		     (i == 130 && overflow != WEIR_OVERFLOW_DROP_ALL);
		assert_int_equal(weir_flow_queue_offer(queue, item_new(i)), rc);
		if (i <= first || i >= then)
			expected[n++] = i;
	}
	assert_int_equal(n_live, n_alive);
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	got.n = 0;
	got.counted = true;
	flow = into(weir_flow_from_queue(queue), &got);
	got.code = run_on_sim(flow, 1, 0);
	assert_got(&got, expected, n, 0);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
	assert_int_equal(n_live, 0);
}

static void a_full_queue_drops_the_oldest_the_youngest_or_all(void **state)
{
	assert_overflow(WEIR_OVERFLOW_DROP_HEAD, 128, 0, 3);
	assert_overflow(WEIR_OVERFLOW_DROP_TAIL, 128, 127, 130);
	assert_overflow(WEIR_OVERFLOW_DROP_ALL, 2, 0, 129);
}

static void a_drain_takes_what_is_queued_and_closes(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	static struct got got;
	struct weir_flow *flow;
	intptr_t i;

	got.n = 0;
	got.counted = true;
	assert_int_equal(weir_flow_queue_new(&queue, 8,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     &counted_items),
			 0);
	flow = weir_flow_for_each(weir_flow_from_queue(queue), got_one, &got);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	weir_sim_run(sim);
	for (i = 1; i <= 3; i++)
		assert_int_equal(weir_flow_queue_offer(queue, item_new(i)), 0);
	weir_flow_run_end(run);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(weir_flow_queue_offer(queue, NULL), -EPIPE);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(n_live, 0);
}

/* Who comes in vain does not make way for who comes next. */
static void a_queue_runs_once(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow *flow;

	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE, NULL),
			 0);
	flow = weir_flow_ignore(weir_flow_from_queue(queue));
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	assert_int_equal(weir_flow_queue_end(queue, NULL), -EALREADY);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(run_on_sim(flow, 1, 0), -EALREADY);
	assert_int_equal(run_on_sim(flow, 1, 0), -EALREADY);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
}

static void a_queue_closed_with_an_error_fails_behind_its_items(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	flow_offer(&world, 1, 2);
	assert_int_equal(weir_flow_queue_end(world.queue, weir_error_of(-EIO)),
			 0);
	world_start(&world, OPEN);
	until(&world, 0);
	ASSERT_OUT(&world, 1, 2);
	flow_world_end(&world, -EIO);
}

static void a_queue_whose_run_is_over_takes_no_more(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_take(world.flow, 2);
	flow_offer(&world, 1, 5);
	world_start(&world, OPEN);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EPIPE);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1, 2);
}

/* Many threads offer; each item comes out once, each thread's in order. */
enum { OFFERERS = 4 };

struct offerer {
	pthread_t thread;
	struct weir_flow_queue *queue;
	intptr_t id, n;
};

static void *offer_all(void *argument)
{
	struct offerer *self = argument;
	struct item *item;
	intptr_t i;

	for (i = 0; i < self->n; i++) {
		item = item_new(self->id * 1000000 + i);
		while (weir_flow_queue_offer(self->queue, item) == -EAGAIN)
			sched_yield();
	}
	return NULL;
}

static int in_order(void *memory, void *context)
{
	intptr_t *next = context, value = ((struct item *)memory)->value;

	assert_int_equal(next[value / 1000000]++, value % 1000000);
	item_drop(memory, NULL);
	return 0;
}

static void threads_offer_at_once(void **state)
{
	struct offerer offerers[OFFERERS];
	intptr_t next[OFFERERS] = {0};
	struct weir_flow_queue *queue;
	struct weir_threads *threads;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	int i;

	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	assert_int_equal(weir_flow_queue_new(&queue, 64,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     &counted_items),
			 0);
	flow = weir_flow_async(weir_flow_from_queue(queue), 16, NULL);
	flow = weir_flow_for_each(flow, in_order, next);
	assert_int_equal(weir_flow_start(flow, weir_threads_executor(threads),
					 NULL, &run),
			 0);
	for (i = 0; i < OFFERERS; i++) {
		offerers[i] = (struct offerer){
			.queue = queue,
			.id = i,
			.n = (intptr_t)test_count(20000),
		};
		assert_int_equal(pthread_create(&offerers[i].thread, NULL,
						offer_all, &offerers[i]),
				 0);
	}
	for (i = 0; i < OFFERERS; i++)
		assert_int_equal(pthread_join(offerers[i].thread, NULL), 0);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	for (i = 0; i < OFFERERS; i++)
		assert_int_equal(next[i], offerers[i].n);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	while (weir_threads_free(threads) != 0)
		sched_yield();
	assert_int_equal(n_live, 0);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow *flows[] = {
		weir_flow_array(NULL, 1),
		weir_flow_fail(0, NULL),
		weir_flow_unfold(NULL, NULL, NULL),
		weir_flow_resource(NULL, NULL),
		weir_flow_from_queue(NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
	assert_int_equal(weir_flow_queue_new(NULL, 1, WEIR_OVERFLOW_FAIL, NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_queue_new(&queue, 3, WEIR_OVERFLOW_FAIL,
					     NULL),
			 -EINVAL);
	assert_null(queue);
	assert_int_equal(weir_flow_queue_offer(NULL, NULL), -EINVAL);
	assert_int_equal(weir_flow_queue_end(NULL, NULL), -EINVAL);
	weir_flow_queue_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_sources_put_out_what_they_say),
		cmocka_unit_test(an_error_carries_its_words),
		cmocka_unit_test(never_waits_without_work),
		cmocka_unit_test(unfold_makes_one_for_each_that_is_asked_for),
		cmocka_unit_test(a_resource_is_closed_once_however_it_ends),
		cmocka_unit_test(a_resource_that_restarts_is_opened_again),
		cmocka_unit_test(a_queue_is_empty_when_it_ends),
		cmocka_unit_test(a_queue_that_is_full_says_so),
		cmocka_unit_test(
			a_full_queue_drops_the_oldest_the_youngest_or_all),
		cmocka_unit_test(a_drain_takes_what_is_queued_and_closes),
		cmocka_unit_test(a_queue_runs_once),
		cmocka_unit_test(
			a_queue_closed_with_an_error_fails_behind_its_items),
		cmocka_unit_test(a_queue_whose_run_is_over_takes_no_more),
		cmocka_unit_test(threads_offer_at_once),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
