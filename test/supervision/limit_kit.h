/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of limits share: one record of restarts, and who asks it. */
#ifndef WEIR_TEST_SUPERVISION_LIMIT_KIT_H
#define WEIR_TEST_SUPERVISION_LIMIT_KIT_H

#include "actor/kit.h"

#include "supervision/limit.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct heap heap;
static struct weir__restarts *record;

static inline int begin(void **state)
{
	heap_init(&heap, 0);
	record = NULL;
	return 0;
}

static inline void let_go(void)
{
	weir__restarts_free(record, &heap.allocator);
	record = NULL;
}

static inline int end(void **state)
{
	let_go();
	assert_int_equal(heap.live, 0);
	assert_int_equal(heap.bytes, 0);
	return 0;
}

static inline int ask(const struct weir_limit *limit, uint64_t now)
{
	return weir__limit_ask(limit, &record, &heap.allocator, now);
}

/* Asks, and restarts if it may. */
static inline bool restarts(const struct weir_limit *limit, uint64_t now)
{
	int rc = ask(limit, now);

	assert_in_range(rc, 0, 1);
	if (rc == 1)
		weir__limit_count(limit, record, now);
	return rc == 1;
}

/* Failures at these times are restarted where the text has a y, not an n. */
static inline void expect(const struct weir_limit *limit, const uint64_t *times,
			  const char *answers)
{
	let_go();
	for (; *answers; answers++, times++)
		assert_int_equal(restarts(limit, *times), *answers == 'y');
}

#define EXPECT(limit, answers, ...) \
	expect(&(limit), (const uint64_t[]){__VA_ARGS__}, answers)

static const enum weir_window windows[] = {
	WEIR_WINDOW_SLIDING,
	WEIR_WINDOW_SLIDING_STRICT,
	WEIR_WINDOW_TUMBLING,
};
enum { N_WINDOWS = sizeof(windows) / sizeof(windows[0]) };

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
