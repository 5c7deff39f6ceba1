/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over many of a tree that lend the lock now and then (weir__breathe()).
 * A system knows its walks, so that one that leaves the tree moves the walks
 * that are at it on. All under the lock; each walk by one thread.
 */
#ifndef WEIR_SUPERVISION_WALK_H
#define WEIR_SUPERVISION_WALK_H

#include "supervision/slots.h"
#include "supervision/system_lock.h"

/* Those of a system. */
struct weir__walks {
	struct weir__walk *first;
	/* constant */
	const struct weir__slots *slots;
	struct weir__system_lock *lock;
};

typedef void weir__visit_fn(struct weir__kin *kin);

struct weir__walk {
	struct weir__walk *next, **link; /* all of the system's */
	struct weir__kin *at;		 /* is next; NULL: there are no more */
	/* the walk is over all below `top` and last `top`; NULL: over
	 * siblings */
	struct weir__kin *top;
	weir__visit_fn *visit;
	struct weir__kin *parent; /* of the siblings */
	bool alone;		  /* over the first sibling alone */
};

/* Over siblings, from `first` on, which may be NULL. */
void weir__walk_begin(struct weir__walks *walks, struct weir__walk *walk,
		      struct weir__kin *first);
/*
 * The next one; NULL: there are no more, and the walk is over. Other threads
 * may have had the lock between two, but not between the last one and NULL.
 */
struct weir__kin *weir__walk_next(struct weir__walks *walks,
				  struct weir__walk *walk);
/* Ends a walk before its last sibling. */
void weir__walk_end(struct weir__walk *walk);

/*
 * Visits all below `top`, children before their parents, and `top` last. A
 * child that comes meanwhile below one that was visited is to have that one's
 * new state; a child that comes below another one is visited.
 */
void weir__walk_below(struct weir__walks *walks, struct weir__kin *top,
		      weir__visit_fn *visit, bool at_once);

/* That one was added to its parent's children, as the last one. */
void weir__walks_add(struct weir__walks *walks, const struct weir__kin *parent,
		     struct weir__kin *kin);
/* That one leaves its parent's children, and has none. */
void weir__walks_pass(struct weir__walks *walks, struct weir__kin *kin);
/* Walks of other threads over all below `top` are finished. */
void weir__walks_finish(struct weir__walks *walks, const struct weir__kin *top,
			bool at_once);
/* Its children are put before it in the list of siblings, in their order. */
void weir__walks_open(struct weir__walks *walks, const struct weir__kin *kin);

/* For tests: how many walks of that kind have yet to visit it. */
uint32_t weir__walks_to_come(const struct weir__walks *walks,
			     const struct weir__kin *kin,
			     weir__visit_fn *visit);

#endif
