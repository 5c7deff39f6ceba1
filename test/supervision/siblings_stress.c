/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only threads can do to a group that restarts: its supervisor answers one
 * failure while a child begins anew because of another. The moment is made, not
 * waited for: the child's hook does not return before.
 */
#include "kit/world.h"

#include <sched.h>
#include <string.h>

#include <weir/completion.h>
#include <weir/threads.h>

#include "supervision/cell.h"
#include "supervision/child.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

struct member {
	struct weir_actor actor;
	struct weir_actor_id ref;
	uint32_t restarts; /* its own slices' */
};

static struct weir_system *systm;
static struct member parent, first, second;
static struct weir_completion begun, released;
static uint32_t n_released;

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static int first_begins(struct weir_actor *actor, struct weir_error *cause)
{
	(void)actor;
	(void)cause;
	first.restarts++;
	return 0;
}

static bool is_in_line(const struct weir_actor *actor)
{
	bool held = weir__enter(&systm->lock);
	bool in_line = weir__part_in_line(weir__cell_of(actor)->part);

	weir__leave(&systm->lock, held);
	return in_line;
}

/* The first time the other one fails meanwhile, and is answered. */
static int second_begins(struct weir_actor *actor, struct weir_error *cause)
{
	(void)cause;
	if (++second.restarts == 2)
		return weir_completion_complete(&begun, NULL);
	assert(weir_system_kill(systm, first.ref) == 0);
	while (!is_in_line(actor))
		sched_yield();
	return 0;
}

/* If it ends without that, nobody waits for ever. */
static void second_stopped(struct weir_actor *actor, struct weir_error *error)
{
	(void)actor;
	(void)error;
	(void)weir_completion_complete(&begun, NULL);
}

static void member_released(struct weir_actor *actor)
{
	(void)actor;
	if (ck_pr_faa_32(&n_released, 1) == 2)
		(void)weir_completion_complete(&released, NULL);
}

static const struct weir_rule restart = {.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_strategy strategy = {
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.rules = &restart,
	.n_rules = 1,
	.ordered = true,
};

static const struct weir_lifecycle parent_life = {.strategy = &strategy};
static const struct weir_lifecycle first_life = {.post_restart = first_begins};
static const struct weir_lifecycle second_life = {
	.post_restart = second_begins};

static const struct weir_actor_ops parent_ops = {
	.turns = no_turns,
	.released = member_released,
	.lifecycle = &parent_life,
};
static const struct weir_actor_ops first_ops = {
	.turns = no_turns,
	.released = member_released,
	.lifecycle = &first_life,
};
static const struct weir_actor_ops second_ops = {
	.turns = no_turns,
	.stopped = second_stopped,
	.released = member_released,
	.lifecycle = &second_life,
};

static void add(struct member *member, const struct weir_actor_ops *ops,
		struct weir_actor_id to)
{
	memset(member, 0, sizeof(*member));
	assert_int_equal(weir_actor_init(&member->actor, ops, systm->executor),
			 0);
	assert_int_equal(weir_system_spawn(systm, to, &member->actor, NULL,
					   &member->ref),
			 0);
}

static void one_round(void)
{
	n_released = 0;
	assert_int_equal(weir_completion_init(&begun), 0);
	assert_int_equal(weir_completion_init(&released), 0);
	add(&parent, &parent_ops, WEIR_ACTOR_ID_NONE);
	add(&first, &first_ops, parent.ref);
	add(&second, &second_ops, parent.ref);
	assert_int_equal(weir_system_kill(systm, second.ref), 0);
	assert_int_equal(weir_completion_wait(&begun, WEIR_FOREVER), 0);
	assert_true(weir_system_is_alive(systm, second.ref));
	assert_int_equal(weir_system_stop_actor(systm, parent.ref), 0);
	assert_int_equal(weir_completion_wait(&released, WEIR_FOREVER), 0);
	assert_int_equal(first.restarts, 2);
	assert_int_equal(second.restarts, 2);
	assert_int_equal(weir_completion_fini(&begun), 0);
	assert_int_equal(weir_completion_fini(&released), 0);
}

static struct weir_completion all_ended;

static void drained(struct weir_ending *drain)
{
	(void)drain;
	(void)weir_completion_complete(&all_ended, NULL);
}

static void d1_4_who_begins_anew_may_have_to_once_more(void **state)
{
	const struct weir_threads_options options = {.workers = 3};
	struct weir_ending drain = {.done = drained};
	uint64_t n = test_count(500);
	struct weir_threads *threads;

	(void)state;
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	assert_int_equal(weir_system_new(&systm, weir_threads_executor(threads),
					 &silent),
			 0);
	while (n-- > 0)
		one_round();
	end_system(systm);
	assert_int_equal(weir_completion_init(&all_ended), 0);
	assert_int_equal(weir_executor_end_async(weir_threads_executor(threads),
						 &drain, WEIR_FOREVER),
			 0);
	assert_int_equal(weir_completion_wait(&all_ended, WEIR_FOREVER), 0);
	assert_int_equal(weir_completion_fini(&all_ended), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(d1_4_who_begins_anew_may_have_to_once_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
