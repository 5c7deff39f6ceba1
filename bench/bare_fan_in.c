/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W3 fan-in on the bare scheduler: 8 producers into the one in-port of a
 * consumer, a lane each, scanned in turn. With two workers the producers have
 * the first and the consumer the second.
 */
#include "bare.h"
#include "support.h"
#include "who.h"

#define N_PRODUCERS 8

struct stage {
	struct bare_actor actor;
	uint64_t next, items;
	struct bench_result got;
};

static uint64_t produce(struct bare_actor *actor, uint64_t n)
{
	struct stage *stage = (struct stage *)actor;
	struct lane *out = &actor->out.links->lane;
	uint64_t left = stage->items - stage->next;
	uint64_t n_turns = n < left ? n : left;

	for (uint64_t i = 0; i < n_turns; i++)
		lane_put(out, (void *)(uintptr_t)stage->next++);
	return n_turns;
}

static uint64_t consume(struct bare_actor *actor, uint64_t n)
{
	struct stage *stage = (struct stage *)actor;
	uint64_t n_turns = 0;

	for (uint32_t l = 0; l < N_PRODUCERS; l++) {
		struct lane *in = &actor->in.links[l].lane;
		uint64_t n_lane = bare_queued(&actor->in.links[l]);

		for (uint64_t i = 0; i < n_lane; i++)
			stage->got.sum += (uintptr_t)lane_take(in);
		n_turns += n_lane;
	}
	stage->got.count += n_turns;
	if (stage->got.count == stage->items)
		bare_done(actor);
	return n_turns;
}

int bare_fan_in(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	struct stage *stages = bench_alloc((N_PRODUCERS + 1) * sizeof(*stages));
	struct bare_link *links = bench_alloc(N_PRODUCERS * sizeof(*links));
	struct bare_actor *actors[N_PRODUCERS + 1];
	struct bare_scheduler scheduler;
	uint64_t elapsed_ns;

	bare_init(&scheduler, cell->workers);
	for (unsigned i = 0; i < N_PRODUCERS; i++) {
		actors[i] = &stages[i].actor;
		stages[i].items = items / N_PRODUCERS;
		bare_actor_init(actors[i], &scheduler.workers[0], produce);
	}
	actors[N_PRODUCERS] = &stages[N_PRODUCERS].actor;
	stages[N_PRODUCERS].items = items;
	bare_actor_init(actors[N_PRODUCERS],
			&scheduler.workers[cell->workers - 1], consume);
	bare_link(links, actors, N_PRODUCERS, actors[N_PRODUCERS],
		  cell->window);
	elapsed_ns = bare_run(&scheduler, actors, N_PRODUCERS + 1);
	*result = stages[N_PRODUCERS].got;
	result->elapsed_ns = elapsed_ns;
	bare_unlink(links, N_PRODUCERS);
	bench_free(links);
	bench_free(stages);
	return 0;
}
