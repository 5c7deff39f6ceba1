/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.slab: an object of 88 bytes from one slab for every actor, initialised,
 * and one call through its pointer to take the token. All objects live at once,
 * in memory that is touched for the first time in every round, as that of a
 * million actors is; giving it back is not counted.
 */
#include "support.h"
#include "who.h"

/* As large as an actor with one in-port could be if it could do nothing. */
struct object {
	void (*turn)(struct object *object, void *token);
	struct bench_result *got;
	uint64_t rest[9];
};

_Static_assert(sizeof(struct object) == 88, "the slab limit is 88 bytes");

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
	struct object *objects = bench_map(items * sizeof(*objects));
	uint64_t start = bench_now_ns();

	for (uint64_t i = 0; i < items; i++) {
		object_init(&objects[i], result);
		objects[i].turn(&objects[i], (void *)(uintptr_t)i);
	}
	result->elapsed_ns = bench_now_ns() - start;
	result->bytes = sizeof(struct object);
	bench_unmap(objects, items * sizeof(*objects));
	return 0;
}
