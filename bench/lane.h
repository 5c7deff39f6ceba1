/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded ring from one producer to one consumer: the limits' queue.
 *
 * Each side works on private cursors and on a private copy of the other's
 * index, which it reads again only when the copy says "full" or "empty"; its
 * own index is published once per batch. Between two threads a batch is at most
 * a quarter of the window: with whole windows one side would always wait for
 * the other, which costs about half of the rate.
 *
 *   head_seen <= head <= take <= tail_seen <= tail <= put
 *   put - head_seen <= window
 */
#ifndef WEIR_BENCH_LANE_H
#define WEIR_BENCH_LANE_H

#include <ck_pr.h>
#include <stdint.h>

#include "support.h"

struct lane {
	/* Published: one line each, written by one side, read by the other. */
	_Alignas(BENCH_CACHELINE) uint64_t tail;
	_Alignas(BENCH_CACHELINE) uint64_t head;

	/* The producer's. */
	_Alignas(BENCH_CACHELINE) uint64_t put;
	uint64_t head_seen;
	uint64_t window;
	uint64_t put_batch;
	uint64_t put_mask;
	void **put_slots;

	/* The consumer's. */
	_Alignas(BENCH_CACHELINE) uint64_t take;
	uint64_t tail_seen;
	uint64_t take_batch;
	uint64_t take_mask;
	void **take_slots;
};

/* window is a power of two */
static inline void lane_init(struct lane *lane, unsigned window, bool crosses)
{
	void **slots = bench_alloc(window * sizeof(*slots));

	*lane = (struct lane){.window = window};
	lane->put_batch = crosses && window >= 4 ? window / 4 : window;
	lane->take_batch = lane->put_batch;
	lane->put_mask = lane->take_mask = window - 1;
	lane->put_slots = lane->take_slots = slots;
}

static inline void lane_fini(struct lane *lane)
{
	bench_free(lane->put_slots);
}

/* Producer: how many may be put; looks at the index if none is known. */
static inline uint64_t lane_room(struct lane *lane)
{
	uint64_t room = lane->window - (lane->put - lane->head_seen), seen;

	if (room > 0)
		return room;
	seen = ck_pr_load_64(&lane->head);
	/* acquire: the slots are free; pairs with lane_publish_head() */
	ck_pr_fence_acquire();
	lane->head_seen = seen;
	return lane->window - (lane->put - seen);
}

/* Consumer: how many may be taken; looks at the index if none is known. */
static inline uint64_t lane_queued(struct lane *lane)
{
	uint64_t queued = lane->tail_seen - lane->take, seen;

	if (queued > 0)
		return queued;
	seen = ck_pr_load_64(&lane->tail);
	/* acquire: the slots are filled; pairs with lane_publish_tail() */
	ck_pr_fence_acquire();
	lane->tail_seen = seen;
	return seen - lane->take;
}

/* The same, but no more than one batch. */
static inline uint64_t lane_room_batch(struct lane *lane)
{
	uint64_t room = lane_room(lane);

	return room < lane->put_batch ? room : lane->put_batch;
}

static inline uint64_t lane_queued_batch(struct lane *lane)
{
	uint64_t queued = lane_queued(lane);

	return queued < lane->take_batch ? queued : lane->take_batch;
}

static inline void lane_put(struct lane *lane, void *item)
{
	lane->put_slots[lane->put++ & lane->put_mask] = item;
}

static inline void *lane_take(struct lane *lane)
{
	return lane->take_slots[lane->take++ & lane->take_mask];
}

static inline void lane_publish_tail(struct lane *lane)
{
	/* release: the slots before the index; pairs with lane_queued() */
	ck_pr_fence_release();
	ck_pr_store_64(&lane->tail, lane->put);
}

static inline void lane_publish_head(struct lane *lane)
{
	/* release: our reads before the index; pairs with lane_room() */
	ck_pr_fence_release();
	ck_pr_store_64(&lane->head, lane->take);
}

#endif
