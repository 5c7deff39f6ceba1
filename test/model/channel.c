/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel under all interleavings: every item goes to one taker or stays
 * its putter's, ordered after what was done before its put; no waiter is
 * forgotten, also not by the end; and who hears of the end may free it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/channel.h>

#include "runner.h"

enum { ITEMS = 4 };

static struct world {
	struct weir_channel *channel;
	uint32_t payloads[ITEMS]; /* plain: an item is one of them */
	struct weir_take take;
	uint32_t called;
} world;

static void *heap_alloc(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void heap_free(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator heap = {
	.alloc = heap_alloc,
	.free = heap_free,
};

/* Dropped: as if it had been taken. */
static void drop(void *item, void *context)
{
	uint32_t *payload = item;

	explorer_assert(*payload == 1);
	*payload = 2;
}

static const struct weir_items items = {.drop = drop};

static void setup(void *context)
{
	struct world *w = context;

	explorer_assert(weir_channel_new(&w->channel, 1, &items, &heap) == 0);
}

static void put_first(void *context)
{
	struct world *w = context;

	w->payloads[0] = 1;
	explorer_assert(weir_channel_put_wait(w->channel, &w->payloads[0],
					      WEIR_FOREVER) == 0);
}

static void put_two(void *context)
{
	struct world *w = context;
	uint32_t i;

	for (i = 2; i < 4; i++) {
		w->payloads[i] = 1;
		explorer_assert(weir_channel_put_wait(w->channel,
						      &w->payloads[i],
						      WEIR_FOREVER) == 0);
	}
}

static void try_put(void *context)
{
	struct world *w = context;

	w->payloads[1] = 1;
	if (weir_channel_try_put(w->channel, &w->payloads[1]) != 0)
		w->payloads[1] = 2; /* still ours */
}

static void put_and_end(void *context)
{
	put_first(context);
	explorer_assert(weir_channel_end(((struct world *)context)->channel,
					 NULL) == 0);
}

static void take_one(void *context)
{
	struct world *w = context;
	void *item;

	explorer_assert(
		weir_channel_take_wait(w->channel, &item, WEIR_FOREVER) == 0);
	drop(item, NULL);
}

static void take_two(void *context)
{
	take_one(context);
	take_one(context);
}

static void give_up_taking(void *context)
{
	struct world *w = context;
	void *item;

	if (weir_channel_take_wait(w->channel, &item, 0) == 0)
		drop(item, NULL);
}

static void taken(struct weir_take *take, int status)
{
	struct world *w = weir_container_of(take, struct world, take);

	w->called++;
	if (status == 0)
		drop(take->item, NULL);
}

static void ask_and_cancel(void *context)
{
	struct world *w = context;

	w->take.done = taken;
	if (weir_channel_take_async(w->channel, &w->take) == 0)
		(void)weir_channel_cancel_take(w->channel, &w->take);
}

static void take_all_and_free(void *context)
{
	struct world *w = context;
	void *item;

	while (weir_channel_take_wait(w->channel, &item, WEIR_FOREVER) == 0)
		drop(item, NULL);
	explorer_assert(weir_channel_free(w->channel) == 0);
	w->channel = NULL;
}

/* Each item that there was has been taken or dropped, once. */
static void all_is_accounted_for(void *context)
{
	struct world *w = context;
	uint32_t i;

	explorer_assert(weir_channel_free(w->channel) == 0);
	for (i = 0; i < ITEMS; i++)
		explorer_assert(w->payloads[i] != 1);
	explorer_assert(w->called <= 1);
	explorer_assert(explorer_allocated() == 0);
}

#define SCENARIO(...) \
	{ \
		.setup = setup, .check = all_is_accounted_for, \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "items are handed over",
		 .thread = {put_two, take_two}),
	SCENARIO(.name = "two senders, one place",
		 .thread = {put_first, try_put, take_one}),
	SCENARIO(.name = "a cancel races a put",
		 .thread = {put_first, ask_and_cancel}),
	SCENARIO(.name = "a timeout races a put",
		 .thread = {put_first, give_up_taking}),
	SCENARIO(.name = "who hears of the end frees it",
		 .thread = {put_and_end, take_all_and_free}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

/* All order is the lock's: there is nothing here to weaken. */
const struct model_case model_cases[] = {
	{.name = "no_item_is_lost_or_doubled", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
};
const size_t n_model_cases = N_OF(model_cases);
