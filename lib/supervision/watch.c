/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/watch.h"

#include <assert.h>

#include "base/memory.h"
#include "base/refcount.h"

void weir__watch_lists_init(struct weir__watch_lists *watches)
{
	watches->notices_end = &watches->notices;
}

bool weir__watch_lists_none(const struct weir__watch_lists *watches)
{
	return !watches->watchers && !watches->watched && !watches->watching &&
	       !watches->notices;
}

static void list_add(struct weir__watch **list, struct weir__watch *watch)
{
	watch->next = *list;
	watch->link = list;
	if (watch->next)
		watch->next->link = &watch->next;
	*list = watch;
}

/* Removes a watch from its list in O(1): it knows the pointer to it. */
static void list_remove(struct weir__watch *watch)
{
	assert(*watch->link == watch);
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
}

/* Where a watch belongs: the parent's is the first. */
static struct weir__watch **place(struct weir__watch_lists *watched,
				  bool of_parent)
{
	struct weir__watch *first = watched->watched;

	return first && first->of_parent && !of_parent ? &first->next
						       : &watched->watched;
}

struct weir__watch *weir__watch_new(struct weir__watch_lists *watcher,
				    struct weir__watch_lists *watched,
				    const struct weir__watch *like,
				    const struct weir_allocator *allocator)
{
	struct weir__watch *watch = weir__alloc(allocator, sizeof(*watch));

	if (!watch)
		return NULL;
	*watch = (struct weir__watch){
		.who = like->who,
		.watcher = like->watcher,
		.token = like->token,
		.actor = like->actor,
		.existed = watched,
		.of_parent = like->of_parent,
	};
	weir__watching_add(&watcher->watching, watch);
	if (watched)
		list_add(place(watched, watch->of_parent), watch);
	return watch;
}

struct weir__watch *weir__watch_find(const struct weir__watch_lists *watcher,
				     struct weir_actor_id who)
{
	const struct weir__watch key = {.who = who};

	return weir__watching_find(watcher->watching, &key);
}

void weir__watch_notify(struct weir__watch_lists *watcher,
			struct weir__watch *watch,
			const struct weir__death *death)
{
	assert(!watch->ended && !*watcher->notices_end);
	if (death) {
		list_remove(watch);
		watch->error = weir_error_ref(death->error);
		watch->path = weir__path_ref(death->path);
		watch->how = death->how;
	}
	watch->ended = true;
	watch->next = NULL;
	watch->link = watcher->notices_end;
	*watch->link = watch;
	watcher->notices_end = &watch->next;
}

void weir__watch_take(struct weir__watch_lists *watcher,
		      struct weir__watch *watch)
{
	/* The queue of notices has an end, other lists have not. */
	if (watch->ended && !watch->next)
		watcher->notices_end = watch->link;
	list_remove(watch);
	weir__watching_remove(&watcher->watching, watch);
}

void weir__watch_free(struct weir__watch *watch,
		      const struct weir_allocator *allocator)
{
	if (!watch)
		return;
	weir_error_unref(watch->error);
	weir__path_unref(watch->path, allocator);
	weir__free(allocator, watch, sizeof(*watch));
}

struct weir__path *weir__path_ref(struct weir__path *path)
{
	if (path)
		weir__ref(&path->refs);
	return path;
}

void weir__path_unref(struct weir__path *path,
		      const struct weir_allocator *allocator)
{
	if (path && weir__unref(&path->refs))
		weir__free(allocator, path, path->size);
}

void weir__watcher_add(struct weir__watch_lists *watched,
		       struct weir_watcher *watcher)
{
	watcher->next = watched->watchers;
	watcher->link = &watched->watchers;
	if (watcher->next)
		watcher->next->link = &watcher->next;
	watched->watchers = watcher;
}

bool weir__watcher_take(struct weir_watcher *watcher)
{
	/* the thread that takes the watcher out decides whether it is called;
	 * only one thread does */
	if (!watcher->link)
		return false;
	assert(*watcher->link == watcher);
	*watcher->link = watcher->next;
	if (watcher->next)
		watcher->next->link = watcher->link;
	watcher->link = NULL;
	return true;
}
