/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is whose child, of those that have a slot in a table. Under the lock. */
#ifndef WEIR_SUPERVISION_TREE_H
#define WEIR_SUPERVISION_TREE_H

#include "supervision/slots.h"

/* NULL: there is none. So are the first child and the next sibling. */
struct weir__kin *weir__tree_parent(const struct weir__slots *slots,
				    const struct weir__kin *kin);
struct weir__kin *weir__tree_first(const struct weir__slots *slots,
				   const struct weir__kin *kin);
struct weir__kin *weir__tree_next(const struct weir__slots *slots,
				  const struct weir__kin *kin);

/* Adds a child, which has no parent: before the child `next`, or as the last
 * one, for NULL. */
void weir__tree_link(const struct weir__slots *slots, struct weir__kin *parent,
		     struct weir__kin *next, struct weir__kin *kin);
void weir__tree_unlink(const struct weir__slots *slots, struct weir__kin *kin);

#endif
