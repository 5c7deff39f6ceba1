/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of a system's names, looked at from outside. */
#ifndef WEIR_TEST_SUPERVISION_NAMING_TREE_H
#define WEIR_TEST_SUPERVISION_NAMING_TREE_H

#include "supervision/names.h"
#include "supervision/naming.h"

struct naming_tree {
	size_t n, depth; /* how many, and of the deepest; the first has 1 */
};

/* Of that hash or one that begins with the same digits, and whose it says. */
static inline void check_one_name(const struct weir_system *system,
				  const struct weir__name *name, size_t depth,
				  uint32_t digits)
{
	const struct weir__cell *cell = weir__cell_at(system, name->slot);
	uint32_t mask = depth > 16 ? UINT32_MAX : (1ull << 2 * (depth - 1)) - 1;

	assert_ptr_equal(weir__record_of(cell)->name, name);
	assert_int_equal(name->hash & mask, digits & mask);
}

static inline void look_at_names(const struct weir_system *system,
				 const struct weir__name *name,
				 struct naming_tree *tree, size_t depth,
				 uint32_t digits)
{
	uint32_t i, digit;

	if (!name)
		return;
	check_one_name(system, name, depth, digits);
	tree->n++;
	if (depth > tree->depth)
		tree->depth = depth;
	for (i = 0; i < WEIR__NAME_DIGITS; i++) {
		digit = depth > 16 ? 0 : i << 2 * (depth - 1);
		assert_true(depth <= 16 || i == 0 || !name->below[i]);
		look_at_names(system, name->below[i], tree, depth + 1,
			      digits | digit);
	}
}

/* Every name is in its place, and nothing else. */
static inline struct naming_tree names_look(const struct weir_system *system)
{
	struct naming_tree tree = {0};
	const struct weir__cell *cell;
	size_t n = 0;
	uint32_t i;

	look_at_names(system, system->names.root, &tree, 1, 0);
	for (i = 0; i < system->slots.n; i++) {
		cell = weir__cell_at(system, i);
		n += cell->state != WEIR__CELL_FREE &&
		     weir__record_of(cell)->name;
	}
	assert_int_equal(tree.n, n);
	return tree;
}

/* No way to one is long, however many there are. */
static inline void check_names(const struct weir_system *system)
{
	assert_in_range(names_look(system).depth, 1, 16);
}

#endif
