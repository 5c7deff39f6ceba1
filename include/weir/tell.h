/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending to actors. The mailbox of an actor is its in-port that was set up
 * first. Nothing is allocated for an item, and the mailbox never holds more
 * than its capacity.
 */
#ifndef WEIR_TELL_H
#define WEIR_TELL_H

#include <weir/in.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Puts an item into the actor's mailbox, as weir_in_put(). 0: the mailbox owns
 * the item now; a turn takes it, or it is dropped (in a system: a dead letter)
 * when the actor ends. On an error the item stays the caller's: -EAGAIN, the
 * mailbox is full. -EPIPE: it has ended, as it does with the actor. -EISCONN:
 * its tokens come over a link. -ENOTSUP: the actor has no in-port. -EINVAL:
 * null. Any thread that holds a reference of the actor, and its owner;
 * lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_actor_tell(struct weir_actor *actor,
					     void *item);

/*
 * The same for an actor of a system. -ESRCH: the actor has ended; the item
 * stays the caller's. Any thread, with a short lock of the system, in which the
 * id is looked up; so who tells one actor much gets it by weir_system_actor()
 * and calls weir_actor_tell(). If the actor ends meanwhile, this thread may
 * call its ops->released.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_tell(struct weir_system *system,
					      struct weir_actor_id to,
					      void *item);

/*
 * The same for who does not wait for an answer: an item that is not put, for
 * whatever reason, is a dead letter, and dropped as `items` says (NULL: plain
 * values). Any thread.
 */
WEIR_API void weir_system_send(struct weir_system *system,
			       struct weir_actor_id to,
			       const struct weir_items *items, void *item);

#ifdef __cplusplus
}
#endif

#endif
