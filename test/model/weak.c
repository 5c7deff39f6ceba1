/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The weak order: claims M1 and M2 of memory.h. Candidates are listed newest
 * first, so that the first choice is always what would happen without any
 * reordering.
 */
#include "memory.h"

static int16_t floor_of(const struct word *word, enum kind kind)
{
	const struct thread *t = current_thread();
	int16_t coherent = t->coherent.lane[word->lane];
	int16_t bound = t->bound[kind].lane[word->lane];

	return coherent > bound ? coherent : bound;
}

/* M2, for reading; newest first. */
static int readable(const struct word *word, enum kind kind, uint16_t *list)
{
	int16_t floor = floor_of(word, kind);
	int max = max_candidates();
	uint16_t i = word->newest;
	int n = 0;

	list[n++] = i;
	while (n < max && messages[i].timestamp > floor) {
		i = messages[i].older;
		list[n++] = i;
	}
	return n;
}

/* Is there room for a message right behind this one? */
static bool has_room(uint16_t index)
{
	uint16_t newer = messages[index].newer;

	return newer == NONE ||
	       (!messages[newer].glued &&
		messages[newer].timestamp - messages[index].timestamp > 1);
}

/* M2, for writing behind; newest first. */
static int writable(const struct word *word, enum kind kind, uint16_t *list)
{
	int16_t floor = floor_of(word, kind);
	int max = max_candidates();
	uint16_t i = word->newest;
	int n = 0;

	list[n++] = i;
	while (n < max && messages[i].timestamp > floor) {
		i = messages[i].older;
		if (has_room(i))
			list[n++] = i;
	}
	return n;
}

static void put_between(uint16_t index, uint16_t behind)
{
	struct message *older = &messages[behind];
	struct message *newer = &messages[older->newer];

	messages[index].older = behind;
	messages[index].newer = older->newer;
	messages[index].timestamp =
		(int16_t)(older->timestamp +
			  (newer->timestamp - older->timestamp) / 2);
	newer->older = index;
	older->newer = index;
}

/* Behind a message with the compared value there must be room; one with
 * another value is read by a cas that fails. */
static int comparable(const struct word *word, uint64_t compare, uint16_t *list)
{
	uint16_t all[MAX_CANDIDATES];
	int n_all = readable(word, ATOMIC, all);
	int n = 0;

	for (int i = 0; i < n_all; i++)
		if (messages[all[i]].value != compare || has_room(all[i]))
			list[n++] = all[i];
	return n;
}

uint16_t weak_read(const struct word *word, enum kind kind)
{
	uint16_t list[MAX_CANDIDATES];

	return list[choose_old(readable(word, kind, list))];
}

uint16_t weak_place(const struct word *word, enum kind kind)
{
	uint16_t list[MAX_CANDIDATES];

	return list[choose_old(writable(word, kind, list))];
}

/* It needs both what it reads and the place behind. */
uint16_t weak_read_atomic(const struct word *word)
{
	return weak_place(word, ATOMIC);
}

uint16_t weak_read_cas(const struct word *word, uint64_t compare)
{
	uint16_t list[MAX_CANDIDATES];

	return list[choose_old(comparable(word, compare, list))];
}

bool weak_insert(struct word *word, uint16_t index, uint16_t behind)
{
	if (behind != word->newest) {
		put_between(index, behind);
		return false;
	}
	append(word, index);
	return true;
}
