/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a look from another thread asks of an executor: its counts, and what its
 * threads run. Whoever looks keeps the executor from being freed, and holds no
 * lock.
 */
#ifndef WEIR_EXECUTOR_LOOK_H
#define WEIR_EXECUTOR_LOOK_H

#include <weir/executor.h>
#include <weir/inspect.h>

/*
 * On functions that read, from another thread, words that the owner writes as it
 * likes. A word is never read half.
 */
#define WEIR__LOOKS __attribute__((no_sanitize("thread")))

struct weir__executor_look {
	struct weir_seen_executor *seen;
	/* One of its threads, and the task whose slice runs there, or NULL. */
	void (*thread)(struct weir__executor_look *look,
		       const struct weir_seen_thread *thread,
		       const struct weir_task *task);
};

#endif
