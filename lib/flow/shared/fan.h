/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fan-out: n outlets share one node, the fan, which is above all of them. Each
 * outlet is a flow without flows above, with a reference of the fan. Work that
 * is done once for each run (claiming) is done for the first outlet.
 *
 * A run makes one island of the fan, and finds it by its key. The root of the
 * island is an operator that is never pulled: the end of the island pulls the
 * operator above the root, and deals the items to the out-ports, one for each
 * outlet. Errors of dealing are errors of the root. An operator of the user's
 * with outlets is such a root, and is pulled: it deals its items itself.
 */
#ifndef WEIR_FLOW_SHARED_FAN_H
#define WEIR_FLOW_SHARED_FAN_H

#include <weir/flow_fan.h>

#include "actor/port.h"
#include "flow/engine/island.h"

/* What the arguments of a fan begin with. */
struct weir__fan_args {
	const struct weir__end *end;
	struct weir_flow_fan_options options;
	int (*choose)(void *item, size_t *outlet, void *context);
	void *context;
	bool shares; /* needs items->share */
	bool taps;   /* only the first outlet is waited for */
	bool any;    /* waits for room in any outlet, not in all */
	bool keeps;  /* may have items and wait for room in one outlet */
	bool stays;  /* runs where the one operator upon its outlets does */
	bool own;    /* the root deals; each outlet has items of its own, and
		      * the island waits for tokens or room */
	size_t n;
	struct weir_flow **outlets; /* NULL where one was freed */
	uint32_t refs;		    /* atomic: the outlets */
	bool seen;		    /* in a walk over a graph */
};

/* An outlet, in the island of a fan. */
struct weir__outlet {
	struct weir_out out;
	bool ignored;
	bool gone;  /* cancelled */
	size_t nth; /* shuffle: outlets[nth].nth is the outlet served nth */
};

/* island->end_state of a fan's island. */
struct weir__fan_out {
	const struct weir__fan_args *args;
	size_t size;   /* of all of it */
	uint32_t bit;  /* the fan's bit in run->failed; 0: too many fans */
	uint32_t fans; /* of fans above, as in struct weir__inlet */
	size_t n_alive;
	struct weir_any any;
	bool any_ignored;
	bool waits_for_all; /* balance: some outlets have not asked yet */
	bool more;	    /* partition, own: it could go on at once */
	size_t from, n;	    /* partition: items kept; for the first of them */
	size_t chosen;	    /* this outlet was chosen, or NONE */
	void *kept[WEIR_FLOW_BATCH];
	struct weir__outlet outlets[];
};

#define WEIR__FAN_NONE SIZE_MAX

static inline struct weir__fan_out *weir__fan_of(
	const struct weir__island *island)
{
	return island->end_state;
}

/*
 * The room of an outlet. If its port takes no part in firing, the slice does
 * not look for room, so this does.
 */
static inline size_t weir__outlet_room(struct weir__outlet *outlet)
{
	if (outlet->gone)
		return 0;
	if (weir_out_room(&outlet->out) == 0)
		(void)weir__port_turns(&outlet->out.port);
	return weir_out_room(&outlet->out);
}

/* The functions of that name of an island's end. */
void weir__fan_over(struct weir__island *island, struct weir_error *error);
bool weir__fan_cancelled(struct weir__island *island, struct weir_out *out);
void weir__fan_end_free(struct weir__island *island);

/* Takes the options with the defaults put in. False: they are bad for a fan
 * with such arguments. */
bool weir__fan_take_options(struct weir__fan_args *args,
			    const struct weir_flow_fan_options *options);

/*
 * Makes a fan of `kind` upon `n_up` flows, and its `n` outlets; in `args`, of
 * `size` bytes, the fields for the outlets are not set. Results as of the
 * public functions.
 */
int weir__fan_new(const struct weir__kind *kind, struct weir_flow *const *up,
		  uint32_t n_up, const struct weir__fan_args *args, size_t size,
		  size_t n, struct weir_flow **outlets, bool valid);

/* The fan of an outlet, and its `seen`; NULL for any other flow. */
struct weir_flow *weir__fan_above(const struct weir_flow *flow, bool **seen);

/* kind->free of a fan. */
void weir__fan_free(struct weir_flow *fan);

#endif
