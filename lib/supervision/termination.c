/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a system, its hooks and its memory. The order of the end:
 *
 * 1. /user stops: by weir_system_stop(), because it fails, or by a drain.
 * 2. /user has ended and been released: the before-end hooks run.
 * 3. The thread that gives the last answer stops root, which stops /system.
 * 4. The thread that frees the last cell runs the termination hooks, and
 *    completes the system's completion.
 *
 * n_answers counts the before-end hooks that are not done, plus 1 while /user
 * has not ended, plus 1 while weir_system_new() runs. While n_answers is not 0,
 * it counts in `lock.used` as a cell does. Cells are taken and hooks are added
 * only before `stopping` is set, and n_answers is not 0 before that. So
 * `lock.used` becomes 0 only once, under the lock. The thread that has made it
 * 0 calls weir__system_unused().
 */
#include "supervision/termination.h"

#include <errno.h>

#include "base/memory.h"

static void destroy(struct weir_system *system)
{
	const struct weir_allocator *allocator = system->options.allocator;

	assert(!system->lock.used && !system->n_answers);
	assert(!system->names.root);
	weir__slots_fini(&system->slots);
	weir__not_refused(weir_completion_fini(&system->terminated));
	weir__free(allocator, system, system->size);
}

int weir_system_free(struct weir_system *system)
{
	if (!system)
		return 0;
	if (!weir_completion_done(&system->terminated))
		return -EBUSY;
	destroy(system);
	return 0;
}

/* Runs hooks. The memory of a hook may be gone when its `run` has begun. */
static void run_hooks(struct weir_system_hook *hook)
{
	struct weir_system_hook *next;

	for (; hook; hook = next) {
		next = hook->next;
		hook->run(hook);
	}
}

void weir__system_unused(struct weir__system_lock *lock)
{
	struct weir_system *system =
		weir_container_of(lock, struct weir_system, lock);

	if (system->abandoned) {
		destroy(system);
		return;
	}
	run_hooks(system->at_termination);
	/* our last touch: a thread that sees it may free the system and the
	 * executors */
	(void)weir_completion_complete(&system->terminated, NULL);
}

void weir__system_let_go(struct weir_system *system)
{
	bool held = weir__enter(&system->lock);

	system->lock.used--;
	weir__leave_unused(&system->lock, held);
}

/* One more hook is done. */
void weir__system_answered(struct weir_system *system)
{
	struct weir__cell *root = NULL;
	bool held = weir__enter(&system->lock);

	assert(system->n_answers > 0);
	if (--system->n_answers == 0) {
		assert(system->stopping);
		root = weir__cell_find(system, system->root);
		system->lock.used--;
	}
	if (root)
		weir__cell_order(root, WEIR__ORDER_STOP);
	weir__leave_unused(&system->lock, held);
}

void weir__system_before_end(struct weir_system *system)
{
	bool held = weir__enter(&system->lock);
	struct weir_system_hook *hooks;

	system->stopping = true;
	hooks = system->before_end;
	weir__leave(&system->lock, held);
	run_hooks(hooks);
	weir__system_answered(system);
}

static int add_hook(struct weir_system *system, struct weir_system_hook *hook,
		    bool before_end)
{
	struct weir_system_hook **list;
	bool held;
	int rc = -ESHUTDOWN;

	if (!system || !hook || !hook->run)
		return -EINVAL;
	list = before_end ? &system->before_end : &system->at_termination;
	held = weir__enter(&system->lock);
	if (!system->stopping) {
		hook->system = system;
		hook->next = *list;
		*list = hook;
		system->n_answers += before_end;
		rc = 0;
	}
	weir__leave(&system->lock, held);
	return rc;
}

int weir_system_before_end(struct weir_system *system,
			   struct weir_system_hook *hook)
{
	return add_hook(system, hook, true);
}

int weir_system_at_termination(struct weir_system *system,
			       struct weir_system_hook *hook)
{
	return add_hook(system, hook, false);
}

void weir_system_hook_done(struct weir_system_hook *hook)
{
	if (hook)
		weir__system_answered(hook->system);
}
