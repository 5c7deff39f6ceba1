/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/watches.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "base/memory.h"

#define FIRST 16u /* length of an array that was empty */

/* poll's names and epoll's are the same bits. */
_Static_assert((POLLIN | POLLPRI | POLLOUT | POLLERR | POLLHUP | POLLRDHUP) ==
		       (EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP |
			EPOLLRDHUP),
	       "poll and epoll differ");

/* An array of `n` elements becomes one of more than `index`; -ENOMEM. */
static int grow(const struct weir_allocator *allocator, void **array,
		uint32_t *n, size_t size, uint32_t index)
{
	uint32_t longer = *n ? *n : FIRST;
	void *grown;

	assert(index >= *n && index <= INT_MAX);
	while (longer <= index)
		longer *= 2; /* index <= INT_MAX: does not wrap */
	grown = weir__alloc(allocator, longer * size);
	if (!grown)
		return -ENOMEM;
	if (*n)
		memcpy(grown, *array, *n * size);
	weir__free(allocator, *array, *n * size);
	*array = grown;
	*n = longer;
	return 0;
}

static int grow_slots(struct weir__watches *watches)
{
	uint32_t slot = watches->n_slots;
	void *array = watches->slots;
	int rc;

	rc = grow(watches->allocator, &array, &watches->n_slots,
		  sizeof(*watches->slots), slot);
	if (rc < 0)
		return rc;
	watches->slots = array;
	for (slot = slot ? slot : 1; slot < watches->n_slots; slot++) {
		watches->slots[slot].next = watches->free;
		watches->free = slot;
	}
	return 0;
}

static int grow_fds(struct weir__watches *watches, uint32_t fd)
{
	void *array = watches->fds;
	int rc;

	rc = grow(watches->allocator, &array, &watches->n_fds,
		  sizeof(*watches->fds), fd);
	if (rc == 0)
		watches->fds = array;
	return rc;
}

static int reserve(struct weir__watches *watches, uint32_t fd)
{
	int rc = 0;

	if (!watches->free)
		rc = grow_slots(watches);
	if (rc == 0 && fd >= watches->n_fds)
		rc = grow_fds(watches, fd);
	return rc;
}

/* The events that concern a watch. */
static uint32_t wanted(const struct weir_watch *watch)
{
	uint32_t events = (uint16_t)watch->events;

	if (!watch->edges)
		return events | POLLERR | POLLHUP;
	/* POLLPRI: a read of a stream stops at urgent data, see readiness.h */
	return events | POLLERR | POLLHUP | POLLRDHUP |
	       (events & POLLIN ? POLLPRI : 0);
}

static bool has_edges(const struct weir__watches *watches, uint32_t fd)
{
	uint32_t slot = watches->fds[fd].first;

	while (slot && !watches->slots[slot].watch->edges)
		slot = watches->slots[slot].next;
	return slot != 0;
}

/* Registers a descriptor, with a new generation, for all that watch it. */
static int enroll(struct weir__watches *watches, uint32_t fd)
{
	struct weir__watch_fd *known = &watches->fds[fd];
	uint32_t generation = known->generation + 1 ? known->generation + 1 : 1;
	struct epoll_event event = {
		.events = has_edges(watches, fd) ? EPOLLET : EPOLLONESHOT};
	uint32_t slot;
	int rc;

	/* for somebody: an event may take its registration away */
	assert(fd < watches->n_fds && known->first);
	for (slot = known->first; slot; slot = watches->slots[slot].next)
		event.events |= wanted(watches->slots[slot].watch);
	event.data.u64 = (uint64_t)generation << 32 | fd;
	rc = watches->set->ops->set(watches->set, (int)fd, &event,
				    known->generation != 0);
	if (rc == 0)
		known->generation = generation;
	return rc;
}

static struct weir_watch *free_slot(struct weir__watches *watches,
				    uint32_t slot)
{
	struct weir_watch *watch = watches->slots[slot].watch;

	assert(slot && slot < watches->n_slots && watches->armed > 0);
	assert(watch && watch->slot == slot);
	watches->slots[slot] = (struct weir__watch_slot){.next = watches->free};
	watches->free = slot;
	watches->armed--;
	watch->slot = 0;
	return watch;
}

/* Takes out the watch in *link, a place in the chain of its descriptor. */
static struct weir_watch *unchain(struct weir__watches *watches, uint32_t *link)
{
	uint32_t slot = *link;

	*link = watches->slots[slot].next;
	return free_slot(watches, slot);
}

void weir__watches_init(struct weir__watches *watches,
			const struct weir_allocator *allocator,
			struct weir__pollset *set)
{
	*watches = (struct weir__watches){
		.allocator = allocator,
		.set = set,
	};
}

void weir__watches_fini(struct weir__watches *watches)
{
	weir__free(watches->allocator, watches->slots,
		   watches->n_slots * sizeof(*watches->slots));
	weir__free(watches->allocator, watches->fds,
		   watches->n_fds * sizeof(*watches->fds));
}

int weir__watches_arm(struct weir__watches *watches, struct weir_watch *watch)
{
	uint32_t fd = (uint32_t)watch->fd;
	uint32_t slot;
	int rc;

	if (watch->fd < 0)
		return -EBADF;
	if (watch->slot)
		return -EALREADY;
	rc = reserve(watches, fd);
	if (rc < 0)
		return rc;
	slot = watches->free;
	assert(slot && !watches->slots[slot].watch);
	watches->free = watches->slots[slot].next;
	watches->slots[slot] = (struct weir__watch_slot){
		.watch = watch,
		.next = watches->fds[fd].first,
	};
	watches->fds[fd].first = slot;
	watches->armed++;
	watch->slot = slot;
	rc = enroll(watches, fd);
	if (rc < 0)
		unchain(watches, &watches->fds[fd].first);
	return rc;
}

bool weir__watches_cancel(struct weir__watches *watches,
			  struct weir_watch *watch)
{
	uint32_t fd = (uint32_t)watch->fd, slot = watch->slot;
	bool fires = slot && slot == watches->firing;
	uint32_t *link;

	if (!slot || watches->slots[slot].over)
		return false;
	assert(fd < watches->n_fds);
	for (link = &watches->fds[fd].first; *link != slot;)
		link = &watches->slots[*link].next;
	if (fires) {
		*link = watches->slots[slot].next;
		watches->slots[slot].over = true;
	} else {
		unchain(watches, link);
	}
	/* An error means that it is closed: then nothing comes anyway. */
	if (watches->fds[fd].first)
		(void)enroll(watches, fd);
	else
		(void)watches->set->ops->remove(watches->set, (int)fd);
	return !fires;
}

/* A firing is over. Returns the watch if it was cancelled meanwhile. */
static struct weir_watch *fired(struct weir__watches *watches)
{
	uint32_t slot = watches->firing;

	watches->firing = 0;
	return slot && watches->slots[slot].over ? free_slot(watches, slot)
						 : NULL;
}

/* The next watch of the descriptor that was not told of the event, or NULL. */
static struct weir_watch *next(struct weir__watches *watches, uint32_t fd,
			       uint32_t revents, short *events)
{
	uint32_t *link, slot, ready;
	struct weir_watch *watch;

	for (link = &watches->fds[fd].first; (slot = *link);
	     link = &watches->slots[slot].next) {
		watch = watches->slots[slot].watch;
		ready = revents & wanted(watch);
		if (!ready || watches->slots[slot].told)
			continue;
		*events = (short)ready;
		if (!watch->edges)
			return unchain(watches, link);
		watches->slots[slot].told = true;
		watches->firing = slot;
		return watch;
	}
	link = &watches->fds[fd].first;
	if (!*link || has_edges(watches, fd) || enroll(watches, fd) == 0)
		return NULL;
	/* The event has used up the registration, and another cannot be had:
	 * closed while watched. */
	*events = POLLNVAL;
	return unchain(watches, link);
}

struct weir_watch *weir__watches_take(struct weir__watches *watches,
				      uint64_t data, uint32_t revents,
				      short *events)
{
	struct weir_watch *watch = fired(watches);
	uint32_t fd = (uint32_t)data, slot;

	*events = 0;
	if (watch || fd >= watches->n_fds)
		return watch;
	if (watches->fds[fd].generation == (uint32_t)(data >> 32))
		watch = next(watches, fd, revents, events);
	for (slot = watch ? 0 : watches->fds[fd].first; slot;
	     slot = watches->slots[slot].next)
		watches->slots[slot].told = false;
	return watch;
}
