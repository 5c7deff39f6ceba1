/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each fence orders: rules 3 and 4 of explorer.h.
 */
#include "memory.h"

#include <stddef.h>

enum { L = 1 << LOAD, S = 1 << STORE, A = 1 << ATOMIC };

/* before[k]: which kinds are ordered after earlier ones of kind k. published:
 * what goes into the one order of rule 4, ordered[]: whom it binds. */
static const struct fence_order {
	uint8_t before[KINDS];
	uint8_t published, bound;
} fence_orders[EXPLORER_N_FENCES] = {
	[EXPLORER_FENCE_ATOMIC] = {{0, 0, A}, 0, 0},
	[EXPLORER_FENCE_ATOMIC_LOAD] = {{0, 0, L}, A, L},
	[EXPLORER_FENCE_ATOMIC_STORE] = {{0, 0, S}, 0, 0},
	[EXPLORER_FENCE_STORE_ATOMIC] = {{0, A, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_ATOMIC] = {{A, 0, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_STORE] = {{S, 0, 0}, 0, 0},
	[EXPLORER_FENCE_STORE_LOAD] = {{0, L, 0}, S, L},
	[EXPLORER_FENCE_LOAD] = {{L, 0, 0}, 0, 0},
	[EXPLORER_FENCE_LOAD_DEPENDS] = {{L, 0, L}, 0, 0},
	[EXPLORER_FENCE_STORE] = {{0, S, 0}, 0, 0},
	[EXPLORER_FENCE_MEMORY] = {{L | S | A, L | S | A, L | S | A},
				   L | S | A,
				   L | S | A},
	[EXPLORER_FENCE_ACQUIRE] = {{L | S | A, 0, L | S | A}, 0, 0},
	[EXPLORER_FENCE_RELEASE] = {{S | A, S | A, S | A}, 0, 0},
	[EXPLORER_FENCE_ACQREL] = {{L | S | A, S | A, L | S | A}, 0, 0},
	[EXPLORER_FENCE_LOCK] = {{L | S | A, 0, L | S | A}, 0, 0},
	[EXPLORER_FENCE_UNLOCK] = {{S | A, S | A, S | A}, 0, 0},
};

/* M4, and the clocks, whose next stretch begins. */
static void fold(struct thread *t)
{
	int me = explorer.current;

	for (int k = 0; k < KINDS; k++) {
		raise_lane(&t->seen[k], clock_lane((enum kind)k, me), t->epoch);
		if (!t->used[k])
			continue;
		join(&t->seen[k], &t->bound[k], n_vectors);
		t->used[k] = false;
	}
	t->epoch++;
}

static void apply(const struct fence_order *order)
{
	struct thread *t = current_thread();

	fold(t);
	for (int k = 0; k < KINDS; k++) {
		if (order->published & (1 << k))
			join(&global, &t->seen[k], n_vectors);
		for (int to = 0; to < KINDS; to++)
			if (order->before[k] & (1 << to))
				join(&t->bound[to], &t->seen[k], n_vectors);
	}
	for (int to = 0; to < KINDS; to++)
		if (order->bound & (1 << to))
			join(&t->bound[to], &global, n_vectors);
}

/* On x86 all but store -> load stands between any two operations. */
void apply_tso_order(void)
{
	static const struct fence_order order = {
		{L | S | A, S | A, L | S | A}, 0, 0};

	apply(&order);
}

void memory_fence(enum explorer_fence fence)
{
	if (explorer.current == MAIN)
		return;
	apply(&fence_orders[fence]);
	if (explorer.options.tso && (fence_orders[fence].published & S))
		tso_drain_own();
}

/* Where a switch may happen, and what that step conflicts with. */
static void enter_fence(enum explorer_fence fence)
{
	bool joins = fence_orders[fence].published != 0;

	if (joins && explorer.options.tso)
		explorer_point(0, true, true);
	else
		/* A word of its own for those of rule 4 among each other. */
		explorer_point((uintptr_t)&global, joins, joins);
}

void explorer_op_fence(enum explorer_fence fence, struct explorer_site *site)
{
	if (explorer.current == MAIN)
		return;
	enter_fence(fence);
	/* load_depends is no instruction anywhere: there is nothing to weaken. */
	if (fence != EXPLORER_FENCE_LOAD_DEPENDS && site_is_weakened(site)) {
		if (explorer.tracing)
			trace_op(site, NULL, "weakened to nothing");
		return;
	}
	if (explorer.tracing)
		trace_op(site, NULL, " ");
	memory_fence(fence);
}
