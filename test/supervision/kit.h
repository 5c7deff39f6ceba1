/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of supervision build from: a world (world.h) with one system,
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
void world_open(struct world *world);

/* A new member of that name; the result of weir_system_spawn(). */
int spawn(struct world *world, struct weir_actor_id parent, const char *name);

/* The same, which must go well; `parent` NULL is /user. */
struct member *add(struct world *world, const char *parent, const char *name);
bool alive(const struct world *world, const char *name);

/* Gives items first to last to that member; -ESRCH: it has ended. */
int put(struct world *world, const char *name, size_t first, size_t last);

/* One step of each of its simulators; false: nothing is left to do. */
bool world_step(struct world *world);

/* Until nothing is left to do. */
void run(struct world *world);
void run_until(struct world *world, uint64_t time_ns);

/* Gives it items, and lets that have its consequences. */
void feed(struct world *world, const char *name, size_t first, size_t last);
void give(struct world *world, const char *name, size_t item);
void stop(struct world *world, const char *name);

/* The same for three: a, b and c, which start. */
void add_three(struct world *world, const char *parent);

/* How many reasons it has to be suspended. */
uint32_t suspends(const struct world *world, const char *name);
void world_begin(struct world *world, uint64_t seed);

/* Everything ends; nothing is lost, left over or out of balance. */
void world_end(struct world *world);

/* Each of these once, in this order. */
void assert_order(struct world *world, const char *const *texts, size_t n);

#define ORDER(world, ...) \
	do { \
		static const char *const order[] = {__VA_ARGS__}; \
\
		assert_order(world, order, LENGTH(order)); \
	} while (0)

/* --- Rules ---------------------------------------------------------------- */

extern struct world the_world;

/* A test that is run once for each seed, on a world that is ended for it. */
struct rule {
	void (*run)(struct world *world);
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
