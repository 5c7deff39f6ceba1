/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks that lend the lock. The claims hold whenever they do:
 *
 * 1. `at` is in the tree, and is the next to be visited. In a walk below a top,
 *    none below `at` has been visited. A parent is visited without
 *    lending the lock after the last of its children; so no child can be added
 *    below it in between, unseen.
 * 2. A new sibling is added as the last one, so it is visited before its
 *    parent. A walk that has visited all siblings goes on with siblings that
 *    were added meanwhile.
 */
#include "supervision/walk.h"

#include "supervision/tree.h"

/* Out of line, or gcc takes a walk that ends with its caller for dangling. */
static __attribute__((noinline)) void enlist(struct weir__walks *walks,
					     struct weir__walk *walk)
{
	walk->next = walks->first;
	walk->link = &walks->first;
	if (walk->next)
		walk->next->link = &walk->next;
	walks->first = walk;
}

void weir__walk_end(struct weir__walk *walk)
{
	*walk->link = walk->next;
	if (walk->next)
		walk->next->link = walk->link;
}

void weir__walk_begin(struct weir__walks *walks, struct weir__walk *walk,
		      struct weir__kin *first)
{
	*walk = (struct weir__walk){.at = first};
	if (first)
		walk->parent = weir__tree_parent(walks->slots, first);
	enlist(walks, walk);
}

struct weir__kin *weir__walk_next(struct weir__walks *walks,
				  struct weir__walk *walk)
{
	struct weir__kin *kin;

	/* the first step does not lend the lock */
	if (walk->at && !walk->alone)
		weir__breathe(walks->lock);
	kin = walk->at;
	if (kin)
		walk->at = walk->alone ? NULL
				       : weir__tree_next(walks->slots, kin);
	else
		weir__walk_end(walk);
	return kin;
}

/* Claim 1: behind the one that has been visited or leaves. */
static void pass(struct weir__walks *walks, struct weir__walk *walk,
		 struct weir__kin *kin)
{
	struct weir__kin *next = NULL;

	while (kin != walk->top &&
	       !(next = weir__tree_next(walks->slots, kin))) {
		kin = weir__tree_parent(walks->slots, kin);
		walk->visit(kin);
	}
	walk->at = next;
}

/* The one that is visited first, of `kin` and all its descendants. */
static struct weir__kin *deepest(const struct weir__walks *walks,
				 struct weir__kin *kin)
{
	struct weir__kin *child;

	while ((child = weir__tree_first(walks->slots, kin)))
		kin = child;
	return kin;
}

static void step(struct weir__walks *walks, struct weir__walk *walk)
{
	struct weir__kin *kin = deepest(walks, walk->at);

	walk->visit(kin);
	pass(walks, walk, kin);
}

void weir__walk_below(struct weir__walks *walks, struct weir__kin *top,
		      weir__visit_fn *visit, bool at_once)
{
	struct weir__walk walk = {.at = top, .top = top, .visit = visit};

	enlist(walks, &walk);
	while (walk.at) {
		step(walks, &walk);
		if (!at_once && walk.at)
			weir__breathe(walks->lock);
	}
	weir__walk_end(&walk);
}

void weir__walks_add(struct weir__walks *walks, const struct weir__kin *parent,
		     struct weir__kin *kin)
{
	struct weir__walk *walk;

	for (walk = walks->first; walk; walk = walk->next)
		if (walk->parent == parent && !walk->at && !walk->alone)
			walk->at = kin;
}

void weir__walks_pass(struct weir__walks *walks, struct weir__kin *kin)
{
	struct weir__walk *walk;

	for (walk = walks->first; walk; walk = walk->next) {
		if (walk->at != kin)
			continue;
		if (walk->top)
			pass(walks, walk, kin);
		else
			walk->at = weir__tree_next(walks->slots, kin);
	}
}

/* A walk that is not over, or NULL. */
static struct weir__walk *walk_below(const struct weir__walks *walks,
				     const struct weir__kin *top)
{
	struct weir__walk *walk = walks->first;

	while (walk && (walk->top != top || !walk->at))
		walk = walk->next;
	return walk;
}

void weir__walks_finish(struct weir__walks *walks, const struct weir__kin *top,
			bool at_once)
{
	struct weir__walk *walk;

	/* looked up each time: the thread that began the walk may have
	 * ended it */
	while ((walk = walk_below(walks, top))) {
		step(walks, walk);
		if (!at_once)
			weir__breathe(walks->lock);
	}
}

void weir__walks_open(struct weir__walks *walks, const struct weir__kin *kin)
{
	struct weir__kin *first = weir__tree_first(walks->slots, kin);
	struct weir__walk *walk;

	/* if it has no children, it is passed later: the walk goes on
	 * behind it */
	for (walk = walks->first; first && walk; walk = walk->next)
		if (walk->at == kin)
			walk->at = first;
}

/* --- For tests ------------------------------------------------------------ */

/* The one that is visited next, or NULL. */
static struct weir__kin *behind(const struct weir__walks *walks,
				const struct weir__walk *walk,
				struct weir__kin *kin)
{
	struct weir__kin *next;

	if (kin == walk->top)
		return NULL;
	next = weir__tree_next(walks->slots, kin);
	return next ? deepest(walks, next)
		    : weir__tree_parent(walks->slots, kin);
}

uint32_t weir__walks_to_come(const struct weir__walks *walks,
			     const struct weir__kin *kin, weir__visit_fn *visit)
{
	struct weir__walk *walk;
	struct weir__kin *each;
	uint32_t n = 0;

	for (walk = walks->first; walk; walk = walk->next) {
		if (walk->visit != visit || !walk->at)
			continue;
		each = deepest(walks, walk->at);
		while (each && each != kin)
			each = behind(walks, walk, each);
		n += each != NULL;
	}
	return n;
}
