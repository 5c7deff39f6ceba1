/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Systems as a whole: how they are made, and the guardians.
 *
 * The guardians are ordinary actors without ports, so none of their turns ever
 * runs. Root supervises the other two. In which order they end stands in
 * termination.c.
 */
#include <weir/system.h>

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "executor/registry.h"
#include "executor/sim.h"
#include "supervision/child.h"
#include "supervision/spawn.h"
#include "supervision/termination.h"

/* One piece of memory, for everything that does not grow. */
struct whole {
	struct weir_system system;
	struct weir_actor root, user, guard;
	struct weir_actor_ops user_ops;
	struct weir_lifecycle user_life;
};

/* --- Guardians ------------------------------------------------------------ */

static void user_released(struct weir_actor *user)
{
	weir__system_before_end(weir__system_of(user));
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
	.lifecycle = &root_life,
};

static const struct weir_actor_ops guard_ops = {
	.name = "/system",
};

static void set_up(struct whole *whole, const struct weir_strategy *strategy)
{
	struct weir_executor *executor = whole->system.executor;

	whole->user_life.strategy = strategy;
	whole->user_ops = (struct weir_actor_ops){
		.name = "/user",
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

/*
 * Where the generations of this system's cells begin: the numbers of systems,
 * times the golden ratio of 2^32. So of the first 2^15 systems of a program, n
 * of them, any two begin at least 2^32 / (3 * n) apart, and an id of one is
 * found in none of the others before a slot was used that often.
 */
static uint32_t first_generation(void)
{
	static uint32_t n_systems; /* atomic */
	uint32_t first = (ck_pr_faa_32(&n_systems, 1) + 1) *
			 UINT32_C(0x9e3779b9);

	return first ? first : 1;
}

/* --- The system ----------------------------------------------------------- */

static void timer_due(struct weir__cell_timers *timers, uint32_t slot)
{
	struct weir_system *system =
		weir_container_of(timers, struct weir_system, timers);

	(void)weir__cell_step(weir__cell_at(system, slot), WEIR__LIFE_TIMER);
}

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
	system->size = sizeof(*whole);
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
		.escalated = WEIR__NO_CELL,
	};
	system->names.key = weir__executor_key(executor);
	system->names.allocator = allocator;
	weir__slots_init(&system->slots, sizeof(struct weir__cell), allocator);
	system->walks.slots = &system->slots;
	system->walks.lock = &system->lock;
	system->n_answers = 2; /* /user, and weir_system_new() */
	system->lock.used = 1;
	system->lock.unused = weir__system_unused;
	system->timers = (struct weir__cell_timers){
		.lock = &system->lock,
		.executor = executor,
		.allocator = allocator,
		.due = timer_due,
	};
	system->random = seed_of(executor, options->seed);
	system->first_generation = first_generation();
	(void)weir_completion_init(&system->terminated);
	set_up(whole, options->strategy);
	return whole;
}

/* The system could not be made: the thread that frees its last cell
 * frees it. */
static void abandon(struct weir_system *system)
{
	bool held = weir__enter(&system->lock);
	struct weir__cell *root;

	system->stopping = true;
	system->abandoned = true;
	/* which will not be released */
	system->n_answers -=
		weir_actor_id_equal(system->user, WEIR_ACTOR_ID_NONE);
	root = weir__cell_find(system, system->root);
	if (root)
		weir__cell_order(root, WEIR__ORDER_STOP);
	weir__leave(&system->lock, held);
	weir__system_answered(system);
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
		weir__system_answered(&whole->system);
	} else {
		abandon(&whole->system);
	}
	return rc;
}

void weir_system_stop(struct weir_system *system)
{
	bool held;
	struct weir__cell *user;

	if (!system)
		return;
	held = weir__enter(&system->lock);
	system->stopping = true;
	/* everything else follows from the end of /user; see the top */
	user = weir__cell_find(system, system->user);
	if (user)
		weir__cell_order(user, WEIR__ORDER_STOP);
	weir__leave(&system->lock, held);
}

int weir_system_end_wait(struct weir_system *system, uint64_t timeout_ns)
{
	if (!system)
		return -EINVAL;
	weir_system_stop(system);
	return weir_completion_wait(&system->terminated, timeout_ns);
}

struct weir_completion *weir_system_terminated(struct weir_system *system)
{
	return system ? &system->terminated : NULL;
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
