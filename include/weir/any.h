/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A group of ports: unblocked when any of its members is (such as "input or
 * timer"). The turn asks which one: weir_in_count(), weir_out_room(),
 * weir_port_ready().
 */
#ifndef WEIR_ANY_H
#define WEIR_ANY_H

#include <stdbool.h>

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_any {
	struct weir_port port;
	struct {
		const struct weir__port_ops *ops;
	} WEIR_PRIVATE;
};

/* Sets up a group of `actor`, empty. -EINVAL: null. -EPERM. Owner. */
WEIR_API int weir_any_init(struct weir_any *any, struct weir_actor *actor);

/*
 * `port` takes part in firing through the group only. -EINVAL: null, another
 * actor's, a group, or a member already. -EPERM. Owner, before start.
 */
WEIR_API int weir_any_add(struct weir_any *any, struct weir_port *port);

/*
 * True when the port is unblocked now (has its burst of tokens, room or
 * permits, or its time has come). False of a port that has ended or was
 * cancelled. Owner.
 */
WEIR_API bool weir_port_ready(struct weir_port *port);

#ifdef __cplusplus
}
#endif

#endif
