/* SPDX-License-Identifier: BSD-2-Clause */
/* Islands: actors that drive operators. */
#ifndef WEIR_FLOW_ENGINE_ISLAND_H
#define WEIR_FLOW_ENGINE_ISLAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/actor.h>
#include <weir/any.h>
#include <weir/in.h>
#include <weir/out.h>

#include "actor/port.h"
#include "flow/engine/kind.h"

struct weir__island;
struct weir__tree;

/* How driving an island has gone. */
enum weir__found {
	WEIR__FOUND_MORE, /* did as much as it was asked to */
	WEIR__FOUND_FULL, /* no room downstream */
	WEIR__FOUND_NONE, /* its operators wait for something */
	WEIR__FOUND_OVER, /* nothing more to do, ever */
};

/*
 * The lower end of an island: what it does with the items that its root emits.
 */
struct weir__end {
	/* Pulls and delivers up to `n` items. */
	enum weir__found (*drive)(struct weir__island *island, uint64_t n);
	/* The root has ended, with `error` or well, and all its items are
	 * delivered. */
	void (*over)(struct weir__island *island, struct weir_error *error);
	/* Sets whether the island waits for room in its out-ports. NULL: it has
	 * none. */
	void (*require)(struct weir__island *island, bool room);
	/* An out-port was cancelled. True: the island is not needed any more.
	 * NULL: the island has no out-port. */
	bool (*cancelled)(struct weir__island *island, struct weir_out *out);
	/*
	 * The island has stopped: drops the items that it holds. May be NULL.
	 */
	void (*close)(struct weir__island *island);
	/* Frees island->end_state. May be NULL. */
	void (*free)(struct weir__island *island);
};

extern const struct weir__end weir__end_result; /* of the run */
extern const struct weir__end weir__end_out;	/* island->out */

/* An in-port of an island. */
struct weir__inlet {
	struct weir_in in;
	struct weir__op *op;
	struct weir__inlet *next;
	uint32_t fans; /* bits of fans above whose errors come here for sure */
	bool waiting;  /* pulled, and had nothing */
	bool ignored;  /* takes no part in firing */
	bool held;     /* not pulled yet: its producer sees no room */
};

struct weir__island {
	struct weir_actor actor;
	struct weir_actor_ops ops;
	struct weir__other_port go; /* the port that an island without out-port
				     * fires by */
	struct weir_out out;
	struct weir_any any;
	struct weir__inlet *inlets;
	const struct weir__end *end;
	void *end_state;
	struct weir__tree *tree;
	struct weir__op *root;
	/* of the operator that was the last to ask to be woken; any thread */
	const struct weir__kind *asked;
	void **scratch; /* room for a batch; NULL: an operator is using it */
	struct weir_flow_run *run;
	struct weir__island *next;   /* of the run, as it is made */
	struct weir__island *live;   /* of the islands that run */
	const struct weir_flow *key; /* of a node with several outlets */
	uint32_t n_inlets;
	uint32_t n_wakes;   /* how often it was woken */
	uint32_t n_pulling; /* if it nests: operators that are being pulled,
			     * each by the one below it */
	bool has_out;
	bool out_ignored;
	bool any_input; /* waits for any of its in-ports */
	bool any_ignored;
	bool any_out; /* `any` has its out-ports, too: `end` sees to them */
	bool passes_through; /* one in-port, and nothing holds items back */
	bool hands_on;	     /* and all operators can be applied to items */
	bool again;	     /* see weir__op_again() */
	bool woken;	     /* and not pulled with room since */
	bool steady;   /* takes part as it did until it waits, or is woken */
	bool going;    /* `go` has permits */
	bool draining; /* sources end */
	bool nests;    /* has an operator that nests; constant once it runs */
	bool over;
	uint32_t ask; /* most items that an operator is asked for at once */
	uint32_t batch_log2;
};

/* An operator that holds items may emit something in place of an error; so only
 * an island that passes through passes errors on for sure. */
static inline uint32_t weir__island_fans(const struct weir__island *island)
{
	return island->passes_through && island->n_inlets == 1
		       ? island->inlets->fans
		       : 0;
}

/*
 * An island of the run, without operators yet, that ends in `end`. NULL: no
 * memory.
 */
struct weir__island *weir__island_new(struct weir_flow_run *run,
				      struct weir_executor *executor,
				      const struct weir__end *end);
/* Lets a port take part in firing, or not; *ignored is its state so far. */
void weir__take_part(struct weir_port *port, bool *ignored, bool want);
/* The same for a member of island->any. */
void weir__take_member(struct weir_port *port, bool *ignored, bool want);
/* The island has its operators: sets up the ports that it fires by. 0 or
 * -ENOMEM. */
int weir__island_ready(struct weir__island *island, struct weir__op *root);

#endif
