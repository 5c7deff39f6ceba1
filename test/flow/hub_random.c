/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hubs of random options, whose producers and subscribers come and go at random
 * on two simulators that take steps in random order. Each subscriber gets the
 * items of each run into the hub one after the other, none twice and none left
 * out; and every item is delivered or dropped.
 */
#include "flow/hub_kit.h"

#include "actor/kit.h"
#include "base/random.h"

#define N_PRODUCERS 3
#define N_SUBSCRIBERS 5
/* Items of a run begin at a multiple of this. */
#define LONGEST 1000
#define RUNS_MAX 20

struct chaos {
	uint64_t seed;
	struct weir_sim *sims[2];
	struct weir_hub *hub;
	struct weir_hub_options options;
	struct hub_run producers[N_PRODUCERS];
	struct hub_subscriber subscribers[N_SUBSCRIBERS];
	intptr_t n_runs; /* into the hub */
};

static struct chaos chaos;
static size_t n_got, n_replayed;

static uint64_t random_below(uint64_t bound)
{
	return weir__splitmix(&chaos.seed) % bound;
}

static struct weir_executor *some_executor(void)
{
	return weir_sim_executor(chaos.sims[random_below(2)]);
}

/* Of some hubs: each item goes to one subscriber, or to none. */
static int choose(void *item, size_t n, size_t *chosen, void *context)
{
	*chosen = (size_t)((struct item *)item)->value % (n + 1);
	return *chosen == n;
}

/* --- What each subscriber has --------------------------------------------- */

static void look_at(const struct got *got)
{
	intptr_t newest[RUNS_MAX + 1] = {0}, run;
	size_t i;

	for (i = 0; i < got->n; i++) {
		run = got->values[i] / LONGEST;
		assert_in_range(run, 1, chaos.n_runs);
		if (newest[run] && chaos.options.choose)
			assert_true(got->values[i] > newest[run]);
		else if (newest[run])
			assert_int_equal(got->values[i], newest[run] + 1);
		newest[run] = got->values[i];
	}
	n_got += got->n;
}

/* --- Who comes and goes --------------------------------------------------- */

static void produce(struct hub_run *producer)
{
	intptr_t first = ++chaos.n_runs * LONGEST;
	struct weir_flow *flow =
		counted(weir_flow_range(first, first + random_below(200)));

	flow = weir_flow_into_hub(flow, chaos.hub);
	if (random_below(2))
		flow = weir_flow_async(flow, 4, some_executor());
	hub_run_start(producer, flow, some_executor());
}

static void subscribe(struct hub_subscriber *subscriber)
{
	struct weir_flow *flow = weir_flow_from_hub(chaos.hub);

	memset(subscriber, 0, sizeof(*subscriber));
	subscriber->got.counted = true;
	assert_int_equal(weir_semaphore_init(&subscriber->permits,
					     (int64_t)random_below(9)),
			 0);
	if (random_below(2))
		flow = weir_flow_async(flow, 2, some_executor());
	if (random_below(3) == 0)
		flow = weir_flow_take(flow, random_below(40));
	flow = weir_flow_acquire(flow, &subscriber->permits);
	hub_run_start(&subscriber->run, into(flow, &subscriber->got),
		      some_executor());
}

/* Those that are over make room for others. */
static void reap(struct hub_run *run, const struct got *got)
{
	if (!run->run || !hub_run_is_over(run))
		return;
	(void)hub_run_fini(run);
	if (got)
		look_at(got);
}

static void leave(struct hub_run *run)
{
	if (!run->run)
		return;
	if (random_below(2))
		weir_flow_run_stop(run->run, NULL);
	else
		weir_flow_run_end(run->run);
}

static void step(void)
{
	struct hub_run *producer = &chaos.producers[random_below(N_PRODUCERS)];
	struct hub_subscriber *subscriber =
		&chaos.subscribers[random_below(N_SUBSCRIBERS)];

	switch (random_below(40)) {
	case 0:
		if (!producer->run && chaos.n_runs < RUNS_MAX)
			produce(producer);
		break;
	case 1:
		if (!subscriber->run.run)
			subscribe(subscriber);
		break;
	case 2:
		leave(random_below(4) ? &subscriber->run : producer);
		break;
	case 3:
	case 4:
	case 5:
		assert_int_equal(
			weir_semaphore_release(&subscriber->permits,
					       1 + (int64_t)random_below(50)),
			0);
		break;
	case 6:
		reap(producer, NULL);
		reap(&subscriber->run, &subscriber->got);
		break;
	default:
		(void)weir_sim_step(chaos.sims[random_below(2)]);
	}
}

/* --- The worlds ----------------------------------------------------------- */

static void begin(uint64_t seed)
{
	size_t i;

	memset(&chaos, 0, sizeof(chaos));
	chaos.seed = seed;
	n_live = 0;
	for (i = 0; i < 2; i++)
		chaos.sims[i] = sim_new(seed + i);
	for (i = 0; i < N_SUBSCRIBERS; i++)
		assert_int_equal(
			weir_semaphore_init(&chaos.subscribers[i].permits, 0),
			0);
	chaos.options = (struct weir_hub_options){
		.capacity = (size_t)random_below(9),
		.per_producer = (size_t)random_below(5),
		.connect_after = (size_t)random_below(3),
		.idle = (enum weir_hub_idle)random_below(3),
		.stays = random_below(4) > 0,
		.replay = random_below(2) ? (size_t)random_below(20) : 0,
	};
	n_replayed += chaos.options.replay;
	if (random_below(4) == 0)
		chaos.options.replay = WEIR_HUB_ALL;
	if (chaos.options.replay == 0 && random_below(2))
		chaos.options.choose = choose;
	assert_int_equal(weir_hub_new(&chaos.hub, &counted_items,
				      &chaos.options, NULL),
			 0);
}

static void rest(void)
{
	while (weir_sim_run(chaos.sims[0]) + weir_sim_run(chaos.sims[1]) > 0)
		;
}

static void finish(void)
{
	size_t i;

	(void)weir_hub_end(chaos.hub, NULL);
	for (i = 0; i < N_SUBSCRIBERS; i++)
		assert_int_equal(weir_semaphore_release(
					 &chaos.subscribers[i].permits, 100000),
				 0);
	rest();
	for (i = 0; i < N_PRODUCERS; i++) {
		reap(&chaos.producers[i], NULL);
		assert_null(chaos.producers[i].run);
	}
	for (i = 0; i < N_SUBSCRIBERS; i++) {
		reap(&chaos.subscribers[i].run, &chaos.subscribers[i].got);
		assert_null(chaos.subscribers[i].run.run);
	}
	assert_int_equal(weir_hub_subscribers(chaos.hub), 0);
	assert_int_equal(weir_hub_free(chaos.hub), 0);
	for (i = 0; i < 2; i++)
		sim_free(chaos.sims[i]);
	assert_int_equal(n_live, 0);
}

static void who_comes_and_goes_gets_each_item_once(void **state)
{
	size_t i;

	n_got = n_replayed = 0;
	for_each_seed(seed, test_count(3200)) {
		begin(seed);
		for (i = 0; i < 4000; i++)
			step();
		finish();
	}
	assert_true(test_seed_only() || (n_got > 1000 && n_replayed > 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_and_goes_gets_each_item_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
