/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that one watches, on its own: what is found is what a plain list says,
 * and it is found in few steps, however many there are and in whatever order
 * they came and go.
 */
#include "support.h"

#include "base/random.h"
#include "supervision/watching.h"

enum { N = 1 << 15, FEW = 64 };

/* Two of each: that of a parent, and one that was asked for. */
static struct weir__watch watches[N], *tree;
static bool in[N];

static void set_up(size_t n)
{
	size_t i;

	tree = NULL;
	for (i = 0; i < n; i++) {
		watches[i] = (struct weir__watch){
			.who = {(uint32_t)i / 4, (uint32_t)(i / 2) % 2 + 1},
			.of_parent = i % 2,
		};
		in[i] = false;
	}
}

static void add(size_t i)
{
	weir__watching_add(&tree, &watches[i]);
	in[i] = true;
}

static void take(size_t i)
{
	weir__watching_remove(&tree, &watches[i]);
	in[i] = false;
}

static const struct weir__watch *next_in(size_t i, size_t n)
{
	for (i++; i < n; i++)
		if (in[i])
			return &watches[i];
	return NULL;
}

static void each_is_found_as_in_a_list(void **state)
{
	uint64_t random = 1, i, rounds = test_count(20000);
	size_t each;

	(void)state;
	set_up(FEW);
	for (i = 0; i < rounds; i++) {
		each = weir__splitmix(&random) % FEW;
		if (in[each])
			take(each);
		else
			add(each);
		each = weir__splitmix(&random) % FEW;
		assert_ptr_equal(weir__watching_find(tree, &watches[each]),
				 in[each] ? &watches[each] : NULL);
		assert_ptr_equal(weir__watching_after(tree, &watches[each]),
				 next_in(each, FEW));
	}
}

/* The longest way down; the tree is its own stack, through `next`. */
static size_t depth(void)
{
	struct weir__watch *level = tree, *below, *each;
	size_t n = 0;

	for (; level; level = below, n++) {
		below = NULL;
		for (each = level; each; each = each->next) {
			if (each->left) {
				each->left->next = below;
				below = each->left;
			}
			if (each->right) {
				each->right->next = below;
				below = each->right;
			}
		}
	}
	return n;
}

static void the_way_to_one_of_many_is_short(void **state)
{
	size_t i;

	(void)state;
	set_up(N);
	for (i = 0; i < N; i++)
		add(i);
	assert_true(depth() <= 60);
	for (i = 0; i < N; i += 2)
		take(i);
	tree->next = NULL;
	assert_true(depth() <= 60);
	for (i = N - 1; i < N; i -= 2)
		take(i);
	assert_null(tree);
	for (i = N; i-- > 0;)
		add(i);
	tree->next = NULL;
	assert_true(depth() <= 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_as_in_a_list),
		cmocka_unit_test(the_way_to_one_of_many_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
