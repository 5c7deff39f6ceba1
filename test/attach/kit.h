/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that stand still, and what is read of them. */
#ifndef WEIR_TEST_ATTACH_KIT_H
#define WEIR_TEST_ATTACH_KIT_H

#include "support.h"

#include <sys/types.h>

#include "attach/attach.h"

/* A program of test/attach/programs that runs, and what it has said of itself. */
struct stalled {
	pid_t pid;
	char said[1 << 14];
};

/* `program`: "stalled", "stalled_shared" or "stalled_static", beside this one.
 * `core`: a directory in which it dies, or NULL. False: it was not built. */
bool stalled_start(struct stalled *stalled, const char *program,
		   const char *way, const char *core);
void stalled_end(const struct stalled *stalled);

/* Words and JSON of a snapshot, which is freed. Until the next call. */
const char *said_of(struct weir_snapshot *snapshot);

#endif
