/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L0.turns: the loops of actors that are called once per token, and nothing
 * else: no scheduler, no gate, no demand. The stages are visited in sequence, W
 * tokens a visit, over plain rings of W. The limit for actors whose turn is
 * called through a pointer.
 */
#include "support.h"
#include "who.h"

struct ring {
	uint64_t put, take, mask;
	void **slots;
};

struct stage {
	void (*turn)(struct stage *stage);
	struct ring *in, *out;
	uint64_t next;		     /* the producer's */
	struct bench_result *result; /* the consumer's */
};

static void produce(struct stage *stage)
{
	struct ring *out = stage->out;

	out->slots[out->put++ & out->mask] = (void *)(uintptr_t)stage->next++;
}

static void transform(struct stage *stage)
{
	struct ring *in = stage->in, *out = stage->out;
	uintptr_t x = (uintptr_t)in->slots[in->take++ & in->mask];

	out->slots[out->put++ & out->mask] = (void *)(x + 1);
}

static void consume(struct stage *stage)
{
	struct ring *in = stage->in;
	uintptr_t x = (uintptr_t)in->slots[in->take++ & in->mask];

	stage->result->count++;
	stage->result->sum += x;
	stage->result->last = x;
}

/* Read at run time, so that the calls stay calls. */
static void (*volatile turns[])(struct stage *) = {
	produce,
	transform,
	consume,
};

static void run(struct stage *stages, unsigned n_stages, uint64_t items,
		uint64_t window)
{
	for (uint64_t done = 0; done < items;) {
		uint64_t n = items - done < window ? items - done : window;

		for (unsigned s = 0; s < n_stages; s++) {
			struct stage *stage = &stages[s];

			for (uint64_t i = 0; i < n; i++)
				stage->turn(stage);
		}
		done += n;
	}
}

int limits_turns(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	unsigned n_stages = cell->stages + 2;
	struct stage *stages = bench_alloc(n_stages * sizeof(*stages));
	struct ring *rings = bench_alloc(n_stages * sizeof(*rings));
	uint64_t start;

	for (unsigned s = 0; s + 1 < n_stages; s++) {
		rings[s].mask = cell->window - 1;
		rings[s].slots = bench_alloc(cell->window * sizeof(void *));
		stages[s].turn = turns[s == 0 ? 0 : 1];
		stages[s].out = &rings[s];
		stages[s + 1].in = &rings[s];
	}
	stages[n_stages - 1].turn = turns[2];
	stages[n_stages - 1].result = result;
	start = bench_now_ns();
	run(stages, n_stages, items, cell->window);
	result->elapsed_ns = bench_now_ns() - start;
	for (unsigned s = 0; s + 1 < n_stages; s++)
		bench_free(rings[s].slots);
	bench_free(rings);
	bench_free(stages);
	return 0;
}
