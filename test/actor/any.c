/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports of which one is enough. */
#include "actor/kit.h"

/* Input or timer, whichever comes first. */
struct either {
	struct weir_actor actor;
	struct weir_any any;
	struct weir_in in;
	struct weir_delay delay;
	uint32_t tokens, timeouts, nothing;
};

static inline int either_turn(struct weir_actor *actor)
{
	struct either *self = weir_container_of(actor, struct either, actor);

	if (weir_in_count(&self->in)) {
		weir_in_take(&self->in);
		self->tokens++;
	} else if (weir_port_ready(&self->delay.port)) {
		self->timeouts++;
		return weir_delay_for(&self->delay, 100);
	} else {
		self->nothing++;
	}
	return 0;
}
WEIR_TURN(either_turn)

static const struct weir_actor_ops either_ops = {.turns = either_turn_n};

static void either_init(struct either *self, struct weir_sim *sim)
{
	memset(self, 0, sizeof(*self));
	weir_actor_init(&self->actor, &either_ops, weir_sim_executor(sim));
	assert_int_equal(weir_any_init(&self->any, &self->actor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, 4, NULL), 0);
	assert_int_equal(weir_delay_init(&self->delay, &self->actor), 0);
	assert_int_equal(weir_any_add(&self->any, &self->in.port), 0);
	assert_int_equal(weir_any_add(&self->any, &self->delay.port), 0);
}

static void any_fires_when_one_of_its_members_is_unblocked(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct either either;

	either_init(&either, sim);
	assert_int_equal(weir_delay_for(&either.delay, 100), 0);
	assert_int_equal(weir_actor_start(&either.actor), 0);
	weir_sim_run_until(sim, 50, UINT64_MAX);
	assert_true(weir__actor_check(&either.actor));
	assert_int_equal(weir_in_put(&either.in, NULL), 0);
	weir_sim_run_until(sim, 99, UINT64_MAX);
	assert_int_equal(either.tokens, 1);
	assert_int_equal(either.timeouts, 0);
	weir_sim_run_until(sim, 350, UINT64_MAX);
	assert_int_equal(either.timeouts, 3);
	assert_int_equal(either.nothing, 0);
	assert_true(weir__actor_check(&either.actor));
	weir_actor_stop(&either.actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static void misuse_of_any_is_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct either one, two;
	struct weir_any other;

	either_init(&one, sim);
	either_init(&two, sim);
	assert_int_equal(weir_any_init(NULL, &one.actor), -EINVAL);
	assert_int_equal(weir_any_add(NULL, &one.in.port), -EINVAL);
	assert_int_equal(weir_any_add(&one.any, NULL), -EINVAL);
	assert_int_equal(weir_any_add(&one.any, &one.in.port), -EINVAL);
	assert_int_equal(weir_any_add(&one.any, &two.in.port), -EINVAL);
	assert_int_equal(weir_any_init(&other, &one.actor), 0);
	assert_int_equal(weir_any_add(&one.any, &other.port), -EINVAL);
	assert_int_equal(weir_port_ignore(&one.in.port), -EINVAL);
	weir_actor_stop(&one.actor);
	weir_actor_stop(&two.actor);
	sim_free(sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			any_fires_when_one_of_its_members_is_unblocked),
		cmocka_unit_test(misuse_of_any_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
