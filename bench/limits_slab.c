/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.slab: an object of 88 bytes from a slab for every actor, initialised, and
 * one call through its pointer to take the token. All objects live at once, in
 * fresh memory, as a million actors do; freeing them is not counted.
 */
#include "support.h"
#include "who.h"

#define SLAB_SIZE 65536

/* As large as an actor with one in-port could be if it could do nothing. */
struct object {
	void (*turn)(struct object *object, void *token);
	struct bench_result *got;
	uint64_t rest[9];
};

_Static_assert(sizeof(struct object) == 88, "the slab limit is 88 bytes");

#define N_PER_SLAB (SLAB_SIZE / sizeof(struct object))

static void turn(struct object *object, void *token)
{
	object->got->count++;
	object->got->sum += (uintptr_t)token;
	object->rest[0]++;
}

/* Read at run time, so that the call stays a call. */
static void (*volatile the_turn)(struct object *, void *) = turn;

static void object_init(struct object *object, struct bench_result *got)
{
	*object = (struct object){.turn = the_turn, .got = got};
	/* all 88 bytes are written, used or not */
	__asm__ volatile("" : : "r"(object) : "memory");
}

int limits_slab(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	uint64_t n_slabs = (items + N_PER_SLAB - 1) / N_PER_SLAB;
	struct object **slabs = bench_alloc(n_slabs * sizeof(*slabs));
	uint64_t start = bench_now_ns();
	uint64_t i = 0;

	for (uint64_t s = 0; s < n_slabs; s++) {
		slabs[s] = bench_alloc_raw(SLAB_SIZE);
		for (size_t o = 0; o < N_PER_SLAB && i < items; o++, i++) {
			struct object *object = &slabs[s][o];

			object_init(object, result);
			object->turn(object, (void *)(uintptr_t)i);
		}
	}
	result->elapsed_ns = bench_now_ns() - start;
	result->bytes = sizeof(struct object);
	for (uint64_t s = 0; s < n_slabs; s++)
		bench_free(slabs[s]);
	bench_free(slabs);
	return 0;
}
