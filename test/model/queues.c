/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue into a run: offers of several threads against the run that takes them
 * and goes to rest, and against its end and the queue's.
 */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

static struct crossing *queue_of(void *context, size_t capacity,
				 enum weir_overflow overflow)
{
	struct crossing *c = crossing_open(context);

	explorer_assert(weir_flow_queue_new(&c->queue, capacity, overflow,
					    &c->scene.items) == 0);
	crossing_start(c, crossing_sink(c, weir_flow_from_queue(c->queue)));
	return c;
}

static void starting(void *context)
{
	queue_of(context, 2, WEIR_OVERFLOW_BACK_PRESSURE);
}

/* It waits for items. */
static void resting(void *context)
{
	scene_settle(&queue_of(context, 2, WEIR_OVERFLOW_BACK_PRESSURE)->scene);
}

static void resting_dropping_oldest(void *context)
{
	scene_settle(&queue_of(context, 1, WEIR_OVERFLOW_DROP_HEAD)->scene);
}

static void resting_failing(void *context)
{
	scene_settle(&queue_of(context, 1, WEIR_OVERFLOW_FAIL)->scene);
}

static void offer(struct crossing *c, uint32_t i)
{
	struct token *token = crossing_token(c, i);
	int rc = weir_flow_queue_offer(c->queue, token);

	/* who was refused it still has it: nobody has dropped it */
	explorer_assert(rc >= 0 || rc == -EPIPE || rc == -EOVERFLOW);
	if (rc >= 0)
		return;
	explorer_assert(token->value == MADE);
	token->accepted = false;
}

static void offer_0(void *context)
{
	offer(context, 0);
}

static void offer_1(void *context)
{
	offer(context, 1);
}

static void offer_and_work(void *context)
{
	offer_1(context);
	work_below(context);
}

static void offer_two(void *context)
{
	offer_0(context);
	offer_1(context);
}

static void close_queue(struct crossing *c)
{
	int rc = weir_flow_queue_end(c->queue, NULL);

	explorer_assert(rc == 0 || rc == -EALREADY);
}

static void offer_and_close(void *context)
{
	offer_0(context);
	close_queue(context);
}

static void close_and_work(void *context)
{
	close_queue(context);
	work_below(context);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

/* The flow's reference goes while the maker still has its own. */
static void cancel_and_free(void *context)
{
	struct crossing *c = context;

	cancel_and_work(c);
	if (!ck_pr_load_32(&c->over))
		return;
	ck_pr_fence_acquire();
	weir_flow_free(c->flow);
	c->flow = NULL;
}

/* The maker's reference goes while the run has its own. */
static void offer_and_free(void *context)
{
	struct crossing *c = context;

	offer_0(c);
	weir_flow_queue_free(c->queue);
	c->queue = NULL;
}

/* Nothing more comes: all that was accepted has. */
static void all_arrived(void *context)
{
	struct crossing *c = context;
	uint32_t i, accepted = 0;

	scene_settle(&c->scene);
	for (i = 0; i < SCENE_TOKENS; i++)
		accepted += c->scene.tokens[i].accepted;
	explorer_assert(c->delivered == accepted);
	if (c->queue)
		close_queue(c);
	crossing_went_well(c);
}

/* Some were dropped, each once; the last one arrived. */
static void last_arrived(void *context)
{
	struct crossing *c = context;

	scene_settle(&c->scene);
	explorer_assert(c->scene.tokens[1].value == DELIVERED);
	close_queue(c);
	crossing_is_over(c);
	explorer_assert(c->code == 0);
}

static void arrived_or_failed(void *context)
{
	struct crossing *c = context;

	scene_settle(&c->scene);
	close_queue(c);
	crossing_is_over(c);
	explorer_assert(c->code == (c->delivered == 2 ? 0 : -EOVERFLOW));
	explorer_assert(c->scene.tokens[0].value == DELIVERED);
}

static void cancelled(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED || c->code == 0);
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "an offer as the run goes to rest", .setup = starting,
		 .thread = {offer_0, work_below}, .check = all_arrived),
	CROSSING(.name = "two offers and a run", .setup = resting,
		 .thread = {offer_0, offer_1, work_below},
		 .check = all_arrived),
	CROSSING(.name = "two offers, one of whom runs it", .setup = resting,
		 .thread = {offer_0, offer_and_work}, .check = all_arrived),
	CROSSING(.name = "an offer, and another one and the end",
		 .setup = resting, .thread = {offer_and_close, offer_and_work},
		 .check = all_arrived),
	CROSSING(.name = "an offer upon a full queue",
		 .setup = resting_dropping_oldest,
		 .thread = {offer_two, work_below}, .check = last_arrived),
	CROSSING(.name = "an offer too many", .setup = resting_failing,
		 .thread = {offer_two, work_below}, .check = arrived_or_failed),
	CROSSING(.name = "an offer as the queue ends", .setup = resting,
		 .thread = {offer_two, close_and_work}, .check = all_arrived),
	CROSSING(.name = "an offer as the run is cancelled", .setup = resting,
		 .thread = {offer_0, cancel_and_work}, .check = cancelled),
	CROSSING(.name = "an offer, a cancel and a run", .setup = starting,
		 .thread = {offer_and_close, cancel, work_below},
		 .check = cancelled),
	CROSSING(.name = "a queue is freed as the run ends", .setup = resting,
		 .thread = {offer_and_free, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a queue is freed as the run is cancelled",
		 .setup = resting, .thread = {offer_and_free, cancel_and_free},
		 .check = cancelled),
};

const struct scene_group queues = SCENE_GROUP(scenarios);
