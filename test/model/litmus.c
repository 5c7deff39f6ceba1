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

static enum explorer_status run(const struct explorer_options *options,
				void (*first)(void *), void (*second)(void *),
				void (*third)(void *), void (*check)(void *),
				struct explorer_result *result)
{
	const struct explorer_scenario scenario = {
		.name = "litmus",
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
	fails(NULL, hand_bare, take_acquire, NULL, NULL, "T1 reads what");
	fails(NULL, hand_release, take_bare, NULL, NULL, "T1 reads what");
	/* Loads are ordered, but the write after them is not. */
	fails(NULL, hand_release, take_load, NULL, NULL, "T1 writes what");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sb_needs_a_fence),
		cmocka_unit_test(exchange_is_no_fence),
		cmocka_unit_test(mp_needs_both_fences),
		cmocka_unit_test(fence_of_stores_is_none_of_atomics),
		cmocka_unit_test(plain_accesses_must_be_ordered),
	};

	(void)tso;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
