/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words that operations touch, and their messages.
 *
 * The table of words is kept for a run, because it knows who shares them (rule
 * 1); messages and lanes of views are handed out anew in each execution, in
 * which a word's generation tells whether it has been used.
 */
#include "memory.h"

#include <string.h>

enum {
	WORDS = 1024, /* in the table; LANES bounds one execution */
	GAP = 64,
	LAST_TIMESTAMP = 32000,
};

static struct word words[WORDS];
static int n_words;
static struct word *in_use[LANES]; /* in this execution, by lane */
static int n_lanes;
struct message messages[MESSAGES];
static uint16_t n_messages;
int n_vectors;
struct view global;

static void clear_vector(int i)
{
	const lanes_vector zero = {0};

	global.vector[i] = zero;
	for (int t = 0; t < EXPLORER_THREADS; t++) {
		struct thread *thread = &explorer.threads[t];

		thread->coherent.vector[i] = zero;
		for (int k = 0; k < KINDS; k++) {
			thread->bound[k].vector[i] = zero;
			thread->seen[k].vector[i] = zero;
		}
	}
}

static int new_lane(void)
{
	if (n_lanes == LANES)
		explorer_fail("more than %d words in one execution",
			      LANES - CLOCKS);
	if (n_lanes == n_vectors * LANES_PER_VECTOR)
		clear_vector(n_vectors++);
	return n_lanes++;
}

/* Words */

void memory_forget(void)
{
	memset(words, 0, sizeof(words));
	n_words = 0;
}

void memory_reset(void)
{
	n_messages = 1;
	n_vectors = 0;
	n_lanes = 0;
	while (n_lanes < CLOCKS)
		new_lane();
	tso_reset();
	for (int t = 0; t < EXPLORER_THREADS; t++) {
		explorer.threads[t].epoch = 1;
		memset(explorer.threads[t].used, 0,
		       sizeof(explorer.threads[t].used));
	}
}

uint64_t peek(uintptr_t address, unsigned int size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)address;
	case 2:
		return *(const volatile uint16_t *)address;
	case 4:
		return *(const volatile uint32_t *)address;
	default:
		return *(const volatile uint64_t *)address;
	}
}

void poke(uintptr_t address, unsigned int size, uint64_t value)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)address = (uint8_t)value;
		return;
	case 2:
		*(volatile uint16_t *)address = (uint16_t)value;
		return;
	case 4:
		*(volatile uint32_t *)address = (uint32_t)value;
		return;
	default:
		*(volatile uint64_t *)address = value;
		return;
	}
}

static struct word *find_word(uintptr_t address)
{
	uint32_t i = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 54);

	while (words[i].address != address && words[i].address != 0)
		i = (i + 1) % WORDS;
	return &words[i];
}

static struct word *word_at(const void *target)
{
	struct word *word = find_word((uintptr_t)target);

	if (word->address != 0)
		return word;
	if (++n_words > WORDS * 3 / 4)
		explorer_fail("more than %d words in all", WORDS * 3 / 4);
	word->address = (uintptr_t)target;
	return word;
}

uint16_t new_message(uint64_t value)
{
	struct message *m = &messages[n_messages];

	if (n_messages == MESSAGES)
		explorer_fail("more than %d writes in one execution", MESSAGES);
	m->value = value;
	m->n_vectors = 0;
	m->older = NONE;
	m->newer = NONE;
	m->writer = NOBODY;
	m->glued = false;
	return n_messages++;
}

void append(struct word *word, uint16_t index)
{
	struct message *newest = &messages[word->newest];

	if (newest->timestamp > LAST_TIMESTAMP)
		explorer_fail("too many writes to one word");
	messages[index].timestamp = (int16_t)(newest->timestamp + GAP);
	messages[index].older = word->newest;
	newest->newer = index;
	word->newest = index;
}

/* M6. The word's first use, or a plain write in between. */
static void take_from_memory(struct word *word)
{
	uint64_t value = peek(word->address, word->size);
	uint16_t index = new_message(value);

	word->drained = index;
	if (word->newest == NONE) {
		messages[index].timestamp = 0;
		word->newest = index;
		return;
	}
	append(word, index);
	if (explorer.options.tso)
		tso_forget(word);
	for (int t = 0; t < EXPLORER_THREADS; t++)
		explorer.threads[t].coherent.lane[word->lane] =
			messages[index].timestamp;
}

static void refresh(struct word *word, unsigned int size)
{
	if (word->generation != explorer.generation) {
		word->generation = explorer.generation;
		word->size = (uint8_t)size;
		word->newest = NONE;
		word->lane = (int16_t)new_lane();
		in_use[word->lane] = word;
		memset(word->epochs, 0, sizeof(word->epochs));
		take_from_memory(word);
		return;
	}
	if (word->size != size)
		explorer_fail("a word of %u bytes used as one of %u",
			      word->size, size);
	if (peek(word->address, size) != messages[word->newest].value)
		take_from_memory(word);
}

/* Rule 1: who touches it? */
static void note_user(struct word *word, bool write)
{
	uint8_t me = (uint8_t)(1u << explorer.current);
	uint8_t users;

	if (write)
		word->writers |= me;
	else
		word->readers |= me;
	users = word->readers | word->writers;
	if (word->shared || word->writers == 0 || (users & (users - 1)) == 0)
		return;
	word->shared = true;
	explorer.grew = true;
}

struct word *enter(const void *target, unsigned int size, enum kind kind)
{
	struct word *word = word_at(target);

	if (explorer.options.tso && tso_conflicts(word, kind))
		explorer_point(0, true, true);
	else
		explorer_point(word->address, kind != LOAD, word->shared);
	plain_check_alive(target, "an operation");
	refresh(word, size);
	note_user(word, kind != LOAD);
	plain_check_word(target, size, kind);
	word->epochs[kind][explorer.current] = current_thread()->epoch;
	word->written[kind][explorer.current] = INT16_MAX;
	return word;
}

struct word *enter_at_once(const void *target, unsigned int size)
{
	struct word *word = word_at(target);

	refresh(word, size);
	note_user(word, false);
	return word;
}

bool memory_read_is_ordered(uintptr_t address)
{
	const struct word *word = find_word(address);
	const struct message *newest;

	if (word->address == 0 || word->generation != explorer.generation)
		return true;
	newest = &messages[word->newest];
	return newest->writer == explorer.current || newest->writer == NOBODY ||
	       current_thread()->bound[LOAD].lane[word->lane] >=
		       newest->timestamp;
}

/* By the clock of its thread, or because what it wrote has been seen. */
static bool is_known(const struct word *word, enum kind kind, int thread)
{
	const struct view *bound = &current_thread()->bound[STORE];

	return word->epochs[kind][thread] <=
		       bound->lane[clock_lane(kind, thread)] ||
	       word->written[kind][thread] <= bound->lane[word->lane];
}

static bool all_are_known(const struct word *word)
{
	for (int k = 0; k < KINDS; k++)
		for (int t = 0; t < EXPLORER_THREADS; t++)
			if (t != explorer.current &&
			    !is_known(word, (enum kind)k, t))
				return false;
	return true;
}

bool memory_write_is_ordered(uintptr_t address, size_t size)
{
	for (int i = CLOCKS; i < n_lanes; i++)
		if (in_use[i]->address - address < size &&
		    !all_are_known(in_use[i]))
			return false;
	return true;
}

/* After the threads: memory as all see it in the end. */
void memory_finish(void)
{
	if (!explorer.options.tso)
		return;
	tso_finish();
	for (int i = CLOCKS; i < n_lanes; i++)
		poke(in_use[i]->address, in_use[i]->size,
		     messages[in_use[i]->drained].value);
}
