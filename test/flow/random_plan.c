/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_plan.h"

#include "flow/random_fans.h"

/* --- What is expected ----------------------------------------------------- */

void plan_settle(struct plan *plan)
{
	enum weir_directive decided = WEIR_DIRECTIVE_STOP;
	bool items = false;
	struct step *step;
	size_t i;

	for (i = plan->n; i-- > 0;) {
		step = &plan->steps[i];
		if (step->supervises)
			decided = step->directive;
		step->decided = decided;
		if (step->row->apart)
			decided = WEIR_DIRECTIVE_STOP;
	}
	for (i = 0; i < plan->n; i++) {
		step = &plan->steps[i];
		step->takes_items = items;
		if (step->row->puts != SAME)
			items = step->row->puts == EITHER &&
				step->chooses_items;
		step->puts_items = items;
	}
}

void plan_expect_cut(const struct plan *plan, size_t at, size_t n,
		     struct stream *stream)
{
	size_t i;

	stream->n = 0;
	stream->code = 0;
	stream->loose = stream->too_long = false;
	stream->cut = at == 0 && n != SIZE_MAX;
	for (i = 0; i < plan->n; i++) {
		plan->steps[i].row->expect(&plan->steps[i], stream);
		if (i != at || n > stream->n)
			continue;
		stream->code = 0;
		stream->n = n;
	}
}

void plan_expect(const struct plan *plan, struct stream *stream)
{
	plan_expect_cut(plan, 0, SIZE_MAX, stream);
}

size_t find_switch(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].row->make == switch_make)
			return i;
	return SIZE_MAX;
}

/* --- Making a plan -------------------------------------------------------- */

static void draw_step(uint64_t *random, struct step *step,
		      const struct row *rows, size_t n_rows)
{
	static const enum weir_directive directives[] = {
		WEIR_DIRECTIVE_RESUME,	WEIR_DIRECTIVE_RESUME,
		WEIR_DIRECTIVE_RESTART, WEIR_DIRECTIVE_RESTART,
		WEIR_DIRECTIVE_STOP,	WEIR_DIRECTIVE_ESCALATE};

	step->row = &rows[draw_from(random, n_rows)];
	step->n = (int64_t)draw_from(random, draw_from(random, 4) ? 5 : 40);
	step->x = 1 + (intptr_t)draw_from(random, 9);
	step->y = (intptr_t)draw_from(random, 100);
	if (draw_from(random, 4) == 0)
		step->fail = 3 + draw_from(random, 12);
	if (draw_from(random, 4) == 0)
		step->async = (size_t)1 << draw_from(random, 5);
	step->supervises = draw_from(random, 4) == 0;
	step->directive = directives[draw_from(random, 6)];
	step->chooses_items = draw_from(random, 2);
}

static void draw_source(uint64_t *random, struct step *step)
{
	do
		draw_step(random, step, random_sources, n_random_sources);
	while (step->row->puts == SAME && draw_from(random, 4));
	step->n = (int64_t)draw_from(random, draw_from(random, 8) ? 40 : 400);
}

/*
 * Most operators are such that there is something to be seen behind them: not
 * loose, and not with little of what has come.
 */
static bool is_dull(const struct stream *before, const struct stream *after)
{
	return (after->loose && !before->loose) || after->n * 3 < before->n;
}

static void draw_operator(uint64_t *random, struct plan *plan)
{
	static struct stream before, after;
	struct step *step = &plan->steps[plan->n];
	uint64_t tries = draw_from(random, 8);

	plan_settle(plan);
	plan_expect(plan, &before);
	plan->n++;
	do {
		memset(step, 0, sizeof(*step));
		draw_step(random, step, random_operators, n_random_operators);
		if (before.n * step->row->grows + 4 > LONG)
			continue;
		plan_settle(plan);
		plan_expect(plan, &after);
		/* it may decide that those above go on where they stopped */
		if (after.too_long)
			continue;
		if (tries-- == 0 || !is_dull(&before, &after))
			return;
	} while (true);
}

void draw_plan(struct plan *plan, uint64_t seed)
{
	uint64_t random = seed;
	size_t n = 1 + draw_from(&random, STEPS);

	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	plan->unfused = ((size_t[]){1, 2, 16})[draw_from(&random, 3)];
	plan->gated = draw_from(&random, 2);
	plan->patient = draw_from(&random, 2);
	plan->third_cut = draw_from(&random, 2);
	plan->disturbance = 1 + (enum disturbance)draw_from(&random, 2);
	plan->after = draw_from(&random, draw_from(&random, 2) ? 20 : 200);
	draw_source(&random, &plan->steps[0]);
	for (plan->n = 1; plan->n < n;)
		draw_operator(&random, plan);
	plan_settle(plan);
	if (find_switch(plan) != SIZE_MAX && draw_from(&random, 2))
		plan->disturbance = THROW;
}

void draw_plan_of(struct plan *plan, uint64_t seed, const struct row *row)
{
	uint64_t random = seed;

	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	plan->unfused = 4;
	plan->gated = draw_from(&random, 2);
	draw_source(&random, &plan->steps[0]);
	plan->steps[0].n %= 20;
	draw_step(&random, &plan->steps[1], row, 1);
	for (plan->n = 2; plan->n < 2 + seed % 3;)
		draw_operator(&random, plan);
	plan_settle(plan);
}

/* --- Making it smaller ---------------------------------------------------- */

/* Each makes a plan smaller at one place; false: it is as small there. */
static bool leave_out(struct plan *plan, size_t i)
{
	if (i == 0)
		return false;
	memmove(&plan->steps[i], &plan->steps[i + 1],
		(plan->n - i - 1) * sizeof(*plan->steps));
	plan->n--;
	return true;
}

static bool halve(struct plan *plan, size_t i)
{
	bool more = plan->steps[i].n > 1;

	plan->steps[i].n /= 2;
	return more;
}

static bool take_one_off(struct plan *plan, size_t i)
{
	return plan->steps[i].n > 0 && plan->steps[i].n-- > 0;
}

static bool join(struct plan *plan, size_t i)
{
	bool was = plan->steps[i].async;

	plan->steps[i].async = 0;
	return was;
}

static bool never_fail(struct plan *plan, size_t i)
{
	bool was = plan->steps[i].fail;

	plan->steps[i].fail = 0;
	return was;
}

static bool leave_alone(struct plan *plan, size_t i)
{
	bool was = plan->steps[i].supervises;

	plan->steps[i].supervises = false;
	return was;
}

static bool put_numbers(struct plan *plan, size_t i)
{
	bool was = plan->steps[i].chooses_items;

	plan->steps[i].chooses_items = false;
	return was;
}

static bool settle_it(struct plan *plan, size_t i)
{
	bool was = i == 0 && plan->disturbance != NOTHING;

	if (was)
		plan->disturbance = NOTHING;
	return was;
}

static bool open_it(struct plan *plan, size_t i)
{
	bool was = i == 0 && plan->gated;

	if (was)
		plan->gated = false;
	return was;
}

bool (*const smaller_plans[])(struct plan *plan, size_t i) = {
	leave_out,   halve,	  take_one_off, join,	 never_fail,
	leave_alone, put_numbers, settle_it,	open_it,
};

const size_t n_smaller_plans = sizeof(smaller_plans) / sizeof(*smaller_plans);

/* --- Telling of it -------------------------------------------------------- */

static void tell_step(const struct step *step)
{
	static const char *const directives[] = {"resumed", "restarted",
						 "stopped", "escalated"};

	print_error("  %s n=%d x=%d y=%d", step->row->name, (int)step->n,
		    (int)step->x, (int)step->y);
	if (step->row->fails && step->fail)
		print_error(", fails on %% %u == %u", (unsigned)step->fail,
			    (unsigned)step->fail - 1);
	if (step->supervises)
		print_error(", is %s", directives[step->directive]);
	if (step->puts_items)
		print_error(", puts out items");
	if (step->async)
		print_error(", async %zu", step->async);
	print_error("\n");
}

void tell_plan(const struct plan *plan)
{
	static const char *const disturbances[] = {"", ", then cancelled",
						   ", then drained",
						   ", then switched off"};
	size_t i;

	for (i = 0; i < plan->n; i++)
		tell_step(&plan->steps[i]);
	print_error("  cut by %zu%s%s%s", plan->unfused,
		    plan->gated ? ", gated" : "",
		    plan->patient ? ", patient" : "",
		    disturbances[plan->disturbance]);
	if (plan->disturbance != NOTHING)
		print_error(" after %u steps, %s", (unsigned)plan->after,
			    plan->third_cut ? "cut" : "fused");
	print_error("\n");
}
