/* SPDX-License-Identifier: BSD-2-Clause */
/* What a system tells its user: events and dead letters. No lock is held. */
#include "supervision/telling.h"

#include <ck_pr.h>

void weir__event(struct weir_system *system,
		 enum weir_supervision_event_kind what,
		 struct weir_actor_id supervisor, struct weir_actor_id child,
		 const char *name, struct weir_error *error,
		 enum weir_directive directive)
{
	struct weir_supervision_event event = {
		.what = what,
		.system = system,
		.supervisor = supervisor,
		.child = child,
		.name = name ? name : "actor",
		.error = error,
		.directive = directive,
	};

	if (system->options.event)
		system->options.event(&event, system->options.context);
}

void weir__dead_letter(struct weir_system *system, struct weir_actor_id to,
		       void *item)
{
	/* relaxed: a counter */
	ck_pr_inc_64(&system->dead_letters);
	if (system->options.dead_letter)
		system->options.dead_letter(system, to, item,
					    system->options.context);
}

void weir_system_dead_letter(struct weir_system *system,
			     struct weir_actor_id to,
			     const struct weir_items *items, void *item)
{
	if (system)
		weir__dead_letter(system, to, item);
	if (items && items->drop)
		items->drop(item, items->context);
}

uint64_t weir_system_dead_letter_count(const struct weir_system *system)
{
	return system ? ck_pr_load_64(&system->dead_letters) : 0;
}
