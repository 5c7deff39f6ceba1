/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory model: rules 2 to 6 of explorer.h.
 *
 * Each word has a list of messages, its modification order, oldest first. A
 * message carries the view that comes with it: what its writer's fences say
 * must be seen by who saw it and has a fence to say so.
 *
 *  M1 Timestamps rise along a list, with gaps, so that a message can be put
 *     between two. A message of a read-modify-write is glued to the one it
 *     read: nothing goes in between (rule 5).
 *  M2 floor = max(coherent, bound[kind]) at the word's lane. Anything from the
 *     message with that timestamp on may be read; a store may go behind any of
 *     them unless what follows is glued.
 *  M3 bound[store] and bound[atomic] are at the same time what a store or an
 *     atomic carries: what is ordered before it.
 *  M4 seen[k] holds bound[k] as well, folded in at fences (used[k]), so that
 *     order is transitive over a chain of fences.
 *  M5 Reading one's own store adds nothing to seen[load]: it may be forwarded
 *     before anybody else can see it.
 *  M6 Memory itself always holds the last message's value, so that plain
 *     accesses and setup and check work as usual. Where it differs, a plain
 *     write has been there, which rule 7 has ordered: everyone sees it.
 *
 * With `tso` a message in addition is drained or not; see tso below.
 *  T1 A thread sees its own last store to a word, else the last drained one.
 *     On an access to a word, first the stores of others that wait for it
 *     drain, all in the order they were made, or (a choice) only some.
 *  T2 A store drains after all earlier ones of its thread.
 */
#include "explorer_state.h"

#include <inttypes.h>
#include <string.h>

enum {
	WORDS = 1024, /* in the table; LANES bounds one execution */
	MESSAGES = 6000,
	GAP = 64,
	LAST_TIMESTAMP = 32000,
	NONE = 0,
	NOBODY = -1,
};

struct message {
	uint64_t value;
	int16_t timestamp;
	int16_t n_vectors;     /* of the view, the rest counts as 0 */
	uint16_t older, newer; /* index or NONE */
	int8_t writer;
	bool glued;
	bool drained; /* tso */
	struct view view;
};

struct word {
	uintptr_t address;   /* 0: free entry */
	uint32_t generation; /* of what follows it in this struct */
	uint16_t newest;
	int16_t lane;
	uint8_t size;
	int16_t epochs[KINDS][EXPLORER_THREADS]; /* of the last access */
	/* Over all executions of a run: */
	uint8_t readers, writers; /* bit per thread */
	bool shared;
};

static struct word words[WORDS];
static int n_words;
static struct word *in_use[LANES];	  /* in this execution, by lane */
static struct message messages[MESSAGES]; /* 0 is NONE */
static uint16_t n_messages;
static int n_lanes;
static int n_vectors;
static struct view global; /* rule 4 */

/* Views */

static inline lanes_vector later(lanes_vector a, lanes_vector b)
{
	lanes_vector mask = a > b;

	return (a & mask) | (b & ~mask);
}

static void join(struct view *into, const struct view *from, int n)
{
	for (int i = 0; i < n; i++)
		into->vector[i] = later(into->vector[i], from->vector[i]);
}

static inline void raise_lane(struct view *view, int lane, int16_t timestamp)
{
	if (view->lane[lane] < timestamp)
		view->lane[lane] = timestamp;
}

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
	for (int t = 0; t < EXPLORER_THREADS; t++) {
		explorer.threads[t].epoch = 1;
		memset(explorer.threads[t].used, 0,
		       sizeof(explorer.threads[t].used));
	}
}

static uint64_t peek(uintptr_t address, unsigned int size)
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

static void poke(uintptr_t address, unsigned int size, uint64_t value)
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

static uint64_t cut(uint64_t value, unsigned int size)
{
	return size == 8 ? value : value & (((uint64_t)1 << (8 * size)) - 1);
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

static uint16_t new_message(uint64_t value)
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
	m->drained = true;
	return n_messages++;
}

static void append(struct word *word, uint16_t index)
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

	if (word->newest == NONE) {
		messages[index].timestamp = 0;
		word->newest = index;
		return;
	}
	append(word, index);
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

/* The step of an operation on a word; then the word as it is by now. */
static struct word *enter(const void *target, unsigned int size, enum kind kind)
{
	struct word *word = word_at(target);

	explorer_point(word->address, kind != LOAD, word->shared);
	plain_check_alive(target, "an operation");
	refresh(word, size);
	note_user(word, kind != LOAD);
	plain_check_word(target, size, kind);
	word->epochs[kind][explorer.current] = current_thread()->epoch;
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

static bool all_are_known(const struct word *word)
{
	const struct view *bound = &current_thread()->bound[STORE];

	for (int k = 0; k < KINDS; k++)
		for (int t = 0; t < EXPLORER_THREADS; t++)
			if (t != explorer.current &&
			    word->epochs[k][t] >
				    bound->lane[clock_lane((enum kind)k, t)])
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

/* Accesses */

static int16_t floor_of(const struct word *word, enum kind kind)
{
	const struct thread *t = current_thread();
	int16_t coherent = t->coherent.lane[word->lane];
	int16_t bound = t->bound[kind].lane[word->lane];

	return coherent > bound ? coherent : bound;
}

/* The current thread, in an access of that kind, has seen the message. */
static void see(const struct word *word, uint16_t index, enum kind kind)
{
	const struct message *m = &messages[index];
	struct thread *t = current_thread();

	t->used[kind] = true;
	raise_lane(&t->coherent, word->lane, m->timestamp);
	if (m->writer == explorer.current && kind == LOAD)
		return; /* M5 */
	join(&t->seen[kind], &m->view, m->n_vectors);
	raise_lane(&t->seen[kind], word->lane, m->timestamp);
}

/* The choice of something else than the newest. */
static uint16_t choose_message(const uint16_t *candidates, int n)
{
	int choice = explorer_choose(n);

	if (choice > 0) {
		explorer.stale_left--;
		current_thread()->progress = true;
	}
	return candidates[choice];
}

enum { MAX_CANDIDATES = 16 };

static int max_candidates(void)
{
	int n = 1 + explorer.options.older;

	if (explorer.stale_left == 0)
		return 1;
	return n > MAX_CANDIDATES ? MAX_CANDIDATES : n;
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

static void insert(uint16_t index, uint16_t behind)
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

/* A message of the current thread behind another, with what it carries (M3). */
static uint16_t write_message(struct word *word, uint16_t behind,
			      uint64_t value, enum kind kind)
{
	struct thread *t = current_thread();
	uint16_t index = new_message(value);
	struct message *m = &messages[index];

	m->writer = (int8_t)explorer.current;
	if (messages[behind].newer == NONE) {
		append(word, index);
		poke(word->address, word->size, value);
	} else {
		insert(index, behind);
	}
	memcpy(&m->view, &t->bound[kind],
	       (size_t)n_vectors * sizeof(lanes_vector));
	m->n_vectors = (int16_t)n_vectors;
	m->view.lane[word->lane] = m->timestamp;
	t->used[kind] = true;
	raise_lane(&t->coherent, word->lane, m->timestamp);
	raise_lane(&t->seen[kind], word->lane, m->timestamp);
	explorer_wrote();
	return index;
}

/* What an atomic read goes on with what it writes. */
static void write_atomic(struct word *word, uint16_t read, uint64_t value)
{
	uint16_t index = write_message(word, read, value, ATOMIC);
	struct message *m = &messages[index];
	const struct message *from = &messages[read];
	int16_t timestamp = m->timestamp;

	m->glued = true;
	join(&m->view, &from->view, from->n_vectors);
	m->view.lane[word->lane] = timestamp;
}

/* Fences */

enum { L = 1 << LOAD, S = 1 << STORE, A = 1 << ATOMIC };

/* before[k]: which kinds are ordered after earlier ones of kind k. published:
 * what goes into the one order of rule 4, ordered[]: whom it binds. */
static const struct fence_order {
	uint8_t before[KINDS];
	uint8_t published, bound;
} fence_orders[EXPLORER_N_FENCES] = {
	[EXPLORER_FENCE_ATOMIC] = {{0, 0, A}, 0, 0},
	[EXPLORER_FENCE_ATOMIC_LOAD] = {{0, 0, L}, A, L},
	[EXPLORER_FENCE_ATOMIC_STORE] = {{0, 0, S}, 0, 0},
	[EXPLORER_FENCE_STORE_ATOMIC] = {{0, A, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_ATOMIC] = {{A, 0, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_STORE] = {{S, 0, 0}, 0, 0},
	[EXPLORER_FENCE_STORE_LOAD] = {{0, L, 0}, S, L},
	[EXPLORER_FENCE_LOAD] = {{L, 0, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_DEPENDS] = {{L, 0, L}, 0, 0},
	[EXPLORER_FENCE_STORE] = {{0, S, 0}, 0, 0},
	[EXPLORER_FENCE_MEMORY] = {{L | S | A, L | S | A, L | S | A},
				   L | S | A,
				   L | S | A},
	[EXPLORER_FENCE_ACQUIRE] = {{L | S | A, 0, L | S | A}, 0, 0},
	[EXPLORER_FENCE_RELEASE] = {{S | A, S | A, S | A}, 0, 0},
	[EXPLORER_FENCE_ACQREL] = {{L | S | A, S | A, L | S | A}, 0, 0},
	[EXPLORER_FENCE_LOCK] = {{L | S | A, 0, L | S | A}, 0, 0},
	[EXPLORER_FENCE_UNLOCK] = {{S | A, S | A, S | A}, 0, 0},
};

/* M4, and the clocks, whose next stretch begins. */
static void fold(struct thread *t)
{
	int me = explorer.current;

	for (int k = 0; k < KINDS; k++) {
		raise_lane(&t->seen[k], clock_lane((enum kind)k, me), t->epoch);
		if (!t->used[k])
			continue;
		join(&t->seen[k], &t->bound[k], n_vectors);
		t->used[k] = false;
	}
	t->epoch++;
}

static void apply(const struct fence_order *order)
{
	struct thread *t = current_thread();

	fold(t);
	for (int k = 0; k < KINDS; k++) {
		if (order->published & (1 << k))
			join(&global, &t->seen[k], n_vectors);
		for (int to = 0; to < KINDS; to++)
			if (order->before[k] & (1 << to))
				join(&t->bound[to], &t->seen[k], n_vectors);
	}
	for (int to = 0; to < KINDS; to++)
		if (order->bound & (1 << to))
			join(&t->bound[to], &global, n_vectors);
}

void memory_fence(enum explorer_fence fence)
{
	if (explorer.current != MAIN)
		apply(&fence_orders[fence]);
}

/* A word of its own for conflicts between the fences of rule 4. */
#define GLOBAL_ADDRESS ((uintptr_t)&global)

void explorer_op_fence(enum explorer_fence fence, struct explorer_site *site)
{
	if (explorer.current == MAIN)
		return;
	explorer_point(GLOBAL_ADDRESS, fence_orders[fence].published != 0,
		       fence_orders[fence].published != 0);
	if (site_is_weakened(site)) {
		if (explorer.tracing)
			trace_op(site, NULL, "weakened to nothing");
		return;
	}
	if (explorer.tracing)
		trace_op(site, NULL, " ");
	memory_fence(fence);
}

/* Operations */

static const char *age(const struct word *word, uint16_t index)
{
	return index == word->newest ? "" : " (not the newest)";
}

uint64_t memory_load(const void *target, unsigned int size)
{
	uint16_t list[MAX_CANDIDATES];
	struct word *word;
	uint16_t read;

	if (explorer.current == MAIN)
		return peek((uintptr_t)target, size);
	word = word_at(target);
	refresh(word, size);
	note_user(word, false);
	read = choose_message(list, readable(word, LOAD, list));
	see(word, read, LOAD);
	return messages[read].value;
}

uint64_t explorer_op_load(const void *target, unsigned int size,
			  struct explorer_site *site)
{
	uint16_t list[MAX_CANDIDATES];
	struct word *word;
	uint16_t read;

	if (explorer.current == MAIN) {
		explorer_point(1, false, false);
		plain_check_alive(target, "a load");
		return peek((uintptr_t)target, size);
	}
	word = enter(target, size, LOAD);
	read = choose_message(list, readable(word, LOAD, list));
	see(word, read, LOAD);
	if (explorer.tracing)
		trace_op(site, target, "-> %" PRIx64 "%s", messages[read].value,
			 age(word, read));
	return messages[read].value;
}

static void store(struct word *word, uint64_t value, enum kind kind,
		  const struct explorer_site *site)
{
	uint16_t list[MAX_CANDIDATES];
	uint16_t behind, index;

	behind = choose_message(list, writable(word, kind, list));
	index = write_message(word, behind, value, kind);
	if (explorer.tracing)
		trace_op(site, (const void *)word->address, "= %" PRIx64 "%s",
			 value, age(word, index));
}

void explorer_op_store(void *target, unsigned int size, uint64_t value,
		       struct explorer_site *site)
{
	value = cut(value, size);
	if (explorer.current == MAIN) {
		explorer_point(1, false, false);
		plain_check_alive(target, "a store");
		poke((uintptr_t)target, size, value);
		return;
	}
	store(enter(target, size, STORE), value, STORE, site);
}

static uint64_t changed(uint64_t value, enum explorer_rmw op, uint64_t operand)
{
	switch (op) {
	case EXPLORER_FAS:
		return operand;
	case EXPLORER_ADD:
		return value + operand;
	case EXPLORER_SUB:
		return value - operand;
	case EXPLORER_AND:
		return value & operand;
	case EXPLORER_OR:
		return value | operand;
	case EXPLORER_XOR:
		return value ^ operand;
	case EXPLORER_NEG:
		return -value;
	}
	return value;
}

/* The first half of a weakened read-modify-write; enter() comes again. */
static uint64_t weakened_read(struct word *word, struct explorer_site *site)
{
	uint16_t list[MAX_CANDIDATES];
	uint16_t read = choose_message(list, readable(word, ATOMIC, list));

	see(word, read, ATOMIC);
	if (explorer.tracing)
		trace_op(site, (const void *)word->address,
			 "weakened, reads %" PRIx64 "%s", messages[read].value,
			 age(word, read));
	return messages[read].value;
}

uint64_t explorer_op_rmw(void *target, unsigned int size, enum explorer_rmw op,
			 uint64_t operand, struct explorer_site *site)
{
	uint16_t list[MAX_CANDIDATES];
	struct word *word;
	uint64_t before, after;
	uint16_t read;

	if (explorer.current == MAIN) {
		explorer_point(1, false, false);
		plain_check_alive(target, "a read-modify-write");
		before = peek((uintptr_t)target, size);
		poke((uintptr_t)target, size, changed(before, op, operand));
		return before;
	}
	word = enter(target, size, ATOMIC);
	if (site_is_weakened(site)) {
		before = weakened_read(word, site);
		word = enter(target, size, ATOMIC);
		store(word, cut(changed(before, op, operand), size), ATOMIC,
		      site);
		return before;
	}
	read = choose_message(list, writable(word, ATOMIC, list));
	see(word, read, ATOMIC);
	before = messages[read].value;
	after = cut(changed(before, op, operand), size);
	if (explorer.tracing)
		trace_op(site, target, "%" PRIx64 " -> %" PRIx64 "%s", before,
			 after, age(word, read));
	write_atomic(word, read, after);
	return before;
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

static bool cas_alone(void *target, unsigned int size, uint64_t compare,
		      uint64_t set, uint64_t *found)
{
	explorer_point(1, false, false);
	plain_check_alive(target, "a cas");
	*found = peek((uintptr_t)target, size);
	if (*found != compare)
		return false;
	poke((uintptr_t)target, size, set);
	return true;
}

bool explorer_op_cas(void *target, unsigned int size, uint64_t compare,
		     uint64_t set, uint64_t *found, struct explorer_site *site)
{
	uint16_t list[MAX_CANDIDATES];
	struct word *word;
	uint16_t read;

	compare = cut(compare, size);
	set = cut(set, size);
	if (explorer.current == MAIN)
		return cas_alone(target, size, compare, set, found);
	word = enter(target, size, ATOMIC);
	if (site_is_weakened(site)) {
		*found = weakened_read(word, site);
		if (*found != compare)
			return false;
		store(enter(target, size, ATOMIC), set, ATOMIC, site);
		return true;
	}
	read = choose_message(list, comparable(word, compare, list));
	see(word, read, ATOMIC);
	*found = messages[read].value;
	if (explorer.tracing)
		trace_op(site, target,
			 "%" PRIx64 " -> %" PRIx64 ", is %" PRIx64 "%s%s",
			 compare, set, *found, age(word, read),
			 *found == compare ? "" : ": fails");
	if (*found != compare)
		return false;
	write_atomic(word, read, set);
	return true;
}
