/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers over in-ports are held to the rules, on all executors.
 */
#include "stream/verify.h"

#include <weir/weir.h>

#define CAPACITY 16
#define RECORDS 2048

/* Ways to set up a subscriber. */
enum way { DEFAULT, SMALL, ONE_BY_ONE, TOLD, N_WAYS };

struct maker {
	struct base base;
	enum way way;
};

/* Takes every item, and remembers it. */
struct taking {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
	struct maker *maker;
	/* written by turns and handlers, read when all has come to rest */
	int64_t record[RECORDS]; /* numbers of items */
	size_t n;
	bool ended, stopped;
	struct weir_error *error;
	uint32_t released; /* any thread */
	/* what the test wants of it; any thread */
	uint64_t told;
	uint32_t cancel;
};

static struct taking *taking_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct taking, actor);
}

static inline int taking_turn(struct weir_actor *actor)
{
	struct taking *self = taking_of(actor);
	struct good *good = weir_in_take(&self->in);

	self->record[self->n++ % RECORDS] = good->number;
	goods_drop(good, &self->maker->base.goods);
	return 0;
}
WEIR_TURN(taking_turn)

static int taking_ended(struct weir_actor *actor, struct weir_in *in,
			struct weir_error *error)
{
	struct taking *self = taking_of(actor);

	self->ended = true;
	self->error = weir_error_ref(error);
	return weir_actor_end(actor);
}

static int taking_signalled(struct weir_actor *actor)
{
	struct taking *self = taking_of(actor);
	uint64_t n = ck_pr_fas_64(&self->told, 0);

	if (ck_pr_load_32(&self->cancel))
		return weir_actor_end(actor);
	if (n)
		assert_int_equal(weir_reactive_in_request(&self->reactive,
							  (int64_t)n),
				 0);
	return 0;
}

static void taking_stopped(struct weir_actor *actor, struct weir_error *error)
{
	taking_of(actor)->stopped = true;
}

static void taking_released(struct weir_actor *actor)
{
	struct taking *self = taking_of(actor);

	ck_pr_dec_32(&self->maker->base.alive);
	ck_pr_inc_32(&self->released);
}

static const struct weir_actor_ops taking_ops = {
	.name = "taking",
	.turns = taking_turn_n,
	.ended = taking_ended,
	.signalled = taking_signalled,
	.stopped = taking_stopped,
	.released = taking_released,
};

/* --- The factory ---------------------------------------------------------- */

static struct maker *maker_of(struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct maker, base.subscriber);
}

static struct taking *mine(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct taking,
				 reactive.subscriber);
}

static const struct weir_reactive_in_options *options_of(enum way way)
{
	static const struct weir_reactive_in_options small = {
		.prefetch = 3,
		.refill = 2,
	};
	static const struct weir_reactive_in_options one_by_one = {
		.demand = weir_demand_one_by_one,
	};
	static const struct weir_reactive_in_options told = {
		.demand = weir_demand_zero,
	};
	static const struct weir_reactive_in_options *const all[N_WAYS] = {
		[SMALL] = &small,
		[ONE_BY_ONE] = &one_by_one,
		[TOLD] = &told,
	};

	return all[way];
}

static struct weir_subscriber *create(struct weir_subscriber_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct taking *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->maker = maker;
	assert_int_equal(weir_actor_init(&self->actor, &taking_ops,
					 maker->base.place->executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, CAPACITY,
				      &maker->base.goods.items),
			 0);
	assert_int_equal(weir_reactive_in_init(&self->reactive, &self->in,
					       options_of(maker->way)),
			 0);
	ck_pr_inc_32(&maker->base.alive);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	return &self->reactive.subscriber;
}

static void release(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber)
{
	struct taking *self = mine(subscriber);

	weir_error_unref(self->error);
	if (ck_pr_load_32(&self->released))
		free(self);
}

/* Once it has stopped it may be gone. */
static void tell(struct taking *self)
{
	if (!self->stopped)
		weir_actor_signal(&self->actor);
}

static void request(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t n)
{
	struct taking *self = mine(subscriber);

	ck_pr_add_64(&self->told, (uint64_t)n);
	tell(self);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	struct taking *self = mine(subscriber);

	ck_pr_store_32(&self->cancel, 1);
	tell(self);
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

static bool released(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber)
{
	return ck_pr_load_32(&mine(subscriber)->released) == 1;
}

/* --- Tests ---------------------------------------------------------------- */

static void verify_way(struct place *place, enum way way)
{
	struct maker maker = {
		.base.subscriber =
			{
				.create = create,
				.release = release,
				.request = way == TOLD ? request : NULL,
				.cancel = cancel,
				.received = received,
				.is_item = is_item,
				.ended = ended,
				.released = released,
			},
		.way = way,
	};
	char name[32];

	snprintf(name, sizeof(name), "way %d", (int)way);
	verify_subscriber(&maker.base, place, name, 30);
}

static void verify_ways(struct place *place)
{
	for (enum way way = DEFAULT; way < N_WAYS; way++)
		verify_way(place, way);
}

int main(void)
{
	const struct suite suite = {"in_ports_keep", verify_ways,
				    test_count(50), 1};

	return verify_everywhere(&suite, 1);
}
