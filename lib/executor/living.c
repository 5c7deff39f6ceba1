/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/living.h"

#include <assert.h>
#include <errno.h>

#include "base/forkmark.h"
#include "executor/registry.h"

struct weir__living_list *weir__living;

int weir__living_open(void)
{
	struct weir__living_list *made;

	if (ck_pr_load_ptr(&weir__living))
		return 0;
	made = weir__forkmark_page();
	if (!made)
		return -ENOMEM;
	/* no order: nothing is in it yet, and the page is as the kernel made it */
	if (!ck_pr_cas_ptr(&weir__living, NULL, made))
		weir__forkmark_free((void *)made);
	return 0;
}

/* The list, locked; NULL: there is none. */
static struct weir__living_list *lock(void)
{
	struct weir__living_list *list = ck_pr_load_ptr(&weir__living);

	if (list)
		weir__lock(&list->lock);
	return list;
}

void weir__living_add(struct weir__living *node, struct weir_executor *executor)
{
	struct weir__living_list *list = lock();
	bool begun;

	assert(list && !node->executor);
	node->executor = executor;
	node->next = list->first;
	list->first = node;
	begun = list->begun;
	list->begun = true;
	weir__unlock(&list->lock);
	if (!begun)
		weir__inspector_begin();
}

/* Under the lock. False: it is not listed. */
static bool take_out(struct weir__living_list *list,
		     const struct weir__living *node)
{
	struct weir__living **link = &list->first;

	while (*link && *link != node)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = node->next;
	return true;
}

void weir__living_remove(struct weir__living *node)
{
	struct weir__living_list *list = lock();
	uint32_t looks;

	if (!list)
		return;
	if (take_out(list, node)) {
		while ((looks = node->looks)) {
			weir__unlock(&list->lock);
			(void)weir__futex_wait(&node->looks, looks, UINT64_MAX);
			weir__lock(&list->lock);
		}
	}
	weir__unlock(&list->lock);
}

static size_t count(const struct weir__living_list *list)
{
	const struct weir__living *node;
	size_t n = 0;

	for (node = list->first; node; node = node->next)
		n++;
	return n;
}

size_t weir__living_hold(struct weir_executor **executors, size_t n)
{
	struct weir__living_list *list = lock();
	struct weir__living *node;
	size_t n_living, i;

	if (!list)
		return 0;
	i = n_living = count(list);
	for (node = list->first; node && n_living <= n; node = node->next) {
		ck_pr_store_32(&node->looks, node->looks + 1);
		executors[--i] = node->executor;
	}
	weir__unlock(&list->lock);
	return n_living;
}

void weir__living_let_go(struct weir_executor *const *executors, size_t n)
{
	struct weir__living_list *list;
	struct weir__living *node;
	size_t i;

	if (!n)
		return;
	list = lock();
	for (i = 0; i < n; i++) {
		node = &executors[i]->registry->living;
		assert(node->looks > 0);
		ck_pr_store_32(&node->looks, node->looks - 1);
		/* under the lock: behind it the node may be gone */
		if (!node->looks)
			weir__futex_wake(&node->looks, 1);
	}
	weir__unlock(&list->lock);
}
