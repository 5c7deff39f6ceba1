/* SPDX-License-Identifier: BSD-2-Clause */
/* The manager's side of its runners, see runner.h. */
#include "process/runners.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "process/command.h"
#include "process/runner.h"

void weir__runners_put(struct weir_process_manager *manager,
		       struct weir_command *command)
{
	weir__queue_put(&manager->runners->queue, command);
}

void weir__runners_publish(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;

	weir__runners_wake(all, weir__queue_publish(&all->queue));
}

/* Refuses all queued commands: no runner will call them. */
static void refuse_all(struct weir_process_manager *manager)
{
	struct weir__queue *queue = &manager->runners->queue;
	void *commands[WEIR__TAKE_MAX];
	uint32_t n, i;

	while ((n = weir__queue_take(queue, commands, WEIR__TAKE_MAX, 1))) {
		for (i = 0; i < n; i++)
			weir__command_refuse(manager, commands[i]);
		weir__places_back(manager, n);
	}
}

static const struct weir_allocator *allocator(
	const struct weir_process_manager *manager)
{
	return manager->actor.executor->options.allocator;
}

static size_t size_of(uint32_t n)
{
	return sizeof(struct weir__runners) + n * sizeof(struct weir__runner);
}

static struct weir__runners *runners_new(
	const struct weir_process_manager *manager, uint32_t n,
	uint32_t capacity)
{
	struct weir__runners *all =
		weir__alloc_lines(allocator(manager), size_of(n));
	struct weir__queue *queue;

	assert(n > 0 && (capacity & (capacity - 1)) == 0);
	if (!all)
		return NULL;
	queue = &all->queue;
	queue->slots = weir__alloc_lines(allocator(manager),
					 capacity * sizeof(*queue->slots));
	if (!queue->slots) {
		weir__free_lines(allocator(manager), all, size_of(n));
		return NULL;
	}
	queue->mask = capacity - 1;
	queue->n_parked = n;
	all->n = all->n_left = n;
	return all;
}

int weir__runners_init(struct weir_process_manager *manager, uint32_t n,
		       uint32_t capacity)
{
	uint32_t i;
	int rc = 0;

	manager->runners = runners_new(manager, n, capacity);
	if (!manager->runners)
		return -ENOMEM;
	for (i = 0; i < n && rc == 0; i++)
		rc = weir__runner_init(manager, &manager->runners->runner[i]);
	if (rc < 0)
		weir__runners_stop(manager);
	return rc;
}

int weir__runners_start(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;
	uint32_t i;
	int rc = 0;

	for (i = 0; all && i < all->n && rc == 0; i++)
		rc = weir_system_spawn(manager->system, manager->self,
				       &all->runner[i].actor, NULL, NULL);
	return rc;
}

bool weir__runners_gone(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;

	if (!all || ck_pr_load_32(&all->n_left))
		return false;
	refuse_all(manager);
	return true;
}

void weir__runners_close(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;

	if (!all)
		return;
	ck_pr_store_32(&all->queue.closed, 1);
	weir__runners_wake(all, all->n);
}

void weir__runners_stop(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;
	uint32_t i;

	if (!all)
		return;
	weir__runners_close(manager);
	refuse_all(manager);
	for (i = 0; i < all->n; i++)
		if (all->runner[i].actor.executor &&
		    weir__is_new(&all->runner[i].actor))
			weir_actor_stop(&all->runner[i].actor);
}

void weir__runners_count(const struct weir_process_manager *manager,
			 struct weir_process_counts *counts)
{
	const struct weir__runners *all = manager->runners;
	const struct weir__runner *runner;
	uint32_t i;

	for (i = 0; all && i < all->n; i++) {
		runner = &all->runner[i];
		counts->started += ck_pr_load_64(&runner->made);
		counts->outcomes[WEIR_OUTCOME_DONE] +=
			ck_pr_load_64(&runner->done);
		counts->outcomes[WEIR_OUTCOME_CRASHED] +=
			ck_pr_load_64(&runner->failed);
	}
}

void weir__runners_fini(struct weir_process_manager *manager)
{
	struct weir__runners *all = manager->runners;

	if (!all)
		return;
	weir__free_lines(allocator(manager), all->queue.slots,
			 ((size_t)all->queue.mask + 1) *
				 sizeof(*all->queue.slots));
	weir__free_lines(allocator(manager), all, size_of(all->n));
	manager->runners = NULL;
}
