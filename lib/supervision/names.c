/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and paths. Any thread, under the system's lock.
 *
 * Cells that have a name are in a hash table of the system's, chained through
 * their records by slot, by parent and name. The table doubles when there are
 * as many names as buckets; when there is no memory for that, chains get longer
 * and the next name tries again. An actor without a name is "$" and its slot,
 * which needs no table.
 */
#include "supervision/names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "executor/registry.h"

#define BUCKETS_MIN 16u
#define NUMBER_MAX sizeof("$4294967295")

/* A parent is a number that the system gives out: nobody chooses it. */
static uint32_t hash_of(const struct weir_system *system, uint32_t parent,
			const char *name, size_t n)
{
	const struct weir__hash_key *key = weir__executor_key(system->executor);

	return (uint32_t)weir__hash_bytes(key, name, n) ^ parent * 0x9e3779b9u;
}

static uint32_t *bucket(const struct weir_system *system, uint32_t hash)
{
	assert(system->n_buckets &&
	       !(system->n_buckets & (system->n_buckets - 1)));
	return &system->names[hash & (system->n_buckets - 1)];
}

/* Under that parent; `n` bytes, as paths are not cut into pieces. */
static struct weir__cell *find_named(const struct weir_system *system,
				     uint32_t parent, const char *name,
				     size_t n)
{
	uint32_t hash = hash_of(system, parent, name, n), slot;
	struct weir__record *record;
	struct weir__cell *cell;

	if (!system->n_buckets)
		return NULL;
	for (slot = *bucket(system, hash); slot != WEIR__NO_CELL;
	     slot = record->name_next) {
		cell = weir__cell_at(system, slot);
		record = weir__record_of(cell);
		if (record->name_hash == hash && cell->parent == parent &&
		    strncmp(record->name, name, n) == 0 && !record->name[n])
			return cell;
	}
	return NULL;
}

/* No memory: it stays as it is, which is slower and not wrong. */
static void grow(struct weir_system *system)
{
	uint32_t n = system->n_buckets, *old = system->names, i, slot;
	uint32_t more = n ? 2 * n : BUCKETS_MIN, *link;
	size_t size = more * sizeof(*old);
	struct weir__record *record;

	if (n > UINT32_MAX / 2)
		return;
	link = weir__alloc(system->options.allocator, size);
	if (!link)
		return;
	memset(link, 0xff, size); /* WEIR__NO_CELL */
	system->names = link;
	system->n_buckets = more;
	for (i = 0; i < n; i++) {
		while ((slot = old[i]) != WEIR__NO_CELL) {
			record = weir__record_of(weir__cell_at(system, slot));
			old[i] = record->name_next;
			link = bucket(system, record->name_hash);
			record->name_next = *link;
			*link = slot;
		}
	}
	weir__free(system->options.allocator, old, n * sizeof(*old));
}

int weir__name_set(struct weir_system *system, struct weir__cell *cell,
		   uint32_t parent, const char *name)
{
	struct weir__record *record = weir__record_of(cell);
	size_t n = strlen(name);
	uint32_t *link;

	assert(record != &system->none && !record->name);
	if (find_named(system, parent, name, n))
		return -EEXIST;
	if (system->n_names >= system->n_buckets)
		grow(system);
	/* only the first table cannot be done without */
	if (!system->n_buckets)
		return -ENOMEM;
	record->name = weir__alloc(system->options.allocator, n + 1);
	if (!record->name)
		return -ENOMEM;
	memcpy(record->name, name, n);
	record->name_hash = hash_of(system, parent, name, n);
	link = bucket(system, record->name_hash);
	record->name_next = *link;
	*link = weir__cell_slot(system, cell);
	cell->parent = parent; /* part of the key */
	system->n_names++;
	return 0;
}

void weir__name_clear(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	uint32_t slot = weir__cell_slot(system, cell), *link;

	if (!record->name)
		return;
	link = bucket(system, record->name_hash);
	while (*link != slot) {
		assert(*link != WEIR__NO_CELL);
		link = &weir__record_of(weir__cell_at(system, *link))
				->name_next;
	}
	*link = record->name_next;
	weir__free(system->options.allocator, record->name,
		   strlen(record->name) + 1);
	record->name = NULL;
	assert(system->n_names > 0);
	system->n_names--;
}

void weir__names_fini(struct weir_system *system)
{
	assert(!system->n_names);
	weir__free(system->options.allocator, system->names,
		   system->n_buckets * sizeof(*system->names));
	system->names = NULL;
	system->n_buckets = 0;
}

/* --- Paths ---------------------------------------------------------------- */

/* What "$" and digits stand for, written as weir_path() does. */
static struct weir__cell *find_unnamed(const struct weir_system *system,
				       uint32_t parent, const char *name,
				       size_t n)
{
	struct weir__cell *cell;
	uint64_t slot = 0;
	size_t i;

	if (n < 2 || n >= NUMBER_MAX || (name[1] == '0' && n > 2))
		return NULL;
	for (i = 1; i < n; i++) {
		if (name[i] < '0' || name[i] > '9')
			return NULL;
		slot = slot * 10 + (uint64_t)(name[i] - '0');
	}
	if (slot >= system->n_cells)
		return NULL;
	cell = weir__cell_at(system, (uint32_t)slot);
	if (cell->state == WEIR__CELL_FREE || cell->state == WEIR__CELL_ENDED ||
	    cell->parent != parent || weir__record_of(cell)->name)
		return NULL;
	return cell;
}

static struct weir__cell *find_child(const struct weir_system *system,
				     const struct weir__cell *parent,
				     const char *name, size_t n)
{
	uint32_t slot = weir__cell_slot(system, parent);
	struct weir__cell *cell;

	if (*name == '$')
		cell = find_unnamed(system, slot, name, n);
	else
		cell = find_named(system, slot, name, n);
	return cell && !(cell->flags & WEIR__CELL_HIDDEN) ? cell : NULL;
}

/* `path` begins with '/'. */
static struct weir__cell *find_path(const struct weir_system *system,
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

struct weir_ref weir_lookup(struct weir_system *system, const char *path)
{
	struct weir_ref ref = WEIR_NOBODY;
	bool held;
	struct weir__cell *cell;

	if (!system || !path || *path != '/')
		return ref;
	held = weir__enter(system);
	cell = find_path(system, path);
	if (cell)
		ref = weir__cell_ref(system, cell);
	weir__leave(system, held);
	return ref;
}

/* The last element of its path, which may be made in `number`. */
static const char *element(const struct weir_system *system,
			   const struct weir__cell *cell,
			   char number[NUMBER_MAX])
{
	const char *name = weir__record_of(cell)->name;

	if (name)
		return name;
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

int weir_path(struct weir_system *system, struct weir_ref ref, char *path,
	      size_t size)
{
	bool held;
	struct weir__cell *cell;
	size_t length = 0;

	if (!system || (!path && size))
		return -EINVAL;
	held = weir__enter(system);
	cell = weir__cell_find(system, ref);
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
