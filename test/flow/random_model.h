/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a random flow is made of, and what is expected of it: a plan is a list
 * of steps, each of which makes an operator and says what that does to a list
 * of numbers and its end.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_MODEL_H
#define WEIR_TEST_FLOW_RANDOM_MODEL_H

#include "actor/kit.h"
#include "flow/world.h"

#include "base/random.h"

#define STEPS 12  /* of a plan, the source included */
#define LONG 1500 /* items of a stream */
#define SOURCE_LONG 600
#define VALUES 1000 /* they are below that */

/* --- Numbers from a seed -------------------------------------------------- */

uint64_t draw_from(uint64_t *random, uint64_t bound);

/* --- What is expected ----------------------------------------------------- */

struct stream {
	intptr_t values[LONG];
	size_t n;
	int code;      /* how it ends */
	bool loose;    /* it depends on who is fast */
	bool cut;      /* somebody has ended sources before their end */
	bool too_long; /* it is not what it would be: no plan has such */
};

/* --- Plans ---------------------------------------------------------------- */

struct step;

/* What an operator puts out: of its own choice, or as it takes. */
enum puts { SAME, NUMBERS, EITHER };

struct row {
	const char *name;
	/* Of at most so many items each. 0: as the step's n, a source. */
	size_t grows;
	bool fails; /* has a function that may fail, and is decided upon */
	enum puts puts;
	struct weir_flow *(*make)(struct weir_flow *up, struct step *step);
	void (*expect)(const struct step *step, struct stream *stream);
	bool restless; /* fires timers though nothing comes */
	bool apart;    /* what is above is not decided upon from below */
	bool mends;    /* does something about errors: or lets them overtake */
};

/* One operator with its arguments; the functions' context, too. */
struct step {
	const struct row *row;
	int64_t n;	 /* a number of items */
	intptr_t x, y;	 /* numbers: 1 to 9, 0 to 99 */
	uint64_t fail;	 /* functions fail for one value out of that; 0: none */
	size_t async;	 /* capacity of the boundary behind it; 0: none */
	bool supervises; /* `directive` is for it, and those above */
	enum weir_directive directive;
	bool chooses_items; /* if it may choose what to put out */
	/* What follows of the steps above and below. */
	enum weir_directive decided;
	bool takes_items, puts_items;
	/* Of a run. */
	struct weir_flow_queue *queue;
	struct weir_flow_switch *swtch;
	struct weir_flow_publisher *publisher;
	struct weir_semaphore semaphore;
	int64_t fed;
	size_t opened;
	bool delays;		     /* errors of its parts: others go on */
	size_t started, ends, ended; /* what peek was told */
	void *array[SOURCE_LONG];
};

/* Where what is composed will run. */
extern struct weir_executor *composed_for;

/* --- Items, numbers or counted -------------------------------------------- */

intptr_t step_value(const struct step *step, void *item);
void drop_taken(const struct step *step, void *item);
void *step_made(const struct step *step, intptr_t value);

/* One that others hold, too, must not be changed. */
void step_replace(const struct step *step, void **item, intptr_t value);

/* Says what comes out of a step whose items are made by it. */
struct weir_flow *of_items(struct weir_flow *flow, const struct step *step);

/* --- What functions make of values ---------------------------------------- */

bool step_fails(const struct step *step, intptr_t value);
intptr_t step_mapped(const struct step *step, intptr_t value);
bool step_wants(const struct step *step, intptr_t value);
intptr_t folded(const struct step *step, intptr_t all, intptr_t value);

/* --- What operators make of streams --------------------------------------- */

/* What becomes of an item. */
enum fate_of { LEFT_OUT, GOES, GOES_LAST, ENDS, FAILS };

/* What an operator may keep; anew in each run. */
struct kept {
	int64_t n;
	intptr_t value;
	bool is_there;
};

/* A function has failed. True: it goes on. */
bool survives(const struct step *step, struct stream *stream,
	      struct kept *kept);

/* False: there is no room for `n` more. */
bool has_room(struct stream *stream, size_t n);
void stream_add(struct stream *stream, intptr_t value);

/* An operator that puts out one item or none for each. */
void stream_each(const struct step *step, struct stream *stream,
		 struct kept *kept,
		 enum fate_of (*one)(const struct step *step, struct kept *kept,
				     intptr_t *value));

/* Puts out one value when all has gone well. */
void stream_result(struct stream *stream, intptr_t value);

/* Takes all in from `from` on. False: it has failed. */
bool fold_all(const struct step *step, struct stream *stream, intptr_t zero,
	      intptr_t *all);

#endif
