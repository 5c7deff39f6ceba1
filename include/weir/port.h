/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all ports have in common. A port is one condition that its actor waits
 * for; the port is blocked or unblocked. The actor fires when all ports that
 * take part are unblocked. If no port takes part, the actor does not fire.
 *
 * Ports are embedded in the actor's own struct, set up after the actor and
 * released with it.
 */
#ifndef WEIR_PORT_H
#define WEIR_PORT_H

#include <weir/actor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_any;

struct weir_port {
	struct weir_actor *actor;
	struct {
		struct weir_port *next; /* the actor's next port */
		uint32_t *block;	/* `blocked`, or that of its weir_any */
		uint32_t blocked;	/* any thread, atomically */
		uint16_t burst : 15;
		uint16_t left_out : 1; /* ignored when its actor starts */
		uint8_t kind;
		uint8_t flags;
	} WEIR_PRIVATE;
};

#define WEIR_BURST_MAX 4096u

/*
 * Sets the burst: the most tokens, items or permits that one turn takes or puts
 * at the port; 1 unless set. The port is unblocked only when a whole burst is
 * available, so that a turn need not check. At the end of a stream one last
 * turn may find fewer. The burst of an in-port or out-port is set before the
 * start only, and the capacity of a link must be at least the sum of both
 * bursts less one, or each end could wait for the other. -EPERM. -EINVAL: null,
 * 0, above WEIR_BURST_MAX, or above what the port or its link can hold; then
 * nothing has changed. Owner.
 */
WEIR_API int weir_port_set_burst(struct weir_port *port, size_t burst);

/*
 * weir_port_ignore() takes the port out of firing until weir_port_require().
 * Tokens that come in meanwhile stay in the port. Both calls end the run of
 * turns under way. -EPERM. -EINVAL: null, or a member of a weir_any. -EPIPE,
 * from weir_port_require(): the port has ended. Owner.
 */
WEIR_API int weir_port_ignore(struct weir_port *port);
WEIR_API int weir_port_require(struct weir_port *port);

#ifdef __cplusplus
}
#endif

#endif
