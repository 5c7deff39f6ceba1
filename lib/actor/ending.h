/* SPDX-License-Identifier: BSD-2-Clause */
/* How an actor ends: its signals, its end, what the final slice does. */
#ifndef WEIR_ACTOR_ENDING_H
#define WEIR_ACTOR_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>

/*
 * The owner ends the actor after this turn or handler. `error` (a reference is
 * taken over) tells why, `failed` whether the end is a failure. An actor in a
 * system leaves, see child.h.
 */
void weir__actor_end(struct weir_actor *actor, struct weir_error *error,
		     bool failed);

/* `rc` is what a handler returned: if it is not 0 the actor fails. Owner. */
void weir__actor_check_rc(struct weir_actor *actor, int rc);

/* Tells that the stream of `in` has ended, as ops->ended says. Owner. */
void weir__actor_stream_ended(struct weir_actor *actor, struct weir_in *in,
			      struct weir_error *error);

/* Rule 5: the slice takes the signals. Owner. */
void weir__handle_signals(struct weir_actor *actor);

/*
 * A submission was refused with `code`: SCHEDULED is the caller's, and so is
 * the final slice, which this runs.
 */
void weir__actor_refused(struct weir_actor *actor, int code);

/*
 * Rule 8: two of the parts of the final slice, see weir__actor_retire(). The
 * first tells that the actor ends, while its ports are open; the second closes
 * them. Owner.
 */
void weir__actor_tell_end(struct weir_actor *actor);
void weir__actor_close(struct weir_actor *actor);

#endif
