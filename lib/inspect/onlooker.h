/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at all executors of the process again and again, as long as somebody
 * asks for what one look cannot tell. There is no sampler, as an executor that
 * has one is not freed. On one thread at a time, which tells the time.
 *
 *	looks  from a question on, for ONCE_NS; for KEEP_NS if there was another
 *	       question less than KEEP_NS before
 *	rests  else: it has no memory and needs no time
 */
#ifndef WEIR_INSPECT_ONLOOKER_H
#define WEIR_INSPECT_ONLOOKER_H

#include "inspect/history.h"

#define WEIR__ONLOOKER_ONCE_NS UINT64_C(3000000000)
#define WEIR__ONLOOKER_KEEP_NS UINT64_C(20000000000)

/* Zeroed memory rests. */
struct weir__onlooker {
	struct weir__history history;
	struct weir__snapshot *scratch, *before; /* the last two looks; NULL */
	uint64_t asked_ns;			 /* last; 0: never */
	uint64_t until_ns;			 /* it looks; 0: it rests */
	uint64_t next_ns;			 /* look */
};

/* Somebody asks. */
void weir__onlooker_ask(struct weir__onlooker *self, uint64_t now_ns);

/* Looks if it is time to, and rests if it is time to. */
void weir__onlooker_step(struct weir__onlooker *self, uint64_t now_ns);

/* How long until the next step; UINT64_MAX: it rests. */
uint64_t weir__onlooker_left_ns(const struct weir__onlooker *self,
				uint64_t now_ns);

/* As weir_snapshot_new() of all executors, with what is known. 0 or -ENOMEM. */
int weir__onlooker_snapshot(struct weir__onlooker *self, uint64_t now_ns,
			    struct weir_snapshot **snapshot);

/* It rests. */
void weir__onlooker_fini(struct weir__onlooker *self);

#endif
