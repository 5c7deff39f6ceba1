/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of slots and walks over it, on their own: what is found is what a plain
 * list of children says, wherever children come and go.
 */
#include "actor/kit.h"

#include "base/random.h"
#include "supervision/tree.h"
#include "supervision/walk.h"

enum { N = 24 };

static struct weir__slots slots;
static struct weir__system_lock lock;
static struct weir__walks walks;
static struct weir__kin *all[N];
static struct heap heap;

/* Of each: its parent, or N; its children in their order. */
static struct {
	size_t parent, children[N], n;
} is[N];

static void set_up(void)
{
	size_t i;

	heap_init(&heap, 0);
	weir__slots_init(&slots, sizeof(struct weir__kin), &heap.allocator);
	lock = (struct weir__system_lock){.used = 1};
	walks = (struct weir__walks){.slots = &slots, .lock = &lock};
	for (i = 0; i < N; i++) {
		all[i] = weir__slots_take(&slots);
		is[i].parent = N;
		is[i].n = 0;
	}
}

static void tear_down(void)
{
	assert_null(walks.first);
	weir__slots_fini(&slots);
	assert_int_equal(heap.live, 0);
}

/* Below `parent`, before its child number `before`. */
static void link_one(size_t one, size_t parent, size_t before)
{
	size_t i, n = is[parent].n++;
	struct weir__kin *next = before < n ? all[is[parent].children[before]]
					    : NULL;

	for (i = n; i > before; i--)
		is[parent].children[i] = is[parent].children[i - 1];
	is[parent].children[i] = one;
	is[one].parent = parent;
	weir__tree_link(&slots, all[parent], next, all[one]);
}

static void unlink_one(size_t one)
{
	size_t parent = is[one].parent, i = 0;

	while (is[parent].children[i] != one)
		i++;
	is[parent].n--;
	for (; i < is[parent].n; i++)
		is[parent].children[i] = is[parent].children[i + 1];
	is[one].parent = N;
	weir__tree_unlink(&slots, all[one]);
}

static bool is_below(size_t one, size_t other)
{
	while (one != N && one != other)
		one = is[one].parent;
	return one == other;
}

static void check_one(size_t one)
{
	const struct weir__kin *each = weir__tree_first(&slots, all[one]);
	size_t i;

	assert_ptr_equal(weir__tree_parent(&slots, all[one]),
			 is[one].parent == N ? NULL : all[is[one].parent]);
	for (i = 0; i < is[one].n; i++) {
		assert_ptr_equal(each, all[is[one].children[i]]);
		each = weir__tree_next(&slots, each);
	}
	assert_null(each);
}

static void change(uint64_t *random)
{
	size_t one = weir__splitmix(random) % N;
	size_t parent = weir__splitmix(random) % N;

	if (is[one].parent != N)
		unlink_one(one);
	else if (!is_below(parent, one))
		link_one(one, parent,
			 weir__splitmix(random) % (is[parent].n + 1));
}

static void each_has_the_children_that_a_list_has(void **state)
{
	uint64_t random, rounds;
	size_t i;

	(void)state;
	for_each_seed(seed, 20) {
		set_up();
		random = seed;
		for (rounds = test_count(2000); rounds > 0; rounds--) {
			change(&random);
			for (i = 0; i < N; i++)
				check_one(i);
		}
		tear_down();
	}
}

/* --- Walks ---------------------------------------------------------------- */

static size_t visits[N], order;

static size_t number(const struct weir__kin *kin)
{
	return weir__slot_of(&slots, kin);
}

static void visit(struct weir__kin *kin)
{
	assert_int_equal(visits[number(kin)], 0);
	visits[number(kin)] = ++order;
}

static void a_walk_below_visits_each_once_and_children_first(void **state)
{
	uint64_t random, rounds;
	size_t top, i;

	(void)state;
	for_each_seed(seed, 20) {
		set_up();
		random = seed;
		for (rounds = test_count(500); rounds > 0; rounds--) {
			change(&random);
			top = weir__splitmix(&random) % N;
			memset(visits, 0, sizeof(visits));
			order = 0;
			weir__walk_below(&walks, all[top], visit, true);
			for (i = 0; i < N; i++) {
				assert_int_equal(visits[i] > 0,
						 is_below(i, top));
				if (i != top && visits[i])
					assert_true(visits[is[i].parent] >
						    visits[i]);
			}
		}
		tear_down();
	}
}

/* Siblings leave at, before and behind the walk, and others come. */
static void a_walk_goes_on_where_siblings_come_and_go(void **state)
{
	const struct weir__kin *each;
	struct weir__walk walk;
	uint64_t random;
	size_t one, next;

	(void)state;
	for_each_seed(seed, 200) {
		set_up();
		random = seed;
		memset(visits, 0, sizeof(visits));
		for (next = 1; next < 6; next++)
			link_one(next, 0, SIZE_MAX);
		weir__walk_begin(&walks, &walk,
				 weir__tree_first(&slots, all[0]));
		while ((each = weir__walk_next(&walks, &walk))) {
			visits[number(each)]++;
			one = 1 + weir__splitmix(&random) % (N - 1);
			if (is[one].parent != N && is[0].n > 1) {
				weir__walks_pass(&walks, all[one]);
				unlink_one(one);
			} else if (next < N) {
				link_one(next, 0, SIZE_MAX);
				weir__walks_add(&walks, all[0], all[next++]);
			}
		}
		for (one = 1; one < N; one++)
			assert_in_range(visits[one], is[one].parent != N, 1);
		tear_down();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_the_children_that_a_list_has),
		cmocka_unit_test(
			a_walk_below_visits_each_once_and_children_first),
		cmocka_unit_test(a_walk_goes_on_where_siblings_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
