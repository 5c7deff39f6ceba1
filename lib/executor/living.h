/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executors that live in this process, for those who look inside from
 * outside of them. An executor lists itself when it is set up, at the place
 * where it stays, and takes itself out before any of it is freed.
 *
 * `weir__living` is the one symbol from which all of them are found, also by a
 * reader of another process's memory: it points to the list, NULL as long as
 * there was no executor; `first` of the list to the one listed last, `next` to
 * those listed before it. A node is the field `living` of a registry.
 *
 * The list is in a page of its own that the kernel clears in a child process
 * (as base/forkmark.h has it): so a child begins with a list that is empty and
 * not locked. Executors that it has inherited are not alive there.
 *
 * A look *holds* the executors that it looks at, and who takes one out waits
 * until nobody holds it. An executor is held while it is listed, so once it is
 * taken out nobody comes any more: it waits for looks under way, not for others.
 * A look must wait for nothing that who frees an executor might hold up.
 */
#ifndef WEIR_EXECUTOR_LIVING_H
#define WEIR_EXECUTOR_LIVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

struct weir_executor;

/* One of each executor. Under the list's lock. */
struct weir__living {
	struct weir_executor *executor;
	struct weir__living *next;
	uint32_t looks; /* that hold it; slept on */
};

struct weir__living_list {
	struct weir__lock lock;
	struct weir__living *first;
	bool begun; /* there was an executor in this process */
};

/* Atomic: set once. */
extern struct weir__living_list *weir__living
	__attribute__((visibility("hidden")));

/* Makes the list, if there is none yet. 0 or -ENOMEM. */
int weir__living_open(void);

/*
 * In lib/inspect/inspector.c, far above: called once in each process that has an
 * executor, when the first one is listed. It looks whether the program's user
 * wants to look inside, and by this call it is in programs that are linked
 * statically, too.
 */
void weir__inspector_begin(void);

/* After weir__living_open(). The executor is whole, and stays where it is. */
void weir__living_add(struct weir__living *node,
		      struct weir_executor *executor);

/*
 * Waits until nobody holds it. One that is not listed (any more, or in this
 * process) is fine. Not while the calling thread holds executors.
 */
void weir__living_remove(struct weir__living *node);

/*
 * How many executors there are. If these are at most `n`, they are in
 * `executors`, the oldest first, and held until weir__living_let_go(); else
 * nothing is held.
 */
size_t weir__living_hold(struct weir_executor **executors, size_t n);
void weir__living_let_go(struct weir_executor *const *executors, size_t n);

#endif
