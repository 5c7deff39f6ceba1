/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots as text of all sorts. */
#include "inspect/kit.h"

#include "actor/kit.h"

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct node a, b;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	node_init(&a, executor, "say \"a\\\n", 1, 1);
	node_init(&b, executor, "b", 1, 0);
	node_waits(&b);
	node_link(&a, 0, &b, 0);
	node_start(&a);
	node_start(&b);
	node_put(&a, 0);
	node_put(&a, 0);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	return 0;
}

static int teardown(void **state)
{
	node_stop(&a);
	node_stop(&b);
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

/* Bytes that a terminal would obey, and such as no UTF-8 has. */
static void names_are_text(void **state)
{
	struct weir_snapshot *snapshot;
	char text[2048];
	struct node c;

	node_init(&c, executor, "e\x1b[2J\xff\xc3\xa4\x7f\xc2\x9b.", 1, 0);
	node_start(&c);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	snapshot = taken(executor);
	(void)weir_snapshot_why_text(snapshot, 2, text, sizeof(text));
	assert_string_equal(text, "e [2J?\xc3\xa4   . waits for input from"
				  " outside\n");
	(void)weir_snapshot_json(snapshot, text, sizeof(text));
	assert_non_null(strstr(text, "\"e [2J?\xc3\xa4   .\""));
	weir_snapshot_free(snapshot);
	node_stop(&c);
	weir_sim_run(sim);
}

static void json_has_all_of_it(void **state)
{
	struct weir_snapshot *snapshot = taken(executor);
	char text[2048], expected[2048];

	assert_in_range(weir_snapshot_json(snapshot, text, sizeof(text)), 1,
			sizeof(text) - 1);
	(void)snprintf(
		expected, sizeof(expected),
		"{\"version\": 1, \"settled\": true,\n\"actors\": [\n"
		"{\"name\": \"say \\\"a\\\\ \", \"id\": \"0.1\", "
		"\"wait\": \"input\", "
		"\"state\": \"waiting\", \"executor\": 0, \"thread\": null, "
		"\"holder\": null, "
		"\"at_port\": 0, \"waits_for\": null, \"root\": 0, "
		"\"holds_up\": 0},\n"
		"{\"name\": \"b\", \"id\": \"1.1\", \"wait\": \"time\", "
		"\"state\": \"waiting\", \"executor\": 0, \"thread\": null, "
		"\"holder\": null, \"at_port\": 3, "
		"\"waits_for\": null, \"root\": 1, \"holds_up\": 1}],\n"
		"\"ports\": [\n"
		"{\"actor\": 0, \"name\": \"in\", \"wait\": \"input\", \"takes_part\": true, "
		"\"blocked\": true, \"burst\": 1},\n"
		"{\"actor\": 0, \"name\": \"out\", \"wait\": \"room\", \"takes_part\": true, "
		"\"blocked\": false, \"burst\": 1},\n"
		"{\"actor\": 1, \"name\": \"in\", \"wait\": \"input\", \"takes_part\": true, "
		"\"blocked\": false, \"burst\": 1},\n"
		"{\"actor\": 1, \"name\": \"delay\", \"wait\": \"time\", \"takes_part\": true, "
		"\"blocked\": true, \"burst\": 1, "
		"\"at_ns\": 3600000000000}],\n"
		"\"links\": [\n"
		"{\"to\": 0, \"from\": null, \"capacity\": 4, \"fill\": 0, "
		"\"items\": 2, \"ended\": false},\n"
		"{\"to\": 2, \"from\": 1, \"capacity\": 4, \"fill\": 1, "
		"\"items\": 2, \"ended\": false}],\n"
		"\"demands\": [],\n\"objects\": [],\n"
		"\"executors\": [\n"
		"{\"kind\": \"sim\", \"name\": \"\", \"now_ns\": 1, "
		"\"threads\": 0, \"threads_max\": 1, \"busy\": 0, "
		"\"parked\": 0, \"queued\": 0, \"timers\": 1, "
		"\"watches\": 0, \"slices\": %llu, \"steals\": 0}],\n"
		"\"threads\": [],\n\"children\": [],\n\"pools\": []}\n",
		(unsigned long long)snapshot->executors[0].slices);
	weir_snapshot_free(snapshot);
	assert_string_equal(text, expected);
}

static void a_graph_has_actors_and_links(void **state)
{
	struct weir_snapshot *snapshot = taken(executor);
	char text[512];

	assert_in_range(weir_snapshot_dot(snapshot, text, sizeof(text)), 1,
			sizeof(text) - 1);
	weir_snapshot_free(snapshot);
	assert_string_equal(text,
			    "digraph weir {\nrankdir=LR\n"
			    "node [shape=box, style=filled, fontcolor=white]\n"
			    "a0 [fillcolor=blue, "
			    "label=\"say \\\"a\\\\ \"]\n"
			    "a1 [fillcolor=blue, label=\"b\"]\n"
			    "a0 -> a1 [label=\"1/4\"]\n}\n");
}

typedef size_t write_text(const struct weir_snapshot *snapshot, char *text,
			  size_t n);

static size_t why_all(const struct weir_snapshot *snapshot, char *text,
		      size_t n)
{
	return weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text, n);
}

static void text_without_room_is_cut_and_counted(void **state)
{
	write_text *const all[] = {weir_snapshot_json, weir_snapshot_dot,
				   why_all};
	struct weir_snapshot *snapshot = taken(executor);
	char whole[2048], cut[2048];
	size_t i, n, room;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		n = all[i](snapshot, whole, sizeof(whole));
		assert_int_equal(n, strlen(whole));
		assert_int_equal(all[i](snapshot, NULL, 0), n);
		for (room = 1; room <= n + 1; room++) {
			memset(cut, 'x', sizeof(cut));
			assert_int_equal(all[i](snapshot, cut, room), n);
			assert_int_equal(strlen(cut), room - 1);
			assert_memory_equal(cut, whole, room - 1);
			assert_int_equal(cut[room], 'x');
		}
		assert_int_equal(all[i](NULL, cut, sizeof(cut)), 0);
	}
	weir_snapshot_free(snapshot);
}

static void json_says_what_operators_wait_for(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 10);
	struct weir_snapshot *snapshot;
	struct weir_semaphore permits;
	struct weir_flow_run *run;
	char text[4096];

	assert_int_equal(weir_semaphore_init(&permits, 0), 0);
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	weir_sim_run_until(sim, 2, UINT64_MAX);
	snapshot = taken(executor);
	assert_true(weir_snapshot_json(snapshot, text, sizeof(text)) <
		    sizeof(text));
	assert_non_null(
		strstr(text, "\"wait\": \"wake\", \"wakers\": [\"permit\"]"));
	weir_snapshot_free(snapshot);
	weir_flow_run_stop(run, NULL);
	weir_sim_run_until(sim, 2, UINT64_MAX);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_semaphore_fini(&permits), 0);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(json_has_all_of_it),
		test(names_are_text),
		test(json_says_what_operators_wait_for),
		test(a_graph_has_actors_and_links),
		test(text_without_room_is_cut_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
