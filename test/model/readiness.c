/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readiness of a descriptor that is told once of what comes: under all
 * interleavings of a poller and an owner no bytes are left unread and no end is
 * left untold. The kernel orders nothing here: its bytes are one word.
 */
#include <stdint.h>

#include "executor/readiness.h"
#include "runner.h"

static struct world {
	uint32_t ready;
	uint32_t bytes; /* atomic: that have come, in all */
	/* plain, the owner's */
	uint32_t read;	 /* of them */
	uint32_t ends;	 /* told */
	uint32_t misses; /* times that POLLIN was on, and is cleared */
} world;

/* The poller. */

static void bytes_come(struct world *w)
{
	ck_pr_store_32(&w->bytes, ck_pr_load_32(&w->bytes) + 1);
	(void)weir__ready_add(&w->ready, POLLIN);
}

static void once(void *context)
{
	bytes_come(context);
}

static void twice(void *context)
{
	bytes_come(context);
	bytes_come(context);
}

static void then_it_ends(void *context)
{
	struct world *w = context;

	bytes_come(w);
	explorer_assert(weir__ready_add(&w->ready, POLLRDHUP));
}

static void it_ends_then(void *context)
{
	struct world *w = context;

	explorer_assert(weir__ready_add(&w->ready, POLLRDHUP));
	bytes_come(w);
}

/* The owner: reads until there is nothing. False: it waits. */
static bool look(struct world *w)
{
	uint32_t events = weir__ready_look(&w->ready), bytes;

	w->ends += weir__ready_gone(&w->ready);
	if (!(events & POLLIN))
		return false;
	bytes = ck_pr_load_32(&w->bytes);
	if (bytes == w->read && weir__ready_clear(&w->ready))
		w->misses++;
	w->read = bytes;
	return true;
}

static void look_thrice(void *context)
{
	(void)look(context);
	(void)look(context);
	(void)look(context);
}

static void drain(void *context)
{
	while (look(context))
		;
}

static void at_rest(struct world *w, uint32_t ends)
{
	drain(w);
	explorer_assert(w->read == w->bytes);
	explorer_assert(w->ends == ends);
	/* no more often than it was set */
	explorer_assert(w->misses <= w->bytes);
}

static void all_is_read(void *context)
{
	at_rest(context, 0);
}

static void the_end_is_told_once(void *context)
{
	at_rest(context, 1);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "bytes come while the owner reads",
		 .thread = {once, look_thrice}, .check = all_is_read),
	SCENARIO(.name = "bytes come twice", .thread = {twice, look_thrice},
		 .check = all_is_read),
	SCENARIO(.name = "bytes come, then the end",
		 .thread = {then_it_ends, look_thrice},
		 .check = the_end_is_told_once),
	SCENARIO(.name = "an end comes, then bytes",
		 .thread = {it_ends_then, look_thrice},
		 .check = the_end_is_told_once),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "nothing_is_left_unread", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_step_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/executor/readiness.h"},
};
const size_t n_model_cases = N_OF(model_cases);
