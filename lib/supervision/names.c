/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a system are a digital search tree. Below a name at depth d are
 * the names whose hashes begin with the same d digits; the next digit of a
 * name's hash says in which branch. A hash has 16 digits of two bits; names
 * with equal hashes are below each other, by digits of 0.
 *
 * So an operation under the lock goes down one path, which is O(log n) long
 * because the hash uses a secret. No part of the tree has to grow: a hash table
 * would have to be rehashed, or two would be searched while one grows, and it
 * would need memory of its own.
 */
#include "supervision/names.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

#define DIGIT_BITS 2u
#define DIGIT_MASK (WEIR__NAME_DIGITS - 1u)

_Static_assert(WEIR__NAME_DIGITS == 1u << DIGIT_BITS, "one for each digit");

/* The parent is a slot, which the system chooses, and not the user. */
static uint32_t hash_of(const struct weir__names *names, uint32_t parent,
			const char *text, size_t n)
{
	return (uint32_t)weir__hash_bytes(names->key, text, n) ^
	       parent * 0x9e3779b9u;
}

static bool is_named(const struct weir__name *name, uint32_t parent,
		     const char *text, size_t n)
{
	return name->parent == parent && strncmp(name->text, text, n) == 0 &&
	       !name->text[n];
}

/*
 * The link to the name under that parent, or the NULL link where it belongs.
 * The name has `n` bytes and no final 0, because it may be a part of a path.
 */
static struct weir__name **find_link(struct weir__name **link, uint32_t parent,
				     const char *text, size_t n, uint32_t hash)
{
	struct weir__name *name;
	uint32_t digits = hash;

	while ((name = *link)) {
		if (name->hash == hash && is_named(name, parent, text, n))
			break;
		link = &name->below[digits & DIGIT_MASK];
		digits >>= DIGIT_BITS;
	}
	return link;
}

const struct weir__name *weir__names_find(const struct weir__names *names,
					  uint32_t parent, const char *text,
					  size_t n)
{
	struct weir__name *root = names->root;

	return *find_link(&root, parent, text, n,
			  hash_of(names, parent, text, n));
}

static size_t size_of(size_t n)
{
	return sizeof(struct weir__name) + n + 1;
}

int weir__names_add(struct weir__names *names, uint32_t parent, uint32_t slot,
		    const char *text, struct weir__name **made)
{
	size_t n = strlen(text);
	uint32_t hash = hash_of(names, parent, text, n);
	struct weir__name **link =
		find_link(&names->root, parent, text, n, hash);
	struct weir__name *name;

	if (*link)
		return -EEXIST;
	name = weir__alloc(names->allocator, size_of(n));
	if (!name)
		return -ENOMEM;
	name->hash = hash;
	name->parent = parent;
	name->slot = slot;
	memcpy(name->text, text, n);
	*link = name;
	*made = name;
	return 0;
}

static struct weir__name **link_of(struct weir__names *names,
				   const struct weir__name *name)
{
	struct weir__name **link = &names->root;
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
void weir__names_hide(struct weir__names *names, struct weir__name *name)
{
	struct weir__name **link, *leaf;

	if (name->hidden)
		return;
	link = link_of(names, name);
	leaf = take_leaf(link);
	if (leaf != name) {
		memcpy(leaf->below, name->below, sizeof(leaf->below));
		*link = leaf;
	}
	name->hidden = true;
}

void weir__names_remove(struct weir__names *names, struct weir__name *name)
{
	weir__names_hide(names, name);
	weir__free(names->allocator, name, size_of(strlen(name->text)));
}
