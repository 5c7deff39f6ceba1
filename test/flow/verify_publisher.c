/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over flows are held to the rules, on all executors: each source,
 * and each operator that lets items pass, upon a range.
 */
#include "flow/verify.h"
#include "flow/verify_sources.h"

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

#define MADE_MAX 16

/* A publisher that is not released. */
struct publication {
	struct weir_flow_publisher *publisher;
	struct made *made;
};

struct maker {
	struct base base;
	const struct source_row *source;
	const struct way *way;
	struct goods goods;
	struct publication made[MADE_MAX];
	uint32_t alive; /* any thread */
};

static struct maker *maker_of(struct weir_publisher_factory *factory)
{
	return weir_container_of(factory, struct maker, base.publisher);
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

static struct made *make(struct maker *maker, int64_t n)
{
	return made_new(maker->base.place->executor, &maker->base.goods.items,
			n);
}

/* Of the source's flow of that, with the operator upon it. */
static struct weir_publisher *publish(struct maker *maker, struct made *made,
				      struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {
		.unfused = maker->way->unfused,
	};
	struct publication *to = maker->made;

	flow = maker->way->put_upon(flow, &maker->base.goods.items);
	while (to->made)
		assert_true(++to < maker->made + MADE_MAX);
	to->made = made;
	assert_int_equal(weir_flow_publisher_new(&to->publisher, flow,
						 maker->base.place->executor,
						 &options),
			 0);
	ck_pr_inc_32(&maker->base.alive);
	return weir_flow_publisher_base(to->publisher);
}

static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	struct maker *maker = maker_of(factory);
	struct made *made = make(maker, n);

	return publish(maker, made, maker->source->make(made));
}

/* With the last item. */
static struct weir_publisher *create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	struct maker *maker = maker_of(factory);
	struct made *made = make(maker, n);
	struct weir_flow *flow =
		weir__flow_source(&failing_kind, &n, sizeof(n), true);

	return publish(maker, made, goods_of(flow, made));
}

/* Behind it. */
static struct weir_publisher *create_failing_behind(
	struct weir_publisher_factory *factory, int64_t n)
{
	struct maker *maker = maker_of(factory);
	struct made *made = make(maker, n);
	struct weir_flow *flow = weir_flow_fail(-EIO, "there are no more");

	flow = weir_flow_items(flow, made->items);
	return publish(maker, made,
		       weir_flow_concat(
			       (struct weir_flow *[]){
				       maker->source->make(made),
				       flow,
			       },
			       2));
}

/* Of a flow that runs once, and has. */
static struct weir_publisher *create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct weir_flow_queue *queue;
	struct weir_flow *flow;
	struct made *made;

	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE, NULL),
			 0);
	flow = weir_flow_from_queue(queue);
	assert_int_equal(weir_flow_start(flow, maker->base.place->executor,
					 NULL, NULL),
			 0);
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	weir_flow_free(flow);
	flow = weir_flow_from_queue(queue);
	weir_flow_queue_free(queue);
	made = make(maker, 0);
	return publish(maker, made, goods_of(flow, made));
}

static void release(struct weir_publisher_factory *factory,
		    struct weir_publisher *publisher)
{
	struct maker *maker = maker_of(factory);
	struct publication *it = maker->made;

	while (!it->made ||
	       weir_flow_publisher_base(it->publisher) != publisher)
		it++;
	weir_flow_publisher_free(it->publisher);
	made_let_go(it->made);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	made_free(it->made);
	it->made = NULL;
	ck_pr_dec_32(&maker->base.alive);
}

/* Where nothing happens unless time passes. */
static int settle_in_time(void *context)
{
	const struct place *place = context;
	int rc = weir_test_settle(&place->env);

	return rc == 0 ? weir_test_advance(&place->env, 100) : rc;
}

static struct weir_test_env env_of(struct place *place,
				   const struct source_row *source)
{
	return source->timed ? (struct weir_test_env){.settle = settle_in_time,
						      .context = place,
						      .one_thread = true}
			     : place->env;
}

static void verify(struct place *place, const struct source_row *source,
		   const struct way *way, const char *name, uint32_t passes)
{
	struct maker maker = {
		.base.publisher =
			{
				.create = create,
				.create_failing =
					way->effect == OVERTAKEN ? NULL
					: way == ways ? create_failing_behind
						      : create_failing,
				.create_rejecting = create_rejecting,
				.release = release,
				.env = env_of(place, source),
				.multicast = source->sharing == EACH_GETS_ALL,
				.max_items = source->max_items
						     ? source->max_items
						     : LONG,
				.max_subscribers = source->sharing ==
						   FIRST_GETS_ALL,
			},
		.source = source,
		.way = way,
	};

	verify_publisher(&maker.base, place, name, passes);
}

static void verify_all(struct place *place)
{
	static size_t places;
	size_t i, number = places++;

	for (i = number % rows_step(); i < n_ways; i += rows_step())
		if (ways[i].effect != CHANGES)
			verify(place, sources, &ways[i], ways[i].name, 40);
	for (i = number % rows_step(); i < n_sources; i += rows_step())
		if ((place->sim || !sources[i].timed) &&
		    (!place->threads || !sources[i].waits))
			verify(place, &sources[i], ways, sources[i].name, 30);
}

int main(void)
{
	const struct suite suite = {"publishers_keep", verify_all, 2, 1};

	return verify_everywhere(&suite, 1);
}
