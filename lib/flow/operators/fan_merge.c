/* SPDX-License-Identifier: BSD-2-Clause */
/* Fan-in of items as they come, and of flows whose items are dropped. */
#include <weir/flow_fan.h>

#include <assert.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"

struct merge {
	uint32_t next;	  /* the input that is asked first */
	uint32_t n_wakes; /* of the island, behind which all were asked */
};

/* Ends if enough of the flows above have ended: all, or with `eager` one. */
static void merge_ends(struct weir__op *op, bool eager)
{
	uint32_t i, n_ended = 0;

	for (i = 0; i < op->n_up; i++) {
		if (!op->up[i]->ended)
			continue;
		if (op->up[i]->error) {
			weir__op_end(op, op->up[i]->error);
			return;
		}
		n_ended++;
	}
	if (n_ended == op->n_up || (eager && n_ended))
		weir__op_end(op, NULL);
}

/*
 * Asks all flows above, from *next on, until there is no room; *next is then
 * the first that was not asked. The others are only looked at if the island was
 * woken since, because one may have ended (rule 8).
 */
static size_t merge_from(struct weir__op *op, uint32_t *next, void **items,
			 size_t room)
{
	struct merge *state = weir__op_state(op);
	bool woken = state->n_wakes != op->island->n_wakes, full = false;
	uint32_t i, at = *next;
	size_t n = 0;

	assert(at < op->n_up);
	state->n_wakes = op->island->n_wakes;
	for (i = 0; i < op->n_up && (!full || woken); i++) {
		n += weir__pull(op->up[at], items + n, room - n);
		at = at + 1 < op->n_up ? at + 1 : 0;
		if (!full)
			*next = at;
		full = room > 0 && n == room;
	}
	assert(n <= room);
	return n;
}

static size_t merge_pull(struct weir__op *op, void **items, size_t room)
{
	struct merge *state = weir__op_state(op);
	size_t n = merge_from(op, &state->next, items, room);

	merge_ends(op, false);
	return n;
}

static const struct weir__kind merge_kind = {
	.name = "merge",
	.state_size = sizeof(struct merge),
	.pull = merge_pull,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_merge(struct weir_flow *const *flows, size_t n)
{
	return weir__flow_upon_many(&merge_kind, flows, n, NULL, 0, true);
}

static size_t eager_pull(struct weir__op *op, void **items, size_t room)
{
	struct merge *state = weir__op_state(op);
	size_t n = merge_from(op, &state->next, items, room);

	merge_ends(op, true);
	return n;
}

static const struct weir__kind eager_kind = {
	.name = "merge_eager",
	.state_size = sizeof(struct merge),
	.pull = eager_pull,
	.any_input = true,
};

struct weir_flow *weir_flow_merge_eager(struct weir_flow *const *flows,
					size_t n)
{
	return weir__flow_upon_many(&eager_kind, flows, n, NULL, 0, true);
}

static size_t preferred_pull(struct weir__op *op, void **items, size_t room)
{
	uint32_t first = 0;
	size_t n = merge_from(op, &first, items, room);

	merge_ends(op, false);
	return n;
}

static const struct weir__kind preferred_kind = {
	.name = "merge_preferred",
	.state_size = sizeof(struct merge),
	.pull = preferred_pull,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_merge_preferred(struct weir_flow *const *flows,
					    size_t n)
{
	return weir__flow_upon_many(&preferred_kind, flows, n, NULL, 0, true);
}

/* --- interleave, merge_prioritized ---------------------------------------- */

struct turns_args {
	size_t segment; /* items of a turn; 0: the weight of the input */
	const uint32_t *weights;
};

struct turns {
	uint32_t at;	  /* the input whose turn it is */
	size_t left;	  /* items of its turn; 0: it has not begun */
	uint32_t n_wakes; /* of the island, behind which all were asked */
};

static void next_turn(const struct weir__op *op, struct turns *turns)
{
	turns->at = turns->at + 1 < op->n_up ? turns->at + 1 : 0;
	turns->left = 0;
}

/* Takes from the input whose turn it is. Where turns have weights, or an input
 * has ended, a turn is over when the input has no item. */
static size_t take_turn(struct weir__op *op, struct turns *turns, void **items,
			size_t room)
{
	const struct turns_args *args = weir__op_args(op);
	const struct weir__op *up = op->up[turns->at];
	size_t n;

	if (turns->left == 0)
		turns->left = args->segment ? args->segment
					    : args->weights[turns->at];
	n = weir__pull(op->up[turns->at], items,
		       weir__at_most(turns->left, room));
	turns->left -= n;
	if (turns->left == 0 || (n == 0 && (up->ended || !args->segment)))
		next_turn(op, turns);
	return n;
}

/* Inputs whose turn it is not are looked at if there is no room, or if the
 * island was woken since (rule 8). */
static size_t turns_pull(struct weir__op *op, void **items, size_t room)
{
	struct turns *turns = weir__op_state(op);
	bool look = room == 0 || turns->n_wakes != op->island->n_wakes;
	uint32_t i, at, n_without = 0; /* inputs behind each other */
	size_t n = 0, got;

	while (n < room && n_without < op->n_up) {
		at = turns->at;
		got = take_turn(op, turns, items + n, room - n);
		n += got;
		n_without = got > 0 ? 0 : n_without + 1;
		if (got == 0 && turns->at == at)
			break;
	}
	turns->n_wakes = op->island->n_wakes;
	for (i = 0; look && i < op->n_up; i++)
		weir__pull_none(op->up[i]);
	merge_ends(op, false);
	return n;
}

static const struct weir__kind interleave_kind = {
	.name = "interleave",
	.state_size = sizeof(struct turns),
	.pull = turns_pull,
	.delays = true,
};

struct weir_flow *weir_flow_interleave(struct weir_flow *const *flows, size_t n,
				       size_t segment)
{
	struct turns_args args = {segment, NULL};
	struct weir_flow *flow =
		weir__flow_upon_many(&interleave_kind, flows, n, &args,
				     sizeof(args), weir__size_valid(segment));

	return weir__flow_wrong_size(flow, &interleave_kind, "segment",
				     segment);
}

static const struct weir__kind prioritized_kind = {
	.name = "merge_prioritized",
	.state_size = sizeof(struct turns),
	.pull = turns_pull,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_merge_prioritized(struct weir_flow *const *flows,
					      size_t n, const uint32_t *weights)
{
	struct turns_args args = {0, weights};
	bool valid = weights;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; valid && i < n; i++)
		valid = weights[i] > 0;
	flow = weir__flow_upon_many(&prioritized_kind, flows, n, &args,
				    sizeof(args), valid);
	if (weights && !valid)
		flow = weir__flow_wrong(flow, &prioritized_kind,
					"weight %zu is 0", i - 1);
	return flow;
}

/* --- all ------------------------------------------------------------------ */

struct all {
	const struct weir__op *failed; /* the first that has failed */
};

/*
 * If one flow has failed, the others are cancelled; but flows that the error of
 * the same fan is about to reach get that error first.
 */
static void all_ends(struct weir__op *op)
{
	struct all *self = weir__op_state(op);
	bool open = false;
	uint32_t i;

	for (i = 0; i < op->n_up && !self->failed; i++)
		if (op->up[i]->ended && op->up[i]->error)
			self->failed = op->up[i];
	for (i = 0; i < op->n_up; i++) {
		if (self->failed && !weir__op_awaits(op->up[i]))
			weir__op_cancel(op->up[i]);
		open = open || !op->up[i]->ended;
	}
	if (!open)
		weir__op_end(op, self->failed ? self->failed->error : NULL);
}

static size_t all_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__array batch;
	uint32_t i;
	size_t n;

	weir__array_init(&batch, op, items, room);
	for (i = 0; i < op->n_up; i++) {
		n = weir__array_take(&batch, op->up[i]);
		weir__op_drop(op->up[i], batch.items, n);
		if (n > 0)
			weir__op_again(op);
	}
	weir__array_done(&batch, op);
	all_ends(op);
	return 0;
}

static const struct weir__kind all_kind = {
	.name = "all",
	.state_size = sizeof(struct all),
	.items = weir__gives_any,
	.pull = all_pull,
	.any_input = true,
	.delays = true,
};

struct weir_flow *weir_flow_all(struct weir_flow *const *flows, size_t n)
{
	return weir__flow_upon_many(&all_kind, flows, n, NULL, 0, true);
}
