/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that their replies offer again, between threads: runners keep such
 * offers for a while. Each that was taken is replied to once, whatever comes
 * between: calls that end on another thread, the manager's end, or a runner's.
 */
#include "support.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define CHAINS 64
#define WORKERS 3

enum what { NOTHING, CLOSES, STOPS_RUNNER, STOPS_ALL, WHATS };

struct chain {
	struct weir_command command;
	uint64_t left;		 /* offers to come */
	uint64_t taken, replies; /* its own thread's at each time */
	uint32_t open;		 /* 1 from the offer to the reply */
};

static struct weir_process_manager manager;
static struct weir_actor_id manager_ref;
static struct weir_system *systm;
static struct chain chains[CHAINS];
static struct weir_command *later; /* a call that goes on; atomic */
static uint32_t n_open, n_running, n_released;
static uint64_t n_replies;

static struct chain *chain_of(struct weir_command *command)
{
	return weir_container_of(command, struct chain, command);
}

static void offer(struct chain *chain)
{
	int rc;

	if (chain->left == 0) {
		ck_pr_dec_32(&n_open);
		return;
	}
	chain->left--;
	chain->taken++;
	assert(ck_pr_fas_32(&chain->open, 1) == 0);
	rc = weir_process_manager_offer(&manager, &chain->command);
	if (rc == 0)
		return; /* it is not ours any more */
	assert(rc == -ESHUTDOWN || rc == -ENOBUFS);
	chain->taken--;
	ck_pr_store_32(&chain->open, 0);
	ck_pr_dec_32(&n_open);
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct chain *chain = chain_of(command);

	(void)error;
	assert(outcome == WEIR_OUTCOME_DONE || outcome == WEIR_OUTCOME_REFUSED);
	assert(ck_pr_fas_32(&chain->open, 0) == 1);
	chain->replies++;
	ck_pr_inc_64(&n_replies);
	offer(chain);
}

static void end_later(struct weir_command *next)
{
	struct weir_command *command = ck_pr_fas_ptr(&later, next);

	ck_pr_fence_memory();
	if (command)
		weir_command_end(command, 0);
}

/* Some go on, and are ended by whoever comes next. */
static int call(struct weir_command *command, void *context)
{
	uint64_t left = chain_of(command)->left;

	(void)context;
	assert(ck_pr_faa_32(&n_running, 1) < WORKERS);
	ck_pr_fence_memory();
	if (left % 8 == 1)
		end_later(command);
	else if (left % 8 == 5)
		end_later(NULL);
	ck_pr_dec_32(&n_running);
	return left % 8 == 1 ? WEIR_RUN_LATER : 0;
}

static void released(void *context)
{
	(void)context;
	ck_pr_store_32(&n_released, 1);
}

static void meddle(enum what what)
{
	struct weir_actor_id runners[WORKERS];
	int n;

	switch (what) {
	case CLOSES:
		weir_process_manager_end(&manager);
		break;
	case STOPS_RUNNER:
		n = weir_system_children(systm, manager_ref, runners, WORKERS);
		if (n == WORKERS)
			(void)weir_system_stop_actor(systm, runners[0]);
		break;
	case STOPS_ALL:
		weir_actor_stop(&manager.actor);
		break;
	default:
		break;
	}
}

static void make_manager(struct weir_executor *executor)
{
	struct weir_process_manager_options options = {
		.run = call,
		.runners = WORKERS,
		.max = 24,
		.buffer = CHAINS,
		.released = released,
	};
	int rc = weir_process_manager_init(&manager, executor, &options);

	assert(rc == 0);
	weir_actor_ref(&manager.actor);
	rc = weir_system_spawn(systm, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
			       &manager_ref);
	assert(rc == 0);
}

static void make_chains(uint64_t length)
{
	size_t i;

	memset(chains, 0, sizeof(chains));
	n_open = CHAINS;
	n_released = n_running = 0;
	n_replies = 0;
	later = NULL;
	for (i = 0; i < CHAINS; i++) {
		chains[i].left = length;
		chains[i].command.reply = reply;
	}
	for (i = 0; i < CHAINS; i++)
		offer(&chains[i]);
}

/* Until all chains are over. */
static void go_on(enum what what, uint64_t length)
{
	bool meddled = false;

	while (ck_pr_load_32(&n_open) > 0) {
		if (!meddled && ck_pr_load_64(&n_replies) > length) {
			meddle(what);
			meddled = true;
		}
		end_later(NULL);
		sched_yield();
	}
}

static void check_chains(bool all, uint64_t length)
{
	struct weir_process_counts counts;
	uint64_t taken = 0;
	size_t i;

	for (i = 0; i < CHAINS; i++) {
		assert_int_equal(chains[i].replies, chains[i].taken);
		taken += chains[i].taken;
	}
	weir_process_manager_counts(&manager, &counts);
	assert_int_equal(counts.outcomes[WEIR_OUTCOME_DONE] +
				 counts.outcomes[WEIR_OUTCOME_REFUSED],
			 taken);
	if (all)
		assert_int_equal(counts.outcomes[WEIR_OUTCOME_DONE],
				 CHAINS * length);
}

static void chains_of(enum what what, uint64_t length)
{
	struct weir_threads_options options = {.workers = WORKERS};
	struct weir_threads *threads;
	int rc = weir_threads_new(&threads, &options);

	assert_int_equal(rc, 0);
	rc = weir_system_new(&systm, weir_threads_executor(threads), NULL);
	assert_int_equal(rc, 0);
	make_manager(weir_threads_executor(threads));
	make_chains(length);
	go_on(what, length);
	check_chains(what == NOTHING, length);
	weir_process_manager_end(&manager);
	weir_actor_unref(&manager.actor);
	weir_system_stop(systm);
	rc = weir_completion_wait(weir_system_terminated(systm), WEIR_FOREVER);
	assert_int_equal(rc, 0);
	assert_int_equal(ck_pr_load_32(&n_released), 1);
	assert_int_equal(weir_system_free(systm), 0);
	while (weir_threads_free(threads) != 0)
		sched_yield();
}

static void what_a_reply_offers_is_done(void **state)
{
	(void)state;
	chains_of(NOTHING, test_count(2000));
}

static void each_is_answered_once_however_it_ends(void **state)
{
	uint64_t n = test_count(200), i;

	(void)state;
	for (i = 0; i < n; i++)
		chains_of(CLOSES + i % (WHATS - CLOSES), 1 + i % 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_reply_offers_is_done),
		cmocka_unit_test(each_is_answered_once_however_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
