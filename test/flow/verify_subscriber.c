/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subscribers of flows that begin with a publisher are held to the rules,
 * on all executors, with each operator and each sink upon them: the suite gets
 * the one that a run has subscribed with. What has come is looked at behind the
 * operator, or, where other items come out of it, before it.
 */
#include "flow/verify.h"
#include "flow/verify_sinks.h"

#define RECORDS 2048

struct maker {
	struct base base;
	const struct way *way; /* or NULL, and */
	const struct sink_row *sink;
	size_t prefetch;
};

/* A run, and what it has taken. */
struct taking {
	struct weir_publisher publisher; /* catches the subscriber */
	struct weir_subscriber *subscriber;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct maker *maker;
	struct taker *taker;
	struct taking *next;
	/* written by the run, read when all has come to rest */
	int64_t record[RECORDS]; /* numbers of items */
	size_t n;
	bool ended;
	struct weir_error *error;
	uint32_t over; /* any thread */
};

/* Those that are not released. */
static struct taking *takings;

static int catch_it(struct weir_publisher *publisher,
		    struct weir_subscriber *subscriber)
{
	/* the suite looks at it also when its run has let go */
	weir_container_of(publisher, struct taking, publisher)->subscriber =
		weir_subscriber_ref(subscriber);
	return 0;
}

static const struct weir_publisher_ops catcher = {.subscribe = catch_it};

static int note(void **item, void *context)
{
	struct taking *self = context;

	self->record[self->n++ % RECORDS] = ((struct good *)*item)->number;
	return 0;
}

static int take(void *item, void *context)
{
	struct taking *self = context;

	(void)note(&item, context);
	goods_drop(item, &self->maker->base.goods);
	return 0;
}

static void completed(void *context)
{
	((struct taking *)context)->ended = true;
}

static void failed(struct weir_error *error, void *context)
{
	struct taking *self = context;

	self->ended = true;
	self->error = weir_error_ref(error);
}

static void over(struct weir_error *error, void *result, void *context)
{
	struct taking *self = context;

	ck_pr_dec_32(&self->maker->base.alive);
	ck_pr_store_32(&self->over, 1);
}

/* --- The factory ---------------------------------------------------------- */

static struct maker *maker_of(struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct maker, base.subscriber);
}

static struct taking *mine(struct weir_subscriber *subscriber)
{
	struct taking *self = takings;

	while (self->subscriber != subscriber)
		self = self->next;
	return self;
}

static struct weir_flow *flow_of(struct taking *self)
{
	const struct weir_flow_peek_functions hooks = {
		.completed = completed,
		.failed = failed,
	};
	struct maker *maker = self->maker;
	const struct weir_items *items = &maker->base.goods.items;
	bool changes = !maker->way || maker->way->effect != PASSES;
	struct weir_flow *flow;

	flow = weir_flow_from_publisher(&self->publisher, maker->prefetch, 0);
	flow = weir_flow_items(flow, items);
	if (changes)
		flow = weir_flow_same_items(weir_flow_map(flow, note, self));
	flow = maker->way ? maker->way->put_upon(flow, items)
			  : maker->sink->put_upon(flow, self->taker);
	flow = weir_flow_peek(flow, &hooks, self);
	return changes ? weir_flow_ignore(flow)
		       : weir_flow_for_each(flow, take, self);
}

static struct weir_subscriber *create(struct weir_subscriber_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct taking *self = calloc(1, sizeof(*self));
	const struct weir_flow_run_options options = {
		.done = over,
		.context = self,
		.unfused = maker->way ? maker->way->unfused : 0,
	};

	assert_non_null(self);
	self->maker = maker;
	self->publisher.ops = &catcher;
	self->taker = taker_new(maker->base.place->executor,
				&maker->base.goods.items);
	self->flow = flow_of(self);
	self->next = takings;
	takings = self;
	ck_pr_inc_32(&maker->base.alive);
	assert_int_equal(weir_flow_start(self->flow,
					 maker->base.place->executor, &options,
					 &self->run),
			 0);
	taker_start(self->taker);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	return self->subscriber;
}

static void release(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber)
{
	struct taking *self = mine(subscriber), **link = &takings;

	while (*link != self)
		link = &(*link)->next;
	*link = self->next;
	weir_subscriber_unref(subscriber);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	taker_let_go(self->taker);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	assert_true(ck_pr_load_32(&self->over));
	taker_free(self->taker);
	weir_flow_run_free(self->run);
	weir_flow_free(self->flow);
	weir_error_unref(self->error);
	free(self);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	weir_flow_run_stop(mine(subscriber)->run, NULL);
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	return (int64_t)mine(subscriber)->n;
}

static bool is_item(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t at, int64_t i)
{
	return mine(subscriber)->record[at] == i;
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	*error = mine(subscriber)->error;
	return mine(subscriber)->ended;
}

/* Nobody has it any more but we. */
static bool released(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber)
{
	return ck_pr_load_32(&subscriber->refs) == 1;
}

/* The default one, lock step, and between. */
static size_t prefetch_of(const struct place *place)
{
	static const size_t prefetches[] = {0, 1, 5};

	return place->sim ? prefetches[weir_sim_seed(place->sim) % 3]
			  : prefetches[place->loop ? 1 : 0];
}

static void verify(struct place *place, const struct way *way,
		   const struct sink_row *sink, const char *name)
{
	struct maker maker = {
		.base.subscriber =
			{
				.create = create,
				.release = release,
				.cancel = cancel,
				.received = received,
				.is_item = is_item,
				.ended = ended,
				.released = released,
				.recovers = way && way->mends,
			},
		.way = way,
		.sink = sink,
		.prefetch = prefetch_of(place),
	};

	verify_subscriber(&maker.base, place, name, 30);
}

static void verify_all(struct place *place)
{
	static size_t places;
	size_t i, number = places++;

	for (i = number % rows_step(); i < n_ways; i += rows_step())
		if (!ways[i].ends)
			verify(place, &ways[i], NULL, ways[i].name);
	for (i = number % rows_step(); i < n_sinks; i += rows_step())
		verify(place, NULL, &sinks[i], sinks[i].name);
}

int main(void)
{
	const struct suite suite = {"subscribers_keep", verify_all, 3, 1};

	return verify_everywhere(&suite, 1);
}
