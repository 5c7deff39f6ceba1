/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.lanes: 8 producers into one consumer over a ring each, which the consumer
 * scans in turn, all in batches. A ring shared by all producers would cost a
 * contended exchange per item; this is what fan-in can do without.
 */
#include "lane.h"
#include "support.h"
#include "who.h"

#define N_LANES 8

struct fan_in {
	uint64_t items; /* of all producers together */
	struct lane lanes[N_LANES];
	_Alignas(BENCH_CACHELINE) uint64_t next[N_LANES];
	_Alignas(BENCH_CACHELINE) struct bench_result got;
};

static uint64_t produce(struct fan_in *f, unsigned l)
{
	struct lane *out = &f->lanes[l];
	uint64_t left = f->items / N_LANES - f->next[l];
	uint64_t n = lane_room_batch(out), put = out->put, mask = out->put_mask;
	uintptr_t x = f->next[l];

	if (n > left)
		n = left;
	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		out->put_slots[(put + i) & mask] = (void *)(x + i);
	f->next[l] += n;
	out->put += n;
	lane_publish_tail(out);
	return n;
}

static uint64_t consume(struct fan_in *f, unsigned l)
{
	struct lane *in = &f->lanes[l];
	uint64_t n = lane_queued_batch(in), take = in->take,
		 mask = in->take_mask;
	uint64_t sum = 0;

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		sum += (uintptr_t)in->take_slots[(take + i) & mask];
	in->take += n;
	f->got.count += n;
	f->got.sum += sum;
	lane_publish_head(in);
	return n;
}

static void run_all(struct fan_in *f)
{
	while (f->got.count < f->items) {
		for (unsigned l = 0; l < N_LANES; l++)
			produce(f, l);
		for (unsigned l = 0; l < N_LANES; l++)
			consume(f, l);
	}
}

static void run_producers(void *argument)
{
	struct fan_in *f = argument;
	uint64_t done = 0;
	unsigned n_idle = 0;

	while (done < f->items) {
		uint64_t n = 0;

		for (unsigned l = 0; l < N_LANES; l++)
			n += produce(f, l);
		done += n;
		if (n == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

static void run_consumer(void *argument)
{
	struct fan_in *f = argument;
	unsigned n_idle = 0;

	while (f->got.count < f->items) {
		uint64_t n = 0;

		for (unsigned l = 0; l < N_LANES; l++)
			n += consume(f, l);
		if (n == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

int limits_lanes(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct fan_in f = {.items = items};
	uint64_t start, elapsed_ns;

	for (unsigned l = 0; l < N_LANES; l++)
		lane_init(&f.lanes[l], cell->window, cell->workers == 2);
	if (cell->workers == 2) {
		elapsed_ns = bench_pair(run_producers, run_consumer, &f);
	} else {
		start = bench_now_ns();
		run_all(&f);
		elapsed_ns = bench_now_ns() - start;
	}
	*result = f.got;
	result->elapsed_ns = elapsed_ns;
	for (unsigned l = 0; l < N_LANES; l++)
		lane_fini(&f.lanes[l]);
	return 0;
}
