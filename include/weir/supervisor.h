/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ready-made supervisor: an actor without ports and without turns, whose
 * children stand in a table, in the order in which they start (Erlang's child
 * specifications). It decides by a strategy (supervision.h), and lives until it
 * is stopped.
 */
#ifndef WEIR_SUPERVISOR_H
#define WEIR_SUPERVISOR_H

#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A child. Its fields are as the arguments of weir_system_spawn(). */
struct weir_child_spec {
	struct weir_actor *actor;
	struct weir_spawn_options options;
};

struct weir_supervisor {
	struct weir_actor actor; /* to be spawned */
	struct {
		struct weir_actor_ops ops;
		struct weir_lifecycle lifecycle;
		const struct weir_child_spec *children;
		size_t n_children, n_spawned;
	} WEIR_PRIVATE;
};

/*
 * Sets a supervisor up in the caller's memory, to be spawned or stopped one day
 * (weir_actor_stop()). Its `pre_start` spawns the children, which have been set
 * up, in the order of the table; if it restarts, they restart. Those that it
 * cannot spawn are stopped: with an error of weir_system_spawn() it fails to
 * start, which no restart makes good. Others may be spawned below it as well.
 *
 * `strategy` (NULL: the default one) and `children` (NULL: none) are borrowed
 * until the supervisor is released. -EINVAL: null, a strategy that
 * weir_strategy_check() refuses, or a child without an actor. Then nothing has
 * changed. Whoever sets it up.
 */
WEIR_API int weir_supervisor_init(struct weir_supervisor *supervisor,
				  struct weir_executor *executor,
				  const struct weir_strategy *strategy,
				  const struct weir_child_spec *children,
				  size_t n_children);

#ifdef __cplusplus
}
#endif

#endif
