/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and paths. Any thread, under the system's lock.
 *
 * The names of a system are a digital search tree. Below a name at depth d are
 * the names whose hashes begin with the same d digits; the next digit of a
 * name's hash says in which branch. A hash has 16 digits of two bits; names
 * with equal hashes are below each other, by digits of 0.
 *
 * So an operation under the lock goes down one path, which is O(log n) long
 * because the hash uses a secret. No part of the tree has to grow: a hash table
 * would have to be rehashed, or two would be searched while one grows, and it
 * would need memory of its own.
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
#include "supervision/tree.h"

#define DIGIT_BITS 2u
#define DIGIT_MASK (WEIR__NAME_DIGITS - 1u)
#define NUMBER_MAX sizeof("$4294967295")

_Static_assert(WEIR__NAME_DIGITS == 1u << DIGIT_BITS, "one for each digit");

/* The parent is a slot, which the system chooses, and not the user. */
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
 * The link to the name under that parent, or the NULL link where it belongs.
 * The name has `n` bytes and no final 0, because it may be a part of a path.
 */
static struct weir__name **names_find(struct weir_system *system,
				      uint32_t parent, const char *text,
				      size_t n, uint32_t hash)
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
	struct weir__name **link = names_find(system, parent, text, n, hash),
			  *name;

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

/* Takes out a name that has no names below it: this one or one below it. */
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

/* A leaf below the name takes its place in the tree. */
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
	const struct weir__name *name =
		*names_find(system, parent, text, n, hash);

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

/* The length of the path. Root has no element, but its path is "/". */
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
