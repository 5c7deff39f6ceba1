/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows into hubs and from hubs, for the operators that have a hub otherwise
 * than by their arguments. Owner of the operator. */
#ifndef WEIR_FLOW_OPERATORS_HUB_FLOW_H
#define WEIR_FLOW_OPERATORS_HUB_FLOW_H

#include "flow/operators/hub.h"

/* The states of the operators begin with these. */
struct weir__into_hub {
	struct weir__hub_writer writer;
	struct weir_hub *hub;
	bool over; /* upstream has ended, and the operator has, too */
};

struct weir__from_hub {
	struct weir__hub_reader reader;
	struct weir_hub *hub; /* NULL: the operator has not joined it yet */
};

void weir__into_hub_open(struct weir__op *op, struct weir_hub *hub);
size_t weir__into_hub_pull(struct weir__op *op, void **items, size_t room);
void weir__into_hub_close(struct weir__op *op);

/*
 * The operator becomes a subscriber. -ENOTSUP: there is one, and items cannot
 * be shared. -EPIPE: the hub has ended, unless `late`.
 */
int weir__from_hub_join(struct weir__op *op, struct weir_hub *hub, bool late);
/* It has joined one, as for the next two. */
size_t weir__from_hub_pull(struct weir__op *op, void **items, size_t room);
/* True: the hub has ended. */
bool weir__from_hub_leave(struct weir__op *op);
/* kind->drain, also of one that has not joined. */
size_t weir__from_hub_drain(struct weir__op *op, void **items, size_t room);

#endif
