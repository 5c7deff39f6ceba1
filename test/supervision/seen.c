/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors that supervision has halted, and who is blamed for it. */
#include "inspect/kit.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <semaphore.h>

#include "kit/world.h"

#define SECOND UINT64_C(1000000000)

static struct world world;
static struct node nodes[8];
static size_t n_nodes;

static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};

static const struct weir_backoff one_hour = {
	.min_ns = 3600 * SECOND,
	.max_ns = 3600 * SECOND,
};

static const struct weir_rule escalates = {
	.directive = WEIR_DIRECTIVE_ESCALATE,
};

static const struct weir_strategy delays_it = {.backoff = &one_second},
				  delays_it_long = {.backoff = &one_hour},
				  escalates_it = {.rules = &escalates,
						  .n_rules = 1},
				  all_in_turn = {
					  .scope = WEIR_SCOPE_ALL_FOR_ONE,
					  .ordered = true,
};

static int says_later(struct weir_actor *actor)
{
	return 1;
}

static const struct weir_lifecycle delays = {.strategy = &delays_it},
				   delays_long = {.strategy = &delays_it_long},
				   escalating = {.strategy = &escalates_it},
				   group = {.strategy = &all_in_turn},
				   stubborn = {.stopping = says_later};

static int setup(void **state)
{
	world_init(&world, 1, 0);
	world_system(&world, NULL);
	n_nodes = 0;
	return 0;
}

/* What does not stop by itself is killed. */
static int teardown(void **state)
{
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	world_stop(&world);
	world_fini(&world);
	return 0;
}

static struct node *node(const char *name, size_t n_ins, size_t n_outs)
{
	node_init(&nodes[n_nodes], world.executor, name, n_ins, n_outs);
	return &nodes[n_nodes++];
}

static struct weir_actor_id child(struct weir_actor_id parent,
				  struct node *node,
				  const struct weir_lifecycle *lifecycle)
{
	const struct weir_spawn_options options = {.name = node->ops.name};
	struct weir_actor_id id;

	node->ops.lifecycle = lifecycle;
	assert_int_equal(weir_system_spawn(world.system, parent, &node->actor,
					   &options, &id),
			 0);
	return id;
}

static void fail_once(struct node *node)
{
	node->before = NULL;
	assert_int_equal(weir_actor_fail_code(&node->actor, -EIO), 0);
}

static const struct weir_seen_child *child_of(
	const struct weir_snapshot *snapshot, const struct node *node)
{
	size_t actor = weir_snapshot_find(snapshot, &node->actor);

	assert_int_not_equal(actor, WEIR_NOWHERE);
	assert_int_not_equal(snapshot->actors[actor].child, WEIR_NOWHERE);
	return &snapshot->children[snapshot->actors[actor].child];
}

static enum weir_seen_state state_of(const struct weir_snapshot *snapshot,
				     const struct node *node)
{
	size_t actor = weir_snapshot_find(snapshot, &node->actor);

	assert_int_not_equal(actor, WEIR_NOWHERE);
	return snapshot->actors[actor].state;
}

static void a_child_in_back_off_is_blamed(void **state)
{
	struct node *source = node("source", 0, 1), *top = node("top", 0, 0);
	struct node *worker = node("worker", 1, 0),
		    *below = node("below", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, &delays);
	struct weir_snapshot *snapshot;

	worker->before = fail_once;
	node_link(source, 0, worker, 0);
	id = child(id, worker, NULL);
	(void)child(id, below, NULL);
	world_settle(&world);
	node_start(source);
	world_settle(&world);
	assert_string_equal(
		why(world.executor, NULL),
		"3 held up by: worker has failed (Input/output error), and "
		"restarts at 1000000000 ns\n");
	assert_string_equal(
		why(world.executor, below),
		"below is suspended, as worker above it has failed or "
		"restarts\n"
		"worker has failed (Input/output error), and restarts at "
		"1000000000 ns\n");
	assert_string_equal(
		why(world.executor, source),
		"source waits for room in worker\n"
		"worker has failed (Input/output error), and restarts at "
		"1000000000 ns\n");
	snapshot = taken(world.executor);
	assert_int_equal(state_of(snapshot, worker), WEIR_SEEN_STATE_HALTED);
	assert_int_equal(child_of(snapshot, worker)->error, -EIO);
	assert_int_equal(child_of(snapshot, worker)->restarts, 0);
	assert_int_equal(child_of(snapshot, worker)->until_ns, SECOND);
	weir_snapshot_free(snapshot);
	(void)weir_sim_run_until(world.sim, SECOND, 1000);
	/* it has its last error still, and goes on */
	snapshot = taken(world.executor);
	assert_int_equal(child_of(snapshot, worker)->error, -EIO);
	assert_int_equal(child_of(snapshot, worker)->restarts, 1);
	assert_int_equal(child_of(snapshot, worker)->until_ns, WEIR_FOREVER);
	weir_snapshot_free(snapshot);
}

static void count_stall(const struct weir_snapshot *snapshot, void *context)
{
	++*(size_t *)context;
}

static void who_waits_in_back_off_does_not_stall(void **state)
{
	struct node *source = node("source", 0, 1), *top = node("top", 0, 0);
	struct node *worker = node("worker", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, &delays);
	size_t stalls = 0, i;
	const struct weir_sampler_options options = {
		.by_hand = true,
		.stall_ns = SECOND / 10,
		.on_stall = count_stall,
		.context = &stalls,
	};
	struct weir_snapshot *snapshot;
	struct weir_sampler *sampler;
	char text[256];

	assert_int_equal(
		weir_sampler_new(&sampler, &world.executor, 1, &options), 0);
	worker->before = fail_once;
	node_link(source, 0, worker, 0);
	(void)child(id, worker, NULL);
	for (i = 0; i < 26; i++) {
		(void)weir_sim_run_until(world.sim, i * SECOND / 20, 1000);
		if (i == 6) /* at 300 ms */
			node_start(source);
		world_settle(&world);
		assert_int_equal(weir_sampler_step(sampler), 0);
	}
	assert_int_equal(stalls, 0);
	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(text,
			    "2 held up by: worker has failed (Input/output "
			    "error), and restarts at 1300000000 ns, for 950 "
			    "ms\n");
	weir_snapshot_free(snapshot);
	assert_int_equal(weir_sampler_free(sampler), 0);
}

static void one_that_has_failed_as_its_child_has_is_blamed(void **state)
{
	struct node *top = node("top", 0, 0), *middle = node("middle", 0, 0);
	struct node *worker = node("worker", 1, 0),
		    *other = node("other", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, &delays);

	worker->before = fail_once;
	id = child(id, middle, &escalating);
	(void)child(id, worker, NULL);
	(void)child(id, other, NULL);
	world_settle(&world);
	node_put(worker, 0);
	node_put(other, 0);
	weir_actor_suspend(&other->actor);
	world_settle(&world);
	weir_actor_resume(&other->actor);
	world_settle(&world);
	assert_string_equal(
		why(world.executor, NULL),
		"3 held up by: middle has failed as its child worker has "
		"(Input/output error), and restarts at 1000000000 ns\n");
	assert_string_equal(
		why(world.executor, worker),
		"worker has failed (Input/output error), and waits for what "
		"middle decides\n"
		"middle has failed as its child worker has (Input/output "
		"error), and restarts at 1000000000 ns\n");
	assert_string_equal(
		why(world.executor, other),
		"other is suspended, as middle above it has failed or "
		"restarts\n"
		"middle has failed as its child worker has (Input/output "
		"error), and restarts at 1000000000 ns\n");
}

static void a_child_that_does_not_end_is_blamed(void **state)
{
	struct node *top = node("top", 0, 0), *worker = node("worker", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, NULL);
	struct weir_snapshot *snapshot;

	(void)child(id, worker, &stubborn);
	world_settle(&world);
	assert_int_equal(weir_system_stop_actor(world.system, id), 0);
	world_settle(&world);
	assert_string_equal(why(world.executor, NULL),
			    "1 held up by: worker waits for input from "
			    "outside\n");
	assert_string_equal(why(world.executor, top),
			    "top waits until its child worker has ended\n"
			    "worker waits for input from outside\n");
	snapshot = taken(world.executor);
	assert_int_equal(state_of(snapshot, top), WEIR_SEEN_STATE_LEAVING);
	weir_snapshot_free(snapshot);
}

static void paths_parents_and_states_are_told(void **state)
{
	struct node *top = node("top", 0, 0), *worker = node("worker", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, NULL);
	const struct weir_seen_child *seen;
	struct weir_snapshot *snapshot;

	(void)child(id, worker, NULL);
	snapshot = taken(world.executor);
	assert_int_equal(state_of(snapshot, top), WEIR_SEEN_STATE_STARTING);
	weir_snapshot_free(snapshot);
	world_settle(&world);
	weir_actor_suspend(&worker->actor);
	snapshot = taken(world.executor);
	/* and those of the system itself */
	assert_int_equal(snapshot->n_actors, 5);
	assert_int_equal(snapshot->n_children, 5);
	seen = child_of(snapshot, worker);
	assert_string_equal(seen->path, "/user/top/worker");
	assert_ptr_equal(snapshot->actors[seen->parent].actor, &top->actor);
	assert_ptr_equal(seen->parent_actor, &top->actor);
	assert_int_equal(seen->culprit, WEIR_NOWHERE);
	assert_int_equal(seen->error, 0);
	assert_string_equal(child_of(snapshot, top)->path, "/user/top");
	assert_int_equal(state_of(snapshot, worker), WEIR_SEEN_STATE_SUSPENDED);
	assert_int_equal(state_of(snapshot, top), WEIR_SEEN_STATE_WAITING);
	weir_snapshot_free(snapshot);
}

/* More than there is room for at first. */
static void many_children_are_seen(void **state)
{
	enum { N = 300 };
	struct node *many = calloc(N, sizeof(*many));
	struct weir_snapshot *snapshot;
	size_t i;

	assert_non_null(many);
	for (i = 0; i < N; i++) {
		node_init(&many[i], world.executor, "one", 1, 0);
		assert_int_equal(weir_system_spawn(world.system,
						   WEIR_ACTOR_ID_NONE,
						   &many[i].actor, NULL, NULL),
				 0);
	}
	world_settle(&world);
	snapshot = taken(world.executor);
	assert_int_equal(snapshot->n_children, N + 3);
	for (i = 0; i < N; i++)
		assert_int_equal(strncmp(child_of(snapshot, &many[i])->path,
					 "/user/$", 7),
				 0);
	weir_snapshot_free(snapshot);
	world_stop(&world);
	free(many);
}

/* --- On threads ----------------------------------------------------------- */

static sem_t open;

static void hang(struct node *self)
{
	while (sem_wait(&open) < 0)
		;
}

static struct weir_threads *threads;
static struct weir_system *system_on_threads;

static int threads_setup(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	struct weir_system_options options = {
		.event = weir_supervision_event_ignore};

	n_nodes = 0;
	assert_int_equal(sem_init(&open, 0, 0), 0);
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	world.executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&system_on_threads, world.executor,
					 &options),
			 0);
	world.system = system_on_threads;
	return 0;
}

static int threads_teardown(void **state)
{
	assert_int_equal(sem_post(&open), 0);
	end_system(system_on_threads);
	while (weir_executor_alive(world.executor) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
	return sem_destroy(&open);
}

/* Why that one waits for that, as soon as it does and one thread is in a turn
 * that does not return. Without the number of the thread. */
static const char *why_it_waits(const struct node *of, enum weir_wait wait)
{
	static char text[1024];
	struct weir_snapshot *snapshot;
	size_t at;
	bool found;

	do {
		snapshot = taken(world.executor);
		at = weir_snapshot_find(snapshot, &of->actor);
		assert_int_not_equal(at, WEIR_NOWHERE);
		found = snapshot->settled && snapshot->executors[0].stands &&
			snapshot->executors[0].busy == 1 &&
			snapshot->actors[at].wait == wait;
		if (found)
			(void)weir_snapshot_why_text(snapshot, at, text,
						     sizeof(text));
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	} while (!found);
	*strstr(text, ", on thread") = '\0';
	return text;
}

static void on_threads_a_child_in_back_off_is_blamed(void **state)
{
	struct node *source = node("source", 0, 1), *top = node("top", 0, 0);
	struct node *worker = node("worker", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, &delays_long);
	uint64_t now_ns = weir_executor_now(world.executor);
	struct weir_snapshot *snapshot;
	char text[256], expected[256];
	uint64_t at_ns;

	worker->before = fail_once;
	node_link(source, 0, worker, 0);
	(void)child(id, worker, NULL);
	node_start(source);
	for (;;) {
		snapshot = taken(world.executor);
		if (snapshot->settled && snapshot->executors[0].busy == 0 &&
		    snapshot->executors[0].queued == 0 &&
		    child_of(snapshot, worker)->until_ns != WEIR_FOREVER)
			break;
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	}
	at_ns = child_of(snapshot, worker)->until_ns;
	assert_in_range(at_ns, now_ns + 3600 * SECOND,
			weir_executor_now(world.executor) + 3600 * SECOND);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	(void)snprintf(expected, sizeof(expected),
		       "2 held up by: worker has failed (Input/output error), "
		       "and restarts at %" PRIu64 " ns\n",
		       at_ns);
	assert_string_equal(text, expected);
	weir_snapshot_free(snapshot);
	node_stop(source);
}

static void a_supervisor_that_does_not_decide_is_blamed(void **state)
{
	struct node *top = node("top", 1, 0), *worker = node("worker", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, NULL);

	top->before = hang;
	worker->before = fail_once;
	(void)child(id, worker, NULL);
	node_put(top, 0);
	node_put(worker, 0);
	assert_string_equal(
		why_it_waits(worker, WEIR_WAIT_VERDICT),
		"worker has failed (Input/output error), and waits for what "
		"top decides\n"
		"top is in a turn that does not return");
}

/* Each child of a group halts in its turn, the last one first. */
static void a_sibling_that_does_not_halt_is_blamed(void **state)
{
	struct node *top = node("top", 0, 0), *first = node("first", 1, 0);
	struct node *below = node("below", 1, 0), *last = node("last", 1, 0);
	struct weir_actor_id id = child(WEIR_ACTOR_ID_NONE, top, &group);
	struct weir_actor_id parent = child(id, first, NULL);

	below->before = hang;
	last->before = fail_once;
	(void)child(parent, below, NULL);
	(void)child(id, last, NULL);
	node_put(below, 0);
	(void)why_it_waits(below, WEIR_WAIT_NONE);
	node_put(last, 0);
	assert_string_equal(why_it_waits(last, WEIR_WAIT_SIBLINGS),
			    "last restarts when first has halted\n"
			    "first waits until its child below has ended\n"
			    "below is in a turn that does not return");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_ON_THREADS(name) \
	cmocka_unit_test_setup_teardown(name, threads_setup, threads_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(a_child_in_back_off_is_blamed),
		TEST(who_waits_in_back_off_does_not_stall),
		TEST(one_that_has_failed_as_its_child_has_is_blamed),
		TEST(a_child_that_does_not_end_is_blamed),
		TEST(paths_parents_and_states_are_told),
		TEST(many_children_are_seen),
		TEST_ON_THREADS(on_threads_a_child_in_back_off_is_blamed),
		TEST_ON_THREADS(a_supervisor_that_does_not_decide_is_blamed),
		TEST_ON_THREADS(a_sibling_that_does_not_halt_is_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
