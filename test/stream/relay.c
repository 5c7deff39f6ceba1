/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands between an out-port and its subscribers when the stream fails:
 * each has all that it has requested, in order, and then the error, whatever it
 * has requested and whoever else is there. Nothing settles between the items
 * and the error.
 */
#include "stream/verify.h"

#define ROOM 128 /* of the in-port, and of the fan */
#define MANY 3
#define SEEDS 100

/* An actor that passes items on, and those behind it. */
struct passing {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
	struct weir_publisher_probe *front;
	struct weir_subscriber_probe *behind[MANY];
	struct goods goods;
	struct place *place;
	struct weir_error *error;
	int n; /* subscribers */
};

static inline int passing_turn(struct weir_actor *actor)
{
	struct passing *self = weir_container_of(actor, struct passing, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(passing_turn)

static const struct weir_actor_ops passing_ops = {.turns = passing_turn_n};

static void settle(struct passing *self)
{
	assert_int_equal(weir_test_settle(&self->place->env), 0);
}

static void passing_init(struct passing *self, struct place *place,
			 uint32_t burst, int n)
{
	const struct weir_items *items = &self->goods.items;

	*self = (struct passing){.place = place, .n = n};
	goods_init(&self->goods);
	self->error = weir_error_format(-EIO, "test", "on purpose");
	assert_int_equal(weir_actor_init(&self->actor, &passing_ops,
					 place->executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, ROOM, items), 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor, items), 0);
	assert_int_equal(weir_port_set_burst(&self->out.port, burst), 0);
	if (n > 1)
		assert_int_equal(
			weir_out_fan(&self->out, WEIR_FAN_BROADCAST, ROOM), 0);
	assert_int_equal(
		weir_reactive_in_init(&self->reactive_in, &self->in, NULL), 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive_out, &self->out,
						NULL),
			 0);
	weir_actor_ref(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void passing_join(struct passing *self)
{
	assert_int_equal(weir_publisher_probe_new(&self->front,
						  &self->place->env,
						  &self->goods.items),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(weir_publisher_probe_base(self->front),
					 &self->reactive_in.subscriber),
		0);
	for (int i = 0; i < self->n; i++) {
		assert_int_equal(weir_subscriber_probe_new(&self->behind[i],
							   &self->place->env,
							   NULL),
				 0);
		assert_int_equal(
			weir_publisher_subscribe(
				&self->reactive_out.publisher,
				weir_subscriber_probe_base(self->behind[i])),
			0);
	}
	settle(self);
}

static void passing_send(struct passing *self, int n, struct weir_error *error)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(
			weir_publisher_probe_send(self->front,
						  goods_make(&self->goods, i)),
			0);
	if (error)
		assert_int_equal(weir_publisher_probe_error(self->front, error),
				 0);
	else
		assert_int_equal(weir_publisher_probe_complete(self->front), 0);
	settle(self);
}

static void passing_fini(struct passing *self)
{
	for (int i = 0; i < self->n; i++)
		assert_int_equal(weir_subscriber_probe_free(self->behind[i]),
				 0);
	settle(self);
	weir_actor_unref(&self->actor);
	settle(self);
	assert_int_equal(weir_publisher_probe_free(self->front), 0);
	weir_error_unref(self->error);
	settle(self);
	assert_int_equal(goods_live(&self->goods), 0);
}

/* It has the first `n` items, and the very error if `failed`. */
static void check(struct passing *self, int i, int64_t n, bool failed)
{
	struct weir_subscriber_probe *probe = self->behind[i];
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(probe);

	assert_int_equal(counts.items, n);
	for (int64_t k = 0; k < n; k++)
		assert_true(goods_is(weir_subscriber_probe_item(probe, k), k));
	assert_int_equal(counts.errors, failed);
	assert_int_equal(counts.completions, 0);
	if (failed)
		assert_ptr_equal(weir_subscriber_probe_error(probe),
				 self->error);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* --- Tests ---------------------------------------------------------------- */

static const int64_t wishes[][MANY] = {
	{1, 0, 1}, {0, 0, 3}, {5, 0, 2}, {100, 1, 0}, {3, INT64_MAX, 70},
};

#define N_WISHES (sizeof(wishes) / sizeof(*wishes))

static void fail_after(struct place *place, int n, uint32_t burst, int n_behind,
		       const int64_t *wish)
{
	struct passing self;

	passing_init(&self, place, burst, n_behind);
	passing_join(&self);
	for (int i = 0; i < n_behind; i++)
		if (wish[i] > 0)
			weir_subscriber_probe_request(self.behind[i], wish[i]);
	settle(&self);
	passing_send(&self, n, self.error);
	for (int i = 0; i < n_behind; i++)
		check(&self, i, least(n, wish[i]), true);
	passing_fini(&self);
}

static void fail_all(struct place *place)
{
	for (size_t i = 0; i < N_WISHES; i++) {
		fail_after(place, 1, 1, MANY, wishes[i]);
		fail_after(place, 4, 1, MANY, wishes[i]);
		fail_after(place, 100, 1, MANY, wishes[i]);
		fail_after(place, 4, 3, 1, wishes[i]);
	}
}

static void each_has_what_it_requested_on_the_simulator(void **state)
{
	struct place place;

	for_each_seed(seed, test_count(SEEDS)) {
		place_sim(&place, seed);
		fail_all(&place);
		place_fini(&place);
	}
}

static void each_has_what_it_requested_on_threads(void **state)
{
	struct place place;

	place_threads(&place);
	for (uint64_t i = 0; i < test_count(4); i++)
		fail_all(&place);
	place_fini(&place);
}

static void a_good_end_stays_behind_what_nobody_requested(void **state)
{
	struct passing self;
	struct place place;

	place_sim(&place, 1);
	passing_init(&self, &place, 1, MANY);
	passing_join(&self);
	weir_subscriber_probe_request(self.behind[0], 4);
	settle(&self);
	passing_send(&self, 3, NULL);
	assert_int_equal(
		weir_subscriber_probe_counts(self.behind[0]).completions, 1);
	check(&self, 1, 0, false);
	weir_subscriber_probe_request(self.behind[1], 2);
	settle(&self);
	check(&self, 1, 2, false);
	for (int i = 1; i < MANY; i++)
		weir_subscriber_probe_request(self.behind[i], 9);
	settle(&self);
	for (int i = 1; i < MANY; i++)
		assert_int_equal(weir_subscriber_probe_counts(self.behind[i])
					 .completions,
				 1);
	passing_fini(&self);
	place_fini(&place);
}

/* Threads request while the stream fails: what comes has no gap. */
static void an_error_meets_requests(void **state)
{
	static const int64_t wish[MANY] = {50, 50, 50};
	struct weir_subscriber_probe_counts counts;
	struct passing self;
	struct place place;

	place_threads(&place);
	for (uint64_t i = 0; i < test_count(200); i++) {
		passing_init(&self, &place, 1, MANY);
		passing_join(&self);
		weir_subscriber_probe_request(self.behind[0], wish[0]);
		for (int k = 0; k < 60; k++)
			assert_int_equal(weir_publisher_probe_send(
						 self.front,
						 goods_make(&self.goods, k)),
					 0);
		for (int k = 1; k < MANY; k++)
			weir_subscriber_probe_request(self.behind[k], wish[k]);
		assert_int_equal(
			weir_publisher_probe_error(self.front, self.error), 0);
		settle(&self);
		for (int k = 0; k < MANY; k++) {
			counts = weir_subscriber_probe_counts(self.behind[k]);
			check(&self, k, least(counts.items, wish[k]), true);
		}
		passing_fini(&self);
	}
	place_fini(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_what_it_requested_on_the_simulator),
		cmocka_unit_test(each_has_what_it_requested_on_threads),
		cmocka_unit_test(a_good_end_stays_behind_what_nobody_requested),
		cmocka_unit_test(an_error_meets_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
