/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans of random flows: how a seed makes one, what is expected of it, how it
 * is made smaller, and how it is told.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_PLAN_H
#define WEIR_TEST_FLOW_RANDOM_PLAN_H

#include "flow/random_kinds.h"
#include "flow/random_sources.h"

enum disturbance { NOTHING, CANCEL, DRAIN, THROW };

struct plan {
	uint64_t seed;
	struct step steps[STEPS];
	size_t n;
	size_t unfused; /* in the second run, and maybe the third */
	bool gated;	/* not all that comes is taken at once */
	bool patient;	/* feeds, and takes, when all wait for it */
	bool third_cut; /* the third run, which is disturbed */
	enum disturbance disturbance;
	uint64_t after; /* so many steps of the simulator */
};

/* --- What is expected ----------------------------------------------------- */

/* What follows of the steps above and below. */
void plan_settle(struct plan *plan);

/*
 * What comes out, if what step `at` puts out is cut off behind `n` items, and
 * ends well, unless there are less. With the source so are others, but for
 * SIZE_MAX.
 */
void plan_expect_cut(const struct plan *plan, size_t at, size_t n,
		     struct stream *stream);
void plan_expect(const struct plan *plan, struct stream *stream);

/* The switch that is thrown; SIZE_MAX: there is none. */
size_t find_switch(const struct plan *plan);

/* --- Making a plan -------------------------------------------------------- */

void draw_plan(struct plan *plan, uint64_t seed);

/* A short one, whose first operator is of this row. */
void draw_plan_of(struct plan *plan, uint64_t seed, const struct row *row);

/* --- Making it smaller ---------------------------------------------------- */

extern bool (*const smaller_plans[])(struct plan *plan, size_t i);
extern const size_t n_smaller_plans;

/* --- Telling of it -------------------------------------------------------- */

void tell_plan(const struct plan *plan);

#endif
