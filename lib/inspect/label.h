/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a trace. An actor's name is copied when the actor is first seen,
 * since the actor, and what its name stands in, may be gone when the trace is
 * written. Each name has a number, which events carry. The last
 * WEIR__LABELS names are kept, an equal one once as a rule.
 *
 *  1. `known` says which number an actor's name has. That is true of an actor
 *     whose gate has TRACED: the bit is set by the slice that makes the name
 *     known, and a new actor at the same address has it not.
 *  2. An entry of `known` is changed by whoever names an actor that shares it,
 *     under the lock: first `actor` is 0, then the number, then the actor. An
 *     entry with an actor's address is changed to that address by this actor's
 *     slices alone. So a slice that reads its own address, the number, and its
 *     address again has read its own number.
 *  3. A label's `number` is 0 while its text is changed, under the lock.
 */
#ifndef WEIR_INSPECT_LABEL_H
#define WEIR_INSPECT_LABEL_H

#include <weir/actor.h>
#include <weir/inspect.h>

#include "actor/gate.h"
#include "base/lock.h"
#include "base/memory.h"

#ifndef WEIR__LABELS /* powers of two; the explorer's are fewer */
#define WEIR__LABELS 16384u
#define WEIR__KNOWN 8192u
#endif

struct weir__label {
	uint32_t number; /* atomic; 0: none */
	char text[WEIR_INSPECT_NAME];
};

struct weir__known {
	uint64_t actor; /* atomic, as the number */
	uint32_t number;
};

struct weir__labels {
	struct weir__lock lock;
	uint32_t last; /* number given; under the lock */
	struct weir__known known[WEIR__KNOWN];
	/* by a hash of the text: a number; under the lock */
	uint32_t same[WEIR__LABELS];
	struct weir__label all[WEIR__LABELS];
};

static inline struct weir__label *weir__label_at(
	const struct weir__labels *labels, uint32_t number)
{
	return (struct weir__label *)&labels->all[number & (WEIR__LABELS - 1)];
}

/* Names the actor, which is not known or whose name was overwritten. Owner. */
uint32_t weir__label_make(struct weir__labels *labels,
			  struct weir_actor *actor);

/* The number of the actor's name. Owner. */
static inline uint32_t weir__label_of(struct weir__labels *labels,
				      struct weir_actor *actor)
{
	uint64_t address = (uintptr_t)actor;
	struct weir__known *known =
		&labels->known[(address >> 6 ^ address >> 16) &
			       (WEIR__KNOWN - 1)];
	uint32_t number;

	if (ck_pr_load_64(&known->actor) != address)
		return weir__label_make(labels, actor);
	/* claim 2; pairs with the fences of stores in weir__label_make() */
	ck_pr_fence_load();
	number = ck_pr_load_32(&known->number);
	ck_pr_fence_load();
	if (WEIR_LIKELY(ck_pr_load_64(&known->actor) == address) &&
	    WEIR_LIKELY(ck_pr_load_32(&actor->gate) & WEIR__GATE_TRACED) &&
	    WEIR_LIKELY(
		    ck_pr_load_32(&weir__label_at(labels, number)->number) ==
		    number))
		return number;
	return weir__label_make(labels, actor);
}

/* What a port waits for. Owner. */
void weir__look_at_own(const struct weir_port *port,
		       struct weir_seen_port *seen);

/*
 * Copies the name with that number; "" if it was overwritten. Without the lock,
 * for a program that has crashed, the text may be garbage, but ends.
 */
void weir__label_read(struct weir__labels *labels, uint32_t number, bool locks,
		      char text[static WEIR_INSPECT_NAME]);

#endif
