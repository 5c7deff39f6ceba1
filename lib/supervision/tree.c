/* SPDX-License-Identifier: BSD-2-Clause */
/* Siblings form a circle: the sibling before the first is the last. */
#include "supervision/tree.h"

#include <assert.h>

static struct weir__kin *at(const struct weir__slots *slots, uint32_t slot)
{
	return slot == WEIR__NO_CELL ? NULL : weir__slots_at(slots, slot);
}

struct weir__kin *weir__tree_parent(const struct weir__slots *slots,
				    const struct weir__kin *kin)
{
	return at(slots, kin->parent);
}

struct weir__kin *weir__tree_first(const struct weir__slots *slots,
				   const struct weir__kin *kin)
{
	return at(slots, kin->first);
}

struct weir__kin *weir__tree_next(const struct weir__slots *slots,
				  const struct weir__kin *kin)
{
	const struct weir__kin *parent = at(slots, kin->parent);

	return !parent || kin->next == parent->first ? NULL
						     : at(slots, kin->next);
}

/* Links that one into the circle of siblings, before `next`. */
static void link_before(const struct weir__slots *slots, struct weir__kin *next,
			struct weir__kin *kin, uint32_t slot)
{
	struct weir__kin *prev = at(slots, next->prev);

	kin->prev = next->prev;
	kin->next = prev->next;
	prev->next = slot;
	next->prev = slot;
}

void weir__tree_link(const struct weir__slots *slots, struct weir__kin *parent,
		     struct weir__kin *next, struct weir__kin *kin)
{
	struct weir__kin *first = at(slots, parent->first);
	uint32_t slot = kin->next; /* it is alone */

	assert(weir__slots_at(slots, slot) == kin && kin->prev == slot);
	kin->parent = weir__slot_of(slots, parent);
	if (first)
		link_before(slots, next ? next : first, kin, slot);
	if (!first || next == first)
		parent->first = slot;
}

void weir__tree_unlink(const struct weir__slots *slots, struct weir__kin *kin)
{
	struct weir__kin *parent = weir__tree_parent(slots, kin);
	struct weir__kin *prev = at(slots, kin->prev);
	struct weir__kin *next = at(slots, kin->next);
	uint32_t slot = prev->next;

	assert(parent->first != WEIR__NO_CELL);
	assert(weir__slots_at(slots, slot) == kin && next->prev == slot);
	if (parent->first == slot)
		parent->first = kin->next == slot ? WEIR__NO_CELL : kin->next;
	prev->next = kin->next;
	next->prev = kin->prev;
	kin->next = slot;
	kin->prev = slot;
	kin->parent = WEIR__NO_CELL;
}
