/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that any thread may make on a back-off supervisor. */
#include "supervision/backoff_supervisor.h"

#include <errno.h>

/* There is no child to take the item: does what the options say. */
static int absent(struct weir_backoff_supervisor *self, void *item)
{
	const struct weir_backoff_supervisor_options *options = &self->options;

	if (options->absent)
		return options->absent(item, options->context);
	if (options->absent_code)
		return options->absent_code;
	weir_system_dead_letter(weir_actor_system(&self->actor),
				weir_actor_self(&self->actor), options->items,
				item);
	return 1;
}

/* The put of a final item into a child is over; `taken`: the child's in-port
 * has it. */
static void final_put(struct weir_backoff_supervisor *self, bool taken)
{
	weir__backoff_lock(self);
	self->finals--;
	if (taken)
		self->final = true;
	weir__backoff_unlock(self);
	weir_actor_signal(&self->actor);
}

/* Lets go of the reference of the child. */
static int put_into(struct weir_backoff_supervisor *self,
		    struct weir_actor *child, struct weir_in *input, void *item,
		    bool final)
{
	int rc = weir_in_put(input, item);
	bool gone = rc == -EPIPE;

	weir_actor_unref(child);
	if (gone)
		rc = absent(self, item);
	if (final)
		final_put(self, gone || rc == 0);
	return rc;
}

int weir_backoff_supervisor_put(struct weir_backoff_supervisor *supervisor,
				void *item)
{
	struct weir_backoff_supervisor *self = supervisor;
	struct weir_actor *child = NULL;
	struct weir_in *input;
	uint8_t phase;
	bool final;
	int rc;

	if (!self)
		return -EINVAL;
	final = self->options.is_final &&
		self->options.is_final(item, self->options.context);
	weir__backoff_lock(self);
	phase = self->phase;
	input = self->input;
	if (input) {
		child = weir_actor_ref(self->child);
		self->finals += final;
	} else if (final && phase != WEIR__BACKOFF_NEW) {
		self->final = true;
	}
	weir__backoff_unlock(self);
	if (phase == WEIR__BACKOFF_NEW)
		return -EAGAIN;
	if (phase == WEIR__BACKOFF_OVER)
		return -EPIPE;
	if (child)
		return put_into(self, child, input, item, final);
	rc = absent(self, item);
	if (final)
		weir_actor_signal(&self->actor);
	return rc;
}

int weir_backoff_supervisor_put_up(struct weir_backoff_supervisor *supervisor,
				   void *item)
{
	if (!supervisor)
		return -EINVAL;
	if (!supervisor->options.up)
		return -ENOTSUP;
	return weir_in_put(supervisor->options.up, item);
}

int weir_backoff_supervisor_end(struct weir_backoff_supervisor *supervisor)
{
	if (!supervisor)
		return -EINVAL;
	weir__backoff_lock(supervisor);
	supervisor->final = true;
	weir__backoff_unlock(supervisor);
	weir_actor_signal(&supervisor->actor);
	return 0;
}

int weir_backoff_supervisor_reset(struct weir_backoff_supervisor *supervisor)
{
	if (!supervisor)
		return -EINVAL;
	if (supervisor->options.backoff.reset_ns != WEIR_FOREVER)
		return -ENOTSUP;
	weir__backoff_lock(supervisor);
	supervisor->count = 0;
	weir__backoff_unlock(supervisor);
	return 0;
}

struct weir_actor_id weir_backoff_supervisor_child(
	struct weir_backoff_supervisor *supervisor)
{
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;

	if (supervisor) {
		weir__backoff_lock(supervisor);
		id = supervisor->id;
		weir__backoff_unlock(supervisor);
	}
	return id;
}

int64_t weir_backoff_supervisor_count(
	struct weir_backoff_supervisor *supervisor)
{
	uint32_t count = 0;
	uint64_t now;

	if (supervisor) {
		now = weir__backoff_now(supervisor);
		weir__backoff_lock(supervisor);
		count = weir__backoff_count(supervisor, now);
		weir__backoff_unlock(supervisor);
	}
	return count;
}
