/* SPDX-License-Identifier: BSD-2-Clause */
/* What a snapshot has. */
#include "inspect/kit.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "actor/kit.h"

static struct weir_sim *sim;
static struct weir_executor *executor;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	return 0;
}

static int teardown(void **state)
{
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

static const struct weir_seen_port *port_of(
	const struct weir_snapshot *snapshot, const struct weir_port *port)
{
	size_t i;

	for (i = 0; i < snapshot->n_ports; i++)
		if (snapshot->ports[i].port == port)
			return &snapshot->ports[i];
	fail_msg("no such port");
	return NULL;
}

static void actors_have_names_ports_and_links(void **state)
{
	struct node a, b;
	struct weir_snapshot *snapshot;
	const struct weir_seen_actor *actor;
	const struct weir_seen_link *link;

	node_init(&a, executor, "a", 1, 1);
	node_init(&b, executor, "b", 1, 0);
	node_link(&a, 0, &b, 0);
	weir_actor_suspend(&b.actor);
	node_start(&a);
	node_start(&b);
	node_put(&a, 0);
	node_put(&a, 0);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_true(snapshot->settled);
	assert_int_equal(snapshot->n_actors, 2);
	assert_int_equal(snapshot->n_ports, 3);
	assert_int_equal(snapshot->n_links, 2);
	actor = &snapshot->actors[weir_snapshot_find(snapshot, &b.actor)];
	assert_string_equal(actor->name, "b");
	assert_ptr_equal(actor->executor, executor);
	assert_int_equal(actor->wait, WEIR_WAIT_RESUME);
	assert_int_equal(actor->n_ports, 1);
	assert_ptr_equal(snapshot->ports[actor->port].port, &b.ins[0].port);
	link = &snapshot->links[1];
	assert_ptr_equal(snapshot->ports[link->to].port, &b.ins[0].port);
	assert_ptr_equal(snapshot->ports[link->from].port, &a.outs[0].port);
	assert_int_equal(link->capacity, 4);
	assert_int_equal(link->fill, 2);
	assert_int_equal(link->items, 2);
	assert_false(link->ended);
	/* what comes from outside is a link from nowhere */
	assert_int_equal(snapshot->links[0].from, WEIR_NOWHERE);
	assert_int_equal(snapshot->links[0].items, 2);
	assert_int_equal(snapshot->links[0].fill, 0);
	assert_true(port_of(snapshot, &a.ins[0].port)->blocked);
	weir_snapshot_free(snapshot);
	node_stop(&a);
	node_stop(&b);
	weir_sim_run(sim);
}

static void several_executors_are_seen_at_once(void **state)
{
	struct weir_sim *others = sim_new(2);
	struct weir_executor *both[] = {executor, weir_sim_executor(others)};
	struct node a, b;
	struct weir_snapshot *snapshot;

	node_init(&a, both[0], "a", 0, 1);
	node_init(&b, both[1], "b", 1, 0);
	node_link(&a, 0, &b, 0);
	node_start(&a);
	node_start(&b);
	weir_sim_run(sim);
	assert_int_equal(weir_snapshot_new(&snapshot, both, 2, 0), 0);
	assert_int_equal(snapshot->n_actors, 2);
	assert_int_equal(snapshot->links[0].from, 0);
	assert_int_equal(snapshot->links[0].fill, 4);
	weir_snapshot_free(snapshot);
	/* of one alone, the other end is nowhere */
	assert_int_equal(weir_snapshot_new(&snapshot, &both[1], 1, 0), 0);
	assert_int_equal(snapshot->n_actors, 1);
	assert_int_equal(snapshot->links[0].from, WEIR_NOWHERE);
	assert_ptr_equal(snapshot->links[0].from_port, &a.outs[0].port);
	weir_snapshot_free(snapshot);
	node_stop(&a);
	node_stop(&b);
	weir_sim_run(sim);
	weir_sim_run(others);
	weir_sim_run(sim);
	sim_free(others);
}

/* More than there is room for at first. */
static void a_thousand_actors_are_seen(void **state)
{
	enum { N = 1000 };
	struct node *nodes = calloc(N, sizeof(*nodes));
	struct weir_snapshot *snapshot;
	size_t i;

	assert_non_null(nodes);
	for (i = 0; i < N; i++) {
		node_init(&nodes[i], executor, "one of many", 3, 3);
		node_start(&nodes[i]);
	}
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_actors, N);
	assert_int_equal(snapshot->n_ports, 6 * N);
	for (i = 0; i < N; i++)
		assert_int_not_equal(weir_snapshot_find(snapshot,
							&nodes[i].actor),
				     WEIR_NOWHERE);
	weir_snapshot_free(snapshot);
	for (i = 0; i < N; i++)
		node_stop(&nodes[i]);
	weir_sim_run(sim);
	free(nodes);
}

/* --- Flows ---------------------------------------------------------------- */

static int same(void **item, void *context)
{
	return 0;
}

static void a_flow_is_named_by_its_operators(void **state)
{
	struct weir_flow *flow = weir_flow_never();
	struct weir_snapshot *snapshot;
	struct weir_flow_run *run;
	size_t sink;

	flow = weir_flow_name(weir_flow_map(flow, same, NULL), "parse");
	flow = weir_flow_ignore(weir_flow_async(flow, 4, NULL));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_actors, 2);
	sink = strcmp(snapshot->actors[0].name, "ignore") != 0;
	assert_string_equal(snapshot->actors[sink].name, "ignore");
	assert_string_equal(snapshot->actors[!sink].name, "parse < never");
	weir_snapshot_free(snapshot);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
}

/* --- Ports of other kinds ------------------------------------------------- */

static void what_a_port_waits_for_is_told(void **state)
{
	struct weir_actor_ops actor_ops = {.name = "many"};
	struct weir_completion completion;
	struct weir_completion_port done;
	struct weir_semaphore semaphore;
	struct weir_semaphore_port permit;
	struct weir_permits permits;
	struct weir_snapshot *snapshot;
	struct weir_delay delay;
	struct weir_actor actor;
	struct weir_any any;
	struct weir_in in;
	struct weir_fd fd;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	assert_int_equal(weir_semaphore_init(&semaphore, 0), 0);
	assert_int_equal(weir_completion_init(&completion), 0);
	assert_int_equal(weir_delay_init(&delay, &actor), 0);
	assert_int_equal(weir_fd_init(&fd, &actor, ends[0], POLLIN), 0);
	assert_int_equal(weir_semaphore_port_init(&permit, &actor, &semaphore),
			 0);
	assert_int_equal(weir_permits_init(&permits, &actor, 0), 0);
	assert_int_equal(weir_completion_port_init(&done, &actor, &completion),
			 0);
	assert_int_equal(weir_any_init(&any, &actor), 0);
	assert_int_equal(weir_in_init(&in, &actor, 1, NULL), 0);
	assert_int_equal(weir_any_add(&any, &in.port), 0);
	assert_int_equal(weir_delay_until(&delay, 7), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	snapshot = taken(executor);
	assert_int_equal(port_of(snapshot, &delay.port)->wait, WEIR_WAIT_TIME);
	assert_int_equal(port_of(snapshot, &delay.port)->at_ns, 7);
	assert_int_equal(port_of(snapshot, &fd.port)->wait, WEIR_WAIT_FD);
	assert_int_equal(port_of(snapshot, &fd.port)->fd, ends[0]);
	assert_int_equal(port_of(snapshot, &fd.port)->events, POLLIN);
	assert_int_equal(port_of(snapshot, &permit.port)->wait,
			 WEIR_WAIT_PERMIT);
	assert_ptr_equal(port_of(snapshot, &permit.port)->object, &semaphore);
	assert_int_equal(port_of(snapshot, &permits.port)->wait,
			 WEIR_WAIT_PERMIT);
	assert_int_equal(port_of(snapshot, &done.port)->wait,
			 WEIR_WAIT_COMPLETED);
	assert_ptr_equal(port_of(snapshot, &done.port)->object, &completion);
	assert_ptr_equal(
		snapshot->ports[port_of(snapshot, &in.port)->group].port,
		&any.port);
	weir_snapshot_free(snapshot);
	weir_actor_stop(&actor);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
	assert_int_equal(weir_completion_fini(&completion), 0);
	close(ends[0]);
	close(ends[1]);
}

/* --- Errors --------------------------------------------------------------- */

static void bad_input_is_an_error(void **state)
{
	struct weir_executor *none = NULL;
	struct weir_snapshot *snapshot;

	assert_int_equal(weir_snapshot_new(NULL, &executor, 1, 0), -EINVAL);
	assert_int_equal(weir_snapshot_new(&snapshot, NULL, 1, 0), -EINVAL);
	assert_null(snapshot);
	assert_int_equal(weir_snapshot_new(&snapshot, &executor, 0, 0),
			 -EINVAL);
	assert_int_equal(weir_snapshot_new(&snapshot, &none, 1, 0), -EINVAL);
	assert_int_equal(weir_snapshot_find(NULL, NULL), WEIR_NOWHERE);
	weir_snapshot_free(NULL);
}

/* Whichever allocation fails, nothing is left, and the next look goes well. */
static void without_memory_nothing_is_left(void **state)
{
	struct weir_executor_options options = {0};
	struct weir_snapshot *snapshot;
	struct weir_executor *of;
	struct weir_sim *other;
	struct heap heap;
	struct node a;
	size_t live, n;
	int rc;

	heap_init(&heap, SIZE_MAX);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&other, 1, &options), 0);
	of = weir_sim_executor(other);
	node_init(&a, of, "a", 1, 1);
	node_start(&a);
	weir_sim_run(other);
	live = heap.live;
	for (n = 1;; n++) {
		heap.fail = heap.calls + n;
		rc = weir_snapshot_new(&snapshot, &of, 1, 1);
		heap.fail = SIZE_MAX;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(snapshot);
		assert_int_equal(heap.live, live);
	}
	/* two looks of ten, two that are sorted, and three of the search */
	assert_int_equal(n, 26);
	weir_snapshot_free(snapshot);
	assert_int_equal(heap.live, live);
	node_stop(&a);
	weir_sim_run(other);
	sim_free(other);
	assert_int_equal(heap.live, 0);
}

static int found;

static void inspect_here(struct weir_actor *actor)
{
	struct weir_snapshot *snapshot;
	struct weir_executor *of = actor->executor;

	found = weir_snapshot_new(&snapshot, &of, 1, 0);
}

static void one_that_is_released_cannot_look(void **state)
{
	struct weir_actor_ops actor_ops = {.released = inspect_here};
	struct weir_actor actor;

	found = 0;
	assert_int_equal(weir_actor_init(&actor, &actor_ops, executor), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	weir_actor_stop(&actor);
	weir_sim_run(sim);
	assert_int_equal(found, -EDEADLK);
}

static void actor_with_a_dot_is_not_seen(void **state)
{
	static struct node seen, hidden; /* until the end of the executor */
	struct weir_snapshot *snapshot;

	node_init(&seen, executor, "a.b", 1, 0);
	node_init(&hidden, executor, ".looks", 1, 0);
	node_start(&seen);
	node_start(&hidden);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_actors, 1);
	assert_int_equal(snapshot->n_ports, 1);
	assert_string_equal(snapshot->actors[0].name, "a.b");
	assert_int_equal(weir_snapshot_find(snapshot, &hidden.actor),
			 WEIR_NOWHERE);
	weir_snapshot_free(snapshot);
	node_stop(&seen);
	node_stop(&hidden);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(actors_have_names_ports_and_links),
		test(several_executors_are_seen_at_once),
		test(a_thousand_actors_are_seen),
		test(a_flow_is_named_by_its_operators),
		test(what_a_port_waits_for_is_told),
		test(bad_input_is_an_error),
		test(without_memory_nothing_is_left),
		test(one_that_is_released_cannot_look),
		test(actor_with_a_dot_is_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
