/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executors are freed as soon as the last of their actors is on its way out:
 * its `released` has told somebody that all is over, and not yet returned.
 * Here that waits, on whatever thread it runs, until the free is under way.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#include <weir/weir.h>

#include "executor/places.h"
#include "executor/registry.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* Whose actor leaves, and whether on a thread of its own or on another. */
static const struct way {
	const struct kind *kind;
	bool own;
} ways[] = {
	{&threads, true},   {&threads, false}, {&blocking, true},
	{&blocking, false}, {&loop, false},    {&sim, false},
	{&direct, false},
};

/* --- Actors that leave slowly --------------------------------------------- */

struct leaver {
	struct weir_actor actor;
	struct place *place;
	void (*acts)(struct leaver *self); /* while it leaves, or NULL */
	struct leaver *other;		   /* whom it acts on */
	bool slow;			   /* it waits for the free */
	uint32_t leaving, told;		   /* atomic: it is; it need not wait */
	uint32_t acted;			   /* atomic */
	int rc;				   /* of what it did */
	bool gone;			   /* plain: the free orders it */
	pthread_t dropper;
};

static void wait_for(const uint32_t *word)
{
	while (!ck_pr_load_32(word))
		sched_yield();
	ck_pr_fence_acquire();
}

static bool awaited(struct place *place)
{
	return ck_pr_load_32(&place->executor->registry->phase) & WEIR__AWAITED;
}

static void leave(struct leaver *self)
{
	ck_pr_fence_release();
	ck_pr_store_32(&self->leaving, 1);
	while (self->slow && !awaited(self->place) &&
	       !ck_pr_load_32(&self->told))
		sched_yield();
	if (self->acts)
		self->acts(self);
	ck_pr_fence_release();
	ck_pr_store_32(&self->acted, 1);
	self->gone = true;
}

static void leaver_released(struct weir_actor *actor)
{
	leave(weir_container_of(actor, struct leaver, actor));
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static const struct weir_actor_ops leaver_ops = {
	.turns = no_turns,
	.released = leaver_released,
};

/* Ended, and the caller's reference is its last. */
static void leaver_end(struct leaver *self, struct place *place)
{
	self->place = place;
	assert_int_equal(
		weir_actor_init(&self->actor, &leaver_ops, place->executor), 0);
	(void)weir_actor_ref(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	weir_actor_stop(&self->actor);
	while (ck_pr_load_32(&self->actor.refs) > 1) {
		place->kind->drive(place);
		sched_yield();
	}
	ck_pr_fence_acquire();
}

static void *drop(void *actor)
{
	weir_actor_unref(actor);
	return NULL;
}

/* Returns when it leaves, on a thread of its place's or on another. */
static void leaver_begin(struct leaver *self, struct place *place, bool own)
{
	if (own) {
		self->place = place;
		assert_int_equal(weir_actor_init(&self->actor, &leaver_ops,
						 place->executor),
				 0);
		assert_int_equal(weir_actor_start(&self->actor), 0);
		weir_actor_stop(&self->actor);
	} else {
		leaver_end(self, place);
		assert_int_equal(pthread_create(&self->dropper, NULL, drop,
						&self->actor),
				 0);
	}
	wait_for(&self->leaving);
}

/* It need not wait any more. */
static void leaver_let_go(struct leaver *self, bool own)
{
	ck_pr_store_32(&self->told, 1);
	if (!own)
		assert_int_equal(pthread_join(self->dropper, NULL), 0);
}

static void free_its_place(struct leaver *self)
{
	self->rc = self->place->kind->free(self->place);
}

static void free_the_others_place(struct leaver *self)
{
	self->rc = self->other->place->kind->free(self->other->place);
}

static void start_the_other(struct leaver *self)
{
	self->rc = weir_actor_start(&self->other->actor);
}

/* --- Tests ---------------------------------------------------------------- */

static void a_free_waits_for_who_is_leaving(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(ways); i++) {
		struct leaver leaver = {.slow = true};
		struct place place;
		bool gone;
		int rc;

		place_make(&place, ways[i].kind);
		leaver_begin(&leaver, &place, ways[i].own);
		rc = place.kind->free(&place);
		gone = rc == 0 && leaver.gone;
		leaver_let_go(&leaver, ways[i].own);
		assert_int_equal(rc, 0);
		assert_true(gone);
	}
}

static void who_is_leaving_cannot_free_what_it_leaves(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(ways); i++) {
		struct leaver leaver = {.acts = free_its_place};
		struct place place;

		place_make(&place, ways[i].kind);
		leaver_begin(&leaver, &place, ways[i].own);
		assert_int_equal(place.kind->free(&place), 0);
		assert_int_equal(leaver.rc, ways[i].own ? -EDEADLK : -EBUSY);
		leaver_let_go(&leaver, ways[i].own);
	}
}

/* They could wait for each other. */
static void who_is_leaving_waits_for_nobody(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(ways); i++) {
		struct leaver other = {.slow = true};
		struct leaver leaver = {.acts = free_the_others_place,
					.other = &other};
		struct place place, others;

		place_make(&others, ways[i].kind);
		place_make(&place, &direct);
		leaver_end(&leaver, &place);
		leaver_begin(&other, &others, ways[i].own);
		weir_actor_unref(&leaver.actor);
		assert_int_equal(leaver.rc, -EBUSY);
		leaver_let_go(&other, ways[i].own);
		assert_int_equal(others.kind->free(&others), 0);
		assert_int_equal(place.kind->free(&place), 0);
	}
}

static void who_is_started_meanwhile_keeps_the_executor(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(ways); i++) {
		struct leaver next = {0};
		struct leaver leaver = {
			.slow = true, .acts = start_the_other, .other = &next};
		struct place place;

		if (ways[i].kind == &sim)
			continue; /* one thread's alone */
		place_make(&place, ways[i].kind);
		next.place = &place;
		assert_int_equal(weir_actor_init(&next.actor, &leaver_ops,
						 place.executor),
				 0);
		(void)weir_actor_ref(&next.actor);
		leaver_begin(&leaver, &place, ways[i].own);
		assert_int_equal(place.kind->free(&place), -EBUSY);
		wait_for(&leaver.acted);
		leaver_let_go(&leaver, ways[i].own);
		/* Nothing has changed. */
		assert_int_equal(leaver.rc, 0);
		weir_actor_stop(&next.actor);
		while (ck_pr_load_32(&next.actor.refs) > 1) {
			place.kind->drive(&place);
			sched_yield();
		}
		weir_actor_unref(&next.actor);
		assert_int_equal(place.kind->free(&place), 0);
		assert_true(next.gone);
	}
}

/* An actor whose handler frees a place. */
struct freer {
	struct weir_actor actor;
	struct place *frees;
	int rc;
	struct weir_latch done;
};

static int freer_signalled(struct weir_actor *actor)
{
	struct freer *self = weir_container_of(actor, struct freer, actor);

	self->rc = self->frees->kind->free(self->frees);
	return weir_actor_end(actor);
}

static void freer_released(struct weir_actor *actor)
{
	struct freer *self = weir_container_of(actor, struct freer, actor);

	(void)weir_latch_count_down(&self->done, 1);
}

static const struct weir_actor_ops freer_ops = {
	.turns = no_turns,
	.signalled = freer_signalled,
	.released = freer_released,
};

/* Of an actor on an executor of that kind, which frees one left slowly. */
static int free_in_a_slice(const struct kind *kind)
{
	struct leaver leaver = {.slow = true};
	struct place left, place;
	struct freer freer = {.frees = &left};

	place_make(&left, &direct);
	place_make(&place, kind);
	leaver_begin(&leaver, &left, false);
	assert_int_equal(weir_latch_init(&freer.done, 1), 0);
	assert_int_equal(
		weir_actor_init(&freer.actor, &freer_ops, place.executor), 0);
	assert_int_equal(weir_actor_start(&freer.actor), 0);
	weir_actor_signal(&freer.actor);
	place.kind->drive(&place);
	assert_int_equal(
		weir_completion_wait(&freer.done.completion, WEIR_FOREVER), 0);
	assert_int_equal(weir_latch_fini(&freer.done), 0);
	assert_int_equal(place.kind->free(&place), 0);
	leaver_let_go(&leaver, false);
	if (freer.rc < 0)
		assert_int_equal(left.kind->free(&left), 0);
	return freer.rc;
}

static void a_slice_waits_only_where_it_may_block(void **state)
{
	assert_int_equal(free_in_a_slice(&threads), -EBUSY);
	assert_int_equal(free_in_a_slice(&direct), -EBUSY);
	assert_int_equal(free_in_a_slice(&blocking), 0);
}

/* Frees the executor where a drain of it has ended a system. */
struct ender {
	struct weir_await over;
	struct weir_ending drain;
	struct place place;
	uint32_t drained;
	int rc;
};

static void system_over(struct weir_await *over,
			struct weir_completion *completion)
{
	struct ender *self = weir_container_of(over, struct ender, over);

	self->rc = self->place.kind->free(&self->place);
}

static void drain_over(struct weir_ending *drain)
{
	weir_container_of(drain, struct ender, drain)->drained++;
}

static void a_drain_does_not_wait_for_itself(void **state)
{
	struct ender ender = {.over.done = system_over,
			      .drain.done = drain_over};
	struct weir_system *system;

	place_make(&ender.place, &direct);
	ender.place.direct.at_once = true;
	assert_int_equal(weir_system_new(&system, ender.place.executor, NULL),
			 0);
	assert_int_equal(weir_completion_wait_async(
				 weir_system_terminated(system), &ender.over),
			 0);
	assert_int_equal(weir_executor_end_async(ender.place.executor,
						 &ender.drain, WEIR_FOREVER),
			 0);
	assert_int_equal(ender.rc, -EBUSY);
	assert_int_equal(ender.drained, 1);
	assert_int_equal(weir_system_free(system), 0);
	assert_int_equal(ender.place.kind->free(&ender.place), 0);
}

/* --- Many, at any moment -------------------------------------------------- */

#define CROWD 6

/* Each holds one on the other executor, and lets go of it when it leaves. */
struct member {
	struct weir_actor actor;
	struct weir_actor *holds;
	struct weir_latch *left;
};

static void member_released(struct weir_actor *actor)
{
	struct member *self = weir_container_of(actor, struct member, actor);

	weir_actor_unref(self->holds);
	(void)weir_latch_count_down(self->left, 1);
}

static const struct weir_actor_ops member_ops = {
	.turns = no_turns,
	.released = member_released,
};

static void crowd_runs(struct weir_executor *executors[2])
{
	struct member members[CROWD];
	struct weir_latch left;
	size_t i;

	assert_int_equal(weir_latch_init(&left, CROWD), 0);
	for (i = 0; i < CROWD; i++) {
		members[i].left = &left;
		members[i].holds = i ? &members[i - 1].actor : NULL;
		assert_int_equal(weir_actor_init(&members[i].actor, &member_ops,
						 executors[i % 2]),
				 0);
		(void)weir_actor_ref(members[i].holds);
	}
	for (i = 0; i < CROWD; i++)
		assert_int_equal(weir_actor_start(&members[i].actor), 0);
	for (i = CROWD; i-- > 0;)
		weir_actor_stop(&members[i].actor);
	assert_int_equal(weir_completion_wait(&left.completion, WEIR_FOREVER),
			 0);
	assert_int_equal(weir_latch_fini(&left), 0);
}

static void executors_go_when_their_last_actor_says_so(void **state)
{
	static const struct kind *const kinds[] = {&threads, &blocking, &loop};
	uint64_t i, n = test_count(1000);

	for (i = 0; i < n; i++) {
		struct place first, second;

		place_make(&first, &threads);
		place_make(&second, kinds[i % LENGTH(kinds)]);
		crowd_runs((struct weir_executor *[]){first.executor,
						      second.executor});
		assert_int_equal(second.kind->free(&second), 0);
		assert_int_equal(first.kind->free(&first), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_free_waits_for_who_is_leaving),
		cmocka_unit_test(who_is_leaving_cannot_free_what_it_leaves),
		cmocka_unit_test(who_is_leaving_waits_for_nobody),
		cmocka_unit_test(who_is_started_meanwhile_keeps_the_executor),
		cmocka_unit_test(a_slice_waits_only_where_it_may_block),
		cmocka_unit_test(a_drain_does_not_wait_for_itself),
		cmocka_unit_test(executors_go_when_their_last_actor_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
