/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86's order: a store waits in its thread's queue and drains from there into
 * memory, in order.
 *
 *  T1 A thread sees its own last store to a word while that waits, and else
 *     what drained last.
 *  T2 A store drains after the earlier ones of its thread.
 *  T3 When it drains does not matter until somebody looks: before another
 *     thread reads the word, the stores that wait for it drain in the order
 *     they were made, or, as a choice that counts, only the first of them.
 *     Of two threads' stores to one word the earlier drains first; the other
 *     order is the interleaving in which it is made later.
 */
#include "memory.h"

#include <string.h>

enum { WAITING_STORES = 64 };

static struct {
	struct word *word;
	uint16_t index;
	int writer;
} stores[WAITING_STORES]; /* as made */
static int n_stores;

void tso_reset(void)
{
	n_stores = 0;
}

static void remove_store(int i)
{
	n_stores--;
	memmove(&stores[i], &stores[i + 1],
		(size_t)(n_stores - i) * sizeof(*stores));
}

static int position(uint16_t index)
{
	int i = 0;

	while (stores[i].index != index)
		i++;
	return i;
}

/* T2, T3: what has to drain before the store at i, or i. */
static int first_before(int i)
{
	for (int j = 0; j < i; j++)
		if (stores[j].writer == stores[i].writer ||
		    stores[j].word == stores[i].word)
			return j;
	return i;
}

/* Each drains with what has to before it, so positions change. */
static void drain(int i)
{
	uint16_t index = stores[i].index;
	int first;

	while ((first = first_before(position(index))) != position(index))
		drain(first);
	i = position(index);
	stores[i].word->drained = index;
	remove_store(i);
}

void tso_finish(void)
{
	while (n_stores > 0)
		drain(0);
}

static int first_own(void)
{
	for (int i = 0; i < n_stores; i++)
		if (stores[i].writer == explorer.current)
			return i;
	return n_stores;
}

static bool has_own(void)
{
	return first_own() < n_stores;
}

void tso_drain_own(void)
{
	while (has_own())
		drain(first_own());
}

void tso_forget(const struct word *word)
{
	for (int i = n_stores - 1; i >= 0; i--)
		if (stores[i].word == word)
			remove_store(i);
}

static int waiting_for(const struct word *word)
{
	int n = 0;

	for (int i = 0; i < n_stores; i++)
		n += stores[i].word == word &&
		     stores[i].writer != explorer.current;
	return n;
}

bool tso_conflicts(const struct word *word, enum kind kind)
{
	return (kind == ATOMIC && has_own()) || waiting_for(word) > 0;
}

static void drain_first(const struct word *word)
{
	for (int i = 0; i < n_stores; i++) {
		if (stores[i].word != word ||
		    stores[i].writer == explorer.current)
			continue;
		drain(i);
		return;
	}
}

uint16_t tso_read_drained(const struct word *word)
{
	int n = waiting_for(word);
	int choices = 1 + n;

	if (choices > max_candidates())
		choices = max_candidates();
	n -= choose_old(choices);
	while (n-- > 0 && waiting_for(word) > 0)
		drain_first(word);
	return word->drained;
}

uint16_t tso_read(const struct word *word)
{
	for (int i = n_stores - 1; i >= 0; i--)
		if (stores[i].word == word &&
		    stores[i].writer == explorer.current)
			return stores[i].index;
	return tso_read_drained(word);
}

void tso_wait(struct word *word, uint16_t index)
{
	if (n_stores == WAITING_STORES)
		drain(0);
	stores[n_stores].word = word;
	stores[n_stores].index = index;
	stores[n_stores].writer = explorer.current;
	n_stores++;
}
