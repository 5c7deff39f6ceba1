/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The explorer itself, on programs whose outcomes are known: each memory model
 * litmus test in the form that is forbidden (must pass) and in the form that
 * lacks an order (must be found).
 */
#undef NDEBUG
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <ck_ring.h>

#include "base/futex.h"
#include "explorer.h"

/* Words on lines of their own are not needed: the model has no lines. */
static struct words {
	uint32_t x, y, z;
	uint32_t read[4];
	uint32_t plain;
	uint32_t *object;
} words;

#define THREAD(name) static void name(void *context)
#define WORDS(w) \
	struct words *w = context; \
	(void)w

static void name_words(void *context)
{
	explorer_name(context, sizeof(words), "words");
}

static enum explorer_status run(const struct explorer_options *options,
				void (*first)(void *), void (*second)(void *),
				void (*third)(void *), void (*check)(void *),
				struct explorer_result *result)
{
	const struct explorer_scenario scenario = {
		.name = "litmus",
		.setup = name_words,
		.thread = {first, second, third},
		.check = check,
		.context = &words,
		.context_size = sizeof(words),
	};
	struct explorer_options quiet = {0};

	if (options != NULL)
		quiet = *options;
	quiet.quiet = true;
	return explorer_run(&scenario, &quiet, result);
}

static void passes(const struct explorer_options *options,
		   void (*first)(void *), void (*second)(void *),
		   void (*third)(void *), void (*check)(void *))
{
	struct explorer_result result;

	if (run(options, first, second, third, check, &result) !=
	    EXPLORER_PASSED)
		fail_msg("%s\n%s", result.message, result.trace);
	assert_true(result.executions > 0);
}

static void fails(const struct explorer_options *options, void (*first)(void *),
		  void (*second)(void *), void (*third)(void *),
		  void (*check)(void *), const char *message)
{
	struct explorer_result result;

	assert_int_equal(run(options, first, second, third, check, &result),
			 EXPLORER_FAILED);
	if (strstr(result.message, message) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", message, result.message);
}

static const struct explorer_options tso = {.tso = true};

/* Store buffering */

static void check_sb(void *context)
{
	WORDS(w);

	explorer_assert(w->read[0] != 0 || w->read[1] != 0);
}

#define SB(name, write, fence) \
	THREAD(name##_0) \
	{ \
		WORDS(w); \
		write(&w->x, 1); \
		fence; \
		w->read[0] = ck_pr_load_32(&w->y); \
	} \
	THREAD(name##_1) \
	{ \
		WORDS(w); \
		write(&w->y, 1); \
		fence; \
		w->read[1] = ck_pr_load_32(&w->x); \
	}

SB(sb_bare, ck_pr_store_32, )
SB(sb_release, ck_pr_store_32, ck_pr_fence_release())
SB(sb_acqrel, ck_pr_store_32, ck_pr_fence_acqrel())
SB(sb_full, ck_pr_store_32, ck_pr_fence_store_load())
SB(sb_memory, ck_pr_store_32, ck_pr_fence_memory())
SB(sb_exchange, ck_pr_fas_32, )
SB(sb_exchange_acquire, ck_pr_fas_32, ck_pr_fence_acquire())
SB(sb_exchange_store_load, ck_pr_fas_32, ck_pr_fence_store_load())
SB(sb_exchange_load, ck_pr_fas_32, ck_pr_fence_atomic_load())

static void sb_needs_a_fence(void **state)
{
	fails(NULL, sb_bare_0, sb_bare_1, NULL, check_sb, "read[0]");
	fails(NULL, sb_release_0, sb_release_1, NULL, check_sb, "read[0]");
	fails(NULL, sb_acqrel_0, sb_acqrel_1, NULL, check_sb, "read[0]");
	fails(NULL, sb_full_0, sb_bare_1, NULL, check_sb, "read[0]");
	passes(NULL, sb_full_0, sb_full_1, NULL, check_sb);
	passes(NULL, sb_memory_0, sb_full_1, NULL, check_sb);
	passes(NULL, sb_full_0, sb_memory_1, NULL, check_sb);
}

static void exchange_is_no_fence(void **state)
{
	fails(NULL, sb_exchange_0, sb_exchange_1, NULL, check_sb, "read[0]");
	fails(NULL, sb_exchange_acquire_0, sb_exchange_acquire_1, NULL,
	      check_sb, "read[0]");
	/* A fence of stores does not speak of atomics. */
	fails(NULL, sb_exchange_store_load_0, sb_exchange_store_load_1, NULL,
	      check_sb, "read[0]");
	passes(NULL, sb_exchange_load_0, sb_exchange_load_1, NULL, check_sb);
	passes(NULL, sb_exchange_load_0, sb_full_1, NULL, check_sb);
}

/* Message passing */

#define SENDER(name, fence, write) \
	THREAD(name) \
	{ \
		WORDS(w); \
		ck_pr_store_32(&w->x, 1); \
		fence; \
		write(&w->y, 1); \
	}
#define RECEIVER(name, fence) \
	THREAD(name) \
	{ \
		WORDS(w); \
		if (ck_pr_load_32(&w->y) == 0) \
			return; \
		fence; \
		explorer_assert(ck_pr_load_32(&w->x) == 1); \
	}

SENDER(send_bare, , ck_pr_store_32)
SENDER(send_store, ck_pr_fence_store(), ck_pr_store_32)
SENDER(send_release, ck_pr_fence_release(), ck_pr_store_32)
SENDER(send_load, ck_pr_fence_load(), ck_pr_store_32)
SENDER(send_store_by_or, ck_pr_fence_store(), ck_pr_or_32)
SENDER(send_store_atomic_by_or, ck_pr_fence_store_atomic(), ck_pr_or_32)
RECEIVER(receive_bare, )
RECEIVER(receive_load, ck_pr_fence_load())
RECEIVER(receive_acquire, ck_pr_fence_acquire())
RECEIVER(receive_store, ck_pr_fence_store())

static void mp_needs_both_fences(void **state)
{
	passes(NULL, send_store, receive_load, NULL, NULL);
	passes(NULL, send_release, receive_acquire, NULL, NULL);
	fails(NULL, send_bare, receive_acquire, NULL, NULL, "x) == 1");
	fails(NULL, send_load, receive_acquire, NULL, NULL, "x) == 1");
	fails(NULL, send_release, receive_bare, NULL, NULL, "x) == 1");
	fails(NULL, send_release, receive_store, NULL, NULL, "x) == 1");
}

static void fence_of_stores_is_none_of_atomics(void **state)
{
	fails(NULL, send_store_by_or, receive_acquire, NULL, NULL, "x) == 1");
	passes(NULL, send_store_atomic_by_or, receive_acquire, NULL, NULL);
}

/* Plain data handed over */

#define PLAIN_SENDER(name, fence) \
	THREAD(name) \
	{ \
		WORDS(w); \
		w->plain = 1; \
		fence; \
		ck_pr_store_32(&w->y, 1); \
	}
#define PLAIN_RECEIVER(name, fence) \
	THREAD(name) \
	{ \
		WORDS(w); \
		if (ck_pr_load_32(&w->y) == 0) \
			return; \
		fence; \
		explorer_assert(w->plain == 1); \
		w->plain = 2; \
	}

PLAIN_SENDER(hand_bare, )
PLAIN_SENDER(hand_release, ck_pr_fence_release())
PLAIN_RECEIVER(take_bare, )
PLAIN_RECEIVER(take_load, ck_pr_fence_load())
PLAIN_RECEIVER(take_acquire, ck_pr_fence_acquire())

static void plain_accesses_must_be_ordered(void **state)
{
	passes(NULL, hand_release, take_acquire, NULL, NULL);
	fails(NULL, hand_bare, take_acquire, NULL, NULL, "T1 reads words");
	fails(NULL, hand_release, take_bare, NULL, NULL, "T1 reads words");
	/* Loads are ordered, but the write after them is not. */
	fails(NULL, hand_release, take_load, NULL, NULL, "T1 writes words");
}

THREAD(hand_and_write)
{
	WORDS(w);

	w->plain = 1;
	ck_pr_fence_release();
	ck_pr_store_32(&w->y, 1);
	w->plain = 1;
}

static void an_access_again_is_another_one(void **state)
{
	fails(NULL, hand_and_write, take_acquire, NULL, NULL, "T1 reads words");
}

/* Order of two words, seen by two: independent reads of independent writes. */

THREAD(write_x)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
}

#define READ_TWO(name, first, second, out, fence) \
	THREAD(name) \
	{ \
		WORDS(w); \
		w->read[out] = ck_pr_load_32(&w->first); \
		fence; \
		w->read[out + 1] = ck_pr_load_32(&w->second); \
	}

/* The second writer reads as well, so three threads are enough. */
THREAD(write_y_read_x)
{
	WORDS(w);

	ck_pr_store_32(&w->y, 1);
	ck_pr_fence_memory();
	w->read[2] = ck_pr_load_32(&w->x);
}

READ_TWO(iriw_bare, x, y, 0, )
READ_TWO(iriw_load, x, y, 0, ck_pr_fence_load())
READ_TWO(iriw_memory, x, y, 0, ck_pr_fence_memory())

/* x before y for the one, y before x for the other. */
THREAD(check_iriw)
{
	WORDS(w);

	explorer_assert(
		!(w->read[0] == 1 && w->read[1] == 0 && w->read[2] == 0));
}

static void iriw_needs_full_fences(void **state)
{
	fails(NULL, write_x, write_y_read_x, iriw_bare, check_iriw, "read[2]");
	fails(NULL, write_x, write_y_read_x, iriw_load, check_iriw, "read[2]");
	passes(NULL, write_x, write_y_read_x, iriw_memory, check_iriw);
	passes(&tso, write_x, write_y_read_x, iriw_bare, check_iriw);
}

/* Coherence: one word has one order */

THREAD(write_twice)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	ck_pr_store_32(&w->x, 2);
}

THREAD(read_twice)
{
	WORDS(w);
	uint32_t first = ck_pr_load_32(&w->x);

	explorer_assert(ck_pr_load_32(&w->x) >= first);
}

THREAD(write_and_read)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 3);
	explorer_assert(ck_pr_load_32(&w->x) != 0);
}

THREAD(read_is_never_two)
{
	WORDS(w);

	explorer_assert(ck_pr_load_32(&w->x) != 2);
}

THREAD(second_read_is_never_one)
{
	WORDS(w);

	if (ck_pr_load_32(&w->x) == 0)
		explorer_assert(ck_pr_load_32(&w->x) != 1);
}

static void one_word_has_one_order(void **state)
{
	passes(NULL, write_twice, read_twice, read_twice, NULL);
	passes(NULL, write_twice, write_and_read, NULL, NULL);
	/* And all values can be seen. */
	fails(NULL, write_twice, read_is_never_two, NULL, NULL, "!= 2");
	fails(NULL, write_twice, second_read_is_never_one, NULL, NULL, "!= 1");
}

/* Read-modify-writes */

THREAD(add_twice)
{
	WORDS(w);

	ck_pr_faa_32(&w->x, 1);
	ck_pr_inc_32(&w->x);
}

THREAD(add_by_cas)
{
	WORDS(w);
	uint32_t seen = ck_pr_load_32(&w->x);

	while (!ck_pr_cas_32_value(&w->x, seen, seen + 1, &seen))
		ck_pr_stall();
}

THREAD(add_by_load_and_store)
{
	WORDS(w);

	ck_pr_store_32(&w->x, ck_pr_load_32(&w->x) + 1);
}

THREAD(check_four)
{
	WORDS(w);

	explorer_assert(w->x == 4);
}

THREAD(check_three)
{
	WORDS(w);

	explorer_assert(w->x == 3);
}

static void additions_are_not_lost(void **state)
{
	passes(NULL, add_twice, add_twice, NULL, check_four);
	passes(NULL, add_twice, add_by_cas, add_by_cas, check_four);
	passes(&tso, add_twice, add_by_cas, add_by_cas, check_four);
	fails(NULL, add_twice, add_by_load_and_store, NULL, check_three,
	      "== 3");
}

/* A store can be late: an exchange that comes later by the clock, but not by
 * any order, may read what was before the store and be overwritten by it. */
THREAD(store_and_swap)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	ck_pr_fas_32(&w->y, 1);
}

THREAD(store_fence_and_swap)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	ck_pr_fence_store_atomic();
	ck_pr_fas_32(&w->y, 1);
}

THREAD(swap_both)
{
	WORDS(w);

	if (ck_pr_fas_32(&w->y, 2) == 0)
		return;
	ck_pr_fence_atomic();
	explorer_assert(ck_pr_fas_32(&w->x, 2) == 1);
}

static void store_may_pass_an_exchange(void **state)
{
	fails(NULL, store_and_swap, swap_both, NULL, NULL, "== 1");
	passes(NULL, store_fence_and_swap, swap_both, NULL, NULL);
	passes(&tso, store_and_swap, swap_both, NULL, NULL);
}

/* What a store carries goes on through the atomics of others. */
THREAD(relay)
{
	WORDS(w);

	ck_pr_faa_32(&w->y, 10);
}

THREAD(relay_by_store)
{
	WORDS(w);

	if (ck_pr_load_32(&w->y) == 1)
		ck_pr_store_32(&w->y, 11);
}

THREAD(receive_relayed)
{
	WORDS(w);

	if (ck_pr_load_32(&w->y) != 11)
		return;
	ck_pr_fence_acquire();
	explorer_assert(ck_pr_load_32(&w->x) == 1);
}

static void atomics_carry_on_what_they_read(void **state)
{
	passes(NULL, send_release, relay, receive_relayed, NULL);
	fails(NULL, send_release, relay_by_store, receive_relayed, NULL,
	      "x) == 1");
}

/* x86's order */

static void tso_delays_stores_past_loads_only(void **state)
{
	fails(&tso, sb_bare_0, sb_bare_1, NULL, check_sb, "read[0]");
	fails(&tso, sb_release_0, sb_release_1, NULL, check_sb, "read[0]");
	passes(&tso, sb_full_0, sb_full_1, NULL, check_sb);
	passes(&tso, sb_exchange_0, sb_exchange_1, NULL, check_sb);
	passes(&tso, send_bare, receive_bare, NULL, NULL);
	passes(&tso, hand_bare, take_bare, NULL, NULL);
	passes(&tso, write_twice, read_twice, read_twice, NULL);
	passes(&tso, write_twice, write_and_read, NULL, NULL);
}

/* Waiting */

THREAD(spin)
{
	WORDS(w);

	while (ck_pr_load_32(&w->x) == 0)
		ck_pr_stall();
}

THREAD(spin_on_y_then_x)
{
	WORDS(w);

	while (ck_pr_load_32(&w->y) == 0)
		ck_pr_stall();
	ck_pr_store_32(&w->x, 1);
}

THREAD(spin_on_x_then_y)
{
	WORDS(w);

	while (ck_pr_load_32(&w->x) == 0)
		ck_pr_stall();
	ck_pr_store_32(&w->y, 1);
}

THREAD(spin_hot)
{
	WORDS(w);

	while (ck_pr_load_32(&w->x) == 0)
		;
}

static void waiting_for_nobody_is_a_deadlock(void **state)
{
	passes(NULL, spin, write_x, spin, NULL);
	fails(NULL, spin_on_x_then_y, spin_on_y_then_x, NULL, NULL,
	      "deadlock: T0 stalls at");
	fails(NULL, spin_hot, NULL, NULL, NULL, "livelock");
}

THREAD(sleep_on_x)
{
	WORDS(w);

	while (ck_pr_load_32(&w->x) == 0)
		weir__futex_wait(&w->x, 0, UINT64_MAX);
}

THREAD(sleep_on_y_at_most)
{
	WORDS(w);

	if (ck_pr_load_32(&w->x) == 0)
		w->read[0] = (uint32_t)-weir__futex_wait(&w->y, 0, 1000);
}

/* Checks one word and sleeps on another: the wake-up may come in between. */
THREAD(sleep_on_y)
{
	WORDS(w);

	if (ck_pr_load_32(&w->x) == 0)
		weir__futex_wait(&w->y, 0, UINT64_MAX);
}

THREAD(wake_x)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	weir__futex_wake(&w->x, 1);
}

THREAD(wake_y)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	weir__futex_wake(&w->y, 1);
}

THREAD(store_y_and_wake)
{
	WORDS(w);

	ck_pr_store_32(&w->x, 1);
	ck_pr_fence_release();
	ck_pr_store_32(&w->y, 1);
	weir__futex_wake(&w->y, 1);
}

/* Woken, not out of time. */
THREAD(check_not_timed_out)
{
	WORDS(w);

	explorer_assert(w->read[0] != ETIMEDOUT);
}

static void lost_wake_up_is_found(void **state)
{
	passes(NULL, sleep_on_x, wake_x, NULL, NULL);
	passes(NULL, sleep_on_y, store_y_and_wake, NULL, NULL);
	fails(NULL, sleep_on_x, wake_x, sleep_on_x, NULL, "deadlock: T");
	fails(NULL, sleep_on_y, wake_y, NULL, NULL, "deadlock: T0 waits at");
	passes(&tso, sleep_on_x, wake_x, NULL, NULL);
	fails(&tso, sleep_on_y, wake_y, NULL, NULL, "deadlock: T0 waits at");
}

static void time_runs_out_only_when_nobody_wakes(void **state)
{
	passes(NULL, sleep_on_y_at_most, store_y_and_wake, NULL,
	       check_not_timed_out);
	passes(NULL, sleep_on_y_at_most, wake_y, NULL, NULL);
	fails(NULL, sleep_on_y_at_most, wake_y, NULL, check_not_timed_out,
	      "ETIMEDOUT");
}

/* Memory */

static void make_object(void *context)
{
	WORDS(w);

	w->object = explorer_alloc(sizeof(*w->object));
	w->x = *w->object = 2; /* holders */
}

static void drop(struct words *w, bool release, bool acquire)
{
	if (release)
		ck_pr_fence_release();
	if (ck_pr_faa_32(&w->x, (uint32_t)-1) != 1)
		return;
	if (acquire)
		ck_pr_fence_acquire();
	explorer_free(w->object);
}

THREAD(use_and_drop)
{
	WORDS(w);

	ck_pr_store_32(w->object, 1);
	drop(w, true, true);
}

THREAD(use_and_drop_early)
{
	WORDS(w);

	ck_pr_store_32(w->object, 1);
	drop(w, false, true);
}

THREAD(read_and_drop_early)
{
	WORDS(w);

	ck_pr_load_32(w->object);
	drop(w, false, true);
}

THREAD(use_and_drop_at_once)
{
	WORDS(w);

	*w->object = 1;
	drop(w, true, false);
}

THREAD(drop_and_use)
{
	WORDS(w);

	drop(w, true, true);
	ck_pr_load_32(w->object);
}

THREAD(drop_and_use_plainly)
{
	WORDS(w);

	drop(w, true, true);
	*w->object = 7;
}

THREAD(free_twice)
{
	WORDS(w);

	explorer_free(w->object);
	explorer_free(w->object);
}

THREAD(overrun)
{
	WORDS(w);

	ck_pr_load_32(w->object + 4);
}

THREAD(check_all_freed)
{
	explorer_assert(explorer_allocated() == 0);
}

static void on_object(enum explorer_status expected, void (*first)(void *),
		      void (*second)(void *), const char *message)
{
	const struct explorer_scenario scenario = {
		.name = "object",
		.setup = make_object,
		.thread = {first, second},
		.check = check_all_freed,
		.context = &words,
		.context_size = sizeof(words),
	};
	const struct explorer_options quiet = {.quiet = true};
	struct explorer_result result;

	if (explorer_run(&scenario, &quiet, &result) != expected ||
	    strstr(result.message, message) == NULL)
		fail_msg("not \"%s\" but \"%s\"\n%s", message, result.message,
			 result.trace);
}

static void use_after_free_is_found(void **state)
{
	on_object(EXPLORER_PASSED, use_and_drop, use_and_drop, "");
	on_object(EXPLORER_FAILED, use_and_drop, drop_and_use,
		  "an operation on freed memory");
	on_object(EXPLORER_FAILED, use_and_drop, drop_and_use_plainly,
		  "a write on freed memory");
	on_object(EXPLORER_FAILED, free_twice, NULL, "free on freed memory");
	on_object(EXPLORER_FAILED, overrun, NULL, "on no memory");
	on_object(EXPLORER_FAILED, use_and_drop, NULL, "explorer_allocated()");
}

/* The count is in what is freed: who read the last drop has seen it done. */
THREAD(drop_own_count)
{
	WORDS(w);

	ck_pr_fence_release();
	if (ck_pr_faa_32(w->object, (uint32_t)-1) != 1)
		return;
	ck_pr_fence_acquire();
	explorer_free(w->object);
}

THREAD(drop_own_count_unfenced)
{
	WORDS(w);

	if (ck_pr_faa_32(w->object, (uint32_t)-1) == 1)
		explorer_free(w->object);
}

static void count_may_be_in_what_is_freed(void **state)
{
	on_object(EXPLORER_PASSED, drop_own_count, drop_own_count, "");
	on_object(EXPLORER_FAILED, drop_own_count, drop_own_count_unfenced,
		  "race");
}

/* In time, but not in any order: the access may be done after the free. */
static void free_must_be_ordered(void **state)
{
	on_object(EXPLORER_FAILED, use_and_drop, use_and_drop_early, "race");
	on_object(EXPLORER_FAILED, use_and_drop, read_and_drop_early, "race");
	on_object(EXPLORER_FAILED, use_and_drop_at_once, use_and_drop, "race");
}

/* Faults of the code under test are failures of the execution. */

THREAD(crash)
{
	WORDS(w);

	*(volatile int *)(uintptr_t)(w->x + 8) = 1;
}

THREAD(fail_assert)
{
	WORDS(w);

	assert(w->x == 1);
}

THREAD(hang)
{
	for (volatile int i = 0; i < 1; i = 0)
		;
}

static void faults_are_failures(void **state)
{
	fails(NULL, hang, NULL, NULL, NULL, "hangs");
	fails(NULL, crash, NULL, NULL, NULL, "signal 11");
	fails(NULL, fail_assert, NULL, NULL, NULL, "assert(w->x == 1)");
	passes(NULL, write_x, NULL, NULL, NULL);
}

/* The driver's own promises */

static void failure_can_be_replayed(void **state)
{
	struct explorer_options options = {0};
	struct explorer_result found, again;

	run(NULL, sb_bare_0, sb_bare_1, NULL, check_sb, &found);
	assert_non_null(strstr(found.trace, "(not the newest)"));
	options.replay = found.choices;
	assert_int_equal(run(&options, sb_bare_0, sb_bare_1, NULL, check_sb,
			     &again),
			 EXPLORER_FAILED);
	assert_string_equal(again.message, found.message);
	assert_int_equal(again.executions, 1);
	assert_string_equal(again.choices, found.choices);
}

static void bounds_are_reported(void **state)
{
	const struct explorer_options few = {.executions = 5};
	const struct explorer_options none = {.preemptions = -1, .stale = -1};
	const struct explorer_options no_old = {.stale = -1};
	struct explorer_result first, second;

	assert_int_equal(run(&few, add_twice, add_twice, NULL, NULL, &first),
			 EXPLORER_INCOMPLETE);
	run(NULL, add_twice, add_twice, NULL, NULL, &first);
	run(NULL, add_twice, add_twice, NULL, NULL, &second);
	assert_int_equal(first.executions, second.executions);
	assert_int_equal(first.steps, second.steps);
	/* Sequentially one after the other: both orders. */
	passes(&none, sb_bare_0, sb_bare_1, NULL, check_sb);
	passes(&no_old, sb_bare_0, sb_bare_1, NULL, check_sb);
}

/* Thread-local variables */

static __thread int local, initial = 7;

THREAD(use_locals)
{
	explorer_assert(local == 0 && initial == 7);
	local = initial = explorer_thread();
	explorer_yield();
	explorer_assert(local == explorer_thread());
	explorer_assert(initial == explorer_thread());
}

static void each_thread_has_its_own_variables(void **state)
{
	const struct explorer_scenario scenario = {
		.name = "locals",
		.setup = use_locals,
		.thread = {use_locals, use_locals, use_locals},
	};
	const struct explorer_options quiet = {.quiet = true};
	struct explorer_result result;

	if (explorer_run(&scenario, &quiet, &result) != EXPLORER_PASSED)
		fail_msg("%s\n%s", result.message, result.trace);
}

/* CK's own ring, through its inline header */

enum { RING_SIZE = 4, RING_ITEMS = 5 };

static struct {
	ck_ring_t ring;
	ck_ring_buffer_t buffer[RING_SIZE];
	uint64_t items[RING_ITEMS];
} ring;

static void make_ring(void *context)
{
	memset(&ring, 0, sizeof(ring));
	ck_ring_init(&ring.ring, RING_SIZE);
	explorer_name(&ring, sizeof(ring), "ring");
}

THREAD(ring_put)
{
	for (int i = 0; i < RING_ITEMS; i++) {
		ring.items[i] = (uint64_t)i + 1;
		while (!ck_ring_enqueue_spsc(&ring.ring, ring.buffer,
					     &ring.items[i]))
			ck_pr_stall();
	}
}

/* The index is read before the room in it: the slot may be in use. */
THREAD(ring_put_unfenced)
{
	for (int i = 0; i < RING_ITEMS; i++) {
		ring.items[i] = (uint64_t)i + 1;
		ring.buffer[i % RING_SIZE].value = &ring.items[i];
		ck_pr_store_uint(&ring.ring.p_tail, (unsigned int)i + 1);
	}
}

THREAD(ring_take)
{
	void *item;

	for (int i = 0; i < RING_ITEMS; i++) {
		while (!ck_ring_dequeue_spsc(&ring.ring, ring.buffer, &item))
			ck_pr_stall();
		explorer_assert(*(uint64_t *)item == (uint64_t)i + 1);
	}
}

static enum explorer_status run_ring(void (*put)(void *), bool x86,
				     struct explorer_result *result)
{
	const struct explorer_scenario scenario = {
		.name = "ring",
		.setup = make_ring,
		.thread = {put, ring_take},
	};
	const struct explorer_options options = {.quiet = true, .tso = x86};

	return explorer_run(&scenario, &options, result);
}

static void ring_hands_over_on_x86(void **state)
{
	struct explorer_result result;

	if (run_ring(ring_put, true, &result) != EXPLORER_PASSED)
		fail_msg("%s\n%s", result.message, result.trace);
	assert_int_equal(run_ring(ring_put_unfenced, true, &result),
			 EXPLORER_FAILED);
}

/*
 * CK 0.7.1: the consumer gives a slot back behind a fence of stores only, and
 * the producer reads that without any, so by name the read of the slot and the
 * next write to it are unordered. (Later releases have the fences.)
 */
static void ring_reuses_slots_unordered(void **state)
{
	struct explorer_result result;

	assert_int_equal(run_ring(ring_put, false, &result), EXPLORER_FAILED);
	assert_non_null(
		strstr(result.message, "which another thread reads plainly"));
}

/* Weakening: of the fences and atomics below, the named are redundant */

THREAD(weak_send)
{
	WORDS(w);

	ck_pr_fence_store();
	ck_pr_store_32(&w->x, 1);
	ck_pr_fence_store();
	ck_pr_store_32(&w->y, 1);
	ck_pr_inc_32(&w->z);
}

THREAD(weak_receive)
{
	WORDS(w);

	ck_pr_inc_32(&w->z);
	if (ck_pr_load_32(&w->y) == 0)
		return;
	ck_pr_fence_load();
	explorer_assert(ck_pr_load_32(&w->x) == 1);
}

THREAD(check_two)
{
	WORDS(w);

	explorer_assert(w->z == 2);
}

static bool weaken(const struct explorer_exception *exceptions, size_t n,
		   struct explorer_weaken_result *result)
{
	static const struct explorer_scenario counted = {
		.name = "counted",
		.thread = {weak_send, weak_receive},
		.check = check_two,
		.context = &words,
		.context_size = sizeof(words),
	};
	const struct explorer_scenario *const scenarios[] = {&counted};
	const struct explorer_weaken_options options = {
		.files = "litmus.c",
		.quiet = true,
	};

	return explorer_weaken(scenarios, 1, &options, exceptions, n, result);
}

static void weakening_finds_what_is_redundant(void **state)
{
	static const struct explorer_exception listed[] = {
		{"litmus.c", "weak_send", "ck_pr_fence_store", 0, "first"},
	};
	static const struct explorer_exception wrong[] = {
		{"litmus.c", "weak_send", "ck_pr_fence_store", 0, "first"},
		{"litmus.c", "weak_send", "ck_pr_fence_store", 1, "needed"},
		{"litmus.c", "gone", "ck_pr_fence_store", 0, "not met"},
	};
	struct explorer_weaken_result result;

	assert_false(weaken(NULL, 0, &result));
	assert_int_equal(result.sites, 5);
	assert_int_equal(result.killed, 4);
	assert_int_equal(result.survivors, 1);

	assert_true(weaken(listed, 1, &result));
	assert_int_equal(result.excepted, 1);

	assert_false(weaken(wrong, 3, &result));
	assert_int_equal(result.survivors, 0);
	assert_int_equal(result.stale, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sb_needs_a_fence),
		cmocka_unit_test(exchange_is_no_fence),
		cmocka_unit_test(mp_needs_both_fences),
		cmocka_unit_test(fence_of_stores_is_none_of_atomics),
		cmocka_unit_test(plain_accesses_must_be_ordered),
		cmocka_unit_test(an_access_again_is_another_one),
		cmocka_unit_test(iriw_needs_full_fences),
		cmocka_unit_test(one_word_has_one_order),
		cmocka_unit_test(additions_are_not_lost),
		cmocka_unit_test(store_may_pass_an_exchange),
		cmocka_unit_test(atomics_carry_on_what_they_read),
		cmocka_unit_test(tso_delays_stores_past_loads_only),
		cmocka_unit_test(waiting_for_nobody_is_a_deadlock),
		cmocka_unit_test(lost_wake_up_is_found),
		cmocka_unit_test(time_runs_out_only_when_nobody_wakes),
		cmocka_unit_test(use_after_free_is_found),
		cmocka_unit_test(count_may_be_in_what_is_freed),
		cmocka_unit_test(free_must_be_ordered),
		cmocka_unit_test(faults_are_failures),
		cmocka_unit_test(failure_can_be_replayed),
		cmocka_unit_test(bounds_are_reported),
		cmocka_unit_test(each_thread_has_its_own_variables),
		cmocka_unit_test(ring_hands_over_on_x86),
		cmocka_unit_test(ring_reuses_slots_unordered),
		cmocka_unit_test(weakening_finds_what_is_redundant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
