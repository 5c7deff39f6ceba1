/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All watches of one actor: a treap, ordered by the id of the watched actor,
 * with a hash of that id as the priority. So each step costs O(log n), and
 * needs no memory but that of the watches. Under the lock.
 */
#include "supervision/watching.h"

#include "base/random.h"

static uint64_t priority(const struct weir__watch *watch)
{
	uint64_t state = (uint64_t)watch->who.slot << 32 |
			 watch->who.generation;

	return weir__splitmix(&state);
}

/* The order of watches. A watch for `child_ended` and a watch that the user
 * asked for, on the same actor, are two. */
static bool is_before(const struct weir__watch *a, const struct weir__watch *b)
{
	if (a->who.slot != b->who.slot)
		return a->who.slot < b->who.slot;
	if (a->who.generation != b->who.generation)
		return a->who.generation < b->who.generation;
	return a->of_parent < b->of_parent;
}

struct weir__watch *weir__watching_find(struct weir__watch *tree,
					const struct weir__watch *key)
{
	while (tree) {
		if (is_before(key, tree))
			tree = tree->left;
		else if (is_before(tree, key))
			tree = tree->right;
		else
			break;
	}
	return tree;
}

struct weir__watch *weir__watching_after(struct weir__watch *tree,
					 const struct weir__watch *key)
{
	struct weir__watch *found = NULL;

	while (tree) {
		if (is_before(key, tree)) {
			found = tree;
			tree = tree->left;
		} else {
			tree = tree->right;
		}
	}
	return found;
}

/* Splits the tree into the watches before `watch` and those behind it. */
static void split(struct weir__watch *tree, struct weir__watch *watch)
{
	struct weir__watch **left = &watch->left, **right = &watch->right;

	while (tree) {
		if (is_before(tree, watch)) {
			*left = tree;
			left = &tree->right;
			tree = tree->right;
		} else {
			*right = tree;
			right = &tree->left;
			tree = tree->left;
		}
	}
	*left = NULL;
	*right = NULL;
}

void weir__watching_add(struct weir__watch **tree, struct weir__watch *watch)
{
	uint64_t mine = priority(watch);

	while (*tree && priority(*tree) >= mine)
		tree = is_before(watch, *tree) ? &(*tree)->left
					       : &(*tree)->right;
	split(*tree, watch);
	*tree = watch;
}

void weir__watching_remove(struct weir__watch **tree, struct weir__watch *watch)
{
	struct weir__watch *left = watch->left, *right = watch->right;

	while (*tree != watch)
		tree = is_before(watch, *tree) ? &(*tree)->left
					       : &(*tree)->right;
	while (left && right) {
		if (priority(left) > priority(right)) {
			*tree = left;
			tree = &left->right;
			left = left->right;
		} else {
			*tree = right;
			tree = &right->left;
			right = right->left;
		}
	}
	*tree = left ? left : right;
}
