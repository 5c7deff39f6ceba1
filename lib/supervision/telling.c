/* SPDX-License-Identifier: BSD-2-Clause */
/* What a system tells its user: events and dead letters. No lock is held. */
#include "supervision/telling.h"

#include <inttypes.h>
#include <stdio.h>

#include <ck_pr.h>

/* Longer ones are cut: a line of a log is for people. */
#define PATH_MAX_LOGGED 256

static const char *what_is_done(const struct weir_supervision_event *event)
{
	static const char *const done[] = {
		[WEIR_DIRECTIVE_RESUME] = "it goes on",
		[WEIR_DIRECTIVE_RESTART] = "it restarts",
		[WEIR_DIRECTIVE_STOP] = "it stops",
		[WEIR_DIRECTIVE_ESCALATE] = "its supervisor fails",
	};

	switch (event->what) {
	case WEIR_SUPERVISION_EVENT_LIMIT:
		return "its limit refuses a restart";
	case WEIR_SUPERVISION_EVENT_HOOK:
		return "in a hook of its end";
	case WEIR_SUPERVISION_EVENT_DIRECTIVE:
	default:
		return done[event->directive];
	}
}

void weir_supervision_event_log(const struct weir_supervision_event *event,
				void *unused)
{
	const struct weir_error *error = event->error;
	char path[PATH_MAX_LOGGED];

	(void)unused;
	if (weir_system_path(event->system, event->child, path, sizeof(path)) <
	    0)
		(void)snprintf(path, sizeof(path), "%" PRIu32 "/%" PRIu32,
			       event->child.slot, event->child.generation);
	/* in one call, which writes it in one piece */
	(void)fprintf(stderr, "weir: %s (%s): %s%s%s; %s\n", path, event->name,
		      error ? error->origin : "",
		      error && *error->origin ? ": " : "",
		      error ? error->message : "has finished",
		      what_is_done(event));
}

void weir_supervision_event_ignore(const struct weir_supervision_event *event,
				   void *unused)
{
	(void)event;
	(void)unused;
}

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
	else
		weir_supervision_event_log(&event, NULL);
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
