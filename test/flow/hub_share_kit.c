/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/hub_share_kit.h"

struct weir_sim *here, *elsewhere;
struct weir_executor *executor;
struct weir_flow_share *share;
struct weir_semaphore fed; /* a permit for each item of a run */
struct hub_subscriber first, second, late;
int n_started, n_completed, n_failed, n_cancelled, n_ended, n_over;

/* --- What happens to the runs of a share ---------------------------------- */

static void started(void *context)
{
	n_started++;
}

static void completed(void *context)
{
	n_completed++;
}

static void failed(struct weir_error *error, void *context)
{
	n_failed++;
}

static void cancelled(void *context)
{
	n_cancelled++;
}

static void ended(void *context)
{
	n_ended++;
}

const struct weir_flow_peek_functions share_hooks = {
	.started = started,
	.completed = completed,
	.failed = failed,
	.cancelled = cancelled,
	.ended = ended,
};

static void over(struct weir_error *error, void *result, void *context)
{
	assert_null(result);
	assert_ptr_equal(context, &fed);
	n_over++;
}

static const struct weir_flow_run_options run_options = {.done = over,
							 .context = &fed};

/* Its items are 1 to `n`, in each run. */
struct weir_flow *share_source(int64_t n)
{
	struct weir_flow *flow = weir_flow_range(1, n);

	return weir_flow_peek(counted(weir_flow_acquire(flow, &fed)),
			      &share_hooks, NULL);
}

int share_set_up(void **state)
{
	n_live = 0;
	n_started = n_completed = n_failed = n_cancelled = n_ended = n_over = 0;
	here = sim_new(1);
	elsewhere = sim_new(2);
	executor = weir_sim_executor(here);
	assert_int_equal(weir_semaphore_init(&fed, 0), 0);
	return 0;
}

int share_tear_down(void **state)
{
	weir_flow_share_free(share);
	share = NULL;
	assert_int_equal(weir_semaphore_fini(&fed), 0);
	sim_free(here);
	sim_free(elsewhere);
	assert_int_equal(n_live, 0);
	assert_int_equal(n_ended, n_started);
	assert_int_equal(n_ended, n_completed + n_failed + n_cancelled);
	return 0;
}

/* All that can be done now; a wait that spins is found here. */
void share_settle(void)
{
	uint64_t n;

	do {
		n = weir_sim_run_until(here, weir_executor_now(executor), MANY);
		n += weir_sim_run_until(
			elsewhere,
			weir_executor_now(weir_sim_executor(elsewhere)), MANY);
		assert_true(n < MANY);
	} while (n > 0);
}

/* `n` subscribers connect it. */
void share_of_many(struct weir_flow *flow, size_t n, uint64_t linger_ns)
{
	struct weir_flow_share_options options = {.run = run_options,
						  .hub.connect_after = n,
						  .hub.replay = 1,
						  .linger_ns = linger_ns};

	assert_int_equal(weir_flow_share_new(&share, flow, executor, &options),
			 0);
}

void share_of(struct weir_flow *flow, const struct weir_hub_options *options)
{
	struct weir_flow_share_options both = {.run = run_options};

	if (options)
		both.hub = *options;
	assert_int_equal(weir_flow_share_new(&share, flow, executor, &both), 0);
}

void share_pass(uint64_t ns)
{
	(void)weir_sim_run_until(here, weir_executor_now(executor) + ns, MANY);
	share_settle();
}

void share_feed(int64_t n)
{
	assert_int_equal(weir_semaphore_release(&fed, n), 0);
	share_settle();
}

void share_subscribe_on(struct hub_subscriber *which, struct weir_sim *on,
			int64_t permits)
{
	hub_subscriber_take(which, weir_flow_from_share(share),
			    weir_sim_executor(on), permits);
	share_settle();
}

void share_subscribe(struct hub_subscriber *which)
{
	share_subscribe_on(which, here, MANY);
}

void share_leave(struct hub_subscriber *which)
{
	weir_flow_run_stop(which->run.run, NULL);
	share_settle();
	assert_int_equal(hub_subscriber_fini(which), -ECANCELED);
}

void assert_share_over(struct hub_subscriber *which, intptr_t from, intptr_t to,
		       int code)
{
	hub_subscriber_has(which, from, to);
	assert_true(hub_run_is_over(&which->run));
	assert_int_equal(hub_subscriber_fini(which), code);
}
