/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries about an actor by its id, the id of an actor, and paths. Any thread,
 * under the system's lock.
 */
#include "supervision/reference.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "supervision/family.h"

int weir_system_children(struct weir_system *system, struct weir_actor_id id,
			 struct weir_actor_id *children, size_t max)
{
	struct weir__cell *cell, *child = NULL;
	bool held;
	size_t n = 0, seen = 0;

	if (!system || (!children && max))
		return -EINVAL;
	held = weir__enter(&system->lock);
	cell = weir__cell_find(system, id);
	if (cell) {
		child = weir__cell_first(system, cell);
		seen = weir__record_of(cell)->family.n_seen;
	}
	for (; child && n < max && n < seen;
	     child = weir__cell_next(system, child))
		if (child->state != WEIR__CELL_SPAWNED)
			children[n++] = weir__cell_ref(system, child);
	weir__leave(&system->lock, held);
	return cell ? (int)seen : -ESRCH;
}

struct weir_actor_id weir_system_parent(struct weir_system *system,
					struct weir_actor_id id)
{
	struct weir_actor_id parent = WEIR_ACTOR_ID_NONE;
	bool held;
	struct weir__cell *cell;

	if (!system)
		return parent;
	held = weir__enter(&system->lock);
	cell = weir__cell_find(system, id);
	if (cell)
		cell = weir__cell_parent(system, cell);
	if (cell)
		parent = weir__cell_ref(system, cell);
	weir__leave(&system->lock, held);
	return parent;
}

bool weir_system_is_alive(struct weir_system *system, struct weir_actor_id id)
{
	bool held;
	bool alive;

	if (!system)
		return false;
	held = weir__enter(&system->lock);
	alive = weir__cell_find(system, id);
	weir__leave(&system->lock, held);
	return alive;
}

int64_t weir_system_restarts(struct weir_system *system,
			     struct weir_actor_id id)
{
	bool held;
	struct weir__cell *cell;
	int64_t restarts = -ESRCH;

	if (!system)
		return restarts;
	held = weir__enter(&system->lock);
	cell = weir__cell_find(system, id);
	if (cell)
		restarts = (int64_t)weir__record_of(cell)->restarted;
	weir__leave(&system->lock, held);
	return restarts;
}

struct weir_actor *weir_system_actor(struct weir_system *system,
				     struct weir_actor_id id)
{
	struct weir_actor *actor = NULL;
	bool held;
	struct weir__cell *cell;

	if (!system)
		return NULL;
	held = weir__enter(&system->lock);
	cell = weir__cell_find(system, id);
	if (cell)
		actor = weir_actor_ref(cell->actor);
	weir__leave(&system->lock, held);
	return actor;
}

struct weir_system *weir_actor_system(const struct weir_actor *actor)
{
	/* not its flags, which are its owner's */
	if (!actor || !(ck_pr_load_32(&actor->gate) & WEIR__GATE_CHILD))
		return NULL;
	return weir__system_of(actor);
}

struct weir_actor_id weir_actor_self(const struct weir_actor *actor)
{
	struct weir_system *system = weir_actor_system(actor);
	bool held;
	struct weir_actor_id id;

	if (!system)
		return WEIR_ACTOR_ID_NONE;
	held = weir__enter(&system->lock);
	id = weir__cell_ref(system,
			    weir_container_of(actor->u.child, struct weir__cell,
					      child));
	weir__leave(&system->lock, held);
	return id;
}

/* --- Paths ---------------------------------------------------------------- */

/* An actor without a name is "$" and its slot. */
#define NUMBER_MAX sizeof("$4294967295")

/* The cell for "$" and digits, if they are written as by weir_system_path(). */
static struct weir__cell *find_unnamed(const struct weir_system *system,
				       uint32_t parent, const char *text,
				       size_t n)
{
	struct weir__cell *cell;
	uint64_t slot = 0;
	size_t i;

	if (n < 2 || n >= NUMBER_MAX || (text[1] == '0' && n > 2))
		return NULL;
	for (i = 1; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return NULL;
		slot = slot * 10 + (uint64_t)(text[i] - '0');
	}
	if (slot >= system->slots.n)
		return NULL;
	cell = weir__cell_at(system, (uint32_t)slot);
	if (cell->state == WEIR__CELL_FREE || cell->state == WEIR__CELL_ENDED ||
	    cell->kin.parent != parent || weir__record_of(cell)->name)
		return NULL;
	return cell;
}

static struct weir__cell *find_named(struct weir_system *system,
				     uint32_t parent, const char *text,
				     size_t n)
{
	const struct weir__name *name =
		weir__names_find(&system->names, parent, text, n);

	return name ? weir__cell_at(system, name->slot) : NULL;
}

static struct weir__cell *find_child(struct weir_system *system,
				     const struct weir__cell *parent,
				     const char *text, size_t n)
{
	uint32_t slot = weir__cell_slot(system, parent);
	struct weir__cell *cell;

	if (*text == '$')
		cell = find_unnamed(system, slot, text, n);
	else
		cell = find_named(system, slot, text, n);
	return cell && cell->state != WEIR__CELL_SPAWNED ? cell : NULL;
}

/* `path` begins with '/'. */
static struct weir__cell *find_path(struct weir_system *system,
				    const char *path)
{
	struct weir__cell *cell = weir__cell_find(system, system->root);
	size_t n;

	if (!path[1])
		return cell;
	for (; cell && *path; path += n) {
		path++;
		n = strcspn(path, "/");
		cell = find_child(system, cell, path, n);
	}
	return cell;
}

struct weir_actor_id weir_system_lookup(struct weir_system *system,
					const char *path)
{
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	bool held;
	struct weir__cell *cell;

	if (!system || !path || *path != '/')
		return id;
	held = weir__enter(&system->lock);
	cell = find_path(system, path);
	if (cell)
		id = weir__cell_ref(system, cell);
	weir__leave(&system->lock, held);
	return id;
}

/* The last element of its path, which may be made in `number`. */
static const char *element(const struct weir_system *system,
			   const struct weir__cell *cell,
			   char number[NUMBER_MAX])
{
	const struct weir__name *name = weir__record_of(cell)->name;

	if (name)
		return name->text;
	(void)snprintf(number, NUMBER_MAX, "$%u",
		       (unsigned)weir__cell_slot(system, cell));
	return number;
}

/* The length of the path. Root has no element, but its path is "/". */
static size_t path_length(struct weir_system *system, struct weir__cell *cell)
{
	char number[NUMBER_MAX];
	struct weir__cell *parent;
	size_t length = 0;

	while ((parent = weir__cell_parent(system, cell))) {
		length += 1 + strlen(element(system, cell, number));
		cell = parent;
	}
	return length ? length : 1;
}

/* Writes the part of `text`, which belongs at `at`, that there is room for. */
static void put(char *path, size_t size, size_t at, const char *text, size_t n)
{
	if (at >= size)
		return;
	memcpy(path + at, text, n < size - at ? n : size - at);
}

/* From its end. */
static void put_path(struct weir_system *system, struct weir__cell *cell,
		     char *path, size_t size, size_t length)
{
	char number[NUMBER_MAX];
	struct weir__cell *parent;
	const char *name;

	put(path, size, 0, "/", 1);
	while ((parent = weir__cell_parent(system, cell))) {
		name = element(system, cell, number);
		length -= strlen(name);
		put(path, size, length, name, strlen(name));
		put(path, size, --length, "/", 1);
		cell = parent;
	}
}

size_t weir__path_put(struct weir_system *system, struct weir__cell *cell,
		      char *path, size_t size)
{
	size_t length = path_length(system, cell);

	if (!size)
		return length;
	put_path(system, cell, path, size, length);
	path[length < size ? length : size - 1] = '\0';
	return length;
}

int weir_system_path(struct weir_system *system, struct weir_actor_id id,
		     char *path, size_t size)
{
	bool held;
	struct weir__cell *cell;
	size_t length = 0;

	if (!system || (!path && size))
		return -EINVAL;
	held = weir__enter(&system->lock);
	cell = weir__cell_find(system, id);
	if (cell)
		length = weir__path_put(system, cell, path, size);
	weir__leave(&system->lock, held);
	return cell ? (int)length : -ESRCH;
}

struct weir__path *weir__path_make(struct weir_system *system,
				   struct weir__cell *cell)
{
	size_t length = path_length(system, cell);
	size_t size = sizeof(struct weir__path) + length + 1;
	struct weir__path *path = weir__alloc(system->options.allocator, size);

	if (!path)
		return NULL;
	path->refs = 1;
	path->size = (uint32_t)size;
	put_path(system, cell, path->text, length, length);
	return path;
}
