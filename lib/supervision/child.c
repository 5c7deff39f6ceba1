/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the actor's slice asks of its cell, and the actor's hooks. All in its
 * slice, as its owner; hooks are called without the lock.
 *
 * Rule numbers like B2.1 are those of docs/conformance/supervision.md.
 */
#include "supervision/child.h"

#include <assert.h>

#include "actor/ending.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/telling.h"

bool weir__child_drains(const struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	bool drains = weir__cell_of(actor)->drain != WEIR__DRAIN_NONE;

	weir__leave(&system->lock, held);
	return drains;
}

uint8_t weir__child_state(const struct weir_actor *actor)
{
	/* no fence: only the owner leads out of those states */
	return ck_pr_load_8(&weir__cell_of(actor)->state);
}

bool weir__child_steps(const struct weir_actor *actor,
		       enum weir__life_event event)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	uint8_t state = weir__cell_of(actor)->state;

	weir__leave(&system->lock, held);
	return weir__life_step(state, event).state != state;
}

bool weir__child_drained(const struct weir_actor *actor)
{
	return weir__cell_of(actor)->kind == WEIR__DRAINED;
}

void weir__child_free_name(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	struct weir__name *name = weir__record_of(weir__cell_of(actor))->name;

	if (name)
		weir__names_hide(&system->names, name);
	weir__leave(&system->lock, held);
}

bool weir__child_killed(const struct weir_actor *actor)
{
	uint8_t kind = weir__cell_of(actor)->kind;

	return kind == WEIR_FAILURE_KILLED || kind == WEIR__FORCED;
}

/* --- Hooks ---------------------------------------------------------------- */

void weir__child_report(struct weir_actor *actor, int rc)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor), *parent;
	struct weir_actor_id self, supervisor = WEIR_ACTOR_ID_NONE;
	bool held;

	if (rc >= 0)
		return;
	held = weir__enter(&system->lock);
	self = weir__cell_ref(system, cell);
	parent = weir__cell_parent(system, cell);
	if (parent)
		supervisor = weir__cell_ref(system, parent);
	weir__leave(&system->lock, held);
	weir__event(system, WEIR_SUPERVISION_EVENT_HOOK, supervisor, self,
		    weir_actor_name(actor), weir_error_of(rc),
		    WEIR_DIRECTIVE_RESUME);
}

void weir__child_post_stop(struct weir_actor *actor)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);

	if (hooks->post_stop)
		weir__child_report(actor,
				   hooks->post_stop(actor, actor->error));
}

bool weir__child_start(struct weir_actor *actor, struct weir_error *cause,
		       enum weir__start how)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);
	int rc;

	/* no post_stop is due: nothing of an earlier start is left */
	assert(!weir__cell_up(weir__cell_of(actor)));
	rc = how != WEIR__START_FIRST && hooks->reset ? hooks->reset(actor) : 0;
	weir__actor_check_rc(actor, rc < 0 ? rc : 0);
	if (actor->flags & WEIR__ACTOR_LEAVING)
		return false;
	if (how == WEIR__START_RESTART && hooks->post_restart)
		rc = hooks->post_restart(actor, cause);
	else if (hooks->pre_start)
		rc = hooks->pre_start(actor);
	weir__actor_check_rc(actor, rc < 0 ? rc : 0);
	/* The hook may have ended the actor before it returned an error. */
	return rc >= 0 && !(actor->flags & WEIR__ACTOR_FAILED);
}

void weir__child_started(struct weir__cell *cell)
{
	cell->started = WEIR__STARTED_UP;
}

void weir__child_down(struct weir__cell *cell)
{
	if (weir__cell_up(cell))
		cell->started = WEIR__STARTED_BEFORE;
}
