/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child process frees what it inherited, of every kind, whatever the parent's
 * threads were doing at the fork: nobody is there to finish it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/places.h"

#include <ck_pr.h>

#include "base/lock.h"
#include "executor/registry.h"

#define HOUR UINT64_C(3600000000000)
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define WATCHES 40 /* of as many descriptors, so that arrays grow */

static const struct kind *const kinds[] = {&threads, &blocking, &loop, &sim};

/* Frees it and ends: 0, or 1 if that did not say 0; or is killed. */
static pid_t child_frees(struct place *place)
{
	pid_t child = fork();

	if (child)
		return child;
	(void)alarm(5);
	_exit(place->kind->free(place) != 0);
}

static void assert_freed(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void released(struct weir_actor *actor);

static int ends(struct weir_actor *actor)
{
	return weir_actor_end(actor);
}

static const struct weir_actor_ops quiet_ops = {.turns = no_turns};
static const struct weir_actor_ops ops = {
	.turns = no_turns,
	.signalled = ends,
	.released = released,
};

/* --- At a known moment ---------------------------------------------------- */

struct forker {
	struct place *place;
	pid_t child;
};

static void *fork_elsewhere(void *context)
{
	struct forker *self = context;

	self->child = child_frees(self->place);
	return NULL;
}

/* Another thread than the one that has made it forks. */
static void a_child_frees_what_is_locked_and_alive(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(kinds); i++) {
		struct weir_actor actor;
		struct place place;
		struct forker forker = {.place = &place};
		pthread_t thread;

		place_make(&place, kinds[i]);
		assert_int_equal(
			weir_actor_init(&actor, &quiet_ops, place.executor), 0);
		(void)weir_actor_ref(&actor);
		assert_int_equal(weir_actor_start(&actor), 0);
		weir__lock(&place.executor->registry->lock);
		assert_int_equal(pthread_create(&thread, NULL, fork_elsewhere,
						&forker),
				 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		weir__unlock(&place.executor->registry->lock);
		assert_freed(forker.child);
		weir_actor_stop(&actor);
		while (ck_pr_load_32(&actor.refs) > 1)
			place.kind->drive(&place);
		weir_actor_unref(&actor);
		assert_int_equal(place.kind->free(&place), 0);
	}
}

/* A descriptor that is watched, and fires whenever something has come. */
struct watched {
	struct weir_watch watch;
	int ends[2];
	uint32_t fired, over; /* atomic */
};

static void note_fire(struct weir_watch *watch, short events)
{
	struct watched *self = weir_container_of(watch, struct watched, watch);

	ck_pr_inc_32(events ? &self->fired : &self->over);
}

static void watched_begin(struct watched *self)
{
	*self = (struct watched){
		.watch = {.fire = note_fire, .events = POLLIN, .edges = true}};
	assert_int_equal(pipe(self->ends), 0);
	self->watch.fd = self->ends[0];
}

static void watched_fires(struct watched *self, struct place *place,
			  uint32_t times)
{
	assert_int_equal(write(self->ends[1], "x", 1), 1);
	while (ck_pr_load_32(&self->fired) < times)
		place->kind->drive(place);
}

static void watched_end(struct watched *self, struct place *place)
{
	if (!place->executor->ops->watch_cancel(place->executor, &self->watch))
		while (!ck_pr_load_32(&self->over))
			place->kind->drive(place);
	close(self->ends[0]);
	close(self->ends[1]);
}

/* Where there are threads, the child may also ask. 0: all was as it should be.
 */
static int child_leaves_watches(struct place *place, struct watched *self)
{
	struct weir_watch other = {.fire = note_fire, .fd = self->ends[1]};
	const struct weir_executor_ops *of = place->executor->ops;

	if (place->kind->has_threads &&
	    (of->watch_arm(place->executor, &other) != -ECHILD ||
	     of->watch_cancel(place->executor, &self->watch)))
		return 1;
	return place->kind->free(place) != 0;
}

/* The set of epoll is the same for both, and the parent's. */
static void a_child_leaves_descriptors_watched(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(kinds); i++) {
		struct watched watched;
		struct place place;
		pid_t child;

		place_make(&place, kinds[i]);
		watched_begin(&watched);
		assert_int_equal(place.executor->ops->watch_arm(place.executor,
								&watched.watch),
				 0);
		watched_fires(&watched, &place, 1);
		child = fork();
		if (child == 0) {
			(void)alarm(5);
			_exit(child_leaves_watches(&place, &watched));
		}
		assert_freed(child);
		watched_fires(&watched, &place, 2);
		watched_end(&watched, &place);
		assert_int_equal(place.kind->free(&place), 0);
	}
}

/* What it makes itself afterwards is its own. */
static void a_child_makes_and_frees_its_own(void **state)
{
	size_t i;

	for (i = 0; i < LENGTH(kinds); i++) {
		struct place place;
		pid_t child = fork();

		if (child == 0) {
			(void)alarm(5);
			place_make(&place, kinds[i]);
			_exit(place.kind->free(&place) != 0);
		}
		assert_freed(child);
	}
}

/* --- At any moment -------------------------------------------------------- */

/* A thread that starts actors and arms timers and watches, over and over. */
struct busy {
	struct weir_actor actor;
	struct place place;
	struct weir_timer timer;
	struct weir_watch watches[WATCHES];
	int fds[WATCHES][2];
	uint32_t gone, stop; /* atomic */
	uint32_t there;	     /* atomic: the place is, and is not being freed */
	pthread_t thread;
};

static void released(struct weir_actor *actor)
{
	struct busy *self = weir_container_of(actor, struct busy, actor);

	ck_pr_fence_release();
	ck_pr_store_32(&self->gone, 1);
}

static void no_timer(struct weir_timer *timer)
{
}

static void no_watch(struct weir_watch *watch, short events)
{
}

static void arm_and_cancel(struct busy *self)
{
	struct weir_executor *executor = self->place.executor;
	int i;

	(void)weir_timer_arm(executor, &self->timer,
			     weir_executor_now(executor) + HOUR);
	for (i = 0; i < WATCHES; i++)
		(void)executor->ops->watch_arm(executor, &self->watches[i]);
	for (i = 0; i < WATCHES; i++)
		(void)executor->ops->watch_cancel(executor, &self->watches[i]);
	(void)weir_timer_cancel(executor, &self->timer);
}

static void start_and_end(struct busy *self)
{
	ck_pr_store_32(&self->gone, 0);
	assert_int_equal(
		weir_actor_init(&self->actor, &ops, self->place.executor), 0);
	weir_actor_signal(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
	while (!ck_pr_load_32(&self->gone))
		self->place.kind->drive(&self->place);
	ck_pr_fence_acquire();
}

static void *be_busy(void *context)
{
	struct busy *self = context;
	int i;

	while (!ck_pr_load_32(&self->stop)) {
		place_make(&self->place, self->place.kind);
		/* release: the place; a child sees what was there */
		ck_pr_fence_release();
		ck_pr_store_32(&self->there, 1);
		for (i = 0; i < 10; i++)
			start_and_end(self);
		arm_and_cancel(self);
		ck_pr_store_32(&self->there, 0);
		ck_pr_fence_store();
		assert_int_equal(self->place.kind->free(&self->place), 0);
	}
	return NULL;
}

static void busy_begin(struct busy *self, const struct kind *kind)
{
	int i;

	*self = (struct busy){.place.kind = kind, .timer.fire = no_timer};
	for (i = 0; i < WATCHES; i++) {
		assert_int_equal(pipe(self->fds[i]), 0);
		self->watches[i] = (struct weir_watch){
			.fire = no_watch,
			.fd = self->fds[i][0],
			.events = POLLIN,
		};
	}
	assert_int_equal(pthread_create(&self->thread, NULL, be_busy, self), 0);
}

static void busy_end(struct busy *self)
{
	int i;

	ck_pr_store_32(&self->stop, 1);
	assert_int_equal(pthread_join(self->thread, NULL), 0);
	for (i = 0; i < WATCHES; i++) {
		close(self->fds[i][0]);
		close(self->fds[i][1]);
	}
}

static void a_child_frees_at_any_moment(void **state)
{
	uint64_t n = test_count(test_soak() ? 20000 : 100), k;
	size_t i;

	for (i = 0; i < LENGTH(kinds); i++) {
		struct busy busy;

		busy_begin(&busy, kinds[i]);
		for (k = 0; k < n; k++) {
			pid_t child = fork();

			if (child == 0) {
				(void)alarm(5);
				if (!ck_pr_load_32(&busy.there))
					_exit(0);
				_exit(kinds[i]->free(&busy.place) != 0);
			}
			assert_freed(child);
		}
		busy_end(&busy);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_frees_what_is_locked_and_alive),
		cmocka_unit_test(a_child_leaves_descriptors_watched),
		cmocka_unit_test(a_child_makes_and_frees_its_own),
		cmocka_unit_test(a_child_frees_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
