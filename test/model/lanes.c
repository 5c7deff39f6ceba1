/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes alone, without actors, under all interleavings of their producers and
 * their consumer: every token that was put comes out once, in the order of its
 * producer, behind all that was written before the put; the end comes behind
 * it; a slot is not filled anew before its token was taken; and of a lane that
 * is shut each token belongs to one end. The fences that lane.h leaves to the
 * callers are made here, and weakened too.
 */
#include "lane/mpsc.h"
#include "lane/spsc.h"

#include "runner.h"

enum { N_TOKENS = 4, N_PRODUCERS = EXPLORER_THREADS + 1 };

struct token {
	uint32_t value; /* plain: the lane has to order it */
	bool accepted;
	bool back; /* its producer's again */
	bool taken;
	uint32_t by; /* its producer */
};

static struct world {
	struct weir__lane lane;
	struct weir__taker taker;
	struct weir__putter putter;
	uint32_t mask;
	struct token tokens[N_TOKENS];
	uint32_t last[N_PRODUCERS]; /* taken, by the producer, plus 1 */
	uint32_t n_taken;
	bool ended;
	bool closed[EXPLORER_THREADS];
	bool left; /* the producer has found that it is cancelled */
	struct weir_error *error;
} world;

static void *allocate(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void release(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator allocator = {allocate, release, NULL};

static void name(struct world *w)
{
	explorer_name(&w->lane, sizeof(w->lane), "lane");
	if (w->mask)
		explorer_name(w->lane.words, 3 * WEIR__LINE, "ring");
}

/* --- Spsc ------------------------------------------------------------------ */

static void spsc_setup(struct world *w, uint32_t mask)
{
	w->mask = mask;
	explorer_assert(weir__lane_init(&w->lane, mask, &allocator) == 0);
	weir__taker_init(&w->taker, &w->lane, mask);
	weir__putter_init(&w->putter, &w->lane, mask);
	name(w);
}

static void one_slot(void *context)
{
	spsc_setup(context, 0);
}

static void two_slots(void *context)
{
	spsc_setup(context, 1);
}

static void granted_slot(void *context)
{
	struct world *w = context;

	spsc_setup(w, 1);
	weir__spsc_hold(&w->taker, &w->lane);
	weir__spsc_grant(&w->lane, 1);
}

static void two_granted_slots(void *context)
{
	struct world *w = context;

	granted_slot(w);
	weir__spsc_grant(&w->lane, 1);
}

/* Puts as many of the tokens as there is room for, and publishes them. */
static uint32_t put_run(struct world *w, uint32_t next, uint32_t n)
{
	uint32_t most = n, i;
	void *item;

	weir__putter_look(&w->putter, &most);
	for (i = 0; i < most; i++) {
		w->tokens[next + i].value = 1;
		w->tokens[next + i].accepted = true;
		item = &w->tokens[next + i];
		weir__putter_push_slots(&w->putter, &(struct weir__slot){item},
					1);
	}
	/* release: the tokens (S2) */
	ck_pr_fence_release();
	explorer_assert(weir__putter_publish(&w->putter) == most);
	return next + most;
}

static void close_lane(struct world *w)
{
	w->error = weir_error_of(-EPROTO);
	weir__spsc_close(&w->putter, w->error);
}

static void put_and_close(void *context)
{
	struct world *w = context;
	uint32_t next = 0, i;

	for (i = 0; i < 3; i++)
		next = put_run(w, next, 3 - next);
	close_lane(w);
}

static void put_until_cancelled(void *context)
{
	struct world *w = context;

	(void)put_run(w, put_run(w, 0, 1), 1);
	w->left = weir__putter_cancelled(&w->putter);
}

static void take(struct world *w, struct token *token)
{
	uint32_t i = (uint32_t)(token - w->tokens);

	explorer_assert(token->value == 1 && !token->taken);
	token->value = 2;
	token->taken = true;
	explorer_assert(w->last[token->by] <= i);
	w->last[token->by] = i + 1;
	w->n_taken++;
}

static void publish_taken(struct world *w)
{
	w->taker.limit = w->taker.head;
	/* release: done with the slots (S3) */
	ck_pr_fence_release();
	(void)weir__taker_publish(&w->taker, &w->lane);
}

static uint32_t take_run(struct world *w)
{
	uint32_t n = N_TOKENS, i;

	if (!weir__spsc_look(&w->taker, &w->lane, &n))
		n = weir__spsc_available(&w->taker, &w->lane, &w->ended);
	for (i = 0; i < n; i++)
		take(w, weir__taker_item(&w->taker, w->taker.head++));
	publish_taken(w);
	return n;
}

/*
 * The error is read where the end was seen. In a function of its own, or the
 * compiler reads it first.
 */
static __attribute__((noinline)) void read_error(struct world *w)
{
	explorer_assert(w->lane.error == w->error);
}

static void note_end(struct world *w)
{
	if (w->ended)
		read_error(w);
}

static void take_some(void *context)
{
	struct world *w = context;

	(void)take_run(w);
	(void)take_run(w);
	note_end(w);
}

/* As a port with a burst does. */
static void take_without_a_look(void *context)
{
	struct world *w = context;
	uint32_t n = weir__spsc_available(&w->taker, &w->lane, &w->ended), i;

	for (i = 0; i < n; i++)
		take(w, weir__taker_item(&w->taker, w->taker.head++));
	note_end(w);
	publish_taken(w);
}

/* Grants ahead of what is published. */
static void take_grant_and_publish(void *context)
{
	struct world *w = context;
	uint32_t n = 1;

	if (weir__spsc_look(&w->taker, &w->lane, &n) && n) {
		take(w, weir__taker_item(&w->taker, w->taker.head++));
		weir__spsc_grant(&w->lane, 1);
	}
	publish_taken(w);
}

static void take_what_is_granted(void *context)
{
	struct world *w = context;

	if (take_run(w))
		weir__spsc_grant(&w->lane, 1);
	(void)take_run(w);
	note_end(w);
}

static void take_and_let_go(void *context)
{
	struct world *w = context;

	if (take_run(w))
		weir__spsc_let_go(&w->taker, &w->lane);
	(void)take_run(w);
}

/* Looks for the error ahead of the tokens. */
static void look_ahead(void *context)
{
	struct world *w = context;
	struct weir_error *error = weir__lane_failed(&w->lane);

	if (error)
		explorer_assert(error == w->error);
	(void)take_run(w);
}

static void take_and_cancel(void *context)
{
	struct world *w = context;

	(void)take_run(w);
	(void)weir__spsc_cancel(&w->lane);
}

/* What the threads have left is there still, and then the end. */
static void all_come_out(void *context)
{
	struct world *w = context;
	uint32_t n = 0, i;

	while (take_run(w))
		;
	for (i = 0; i < N_TOKENS; i++)
		n += w->tokens[i].accepted;
	explorer_assert(w->n_taken == n);
	explorer_assert(w->ended == (w->error != NULL));
	explorer_assert(!w->ended || w->lane.error == w->error);
	weir__lane_fini(&w->lane, w->mask, &allocator);
	explorer_assert(explorer_allocated() == 0);
}

/* --- Mpsc ------------------------------------------------------------------ */

static void mpsc_setup(struct world *w, uint32_t mask)
{
	w->mask = mask;
	explorer_assert(weir__mpsc_init(&w->lane, mask, &allocator) == 0);
	weir__taker_init(&w->taker, &w->lane, mask);
	name(w);
}

static void one_put_slot(void *context)
{
	mpsc_setup(context, 0);
}

static void two_put_slots(void *context)
{
	mpsc_setup(context, 1);
}

static void push(struct world *w, uint32_t first, uint32_t n);

/* Full: the next put has to read the head word. */
static void two_full_slots(void *context)
{
	mpsc_setup(context, 1);
	push(context, 0, 2);
}

static void four_put_slots(void *context)
{
	mpsc_setup(context, 3);
}

/* Puts `n` tokens from the first on, all or none. */
static void push(struct world *w, uint32_t first, uint32_t n)
{
	void *items[2], *item;
	int64_t index;
	uint32_t i;

	for (i = 0; i < n; i++) {
		w->tokens[first + i].value = 1;
		w->tokens[first + i].by = (uint32_t)explorer_thread();
		items[i] = &w->tokens[first + i];
	}
	index = weir__mpsc_push_n(&w->lane, w->mask, items, n);
	if (index < 0)
		return;
	for (i = 0; i < n; i++)
		w->tokens[first + i].accepted = true;
	if (!weir__mpsc_is_shut(&w->lane))
		return;
	for (i = 0; i < n; i++)
		if (weir__mpsc_take_back(&w->lane, w->mask, (uint32_t)index + i,
					 &item)) {
			explorer_assert(item == items[i]);
			w->tokens[first + i].back = true;
		}
}

static void push_first(void *context)
{
	push(context, 0, 1);
	push(context, 1, 1);
}

static void push_other(void *context)
{
	push(context, 2, 1);
}

static void push_two(void *context)
{
	push(context, 0, 2);
}

static void push_and_close(void *context)
{
	struct world *w = context;

	push(w, 2, 1);
	w->error = weir_error_of(-EPROTO);
	explorer_assert(weir__mpsc_close(&w->lane, w->error));
	explorer_assert(!weir__mpsc_close(&w->lane, NULL));
}

static void push_last(void *context)
{
	push(context, 3, 1);
}

static void close_too(void *context)
{
	struct world *w = context;

	w->closed[explorer_thread()] =
		weir__mpsc_close(&w->lane, weir_error_of(-EPROTO));
}

static uint32_t pop_run(struct world *w)
{
	uint32_t n = weir__mpsc_available(&w->taker, &w->lane, &w->ended), i;
	struct token *token;

	explorer_assert(!n || weir__mpsc_holds(&w->taker, &w->lane));
	for (i = 0; i < n; i++) {
		token = weir__taker_item(&w->taker, w->taker.head++);
		take(w, token);
	}
	publish_taken(w);
	return n;
}

static void pop_some(void *context)
{
	struct world *w = context;

	(void)pop_run(w);
	(void)pop_run(w);
	note_end(w);
}

static void pop_and_shut(void *context)
{
	struct world *w = context;
	struct token *token;
	uint32_t n;

	(void)pop_run(w);
	for (n = weir__mpsc_shut(&w->taker, &w->lane); n; n--) {
		if (weir__mpsc_claim(&w->lane, w->mask, w->taker.head)) {
			token = weir__taker_item(&w->taker, w->taker.head);
			take(w, token);
		}
		w->taker.head++;
	}
	publish_taken(w);
	w->left = true;
}

static void all_have_come_out(void *context)
{
	struct world *w = context;
	uint32_t i;

	while (!w->left && pop_run(w))
		;
	for (i = 0; i < N_TOKENS; i++)
		explorer_assert(w->tokens[i].taken + w->tokens[i].back ==
				w->tokens[i].accepted);
	explorer_assert(w->left || w->ended == (w->error != NULL));
	weir__mpsc_fini(&w->lane, w->mask, &allocator);
	explorer_assert(explorer_allocated() == 0);
}

/* Whoever came first has ended it, also where it was shut meanwhile. */
static void one_has_closed(void *context)
{
	struct world *w = context;

	explorer_assert(w->closed[0] + w->closed[1] == 1);
	explorer_assert(weir__mpsc_closing(&w->lane) && w->lane.error);
	explorer_assert(weir__mpsc_is_shut(&w->lane) == w->left);
	w->error = w->lane.error;
	all_have_come_out(w);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}
#define SPSC(...) SCENARIO(.check = all_come_out, __VA_ARGS__)
#define MPSC(...) SCENARIO(.check = all_have_come_out, __VA_ARGS__)

static const struct explorer_scenario all[] = {
	SPSC(.name = "one slot", .setup = one_slot,
	     .thread = {put_and_close, take_some}),
	SPSC(.name = "two slots", .setup = two_slots,
	     .thread = {put_and_close, take_some}),
	SPSC(.name = "no look", .setup = two_slots,
	     .thread = {put_and_close, take_without_a_look}),
	SPSC(.name = "a grant ahead", .setup = two_granted_slots,
	     .thread = {put_and_close, take_grant_and_publish}),
	SPSC(.name = "granted room", .setup = granted_slot,
	     .thread = {put_and_close, take_what_is_granted}),
	SPSC(.name = "let go", .setup = granted_slot,
	     .thread = {put_and_close, take_and_let_go}),
	SPSC(.name = "an error seen ahead", .setup = two_slots,
	     .thread = {put_and_close, look_ahead}),
	SPSC(.name = "cancelled", .setup = two_slots,
	     .thread = {put_until_cancelled, take_and_cancel}),
	MPSC(.name = "one slot for all", .setup = one_put_slot,
	     .thread = {push_first, push_other, pop_some}),
	MPSC(.name = "two slots for all", .setup = two_put_slots,
	     .thread = {push_first, push_other, pop_some}),
	MPSC(.name = "two at once", .setup = two_put_slots,
	     .thread = {push_two, push_other, pop_some}),
	MPSC(.name = "an end", .setup = four_put_slots,
	     .thread = {push_first, push_and_close, pop_some}),
	MPSC(.name = "shut", .setup = two_put_slots,
	     .thread = {push_first, push_other, pop_and_shut}),
	MPSC(.name = "a copy of the head", .setup = two_full_slots,
	     .thread = {push_other, push_last, pop_some}),
	SCENARIO(.name = "two ends", .setup = two_put_slots,
		 .thread = {close_too, close_too}, .check = one_has_closed),
	SCENARIO(.name = "shut and ended", .setup = two_put_slots,
		 .thread = {close_too, pop_and_shut}, .check = one_has_closed),
	MPSC(.name = "shut, two at once", .setup = two_put_slots,
	     .thread = {push_two, pop_and_shut}),
};

static const struct scene_group lanes = SCENE_GROUP(all);

static const struct explorer_exception exceptions[] = {
	{"spsc.h", "weir__spsc_cancel", "ck_pr_or_32", 0,
	 "nobody else writes the state of a lane with one producer; atomic, as "
	 "that of the in-port's own lane is"},
	{"mpsc.c", "weir__mpsc_read_head", "ck_pr_cas_32", 0,
	 "an older copy only makes the ring look full earlier; one of 2^31 "
	 "tokens ago is out of reach here"},
};

const struct model_case model_cases[] = {
	{.name = "every_token_has_one_end", .groups = GROUPS(&lanes)},
	{.name = "every_token_has_one_end_on_x86",
	 .groups = GROUPS(&lanes),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&lanes),
	 .files = "lib/lane/",
	 .more_files = "lanes.c",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
