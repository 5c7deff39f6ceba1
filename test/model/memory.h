/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory model: rules 2 to 6 of explorer.h. What its files share:
 *
 *  words.c       the words, their messages, and who has touched them
 *  weak.c        what may be read and where a store lands, weak order
 *  tso.c         the same for x86's order
 *  fences.c      what fences do to views
 *  operations.c  what the shim calls
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
 */
#ifndef EXPLORER_MEMORY_H
#define EXPLORER_MEMORY_H

#include "explorer_state.h"

enum {
	MESSAGES = 6000,
	MAX_CANDIDATES = 16,
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
	struct view view;
};

struct word {
	uintptr_t address;   /* 0: free entry */
	uint32_t generation; /* of what follows it in this struct */
	uint16_t newest;
	uint16_t drained; /* tso: what others than pending writers see */
	int16_t lane;
	uint8_t size;
	int16_t epochs[KINDS][EXPLORER_THREADS]; /* of the last access */
	/* Its timestamp, if it was a write; else none that anybody sees. */
	int16_t written[KINDS][EXPLORER_THREADS];
	/* Over all executions of a run: */
	uint8_t readers, writers; /* bit per thread */
	bool shared;
};

/* words.c */
extern struct message messages[MESSAGES]; /* 0 is NONE */
extern int n_vectors;			  /* of views in use */
extern struct view global;		  /* rule 4 */

uint64_t peek(uintptr_t address, unsigned int size);
void poke(uintptr_t address, unsigned int size, uint64_t value);
/* The step of an operation on a word; then the word as it is by now. */
struct word *enter(const void *target, unsigned int size, enum kind kind);
/* The same as part of a greater step. */
struct word *enter_at_once(const void *target, unsigned int size);
uint16_t new_message(uint64_t value);
/* As the newest. */
void append(struct word *word, uint16_t index);

/* fences.c */
struct fence_order;
void apply_tso_order(void);

/* weak.c; each is a choice */
uint16_t weak_read(const struct word *word, enum kind kind);
uint16_t weak_read_atomic(const struct word *word);
uint16_t weak_read_cas(const struct word *word, uint64_t compare);
uint16_t weak_place(const struct word *word, enum kind kind);
/* Puts it behind that one; returns whether it is the newest. */
bool weak_insert(struct word *word, uint16_t index, uint16_t behind);

/* tso.c */
void tso_reset(void);
/* All stores are done, in an order that keeps T2. */
void tso_finish(void);
void tso_drain_own(void);
/* Does the operation drain more than what waits for this word? */
bool tso_conflicts(const struct word *word, enum kind kind);
void tso_forget(const struct word *word);
uint16_t tso_read(const struct word *word);
uint16_t tso_read_drained(const struct word *word);
void tso_wait(struct word *word, uint16_t index);

/* Views */

static inline lanes_vector later(lanes_vector a, lanes_vector b)
{
	lanes_vector mask = a > b;

	return (a & mask) | (b & ~mask);
}

static inline void join(struct view *into, const struct view *from, int n)
{
	for (int i = 0; i < n; i++)
		into->vector[i] = later(into->vector[i], from->vector[i]);
}

static inline void raise_lane(struct view *view, int lane, int16_t timestamp)
{
	if (view->lane[lane] < timestamp)
		view->lane[lane] = timestamp;
}

/* A choice of something else than the newest, which counts. */
static inline int choose_old(int n)
{
	int choice = explorer_choose(CHOOSE_OLD, n);

	if (choice > 0) {
		explorer.stale_left--;
		current_thread()->progress = true;
	}
	return choice;
}

static inline int max_candidates(void)
{
	int n = 1 + explorer.options.older;

	if (explorer.stale_left == 0)
		return 1;
	return n > MAX_CANDIDATES ? MAX_CANDIDATES : n;
}

#endif
