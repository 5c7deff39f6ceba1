/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Systems as a whole: the guardians, and the end of a system.
 *
 * The guardians are ordinary actors without ports, so none of their turns ever
 * runs. Root supervises the other two. The order of the end:
 *
 * 1. /user stops: by weir_system_stop(), because it fails, or by a drain.
 * 2. /user has ended and been released: the before-end hooks run.
 * 3. The thread that gives the last answer stops root, which stops /system.
 * 4. The thread that frees the last cell runs the termination hooks, and
 *    completes the system's completion.
 *
 * n_answers counts the before-end hooks that are not done, plus 1 while /user
 * has not ended, plus 1 while weir_system_new() runs. While n_answers is not 0,
 * it counts in `used` as a cell does. Cells are taken and hooks are added only
 * before `stopping` is set, and n_answers is not 0 before that. So `used`
 * becomes 0 only once, under the lock. The thread that has made it 0 calls
 * weir__system_unused().
 */
#include <weir/system.h>

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "executor/sim.h"
#include "supervision/child.h"
#include "supervision/names.h"
#include "supervision/system.h"

/* One piece of memory, for everything that does not grow. */
struct whole {
	struct weir_system system;
	struct weir_actor root, user, guard;
	struct weir_actor_ops user_ops;
	struct weir_lifecycle user_life;
	bool abandoned; /* weir_system_new() has failed: the last cell frees
			 * all */
};

static struct whole *whole_of(struct weir_system *system)
{
	return weir_container_of(system, struct whole, system);
}

static void destroy(struct weir_system *system)
{
	const struct weir_allocator *allocator = system->options.allocator;

	assert(!system->used && !system->n_answers);
	assert(!system->names);
	weir__cells_fini(system);
	weir__not_refused(weir_completion_fini(&system->terminated));
	weir__free(allocator, whole_of(system), sizeof(struct whole));
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

void weir__system_unused(struct weir_system *system)
{
	if (whole_of(system)->abandoned) {
		destroy(system);
		return;
	}
	run_hooks(system->at_termination);
	/* our last touch: a thread that sees it may free the system and the
	 * executors */
	(void)weir_completion_complete(&system->terminated, NULL);
}

/* One more hook is done. */
static void answered(struct weir_system *system)
{
	struct weir__cell *root = NULL;
	bool held, last = false;

	held = weir__enter(system);
	assert(system->n_answers > 0);
	if (--system->n_answers == 0) {
		assert(system->stopping);
		root = weir__cell_find(system, system->root);
		last = --system->used == 0;
	}
	if (root)
		weir__cell_order(root, WEIR__ORDER_STOP);
	weir__leave(system, held);
	if (last)
		weir__system_unused(system);
}

/* --- Guardians ------------------------------------------------------------ */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static void user_released(struct weir_actor *user)
{
	struct weir_system *system = weir__system_of(user);
	bool held = weir__enter(system);
	struct weir_system_hook *hooks;

	system->stopping = true;
	hooks = system->before_end;
	weir__leave(system, held);
	run_hooks(hooks);
	answered(system);
}

/* /user or /system has failed. */
static int root_decide(struct weir_actor *root,
		       const struct weir_failure *failure, void *context)
{
	(void)failure;
	(void)context;
	weir_system_stop(weir__system_of(root));
	return WEIR_DIRECTIVE_STOP;
}

static const struct weir_strategy root_strategy = {.decide = root_decide};
static const struct weir_lifecycle root_life = {.strategy = &root_strategy};

static const struct weir_actor_ops root_ops = {
	.name = "/",
	.turns = no_turns,
	.lifecycle = &root_life,
};

static const struct weir_actor_ops guard_ops = {
	.name = "/system",
	.turns = no_turns,
};

static void set_up(struct whole *whole, const struct weir_strategy *strategy)
{
	struct weir_executor *executor = whole->system.executor;

	whole->user_life.strategy = strategy;
	whole->user_ops = (struct weir_actor_ops){
		.name = "/user",
		.turns = no_turns,
		.released = user_released,
		.lifecycle = &whole->user_life,
	};
	(void)weir_actor_init(&whole->root, &root_ops, executor);
	(void)weir_actor_init(&whole->user, &whole->user_ops, executor);
	(void)weir_actor_init(&whole->guard, &guard_ops, executor);
}

static int start(struct whole *whole)
{
	struct weir_system *system = &whole->system;
	int rc;

	rc = weir__spawn_guardian(system, WEIR_ACTOR_ID_NONE, &whole->root,
				  NULL, &system->root);
	if (rc == 0)
		rc = weir__spawn_guardian(system, system->root, &whole->user,
					  "user", &system->user);
	if (rc == 0)
		rc = weir__spawn_guardian(system, system->root, &whole->guard,
					  "system", &system->system);
	return rc;
}

/*
 * The seed of the jitter. Jitter keeps many programs from doing the same at the
 * same time, so each gets another seed; but a run on a simulator must be
 * repeatable.
 */
static uint64_t seed_of(const struct weir_executor *executor, uint64_t seed)
{
	struct timespec now = {0};

	if (seed || weir__sim_seed_of(executor, &seed) ||
	    getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	/* the kernel has none yet: as good as is needed for this */
	(void)clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)getpid() << 32 ^ (uint64_t)now.tv_sec;
	return weir__splitmix(&seed) ^ (uint64_t)now.tv_nsec;
}

/* --- The system ----------------------------------------------------------- */

static struct whole *make(struct weir_executor *executor,
			  const struct weir_system_options *options)
{
	const struct weir_allocator *allocator = options->allocator;
	struct weir_system *system;
	struct whole *whole;

	if (!allocator)
		allocator = executor->options.allocator;
	whole = weir__alloc(allocator, sizeof(*whole));
	if (!whole)
		return NULL;
	system = &whole->system;
	system->executor = executor;
	system->options = *options;
	system->options.allocator = allocator;
	system->none.aside.ops = &weir__child_table;
	system->none.system = system;
	system->none.slot = WEIR__NO_CELL;
	system->none.family = (struct weir__family){
		.failed = WEIR__NO_CELL,
		.halting = WEIR__NO_CELL,
		.halted = WEIR__NO_CELL,
		.going = WEIR__NO_CELL,
	};
	system->free = WEIR__NO_CELL;
	system->n_answers = 2; /* /user, and weir_system_new() */
	system->used = 1;
	system->random = seed_of(executor, options->seed);
	(void)weir_completion_init(&system->terminated);
	set_up(whole, options->strategy);
	return whole;
}

/* The system could not be made: the thread that frees its last cell
 * frees it. */
static void abandon(struct weir_system *system)
{
	bool held = weir__enter(system);
	struct weir__cell *root;

	system->stopping = true;
	whole_of(system)->abandoned = true;
	/* which will not be released */
	system->n_answers -=
		weir_actor_id_equal(system->user, WEIR_ACTOR_ID_NONE);
	root = weir__cell_find(system, system->root);
	if (root)
		weir__cell_order(root, WEIR__ORDER_STOP);
	weir__leave(system, held);
	answered(system);
}

int weir_system_new(struct weir_system **system, struct weir_executor *executor,
		    const struct weir_system_options *options)
{
	static const struct weir_system_options defaults;
	struct whole *whole;
	int rc;

	if (!system)
		return -EINVAL;
	*system = NULL;
	if (!options)
		options = &defaults;
	if (!executor || !executor->registry ||
	    !weir__reserved_zero(options->reserved) ||
	    (options->strategy && weir_strategy_check(options->strategy) < 0))
		return -EINVAL;
	whole = make(executor, options);
	if (!whole)
		return -ENOMEM;
	rc = start(whole);
	if (rc == 0) {
		*system = &whole->system;
		answered(&whole->system);
	} else {
		abandon(&whole->system);
	}
	return rc;
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

void weir_system_stop(struct weir_system *system)
{
	bool held;
	struct weir__cell *user;

	if (!system)
		return;
	held = weir__enter(system);
	system->stopping = true;
	/* everything else follows from the end of /user; see the top */
	user = weir__cell_find(system, system->user);
	if (user)
		weir__cell_order(user, WEIR__ORDER_STOP);
	weir__leave(system, held);
}

struct weir_completion *weir_system_terminated(struct weir_system *system)
{
	return system ? &system->terminated : NULL;
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
	held = weir__enter(system);
	if (!system->stopping) {
		hook->system = system;
		hook->next = *list;
		*list = hook;
		system->n_answers += before_end;
		rc = 0;
	}
	weir__leave(system, held);
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
		answered(hook->system);
}

struct weir_actor_id weir_system_root(const struct weir_system *system)
{
	return system ? system->root : WEIR_ACTOR_ID_NONE;
}

struct weir_actor_id weir_system_user_guardian(const struct weir_system *system)
{
	return system ? system->user : WEIR_ACTOR_ID_NONE;
}

struct weir_actor_id weir_system_system_guardian(
	const struct weir_system *system)
{
	return system ? system->system : WEIR_ACTOR_ID_NONE;
}

uint64_t weir__random(struct weir_system *system)
{
	return weir__splitmix(&system->random);
}

/* --- Telling -------------------------------------------------------------- */

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
