/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that wait for permits. */
#include "actor/kit.h"

/* Acquires `uses` permits a turn; notes the time of each turn. */
struct worker {
	struct weir_actor actor;
	struct weir_permits permits;
	int64_t uses;
	uint32_t turns;
};

static inline int worker_turn(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);

	self->turns++;
	return weir_permits_use(&self->permits, self->uses);
}
WEIR_TURN(worker_turn)

static const struct weir_actor_ops worker_ops = {.turns = worker_turn_n};

static void worker_start(struct worker *self, struct weir_sim *sim,
			 int64_t permits, uint32_t burst)
{
	memset(self, 0, sizeof(*self));
	self->uses = burst;
	weir_actor_init(&self->actor, &worker_ops, weir_sim_executor(sim));
	assert_int_equal(
		weir_permits_init(&self->permits, &self->actor, permits), 0);
	assert_int_equal(weir_port_set_burst(&self->permits.port, burst), 0);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	weir_sim_run(sim);
}

static void worker_stop(struct worker *self, struct weir_sim *sim)
{
	weir_actor_stop(&self->actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static void an_actor_runs_once_for_each_permit(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, 3, 1);
	assert_int_equal(worker.turns, 3);
	assert_int_equal(weir_permits_release(&worker.permits, 5), 0);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 8);
	assert_true(weir__actor_check(&worker.actor));
	worker_stop(&worker, sim);
}

static void a_debt_is_repaid_first(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, -2, 1);
	assert_int_equal(worker.turns, 0);
	assert_int_equal(weir_permits_release(&worker.permits, 2), 0);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 0);
	/* a turn may use more than there is */
	worker.uses = 10;
	assert_int_equal(weir_permits_release(&worker.permits, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 1);
	assert_int_equal(weir_permits_count(&worker.permits), -9);
	assert_int_equal(weir_permits_release(&worker.permits, 9), 0);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 1);
	worker_stop(&worker, sim);
}

static void a_burst_of_permits_is_waited_for(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, 2, 3);
	assert_int_equal(worker.turns, 0);
	assert_int_equal(weir_permits_release(&worker.permits, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 1);
	worker_stop(&worker, sim);
}

static void permits_saturate_and_are_never_used_up_then(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, -5, 1);
	weir_actor_suspend(&worker.actor);
	assert_int_equal(weir_permits_release(&worker.permits, INT64_MAX), 0);
	assert_int_equal(weir_permits_release(&worker.permits, INT64_MAX), 0);
	assert_int_equal(weir_permits_count(&worker.permits), INT64_MAX);
	weir_actor_resume(&worker.actor);
	weir_sim_run_until(sim, 1, 100);
	assert_true(worker.turns >= 100);
	assert_int_equal(weir_permits_count(&worker.permits), INT64_MAX);
	worker_stop(&worker, sim);
}

static void misuse_of_a_semaphore_is_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, 0, 1);
	assert_int_equal(weir_permits_init(NULL, &worker.actor, 0), -EINVAL);
	assert_int_equal(weir_permits_release(NULL, 1), -EINVAL);
	assert_int_equal(weir_permits_release(&worker.permits, 0), -EINVAL);
	assert_int_equal(weir_permits_release(&worker.permits, -1), -EINVAL);
	assert_int_equal(weir_permits_release(&worker.permits, INT64_MIN),
			 -EINVAL);
	assert_int_equal(weir_permits_use(&worker.permits, 1), -EPERM);
	assert_int_equal(weir_permits_set(&worker.permits, 1), -EPERM);
	assert_int_equal(weir_permits_count(&worker.permits), 0);
	worker_stop(&worker, sim);
}

/* Sets its permits when signalled. */
static int set_four(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);

	assert_int_equal(weir_permits_set(&self->permits, INT64_MIN), -EINVAL);
	return weir_permits_set(&self->permits, 4);
}

static void set_replaces_the_permits_and_looks_again(void **state)
{
	static const struct weir_actor_ops ops = {.turns = worker_turn_n,
						  .signalled = set_four};
	struct weir_sim *sim = sim_new(1);
	struct worker worker;

	worker_start(&worker, sim, 0, 1);
	worker.actor.ops = &ops;
	weir_actor_signal(&worker.actor);
	weir_sim_run(sim);
	assert_int_equal(worker.turns, 4);
	assert_true(weir__actor_check(&worker.actor));
	worker_stop(&worker, sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_actor_runs_once_for_each_permit),
		cmocka_unit_test(a_debt_is_repaid_first),
		cmocka_unit_test(a_burst_of_permits_is_waited_for),
		cmocka_unit_test(permits_saturate_and_are_never_used_up_then),
		cmocka_unit_test(misuse_of_a_semaphore_is_refused),
		cmocka_unit_test(set_replaces_the_permits_and_looks_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
