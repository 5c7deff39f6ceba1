/* SPDX-License-Identifier: BSD-2-Clause */
/* The other ports: semaphore, delay, descriptor, any. */
#include "actor/kit.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

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

/* Reads a pipe until it is empty or at its end. */
struct reader {
	struct weir_actor actor;
	struct weir_fd fd;
	size_t bytes, turns;
	bool ended;
};

static inline int reader_turn(struct weir_actor *actor)
{
	struct reader *self = weir_container_of(actor, struct reader, actor);
	char buffer[3];
	ssize_t n = read(self->fd.watch.fd, buffer, sizeof(buffer));

	self->turns++;
	if (n > 0) {
		self->bytes += (size_t)n;
		return 0;
	}
	if (n < 0)
		return errno == EAGAIN ? weir_fd_again(&self->fd) : -errno;
	self->ended = true;
	return weir_actor_end(actor);
}
WEIR_TURN(reader_turn)

static const struct weir_actor_ops reader_ops = {.turns = reader_turn_n};

static void a_descriptor_unblocks_when_it_is_ready(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	size_t turns;
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	assert_int_equal(
		weir_fd_init(&reader.fd, &reader.actor, ends[0], POLLIN), 0);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.turns, 0);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	weir_sim_run(sim);
	assert_int_equal(reader.bytes, 10);
	turns = reader.turns;
	weir_sim_run(sim);
	assert_int_equal(reader.turns, turns);
	assert_int_equal(write(ends[1], "ab", 2), 2);
	weir_sim_run(sim);
	assert_int_equal(reader.bytes, 12);
	close(ends[1]);
	weir_sim_run(sim);
	assert_true(reader.ended);
	close(ends[0]);
	sim_free(sim);
}

static void an_actor_that_waits_for_a_descriptor_can_be_stopped(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	weir_fd_init(&reader.fd, &reader.actor, ends[0], POLLIN);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.actor.refs, 2);
	/* it may be looked at meanwhile */
	weir_actor_signal(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 1);
	assert_int_equal(reader.actor.refs, 2);
	weir_actor_stop(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 0);
	close(ends[0]);
	close(ends[1]);
	sim_free(sim);
}

static void descriptors_that_cannot_be_waited_for_are_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	char name[] = "/tmp/weir-test-XXXXXX";
	int file = mkstemp(name);

	assert_true(file >= 0);
	unlink(name);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	assert_int_equal(weir_fd_init(NULL, &reader.actor, 0, POLLIN), -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, 0, 0),
			 -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, 0, POLLPRI),
			 -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, -1, POLLIN),
			 -EBADF);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, file, POLLIN),
			 -EPERM);
	assert_null(reader.actor.ports);
	close(file);
	sim_free(sim);
}

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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_actor_runs_once_for_each_permit),
		cmocka_unit_test(a_debt_is_repaid_first),
		cmocka_unit_test(a_burst_of_permits_is_waited_for),
		cmocka_unit_test(permits_saturate_and_are_never_used_up_then),
		cmocka_unit_test(misuse_of_a_semaphore_is_refused),
		cmocka_unit_test(set_replaces_the_permits_and_looks_again),
		cmocka_unit_test(a_delay_unblocks_at_its_time_and_not_before),
		cmocka_unit_test(a_delay_set_to_the_past_unblocks_at_once),
		cmocka_unit_test(a_delay_holds_its_actor_only_while_armed),
		cmocka_unit_test(
			an_executor_without_timers_and_watches_says_so),
		cmocka_unit_test(a_descriptor_unblocks_when_it_is_ready),
		cmocka_unit_test(
			an_actor_that_waits_for_a_descriptor_can_be_stopped),
		cmocka_unit_test(
			descriptors_that_cannot_be_waited_for_are_refused),
		cmocka_unit_test(
			any_fires_when_one_of_its_members_is_unblocked),
		cmocka_unit_test(misuse_of_any_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
