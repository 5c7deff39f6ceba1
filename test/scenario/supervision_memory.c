/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Supervision with too little memory: whichever allocation fails, nobody is
 * lost, left suspended or never answered, and everything is given back.
 */
#include "supervision/kit.h"

static const struct weir_limit three_ever = {.max = 3};
static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};
static const struct weir_strategy all_there_is = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.each = &three_ever,
	.all = &three_ever,
	.backoff = &one_second,
	.ordered = true,
};
static const struct role roles[] = {
	{"boss", USUAL | HOOK(TERMINATED) | HOOK(CHILD_ENDED), &all_there_is},
	{"a", .shutdown_ns = SECOND},
	{"b", PLAIN},
	{"c", .restart = WEIR_RESTART_TEMPORARY},
};

static void watch_all(struct member *self)
{
	static const char *const names[] = {"a", "b", "c"};
	size_t i;

	for (i = 0; i < LENGTH(names); i++)
		(void)weir_actor_watch(&self->actor, ref(self->play, names[i]),
				       NULL);
}

static const struct step steps[] = {
	{"boss", PRE_START, .spawn = "a"},
	{"boss", PRE_START, .spawn = "b"},
	{"boss", PRE_START, .spawn = "c", .call = watch_all},
	{"b", PRE_START, .spawn = "below"},
	{"a", TURN, .fail = RESTART},
	{"b", TURN, .fail = RESTART},
	{"c", TURN, .fail = RESTART},
	{"boss", TURN, .fail = RESTART},
};

/* Items for whoever of that name is there; all of them are failures. */
static void try_to_put(struct play *play, const char *name, size_t item)
{
	struct member *self = play->members;

	while (self && strcmp(self->name, name) != 0)
		self = self->next;
	if (self && weir_system_is_alive(play->base.system, self->ref))
		(void)put(play, name, item, item);
}

/* Failures of everybody, a minute apart. Each allocation has its number. */
static void a_bad_hour(struct play *play)
{
	static const char *const names[] = {"a", "b", "c", "boss", "a", "b"};
	size_t i;

	if (spawn(play, WEIR_ACTOR_ID_NONE, "boss") != 0)
		return;
	for (i = 0; i < 2 * LENGTH(names); i++) {
		run_until(play, (i + 1) * 60 * SECOND);
		try_to_put(play, names[i % LENGTH(names)], i + 1);
	}
	run_until(play, HOUR);
}

/* It has ended, or nothing holds it up. */
static void assert_all_go_on(struct play *play)
{
	const struct member *each;

	for (each = play->members; each; each = each->next)
		if (weir_system_is_alive(play->base.system, each->ref))
			assert_true(each->begun);
}

static void whatever_memory_is_missing_nothing_is_lost(struct play *play)
{
	ROLES(play, roles);
	SCRIPT(play, steps);
	play_open(play);
	/* there are about 54 of them */
	play->base.heap.fail = play->base.heap.calls + 1 + play->seed % 64;
	a_bad_hour(play);
	assert_all_go_on(play);
	play->n_steps = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(whatever_memory_is_missing_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
