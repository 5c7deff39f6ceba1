/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions, latches and joins. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <weir/completion.h>
#include <weir/error.h>
#include <weir/sim.h>

#define MANY 100000

static struct weir_completion completion;
static uint32_t n_done, depth, depth_max;

struct awaiter {
	struct weir_await await;
	uint32_t done, place;
	void *value;
	struct weir_completion *completes; /* in its callback */
	int result;			   /* of that */
};

static void awaiter_done(struct weir_await *await, struct weir_completion *of)
{
	struct awaiter *self = weir_container_of(await, struct awaiter, await);

	if (++depth > depth_max)
		depth_max = depth;
	assert_true(weir_completion_done(of));
	self->done++;
	self->place = ++n_done;
	self->value = weir_completion_value(of);
	if (self->completes)
		self->result =
			weir_completion_complete(self->completes, self->value);
	depth--;
}

static void await(struct weir_completion *of, struct awaiter *awaiter)
{
	awaiter->await.done = awaiter_done;
	assert_int_equal(weir_completion_wait_async(of, &awaiter->await), 0);
}

static void complete(struct weir_completion *of, void *value)
{
	assert_int_equal(weir_completion_complete(of, value), 0);
}

static int setup(void **state)
{
	n_done = depth = depth_max = 0;
	return weir_completion_init(&completion);
}

static int teardown(void **state)
{
	assert_int_equal(weir_completion_fini(&completion), 0);
	return 0;
}

static char value;

static void misuse_is_an_error_and_changes_nothing(void **state)
{
	struct weir_await await = {.done = NULL};
	struct weir_latch latch;
	struct weir_join join;
	struct weir_member member;

	assert_int_equal(weir_completion_init(NULL), -EINVAL);
	assert_int_equal(weir_completion_fini(NULL), -EINVAL);
	assert_int_equal(weir_completion_complete(NULL, NULL), -EINVAL);
	assert_int_equal(weir_completion_fail(NULL, weir_error_of(-EIO)),
			 -EINVAL);
	assert_int_equal(weir_completion_fail(&completion, NULL), -EINVAL);
	assert_int_equal(weir_completion_wait(NULL, 0), -EINVAL);
	assert_int_equal(weir_completion_wait_async(NULL, &await), -EINVAL);
	assert_int_equal(weir_completion_wait_async(&completion, NULL),
			 -EINVAL);
	assert_int_equal(weir_completion_wait_async(&completion, &await),
			 -EINVAL);
	assert_false(weir_completion_cancel(NULL, &await));
	assert_false(weir_completion_cancel(&completion, NULL));
	assert_false(weir_completion_done(NULL));
	assert_false(weir_completion_done(&completion));
	assert_int_equal(weir_latch_init(NULL, 1), -EINVAL);
	assert_int_equal(weir_latch_init(&latch, -1), -EINVAL);
	assert_int_equal(weir_latch_fini(NULL), -EINVAL);
	assert_int_equal(weir_latch_count_down(NULL, 1), -EINVAL);
	assert_int_equal(weir_join_init(NULL, WEIR_JOIN_ALL), -EINVAL);
	assert_int_equal(weir_join_init(&join, (enum weir_join_rule)2),
			 -EINVAL);
	assert_int_equal(weir_join_init(&join, WEIR_JOIN_ALL), 0);
	assert_int_equal(weir_join_add(NULL, &member, &completion), -EINVAL);
	assert_int_equal(weir_join_add(&join, NULL, &completion), -EINVAL);
	assert_int_equal(weir_join_add(&join, &member, NULL), -EINVAL);
	assert_int_equal(weir_join_end(NULL), -EINVAL);
	assert_int_equal(weir_join_cancel(NULL), -EINVAL);
	assert_int_equal(weir_join_fini(NULL), -EINVAL);
	assert_int_equal(weir_join_end(&join), 0);
	assert_int_equal(weir_join_fini(&join), 0);
}

static void the_value_is_there_once_it_is_complete(void **state)
{
	assert_false(weir_completion_done(&completion));
	assert_null(weir_completion_value(&completion));
	complete(&completion, &value);
	assert_true(weir_completion_done(&completion));
	assert_ptr_equal(weir_completion_value(&completion), &value);
	assert_null(weir_completion_error(&completion));
}

static void completing_twice_is_an_error_and_the_first_result_stays(
	void **state)
{
	complete(&completion, &value);
	assert_int_equal(weir_completion_complete(&completion, NULL),
			 -EALREADY);
	assert_int_equal(weir_completion_fail(&completion, weir_error_of(-EIO)),
			 -EALREADY);
	assert_ptr_equal(weir_completion_value(&completion), &value);
	assert_null(weir_completion_error(&completion));
}

static uint32_t causes_dropped;

static void drop_cause(void *cause)
{
	causes_dropped++;
}

static void an_error_is_kept_until_the_end(void **state)
{
	struct weir_error *error;

	assert_int_equal(weir_error_new(&error, -EIO, "test", "broken", &value,
					drop_cause, NULL),
			 0);
	causes_dropped = 0;
	assert_int_equal(weir_completion_fail(&completion, error), 0);
	weir_error_unref(error);
	assert_int_equal(causes_dropped, 0);
	assert_true(weir_completion_done(&completion));
	assert_null(weir_completion_value(&completion));
	assert_int_equal(weir_completion_error(&completion)->code, -EIO);
	assert_int_equal(weir_completion_fini(&completion), 0);
	assert_int_equal(causes_dropped, 1);
}

static void callbacks_come_once_and_in_order(void **state)
{
	struct awaiter awaiters[3] = {{.done = 0}};
	uint32_t i;

	for (i = 0; i < 3; i++)
		await(&completion, &awaiters[i]);
	assert_int_equal(n_done, 0);
	complete(&completion, &value);
	assert_int_equal(weir_completion_complete(&completion, NULL),
			 -EALREADY);
	for (i = 0; i < 3; i++) {
		assert_int_equal(awaiters[i].done, 1);
		assert_int_equal(awaiters[i].place, i + 1);
		assert_ptr_equal(awaiters[i].value, &value);
	}
}

static void a_late_callback_comes_at_once(void **state)
{
	struct awaiter awaiter = {.done = 0};

	complete(&completion, &value);
	await(&completion, &awaiter);
	assert_int_equal(awaiter.done, 1);
	assert_ptr_equal(awaiter.value, &value);
	assert_false(weir_completion_cancel(&completion, &awaiter.await));
}

static void a_cancelled_callback_does_not_come(void **state)
{
	struct awaiter first = {.done = 0}, second = {.done = 0};

	await(&completion, &first);
	await(&completion, &second);
	assert_true(weir_completion_cancel(&completion, &first.await));
	assert_false(weir_completion_cancel(&completion, &first.await));
	complete(&completion, NULL);
	assert_int_equal(first.done, 0);
	assert_int_equal(second.done, 1);
	assert_false(weir_completion_cancel(&completion, &second.await));
}

static void a_callback_may_complete_the_same_one_again_in_vain(void **state)
{
	struct awaiter awaiter = {.completes = &completion};

	await(&completion, &awaiter);
	complete(&completion, NULL);
	assert_int_equal(awaiter.result, -EALREADY);
}

static void a_chain_of_completions_needs_no_stack(void **state)
{
	struct weir_completion *chain = calloc(MANY + 1, sizeof(*chain));
	struct awaiter *awaiters = calloc(MANY, sizeof(*awaiters));
	uint32_t i;

	assert_true(chain && awaiters);
	for (i = 0; i <= MANY; i++)
		assert_int_equal(weir_completion_init(&chain[i]), 0);
	for (i = 0; i < MANY; i++) {
		awaiters[i].completes = &chain[i + 1];
		await(&chain[i], &awaiters[i]);
	}
	complete(&chain[0], &value);
	assert_ptr_equal(weir_completion_value(&chain[MANY]), &value);
	assert_int_equal(depth_max, 1);
	for (i = 0; i <= MANY; i++)
		assert_int_equal(weir_completion_fini(&chain[i]), 0);
	free(chain);
	free(awaiters);
}

static void one_with_waiters_cannot_be_ended(void **state)
{
	struct awaiter awaiter = {.done = 0};

	await(&completion, &awaiter);
	assert_int_equal(weir_completion_fini(&completion), -EBUSY);
	complete(&completion, NULL);
	assert_int_equal(awaiter.done, 1);
}

/* --- Threads and actors ------------------------------------------------- */

static void a_wait_times_out_at_once_and_leaves_nothing_behind(void **state)
{
	assert_int_equal(weir_completion_wait(&completion, 0), -ETIMEDOUT);
	assert_int_equal(weir_completion_fini(&completion), 0);
	complete(&completion, NULL);
	assert_int_equal(weir_completion_wait(&completion, 0), 0);
}

static void *completer(void *arg)
{
	complete(&completion, &value);
	return NULL;
}

static void a_wait_ends_when_another_thread_completes(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, completer, NULL), 0);
	assert_int_equal(weir_completion_wait(&completion, WEIR_FOREVER), 0);
	assert_ptr_equal(weir_completion_value(&completion), &value);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

struct reader {
	struct weir_actor actor;
	struct weir_completion_port port;
	uint32_t turns, released;
	void *value;
	int wait_result;
	bool ignores;
	struct weir_completion *completes;
};

static int reader_turn(struct weir_actor *actor)
{
	struct reader *self = weir_container_of(actor, struct reader, actor);

	self->turns++;
	self->value = weir_completion_value(self->port.completion);
	self->wait_result = weir_completion_wait(self->port.completion, 0);
	if (self->completes)
		complete(self->completes, self->value);
	if (self->ignores)
		return weir_port_ignore(&self->port.port);
	return weir_actor_end(actor);
}
WEIR_TURN(reader_turn)

static void reader_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct reader, actor)->released++;
}

static const struct weir_actor_ops reader_ops = {
	.name = "reader",
	.turns = reader_turn_n,
	.released = reader_released,
};

static struct weir_sim *sim;

static void reader_init(struct reader *self, struct weir_completion *of)
{
	memset(self, 0, sizeof(*self));
	assert_int_equal(weir_actor_init(&self->actor, &reader_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_completion_port_init(NULL, &self->actor, of),
			 -EINVAL);
	assert_int_equal(weir_completion_port_init(&self->port, NULL, of),
			 -EINVAL);
	assert_int_equal(weir_completion_port_init(&self->port, &self->actor,
						   NULL),
			 -EINVAL);
	assert_int_equal(
		weir_completion_port_init(&self->port, &self->actor, of), 0);
}

static int sim_setup(void **state)
{
	setup(state);
	return weir_sim_new(&sim, 1, NULL);
}

static int sim_teardown(void **state)
{
	assert_int_equal(weir_sim_free(sim), 0);
	return teardown(state);
}

static void an_actor_fires_when_it_is_complete(void **state)
{
	struct reader reader;

	reader_init(&reader, &completion);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.turns, 0);
	assert_int_equal(weir_completion_fini(&completion), -EBUSY);
	complete(&completion, &value);
	weir_sim_run(sim);
	assert_int_equal(reader.turns, 1);
	assert_ptr_equal(reader.value, &value);
	assert_int_equal(reader.wait_result, -EDEADLK);
	assert_int_equal(reader.released, 1);
}

static void an_actor_fires_for_one_that_was_complete_before(void **state)
{
	struct reader reader;

	complete(&completion, &value);
	reader_init(&reader, &completion);
	reader.ignores = true;
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.turns, 1);
	weir_actor_stop(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(reader.released, 1);
}

static void an_actor_stopped_while_it_waits_leaves_the_queue(void **state)
{
	struct reader reader;

	reader_init(&reader, &completion);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	weir_actor_stop(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(reader.released, 1);
	assert_int_equal(weir_completion_fini(&completion), 0);
	complete(&completion, NULL);
	assert_int_equal(reader.turns, 0);
}

static void a_thread_that_waits_runs_its_simulator(void **state)
{
	struct weir_completion start;
	struct reader reader;

	assert_int_equal(weir_completion_init(&start), 0);
	reader_init(&reader, &start);
	reader.completes = &completion;
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	assert_int_equal(weir_completion_wait(&completion, WEIR_FOREVER),
			 -EDEADLK);
	assert_int_equal(weir_completion_wait(&completion, 500), -ETIMEDOUT);
	assert_int_equal(weir_executor_now(weir_sim_executor(sim)), 500);
	complete(&start, &value);
	assert_int_equal(weir_completion_wait(&completion, WEIR_FOREVER), 0);
	assert_ptr_equal(weir_completion_value(&completion), &value);
	weir_sim_run(sim);
	assert_int_equal(weir_completion_fini(&start), 0);
}

/* --- Latches ------------------------------------------------------------ */

static void a_latch_completes_when_it_is_counted_down(void **state)
{
	struct weir_latch latch;
	struct awaiter awaiter = {.done = 0};

	assert_int_equal(weir_latch_init(&latch, 3), 0);
	await(&latch.completion, &awaiter);
	assert_int_equal(weir_latch_count_down(&latch, 1), 0);
	assert_int_equal(weir_latch_count(&latch), 2);
	assert_int_equal(weir_latch_count_down(&latch, 3), -ERANGE);
	assert_int_equal(weir_latch_count_down(&latch, 0), -EINVAL);
	assert_int_equal(weir_latch_count_down(&latch, -1), -EINVAL);
	assert_int_equal(weir_latch_count(&latch), 2);
	assert_int_equal(awaiter.done, 0);
	assert_int_equal(weir_latch_count_down(&latch, 2), 0);
	assert_int_equal(awaiter.done, 1);
	assert_int_equal(weir_latch_count_down(&latch, 1), -EALREADY);
	assert_int_equal(weir_latch_fini(&latch), 0);
}

static void a_latch_of_nothing_is_complete(void **state)
{
	struct weir_latch latch;

	assert_int_equal(weir_latch_init(&latch, 0), 0);
	assert_true(weir_completion_done(&latch.completion));
	assert_int_equal(weir_latch_fini(&latch), 0);
}

static void a_latch_can_be_failed_and_counted_down_all_the_same(void **state)
{
	struct weir_latch latch;

	assert_int_equal(weir_latch_init(&latch, 1), 0);
	assert_int_equal(weir_completion_fail(&latch.completion,
					      weir_error_of(-EIO)),
			 0);
	assert_int_equal(weir_latch_count_down(&latch, 1), 0);
	assert_int_equal(weir_completion_error(&latch.completion)->code, -EIO);
	assert_int_equal(weir_latch_fini(&latch), 0);
}

/* --- Joins -------------------------------------------------------------- */

enum { N = 3 };

static struct weir_completion parts[N];
static struct weir_member members[N];
static struct weir_join join;
static struct awaiter joined;

static int join_setup(void **state)
{
	uint32_t i;

	setup(state);
	memset(&joined, 0, sizeof(joined));
	for (i = 0; i < N; i++)
		assert_int_equal(weir_completion_init(&parts[i]), 0);
	return 0;
}

/* Nobody is in the queue of a part any more. */
static int join_teardown(void **state)
{
	uint32_t i;

	assert_int_equal(weir_join_fini(&join), 0);
	for (i = 0; i < N; i++)
		assert_int_equal(weir_completion_fini(&parts[i]), 0);
	return teardown(state);
}

static void add(uint32_t first, uint32_t n)
{
	uint32_t i;

	for (i = first; i < first + n; i++)
		assert_int_equal(weir_join_add(&join, &members[i], &parts[i]),
				 0);
}

static void make(enum weir_join_rule rule, uint32_t n)
{
	assert_int_equal(weir_join_init(&join, rule), 0);
	await(&join.completion, &joined);
	add(0, n);
}

static void close_join(void)
{
	assert_int_equal(weir_join_end(&join), 0);
}

static void all_of_completes_with_the_last(void **state)
{
	make(WEIR_JOIN_ALL, N);
	close_join();
	complete(&parts[1], NULL);
	complete(&parts[0], NULL);
	assert_int_equal(joined.done, 0);
	assert_int_equal(weir_join_fini(&join), -EBUSY);
	complete(&parts[2], NULL);
	assert_int_equal(joined.done, 1);
	assert_null(weir_completion_error(&join.completion));
	assert_null(weir_join_first(&join));
}

static void a_group_does_not_complete_before_a_late_child(void **state)
{
	make(WEIR_JOIN_ALL, 1);
	complete(&parts[0], NULL);
	assert_int_equal(joined.done, 0);
	add(1, 1);
	complete(&parts[1], NULL);
	assert_int_equal(joined.done, 0);
	add(2, 1);
	close_join();
	assert_int_equal(joined.done, 0);
	complete(&parts[2], NULL);
	assert_int_equal(joined.done, 1);
}

static void a_closed_join_takes_no_more(void **state)
{
	make(WEIR_JOIN_ALL, 1);
	close_join();
	assert_int_equal(weir_join_end(&join), -EALREADY);
	assert_int_equal(weir_join_add(&join, &members[1], &parts[1]),
			 -EALREADY);
	complete(&parts[0], NULL);
	assert_int_equal(joined.done, 1);
}

static void all_of_waits_for_all_and_reports_the_first_error(void **state)
{
	make(WEIR_JOIN_ALL, N);
	close_join();
	assert_int_equal(weir_completion_fail(&parts[1], weir_error_of(-EIO)),
			 0);
	assert_int_equal(
		weir_completion_fail(&parts[0], weir_error_of(-ENOENT)), 0);
	assert_int_equal(joined.done, 0);
	complete(&parts[2], NULL);
	assert_int_equal(joined.done, 1);
	assert_int_equal(weir_completion_error(&join.completion)->code, -EIO);
	assert_ptr_equal(weir_join_first(&join), &parts[1]);
}

static void all_of_none_is_complete(void **state)
{
	make(WEIR_JOIN_ALL, 0);
	assert_int_equal(joined.done, 0);
	close_join();
	assert_int_equal(joined.done, 1);
}

static void any_of_completes_with_the_first_and_leaves_the_others(void **state)
{
	make(WEIR_JOIN_ANY, N);
	close_join();
	complete(&parts[1], &value);
	assert_int_equal(joined.done, 1);
	assert_ptr_equal(joined.value, &value);
	assert_ptr_equal(weir_join_first(&join), &parts[1]);
	assert_int_equal(weir_completion_fini(&parts[0]), 0);
	complete(&parts[2], NULL);
	assert_ptr_equal(weir_completion_value(&join.completion), &value);
}

static void any_of_takes_an_error_as_it_takes_a_value(void **state)
{
	make(WEIR_JOIN_ANY, N);
	close_join();
	assert_int_equal(weir_completion_fail(&parts[2], weir_error_of(-EIO)),
			 0);
	assert_int_equal(joined.done, 1);
	assert_int_equal(weir_completion_error(&join.completion)->code, -EIO);
}

static void any_of_decided_before_it_is_closed_completes_then(void **state)
{
	make(WEIR_JOIN_ANY, 1);
	complete(&parts[0], &value);
	assert_int_equal(joined.done, 0);
	add(1, 2);
	close_join();
	assert_int_equal(joined.done, 1);
	assert_ptr_equal(joined.value, &value);
}

static void any_of_none_is_an_error_and_stays_open(void **state)
{
	make(WEIR_JOIN_ANY, 0);
	assert_int_equal(weir_join_end(&join), -EINVAL);
	add(0, 1);
	close_join();
	complete(&parts[0], NULL);
	assert_int_equal(joined.done, 1);
}

static void a_cancelled_join_waits_for_nobody(void **state)
{
	make(WEIR_JOIN_ALL, N);
	close_join();
	complete(&parts[1], NULL);
	assert_int_equal(weir_join_cancel(&join), 0);
	assert_int_equal(joined.done, 1);
	assert_int_equal(weir_completion_error(&join.completion)->code,
			 -ECANCELED);
	assert_int_equal(weir_join_cancel(&join), -EALREADY);
}

static void a_join_cancelled_while_open_completes_when_closed(void **state)
{
	make(WEIR_JOIN_ANY, 2);
	assert_int_equal(weir_join_cancel(&join), 0);
	assert_int_equal(weir_join_cancel(&join), -EALREADY);
	assert_int_equal(joined.done, 0);
	add(2, 1);
	close_join();
	assert_int_equal(joined.done, 1);
	assert_int_equal(weir_completion_error(&join.completion)->code,
			 -ECANCELED);
}

/* When the join is complete nobody touches it: its callback frees it all. */
struct family {
	struct weir_join join;
	struct weir_member members[2];
	struct weir_await await;
};

static void family_done(struct weir_await *await, struct weir_completion *of)
{
	struct family *family = weir_container_of(await, struct family, await);

	n_done++;
	assert_int_equal(weir_join_fini(&family->join), 0);
	memset(family, 0xdd, sizeof(*family));
	free(family);
}

static void frees_itself(enum weir_join_rule rule)
{
	struct family *family = calloc(1, sizeof(*family));
	uint32_t i;

	assert_non_null(family);
	family->await.done = family_done;
	assert_int_equal(weir_join_init(&family->join, rule), 0);
	assert_int_equal(weir_completion_wait_async(&family->join.completion,
						    &family->await),
			 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_join_add(&family->join,
					       &family->members[i], &parts[i]),
				 0);
	assert_int_equal(weir_join_end(&family->join), 0);
}

static void the_callback_of_a_join_may_free_it_and_its_members(void **state)
{
	make(WEIR_JOIN_ALL, 0); /* for the teardown */
	close_join();
	n_done = 0;
	frees_itself(WEIR_JOIN_ANY);
	frees_itself(WEIR_JOIN_ALL);
	complete(&parts[0], NULL);
	assert_int_equal(n_done, 1);
	complete(&parts[1], NULL);
	assert_int_equal(n_done, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SIM_TEST(name) \
	cmocka_unit_test_setup_teardown(name, sim_setup, sim_teardown)
#define JOIN_TEST(name) \
	cmocka_unit_test_setup_teardown(name, join_setup, join_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(misuse_is_an_error_and_changes_nothing),
		TEST(the_value_is_there_once_it_is_complete),
		TEST(completing_twice_is_an_error_and_the_first_result_stays),
		TEST(an_error_is_kept_until_the_end),
		TEST(callbacks_come_once_and_in_order),
		TEST(a_late_callback_comes_at_once),
		TEST(a_cancelled_callback_does_not_come),
		TEST(a_callback_may_complete_the_same_one_again_in_vain),
		TEST(a_chain_of_completions_needs_no_stack),
		TEST(one_with_waiters_cannot_be_ended),
		TEST(a_wait_times_out_at_once_and_leaves_nothing_behind),
		TEST(a_wait_ends_when_another_thread_completes),
		SIM_TEST(an_actor_fires_when_it_is_complete),
		SIM_TEST(an_actor_fires_for_one_that_was_complete_before),
		SIM_TEST(an_actor_stopped_while_it_waits_leaves_the_queue),
		SIM_TEST(a_thread_that_waits_runs_its_simulator),
		TEST(a_latch_completes_when_it_is_counted_down),
		TEST(a_latch_of_nothing_is_complete),
		TEST(a_latch_can_be_failed_and_counted_down_all_the_same),
		JOIN_TEST(all_of_completes_with_the_last),
		JOIN_TEST(a_group_does_not_complete_before_a_late_child),
		JOIN_TEST(a_closed_join_takes_no_more),
		JOIN_TEST(all_of_waits_for_all_and_reports_the_first_error),
		JOIN_TEST(all_of_none_is_complete),
		JOIN_TEST(
			any_of_completes_with_the_first_and_leaves_the_others),
		JOIN_TEST(any_of_takes_an_error_as_it_takes_a_value),
		JOIN_TEST(any_of_decided_before_it_is_closed_completes_then),
		JOIN_TEST(any_of_none_is_an_error_and_stays_open),
		JOIN_TEST(a_cancelled_join_waits_for_nobody),
		JOIN_TEST(a_join_cancelled_while_open_completes_when_closed),
		JOIN_TEST(the_callback_of_a_join_may_free_it_and_its_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
