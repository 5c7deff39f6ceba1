/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hub between two pools of threads, whose subscribers come and go: each gets
 * the items of a producer one after the other, and none is lost.
 */
#include "flow/hub_kit.h"

#define N_SUBSCRIBERS 4
#define N_PRODUCERS 2
#define N_ITEMS 1000
#define LONGEST 100000

struct listener {
	struct hub_run run;
	intptr_t newest[N_PRODUCERS];
	bool gap;
};

static struct weir_threads *pools[2];
static struct weir_hub *hub;
static struct hub_run producers[N_PRODUCERS];
static struct listener listeners[N_SUBSCRIBERS];

static struct weir_executor *pool(size_t i)
{
	return weir_threads_executor(pools[i % 2]);
}

static bool deals; /* each item to one subscriber */

static int choose(void *item, size_t n, size_t *chosen, void *context)
{
	*chosen = (size_t)((struct item *)item)->value % n;
	return 0;
}

static int listen(void *item, void *context)
{
	struct listener *listener = context;
	intptr_t value = ((struct item *)item)->value;
	intptr_t *newest = &listener->newest[value / LONGEST];

	if (*newest)
		listener->gap |= deals ? value <= *newest
				       : value != *newest + 1;
	*newest = value;
	item_drop(item, NULL);
	return 0;
}

static void subscribe(size_t i)
{
	struct weir_flow *flow = weir_flow_from_hub(hub);

	listeners[i] = (struct listener){.gap = false};
	flow = weir_flow_for_each(flow, listen, &listeners[i]);
	hub_run_start(&listeners[i].run, flow, pool(i));
}

static void end_of(struct hub_run *run)
{
	assert_int_equal(weir_completion_wait(weir_flow_run_over(run->run),
					      WEIR_FOREVER),
			 0);
	(void)hub_run_fini(run);
}

static void leave(size_t i)
{
	weir_flow_run_stop(listeners[i].run.run, NULL);
	end_of(&listeners[i].run);
	assert_false(listeners[i].gap);
}

static void round_of(const struct weir_hub_options *options, uint64_t round)
{
	struct weir_flow *flow;
	intptr_t first;
	size_t i;

	deals = options->choose != NULL;
	assert_int_equal(weir_hub_new(&hub, &counted_items, options, NULL), 0);
	for (i = 0; i < N_PRODUCERS; i++) {
		first = (intptr_t)i * LONGEST + 1;
		flow = counted(weir_flow_range(first, first + N_ITEMS - 1));
		hub_run_start(&producers[i], weir_flow_into_hub(flow, hub),
			      pool(i));
	}
	for (i = 0; i < N_SUBSCRIBERS; i++)
		subscribe(i);
	for (i = 0; i < 20; i++) {
		assert_int_equal(weir_hub_free(hub), -EBUSY);
		leave((i + round) % N_SUBSCRIBERS);
		subscribe((i + round) % N_SUBSCRIBERS);
	}
	/* one is there, so all items are taken */
	for (i = 0; i < N_PRODUCERS; i++)
		end_of(&producers[i]);
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	for (i = 0; i < N_SUBSCRIBERS; i++) {
		end_of(&listeners[i].run);
		assert_false(listeners[i].gap);
	}
	assert_int_equal(weir_hub_free(hub), 0);
}

static void subscribers_come_and_go_over_two_pools(void **state)
{
	static const struct weir_hub_options options[] = {
		{.capacity = 1, .stays = true},
		{.capacity = 16, .per_producer = 3, .stays = true},
		{.stays = true, .replay = 100},
		{.stays = true, .idle = WEIR_HUB_IDLE_GO_ON},
		{.stays = true, .choose = choose},
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
	for (round = 0; round < n; round++)
		for (i = 0; i < sizeof(options) / sizeof(*options); i++)
			round_of(&options[i], round);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_threads_free(pools[i]), 0);
	assert_int_equal(n_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subscribers_come_and_go_over_two_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
