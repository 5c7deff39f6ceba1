/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is done for one name while the lock is held, however many there are: how
 * often a cell is gone to, and how much memory is written at once. Steps are
 * counted, as in scale.c; that the way to a name is short is held by
 * names_many.c.
 */
#include "supervision/naming.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "base/memory.h"

/* With the lock: among them the 64 cells that are made at once. */
#define AT_ONCE 128u

static struct weir_system *measured;
static uint64_t here, longest, n_holds;

struct weir__kin *__real_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
void *__real_weir__alloc(const struct weir_allocator *allocator, size_t size);
void *__wrap_weir__alloc(const struct weir_allocator *allocator, size_t size);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* Held: somebody waits, so that who lets go of it calls the kernel. */
static void step(uint64_t n)
{
	here += n;
	if (measured->lock.plain.word == 1)
		measured->lock.plain.word = 2;
}

struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot)
{
	if (measured && slots == &measured->slots)
		step(1);
	return __real_weir__slots_at(slots, slot);
}

/* A line of it that is zeroed is a step. */
void *__wrap_weir__alloc(const struct weir_allocator *allocator, size_t size)
{
	if (measured && measured->lock.plain.word)
		step(size / WEIR__LINE);
	return __real_weir__alloc(allocator, size);
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
	if (!measured || number != SYS_futex ||
	    a[0] != (long)&measured->lock.plain.word)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4],
				      a[5]);
	if (a[1] == FUTEX_WAKE_PRIVATE) {
		if (here > longest)
			longest = here;
		here = 0;
		n_holds++;
	}
	return 0;
}

static void measure_from_here(struct weir_system *system)
{
	measured = system;
	here = 0;
	longest = 0;
	n_holds = 0;
}

/* Each of n took the lock at least once, and none did much. */
static void nobody_held_it_for_long(size_t n)
{
	assert_true(n_holds >= n);
	assert_in_range(longest, 1, AT_ONCE);
}

static void path_of(size_t i, char path[48])
{
	snprintf(path, 48, "/user/worker-%zu", i);
}

static void add_all(struct weir_system *system, struct weir_sim *sim,
		    struct child *children, size_t n)
{
	char path[48];
	size_t i;

	for (i = 0; i < n; i++) {
		path_of(i, path);
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i],
			  path + strlen("/user/"));
	}
	weir_sim_run(sim);
}

static void find_all(struct weir_system *system, const struct child *children,
		     size_t n)
{
	char path[48];
	size_t i;

	for (i = 0; i < n; i++) {
		path_of(i, path);
		assert_is(weir_system_lookup(system, path), children[i].ref);
	}
}

static void remove_all(struct weir_system *system, struct weir_sim *sim,
		       const struct child *children, size_t n)
{
	char path[48];
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(
			weir_system_stop_actor(system, children[i].ref), 0);
	weir_sim_run(sim);
	for (i = 0; i < n; i++) {
		path_of(i, path);
		assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	}
}

static void nobody_waits_long_for_names_that_come_and_go(void **state)
{
	const size_t n = test_count(100000);
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child *children = calloc(n, sizeof(*children));

	assert_non_null(children);
	measure_from_here(system);
	add_all(system, sim, children, n);
	nobody_held_it_for_long(n);
	measure_from_here(system);
	find_all(system, children, n);
	nobody_held_it_for_long(n);
	measure_from_here(system);
	remove_all(system, sim, children, n);
	nobody_held_it_for_long(n);
	measured = NULL;
	system_end(system, sim);
	free(children);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_long_for_names_that_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
