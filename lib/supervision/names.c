/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and paths. Any thread, under the system's lock.
 *
 * Names are a tree of the system's, a digital search tree: below a name that is
 * d deep is whose hash begins with the same d digits, and next where the one
 * after those says. A hash has 16 digits of two bits, and whose hash is equal
 * is below by digits of 0.
 *
 * So what is done under the lock goes down one path, of O(log n) as the hash is
 * by a secret, and nothing has to grow: a table would be rehashed, or two be
 * looked at while one grows, and need memory of its own.
 *
 * An actor without a name is "$" and its slot, which needs no tree.
 */
#include "supervision/names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "executor/registry.h"

#define DIGIT_BITS 2u
#define DIGIT_MASK (WEIR__NAME_DIGITS - 1u)
#define NUMBER_MAX sizeof("$4294967295")

_Static_assert(WEIR__NAME_DIGITS == 1u << DIGIT_BITS, "one for each digit");

/* A parent is a number that the system gives out: nobody chooses it. */
static uint32_t hash_of(const struct weir_system *system, uint32_t parent,
			const char *name, size_t n)
{
	const struct weir__hash_key *key = weir__executor_key(system->executor);

	return (uint32_t)weir__hash_bytes(key, name, n) ^ parent * 0x9e3779b9u;
}

/* A parent that was refused leaves its children to another, with their hash. */
static bool is_named(const struct weir_system *system,
		     const struct weir__name *name, uint32_t parent,
		     const char *text, size_t n)
{
	return weir__cell_at(system, name->slot)->parent == parent &&
	       strncmp(name->text, text, n) == 0 && !name->text[n];
}

/*
 * Who has it under that parent, or the NULL where it belongs; `n` bytes, as
 * paths are not cut into pieces.
 */
static struct weir__name **find(struct weir_system *system, uint32_t parent,
				const char *text, size_t n, uint32_t hash)
{
	struct weir__name **link = &system->names, *name;
	uint32_t digits = hash;

	while ((name = *link)) {
		if (name->hash == hash &&
		    is_named(system, name, parent, text, n))
			break;
		link = &name->below[digits & DIGIT_MASK];
		digits >>= DIGIT_BITS;
	}
	return link;
}

static size_t size_of(size_t n)
{
	return sizeof(struct weir__name) + n + 1;
}

int weir__name_set(struct weir_system *system, struct weir__cell *cell,
		   uint32_t parent, const char *text)
{
	struct weir__record *record = weir__record_of(cell);
	size_t n = strlen(text);
	uint32_t hash = hash_of(system, parent, text, n);
	struct weir__name **link = find(system, parent, text, n, hash), *name;

	assert(record != &system->none && !record->name);
	if (*link)
		return -EEXIST;
	name = weir__alloc(system->options.allocator, size_of(n));
	if (!name)
		return -ENOMEM;
	name->hash = hash;
	name->slot = weir__cell_slot(system, cell);
	memcpy(name->text, text, n);
	*link = name;
	record->name = name;
	cell->parent = parent; /* part of the key */
	return 0;
}

static struct weir__name **link_of(struct weir_system *system,
				   const struct weir__name *name)
{
	struct weir__name **link = &system->names;
	uint32_t digits = name->hash;

	for (; *link != name; digits >>= DIGIT_BITS) {
		assert(*link);
		link = &(*link)->below[digits & DIGIT_MASK];
	}
	return link;
}

/* Who has nobody below: that one or one below it. Taken out. */
static struct weir__name *take_leaf(struct weir__name **link)
{
	struct weir__name *name = *link;
	size_t i = 0;

	while (i < WEIR__NAME_DIGITS) {
		if (!name->below[i]) {
			i++;
			continue;
		}
		link = &name->below[i];
		name = *link;
		i = 0;
	}
	*link = NULL;
	return name;
}

/* Whoever is below it may be in its place. */
void weir__name_clear(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	struct weir__name *name = record->name, **link, *leaf;

	if (!name)
		return;
	link = link_of(system, name);
	leaf = take_leaf(link);
	if (leaf != name) {
		memcpy(leaf->below, name->below, sizeof(leaf->below));
		*link = leaf;
	}
	record->name = NULL;
	weir__free(system->options.allocator, name,
		   size_of(strlen(name->text)));
}

/* --- Paths ---------------------------------------------------------------- */

/* What "$" and digits stand for, written as weir_system_path() does. */
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
	if (slot >= system->n_cells)
		return NULL;
	cell = weir__cell_at(system, (uint32_t)slot);
	if (cell->state == WEIR__CELL_FREE || cell->state == WEIR__CELL_ENDED ||
	    cell->parent != parent || weir__record_of(cell)->name)
		return NULL;
	return cell;
}

static struct weir__cell *find_named(struct weir_system *system,
				     uint32_t parent, const char *text,
				     size_t n)
{
	uint32_t hash = hash_of(system, parent, text, n);
	const struct weir__name *name = *find(system, parent, text, n, hash);

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
	return cell && !(cell->flags & WEIR__CELL_HIDDEN) ? cell : NULL;
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
	held = weir__enter(system);
	cell = find_path(system, path);
	if (cell)
		id = weir__cell_ref(system, cell);
	weir__leave(system, held);
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

/* Root has no element, and its path is "/" all the same. */
static size_t path_length(struct weir_system *system, struct weir__cell *cell)
{
	char number[NUMBER_MAX];
	struct weir__cell *parent;
	size_t length = 0;

	while ((parent = weir__tree_parent(system, cell))) {
		length += 1 + strlen(element(system, cell, number));
		cell = parent;
	}
	return length ? length : 1;
}

/* Of `text`, which belongs at `at`, as much as there is room for. */
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
	while ((parent = weir__tree_parent(system, cell))) {
		name = element(system, cell, number);
		length -= strlen(name);
		put(path, size, length, name, strlen(name));
		put(path, size, --length, "/", 1);
		cell = parent;
	}
}

int weir_system_path(struct weir_system *system, struct weir_actor_id id,
		     char *path, size_t size)
{
	bool held;
	struct weir__cell *cell;
	size_t length = 0;

	if (!system || (!path && size))
		return -EINVAL;
	held = weir__enter(system);
	cell = weir__cell_find(system, id);
	if (cell) {
		length = path_length(system, cell);
		if (size)
			put_path(system, cell, path, size, length);
	}
	weir__leave(system, held);
	if (!cell)
		return -ESRCH;
	if (size)
		path[length < size ? length : size - 1] = '\0';
	return (int)length;
}
