/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of supervision build from: a play (play.h) with one system,
 * members of it (member.h), and rules. A rule is run once for each of many
 * seeds, because the interleaving is drawn from the seed.
 */
#ifndef WEIR_TEST_SUPERVISION_KIT_H
#define WEIR_TEST_SUPERVISION_KIT_H

#include "supervision/branch.h"
#include "supervision/member.h"

/* Strategies of several programs: children one after the other. */
extern const struct weir_strategy one_by_one;

extern const struct weir_strategy all_by_turns;

extern const struct weir_strategy rest_by_turns;

/* --- Its system ----------------------------------------------------------- */

void on_dead_letter(struct weir_system *system, struct weir_actor_id to,
		    void *item, void *context);
void play_open(struct play *play);

/* A new member of that name; the result of weir_system_spawn(). */
int spawn(struct play *play, struct weir_actor_id parent, const char *name);

/* The same, which must go well; `parent` NULL is /user. */
struct member *add(struct play *play, const char *parent, const char *name);
bool alive(const struct play *play, const char *name);

/* Gives items first to last to that member; -ESRCH: it has ended. */
int put(struct play *play, const char *name, size_t first, size_t last);

/* One step of each of its simulators; false: nothing is left to do. */
bool play_step(struct play *play);

/* Until nothing is left to do. */
void run(struct play *play);
void run_until(struct play *play, uint64_t time_ns);

/* Gives it items, and lets that have its consequences. */
void feed(struct play *play, const char *name, size_t first, size_t last);
void give(struct play *play, const char *name, size_t item);
void stop(struct play *play, const char *name);

/* The same for three: a, b and c, which start. */
void add_three(struct play *play, const char *parent);

/* How many reasons it has to be suspended. */
uint32_t suspends(const struct play *play, const char *name);
void play_begin(struct play *play, uint64_t seed);

/* Everything ends; nothing is lost, left over or out of balance. */
void play_end(struct play *play);

/* Each of these once, in this order. */
void assert_order(struct play *play, const char *const *texts, size_t n);

#define ORDER(play, ...) \
	do { \
		static const char *const order[] = {__VA_ARGS__}; \
\
		assert_order(play, order, LENGTH(order)); \
	} while (0)

/* --- Rules ---------------------------------------------------------------- */

extern struct play the_play;

/* A test that is run once for each seed, on a play that is ended for it. */
struct rule {
	void (*run)(struct play *play);
};

void over_seeds(void **state);
int tell_trace(void **state);

#define RULE(name) \
	{ \
#name, over_seeds, NULL, tell_trace, &(struct rule) \
		{ \
			name \
		} \
	}

#endif
