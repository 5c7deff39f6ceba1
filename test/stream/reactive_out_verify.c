/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports are held to the rules, on all executors.
 */
#include "stream/verify.h"

#include <weir/weir.h>

/* Kinds of publishers. */
enum kind {
	ONE,	   /* for one subscriber */
	AHEAD,	   /* the same, and turns run far ahead */
	ONE_STAYS, /* whose leaving does not end the stream */
	BROADCAST, /* for many, all get every item */
	BROADCAST_STAYS,
	BALANCE, /* for many, each item goes to one of them */
	N_KINDS,
};

struct maker {
	struct base base;
	enum kind kind;
};

/* Makes items 0 to n - 1, and then finishes or fails. */
struct making {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_reactive_out reactive;
	struct maker *maker;
	int64_t next, n;
	int code;
};

static struct making *making_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct making, actor);
}

static int making_end(struct making *self)
{
	return self->code ? weir_actor_fail(&self->actor,
					    weir_error_of(self->code))
			  : weir_actor_end(&self->actor);
}

static inline int making_turn(struct weir_actor *actor)
{
	struct making *self = making_of(actor);
	int rc = weir_out_put(&self->out, goods_make(&self->maker->base.goods,
						     self->next++));

	return rc == 0 && self->next == self->n ? making_end(self) : rc;
}
WEIR_TURN(making_turn)

/* There is nothing to make. */
static int making_signalled(struct weir_actor *actor)
{
	return making_end(making_of(actor));
}

static void making_released(struct weir_actor *actor)
{
	struct making *self = making_of(actor);

	ck_pr_dec_32(&self->maker->base.alive);
	free(self);
}

static const struct weir_actor_ops making_ops = {
	.name = "making",
	.turns = making_turn_n,
	.signalled = making_signalled,
	.released = making_released,
};

/* --- The factory ---------------------------------------------------------- */

static struct maker *maker_of(struct weir_publisher_factory *factory)
{
	return weir_container_of(factory, struct maker, base.publisher);
}

static bool many(enum kind kind)
{
	return kind >= BROADCAST;
}

static void set_up(struct making *self, enum kind kind)
{
	const struct weir_reactive_out_options options = {
		.capacity = many(kind)	    ? 0
			    : kind == AHEAD ? 1024
					    : 4,
		.flags = kind == ONE_STAYS || kind == BROADCAST_STAYS
				 ? WEIR_REACTIVE_STAY
				 : 0,
	};

	assert_int_equal(weir_actor_init(&self->actor, &making_ops,
					 self->maker->base.place->executor),
			 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor,
				       &self->maker->base.goods.items),
			 0);
	if (many(kind))
		assert_int_equal(weir_out_fan(&self->out,
					      kind == BALANCE
						      ? WEIR_FAN_BALANCE
						      : WEIR_FAN_BROADCAST,
					      4),
				 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive, &self->out,
						&options),
			 0);
}

static struct weir_publisher *make(struct weir_publisher_factory *factory,
				   int64_t n, int code)
{
	struct making *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->maker = maker_of(factory);
	self->n = n;
	self->code = code;
	set_up(self, self->maker->kind);
	ck_pr_inc_32(&self->maker->base.alive);
	/* The publisher is there also when the actor has ended. */
	weir_actor_ref(&self->actor);
	if (n == 0)
		weir_actor_signal(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	return &self->reactive.publisher;
}

static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	return make(factory, n, 0);
}

static struct weir_publisher *create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	return make(factory, n, -EIO);
}

/* One that has failed before anybody has subscribed. */
static struct weir_publisher *create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct weir_publisher *publisher = make(factory, 0, -EIO);

	assert_int_equal(weir_test_settle(&factory->env), 0);
	return publisher;
}

static void release(struct weir_publisher_factory *factory,
		    struct weir_publisher *publisher)
{
	struct making *self =
		weir_container_of(publisher, struct making, reactive.publisher);

	weir_actor_stop(&self->actor);
	weir_actor_unref(&self->actor);
}

/* --- Tests ---------------------------------------------------------------- */

static void verify_kind(struct place *place, enum kind kind)
{
	struct maker maker = {
		.base.publisher =
			{
				.create = create,
				.create_failing = create_failing,
				.create_rejecting = create_rejecting,
				.release = release,
				.max_subscribers = many(kind) ? 0 : 1,
				.multicast = many(kind) && kind != BALANCE,
			},
		.kind = kind,
	};
	char name[32];

	snprintf(name, sizeof(name), "kind %d", (int)kind);
	verify_publisher(&maker.base, place, name, 40);
}

static void verify_all(struct place *place)
{
	for (enum kind kind = ONE; kind < N_KINDS; kind++)
		verify_kind(place, kind);
}

int main(void)
{
	const struct suite suite = {"out_ports_keep", verify_all,
				    test_count(10), test_count(20)};

	return verify_everywhere(&suite, 1);
}
