/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending to an actor that is known by its id. The cell of the id is looked up
 * under the lock, where the actor gets a reference more. So its memory stays
 * until the item is put, which is done without the lock.
 */
#include <weir/tell.h>

#include <errno.h>

int weir_system_tell(struct weir_system *system, struct weir_actor_id to,
		     void *item)
{
	struct weir_actor *actor;
	int rc;

	if (!system)
		return -EINVAL;
	actor = weir_system_actor(system, to);
	if (!actor)
		return -ESRCH;
	rc = weir_actor_tell(actor, item);
	weir_actor_unref(actor);
	return rc;
}

void weir_system_send(struct weir_system *system, struct weir_actor_id to,
		      const struct weir_items *items, void *item)
{
	if (weir_system_tell(system, to, item) < 0)
		weir_system_dead_letter(system, to, items, item);
}
