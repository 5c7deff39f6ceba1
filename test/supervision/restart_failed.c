/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the token whose turn has failed: it is pre_restart's, and is
 * dropped once if that leaves it (B1.1, B4.1). The rules' numbers are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

#include <weir/any.h>
#include <weir/out.h>

static const struct role peeking[] = {{"a", .peeks = true}};

static size_t dropped(const struct play *play, size_t item)
{
	return play->base.ledger.dropped[item - 1];
}

static size_t delivered(const struct play *play, size_t item)
{
	return play->base.ledger.delivered[item - 1];
}

static void assert_none_failed(struct member *self)
{
	void *item = self;

	assert_int_equal(weir_in_take_failed(&self->in, &item), -ENODATA);
	assert_ptr_equal(item, self);
	assert_int_equal(weir_in_retry_failed(&self->in), -ENODATA);
}

static void *take_failed(struct member *self)
{
	void *item = NULL;

	assert_int_equal(weir_in_take_failed(&self->in, &item), 0);
	assert_none_failed(self);
	return item;
}

static void take_it(struct member *self)
{
	ledger_deliver(&self->play->base.ledger, take_failed(self));
}

static void put_it_back(struct member *self)
{
	assert_int_equal(weir_in_put(&self->in, take_failed(self)), 0);
}

static void retry(struct member *self)
{
	assert_int_equal(weir_in_retry_failed(&self->in), 0);
	assert_none_failed(self);
}

/* --- Its hook ------------------------------------------------------------- */

static void b4_1_pre_restart_takes_the_failed_token(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .rc = RESTART},
		{"a", PRE_RESTART, .call = take_it},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.3 a2.4");
	assert_int_equal(delivered(play, 2), 1);
	assert_int_equal(dropped(play, 2), 0);
}

static void b4_1_pre_restart_puts_the_failed_token_behind_the_others(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .generation = 1, .rc = RESTART},
		{"a", PRE_RESTART, .call = put_it_back},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.3 a2.4 a2.2");
	assert_int_equal(delivered(play, 2), 1);
}

static void b4_1_pre_restart_leaves_the_failed_token_to_be_first_again(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .generation = 1, .rc = RESTART},
		{"a", TURN, .item = 2, .generation = 2, .rc = RESTART},
		{"a", PRE_RESTART, .call = retry},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.2 "
		    "a2.pre_restart a3.reset a3.post_restart a3.2 a3.3");
	assert_int_equal(delivered(play, 2), 1);
	assert_int_equal(dropped(play, 2), 0);
}

/* It stands in the port until then, also through a back-off. */
static void b4_1_the_failed_token_waits_for_the_restart(struct play *play)
{
	static const struct weir_backoff one_second = {.min_ns = SECOND,
						       .max_ns = SECOND};
	static const struct weir_strategy slow = {BY_CODE,
						  .backoff = &one_second};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .rc = RESTART},
		{"a", PRE_RESTART, .call = take_it},
	};

	play->top = &slow;
	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	run_until(play, SECOND / 2);
	assert_int_equal(delivered(play, 1) + dropped(play, 1), 0);
	run(play);
	assert_int_equal(delivered(play, 1), 1);
	assert_int_equal(delivered(play, 2), 1);
}

static bool takes_in_post_stop;

static void may_take_it(struct member *self)
{
	if (takes_in_post_stop)
		take_it(self);
	else
		assert_none_failed(self);
}

static void b4_1_post_stop_stands_for_pre_restart(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = PLAIN, .peeks = true}};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .rc = RESTART},
		{"a", POST_STOP, .call = may_take_it},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	takes_in_post_stop = true;
	feed(play, "a", 1, 2);
	takes_in_post_stop = false;
	assert_int_equal(delivered(play, 1), 1);
	assert_int_equal(delivered(play, 2), 1);
}

/* --- Other directives ----------------------------------------------------- */

static void b1_1_resume_drops_the_failed_token_and_goes_on(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .rc = RESUME},
		{"a", TURN, .item = 3, .call = assert_none_failed},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.3");
	assert_int_equal(dropped(play, 2), 1);
}

static void b1_1_stop_drops_the_failed_token_which_is_no_dead_letter(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .rc = STOP},
		{"a", POST_STOP, .call = assert_none_failed},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
	assert_int_equal(dropped(play, 2), 1);
	assert_int_equal(dropped(play, 3), 1);
}

static const struct role below_one[] = {
	{"a", .peeks = true},
	{"p", .hooks = HOOK(PRE_START) | HOOK(PRE_RESTART) |
		       HOOK(POST_RESTART) | HOOK(POST_STOP)},
};

static void escalates(struct play *play, const struct weir_strategy *top)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .generation = 1, .rc = ESCALATE},
		{"a", PRE_RESTART, .call = retry},
	};

	play->top = top;
	ROLES(play, below_one);
	SCRIPT(play, steps);
	add(play, NULL, "p");
	add(play, "p", "a");
	feed(play, "a", 1, 2);
}

static void b1_1_escalated_and_resumed_it_is_dropped(struct play *play)
{
	static const struct weir_rule rule = {
		.directive = WEIR_DIRECTIVE_RESUME};
	static const struct weir_strategy top = {.rules = &rule, .n_rules = 1};

	escalates(play, &top);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2");
	assert_int_equal(dropped(play, 1), 1);
}

static void b4_1_escalated_and_restarted_it_is_pre_restart_s(struct play *play)
{
	static const struct weir_rule rule = {
		.directive = WEIR_DIRECTIVE_RESTART};
	static const struct weir_strategy top = {.rules = &rule, .n_rules = 1};

	escalates(play, &top);
	assert_told(play, "a",
		    "a1.pre_start a1.1 "
		    "a1.pre_restart a2.reset a2.post_restart a2.1 a2.2");
	assert_int_equal(delivered(play, 1), 1);
}

static void b1_1_escalated_and_stopped_it_is_dropped(struct play *play)
{
	static const struct weir_rule rule = {.directive = WEIR_DIRECTIVE_STOP};
	static const struct weir_strategy top = {.rules = &rule, .n_rules = 1};

	escalates(play, &top);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop a1.dead2");
	assert_int_equal(dropped(play, 1), 1);
}

/* --- Where there is none -------------------------------------------------- */

static void b4_1_a_token_that_was_taken_is_the_turn_s(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = assert_none_failed},
		{"a", TURN, .item = 2, .fail = RESTART},
		{"a", PRE_RESTART, .call = assert_none_failed},
		{"a", RESET, .call = assert_none_failed},
		{"a", POST_RESTART, .call = assert_none_failed},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_int_equal(delivered(play, 3), 1);
}

static void b4_1_it_is_too_late_behind_pre_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .rc = RESTART},
		{"a", RESET, .call = assert_none_failed},
		{"a", POST_RESTART, .call = assert_none_failed},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 2);
	assert_int_equal(dropped(play, 1), 1);
	assert_int_equal(delivered(play, 2), 1);
}

static void b4_1_who_restarts_with_others_has_no_failed_token(struct play *play)
{
	static const struct weir_strategy all = {
		BY_CODE, .scope = WEIR_SCOPE_ALL_FOR_ONE};
	static const struct role roles[] = {{"a", .peeks = true},
					    {"b", .peeks = true}};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .generation = 1, .rc = RESTART},
		{"a", PRE_RESTART, .call = retry},
		{"b", PRE_RESTART, .call = assert_none_failed},
	};

	play->top = &all;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "b");
	give(play, "b", 2);
	assert_int_equal(put(play, "b", 3, 4), 0);
	feed(play, "a", 1, 1);
	assert_int_equal(ledger_dropped(&play->base.ledger), 0);
	assert_int_equal(ledger_delivered(&play->base.ledger), 4);
}

static void b4_1_only_the_owner_takes_it(struct play *play)
{
	struct member *a = add(play, NULL, "a");
	void *item;

	run(play);
	assert_int_equal(weir_in_take_failed(&a->in, &item), -EPERM);
	assert_int_equal(weir_in_retry_failed(&a->in), -EPERM);
	assert_int_equal(weir_in_take_failed(&a->in, NULL), -EINVAL);
	assert_int_equal(weir_in_take_failed(NULL, &item), -EINVAL);
	assert_int_equal(weir_in_retry_failed(NULL), -EINVAL);
}

/* --- Over links ----------------------------------------------------------- */

/* It asks whether its port is ready, which is to move nothing. */
static void ask_and_retry(struct member *self)
{
	assert_true(weir_port_ready(&self->in.port));
	retry(self);
}

/* Sources of items 1 to 10 and 11 to 20, into one in-port. */
static void feeds_over_links(struct play *play, size_t n, bool merges)
{
	struct source sources[2];
	struct member *a;
	size_t i;

	play_open(play);
	a = member_new(play, "a");
	if (merges)
		assert_int_equal(weir_in_merge(&a->in, WEIR_MERGE_ALL), 0);
	for (i = 0; i < n; i++) {
		source_init(&sources[i], play->base.executor,
			    &play->base.ledger, i * 10 + 1, i * 10 + 10);
		assert_int_equal(weir_out_link(&sources[i].out, &a->in), 0);
	}
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	for (i = 0; i < n; i++)
		assert_int_equal(weir_actor_start(&sources[i].actor), 0);
	run(play);
}

static const struct step fails_thrice[] = {
	{"a", TURN, .item = 3, .generation = 1, .rc = RESTART},
	{"a", TURN, .item = 7, .generation = 2, .rc = RESTART},
	{"a", TURN, .item = 10, .generation = 3, .rc = RESTART},
	{"a", PRE_RESTART, .call = ask_and_retry},
};

static void b4_1_a_failed_token_of_a_link_is_first_again(struct play *play)
{
	ROLES(play, peeking);
	SCRIPT(play, fails_thrice);
	feeds_over_links(play, 1, false);
	assert_int_equal(times(play, "a2.3"), 1);
	assert_int_equal(times(play, "a3.7"), 1);
	assert_int_equal(times(play, "a4.10"), 1);
	assert_int_equal(ledger_delivered(&play->base.ledger), 10);
}

static void b4_1_a_failed_token_of_a_merge_is_taken_again(struct play *play)
{
	ROLES(play, peeking);
	SCRIPT(play, fails_thrice);
	feeds_over_links(play, 2, true);
	assert_int_equal(times(play, "a2.3"), 1);
	assert_int_equal(times(play, "a3.7"), 1);
	assert_int_equal(times(play, "a4.10"), 1);
	assert_int_equal(ledger_delivered(&play->base.ledger), 20);
}

static void b1_1_who_waits_for_room_gets_that_of_a_token_that_was_taken(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 3, .rc = RESTART},
		{"a", TURN, .item = 10, .rc = RESTART},
		{"a", PRE_RESTART, .call = take_it},
	};

	ROLES(play, peeking);
	SCRIPT(play, steps);
	feeds_over_links(play, 1, false);
	assert_int_equal(ledger_delivered(&play->base.ledger), 10);
}

/* --- Batches -------------------------------------------------------------- */

/* Takes four items in a turn, one after the other; the third fails once. */
static uint32_t batch(struct weir_actor *actor, uint32_t n)
{
	struct member *self = member_of(actor);
	uint32_t i;

	for (i = 0; i < 4; i++) {
		size_t item = (uintptr_t)weir_in_peek(&self->in);

		note(self->play, self->name, "a%u.%zu", self->generation, item);
		if (item == 3 && self->generation == 1) {
			(void)weir_actor_fail_code(actor, RESTART);
			return 1;
		}
		weir_in_consume(&self->in);
		ledger_deliver(&self->play->base.ledger, (void *)item);
	}
	return 1;
}

static void b4_1_of_a_batch_the_token_that_fails_is_taken_again(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_RESTART, .call = retry},
	};
	struct member *a;

	ROLES(play, peeking);
	SCRIPT(play, steps);
	play_open(play);
	a = member_new(play, "a");
	a->ops.turns = batch;
	a->actor.turns = batch;
	assert_int_equal(weir_port_set_burst(&a->in.port, 4), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	feed(play, "a", 1, 6);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 "
		    "a1.pre_restart a2.reset a2.post_restart a2.3 a2.4 a2.5 "
		    "a2.6");
}

/* --- In any order --------------------------------------------------------- */

static uint64_t draws;

static void any_of_these(struct member *self)
{
	switch (draws++ * 7 % 5) {
	case 0:
		take_it(self);
		break;
	case 1:
		put_it_back(self);
		break;
	case 2:
		retry(self);
		break;
	default:
		break;
	}
}

static void each_token_ends_once_whatever_becomes_of_it(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .generation = 1, .rc = RESTART},
		{"a", TURN, .item = 3, .generation = 2, .rc = RESTART},
		{"a", TURN, .item = 4, .generation = 3, .rc = RESUME},
		{"a", TURN, .item = 5, .generation = 3, .rc = RESTART},
		{"a", TURN, .item = 7, .rc = STOP},
		{"a", PRE_RESTART, .call = any_of_these},
	};

	draws = play->seed;
	ROLES(play, peeking);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 8);
	assert_int_equal(ledger_delivered(&play->base.ledger) +
				 ledger_dropped(&play->base.ledger),
			 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b4_1_pre_restart_takes_the_failed_token),
		RULE(b4_1_pre_restart_puts_the_failed_token_behind_the_others),
		RULE(b4_1_pre_restart_leaves_the_failed_token_to_be_first_again),
		RULE(b4_1_the_failed_token_waits_for_the_restart),
		RULE(b4_1_post_stop_stands_for_pre_restart),
		RULE(b1_1_resume_drops_the_failed_token_and_goes_on),
		RULE(b1_1_stop_drops_the_failed_token_which_is_no_dead_letter),
		RULE(b1_1_escalated_and_resumed_it_is_dropped),
		RULE(b4_1_escalated_and_restarted_it_is_pre_restart_s),
		RULE(b1_1_escalated_and_stopped_it_is_dropped),
		RULE(b4_1_a_token_that_was_taken_is_the_turn_s),
		RULE(b4_1_it_is_too_late_behind_pre_restart),
		RULE(b4_1_who_restarts_with_others_has_no_failed_token),
		RULE(b4_1_only_the_owner_takes_it),
		RULE(b4_1_a_failed_token_of_a_link_is_first_again),
		RULE(b4_1_a_failed_token_of_a_merge_is_taken_again),
		RULE(b1_1_who_waits_for_room_gets_that_of_a_token_that_was_taken),
		RULE(b4_1_of_a_batch_the_token_that_fails_is_taken_again),
		RULE(each_token_ends_once_whatever_becomes_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
