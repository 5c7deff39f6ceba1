/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a system does for very many children: how often it goes to a cell, in
 * all and while it holds its lock. The first grows as their number does, the
 * second not at all. Steps are counted, by the linker's leave, and no time is
 * taken: weir__slots_at() is how every walk goes on. So that every chance to let
 * go of the lock is taken, somebody seems to wait for it all the time, and who
 * lets go calls the kernel, which is also counted here.
 */
#include "support.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <weir/completion.h>
#include <weir/loop.h>
#include <weir/sim.h>

#include "supervision/cell.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* --- Steps ---------------------------------------------------------------- */

static struct weir_system *measured;
static uint64_t steps, here, longest;

struct weir__kin *__real_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot)
{
	if (measured && slots == &measured->slots) {
		steps++;
		here++;
		/* held: somebody waits */
		if (measured->lock.plain.word == 1)
			measured->lock.plain.word = 2;
	}
	return __real_weir__slots_at(slots, slot);
}

long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];
	size_t i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_futex || a[0] != (long)&measured->lock.plain.word)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4],
				      a[5]);
	if (a[1] == FUTEX_WAKE_PRIVATE) {
		if (here > longest)
			longest = here;
		here = 0;
	}
	return 0;
}

/* --- A family ------------------------------------------------------------- */

struct kid {
	struct weir_actor actor;
	struct weir_actor_id ref;
	bool failed;
};

struct family {
	struct weir_sim *sim;
	struct weir_loop *loop; /* the parent's own */
	struct weir_system *system;
	struct weir_actor boss;
	struct weir_actor_ops boss_ops;
	struct weir_lifecycle boss_life;
	struct weir_actor_id ref;
	struct kid *kids, target;
	size_t n, n_restarts, n_notices;
};

static struct family the_family;

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

/* Each fails once. */
static int kid_signalled(struct weir_actor *actor)
{
	struct kid *kid = weir_container_of(actor, struct kid, actor);

	if (kid->failed)
		return 0;
	kid->failed = true;
	return -EIO;
}

static int kid_reset(struct weir_actor *actor)
{
	(void)actor;
	the_family.n_restarts++;
	return 0;
}

static int kid_told(struct weir_actor *actor,
		    const struct weir_terminated *notice)
{
	(void)actor;
	(void)notice;
	the_family.n_notices++;
	return 0;
}

static const struct weir_lifecycle kid_life = {.reset = kid_reset,
					       .terminated = kid_told};
static const struct weir_actor_ops kid_ops = {
	.turns = no_turns,
	.signalled = kid_signalled,
	.lifecycle = &kid_life,
};

static void spawn_kid(struct family *family, struct kid *kid)
{
	assert_int_equal(weir_actor_init(&kid->actor, &kid_ops,
					 weir_sim_executor(family->sim)),
			 0);
	assert_int_equal(weir_system_spawn(family->system, family->ref,
					   &kid->actor, NULL, &kid->ref),
			 0);
	(void)weir_actor_ref(&kid->actor);
}

/* Only a parent that is apart does not answer while the others run. */
static void begin(struct family *family, size_t n,
		  const struct weir_strategy *strategy, bool apart)
{
	struct weir_executor *executor;
	size_t i;

	*family = (struct family){.n = n};
	assert_int_equal(weir_sim_new(&family->sim, 1, NULL), 0);
	executor = weir_sim_executor(family->sim);
	assert_int_equal(weir_system_new(&family->system, executor, &silent),
			 0);
	if (apart) {
		assert_int_equal(weir_loop_new(&family->loop, NULL), 0);
		executor = weir_loop_executor(family->loop);
	}
	family->boss_life.strategy = strategy;
	family->boss_ops = (struct weir_actor_ops){
		.turns = no_turns, .lifecycle = &family->boss_life};
	assert_int_equal(
		weir_actor_init(&family->boss, &family->boss_ops, executor), 0);
	assert_int_equal(weir_system_spawn(family->system, WEIR_ACTOR_ID_NONE,
					   &family->boss, NULL, &family->ref),
			 0);
	family->kids = calloc(n, sizeof(*family->kids));
	assert_non_null(family->kids);
	for (i = 0; i < n; i++)
		spawn_kid(family, &family->kids[i]);
	weir_sim_run(family->sim);
	if (apart)
		(void)weir_loop_run(family->loop, 1000);
}

static void run(struct family *family)
{
	do {
		weir_sim_run(family->sim);
	} while (family->loop && weir_loop_run(family->loop, 1000) > 0);
}

static void end(struct family *family)
{
	size_t i;

	for (i = 0; i < family->n; i++)
		weir_actor_unref(&family->kids[i].actor);
	weir_system_stop(family->system);
	run(family);
	assert_true(
		weir_completion_done(weir_system_terminated(family->system)));
	measured = NULL;
	assert_int_equal(weir_system_free(family->system), 0);
	assert_int_equal(weir_loop_free(family->loop), 0);
	assert_int_equal(weir_sim_free(family->sim), 0);
	free(family->kids);
}

static int children(const struct family *family)
{
	return weir_system_children(family->system, family->ref, NULL, 0);
}

static void all_fail(struct family *family)
{
	size_t i;

	for (i = 0; i < family->n; i++)
		weir_actor_signal(&family->kids[i].actor);
	weir_sim_run(family->sim);
	for (i = 0; i < family->n; i++)
		assert_true(family->kids[i].failed);
}

/* --- What is measured ----------------------------------------------------- */

/* Cells that one holder of the lock goes to: as many, whatever the family. */
#define AT_ONCE (32 * WEIR__PIECE)

struct steps {
	uint64_t all, longest;
};

struct work {
	const char *name;
	struct weir_strategy strategy;
	bool apart;
	void (*run)(struct family *family);
};

static struct steps measure(const struct work *work, size_t n)
{
	struct family *family = &the_family;
	struct steps taken;

	begin(family, n, &work->strategy, work->apart);
	steps = 0;
	here = 0;
	longest = 0;
	measured = family->system;
	work->run(family);
	taken = (struct steps){steps, longest};
	end(family);
	return taken;
}

static void grows_as_the_family_does(const struct work *work)
{
	size_t n = test_soak() ? 1000000 : (size_t)test_count(40000);
	struct steps few = measure(work, n / 4 + 1), many = measure(work, n);

	if (test_soak())
		print_message("%s: %zu children: %g steps each, at most %llu "
			      "with the lock\n",
			      work->name, n, (double)many.all / (double)n,
			      (unsigned long long)many.longest);
	assert_true(few.all > 0);
	assert_true(many.all <= 5 * few.all);
	assert_true(many.longest <= AT_ONCE);
}

/* --- Failures ------------------------------------------------------------- */

static const struct weir_rule restart = {.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_rule stop = {.directive = WEIR_DIRECTIVE_STOP};
static const struct weir_rule escalate = {.directive = WEIR_DIRECTIVE_ESCALATE};
static const struct weir_limit often = {.max = 1000};

static void all_restart(struct family *family)
{
	all_fail(family);
	assert_true(family->n_restarts >= family->n);
	assert_int_equal(children(family), family->n);
}

static void one_for_one(void **state)
{
	grows_as_the_family_does(&(struct work){
		"one for one",
		{.rules = &restart, .n_rules = 1, .each = &often},
		false,
		all_restart,
	});
}

static void nobody_is_left(struct family *family)
{
	all_fail(family);
	run(family);
	assert_int_equal(children(family), 0);
}

static void one_for_one_in_order(void **state)
{
	grows_as_the_family_does(&(struct work){
		"one for one, ordered",
		{.rules = &stop, .n_rules = 1, .ordered = true},
		false,
		nobody_is_left,
	});
}

/* Answered when all have failed, so that one verdict is for all. */
static void all_restart_at_last(struct family *family)
{
	all_fail(family);
	run(family);
	assert_int_equal(family->n_restarts, family->n);
	assert_int_equal(children(family), family->n);
}

static void all_for_one(void **state)
{
	grows_as_the_family_does(&(struct work){
		"all for one",
		{.rules = &restart,
		 .n_rules = 1,
		 .scope = WEIR_SCOPE_ALL_FOR_ONE,
		 .each = &often},
		true,
		all_restart_at_last,
	});
}

static void all_for_one_in_order(void **state)
{
	grows_as_the_family_does(&(struct work){
		"all for one, ordered",
		{.rules = &restart,
		 .n_rules = 1,
		 .scope = WEIR_SCOPE_ALL_FOR_ONE,
		 .ordered = true},
		true,
		all_restart_at_last,
	});
}

/* The first one fails, and with it the rest. */
static void rest_restarts(struct family *family)
{
	weir_actor_signal(&family->kids[0].actor);
	run(family);
	assert_int_equal(family->n_restarts, family->n);
}

static void rest_for_one(void **state)
{
	grows_as_the_family_does(&(struct work){
		"rest for one",
		{.rules = &restart,
		 .n_rules = 1,
		 .scope = WEIR_SCOPE_REST_FOR_ONE},
		false,
		rest_restarts,
	});
}

static void rest_for_one_in_order(void **state)
{
	grows_as_the_family_does(&(struct work){
		"rest for one, ordered",
		{.rules = &restart,
		 .n_rules = 1,
		 .scope = WEIR_SCOPE_REST_FOR_ONE,
		 .ordered = true},
		false,
		rest_restarts,
	});
}

/* Failed as one of them is, the parent restarts: they stop. */
static void all_fail_and_one_escalates(void **state)
{
	grows_as_the_family_does(&(struct work){
		"escalated",
		{.rules = &escalate, .n_rules = 1},
		true,
		nobody_is_left,
	});
}

/* --- Ends ----------------------------------------------------------------- */

static void parent_stops(struct family *family)
{
	all_fail(family);
	assert_int_equal(weir_system_stop_actor(family->system, family->ref),
			 0);
	run(family);
	assert_false(weir_system_is_alive(family->system, family->ref));
}

static void all_have_failed_and_the_parent_stops(void **state)
{
	grows_as_the_family_does(&(struct work){
		"stopped", {.rules = &stop, .n_rules = 1}, true, parent_stops});
}

static void parent_stops_in_order(struct family *family)
{
	assert_int_equal(weir_system_stop_actor(family->system, family->ref),
			 0);
	run(family);
	assert_false(weir_system_is_alive(family->system, family->ref));
}

static void the_parent_stops_them_in_order(void **state)
{
	grows_as_the_family_does(&(struct work){
		"stopped, ordered",
		{.rules = &stop, .n_rules = 1, .ordered = true},
		true,
		parent_stops_in_order,
	});
}

/* By others, who look how many are left. */
static void each_is_stopped(struct family *family)
{
	size_t i;

	all_fail(family);
	for (i = 0; i < family->n; i++) {
		assert_int_equal(weir_system_stop_actor(family->system,
							family->kids[i].ref),
				 0);
		assert_true(children(family) > 0);
	}
	weir_sim_run(family->sim);
	assert_int_equal(children(family), 0);
}

static void all_have_failed_and_are_stopped_by_others(void **state)
{
	grows_as_the_family_does(
		&(struct work){"stopped by others",
			       {.rules = &restart, .n_rules = 1},
			       true,
			       each_is_stopped});
}

/* --- Watchers ------------------------------------------------------------- */

static int watch_target(struct weir_actor *actor)
{
	return weir_actor_watch(actor, the_family.target.ref, NULL);
}

static const struct weir_lifecycle watcher_life = {.pre_start = watch_target,
						   .terminated = kid_told};
static const struct weir_actor_ops watcher_ops = {.turns = no_turns,
						  .lifecycle = &watcher_life};

/* As many again watch one. */
static void all_are_told(struct family *family)
{
	struct kid *watchers = calloc(family->n, sizeof(*watchers));
	size_t i;

	assert_non_null(watchers);
	spawn_kid(family, &family->target);
	for (i = 0; i < family->n; i++) {
		assert_int_equal(
			weir_actor_init(&watchers[i].actor, &watcher_ops,
					weir_sim_executor(family->sim)),
			0);
		assert_int_equal(
			weir_system_spawn(family->system, WEIR_ACTOR_ID_NONE,
					  &watchers[i].actor, NULL, NULL),
			0);
	}
	weir_sim_run(family->sim);
	assert_int_equal(
		weir_system_stop_actor(family->system, family->target.ref), 0);
	weir_sim_run(family->sim);
	assert_int_equal(family->n_notices, family->n);
	weir_actor_unref(&family->target.actor);
	weir_system_stop(family->system);
	weir_sim_run(family->sim);
	free(watchers);
}

static void many_watch_one(void **state)
{
	grows_as_the_family_does(&(struct work){"watchers",
						{.rules = &stop, .n_rules = 1},
						false,
						all_are_told});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_for_one),
		cmocka_unit_test(one_for_one_in_order),
		cmocka_unit_test(all_for_one),
		cmocka_unit_test(all_for_one_in_order),
		cmocka_unit_test(rest_for_one),
		cmocka_unit_test(rest_for_one_in_order),
		cmocka_unit_test(all_fail_and_one_escalates),
		cmocka_unit_test(all_have_failed_and_the_parent_stops),
		cmocka_unit_test(the_parent_stops_them_in_order),
		cmocka_unit_test(all_have_failed_and_are_stopped_by_others),
		cmocka_unit_test(many_watch_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
