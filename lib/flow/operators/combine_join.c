/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of two flows that are open at the same time.
 *
 * Each side has the items that are open in a deque. All items of a side stay
 * open equally long, so they close in the order in which they came. The
 * operator takes a batch of one side, puts it there, and makes pairs of each of
 * its items with those of the other side. It takes nothing else and closes
 * nothing until all these pairs are made: so where it goes on is two numbers.
 *
 * Of group_join a left item has met all right ones from the first that was open
 * when it came, and all that came since. These stay, though their time is over,
 * until no open left item has met them; right items are numbered for that.
 */
#include <weir/flow_combine.h>

#include <errno.h>

#include "base/deque.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"

struct join_args {
	int (*join)(void *left, void *right, void **result, void *context);
	int (*group)(void *left, void *const *rights, size_t n, void **result,
		     void *context); /* of group_join */
	void *context;
	struct {
		uint64_t open_ns;
		size_t max;
	} sides[2];
};

struct side {
	struct weir__deque deque;
	uint64_t *due_ns; /* of each slot: when the item closes */
	void **slots;
};

struct joining {
	struct weir__op_timer timer; /* must be first */
	struct side sides[2];
	uint32_t next; /* the side that is asked first */
	uint64_t now_ns;
	size_t n_calls; /* left of this pull */
	/* of join */
	uint32_t from;	/* the side whose last n_new items make pairs ... */
	size_t n_new;	/* behind the pairs of which others are taken; ... */
	size_t partner; /* the first of them with this one of the other side */
	/* of group_join */
	uint64_t *firsts; /* of each left slot: the first item that it met */
	void **group;	  /* room for all right items */
	uint64_t n_gone;  /* the number of the oldest right item */
	size_t n_past;	  /* of the oldest right ones: their time is over */
};

/* --- What is open --------------------------------------------------------- */

/* The times of both sides and, for groups, the numbers of the left one. */
static size_t n_times(const struct join_args *args)
{
	size_t n = args->sides[0].max + args->sides[1].max;

	return args->group ? n + args->sides[0].max : n;
}

/* Behind them the items of both and, for groups, room for the right ones. */
static size_t memory_size(const struct weir__op *op)
{
	const struct join_args *args = weir__op_args(op);
	size_t n = args->sides[0].max + args->sides[1].max;

	return n_times(args) * sizeof(uint64_t) +
	       (args->group ? n + args->sides[1].max : n) * sizeof(void *);
}

static int join_open(struct weir__op *op)
{
	const struct join_args *args = weir__op_args(op);
	struct joining *self = weir__op_state(op);
	size_t n_left = args->sides[0].max, n_right = args->sides[1].max;
	uint64_t *due_ns = weir__alloc(weir__op_allocator(op), memory_size(op));
	void **slots;

	if (!due_ns)
		return -ENOMEM;
	slots = (void **)(void *)(due_ns + n_times(args));
	self->sides[0] = (struct side){{.capacity = n_left}, due_ns, slots};
	self->sides[1] = (struct side){
		{.capacity = n_right}, due_ns + n_left, slots + n_left};
	self->firsts = due_ns + n_left + n_right;
	self->group = slots + n_left + n_right;
	return 0;
}

static void close_oldest(const struct weir__op *op, struct side *side,
			 uint32_t at)
{
	weir__op_drop_one(op->up[at],
			  side->slots[weir__deque_pop(&side->deque)]);
}

static void join_close(struct weir__op *op)
{
	struct joining *self = weir__op_state(op);
	uint32_t at;

	weir__op_timer_off(&self->timer);
	for (at = 0; at < 2; at++)
		while (self->sides[at].deque.n > 0)
			close_oldest(op, &self->sides[at], at);
	weir__free(weir__op_allocator(op), self->sides[0].due_ns,
		   memory_size(op));
}

/* When the side's oldest item closes; WEIR_FOREVER: none does. */
static uint64_t first_due(const struct side *side)
{
	return side->deque.n > 0 ? side->due_ns[side->deque.first]
				 : WEIR_FOREVER;
}

/* Closes what is due; and all, if no item of the other side can come. */
static void close_due(struct weir__op *op, uint32_t at)
{
	struct joining *self = weir__op_state(op);
	struct side *side = &self->sides[at];
	bool all = op->up[!at]->ended;

	while (side->deque.n > 0 && (all || first_due(side) <= self->now_ns))
		close_oldest(op, side, at);
}

/* --- Pairs ---------------------------------------------------------------- */

/* The pair that is next. As the function of the user's. */
static int join_pair(struct weir__op *op, void **result)
{
	const struct join_args *args = weir__op_args(op);
	const struct joining *self = weir__op_state(op);
	const struct side *side = &self->sides[self->from];
	const struct side *other = &self->sides[!self->from];
	size_t newest = side->deque.n - self->n_new;
	void *item = side->slots[weir__deque_at(&side->deque, newest)];
	void *met = other->slots[weir__deque_at(&other->deque, self->partner)];

	return self->from == 0 ? args->join(item, met, result, args->context)
			       : args->join(met, item, result, args->context);
}

/* Makes pairs of the new items, as far as there is room; returns how many
 * results there are. */
static size_t make_pairs(struct weir__op *op, void **items, size_t room)
{
	struct joining *self = weir__op_state(op);
	size_t n_others = self->sides[!self->from].deque.n, n = 0;
	int rc;

	if (n_others == 0)
		self->n_new = 0;
	while (self->n_new > 0 && n < room && self->n_calls > 0) {
		self->n_calls--;
		rc = join_pair(op, &items[n]);
		if (WEIR_UNLIKELY(rc != 0 && rc != 1) &&
		    !weir__op_survives(op, rc))
			return n;
		n += rc == 1;
		if (++self->partner < n_others)
			continue;
		self->partner = 0;
		self->n_new--;
	}
	return n;
}

/* --- Items that come ------------------------------------------------------ */

/* True: as it is, time makes no room on a side. */
static bool stays_full(struct weir__op *op, uint32_t at)
{
	const struct join_args *args = weir__op_args(op);
	const struct joining *self = weir__op_state(op);
	bool left_stays = args->sides[0].open_ns == WEIR_FOREVER;

	if (args->sides[at].open_ns == WEIR_FOREVER)
		return true;
	return args->group && left_stays && self->sides[0].deque.n > 0;
}

/* Of a full side. One that stays full fails with its next item. */
static void look_at(struct weir__op *op, uint32_t at, size_t room)
{
	size_t most = room > 0 && stays_full(op, at) ? 1 : 0;
	void *item;

	if (weir__pull(op->up[at], &item, most) == 0)
		return;
	weir__op_drop_one(op->up[at], item);
	weir__op_fail(op, -EOVERFLOW,
		      at == 0 ? "more than left_max items are open"
			      : "more than right_max items are open");
}

/* Takes what there is room for, and returns how many; `items` is used
 * meanwhile. */
static size_t take(struct weir__op *op, uint32_t at, void **items, size_t room)
{
	const struct join_args *args = weir__op_args(op);
	struct joining *self = weir__op_state(op);
	struct side *side = &self->sides[at];
	uint64_t open_ns = args->sides[at].open_ns;
	uint64_t due_ns = open_ns == WEIR_FOREVER
				  ? WEIR_FOREVER
				  : weir__later(self->now_ns, open_ns);
	size_t n, i, slot;

	if (weir__deque_is_full(&side->deque)) {
		look_at(op, at, room);
		return 0;
	}
	n = weir__at_most(weir__deque_room(&side->deque), room);
	n = weir__pull(op->up[at], items, n);
	for (i = 0; i < n; i++) {
		slot = weir__deque_push(&side->deque);
		side->slots[slot] = items[i];
		side->due_ns[slot] = due_ns;
		if (args->group && at == 0)
			self->firsts[slot] = self->n_gone + self->n_past;
	}
	if (n > 0)
		self->next = !at;
	return n;
}

/* Behind the end of the other side there may be room on a full one. */
static void look_beyond(struct weir__op *op, uint32_t at)
{
	const struct joining *self = weir__op_state(op);

	if (weir__deque_is_full(&self->sides[at].deque))
		weir__pull_none(op->up[!at]);
}

/* Takes items, and makes pairs of them. Returns how many results there are. */
static size_t take_from(struct weir__op *op, uint32_t at, void **items,
			size_t room)
{
	struct joining *self = weir__op_state(op);
	size_t n;

	if (self->n_new > 0) { /* only looks for an end: rule 8 */
		weir__pull_none(op->up[at]);
		return 0;
	}
	look_beyond(op, at);
	close_due(op, 0);
	close_due(op, 1);
	n = take(op, at, items, room);
	if (n == 0)
		return 0;
	self->from = at;
	self->n_new = n;
	self->partner = 0;
	return make_pairs(op, items, room);
}

/* --- When it goes on, and ends -------------------------------------------- */

/* True: no pair can come any more. */
static bool is_done(struct weir__op *op)
{
	const struct joining *self = weir__op_state(op);
	uint32_t at;

	for (at = 0; at < 2; at++)
		if (op->up[at]->ended &&
		    (op->up[!at]->ended || self->sides[at].deque.n == 0))
			return self->n_new == 0;
	return false;
}

/* Ends if a side has failed, or if it is `done`. */
static void ends(struct weir__op *op, bool done)
{
	uint32_t at;

	for (at = 0; at < 2; at++)
		if (op->up[at]->ended && op->up[at]->error) {
			weir__op_end(op, op->up[at]->error);
			return;
		}
	if (done)
		weir__op_end(op, NULL);
}

/* Goes on at once, if it `waits` for nothing else than room; or when something
 * closes, at `left_ns` or `right_ns`. */
static void goes_on(struct weir__op *op, bool waits, bool has_room,
		    uint64_t left_ns, uint64_t right_ns)
{
	struct joining *self = weir__op_state(op);
	uint64_t due_ns = left_ns < right_ns ? left_ns : right_ns;
	int rc = 0;

	if (waits && has_room)
		weir__op_again(op);
	else if (!waits && due_ns != WEIR_FOREVER)
		rc = weir__op_timer_at(&self->timer, op, due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

/* It calls the function no more often than it is asked for items, at most. */
static size_t join_pull(struct weir__op *op, void **items, size_t room)
{
	struct joining *self = weir__op_state(op);
	uint32_t i, at = self->next;
	size_t n;

	self->now_ns = weir__op_now(op);
	self->n_calls = op->island->ask;
	n = make_pairs(op, items, room);
	for (i = 0; i < 2 && !op->ended; i++, at = !at)
		n += take_from(op, at, items + n, room - n);
	if (!op->ended)
		ends(op, is_done(op));
	if (!op->ended)
		goes_on(op, self->n_new > 0, n < room,
			first_due(&self->sides[0]), first_due(&self->sides[1]));
	return n;
}

/* --- group_join: each left item with all that it has met ------------------ */

/* True: the oldest left item closes. All do, if right has completed. */
static bool closes_one(struct weir__op *op)
{
	const struct joining *self = weir__op_state(op);
	const struct side *left = &self->sides[0];
	bool all = op->up[1]->ended && !op->up[1]->error;

	return left->deque.n > 0 && (all || first_due(left) <= self->now_ns);
}

/* When the i-th oldest item of a side closes. */
static uint64_t due_of(const struct side *side, size_t i)
{
	return side->due_ns[weir__deque_at(&side->deque, i)];
}

/* Drops the right items whose time is over, and that no left one has met. */
static void drop_past(struct weir__op *op)
{
	struct joining *self = weir__op_state(op);
	const struct side *left = &self->sides[0];
	struct side *right = &self->sides[1];

	while (self->n_past < right->deque.n &&
	       due_of(right, self->n_past) <= self->now_ns)
		self->n_past++;
	while (self->n_past > 0 &&
	       (left->deque.n == 0 ||
		self->firsts[left->deque.first] > self->n_gone)) {
		close_oldest(op, right, 1);
		self->n_past--;
		self->n_gone++;
	}
}

/* As the function of the user's. */
static int group_oldest(struct weir__op *op, void **result)
{
	const struct join_args *args = weir__op_args(op);
	const struct joining *self = weir__op_state(op);
	const struct weir__deque *deque = &self->sides[1].deque;
	size_t slot = self->sides[0].deque.first, n = 0, i;

	for (i = (size_t)(self->firsts[slot] - self->n_gone); i < deque->n; i++)
		self->group[n++] =
			self->sides[1].slots[weir__deque_at(deque, i)];
	return args->group(self->sides[0].slots[slot], self->group, n, result,
			   args->context);
}

/* Closes left items, as far as there is room; returns how many results there
 * are. */
static size_t make_groups(struct weir__op *op, void **items, size_t room)
{
	struct joining *self = weir__op_state(op);
	size_t n = 0;
	int rc;

	while (closes_one(op) && n < room && self->n_calls > 0) {
		self->n_calls--;
		rc = group_oldest(op, &items[n]);
		if (WEIR_UNLIKELY(rc != 0 && rc != 1) &&
		    !weir__op_survives(op, rc))
			return n;
		n += rc == 1;
		close_oldest(op, &self->sides[0], 0);
	}
	return n;
}

static size_t group_pull(struct weir__op *op, void **items, size_t room)
{
	struct joining *self = weir__op_state(op);
	const struct side *left = &self->sides[0], *right = &self->sides[1];
	uint32_t i, at = self->next;
	size_t n;

	self->now_ns = weir__op_now(op);
	self->n_calls = op->island->ask;
	n = make_groups(op, items, room);
	for (i = 0; i < 2 && !op->ended; i++, at = !at) {
		look_beyond(op, at);
		drop_past(op);
		if (closes_one(op))
			weir__pull_none(op->up[at]);
		else
			(void)take(op, at, items + n, room - n);
	}
	if (!op->ended)
		ends(op, op->up[0]->ended && left->deque.n == 0);
	if (!op->ended)
		goes_on(op, closes_one(op), n < room, first_due(left),
			self->n_past < right->deque.n
				? due_of(right, self->n_past)
				: WEIR_FOREVER);
	return n;
}

/* --- Making it ------------------------------------------------------------ */

/* A restart is a resume: what is open stays open. */
#define JOIN(called, pulled) \
	.name = (called), .state_size = sizeof(struct joining), \
	.pull = (pulled), .open = join_open, .close = join_close, \
	.keeps = sizeof(struct weir__op_timer), .awaits = WEIR_WAIT_TIME, \
	.stateless = true, .holds = true, .makes = true, .remakes = true, \
	.any_input = true

static const struct weir__kind join_kind = {JOIN("join", join_pull)};
static const struct weir__kind group_kind = {JOIN("group_join", group_pull)};

/* NULL: nothing. */
static const char *wrong_with(const struct weir_flow_join_options *options)
{
	if (!options)
		return "options is NULL";
	if (!weir__reserved_zero(options->reserved))
		return "options->reserved is not zero";
	if (options->left_ns == 0 || options->right_ns == 0)
		return "left_ns or right_ns is 0";
	if (!weir__size_valid(options->left_max) ||
	    !weir__size_valid(options->right_max))
		return "left_max or right_max is 0, or too large";
	return NULL;
}

static struct weir_flow *join_new(const struct weir__kind *kind,
				  struct weir_flow *left,
				  struct weir_flow *right,
				  struct join_args args,
				  const struct weir_flow_join_options *options)
{
	struct weir_flow *both[] = {left, right}, *flow;
	const char *why = wrong_with(options);

	if (!why) {
		args.sides[0].open_ns = options->left_ns;
		args.sides[0].max = options->left_max;
		args.sides[1].open_ns = options->right_ns;
		args.sides[1].max = options->right_max;
	}
	flow = weir__flow_new(kind, both, 2, &args, sizeof(args),
			      !why && (args.join || args.group));
	return weir__flow_wrong_as(flow, kind, why);
}

struct weir_flow *weir_flow_join(
	struct weir_flow *left, struct weir_flow *right,
	int (*join)(void *left, void *right, void **result, void *context),
	void *context, const struct weir_flow_join_options *options)
{
	struct join_args args = {.join = join, .context = context};

	return join_new(&join_kind, left, right, args, options);
}

struct weir_flow *weir_flow_group_join(
	struct weir_flow *left, struct weir_flow *right,
	int (*join)(void *left, void *const *rights, size_t n, void **result,
		    void *context),
	void *context, const struct weir_flow_join_options *options)
{
	struct join_args args = {.group = join, .context = context};

	return join_new(&group_kind, left, right, args, options);
}
