/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hub as its operators see it. The items of a hub have numbers, from 0 on,
 * and a subscriber is the number of the item that it is to take next.
 */
#ifndef WEIR_FLOW_OPERATORS_HUB_H
#define WEIR_FLOW_OPERATORS_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/flow_hub.h>

#include "flow/engine/op.h"

/* A circular list of members, which begins and ends with a link of the hub. */
struct weir__hub_link {
	struct weir__hub_link *next, *prev;
};

/* What an operator is to a hub, from its first pull on. */
struct weir__hub_member {
	struct weir__hub_link link;
	struct weir__op *op;
};

struct weir__hub_writer {
	struct weir__hub_member member;
	size_t n; /* its items that need room, or will come */
};

struct weir__hub_reader {
	struct weir__hub_member member;
	struct weir__hub_link by_age; /* of all that are there */
	uint64_t id;		      /* no other has had it */
	uint64_t next;
	uint64_t last; /* it takes no item from this one on */
	bool connects; /* with it there were enough subscribers */
};

/* Owner of the operator, as for the others. A run uses the hub between these
 * two. */
void weir__hub_use(struct weir_hub *hub);
void weir__hub_unuse(struct weir_hub *hub);

const struct weir_items *weir__hub_items(const struct weir_hub *hub);
bool weir__hub_stays(const struct weir_hub *hub);
/* What the hub has ended with, borrowed until it is freed; or NULL. */
struct weir_error *weir__hub_error(struct weir_hub *hub);

/*
 * Of a new hub that ends when it is idle: it ends too when the last subscriber
 * leaves before there were enough; and behind that it ends at once, or, if it
 * `lingers`, its writers are woken then.
 */
void weir__hub_set_shared(struct weir_hub *hub, bool lingers);
/* Whether there have been enough subscribers, and none is left. *changes is
 * another one whenever one has come or left. */
bool weir__hub_is_idle(struct weir_hub *hub, uint64_t *changes);
/* Ends the hub well, unless it has ended, or one has come or left since. */
void weir__hub_end_idle(struct weir_hub *hub, uint64_t changes);

void weir__hub_add_writer(struct weir_hub *hub,
			  struct weir__hub_writer *writer);
void weir__hub_remove_writer(struct weir_hub *hub,
			     struct weir__hub_writer *writer);
/* Before a reservation: a hub that keeps all items gets memory for a batch if
 * it has none. 0, -ENOMEM. */
int weir__hub_grow(struct weir_hub *hub);
/*
 * Reserves room for up to `most` items, and returns for how many. 0: `most` is;
 * or the operator is woken when there is room; or *over, and the hub has ended.
 */
size_t weir__hub_reserve(struct weir_hub *hub, struct weir__hub_writer *writer,
			 size_t most, bool *over);
/* Puts `n` of the `reserved` items, and sets *done to how many. 0; -EPIPE, the
 * hub has ended; or what options.choose says. Items that are not put are still
 * the caller's. */
int weir__hub_put(struct weir_hub *hub, struct weir__hub_writer *writer,
		  void *const *items, size_t n, size_t reserved, size_t *done);

/* 0; -ENOTSUP, there is a subscriber already, and items cannot be shared;
 * -EPIPE, the hub has ended, unless `late`. */
int weir__hub_add_reader(struct weir_hub *hub, struct weir__hub_reader *reader,
			 bool late);
/* True: the hub has ended. */
bool weir__hub_remove_reader(struct weir_hub *hub,
			     struct weir__hub_reader *reader);
/*
 * Takes up to `room` items, and returns how many. *over: no more will come. 0
 * and not *over: the operator is woken when there are items, or at the end.
 * *rc: 0, or why an item could not be shared.
 */
size_t weir__hub_take(struct weir_hub *hub, struct weir__hub_reader *reader,
		      void **items, size_t room, bool *over, int *rc);
/* The subscriber takes the items that have come, and no more. */
void weir__hub_drain(struct weir_hub *hub, struct weir__hub_reader *reader);

#endif
