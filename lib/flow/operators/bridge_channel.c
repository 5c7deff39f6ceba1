/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows that take from channels and put into channels. Both operators try
 * first, and ask for a callback if that fails: for an item, or for room for the
 * next item.
 */
#include <weir/flow_bridge.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "sync/channel.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/engine/start.h"
#include "flow/operators/bridge_ask.h"

static struct weir_channel *channel_of(const struct weir__op *op)
{
	return *(struct weir_channel *const *)weir__op_args(op);
}

static const struct weir_items *channel_items(const struct weir_flow *flow)
{
	return weir__channel_items(
		*(struct weir_channel *const *)(const void *)flow->args);
}

/* --- Taking --------------------------------------------------------------- */

/*
 * It asks for an item when downstream wants one. It asks for the end all the
 * time, because an end is told without demand.
 */
struct taker {
	struct weir__ask ask;
	struct weir_take take;
	int status;	      /* the answer */
	struct weir__ask end; /* answered: no more items will come */
	struct weir__waiter end_waiter;
};

static void channel_drop(struct weir_channel *channel, void *item)
{
	const struct weir_items *items = weir__channel_items(channel);

	if (items && items->drop)
		items->drop(item, items->context);
}

static void taken(struct weir_take *take, int status)
{
	struct taker *taker = weir_container_of(take, struct taker, take);
	struct weir__op *op = taker->ask.op;

	taker->status = status;
	if (!weir__ask_answer(&taker->ask) && status == 0)
		channel_drop(channel_of(op), take->item);
	weir__ask_done(op);
}

static void has_ended(struct weir__waiter *waiter)
{
	struct taker *taker =
		weir_container_of(waiter, struct taker, end_waiter);
	struct weir__op *op = taker->end.op;

	(void)weir__ask_answer(&taker->end);
	weir__ask_done(op);
}

/* True: the channel has ended, all its items were taken, and no item is on its
 * way to us. */
static bool is_over(struct weir__op *op)
{
	struct taker *taker = weir__op_state(op);

	if (weir__ask_state(&taker->end) == WEIR__ASK_NONE) {
		weir__ask_begin(&taker->end, op);
		taker->end_waiter.wake = has_ended;
		if (weir__channel_await_end(channel_of(op),
					    &taker->end_waiter) < 0) {
			weir__ask_withdraw(&taker->end);
			return true;
		}
	}
	return weir__ask_state(&taker->end) == WEIR__ASK_ANSWERED &&
	       weir__ask_state(&taker->ask) == WEIR__ASK_NONE;
}

/* Takes an item into *item: 0; -EAGAIN, an item will come; -EPIPE. */
static int take_one(struct weir__op *op, void **item)
{
	struct taker *taker = weir__op_state(op);

	switch (weir__ask_state(&taker->ask)) {
	case WEIR__ASK_ANSWERED:
		*item = taker->take.item;
		weir__ask_taken(&taker->ask);
		return taker->status;
	case WEIR__ASK_ASKED:
		return -EAGAIN;
	default:
		return weir_channel_try_take(channel_of(op), item);
	}
}

/* 0: an answer will come, or has. -EPIPE. */
static int ask_for_one(struct weir__op *op)
{
	struct taker *taker = weir__op_state(op);
	int rc;

	if (weir__ask_state(&taker->ask) != WEIR__ASK_NONE)
		return 0;
	weir__ask_begin(&taker->ask, op);
	taker->take.done = taken;
	rc = weir_channel_take_async(channel_of(op), &taker->take);
	if (rc < 0)
		weir__ask_withdraw(&taker->ask);
	return rc;
}

static size_t from_channel_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = 0;
	int rc = 0;

	while (n < room && (rc = take_one(op, &items[n])) == 0)
		n++;
	if (rc == -EAGAIN && n == 0)
		rc = ask_for_one(op);
	if (rc == -EPIPE || is_over(op))
		weir__op_end(op, weir_channel_error(channel_of(op)));
	return n;
}

static void from_channel_close(struct weir__op *op)
{
	struct taker *taker = weir__op_state(op);

	if (weir__ask_state(&taker->end) == WEIR__ASK_ASKED &&
	    weir__channel_forget_end(channel_of(op), &taker->end_waiter))
		weir__ask_withdraw(&taker->end);
	else
		(void)weir__ask_close(&taker->end);
	if (weir__ask_state(&taker->ask) == WEIR__ASK_ASKED &&
	    weir_channel_cancel_take(channel_of(op), &taker->take))
		weir__ask_withdraw(&taker->ask);
	else if (weir__ask_close(&taker->ask) && taker->status == 0)
		weir__op_drop_one(op, taker->take.item);
}

static const struct weir__kind from_channel_kind = {
	.name = "from_channel",
	.state_size = sizeof(struct taker),
	.items = channel_items,
	.pull = from_channel_pull,
	.close = from_channel_close,
	.source = true,
	.holds = true,
	.awaits = WEIR_WAIT_CHANNEL,
};

struct weir_flow *weir_flow_from_channel(struct weir_channel *channel)
{
	return weir__flow_source(&from_channel_kind, &channel, sizeof(channel),
				 channel);
}

/* --- Putting -------------------------------------------------------------- */

struct putter {
	struct weir__ask ask;
	struct weir_put put;
	int status;	/* the answer */
	bool over;	/* upstream has ended, and the operator has, too */
	uint32_t at, n; /* the items that are not put yet */
	void *items[WEIR_FLOW_BATCH];
};

static void was_put(struct weir_put *put, int status)
{
	struct putter *putter = weir_container_of(put, struct putter, put);
	struct weir__op *op = putter->ask.op;

	putter->status = status;
	if (!weir__ask_answer(&putter->ask) && status < 0)
		channel_drop(channel_of(op), put->item);
	weir__ask_done(op);
}

/* 0: the item is put. -EAGAIN: the channel has the request, and will wake the
 * operator when the item is put. -EPIPE. */
static int ask_for_room(struct weir__op *op, void *item)
{
	struct putter *putter = weir__op_state(op);
	int rc;

	weir__ask_begin(&putter->ask, op);
	putter->put.done = was_put;
	putter->put.item = item;
	rc = weir_channel_put_async(channel_of(op), &putter->put);
	if (rc < 0)
		weir__ask_withdraw(&putter->ask);
	return rc < 0 ? rc : -EAGAIN;
}

/* The answer to the request: 0; -EAGAIN, there is none yet; -EPIPE, the first
 * item is not put. */
static int answer(struct putter *putter)
{
	switch (weir__ask_state(&putter->ask)) {
	case WEIR__ASK_ANSWERED:
		/* the request was about the first item not put */
		assert(putter->at < putter->n);
		weir__ask_taken(&putter->ask);
		if (putter->status == 0)
			putter->at++;
		return putter->status;
	case WEIR__ASK_ASKED:
		return -EAGAIN;
	default:
		return 0;
	}
}

/* Puts the items that it has. 0: all are put. -EAGAIN: it will be woken.
 * -EPIPE. */
static int put_all(struct weir__op *op)
{
	struct putter *putter = weir__op_state(op);
	int rc = answer(putter);

	assert(putter->at <= putter->n && putter->n <= WEIR_FLOW_BATCH);
	while (rc == 0 && putter->at < putter->n) {
		rc = weir_channel_try_put(channel_of(op),
					  putter->items[putter->at]);
		if (rc == 0)
			putter->at++;
	}
	if (rc == -EAGAIN && weir__ask_state(&putter->ask) == WEIR__ASK_NONE)
		rc = ask_for_room(op, putter->items[putter->at]);
	return rc;
}

/* How many items to ask for: as many as there seems to be room for, and at
 * least one. */
static size_t channel_ask(struct weir_channel *channel)
{
	size_t there = weir_channel_count(channel);
	size_t most = weir__channel_capacity(channel);
	size_t n = there < most ? most - there : 1;

	return n < WEIR_FLOW_BATCH ? n : WEIR_FLOW_BATCH;
}

static size_t into_channel_pull(struct weir__op *op, void **items, size_t room)
{
	struct putter *putter = weir__op_state(op);
	struct weir_channel *channel = channel_of(op);
	int rc = put_all(op);

	if (rc == 0) {
		assert(putter->at == putter->n);
		putter->at = 0;
		putter->n =
			(uint32_t)weir__pull(op->up[0], putter->items,
					     room ? channel_ask(channel) : 0);
		rc = put_all(op);
		if (rc == 0 && putter->n > 0)
			weir__op_again(op);
	}
	if (rc == -EPIPE) {
		weir__op_end(op, weir_channel_error(channel));
	} else if (rc == 0) {
		putter->over = op->up[0]->ended;
		(void)weir__op_follow(op);
	}
	return 0;
}

static const char *into_channel_refuses(const struct weir_flow *flow)
{
	return weir__items_fit(weir__flow_items(flow->up[0]),
			       channel_items(flow))
		       ? NULL
		       : "the channel has other items";
}

/* Drops the items that are not put; the first one may be in a request to the
 * channel. */
static void drop_rest(struct weir__op *op)
{
	struct putter *putter = weir__op_state(op);
	bool asked = weir__ask_state(&putter->ask) == WEIR__ASK_ASKED;

	if (asked && weir_channel_cancel_put(channel_of(op), &putter->put)) {
		weir__ask_withdraw(&putter->ask);
	} else {
		asked = weir__ask_state(&putter->ask) != WEIR__ASK_NONE;
		if (weir__ask_close(&putter->ask) && putter->status < 0)
			asked = false;
		putter->at += asked;
	}
	weir__op_drop(op->up[0], putter->items + putter->at,
		      putter->n - putter->at);
	assert(putter->at <= putter->n);
	putter->at = putter->n;
}

static void into_channel_close(struct weir__op *op)
{
	const struct putter *putter = weir__op_state(op);
	struct weir_error *error = op->error;

	drop_rest(op);
	if (!error && !putter->over)
		error = weir_error_of(-ECANCELED);
	/* -EALREADY: the channel was ended by others */
	if (weir__op_begun(op))
		(void)weir_channel_end(channel_of(op), error);
}

static const struct weir__kind into_channel_kind = {
	.name = "into_channel",
	.state_size = sizeof(struct putter),
	.refuses = into_channel_refuses,
	.pull = into_channel_pull,
	.close = into_channel_close,
	.makes = true,
	.awaits = WEIR_WAIT_CHANNEL,
};

struct weir_flow *weir_flow_into_channel(struct weir_flow *flow,
					 struct weir_channel *channel)
{
	return weir__flow_upon(&into_channel_kind, flow, &channel,
			       sizeof(channel), channel);
}
