/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W1 on the bare scheduler: what actors cost that are scheduled, but neither
 * supervised nor cancelled nor able to fail. The loop over the turns is
 * compiled, as the library's own is. Two workers have half of the stages each.
 */
#include "bare.h"
#include "support.h"
#include "who.h"

struct stage {
	struct bare_actor actor;
	uint64_t next, items;	 /* the producer's; items the consumer's */
	struct bench_result got; /* the consumer's */
};

static inline struct stage *stage_of(struct bare_actor *actor)
{
	return (struct stage *)actor;
}

static uint64_t produce(struct bare_actor *actor, uint64_t n)
{
	struct stage *stage = stage_of(actor);
	struct lane *out = &actor->out.links->lane;
	uint64_t left = stage->items - stage->next;
	uint64_t n_turns = n < left ? n : left;

	for (uint64_t i = 0; i < n_turns; i++)
		lane_put(out, (void *)(uintptr_t)stage->next++);
	return n_turns;
}

static uint64_t transform(struct bare_actor *actor, uint64_t n)
{
	struct lane *in = &actor->in.links->lane;
	struct lane *out = &actor->out.links->lane;

	for (uint64_t i = 0; i < n; i++) {
		uintptr_t x = (uintptr_t)lane_take(in);

		lane_put(out, (void *)(x + 1));
	}
	return n;
}

static uint64_t consume(struct bare_actor *actor, uint64_t n)
{
	struct stage *stage = stage_of(actor);
	struct lane *in = &actor->in.links->lane;

	for (uint64_t i = 0; i < n; i++) {
		uintptr_t x = (uintptr_t)lane_take(in);

		stage->got.count++;
		stage->got.sum += x;
		stage->got.last = x;
	}
	if (stage->got.count == stage->items)
		bare_done(actor);
	return n;
}

int bare_pipeline(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	unsigned n = cell->stages + 2;
	struct stage *stages = bench_alloc(n * sizeof(*stages));
	struct bare_link *links = bench_alloc(n * sizeof(*links));
	struct bare_actor **actors = bench_alloc(n * sizeof(*actors));
	struct bare_scheduler scheduler;
	uint64_t elapsed_ns;

	bare_init(&scheduler, cell->workers);
	for (unsigned i = 0; i < n; i++) {
		unsigned home = cell->workers == 2 && i >= n / 2;

		actors[i] = &stages[i].actor;
		stages[i].items = items;
		bare_actor_init(actors[i], &scheduler.workers[home],
				i == 0	     ? produce
				: i + 1 == n ? consume
					     : transform);
		if (i > 0)
			bare_link(&links[i], &actors[i - 1], 1, actors[i],
				  cell->window);
	}
	elapsed_ns = bare_run(&scheduler, actors, n);
	*result = stages[n - 1].got;
	result->elapsed_ns = elapsed_ns;
	for (unsigned i = 1; i < n; i++)
		bare_unlink(&links[i], 1);
	bench_free(actors);
	bench_free(links);
	bench_free(stages);
	return 0;
}
