/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks that lend the lock. The claims hold whenever they do:
 *
 * 1. `at` is in the tree, and is the next cell to be visited. In a walk below a
 *    top, no cell below `at` has been visited. A parent is visited without
 *    lending the lock after the last of its children; so no child can be added
 *    below it in between, unseen.
 * 2. A new sibling is added as the last one, so it is visited before its
 *    parent. A walk that has visited all siblings goes on with siblings that
 *    were added meanwhile.
 */
#include "supervision/walk.h"

#include "supervision/tree.h"

/* Out of line, or gcc takes a walk that ends with its caller for dangling. */
static __attribute__((noinline)) void enlist(struct weir_system *system,
					     struct weir__walk *walk)
{
	walk->next = system->walks;
	walk->link = &system->walks;
	if (walk->next)
		walk->next->link = &walk->next;
	system->walks = walk;
}

void weir__walk_end(struct weir__walk *walk)
{
	*walk->link = walk->next;
	if (walk->next)
		walk->next->link = walk->link;
}

void weir__walk_begin(struct weir_system *system, struct weir__walk *walk,
		      struct weir__cell *first)
{
	*walk = (struct weir__walk){.at = first};
	if (first)
		walk->parent = weir__tree_parent(system, first);
	enlist(system, walk);
}

struct weir__cell *weir__walk_next(struct weir_system *system,
				   struct weir__walk *walk)
{
	struct weir__cell *cell;

	/* the first step does not lend the lock */
	if (walk->at && !walk->alone)
		weir__breathe(system);
	cell = walk->at;
	if (cell)
		walk->at = walk->alone ? NULL : weir__tree_next(system, cell);
	else
		weir__walk_end(walk);
	return cell;
}

/* Claim 1: behind the cell, which has been visited or leaves. */
static void pass(struct weir_system *system, struct weir__walk *walk,
		 struct weir__cell *cell)
{
	struct weir__cell *next = NULL;

	while (cell != walk->top && !(next = weir__tree_next(system, cell))) {
		cell = weir__tree_parent(system, cell);
		walk->visit(cell);
	}
	walk->at = next;
}

/* The cell that is visited first, of `cell` and all its descendants. */
static struct weir__cell *deepest(struct weir_system *system,
				  struct weir__cell *cell)
{
	struct weir__cell *child;

	while ((child = weir__tree_first(system, cell)))
		cell = child;
	return cell;
}

static void step(struct weir_system *system, struct weir__walk *walk)
{
	struct weir__cell *cell = deepest(system, walk->at);

	walk->visit(cell);
	pass(system, walk, cell);
}

void weir__walk_below(struct weir_system *system, struct weir__cell *top,
		      void (*visit)(struct weir__cell *cell), bool at_once)
{
	struct weir__walk walk = {.at = top, .top = top, .visit = visit};

	enlist(system, &walk);
	while (walk.at) {
		step(system, &walk);
		if (!at_once && walk.at)
			weir__breathe(system);
	}
	weir__walk_end(&walk);
}

void weir__walks_add(struct weir_system *system, struct weir__cell *parent,
		     struct weir__cell *cell)
{
	struct weir__walk *walk;

	for (walk = system->walks; walk; walk = walk->next)
		if (walk->parent == parent && !walk->at && !walk->alone)
			walk->at = cell;
}

void weir__walks_pass(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__walk *walk;

	for (walk = system->walks; walk; walk = walk->next) {
		if (walk->at != cell)
			continue;
		if (walk->top)
			pass(system, walk, cell);
		else
			walk->at = weir__tree_next(system, cell);
	}
}

/* A walk that is not over, or NULL. */
static struct weir__walk *walk_below(const struct weir_system *system,
				     const struct weir__cell *top)
{
	struct weir__walk *walk = system->walks;

	while (walk && (walk->top != top || !walk->at))
		walk = walk->next;
	return walk;
}

void weir__walks_finish(struct weir_system *system, struct weir__cell *top,
			bool at_once)
{
	struct weir__walk *walk;

	/* looked up each time: the thread that began the walk may have
	 * ended it */
	while ((walk = walk_below(system, top))) {
		step(system, walk);
		if (!at_once)
			weir__breathe(system);
	}
}

void weir__walks_open(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *first = weir__tree_first(system, cell);
	struct weir__walk *walk;

	/* if it has no children, it is passed later: the walk goes on
	 * behind it */
	for (walk = system->walks; first && walk; walk = walk->next)
		if (walk->at == cell)
			walk->at = first;
}

/* --- For tests ------------------------------------------------------------ */

/* The cell that is visited next, or NULL. */
static struct weir__cell *behind(struct weir_system *system,
				 const struct weir__walk *walk,
				 struct weir__cell *cell)
{
	struct weir__cell *next;

	if (cell == walk->top)
		return NULL;
	next = weir__tree_next(system, cell);
	return next ? deepest(system, next) : weir__tree_parent(system, cell);
}

uint32_t weir__walks_to_come(struct weir_system *system,
			     const struct weir__cell *cell,
			     void (*visit)(struct weir__cell *cell))
{
	struct weir__walk *walk;
	struct weir__cell *each;
	uint32_t n = 0;

	for (walk = system->walks; walk; walk = walk->next) {
		if (walk->visit != visit || !walk->at)
			continue;
		each = deepest(system, walk->at);
		while (each && each != cell)
			each = behind(system, walk, each);
		n += each != NULL;
	}
	return n;
}
