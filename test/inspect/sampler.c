/* SPDX-License-Identifier: BSD-2-Clause */
/* What a sampler knows, in the simulator exactly, and whom it tells. */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ck_pr.h>

#include "base/futex.h"

#define MS UINT64_C(1000000)

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_sampler *sampler;

/* What on_stall was told last, and how often. */
static char told[2048];
static int n_told;
static uint64_t told_ns;

static void keep(const struct weir_snapshot *snapshot, void *context)
{
	assert_ptr_equal(context, told);
	assert_in_range(weir_snapshot_why_text(snapshot, WEIR_NOWHERE, told,
					       sizeof(told)),
			1, sizeof(told) - 1);
	told_ns = snapshot->now_ns;
	n_told++;
}

static int setup(void **state)
{
	const struct weir_sampler_options options = {
		.by_hand = true,
		.stall_ns = 1000 * MS,
		.on_stall = keep,
		.context = told,
	};

	n_told = 0;
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_sampler_free(sampler), 0);
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

static void sample(void)
{
	assert_int_equal(weir_sampler_step(sampler), 0);
}

/* To that time; looks after each thing that happens, and each 100 ms. */
static void run_to(uint64_t at_ns)
{
	uint64_t now_ns = weir_executor_now(executor), next_ns;

	do {
		next_ns = now_ns + 100 * MS - now_ns % (100 * MS);
		if (next_ns > at_ns)
			next_ns = at_ns;
		while (weir_sim_run_until(sim, next_ns, 1) > 0)
			sample();
		sample();
		now_ns = next_ns;
	} while (now_ns < at_ns);
}

static struct weir_snapshot *sampled(void)
{
	struct weir_snapshot *snapshot;

	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	return snapshot;
}

static const struct weir_seen_actor *actor_of(
	const struct weir_snapshot *snapshot, const struct node *node)
{
	size_t i = weir_snapshot_find(snapshot, &node->actor);

	assert_int_not_equal(i, WEIR_NOWHERE);
	return &snapshot->actors[i];
}

static uint64_t since(const struct node *node)
{
	struct weir_snapshot *snapshot = sampled();
	uint64_t since_ns = actor_of(snapshot, node)->since_ns;

	weir_snapshot_free(snapshot);
	return since_ns;
}

static void stop_all(struct node *nodes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		node_stop(&nodes[i]);
	weir_sim_run(sim);
}

/* A source, `map`, and a sink that waits for an hour behind each item. */
static void chain_init(struct node nodes[static 3])
{
	size_t i;

	node_init(&nodes[0], executor, "source", 1, 1);
	node_init(&nodes[1], executor, "map", 1, 1);
	node_init(&nodes[2], executor, "sink", 1, 0);
	node_waits(&nodes[2]);
	node_link(&nodes[0], 0, &nodes[1], 0);
	node_link(&nodes[1], 0, &nodes[2], 0);
	for (i = 0; i < 3; i++)
		node_start(&nodes[i]);
}

/* Each goes as far as it can, and the clock stands still. */
static void put(struct node *node, size_t n)
{
	while (n-- > 0) {
		node_put(node, 0);
		weir_sim_run_until(sim, weir_executor_now(executor),
				   UINT64_MAX);
		sample();
	}
}

/* --- Since when ----------------------------------------------------------- */

static void each_waits_since_it_began_to(void **state)
{
	struct weir_snapshot *snapshot;
	struct node nodes[3];
	char text[512];

	chain_init(nodes);
	run_to(300 * MS);
	put(nodes, 2);
	run_to(700 * MS);
	/* one is with the sink, four before it; the fifth leaves `map` */
	put(nodes, 4);
	run_to(2345 * MS);
	assert_int_equal(since(&nodes[0]), 700 * MS);
	assert_int_equal(since(&nodes[1]), 700 * MS);
	assert_int_equal(since(&nodes[2]), 300 * MS);
	snapshot = sampled();
	assert_int_equal(snapshot->now_ns, 2345 * MS);
	assert_int_equal(snapshot->moved_ns, 700 * MS);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(text,
			    "2 held up by: sink waits until 3600300000000 ns, "
			    "for 2.0 s\n");
	weir_snapshot_free(snapshot);
	stop_all(nodes, 3);
}

static void a_reason_says_since_when(void **state)
{
	struct weir_snapshot *snapshot;
	struct weir_reason reasons[3];
	struct node nodes[3];

	chain_init(nodes);
	run_to(50 * MS);
	put(nodes, 4);
	run_to(60 * MS);
	put(nodes, 2);
	run_to(300 * MS);
	snapshot = sampled();
	assert_int_equal(
		weir_snapshot_why(snapshot,
				  weir_snapshot_find(snapshot, &nodes[1].actor),
				  reasons, 3),
		2);
	assert_int_equal(reasons[0].since_ns, 60 * MS);
	assert_int_equal(reasons[1].since_ns, 50 * MS);
	weir_snapshot_free(snapshot);
	stop_all(nodes, 3);
}

/* It has the memory of one that has ended. */
static void another_actor_at_the_same_address_is_new(void **state)
{
	struct node node;
	int i;

	for (i = 0; i < 3; i++) {
		node_init(&node, executor, "one after the other", 1, 0);
		node_start(&node);
		weir_sim_run_until(sim, i * 100 * MS, UINT64_MAX);
		sample();
		assert_int_equal(since(&node), i * 100 * MS);
		weir_sim_run_until(sim, (i + 1) * 100 * MS, UINT64_MAX);
		node_stop(&node);
		weir_sim_run_until(sim, (i + 1) * 100 * MS, UINT64_MAX);
	}
}

static void who_came_before_the_others_is_still_known(void **state)
{
	struct node old[3], late[40];
	size_t i;

	for (i = 0; i < 3; i++) {
		node_init(&old[i], executor, "old", 2, 1);
		node_start(&old[i]);
	}
	run_to(100 * MS);
	for (i = 0; i < 40; i++) {
		node_init(&late[i], executor, "late", 1, 1);
		node_start(&late[i]);
	}
	node_stop(&old[1]);
	run_to(200 * MS);
	assert_int_equal(since(&old[0]), 0);
	assert_int_equal(since(&old[2]), 0);
	assert_int_equal(since(&late[0]), 100 * MS);
	assert_int_equal(since(&late[39]), 100 * MS);
	node_stop(&old[0]);
	node_stop(&old[2]);
	stop_all(late, 40);
}

/* --- Shares, rates, high water -------------------------------------------- */

static void shares_are_told_of_a_window(void **state)
{
	const struct weir_seen_actor *map;
	struct weir_snapshot *snapshot;
	struct node nodes[3];

	chain_init(nodes);
	run_to(300 * MS);
	put(nodes, 6); /* `map` has no room from here on */
	run_to(600 * MS);
	weir_actor_suspend(&nodes[1].actor);
	sample();
	run_to(999 * MS);
	snapshot = sampled();
	map = actor_of(snapshot, &nodes[1]);
	assert_int_equal(map->idle, 300);
	assert_int_equal(map->busy + map->held + map->idle + map->blocked,
			 1000);
	weir_snapshot_free(snapshot);
	run_to(1000 * MS);
	weir_actor_resume(&nodes[1].actor);
	sample();
	run_to(1400 * MS);
	snapshot = sampled();
	map = actor_of(snapshot, &nodes[1]);
	assert_int_equal(map->busy, 0);
	assert_int_equal(map->idle, 300);
	assert_int_equal(map->held, 300);
	assert_int_equal(map->blocked, 400);
	assert_int_equal(snapshot->window_ns, 1000 * MS);
	weir_snapshot_free(snapshot);
	run_to(2000 * MS);
	snapshot = sampled();
	assert_int_equal(actor_of(snapshot, &nodes[1])->held, 1000);
	weir_snapshot_free(snapshot);
	stop_all(nodes, 3);
}

static void links_are_counted_and_measured(void **state)
{
	struct weir_snapshot *snapshot;
	struct node node;
	int i;

	node_init(&node, executor, "map", 1, 0);
	node_start(&node);
	run_to(0);
	for (i = 0; i < 10; i++) {
		run_to(i * 100 * MS);
		node_put(&node, 0);
		if (i == 3)
			node_put(&node, 0);
		if (i == 3)
			node_put(&node, 0);
		sample();
	}
	run_to(1000 * MS);
	run_to(1500 * MS);
	snapshot = sampled();
	assert_int_equal(snapshot->links[0].high, 3);
	assert_int_equal(snapshot->links[0].fill, 0);
	assert_int_equal(snapshot->links[0].items_ever, 12);
	assert_int_equal(snapshot->links[0].rate, 12000);
	weir_snapshot_free(snapshot);
	run_to(2000 * MS);
	snapshot = sampled();
	assert_int_equal(snapshot->links[0].rate, 0);
	assert_int_equal(snapshot->links[0].items_ever, 12);
	weir_snapshot_free(snapshot);
	stop_all(&node, 1);
}

static void without_a_sampler_nothing_is_known(void **state)
{
	struct weir_snapshot *snapshot;
	struct node nodes[3];

	chain_init(nodes);
	put(nodes, 1);
	run_to(100 * MS);
	snapshot = taken(executor);
	assert_int_equal(snapshot->now_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->moved_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->window_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->period_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->actors[0].since_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->actors[0].idle, 0);
	assert_int_equal(snapshot->ports[0].since_ns, WEIR_UNKNOWN);
	assert_int_equal(snapshot->links[0].items_ever, WEIR_UNKNOWN);
	assert_int_equal(snapshot->links[0].rate, WEIR_UNKNOWN);
	assert_int_equal(snapshot->links[0].high, 0);
	weir_snapshot_free(snapshot);
	stop_all(nodes, 3);
}

static void json_has_what_is_known(void **state)
{
	struct weir_snapshot *snapshot;
	struct node node;
	char text[2048];

	node_init(&node, executor, "a", 1, 0);
	node_start(&node);
	run_to(100 * MS);
	snapshot = sampled();
	(void)weir_snapshot_json(snapshot, text, sizeof(text));
	assert_string_equal(
		text,
		"{\"version\": 1, \"settled\": true, \"now_ns\": 100000000, "
		"\"moved_ns\": 0, \"window_ns\": 100000000, "
		"\"period_ns\": 100000000,\n\"actors\": [\n"
		"{\"name\": \"a\", \"id\": \"0.1\", \"wait\": \"input\", "
		"\"state\": \"waiting\", \"executor\": 0, \"thread\": null, "
		"\"holder\": null, \"at_port\": 0, "
		"\"waits_for\": null, \"root\": 0, \"holds_up\": 0, "
		"\"since_ns\": 0, \"busy\": 0, \"held\": 0, \"idle\": 1000, "
		"\"blocked\": 0}],\n\"ports\": [\n"
		"{\"actor\": 0, \"name\": \"in\", \"wait\": \"input\", "
		"\"takes_part\": true, "
		"\"blocked\": true, \"burst\": 1, \"since_ns\": 0}],\n"
		"\"links\": [\n"
		"{\"to\": 0, \"from\": null, \"capacity\": 4, \"fill\": 0, "
		"\"items\": 0, \"ended\": false, \"high\": 0, "
		"\"items_ever\": 0, \"rate\": 0}],\n"
		"\"demands\": [],\n\"objects\": [],\n"
		"\"executors\": [\n"
		"{\"kind\": \"sim\", \"name\": \"\", \"now_ns\": 100000000, "
		"\"threads\": 0, \"threads_max\": 1, \"busy\": 0, "
		"\"parked\": 0, \"queued\": 0, \"timers\": 0, "
		"\"watches\": 0, \"slices\": 1, \"steals\": 0}],\n"
		"\"threads\": [],\n\"children\": [],\n\"pools\": []}\n");
	weir_snapshot_free(snapshot);
	stop_all(&node, 1);
}

/* --- Stalls --------------------------------------------------------------- */

/* `map` is suspended at 200 ms, and the source fills up. */
static void stall_init(struct node nodes[static 3])
{
	chain_init(nodes);
	nodes[2].waits = false;
	run_to(200 * MS);
	weir_actor_suspend(&nodes[1].actor);
	run_to(300 * MS);
	put(nodes, 4);
	run_to(300 * MS);
	put(nodes, 2);
}

static void a_stall_is_told_once(void **state)
{
	struct node nodes[3], idle;

	stall_init(nodes);
	run_to(1100 * MS);
	assert_int_equal(n_told, 0);
	run_to(3000 * MS);
	assert_int_equal(n_told, 1);
	/* it is asked about again when another one rests */
	node_init(&idle, executor, "idle", 1, 0);
	node_start(&idle);
	run_to(9000 * MS);
	stop_all(&idle, 1);
	assert_int_equal(n_told, 1);
	assert_string_equal(told,
			    "2 held up by: map is suspended, for 1.0 s\n");
	stop_all(nodes, 3);
}

static void a_stall_is_told_again_when_something_has_moved(void **state)
{
	struct node nodes[3];

	stall_init(nodes);
	run_to(5000 * MS);
	assert_int_equal(n_told, 1);
	weir_actor_resume(&nodes[1].actor);
	run_to(5100 * MS);
	weir_actor_suspend(&nodes[1].actor);
	put(nodes, 6);
	run_to(6000 * MS);
	assert_int_equal(n_told, 1);
	run_to(9000 * MS);
	assert_int_equal(n_told, 2);
	assert_string_equal(told,
			    "2 held up by: map is suspended, for 1.0 s\n");
	stop_all(nodes, 3);
}

static void who_has_rested_stalls_with_the_first_item(void **state)
{
	struct node nodes[3];

	chain_init(nodes);
	weir_actor_suspend(&nodes[1].actor);
	run_to(5000 * MS);
	assert_int_equal(n_told, 0);
	put(nodes, 1);
	run_to(9000 * MS);
	assert_int_equal(n_told, 1);
	assert_int_equal(told_ns, 5000 * MS);
	assert_string_equal(told,
			    "1 held up by: map is suspended, for 5.0 s\n");
	stop_all(nodes, 3);
}

static void a_cycle_is_a_stall(void **state)
{
	struct node nodes[2];

	node_init(&nodes[0], executor, "a", 1, 1);
	node_init(&nodes[1], executor, "b", 1, 1);
	node_link(&nodes[0], 0, &nodes[1], 0);
	node_link(&nodes[1], 0, &nodes[0], 0);
	node_start(&nodes[0]);
	node_start(&nodes[1]);
	run_to(3000 * MS);
	assert_int_equal(n_told, 1);
	assert_int_equal(told_ns, 1000 * MS);
	assert_string_equal(told,
			    "a waits for input from b, for 1.0 s\n"
			    "b waits for input from a, for 1.0 s\n"
			    "this is a cycle: they wait for each other\n");
	stop_all(nodes, 2);
}

static void one_stall_beside_what_moves_is_told(void **state)
{
	struct node nodes[3], other;
	int i;

	stall_init(nodes);
	node_init(&other, executor, "other", 1, 0);
	node_start(&other);
	for (i = 4; i < 30; i++) {
		run_to(i * 100 * MS);
		node_put(&other, 0);
	}
	assert_int_equal(n_told, 1);
	stop_all(nodes, 3);
	stop_all(&other, 1);
}

static void who_is_idle_does_not_stall(void **state)
{
	struct node nodes[3];

	chain_init(nodes);
	nodes[2].waits = false;
	put(nodes, 4);
	run_to(9000 * MS);
	assert_int_equal(n_told, 0);
	stop_all(nodes, 3);
}

/* The sink waits for an hour, and all others for it. */
static void a_time_that_is_set_is_no_stall(void **state)
{
	struct node nodes[3];

	chain_init(nodes);
	put(nodes, 4);
	run_to(100 * MS);
	put(nodes, 4);
	run_to(9000 * MS);
	assert_int_equal(n_told, 0);
	stop_all(nodes, 3);
}

/* As often as an item a tenth of a second, which is long for that watchdog. */
static void who_is_slow_does_not_stall(void **state)
{
	const struct weir_sampler_options options = {
		.by_hand = true,
		.stall_ns = 50 * MS,
		.on_stall = keep,
		.context = told,
	};
	struct node nodes[3];
	uint64_t i;

	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	chain_init(nodes);
	nodes[2].wait_ns = 100 * MS;
	for (i = 1; i < 40; i++) {
		put(nodes, i < 4 ? 4 : 1);
		run_to(i * 100 * MS);
	}
	assert_int_equal(n_told, 0);
	stop_all(nodes, 3);
}

static void by_itself_a_stall_goes_to_stderr(void **state)
{
	const struct weir_sampler_options options = {.by_hand = true,
						     .stall_ns = 1000 * MS};
	struct node nodes[3];
	int pipes[2], kept = dup(STDERR_FILENO);
	char text[256] = "";

	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dup2(pipes[1], STDERR_FILENO), STDERR_FILENO);
	stall_init(nodes);
	run_to(3000 * MS);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	assert_string_equal(text,
			    "weir: a stall\n"
			    "2 held up by: map is suspended, for 1.0 s\n");
	close(pipes[0]);
	close(pipes[1]);
	close(kept);
	stop_all(nodes, 3);
}

/* --- Errors and ends ------------------------------------------------------ */

static void bad_input_is_an_error(void **state)
{
	struct weir_executor *none[] = {executor, NULL};
	const struct weir_sampler_options bad[] = {
		{.by_hand = true, .hz = 1001},
		{.by_hand = true, .reserved = {0, 1}},
		{.by_hand = false}, /* a simulator */
	};
	const struct weir_sampler_options good = {.by_hand = true};
	struct weir_sampler *made = sampler;
	struct weir_snapshot *snapshot;
	size_t i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_sampler_new(&made, &executor, 1, &bad[i]),
				 -EINVAL);
		assert_null(made);
	}
	assert_int_equal(weir_sampler_new(&made, &executor, 1, NULL), -EINVAL);
	assert_int_equal(weir_sampler_new(&made, none, 2, &good), -EINVAL);
	assert_int_equal(weir_sampler_new(&made, none, 0, &good), -EINVAL);
	assert_int_equal(weir_sampler_new(&made, NULL, 1, &good), -EINVAL);
	assert_int_equal(weir_sampler_new(NULL, &executor, 1, &good), -EINVAL);
	assert_int_equal(weir_sampler_snapshot(NULL, &snapshot), -EINVAL);
	assert_null(snapshot);
	assert_int_equal(weir_sampler_snapshot(sampler, NULL), -EINVAL);
	assert_int_equal(weir_sampler_step(NULL), -EINVAL);
	assert_int_equal(weir_sampler_free(NULL), 0);
}

/* Whichever allocation fails, nothing is left, and what was known still is. */
static void without_memory_nothing_is_left(void **state)
{
	const struct weir_sampler_options with = {.by_hand = true,
						  .stall_ns = 1};
	struct weir_executor_options options = {0};
	struct weir_snapshot *snapshot;
	struct weir_sampler *other;
	struct weir_executor *of;
	struct weir_sim *its;
	struct heap heap;
	struct node a;
	size_t live, n;
	bool over = false;
	int rc;

	heap_init(&heap, SIZE_MAX);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&its, 1, &options), 0);
	of = weir_sim_executor(its);
	node_init(&a, of, "a", 1, 1);
	node_start(&a);
	weir_sim_run(its);
	live = heap.live;
	for (n = 1; !over; n++) {
		heap.fail = heap.calls + n;
		rc = weir_sampler_new(&other, &of, 1, &with);
		if (rc == 0)
			rc = weir_sampler_step(other);
		if (rc == 0)
			rc = weir_sampler_snapshot(other, &snapshot);
		if (rc == 0)
			weir_snapshot_free(snapshot);
		over = rc == 0;
		heap.fail = SIZE_MAX;
		assert_true(over || rc == -ENOMEM);
		/* and then it goes on */
		if (other)
			assert_int_equal(weir_sampler_step(other), 0);
		assert_int_equal(weir_sampler_free(other), 0);
		assert_int_equal(heap.live, live);
	}
	/* itself: 2; a look: 10; its history: 4; then a snapshot: 10, to join
	 * it and to find who runs: 4, its causes */
	assert_int_equal(n, 34);
	node_stop(&a);
	weir_sim_run(its);
	assert_int_equal(weir_sim_free(its), 0);
	assert_int_equal(heap.live, 0);
}

static void an_executor_with_samplers_is_not_freed(void **state)
{
	const struct weir_sampler_options options = {.by_hand = true};
	struct weir_sim *its = sim_new(2);
	struct weir_executor *both[] = {weir_sim_executor(its), executor};
	struct weir_sampler *one, *two;

	assert_int_equal(weir_sampler_new(&one, both, 2, &options), 0);
	assert_int_equal(weir_sampler_new(&two, both, 1, &options), 0);
	assert_int_equal(weir_sim_free(its), -EBUSY);
	assert_int_equal(weir_sampler_step(one), 0);
	assert_int_equal(weir_sampler_free(one), 0);
	assert_int_equal(weir_sim_free(its), -EBUSY);
	assert_int_equal(weir_sampler_step(two), 0);
	assert_int_equal(weir_sampler_free(two), 0);
	assert_int_equal(weir_sim_free(its), 0);
}

static void call_all(const struct weir_snapshot *snapshot, void *context)
{
	struct weir_snapshot *now;

	assert_int_equal(weir_sampler_free(sampler), -EDEADLK);
	assert_int_equal(weir_sampler_step(sampler), -EDEADLK);
	assert_int_equal(weir_sampler_snapshot(sampler, &now), 0);
	assert_int_equal(now->n_actors, snapshot->n_actors);
	weir_snapshot_free(now);
	n_told++;
}

static void who_is_told_may_look_but_not_free(void **state)
{
	const struct weir_sampler_options options = {
		.by_hand = true, .stall_ns = 1000 * MS, .on_stall = call_all};
	struct node nodes[3];

	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	stall_init(nodes);
	run_to(3000 * MS);
	assert_int_equal(n_told, 1);
	stop_all(nodes, 3);
}

static int found[3];

static void call_from_here(struct weir_actor *actor)
{
	struct weir_snapshot *snapshot;

	found[0] = weir_sampler_step(sampler);
	found[1] = weir_sampler_snapshot(sampler, &snapshot);
	found[2] = weir_sampler_free(sampler);
}

static void one_that_is_released_has_no_sampler(void **state)
{
	struct weir_actor_ops ops = {.released = call_from_here};
	struct weir_actor actor;

	assert_int_equal(weir_actor_init(&actor, &ops, executor), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	weir_actor_stop(&actor);
	weir_sim_run(sim);
	assert_int_equal(found[0], -EDEADLK);
	assert_int_equal(found[1], -EDEADLK);
	assert_int_equal(found[2], -EDEADLK);
}

/* --- With a thread -------------------------------------------------------- */

static uint32_t stalled;

static void wake_up(const struct weir_snapshot *snapshot, void *context)
{
	struct weir_sampler **of = context;

	assert(weir_sampler_free(*of) == -EDEADLK);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, told,
				     sizeof(told));
	ck_pr_store_32(&stalled, 1);
	weir__futex_wake(&stalled, 1);
}

static void a_thread_looks_by_itself(void **state)
{
	struct weir_sampler *other = NULL;
	const struct weir_sampler_options options = {.hz = 1000,
						     .stall_ns = 5 * MS,
						     .on_stall = wake_up,
						     .context = &other};
	struct weir_executor *of;
	struct weir_threads *threads;
	struct weir_snapshot *snapshot;
	struct node nodes[2];

	stalled = 0;
	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	of = weir_threads_executor(threads);
	node_init(&nodes[0], of, "source", 0, 1);
	node_init(&nodes[1], of, "sink", 1, 0);
	node_link(&nodes[0], 0, &nodes[1], 0);
	weir_actor_suspend(&nodes[1].actor);
	assert_int_equal(weir_sampler_new(&other, &of, 1, &options), 0);
	assert_int_equal(weir_sampler_step(other), -EINVAL);
	node_start(&nodes[1]);
	node_start(&nodes[0]);
	while (!ck_pr_load_32(&stalled))
		(void)weir__futex_wait(&stalled, 0, UINT64_MAX);
	assert_non_null(strstr(told, "2 held up by: sink is suspended, for "));
	assert_int_equal(weir_sampler_snapshot(other, &snapshot), 0);
	assert_in_range(snapshot->period_ns, 1, UINT64_MAX - 1);
	assert_in_range(snapshot->now_ns -
				actor_of(snapshot, &nodes[1])->since_ns,
			5 * MS, UINT64_MAX);
	weir_snapshot_free(snapshot);
	assert_int_equal(weir_threads_free(threads), -EBUSY);
	node_stop(&nodes[0]);
	node_stop(&nodes[1]);
	assert_int_equal(weir_sampler_free(other), 0);
	while (weir_executor_alive(of) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
}

static uint32_t may_return;

static void hang(struct node *self)
{
	while (!ck_pr_load_32(&may_return))
		(void)sched_yield();
}

/* What is said of the node, once it begins with that; looks until then. */
static const char *said_at_last(struct weir_sampler *of,
				const struct node *node, const char *begins)
{
	static char text[512];
	struct weir_snapshot *snapshot;

	do {
		assert_int_equal(weir_sampler_step(of), 0);
		assert_int_equal(weir_sampler_snapshot(of, &snapshot), 0);
		(void)weir_snapshot_why_text(
			snapshot, weir_snapshot_find(snapshot, &node->actor),
			text, sizeof(text));
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	} while (strncmp(text, begins, strlen(begins)) != 0);
	return text;
}

static void a_turn_that_does_not_return_is_told(void **state)
{
	const struct weir_threads_options one = {.workers = 1};
	const struct weir_sampler_options by_hand = {.by_hand = true};
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct weir_sampler *other;
	struct weir_executor *of;
	struct node slow, due;
	uint64_t since_ns;

	ck_pr_store_32(&may_return, 0);
	assert_int_equal(weir_threads_new(&threads, &one), 0);
	of = weir_threads_executor(threads);
	assert_int_equal(weir_sampler_new(&other, &of, 1, &by_hand), 0);
	node_init(&slow, of, "slow", 1, 0);
	node_init(&due, of, "due", 1, 0);
	slow.before = hang;
	node_start(&slow);
	node_put(&slow, 0);
	(void)said_at_last(other, &slow,
			   "slow is in a turn that does not return, on thread");
	node_start(&due);
	assert_non_null(strstr(said_at_last(other, &due,
					    "due is due, but its thread runs "
					    "slow"),
			       "\nslow is in a turn that does not return"));
	/* what only the looks with names find is not taken for a move */
	assert_int_equal(weir_sampler_snapshot(other, &snapshot), 0);
	since_ns = actor_of(snapshot, &due)->since_ns;
	assert_int_equal(actor_of(snapshot, &due)->wait, WEIR_WAIT_THREAD);
	assert_true(snapshot->settled);
	weir_snapshot_free(snapshot);
	assert_int_equal(weir_sampler_step(other), 0);
	assert_int_equal(weir_sampler_snapshot(other, &snapshot), 0);
	assert_int_equal(actor_of(snapshot, &due)->since_ns, since_ns);
	assert_true(snapshot->settled);
	weir_snapshot_free(snapshot);
	ck_pr_store_32(&may_return, 1);
	node_stop(&slow);
	node_stop(&due);
	assert_int_equal(weir_sampler_free(other), 0);
	while (weir_executor_alive(of) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
}

static void in_a_child_process_it_can_be_freed(void **state)
{
	struct weir_threads *threads;
	struct weir_executor *of;
	struct weir_sampler *other;
	struct weir_snapshot *snapshot;
	int status;
	pid_t child;

	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	of = weir_threads_executor(threads);
	assert_int_equal(weir_sampler_new(&other, &of, 1, NULL), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(weir_sampler_snapshot(other, &snapshot) != -ESHUTDOWN ||
		      weir_sampler_free(other) != 0 ||
		      weir_threads_free(threads) != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(weir_sampler_free(other), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(each_waits_since_it_began_to),
		test(a_reason_says_since_when),
		test(another_actor_at_the_same_address_is_new),
		test(who_came_before_the_others_is_still_known),
		test(shares_are_told_of_a_window),
		test(links_are_counted_and_measured),
		test(without_a_sampler_nothing_is_known),
		test(json_has_what_is_known),
		test(a_stall_is_told_once),
		test(a_stall_is_told_again_when_something_has_moved),
		test(who_has_rested_stalls_with_the_first_item),
		test(a_cycle_is_a_stall),
		test(one_stall_beside_what_moves_is_told),
		test(who_is_idle_does_not_stall),
		test(a_time_that_is_set_is_no_stall),
		test(who_is_slow_does_not_stall),
		test(by_itself_a_stall_goes_to_stderr),
		test(bad_input_is_an_error),
		test(without_memory_nothing_is_left),
		test(an_executor_with_samplers_is_not_freed),
		test(who_is_told_may_look_but_not_free),
		test(one_that_is_released_has_no_sampler),
		test(a_thread_looks_by_itself),
		test(a_turn_that_does_not_return_is_told),
		test(in_a_child_process_it_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
