/* SPDX-License-Identifier: BSD-2-Clause */
/* Fan-out: what the island of a fan does with items. See fan.h. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "actor/out.h"
#include "actor/port.h"
#include "base/memory.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/operators/fan_out.h"
#include "flow/shared/fan.h"

/* --- What they do alike --------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* True: the operator above has ended, and all its items are dealt. */
static bool fan_ends(struct weir__op *root)
{
	return root->ended || weir__op_follow(root);
}

/*
 * Pulls items and deals them at once. It pulls no more than `room` says,
 * because it keeps no items.
 */
static enum weir__found drive(struct weir__island *island, uint64_t n,
			      size_t (*room)(struct weir__fan_out *fan),
			      void (*deal)(struct weir__island *island,
					   void *const *items, size_t n))
{
	struct weir__fan_out *fan = weir__fan_of(island);
	struct weir__op *root = island->root, *up = root->up[0];
	_Alignas(WEIR__LINE) void *items[WEIR_FLOW_BATCH];
	size_t ask = 1, got;

	while (n > 0 && (ask = least(room(fan), WEIR_FLOW_BATCH)) > 0) {
		if (ask > n)
			ask = (size_t)n;
		island->again = false;
		got = weir__pull(up, items, ask);
		if (got > 0)
			deal(island, items, got);
		if (fan_ends(root))
			return WEIR__FOUND_OVER;
		if (got == 0 && !island->again)
			return WEIR__FOUND_NONE;
		n -= ask;
	}
	if (n == 0)
		return WEIR__FOUND_MORE;
	weir__pull_none(up);
	return fan_ends(root) ? WEIR__FOUND_OVER : WEIR__FOUND_FULL;
}

/* --- broadcast ------------------------------------------------------------ */

/* Outlets that are waited for, the first ones. */
static size_t n_awaited(const struct weir__fan_out *fan)
{
	return fan->args->taps ? 1 : fan->args->n;
}

static size_t broadcast_room(struct weir__fan_out *fan)
{
	size_t room = SIZE_MAX, i;

	for (i = 0; i < n_awaited(fan); i++)
		if (!fan->outlets[i].gone)
			room = least(room, weir_out_room(&fan->outlets[i].out));
	return room;
}

/* 1: the outlet gets the item; 0: it does not; or an error of `select`. */
static int selects(struct weir__fan_out *fan, size_t i, void *item)
{
	const struct weir_flow_fan_options *options = &fan->args->options;

	if (fan->outlets[i].gone ||
	    (i >= n_awaited(fan) && weir__outlet_room(&fan->outlets[i]) == 0))
		return 0;
	return options->select ? options->select(item, i, options->context) : 1;
}

static int share(const struct weir__op *root, void *item)
{
	const struct weir_items *items = root->items;

	return items && items->share ? items->share(item, items->context) : 0;
}

/*
 * Of the outlets that want the item, the last gets the item, and each other
 * gets a share. If `select` or `share` fails, the outlets before that keep what
 * they got.
 */
static void broadcast_one(struct weir__island *island, void *item)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	struct weir__op *root = island->root;
	struct weir_out *last = NULL;
	int wanted = 0, rc = 0;
	size_t i;

	for (i = 0; i < fan->args->n && rc == 0; i++) {
		wanted = selects(fan, i, item);
		if (wanted < 0 || wanted > 1)
			break;
		if (wanted && last) {
			rc = share(root, item);
			if (rc == 0)
				(void)weir_out_put(last, item);
		}
		if (wanted)
			last = &fan->outlets[i].out;
	}
	if (last)
		(void)weir_out_put(last, item);
	else
		weir__op_drop_one(root, item);
	if (rc != 0)
		weir__op_fail_code(root, rc, "an item could not be shared");
	else if (wanted < 0 || wanted > 1)
		(void)weir__op_survives(root, wanted);
}

static void broadcast(struct weir__island *island, void *const *items, size_t n)
{
	size_t i;

	for (i = 0; i < n && !island->root->ended; i++)
		broadcast_one(island, items[i]);
	weir__op_drop(island->root, items + i, n - i);
}

static enum weir__found broadcast_drive(struct weir__island *island, uint64_t n)
{
	return drive(island, n, broadcast_room, broadcast);
}

static void broadcast_require(struct weir__island *island, bool room)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	size_t i;

	for (i = 0; i < fan->args->n; i++)
		weir__take_part(&fan->outlets[i].out.port,
				&fan->outlets[i].ignored,
				room && i < n_awaited(fan));
}

static const struct weir__end broadcast_end = {
	.drive = broadcast_drive,
	.over = weir__fan_over,
	.require = broadcast_require,
	.cancelled = weir__fan_cancelled,
	.free = weir__fan_end_free,
};

/* --- balance -------------------------------------------------------------- */

/* Before anything was dealt, the room of an outlet is 0 until it first asks; so
 * a room of 0 means "has not asked". */
static bool all_have_asked(struct weir__fan_out *fan)
{
	size_t i;

	for (i = 0; i < fan->args->n && fan->waits_for_all; i++)
		if (!fan->outlets[i].gone &&
		    weir__outlet_room(&fan->outlets[i]) == 0)
			return false;
	fan->waits_for_all = false;
	return true;
}

/* The room of an outlet, without looking for more. */
static size_t room_available(const struct weir__outlet *outlet)
{
	return outlet->gone ? 0 : weir_out_room(&outlet->out);
}

static size_t balance_room(struct weir__fan_out *fan)
{
	size_t room = 0, i;

	if (!all_have_asked(fan))
		return 0;
	for (i = 0; i < fan->args->n && room < WEIR_FLOW_BATCH; i++)
		room += room_available(&fan->outlets[i]);
	return room;
}

/* Every `step`th of the items. */
static void put_every(struct weir_out *out, void *const *items, size_t n,
		      size_t step)
{
	size_t i;

	assert(step > 0);
	if (step == 1)
		weir__out_put_n(out, items, n);
	for (i = 0; step > 1 && i < n; i += step)
		(void)weir_out_put(out, items[i]);
}

/*
 * Deals items to the outlet with the most room; of equals, to the first. So the
 * outlets with the most room get items in turn until they have as little room
 * as the next outlet. Returns how many items were dealt.
 */
static size_t deal_in_turn(struct weir__fan_out *fan, void *const *items,
			   size_t n)
{
	size_t most = 0, next = 0, step = 0, nth = 0, room, i;
	struct weir__outlet *outlet;

	for (i = 0; i < fan->args->n; i++) {
		room = room_available(&fan->outlets[i]);
		if (room > most) {
			next = most;
			most = room;
			step = 0;
		}
		step += room == most;
		if (room < most && room > next)
			next = room;
	}
	/* there is room for all that was pulled, so some is dealt */
	assert(most > next);
	n = least(n, step * (most - next));
	for (i = 0; nth < least(step, n); i++) {
		outlet = &fan->outlets[fan->outlets[i].nth];
		if (room_available(outlet) != most)
			continue;
		put_every(&outlet->out, items + nth, n - nth, step);
		nth++;
	}
	return n;
}

static void balance(struct weir__island *island, void *const *items, size_t n)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	size_t i = 0;

	while (i < n)
		i += deal_in_turn(fan, items + i, n - i);
}

static enum weir__found balance_drive(struct weir__island *island, uint64_t n)
{
	return drive(island, n, balance_room, balance);
}

static void balance_require(struct weir__island *island, bool room)
{
	struct weir__fan_out *fan = weir__fan_of(island);

	/* while waits_for_all, an outlet that first asks wakes the island */
	weir__take_part(&fan->any.port, &fan->any_ignored,
			room && !fan->waits_for_all);
}

static const struct weir__end balance_end = {
	.drive = balance_drive,
	.over = weir__fan_over,
	.require = balance_require,
	.cancelled = weir__fan_cancelled,
	.free = weir__fan_end_free,
};

/* --- partition ------------------------------------------------------------ */

static void *take_kept(struct weir__fan_out *fan)
{
	assert(fan->n > 0 && fan->from + fan->n <= WEIR_FLOW_BATCH);
	fan->n--;
	fan->chosen = WEIR__FAN_NONE;
	return fan->kept[fan->from++];
}

/* Chooses the outlet of the first item kept, or drops that item. */
static void choose_outlet(struct weir__island *island)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	const struct weir__fan_args *args = fan->args;
	size_t outlet = WEIR__FAN_NONE;
	int rc = args->choose(fan->kept[fan->from], &outlet, args->context);

	assert(fan->chosen == WEIR__FAN_NONE);
	if (rc == 0 && outlet < args->n) {
		fan->chosen = outlet;
		return;
	}
	weir__op_drop_one(island->root, take_kept(fan));
	if (rc == 0)
		weir__op_fail(island->root, -ERANGE, "no such outlet");
	else if (rc != 1)
		(void)weir__op_survives(island->root, rc);
}

/* Deals the items kept. False: the first one waits for room, or the root has
 * failed. */
static bool partition(struct weir__island *island)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	struct weir__outlet *outlet;

	while (fan->n > 0 && !island->root->ended) {
		if (fan->chosen == WEIR__FAN_NONE) {
			choose_outlet(island);
			continue;
		}
		assert(fan->chosen < fan->args->n);
		outlet = &fan->outlets[fan->chosen];
		if (outlet->gone)
			weir__op_drop_one(island->root, take_kept(fan));
		else if (weir__outlet_room(outlet) > 0)
			(void)weir_out_put(&outlet->out, take_kept(fan));
		else
			return false;
	}
	return !island->root->ended;
}

static enum weir__found partition_drive(struct weir__island *island, uint64_t n)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	struct weir__op *root = island->root, *up = root->up[0];

	fan->more = false;
	while (partition(island)) {
		if (fan_ends(root))
			return WEIR__FOUND_OVER;
		if (n == 0) {
			fan->more = true;
			return WEIR__FOUND_MORE;
		}
		/* none is kept, and so none has an outlet */
		assert(fan->n == 0 && fan->chosen == WEIR__FAN_NONE);
		island->again = false;
		fan->from = 0;
		fan->n = weir__pull(up, fan->kept, WEIR_FLOW_BATCH);
		if (fan->n == 0 && !up->ended && !island->again)
			return WEIR__FOUND_NONE;
		n -= n < WEIR_FLOW_BATCH ? n : WEIR_FLOW_BATCH;
	}
	weir__pull_none(up);
	return root->ended ? WEIR__FOUND_OVER : WEIR__FOUND_FULL;
}

/* The outlet whose room the first item waits for. If no item waits and there is
 * more to do, an outlet that has room, so that the island fires. */
static size_t awaited(const struct weir__fan_out *fan)
{
	size_t i;

	if (fan->chosen != WEIR__FAN_NONE || !fan->more)
		return fan->chosen;
	for (i = 0; i < fan->args->n; i++)
		if (!fan->outlets[i].gone &&
		    weir_out_room(&fan->outlets[i].out) > 0)
			return i;
	return WEIR__FAN_NONE;
}

static void partition_require(struct weir__island *island, bool room)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	size_t one = awaited(fan), i;

	for (i = 0; i < fan->args->n; i++)
		weir__take_part(&fan->outlets[i].out.port,
				&fan->outlets[i].ignored, i == one);
	/* no outlet has room, but there may be items to drop, which need no
	 * room: no port fires for those */
	if (fan->more && one == WEIR__FAN_NONE)
		weir_actor_signal(&island->actor);
}

static void partition_close(struct weir__island *island)
{
	struct weir__fan_out *fan = weir__fan_of(island);

	if (!fan)
		return;
	weir__op_drop(island->root, fan->kept + fan->from, fan->n);
	fan->n = 0;
}

static const struct weir__end partition_end = {
	.drive = partition_drive,
	.over = weir__fan_over,
	.require = partition_require,
	.cancelled = weir__fan_cancelled,
	.close = partition_close,
	.free = weir__fan_end_free,
};

/* --- Composing ------------------------------------------------------------ */

static const struct weir__kind broadcast_kind = {
	.name = "broadcast",
	.free = weir__fan_free,
};

int weir_flow_broadcast(struct weir_flow *flow, size_t n,
			struct weir_flow **outlets,
			const struct weir_flow_fan_options *options)
{
	struct weir__fan_args args = {.end = &broadcast_end, .shares = true};
	bool valid = weir__fan_take_options(&args, options);

	return weir__fan_new(&broadcast_kind, &flow, 1, &args, sizeof(args), n,
			     outlets, valid);
}

int weir__fan_double(const struct weir__kind *kind, struct weir_flow *flow,
		     size_t capacity, struct weir_flow *outlets[2], bool taps)
{
	const struct weir_flow_fan_options options = {.capacity = capacity};
	struct weir__fan_args args = {
		.end = &broadcast_end,
		.shares = true,
		.taps = taps,
		.stays = true,
	};
	bool valid = weir__fan_take_options(&args, &options);

	return weir__fan_new(kind, &flow, 1, &args, sizeof(args), 2, outlets,
			     valid);
}

static const struct weir__kind balance_kind = {
	.name = "balance",
	.free = weir__fan_free,
};

int weir_flow_balance(struct weir_flow *flow, size_t n,
		      struct weir_flow **outlets,
		      const struct weir_flow_fan_options *options)
{
	struct weir__fan_args args = {.end = &balance_end, .any = true};
	bool valid = weir__fan_take_options(&args, options);

	return weir__fan_new(&balance_kind, &flow, 1, &args, sizeof(args), n,
			     outlets, valid);
}

static const struct weir__kind partition_kind = {
	.name = "partition",
	.free = weir__fan_free,
};

int weir_flow_partition(struct weir_flow *flow, size_t n,
			int (*choose)(void *item, size_t *outlet,
				      void *context),
			void *context, struct weir_flow **outlets,
			const struct weir_flow_fan_options *options)
{
	struct weir__fan_args args = {
		.end = &partition_end,
		.choose = choose,
		.context = context,
		.keeps = true,
	};
	bool valid = weir__fan_take_options(&args, options) && choose;

	return weir__fan_new(&partition_kind, &flow, 1, &args, sizeof(args), n,
			     outlets, valid);
}
