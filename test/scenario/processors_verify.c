/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processors, actors with a subscriber over their in-port and a publisher over
 * their out-port, are held to the rules, on all executors.
 */
#include "stream/verify.h"

#include <weir/weir.h>

#define IN 8
#define OUT 4 /* items a turn may be ahead of its subscribers */
#define STAGES 3

/* Kinds of processors. */
enum kind {
	ONE,	    /* for one subscriber */
	RECOVERING, /* to which an error is as good an end as any */
	BROADCAST,  /* for many, all get every item */
	BALANCE,    /* for many, each item goes to one of them */
	LINKED,	    /* three in a row, joined by links */
	OFFERED,    /* the same, subscribed to each other as they run */
	REQUESTING, /* the same, with requests between them */
	N_KINDS,
};

struct maker {
	struct base base;
	enum kind kind;
};

/* Passes every item on. */
struct passing {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
	struct row *row;
};

/* What is verified. */
struct row {
	struct passing stages[STAGES];
	struct maker *maker;
	size_t n;
	uint32_t left; /* stages that are not released; any thread */
};

static struct passing *passing_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct passing, actor);
}

static inline int passing_turn(struct weir_actor *actor)
{
	struct passing *self = passing_of(actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(passing_turn)

static int passing_ended(struct weir_actor *actor, struct weir_in *in,
			 struct weir_error *error)
{
	struct passing *self = passing_of(actor);

	if (error && self->row->maker->kind != RECOVERING)
		return weir_actor_fail(actor, weir_error_ref(error));
	return weir_actor_end(actor);
}

static void passing_released(struct weir_actor *actor)
{
	struct row *row = passing_of(actor)->row;

	/* Both ways, as the last one frees what the others have used. */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&row->left, (uint32_t)-1) != 1)
		return;
	ck_pr_fence_acquire();
	ck_pr_dec_32(&row->maker->base.alive);
	free(row);
}

static const struct weir_actor_ops passing_ops = {
	.name = "passing",
	.turns = passing_turn_n,
	.ended = passing_ended,
	.released = passing_released,
};

/* --- The factory ---------------------------------------------------------- */

static struct maker *maker_of(struct weir_processor_factory *factory)
{
	return weir_container_of(factory, struct maker, base.processor);
}

static void fan_out(struct passing *self, enum kind kind)
{
	if (kind == BROADCAST)
		assert_int_equal(
			weir_out_fan(&self->out, WEIR_FAN_BROADCAST, OUT), 0);
	if (kind == BALANCE)
		assert_int_equal(
			weir_out_fan(&self->out, WEIR_FAN_BALANCE, OUT), 0);
}

static void set_up(struct passing *self, struct row *row)
{
	struct maker *maker = row->maker;
	bool many = maker->kind == BROADCAST || maker->kind == BALANCE;
	const struct weir_reactive_out_options ahead = {
		.capacity = many ? 0 : OUT,
	};
	const struct weir_reactive_in_options requests = {.prefetch = 5};

	self->row = row;
	assert_int_equal(weir_actor_init(&self->actor, &passing_ops,
					 maker->base.place->executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, IN,
				      &maker->base.goods.items),
			 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor,
				       &maker->base.goods.items),
			 0);
	fan_out(self, maker->kind);
	assert_int_equal(weir_reactive_in_init(
				 &self->reactive_in, &self->in,
				 maker->kind == REQUESTING ? &requests : NULL),
			 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive_out, &self->out,
						&ahead),
			 0);
}

static void join(struct row *row)
{
	for (size_t i = 1; i < row->n; i++)
		assert_int_equal(
			weir_publisher_subscribe(
				&row->stages[i - 1].reactive_out.publisher,
				&row->stages[i].reactive_in.subscriber),
			0);
}

static struct weir_processor create(struct weir_processor_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct row *row = calloc(1, sizeof(*row));

	assert_non_null(row);
	row->maker = maker;
	row->n = row->left = maker->kind >= LINKED ? STAGES : 1;
	for (size_t i = 0; i < row->n; i++)
		set_up(&row->stages[i], row);
	if (maker->kind == LINKED)
		join(row);
	ck_pr_inc_32(&maker->base.alive);
	/* Both sides are there also when the actors have ended. */
	for (size_t i = 0; i < row->n; i++) {
		weir_actor_ref(&row->stages[i].actor);
		assert_int_equal(weir_actor_start(&row->stages[i].actor), 0);
	}
	if (maker->kind > LINKED)
		join(row);
	return (struct weir_processor){
		.subscriber = &row->stages[0].reactive_in.subscriber,
		.publisher = &row->stages[row->n - 1].reactive_out.publisher,
	};
}

static void release(struct weir_processor_factory *factory,
		    struct weir_processor processor)
{
	struct row *row = weir_container_of(processor.subscriber,
					    struct passing,
					    reactive_in.subscriber)
				  ->row;

	for (size_t i = row->n; i-- > 0;) /* it is gone after the last one */
		weir_actor_unref(&row->stages[i].actor);
}

/* --- Tests ---------------------------------------------------------------- */

static void verify_kind(struct place *place, enum kind kind)
{
	bool many = kind == BROADCAST || kind == BALANCE;
	struct maker maker = {
		.base.processor =
			{
				.create = create,
				.release = release,
				.max_subscribers = many ? 0 : 1,
				.buffer = (kind >= LINKED ? STAGES : 1) *
					  (IN + OUT),
				.multicast = kind == BROADCAST,
				.recovers = kind == RECOVERING,
			},
		.kind = kind,
	};
	char name[32];

	snprintf(name, sizeof(name), "kind %d", (int)kind);
	verify_processor(&maker.base, place, name, 70);
}

static void verify_all(struct place *place)
{
	for (enum kind kind = ONE; kind < N_KINDS; kind++)
		verify_kind(place, kind);
}

int main(void)
{
	const struct suite suite = {"actors_keep", verify_all, test_count(10),
				    1};

	return verify_everywhere(&suite, 1);
}
