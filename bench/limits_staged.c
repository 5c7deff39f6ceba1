/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.staged: a ring before every stage, each stage a plain loop that moves what
 * its rings allow, up to W a visit, and publishes once. The stages of a thread
 * are visited in turn; two threads share them half and half. This is the most
 * that stages joined by bounded queues can do, without scheduler or call per
 * token, and so the limit for actors.
 */
#include "lane.h"
#include "support.h"
#include "who.h"

struct pipeline {
	unsigned n_stages; /* transformers; lanes are one more */
	unsigned cut;	   /* first transformer of the second thread */
	uint64_t items;
	struct lane *lanes;
	/* A line each: written by one thread while the other runs. */
	_Alignas(BENCH_CACHELINE) uint64_t next;
	_Alignas(BENCH_CACHELINE) struct bench_result got;
};

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t produce(struct pipeline *p)
{
	struct lane *out = &p->lanes[0];
	uint64_t n = least(lane_room_batch(out), p->items - p->next);
	uint64_t put = out->put, mask = out->put_mask;
	uintptr_t x = p->next;

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		out->put_slots[(put + i) & mask] = (void *)(x + i);
	p->next += n;
	out->put += n;
	lane_publish_tail(out);
	return n;
}

static inline uint64_t transform(struct lane *in, struct lane *out)
{
	uint64_t n = least(lane_queued_batch(in), lane_room_batch(out));
	uint64_t take = in->take, take_mask = in->take_mask;
	uint64_t put = out->put, put_mask = out->put_mask;
	void **from = in->take_slots, **to = out->put_slots;

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		uintptr_t x = (uintptr_t)from[(take + i) & take_mask];

		to[(put + i) & put_mask] = (void *)(x + 1);
	}
	in->take += n;
	out->put += n;
	lane_publish_head(in);
	lane_publish_tail(out);
	return n;
}

static inline uint64_t consume(struct pipeline *p)
{
	struct lane *in = &p->lanes[p->n_stages];
	uint64_t n = lane_queued_batch(in);
	uint64_t take = in->take, mask = in->take_mask;
	uint64_t sum = 0;
	uintptr_t x = 0;

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		x = (uintptr_t)in->take_slots[(take + i) & mask];
		sum += x;
	}
	in->take += n;
	p->got.count += n;
	p->got.sum += sum;
	p->got.last = x;
	lane_publish_head(in);
	return n;
}

static void run_all(struct pipeline *p)
{
	while (p->got.count < p->items) {
		produce(p);
		for (unsigned s = 0; s < p->n_stages; s++)
			transform(&p->lanes[s], &p->lanes[s + 1]);
		consume(p);
	}
}

static void run_first(void *argument)
{
	struct pipeline *p = argument;
	uint64_t n_out = 0;
	unsigned n_idle = 0;

	while (n_out < p->items) {
		uint64_t n = produce(p);
		uint64_t moved = n;

		for (unsigned s = 0; s < p->cut; s++) {
			n = transform(&p->lanes[s], &p->lanes[s + 1]);
			moved += n;
		}
		n_out += n;
		if (moved == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

static void run_second(void *argument)
{
	struct pipeline *p = argument;
	unsigned n_idle = 0;

	while (p->got.count < p->items) {
		uint64_t moved = 0;

		for (unsigned s = p->cut; s < p->n_stages; s++)
			moved += transform(&p->lanes[s], &p->lanes[s + 1]);
		moved += consume(p);
		if (moved == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

int limits_staged(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	struct pipeline p = {
		.n_stages = cell->stages,
		.cut = cell->stages / 2,
		.items = items,
	};
	uint64_t start, elapsed_ns;

	p.lanes = bench_alloc((p.n_stages + 1) * sizeof(*p.lanes));
	for (unsigned i = 0; i <= p.n_stages; i++)
		lane_init(&p.lanes[i], cell->window,
			  cell->workers == 2 && i == p.cut);
	if (cell->workers == 2) {
		elapsed_ns = bench_pair(run_first, run_second, &p);
	} else {
		start = bench_now_ns();
		run_all(&p);
		elapsed_ns = bench_now_ns() - start;
	}
	*result = p.got;
	result->elapsed_ns = elapsed_ns;
	for (unsigned i = 0; i <= p.n_stages; i++)
		lane_fini(&p.lanes[i]);
	bench_free(p.lanes);
	return 0;
}
