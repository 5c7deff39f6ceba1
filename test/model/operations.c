/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operations that the shim calls, each one step of the explorer. In setup
 * and check they act on memory directly.
 */
#include "memory.h"

#include <inttypes.h>
#include <string.h>

static uint64_t cut(uint64_t value, unsigned int size)
{
	return size == 8 ? value : value & (((uint64_t)1 << (8 * size)) - 1);
}

/* The current thread, in an access of that kind, has seen the message. */
static void see(const struct word *word, uint16_t index, enum kind kind)
{
	const struct message *m = &messages[index];
	struct thread *t = current_thread();

	t->used[kind] = true;
	/* News: a loop that stalls will not do the same again. */
	if (t->coherent.lane[word->lane] < m->timestamp)
		t->progress = true;
	raise_lane(&t->coherent, word->lane, m->timestamp);
	if (m->writer != explorer.current || kind != LOAD) { /* M5 */
		join(&t->seen[kind], &m->view, m->n_vectors);
		raise_lane(&t->seen[kind], word->lane, m->timestamp);
	}
	if (explorer.options.tso)
		apply_tso_order();
}

/* A message of the current thread behind another, with what it carries (M3). */
static uint16_t write_message(struct word *word, uint16_t behind,
			      uint64_t value, enum kind kind)
{
	struct thread *t = current_thread();
	uint16_t index = new_message(value);
	struct message *m = &messages[index];

	if (explorer.options.tso)
		apply_tso_order();
	m->writer = (int8_t)explorer.current;
	if (weak_insert(word, index, behind))
		poke(word->address, word->size, value);
	memcpy(&m->view, &t->bound[kind],
	       (size_t)n_vectors * sizeof(lanes_vector));
	m->n_vectors = (int16_t)n_vectors;
	m->view.lane[word->lane] = m->timestamp;
	word->written[kind][explorer.current] = m->timestamp;
	t->used[kind] = true;
	raise_lane(&t->coherent, word->lane, m->timestamp);
	raise_lane(&t->seen[kind], word->lane, m->timestamp);
	explorer_wrote();
	return index;
}

/* What an atomic read goes on with what it writes. */
static void write_atomic(struct word *word, uint16_t read, uint64_t value)
{
	uint16_t index =
		write_message(word, explorer.options.tso ? word->newest : read,
			      value, ATOMIC);
	struct message *m = &messages[index];
	const struct message *from = &messages[read];
	int16_t timestamp = m->timestamp;

	word->drained = index;
	m->glued = true;
	join(&m->view, &from->view, from->n_vectors);
	m->view.lane[word->lane] = timestamp;
}

static const char *age(const struct word *word, uint16_t index)
{
	return index == word->newest ? "" : " (not the newest)";
}

static uint16_t read_message(const struct word *word, enum kind kind)
{
	return explorer.options.tso ? tso_read(word) : weak_read(word, kind);
}

/* x86's are fences, whether they write or not. */
static uint16_t read_for_atomic(const struct word *word)
{
	if (!explorer.options.tso)
		return weak_read_atomic(word);
	tso_drain_own();
	return tso_read_drained(word);
}

static uint16_t read_for_cas(const struct word *word, uint64_t compare)
{
	return explorer.options.tso ? read_for_atomic(word)
				    : weak_read_cas(word, compare);
}

uint64_t memory_load(const void *target, unsigned int size)
{
	struct word *word;
	uint16_t read;

	if (explorer.current == MAIN)
		return peek((uintptr_t)target, size);
	word = enter_at_once(target, size);
	read = read_message(word, LOAD);
	see(word, read, LOAD);
	return messages[read].value;
}

uint64_t explorer_op_load(const void *target, unsigned int size,
			  struct explorer_site *site)
{
	struct word *word;
	uint16_t read;

	if (explorer.current == MAIN) {
		explorer_point(1, false, false);
		plain_check_alive(target, "a load");
		return peek((uintptr_t)target, size);
	}
	word = enter(target, size, LOAD);
	read = read_message(word, LOAD);
	see(word, read, LOAD);
	if (explorer.tracing)
		trace_op(site, target, "-> %" PRIx64 "%s", messages[read].value,
			 age(word, read));
	return messages[read].value;
}

static void store(struct word *word, uint64_t value, enum kind kind,
		  const struct explorer_site *site)
{
	uint16_t behind, index;

	behind = explorer.options.tso ? word->newest : weak_place(word, kind);
	index = write_message(word, behind, value, kind);
	if (explorer.options.tso)
		tso_wait(word, index);
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
	uint16_t read = read_message(word, ATOMIC);

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
	read = read_for_atomic(word);
	see(word, read, ATOMIC);
	before = messages[read].value;
	after = cut(changed(before, op, operand), size);
	if (explorer.tracing)
		trace_op(site, target, "%" PRIx64 " -> %" PRIx64 "%s", before,
			 after, age(word, read));
	write_atomic(word, read, after);
	return before;
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
	read = read_for_cas(word, compare);
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
