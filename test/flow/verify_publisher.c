/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over flows are held to the rules, on all executors.
 */
#include "flow/verify.h"

#include "flow/flow.h"

#define MADE_MAX 16

struct maker {
	struct weir_publisher_factory factory;
	struct place *place;
	const struct way *way;
	struct goods goods;
	struct weir_flow_publisher *made[MADE_MAX]; /* not released */
	uint32_t alive;				    /* any thread */
};

static struct maker *maker_of(struct weir_publisher_factory *factory)
{
	return weir_container_of(factory, struct maker, factory);
}

static int make_good(void **item, void *context)
{
	*item = goods_make(context, (int64_t)(intptr_t)*item);
	return 0;
}

/* The items 0 to n - 1, and an error that comes with the last of them. */
static size_t failing_pull(struct weir__op *op, void **items, size_t room)
{
	int64_t n = *(const int64_t *)weir__op_args(op);
	int64_t *at = weir__op_state(op);
	size_t i;

	for (i = 0; i < room && *at < n; i++)
		items[i] = (void *)(intptr_t)(*at)++;
	if (*at == n)
		weir__op_fail(op, -EIO, "there are no more");
	return i;
}

static const struct weir__kind failing_kind = {
	.name = "failing",
	.state_size = sizeof(int64_t),
	.pull = failing_pull,
	.source = true,
};

static struct weir_publisher *publish(struct maker *maker,
				      struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {
		.unfused = maker->way->unfused,
	};
	size_t i;

	flow = weir_flow_map(flow, make_good, &maker->goods);
	flow = weir_flow_items(flow, &maker->goods.items);
	flow = maker->way->put_upon(flow, &maker->goods.items);
	for (i = 0; maker->made[i]; i++)
		assert_true(i + 1 < MADE_MAX);
	assert_int_equal(weir_flow_publisher_new(&maker->made[i], flow,
						 maker->place->executor,
						 &options),
			 0);
	ck_pr_inc_32(&maker->alive);
	return weir_flow_publisher_publisher(maker->made[i]);
}

static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	return publish(maker_of(factory), weir_flow_range(0, n - 1));
}

static struct weir_publisher *create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	return publish(maker_of(factory),
		       weir__flow_source(&failing_kind, &n, sizeof(n), true));
}

/* Of a flow that runs once, and has. */
static struct weir_publisher *create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct weir_flow_queue *queue;
	struct weir_flow *flow;

	assert_int_equal(weir_flow_queue_new(&queue, 4, WEIR_FLOW_REJECT, NULL),
			 0);
	flow = weir_flow_from_queue(queue);
	assert_int_equal(
		weir_flow_start(flow, maker->place->executor, NULL, NULL), 0);
	assert_int_equal(weir_flow_queue_close(queue, NULL), 0);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	weir_flow_free(flow);
	flow = weir_flow_from_queue(queue);
	weir_flow_queue_free(queue);
	return publish(maker, flow);
}

static void release(struct weir_publisher_factory *factory,
		    struct weir_publisher *publisher)
{
	struct maker *maker = maker_of(factory);
	size_t i = 0;

	while (weir_flow_publisher_publisher(maker->made[i]) != publisher)
		i++;
	weir_flow_publisher_free(maker->made[i]);
	maker->made[i] = NULL;
	ck_pr_dec_32(&maker->alive);
}

static bool is_item(struct weir_publisher_factory *factory, const void *item,
		    int64_t i)
{
	return goods_is(item, i);
}

static size_t live(struct weir_publisher_factory *factory)
{
	struct maker *maker = maker_of(factory);

	return goods_live(&maker->goods) + ck_pr_load_32(&maker->alive);
}

static void verify(struct place *place, const struct way *way, const char *what)
{
	struct results results;
	struct maker maker = {
		.factory =
			{
				.create = create,
				.create_failing = create_failing,
				.create_rejecting = create_rejecting,
				.release = release,
				.is_item = is_item,
				.live = live,
				.env = place->env,
				.multicast = true,
			},
		.place = place,
		.way = way,
	};

	goods_init(&maker.goods);
	results_init(&results);
	assert_true(weir_verify_publisher(&maker.factory, &results.report) >=
		    0);
	results_check(&results, what, 40);
}

static void publishers_keep_the_rules_on_the_simulator(void **state)
{
	on_simulators(10, verify);
}

static void publishers_keep_the_rules_on_a_loop(void **state)
{
	on_a_loop(verify);
}

static void publishers_keep_the_rules_on_threads(void **state)
{
	on_threads(5, verify);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(publishers_keep_the_rules_on_the_simulator),
		cmocka_unit_test(publishers_keep_the_rules_on_a_loop),
		cmocka_unit_test(publishers_keep_the_rules_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
