/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors: set-up, start, turns, signals, suspension, failure, stop, release. */
#include "actor/firing.h"
#include "actor/kit.h"

#define N 1000

static void a_pipeline_delivers_all_in_order_and_releases_everybody(
	void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	assert_int_equal(pair.sink.ended, 1);
	assert_int_equal(pair.sink.end_code, 0);
	fate_check(&pair.source.fate, 0);
	fate_check(&pair.sink.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

static void an_actor_without_turns_lives_until_it_is_stopped(void **state)
{
	static const struct weir_actor_ops empty;
	struct weir_sim *sim = sim_new(1);
	struct weir_actor actor;

	assert_int_equal(
		weir_actor_init(&actor, &empty, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 1);
	weir_actor_stop(&actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static int failed_with;

static void note_code(struct weir_actor *actor, struct weir_error *error)
{
	failed_with = error->code;
}

static void an_actor_without_turns_fails_when_it_fires(void **state)
{
	static const struct weir_actor_ops ops = {.stopped = note_code};
	struct weir_sim *sim = sim_new(1);
	struct weir_actor actor;
	struct weir_in in;

	assert_int_equal(weir_actor_init(&actor, &ops, weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_in_init(&in, &actor, 1, NULL), 0);
	assert_int_equal(weir_in_put(&in, &in), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	weir_sim_run(sim);
	assert_int_equal(failed_with, -ENOSYS);
	sim_free(sim);
}

static void null_and_incomplete_set_ups_are_errors(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_actor actor, before;

	memset(&actor, 7, sizeof(actor));
	before = actor;
	assert_int_equal(weir_actor_init(NULL, &sink_ops, executor), -EINVAL);
	assert_int_equal(weir_actor_init(&actor, NULL, executor), -EINVAL);
	assert_int_equal(weir_actor_init(&actor, &sink_ops, NULL), -EINVAL);
	assert_memory_equal(&actor, &before, sizeof(actor));
	assert_int_equal(weir_actor_start(NULL), -EINVAL);
	assert_int_equal(weir_actor_end(NULL), -EINVAL);
	assert_int_equal(weir_actor_fail(NULL, weir_error_of(-EIO)), -EINVAL);
	assert_int_equal(weir_actor_become(NULL, NULL, NULL, 0), -EINVAL);
	assert_int_equal(weir_actor_set_stats(NULL, NULL), -EINVAL);
	weir_actor_stop(NULL);
	weir_actor_signal(NULL);
	weir_actor_suspend(NULL);
	weir_actor_resume(NULL);
	weir_actor_unref(NULL);
	assert_null(weir_actor_ref(NULL));
	sim_free(sim);
}

static void starting_twice_is_an_error_also_after_the_end(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	weir_actor_ref(&pair.source.actor);
	pair_start(&pair);
	assert_int_equal(weir_actor_start(&pair.source.actor), -EALREADY);
	weir_sim_run(sim);
	assert_int_equal(weir_actor_start(&pair.source.actor), -EALREADY);
	assert_int_equal(pair.source.fate.released, 0);
	weir_actor_unref(&pair.source.actor);
	assert_int_equal(pair.source.fate.released, 1);
	pair_fini(&pair);
	sim_free(sim);
}

static void calls_for_the_owner_are_refused_to_others(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_error *error = weir_error_of(-EIO);
	struct pair pair;
	struct weir_in in;
	struct weir_out out;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	pair_start(&pair);
	assert_int_equal(weir_actor_end(&pair.source.actor), -EPERM);
	assert_int_equal(weir_actor_fail(&pair.source.actor, error), -EPERM);
	assert_int_equal(weir_actor_become(&pair.source.actor, sink_turns, NULL,
					   0),
			 -EPERM);
	assert_int_equal(weir_port_ignore(&pair.sink.in.port), -EPERM);
	assert_int_equal(weir_port_require(&pair.sink.in.port), -EPERM);
	assert_int_equal(weir_port_set_burst(&pair.sink.in.port, 2), -EPERM);
	assert_int_equal(weir_in_cancel(&pair.sink.in), -EPERM);
	assert_int_equal(weir_out_end(&pair.source.out, NULL), -EPERM);
	assert_int_equal(weir_in_init(&in, &pair.sink.actor, 1, NULL), -EPERM);
	assert_int_equal(weir_out_init(&out, &pair.sink.actor, NULL), -EPERM);
	assert_int_equal(weir_out_link(&pair.source.out, &pair.sink.in),
			 -EPERM);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	pair_fini(&pair);
	sim_free(sim);
}

static void one_never_started_ends_when_stopped(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	weir_actor_stop(&pair.source.actor);
	assert_int_equal(pair.source.fate.stopped, 1);
	/* the sink holds on to it until it has seen the end */
	assert_int_equal(pair.source.fate.released, 0);
	weir_actor_stop(&pair.sink.actor);
	fate_check(&pair.source.fate, -ECANCELED);
	fate_check(&pair.sink.fate, -ECANCELED);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_stop_drops_what_is_queued_and_tells_both_sides(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct ledger ledger;
	struct source source;
	struct stage stage;
	struct sink sink;

	ledger_init(&ledger, N);
	source_init(&source, executor, &ledger, 1, N);
	stage_init(&stage, executor, &ledger, 8);
	sink_init(&sink, executor, &ledger, 8);
	assert_int_equal(weir_out_link(&source.out, &stage.in), 0);
	assert_int_equal(weir_out_link(&stage.out, &sink.in), 0);
	weir_actor_suspend(&stage.actor);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(source.next, 9);
	weir_actor_stop(&stage.actor);
	weir_sim_run(sim);
	assert_int_equal(ledger_dropped(&ledger), 8);
	fate_check(&source.fate, 0);
	fate_check(&stage.fate, -ECANCELED);
	fate_check(&sink.fate, 0);
	assert_int_equal(sink.end_code, -ECANCELED);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void stopping_twice_and_late_calls_are_harmless(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	weir_actor_ref(&pair.sink.actor);
	pair_start(&pair);
	weir_actor_stop(&pair.sink.actor);
	weir_actor_stop(&pair.sink.actor);
	weir_sim_run(sim);
	weir_actor_stop(&pair.sink.actor);
	weir_actor_signal(&pair.sink.actor);
	weir_actor_suspend(&pair.sink.actor);
	weir_actor_resume(&pair.sink.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.fate.stopped, 1);
	assert_int_equal(weir_in_put(&pair.sink.in, (void *)1), -EISCONN);
	weir_actor_unref(&pair.sink.actor);
	fate_check(&pair.sink.fate, -ECANCELED);
	fate_check(&pair.source.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

struct failure {
	struct weir_actor *actor;
	int code, calls;
	char origin[16];
};

static void note_failure(struct weir_actor *actor, struct weir_error *error,
			 void *context)
{
	struct failure *failure = context;

	failure->actor = actor;
	failure->code = error->code;
	failure->calls++;
	snprintf(failure->origin, sizeof(failure->origin), "%s", error->origin);
}

static void a_failed_turn_stops_the_actor_and_is_reported(void **state)
{
	struct failure failure = {0};
	struct weir_executor_options options = {
		.failed = note_failure,
		.context = &failure,
	};
	struct weir_executor *executor;
	struct weir_sim *sim;
	struct pair pair;

	assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
	executor = weir_sim_executor(sim);
	pair_init(&pair, executor, N, 4);
	pair.source.fail_at = 100;
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(failure.calls, 1);
	assert_int_equal(failure.code, -EIO);
	assert_string_equal(failure.origin, "source");
	assert_ptr_equal(failure.actor, &pair.source.actor);
	/* what was put before stands, the error is behind it */
	assert_int_equal(pair.sink.seen, 99);
	assert_int_equal(pair.sink.end_code, -EIO);
	fate_check(&pair.source.fate, -EIO);
	fate_check(&pair.sink.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

static void dropped_cause(void *cause)
{
	++*(int *)cause;
}

struct failing {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_error *error;
};

static inline int failing_turn(struct weir_actor *actor)
{
	struct failing *self = weir_container_of(actor, struct failing, actor);

	assert_int_equal(weir_actor_fail(actor, self->error), 0);
	/* the first failure counts */
	assert_int_equal(weir_actor_fail_code(actor, -ENOMEM), 0);
	return 0;
}
WEIR_TURN(failing_turn)

struct watching {
	struct weir_actor actor;
	struct weir_in in;
	void *cause;
	const char *message;
};

static inline int never(struct weir_actor *actor)
{
	fail_msg("a turn that must not run");
	return 0;
}
WEIR_TURN(never)

static int watching_ended(struct weir_actor *actor, struct weir_in *in,
			  struct weir_error *error)
{
	struct watching *self =
		weir_container_of(actor, struct watching, actor);

	self->cause = error->cause;
	self->message = error->message;
	return weir_actor_end(actor);
}

static void an_error_carries_its_cause_unchanged_and_drops_it_once(void **state)
{
	static const struct weir_actor_ops failing_ops = {
		.turns = failing_turn_n};
	static const struct weir_actor_ops watching_ops = {
		.turns = never_n, .ended = watching_ended};
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct failing failing;
	struct watching watching = {0};
	int drops = 0;

	assert_int_equal(weir_error_new(&failing.error, -EIO, "me", "broken",
					&drops, dropped_cause, NULL),
			 0);
	weir_actor_init(&failing.actor, &failing_ops, executor);
	weir_out_init(&failing.out, &failing.actor, NULL);
	weir_actor_init(&watching.actor, &watching_ops, executor);
	weir_in_init(&watching.in, &watching.actor, 1, NULL);
	assert_int_equal(weir_out_link(&failing.out, &watching.in), 0);
	assert_int_equal(weir_actor_start(&failing.actor), 0);
	assert_int_equal(weir_actor_start(&watching.actor), 0);
	weir_sim_run(sim);
	assert_ptr_equal(watching.cause, &drops);
	assert_string_equal(watching.message, "broken");
	assert_int_equal(drops, 1);
	sim_free(sim);
}

struct signalled {
	struct weir_actor actor;
	struct weir_in in;
	int signals;
};

static int on_signal(struct weir_actor *actor)
{
	weir_container_of(actor, struct signalled, actor)->signals++;
	return 0;
}

static void a_signal_is_handled_while_blocked_and_while_suspended(void **state)
{
	static const struct weir_actor_ops ops = {.turns = never_n,
						  .signalled = on_signal};
	struct weir_sim *sim = sim_new(1);
	struct signalled one = {0};

	weir_actor_init(&one.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&one.in, &one.actor, 1, NULL);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_sim_run(sim);
	assert_true(weir__actor_check(&one.actor));
	weir_actor_signal(&one.actor);
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	assert_int_equal(one.signals, 1);
	weir_actor_suspend(&one.actor);
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	assert_int_equal(one.signals, 2);
	assert_true(weir__actor_check(&one.actor));
	weir_actor_stop(&one.actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static int signal_again(struct weir_actor *actor)
{
	weir_actor_signal(actor);
	return on_signal(actor);
}

/* Each step is a slice; between two of them others have theirs. */
static void an_actor_that_signals_itself_lets_others_run(void **state)
{
	static const struct weir_actor_ops ops = {.turns = never_n,
						  .signalled = signal_again};
	struct weir_sim *sim = sim_new(1);
	struct signalled one = {0};
	struct pair pair;

	weir_actor_init(&one.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&one.in, &one.actor, 1, NULL);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_actor_signal(&one.actor);
	pair_init(&pair, weir_sim_executor(sim), N, 4);
	pair_start(&pair);
	while (pair.sink.seen < N)
		assert_true(weir_sim_step(sim));
	weir_actor_stop(&one.actor);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_suspended_actor_runs_no_turn_until_resumed(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	weir_actor_suspend(&pair.sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, 0);
	assert_int_equal(pair.source.next, 5);
	/* does not nest */
	weir_actor_suspend(&pair.sink.actor);
	weir_actor_resume(&pair.sink.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_signal_is_handled_once(void **state)
{
	static const struct weir_actor_ops ops = {.turns = never_n,
						  .signalled = on_signal};
	struct weir_sim *sim = sim_new(1);
	struct signalled one = {0};

	weir_actor_init(&one.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&one.in, &one.actor, 1, NULL);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	/* another signal, which is not for the handler */
	weir__actor_signal(&one.actor, WEIR__SIGNAL_PORTS);
	weir_sim_run(sim);
	assert_int_equal(one.signals, 1);
	weir_actor_stop(&one.actor);
	weir_sim_run(sim);
	sim_free(sim);
}

struct miscounting {
	struct weir_actor actor;
	struct weir_in in;
	uint32_t turns;
};

/* Says that it has run none, or more than it was asked for. */
static uint32_t miscount(struct weir_actor *actor, uint32_t n)
{
	struct miscounting *self =
		weir_container_of(actor, struct miscounting, actor);

	(void)weir_in_take(&self->in);
	return self->turns++ & 1 ? 0 : n + 1000;
}

static void a_turns_function_that_counts_wrong_upsets_nothing(void **state)
{
	static const struct weir_actor_ops ops = {.turns = miscount};
	struct weir_sim *sim = sim_new(1);
	struct miscounting one = {0};
	struct weir_stats stats = {0};
	int i;

	weir_actor_init(&one.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&one.in, &one.actor, 4, NULL);
	weir_actor_set_stats(&one.actor, &stats);
	for (i = 0; i < 4; i++)
		assert_int_equal(weir_in_put(&one.in, NULL), 0);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(one.turns, 4);
	assert_true(stats.turns >= 4 && stats.turns <= 10);
	assert_true(weir__actor_check(&one.actor));
	weir_actor_stop(&one.actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static void statistics_count_turns_tokens_and_waiting(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_stats source = {0}, sink = {0}, copy;
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	assert_int_equal(weir_actor_set_stats(&pair.source.actor, &source), 0);
	assert_int_equal(weir_actor_set_stats(&pair.sink.actor, &sink), 0);
	pair_start(&pair);
	weir_sim_run(sim);
	weir_stats_read(&source, &copy);
	assert_int_equal(copy.turns, N);
	assert_int_equal(copy.put, N);
	assert_int_equal(copy.taken, 0);
	weir_stats_read(&sink, &copy);
	assert_int_equal(copy.turns, N);
	assert_int_equal(copy.taken, N);
	assert_true(copy.slices >= 1 && copy.slices <= N + 2);
	pair_fini(&pair);
	sim_free(sim);
}

static void an_actor_with_one_in_port_fits_into_192_bytes(void **state)
{
	assert_true(sizeof(struct weir_actor) + sizeof(struct weir_in) <= 192);
}

static void released_comes_last_whoever_holds_on(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), 3, 4);
	weir_actor_ref(&pair.sink.actor);
	weir_actor_ref(&pair.sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.fate.stopped, 1);
	assert_int_equal(weir_sim_free(sim), -EBUSY);
	weir_actor_unref(&pair.sink.actor);
	assert_int_equal(pair.sink.fate.released, 0);
	weir_actor_unref(&pair.sink.actor);
	fate_check(&pair.sink.fate, 0);
	pair_fini(&pair);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_pipeline_delivers_all_in_order_and_releases_everybody),
		cmocka_unit_test(
			an_actor_without_turns_lives_until_it_is_stopped),
		cmocka_unit_test(an_actor_without_turns_fails_when_it_fires),
		cmocka_unit_test(null_and_incomplete_set_ups_are_errors),
		cmocka_unit_test(starting_twice_is_an_error_also_after_the_end),
		cmocka_unit_test(calls_for_the_owner_are_refused_to_others),
		cmocka_unit_test(one_never_started_ends_when_stopped),
		cmocka_unit_test(
			a_stop_drops_what_is_queued_and_tells_both_sides),
		cmocka_unit_test(stopping_twice_and_late_calls_are_harmless),
		cmocka_unit_test(a_failed_turn_stops_the_actor_and_is_reported),
		cmocka_unit_test(
			an_error_carries_its_cause_unchanged_and_drops_it_once),
		cmocka_unit_test(
			a_signal_is_handled_while_blocked_and_while_suspended),
		cmocka_unit_test(an_actor_that_signals_itself_lets_others_run),
		cmocka_unit_test(a_suspended_actor_runs_no_turn_until_resumed),
		cmocka_unit_test(a_signal_is_handled_once),
		cmocka_unit_test(
			a_turns_function_that_counts_wrong_upsets_nothing),
		cmocka_unit_test(statistics_count_turns_tokens_and_waiting),
		cmocka_unit_test(an_actor_with_one_in_port_fits_into_192_bytes),
		cmocka_unit_test(released_comes_last_whoever_holds_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
