/* SPDX-License-Identifier: BSD-2-Clause */
/* The ids of commands; see ids.h. */
#include "process/ids.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/memory.h"
#include "executor/registry.h"
#include "process/process_state.h"

/* command->state. */
enum {
	NOT_THERE, /* it has no id */
	BAD,	   /* its process cannot have that name; not in the table */
	WAITS,
	CANCELLED, /* it waits, and will be refused */
	RUNS,
};

static const struct weir_allocator *allocator(
	const struct weir_process_manager *manager)
{
	return manager->actor.executor->options.allocator;
}

/* As struct weir_process_manager is public, it has the lock as a number. */
_Static_assert(sizeof(struct weir__lock) == sizeof(uint32_t), "one word");

static struct weir__lock *lock_of(struct weir_process_manager *manager)
{
	return (struct weir__lock *)&manager->ids_lock;
}

int weir__ids_init(struct weir_process_manager *manager)
{
	uint32_t n = 1;

	while (n < manager->options.max)
		n *= 2;
	manager->ids =
		weir__alloc(allocator(manager), n * sizeof(*manager->ids));
	if (!manager->ids)
		return -ENOMEM;
	manager->n_ids = n;
	return 0;
}

void weir__ids_fini(struct weir_process_manager *manager)
{
	weir__free(allocator(manager), manager->ids,
		   manager->n_ids * sizeof(*manager->ids));
	manager->ids = NULL;
}

static uint32_t hash_of(const struct weir_process_manager *manager,
			const char *id, size_t n)
{
	return (uint32_t)weir__hash_bytes(
		weir__executor_key(manager->actor.executor), id, n);
}

static struct weir_command **bucket(const struct weir_process_manager *manager,
				    uint32_t hash)
{
	assert(manager->n_ids && !(manager->n_ids & (manager->n_ids - 1)));
	return &manager->ids[hash & (manager->n_ids - 1)];
}

/*
 * The command with that id; if there are several, preferably in the state
 * `first`. Under the lock.
 */
static struct weir_command *find(const struct weir_process_manager *manager,
				 const char *id, uint32_t hash, uint8_t first)
{
	struct weir_command *command = *bucket(manager, hash), *found = NULL;

	for (; command; command = command->same_id) {
		if (command->hash != hash || strcmp(command->id, id) != 0)
			continue;
		if (command->state == first)
			return command;
		if (!found || command->state == WAITS)
			found = command;
	}
	return found;
}

/* The process that runs with that id, or NULL. Under the lock. */
static struct weir_process *find_process(
	const struct weir_process_manager *manager, const char *id,
	uint32_t hash)
{
	const struct weir_command *command = find(manager, id, hash, RUNS);

	return command && command->state == RUNS ? command->process : NULL;
}

/* --- A command comes and goes --------------------------------------------- */

/* As the name of an actor, which a process has from its command. */
static bool is_name(const char *id, size_t n)
{
	return n > 0 && n <= WEIR_NAME_MAX && *id != '$' && !strchr(id, '/');
}

void weir__ids_add(struct weir_process_manager *manager,
		   struct weir_command *command)
{
	struct weir_command **head;
	size_t n;

	command->state = NOT_THERE;
	if (!command->id)
		return;
	n = strlen(command->id);
	command->state = BAD;
	if (manager->options.process && !is_name(command->id, n))
		return;
	command->hash = hash_of(manager, command->id, n);
	command->in_line = false;
	head = bucket(manager, command->hash);
	weir__lock(lock_of(manager));
	command->state = WAITS;
	command->same_id = *head;
	*head = command;
	weir__unlock(lock_of(manager));
}

/* Takes it out of the list of those that were cancelled, which begins with the
 * word that weir__ids_any_cancelled() reads. Under the lock. */
static void forget(struct weir_process_manager *manager,
		   struct weir_command *command)
{
	struct weir_command **link = &manager->cancelled;

	while (*link && *link != command)
		link = &(*link)->next_cancelled;
	if (*link)
		ck_pr_store_ptr(link, command->next_cancelled);
}

void weir__ids_remove(struct weir_process_manager *manager,
		      struct weir_command *command)
{
	struct weir_command **link;

	/* not the state: another thread may be changing it */
	if (!command->id)
		return;
	weir__lock(lock_of(manager));
	if (command->state >= WAITS) {
		link = bucket(manager, command->hash);
		while (*link != command)
			link = &(*link)->same_id;
		*link = command->same_id;
		if (command->state == CANCELLED)
			forget(manager, command);
	}
	command->state = NOT_THERE;
	weir__unlock(lock_of(manager));
}

int weir__ids_begin(struct weir_process_manager *manager,
		    struct weir_command *command, struct weir_process *process)
{
	int rc = 0;

	if (!command->id)
		return 0;
	weir__lock(lock_of(manager));
	if (command->state == BAD)
		rc = -EINVAL;
	else if (command->state == CANCELLED)
		rc = -ECANCELED;
	else if (find_process(manager, command->id, command->hash))
		rc = -EEXIST;
	if (rc == 0) {
		assert(command->state == WAITS);
		command->state = RUNS;
		command->process = process;
	}
	weir__unlock(lock_of(manager));
	return rc;
}

bool weir__ids_any_cancelled(const struct weir_process_manager *manager)
{
	return ck_pr_load_ptr(&manager->cancelled);
}

struct weir_command *weir__ids_cancelled(struct weir_process_manager *manager)
{
	struct weir_command **link, *list;

	weir__lock(lock_of(manager));
	list = manager->cancelled;
	/* as one that is not in line may be answered by another thread */
	for (link = &list; *link;)
		if ((*link)->in_line)
			link = &(*link)->next_cancelled;
		else
			*link = (*link)->next_cancelled;
	ck_pr_store_ptr(&manager->cancelled, NULL);
	weir__unlock(lock_of(manager));
	return list;
}

/* --- For everybody -------------------------------------------------------- */

struct weir_actor_id weir_process_manager_find(
	struct weir_process_manager *manager, const char *id)
{
	struct weir_actor_id found = WEIR_ACTOR_ID_NONE;
	const struct weir_process *process;
	uint32_t hash;

	if (!manager || !id)
		return found;
	hash = hash_of(manager, id, strlen(id));
	weir__lock(lock_of(manager));
	process = find_process(manager, id, hash);
	if (process)
		found = weir__process_id(process);
	weir__unlock(lock_of(manager));
	return found;
}

/* It waits: leaves a note. Under the lock. */
static void cancel_waiting(struct weir_process_manager *manager,
			   struct weir_command *command)
{
	command->state = CANCELLED;
	command->next_cancelled = manager->cancelled;
	ck_pr_store_ptr(&manager->cancelled, command);
}

int weir_process_manager_cancel(struct weir_process_manager *manager,
				const char *id)
{
	struct weir_actor_id process = WEIR_ACTOR_ID_NONE;
	struct weir_command *command;
	uint32_t hash;
	int rc = 0;

	if (!manager || !id)
		return -EINVAL;
	hash = hash_of(manager, id, strlen(id));
	weir__lock(lock_of(manager));
	/* of calls, which may have the same id, one that can be cancelled */
	command = find(manager, id, hash, manager->options.run ? WAITS : RUNS);
	if (!command)
		rc = -ESRCH;
	else if (command->state == WAITS)
		cancel_waiting(manager, command);
	else if (command->state == RUNS && command->process)
		process = weir__process_cancel(command->process);
	else if (command->state == RUNS)
		rc = -EBUSY;
	weir__unlock(lock_of(manager));
	if (!weir_actor_id_equal(process, WEIR_ACTOR_ID_NONE))
		(void)weir_system_stop_actor(manager->system, process);
	else if (rc == 0)
		weir_actor_signal(&manager->actor);
	return rc;
}
