/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When an actor runs: what other threads do to its gate, and what executors and
 * those that end an actor call.
 */
#ifndef WEIR_ACTOR_FIRING_H
#define WEIR_ACTOR_FIRING_H

#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#include <weir/actor.h>
#include <weir/port.h>

/* Rule 1: submits an actor whose SCHEDULED bit the caller has set. */
void weir__actor_submit(struct weir_actor *actor);

/* Rule 5: any thread that holds a reference, or the owner. */
void weir__actor_signal(struct weir_actor *actor, uint8_t signals);

/* Rule 2: the port may have become unblocked. Any thread with a reference. */
void weir__port_unblocked(struct weir_port *port);
static inline void weir__port_unblock(struct weir_port *port)
{
	/* No acquire: reading 0 means the owner will look for itself. */
	if (ck_pr_load_32(port->block))
		weir__port_unblocked(port);
}

/* Rule 6. Any thread with a reference. */
void weir__actor_suspend(struct weir_actor *actor, uint32_t bit);
void weir__actor_resume(struct weir_actor *actor, uint32_t bit);

/*
 * Rule 8: all that the final slice does but the drop of the reference.
 * `published`: nothing was put since the slice has published. Owner.
 */
void weir__actor_retire(struct weir_actor *actor, bool published);

/* One slice of the actor that the task is. True: submit it again. */
bool weir__actor_slice(struct weir_task *task);

#endif
