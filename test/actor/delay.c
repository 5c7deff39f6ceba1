/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that wait for a time. */
#include "actor/kit.h"

#include <poll.h>

/* Runs every `period` ns, `left` times; notes when. */
struct ticker {
	struct weir_actor actor;
	struct weir_delay delay;
	uint64_t period, at[8];
	uint32_t turns, left;
};

static inline int ticker_turn(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, actor);

	self->at[self->turns++ % 8] = weir_executor_now(actor->executor);
	if (self->turns == self->left)
		return weir_actor_end(actor);
	return weir_delay_for(&self->delay, self->period);
}
WEIR_TURN(ticker_turn)

static int ticker_hurry(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, actor);

	return weir_delay_until(&self->delay, 0);
}

static const struct weir_actor_ops ticker_ops = {
	.turns = ticker_turn_n,
	.signalled = ticker_hurry,
};

static void ticker_start(struct ticker *self, struct weir_sim *sim,
			 uint64_t period, uint32_t left)
{
	memset(self, 0, sizeof(*self));
	self->period = period;
	self->left = left;
	weir_actor_init(&self->actor, &ticker_ops, weir_sim_executor(sim));
	assert_int_equal(weir_delay_init(&self->delay, &self->actor), 0);
	assert_int_equal(weir_delay_for(&self->delay, period), 0);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void a_delay_unblocks_at_its_time_and_not_before(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ticker ticker;
	uint32_t i;

	ticker_start(&ticker, sim, 3600ull * 1000000000, 5);
	weir_sim_run(sim);
	assert_int_equal(ticker.turns, 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(ticker.at[i], (i + 1) * 3600ull * 1000000000);
	sim_free(sim);
}

static void a_delay_set_to_the_past_unblocks_at_once(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ticker ticker;

	ticker_start(&ticker, sim, 1000, 1);
	weir_sim_run_until(sim, 500, UINT64_MAX);
	weir_actor_signal(&ticker.actor);
	weir_sim_run(sim);
	assert_int_equal(ticker.at[0], 500);
	sim_free(sim);
}

static void a_delay_holds_its_actor_only_while_armed(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ticker ticker;

	ticker_start(&ticker, sim, 1000, 10);
	weir_sim_run_until(sim, 1500, UINT64_MAX);
	assert_int_equal(ticker.actor.refs, 2);
	weir_actor_stop(&ticker.actor);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 0);
	assert_int_equal(ticker.turns, 1);
	sim_free(sim);
}

static int no_submit(struct weir_executor *executor, struct weir_task *task)
{
	return 0;
}

static uint64_t no_time(struct weir_executor *executor)
{
	return 0;
}

static void an_executor_without_timers_and_watches_says_so(void **state)
{
	static const struct weir_executor_ops ops = {.submit = no_submit,
						     .now = no_time};
	struct weir_executor executor;
	struct ticker ticker = {0};
	struct weir_fd fd;

	assert_int_equal(weir_executor_init(&executor, &ops, NULL), 0);
	weir_actor_init(&ticker.actor, &ticker_ops, &executor);
	assert_int_equal(weir_delay_init(&ticker.delay, &ticker.actor),
			 -ENOTSUP);
	assert_int_equal(weir_fd_init(&fd, &ticker.actor, 0, POLLIN), -ENOTSUP);
	assert_int_equal(weir_executor_fini(&executor), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_delay_unblocks_at_its_time_and_not_before),
		cmocka_unit_test(a_delay_set_to_the_past_unblocks_at_once),
		cmocka_unit_test(a_delay_holds_its_actor_only_while_armed),
		cmocka_unit_test(
			an_executor_without_timers_and_watches_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
