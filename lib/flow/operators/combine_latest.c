/* SPDX-License-Identifier: BSD-2-Clause */
/* Items combined with the newest ones of other flows. */
#include <weir/flow_combine.h>

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"

/* --- combine_latest ------------------------------------------------------- */

struct latest_args {
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context);
	void *context;
};

struct latest {
	void **newest; /* of each input, if that is in `has` */
	bool *has;     /* behind `newest`, in the same memory */
	uint32_t n_has;
	uint32_t next;	  /* the input that is asked first */
	uint32_t n_wakes; /* of the island, behind which all were asked */
};

static size_t latest_size(const struct weir__op *op)
{
	return op->n_up * (sizeof(void *) + sizeof(bool));
}

static int latest_open(struct weir__op *op)
{
	struct latest *state = weir__op_state(op);

	state->newest = weir__alloc(weir__op_allocator(op), latest_size(op));
	if (!state->newest)
		return -ENOMEM;
	state->has = (bool *)(void *)(state->newest + op->n_up);
	return 0;
}

static void latest_close(struct weir__op *op)
{
	struct latest *state = weir__op_state(op);
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		if (state->has[i])
			weir__op_drop_one(op->up[i], state->newest[i]);
	weir__free(weir__op_allocator(op), state->newest, latest_size(op));
}

/* Input `i` has a new item. */
static void keep(struct weir__op *op, uint32_t i, void *item)
{
	struct latest *state = weir__op_state(op);

	if (state->has[i]) {
		weir__op_drop_one(op->up[i], state->newest[i]);
	} else {
		state->has[i] = true;
		state->n_has++;
	}
	state->newest[i] = item;
}

/* Returns how many results there are in *result: 1 or 0. */
static size_t combine_newest(struct weir__op *op, void **result)
{
	const struct latest_args *args = weir__op_args(op);
	const struct latest *state = weir__op_state(op);
	int rc;

	if (state->n_has < op->n_up)
		return 0;
	rc = args->combine(state->newest, op->n_up, result, args->context);
	if (WEIR_LIKELY(rc == 0))
		return 1;
	(void)weir__op_survives(op, rc);
	return 0;
}

/*
 * Takes an item of each input that has had none: so none that is there already
 * is replaced before the first result.
 */
static size_t take_firsts(struct weir__op *op, void **items)
{
	const struct latest *state = weir__op_state(op);
	uint32_t i;
	void *item;

	for (i = 0; i < op->n_up; i++)
		if (!state->has[i] && weir__pull(op->up[i], &item, 1) > 0)
			keep(op, i, item);
	return combine_newest(op, items);
}

/* Each result takes the place of its item, or of one before that. */
static size_t take_from(struct weir__op *op, uint32_t i, void **items,
			size_t room)
{
	size_t got = weir__pull(op->up[i], items, room), n = 0, at = 0;

	while (at < got && !op->ended) {
		keep(op, i, items[at++]);
		n += combine_newest(op, &items[n]);
	}
	weir__op_drop(op->up[i], items + at, got - at);
	return n;
}

/* Ends if one input has failed or had no item, or if all have ended. */
static void latest_ends(struct weir__op *op)
{
	const struct latest *state = weir__op_state(op);
	uint32_t i, n_ended = 0;
	bool without = false;

	for (i = 0; i < op->n_up; i++) {
		if (!op->up[i]->ended)
			continue;
		if (op->up[i]->error) {
			weir__op_end(op, op->up[i]->error);
			return;
		}
		without = without || !state->has[i];
		n_ended++;
	}
	if (n_ended == op->n_up || without)
		weir__op_end(op, NULL);
}

/* If there is no room, the inputs are looked at only if the island was woken
 * since, because one may have ended (rule 8). */
static size_t latest_pull(struct weir__op *op, void **items, size_t room)
{
	struct latest *state = weir__op_state(op);
	bool woken = state->n_wakes != op->island->n_wakes;
	uint32_t i, at = state->next;
	size_t n = 0;

	state->n_wakes = op->island->n_wakes;
	if (room > 0 && state->n_has < op->n_up)
		n = take_firsts(op, items);
	for (i = 0; i < op->n_up && !op->ended; i++) {
		if (n == room && room > 0 && !woken)
			break;
		if (n < room)
			state->next = at + 1 < op->n_up ? at + 1 : 0;
		n += take_from(op, at, items + n, room - n);
		at = at + 1 < op->n_up ? at + 1 : 0;
	}
	if (!op->ended)
		latest_ends(op);
	return n;
}

static const struct weir__kind latest_kind = {
	.name = "combine_latest",
	.state_size = sizeof(struct latest),
	.pull = latest_pull,
	.open = latest_open,
	.close = latest_close,
	.stateless = true,
	.makes = true,
	.remakes = true,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_combine_latest(
	struct weir_flow *const *flows, size_t n,
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context),
	void *context)
{
	struct latest_args args = {combine, context};

	return weir__flow_upon_many(&latest_kind, flows, n, &args, sizeof(args),
				    combine);
}

/* --- with_latest_from ----------------------------------------------------- */

struct with_args {
	int (*combine)(void **item, void *newest, void *context);
	void *context;
};

struct with {
	void *newest;
	bool has; /* a newest one */
};

static void with_close(struct weir__op *op)
{
	struct with *state = weir__op_state(op);

	if (state->has)
		weir__op_drop_one(op->up[1], state->newest);
}

/* Takes what the other flow has, up to a bound, and keeps the last. */
static void take_newest(struct weir__op *op, void **items, size_t room)
{
	struct with *state = weir__op_state(op);
	struct weir__op *other = op->up[1];
	struct weir__array batch;
	size_t left = op->island->ask, n;

	weir__array_init(&batch, op, items, room);
	do {
		n = weir__array_take(&batch, other);
		if (n == 0)
			break;
		if (state->has)
			weir__op_drop_one(other, state->newest);
		weir__op_drop(other, batch.items, n - 1);
		state->newest = batch.items[n - 1];
		state->has = true;
		left -= weir__at_most(n, left);
	} while (left > 0);
	weir__array_done(&batch, op);
}

/* Combines the items with the newest one; returns how many results there
 * are. */
static size_t with_newest(struct weir__op *op, void **items, size_t got)
{
	const struct with_args *args = weir__op_args(op);
	const struct with *state = weir__op_state(op);
	size_t n = 0, at = 0;
	int rc;

	while (at < got && state->has && !op->ended) {
		rc = args->combine(&items[at], state->newest, args->context);
		if (WEIR_LIKELY(rc == 0)) {
			items[n++] = items[at++];
			continue;
		}
		weir__op_drop_one(op->up[0], items[at++]);
		(void)weir__op_survives(op, rc);
	}
	weir__op_drop(op->up[0], items + at, got - at);
	return n;
}

static size_t with_pull(struct weir__op *op, void **items, size_t room)
{
	const struct weir__op *other = op->up[1];
	size_t n;

	take_newest(op, items, room);
	if (other->ended && other->error) {
		weir__op_end(op, other->error);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	n = with_newest(op, items, n);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind with_kind = {
	.name = "with_latest_from",
	.state_size = sizeof(struct with),
	.pull = with_pull,
	.close = with_close,
	.stateless = true,
	.makes = true,
	.remakes = true,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_with_latest_from(
	struct weir_flow *flow, struct weir_flow *other,
	int (*combine)(void **item, void *newest, void *context), void *context)
{
	struct weir_flow *both[] = {flow, other};
	struct with_args args = {combine, context};

	return weir__flow_new(&with_kind, both, 2, &args, sizeof(args),
			      combine);
}
