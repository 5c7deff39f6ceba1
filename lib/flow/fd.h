/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reading and writing have in common: a descriptor that is not ready is
 * watched. The watch holds the operator while it is armed, and wakes its stage.
 */
#ifndef WEIR_FLOW_FD_H
#define WEIR_FLOW_FD_H

#include <ck_pr.h>

#include "flow/flow.h"

/* Zeroed, then survives a restart of its operator. */
struct weir__watching {
	struct weir_watch watch;
	struct weir__op *op;
	uint32_t armed; /* atomic; cleared by who fires it */
};

/* No acquire: who acts on it arms it again, which has one. Owner. */
static inline bool weir__watching_armed(const struct weir__watching *watching)
{
	return ck_pr_load_32(&watching->armed) != 0;
}

/* Wakes the operator's stage when `events` have come, or fails it. Owner. */
void weir__watching_wait(struct weir__watching *self, struct weir__op *op,
			 int fd, short events);

/* Not any more. Owner. */
void weir__watching_off(struct weir__watching *self, struct weir__op *op);

#endif
