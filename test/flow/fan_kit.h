/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Besides kit.h: sources that a test feeds by hand while a run waits for them,
 * and runs that are stepped until they rest.
 */
#ifndef WEIR_TEST_FLOW_FAN_KIT_H
#define WEIR_TEST_FLOW_FAN_KIT_H

#include "flow/kit.h"

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

#define STEPS_MAX 100000

/* A source by hand, of one run at a time. Set to zero first. */
struct tap {
	intptr_t items[512];
	size_t n, at;
	bool ends; /* behind the items; with `code` */
	int code;
	struct weir__op *op; /* while it is open */
};

struct weir_flow *tap_flow(struct tap *tap);
void tap_give(struct tap *tap, intptr_t first, intptr_t last);
void tap_end(struct tap *tap, int code);

/* --- A run that is stepped ------------------------------------------------ */

struct trial {
	struct weir_sim *sim;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

/* It comes to rest, without going round in circles. */
void rest(struct trial *trial);
void begin(struct trial *trial, struct weir_flow *flow, uint64_t seed,
	   size_t unfused);
bool is_over(const struct trial *trial);

/* The run is over, or is cancelled now; its code. Frees everything. */
int end(struct trial *trial);

/* --- Taps that are played upon -------------------------------------------- */

#define PLAYED_MAX 3u

/*
 * Plays upon taps `a`, `b` and `c`, which `compose` makes one flow of, and
 * compares what happens with `transcript`. That is a row of acts, each followed
 * by what it has brought about. Acts: `a7` gives an item, `a1-5` several at
 * once, `b|` ends a tap, `b!` lets it fail. Brought about: `7` has come out,
 * `-b` was cancelled, `+b` was opened behind the start; `|` the run has
 * completed, `!` it has failed as the tap did, `!33` with that errno.
 *
 * All items are counted ones, and none is left. It is so fused and cut.
 */
void assert_played(struct weir_flow *(*compose)(struct weir_flow *const *taps),
		   const char *transcript);

#endif
