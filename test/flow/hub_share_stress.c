/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A share between two pools of threads, whose subscribers come and go: each
 * gets what one run emits, one after the other, and each run ends.
 */
#include "flow/hub_kit.h"

#include <sched.h>

#include <ck_pr.h>

#define N_SUBSCRIBERS 4
#define TURNS 40

struct listener {
	struct hub_run run;
	intptr_t newest;
	bool gap;
};

static struct weir_threads *pools[2];
static struct weir_flow_share *shared;
static struct listener listeners[N_SUBSCRIBERS];
static uint32_t n_begun, n_over; /* runs of the share */

static struct weir_executor *pool(size_t i)
{
	return weir_threads_executor(pools[i % 2]);
}

static void begun(void *context)
{
	ck_pr_inc_32(&n_begun);
}

static void over(struct weir_error *error, void *result, void *context)
{
	ck_pr_inc_32(&n_over);
}

static const struct weir_flow_peek_functions hooks = {.started = begun};

static int listen(void *item, void *context)
{
	struct listener *listener = context;
	intptr_t value = ((struct item *)item)->value;

	listener->gap |= listener->newest && value != listener->newest + 1;
	listener->newest = value;
	item_drop(item, NULL);
	return 0;
}

static void subscribe(size_t i)
{
	struct weir_flow *flow = weir_flow_from_share(shared);

	listeners[i] = (struct listener){.gap = false};
	flow = weir_flow_for_each(flow, listen, &listeners[i]);
	hub_run_start(&listeners[i].run, flow, pool(i));
}

/* Those of an even place take what is left. */
static void leave(size_t i, bool stops)
{
	struct hub_run *run = &listeners[i].run;
	int code;

	if (stops)
		weir_flow_run_stop(run->run, NULL);
	assert_int_equal(weir_completion_wait(weir_flow_run_over(run->run),
					      WEIR_FOREVER),
			 0);
	code = hub_run_fini(run);
	assert_true(code == 0 || (stops && code == -ECANCELED));
	assert_false(listeners[i].gap);
}

static void round_of(const struct weir_flow_share_options *options,
		     int64_t length, uint64_t round)
{
	/* who is alone may wait for others for ever */
	bool stops = length > TURNS || options->hub.connect_after > 0;
	struct weir_flow *flow = counted(weir_flow_range(1, length));
	size_t i;

	flow = weir_flow_peek(flow, &hooks, NULL);
	assert_int_equal(
		weir_flow_share_new(&shared, flow, pool(round), options), 0);
	for (i = 0; i < N_SUBSCRIBERS; i++)
		subscribe(i);
	for (i = 0; i < TURNS; i++) {
		/* the second often leaves nobody, as the first one does */
		if (i % 8 == 3)
			weir_flow_run_stop(
				listeners[(i + 1 + round) % N_SUBSCRIBERS]
					.run.run,
				NULL);
		leave((i + round) % N_SUBSCRIBERS, true);
		if (i % 8 == 3)
			leave((i + 1 + round) % N_SUBSCRIBERS, true);
		if (i % 8 == 3)
			subscribe((i + 1 + round) % N_SUBSCRIBERS);
		subscribe((i + round) % N_SUBSCRIBERS);
	}
	for (i = 0; i < N_SUBSCRIBERS; i++)
		leave(i, stops);
	weir_flow_share_free(shared);
}

/* The runs of shares are over a little later than those of subscribers. */
static void end_pools(void)
{
	size_t i;

	while (ck_pr_load_32(&n_over) < ck_pr_load_32(&n_begun))
		sched_yield();
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_threads_free(pools[i]), 0);
}

static void subscribers_come_and_go_over_two_pools(void **state)
{
	static const struct weir_flow_share_options options[] = {
		{.hub.capacity = 1, .run.done = over},
		{.hub.capacity = 16, .run.done = over},
		{.hub.replay = 100, .run.done = over},
		{.run.done = over, .linger_ns = 1},
		{.hub.replay = 1, .run.done = over, .linger_ns = 20000},
		{.hub.connect_after = 3, .run.done = over},
		{.hub.connect_after = 2, .run.done = over, .linger_ns = 1},
	};
	uint64_t round, n = test_count(200);
	size_t i;

	n_live = 0;
	for (i = 0; i < 2; i++)
		assert_int_equal(
			weir_threads_new(
				&pools[i],
				&(struct weir_threads_options){.workers = 2}),
			0);
	for (round = 0; round < n; round++) {
		for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
			round_of(&options[i], INT64_MAX, round);
			round_of(&options[i], 3, round);
		}
	}
	end_pools();
	assert_int_equal(n_live, 0);
	assert_int_equal(ck_pr_load_32(&n_over), ck_pr_load_32(&n_begun));
	assert_true(ck_pr_load_32(&n_begun) >= 6 * n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subscribers_come_and_go_over_two_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
