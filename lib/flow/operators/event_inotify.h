/* SPDX-License-Identifier: BSD-2-Clause */
/* An inotify(7) instance of an operator, whose events are read one by one. */
#ifndef WEIR_FLOW_OPERATORS_EVENT_INOTIFY_H
#define WEIR_FLOW_OPERATORS_EVENT_INOTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/inotify.h>

#include "flow/engine/op.h"
#include "flow/shared/op_fd.h"

/* In the state of an operator, of which the watch survives a restart. */
struct weir__inotify {
	struct weir__op_fd wait; /* must be first */
	int fd;			 /* or -1 */
	size_t at, n;		 /* of `events`: bytes taken, and there */
	/* several, or one with the longest name */
	_Alignas(struct inotify_event) char events[4096];
};

/* 0, or a negative errno. Then `fd` is -1. Owner. */
int weir__inotify_open(struct weir__inotify *self);
void weir__inotify_close(struct weir__inotify *self, struct weir__op *op);

/*
 * The next event, which is valid until the next call. NULL: there is none, and
 * the operator waits for one, or it has failed. Owner.
 */
const struct inotify_event *weir__inotify_next(struct weir__inotify *self,
					       struct weir__op *op);

#endif
