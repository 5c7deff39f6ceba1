/* SPDX-License-Identifier: BSD-2-Clause */
/* How an executor ends. */
#ifndef WEIR_EXECUTOR_EXECUTOR_H
#define WEIR_EXECUTOR_EXECUTOR_H

#include <weir/executor.h>

#include "executor/registry.h"

/*
 * As weir_executor_end_async(), or with WEIR__ABORTING as
 * weir_executor_stop_async(), of tasks that `ops` knows.
 */
int weir__executor_end(struct weir_executor *executor,
		       struct weir_ending *drain, uint64_t deadline_ns,
		       enum weir__phase phase,
		       const struct weir__task_ops *ops);

#endif
