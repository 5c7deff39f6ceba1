/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of ports that take part in firing. */
#ifndef WEIR_ACTOR_PORT_SET_H
#define WEIR_ACTOR_PORT_SET_H

#include <stdint.h>

#include <weir/port.h>

/* Takes no part any more (rule 7); `flag` is IGNORED or ENDED. Owner. */
void weir__port_switch_off(struct weir_port *port, uint8_t flag);

/*
 * The actor is about to begin: which of its ports are ignored is kept for when
 * it begins anew, which the other does. Owner.
 */
void weir__ports_keep_set(struct weir_actor *actor);
void weir__ports_reset_set(struct weir_actor *actor);

#endif
