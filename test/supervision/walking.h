/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A family, and another thread that has its way with it wherever a walk over it
 * lets go of the lock: one leaves, fails, or comes. Both threads are stepped by
 * hand, one at a time, by the linker's leave: who goes to a cell seems to be
 * waited for, and the kernel call of who lends the lock is where the other one
 * runs.
 */
#ifndef WEIR_TEST_SUPERVISION_WALKING_H
#define WEIR_TEST_SUPERVISION_WALKING_H

#include "support.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <weir/completion.h>
#include <weir/loop.h>

#include "supervision/branch.h"

/* --- The family ----------------------------------------------------------- */

/* The top, its kids, theirs, and one who may come. */
enum { KIDS = 3, BELOW = 2, FIRST = 1, LAST = KIDS };
enum { GRAND = LAST + 1, SPARE = GRAND + KIDS * BELOW, N };

struct being {
	struct weir_actor actor;
	struct weir_actor_id ref;
	bool fails; /* it is to */
	bool up;    /* begun by a hook and not ended by one */
	bool there; /* it was spawned */
	bool finishes;
	bool pauses;  /* where it begins anew, once */
	bool stopped; /* others have asked it to */
	bool released;
	uint32_t starts;
};

struct work {
	const char *name;
	struct weir_strategy user, top;
	bool keeps; /* who restarts keeps its children */
	bool lasts; /* who is not stopped is there in the end */
	bool over;  /* nobody is: it drains */
	bool alone; /* siblings of who fails do not restart */
	void (*begin)(void);
};

enum deed {
	NOTHING,
	STOPS_ALL,
	FINISHES_ALL,
	STOPS, /* from here on it happens to somebody */
	FAILS,
	SPAWNS,
	IS_REPLACED,
	IS_REFUSED, /* by its executor, and leaves its children to another */
	N_DEEDS,
};

static struct {
	const struct work *work;
	enum deed deed;
	size_t victim;
	uint32_t place; /* where it happens: lends before it */
	uint32_t lends;
} now;

static struct weir_loop *near, *far;
static struct weir_system *systm;
static struct being beings[N];
static struct weir_ending drain;
static bool drained;

static void wrong(const char *what, int line)
{
	print_error("walk.c:%d: %s: %s, deed %d to %zu at %u\n", line, what,
		    now.work ? now.work->name : "", (int)now.deed, now.victim,
		    now.place);
	abort();
}

/* On any thread, which cmocka's are not for. */
#define CHECK(what) ((what) ? (void)0 : wrong(#what, __LINE__))

/* --- The other thread ----------------------------------------------------- */

static sem_t go, done;
static void (*command)(void);

/* Does what it is told until it is told to go on. */
static void serve(void)
{
	for (;;) {
		CHECK(sem_wait(&go) == 0);
		if (!command)
			return;
		command();
		CHECK(sem_post(&done) == 0);
	}
}

static bool far_paused;

/* It does nothing until other_goes_on(). */
static void pause_far(void)
{
	far_paused = true;
	CHECK(sem_post(&done) == 0);
	serve();
	far_paused = false;
}

static void *other(void *data)
{
	(void)data;
	serve();
	return NULL;
}

static void other_does(void (*what)(void))
{
	command = what;
	CHECK(sem_post(&go) == 0);
	CHECK(sem_wait(&done) == 0);
}

static void other_goes_on(void)
{
	if (far_paused)
		other_does(NULL);
}

/* The far loop's table, but it refuses one task. */
static const struct weir_executor_ops *far_ops;
static struct weir_executor_ops refusing_ops;
static struct weir_task *to_refuse;

static int submit_or_refuse(struct weir_executor *executor,
			    struct weir_task *task)
{
	if (task != to_refuse)
		return far_ops->submit(executor, task);
	to_refuse = NULL;
	return -EAGAIN;
}

static void make_far(void)
{
	struct weir_executor *executor;

	CHECK(weir_loop_new(&far, NULL) == 0);
	executor = weir_loop_executor(far);
	far_ops = executor->ops;
	refusing_ops = *far_ops;
	refusing_ops.submit = submit_or_refuse;
	executor->ops = &refusing_ops;
}

static void free_far(void)
{
	CHECK(weir_loop_free(far) == 0);
}

static bool far_ran;

static void run_far(void)
{
	while (weir_loop_run(far, 1000) > 0)
		far_ran = true;
}

static void run_both(void)
{
	do {
		far_ran = false;
		other_does(run_far);
	} while (weir_loop_run(near, 1000) > 0 || far_ran);
}

/* --- Steps ---------------------------------------------------------------- */

static __thread bool is_near;
static bool armed, far_armed;
static void (*at_lend)(void);
static uint32_t far_lends, far_place; /* where the other thread pauses */

struct weir__kin *__real_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* A walk's next step lends the lock. */
struct weir__kin *__wrap_weir__slots_at(const struct weir__slots *slots,
					uint32_t slot)
{
	if ((is_near ? armed : far_armed) && systm && slots == &systm->slots) {
		systm->lock.plain.word = 2;
		systm->lock.steps = WEIR__PIECE - 1;
	}
	return __real_weir__slots_at(slots, slot);
}

static void lent(void)
{
	armed = false;
	CHECK(weir__system_check(systm));
	if (now.lends++ == now.place)
		at_lend();
	CHECK(weir__system_check(systm));
	armed = true;
}

long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];
	size_t i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_futex || !systm ||
	    a[0] != (long)&systm->lock.plain.word)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4],
				      a[5]);
	if (a[1] != FUTEX_WAIT_PRIVATE)
		return 0;
	/* nobody else has it: it is lent */
	CHECK(a[2] == 0);
	if (is_near)
		lent();
	else if (far_lends++ == far_place)
		pause_far();
	return 0;
}

/* --- Its members ---------------------------------------------------------- */

static struct being *being_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct being, actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static int signalled(struct weir_actor *actor)
{
	struct being *being = being_of(actor);
	bool fails = being->fails;

	being->fails = false;
	if (being->finishes)
		return weir_actor_end(actor);
	return fails ? -EIO : 0;
}

static void released(struct weir_actor *actor)
{
	being_of(actor)->released = true;
}

static int begins(struct weir_actor *actor)
{
	struct being *being = being_of(actor);

	CHECK(!being->up);
	being->up = true;
	being->starts++;
	return 0;
}

static int begins_anew(struct weir_actor *actor, struct weir_error *error)
{
	struct being *being = being_of(actor);

	(void)error;
	if (being->pauses) {
		being->pauses = false;
		pause_far();
	}
	return begins(actor);
}

static int ends(struct weir_actor *actor, struct weir_error *error)
{
	(void)error;
	CHECK(being_of(actor)->up);
	being_of(actor)->up = false;
	return 0;
}

static const struct weir_rule restart = {.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_rule resume = {.directive = WEIR_DIRECTIVE_RESUME};
static const struct weir_rule stop = {.directive = WEIR_DIRECTIVE_STOP};
static const struct weir_rule escalate = {.directive = WEIR_DIRECTIVE_ESCALATE};
#define ALWAYS(rule) .rules = &(rule), .n_rules = 1
static const struct weir_limit often = {.max = 1000};
static const struct weir_strategy restarting = {ALWAYS(restart)};

/* The top's and the others', as the work says. */
static struct weir_lifecycle top_life, life;
static struct weir_actor_ops top_ops, ops;

static void set_ops(const struct work *work)
{
	life = (struct weir_lifecycle){
		.pre_start = begins,
		.pre_restart = work->keeps ? ends : NULL,
		.post_restart = begins_anew,
		.post_stop = ends,
		.strategy = &restarting,
	};
	top_life = life;
	top_life.strategy = &work->top;
	ops = (struct weir_actor_ops){
		.turns = no_turns,
		.signalled = signalled,
		.released = released,
		.lifecycle = &life,
	};
	top_ops = ops;
	top_ops.lifecycle = &top_life;
}

static void spawn_on(size_t i, struct weir_actor_id parent,
		     struct weir_loop *loop)
{
	struct being *being = &beings[i];
	int rc;

	*being = (struct being){.there = true};
	CHECK(weir_actor_init(&being->actor, i ? &ops : &top_ops,
			      weir_loop_executor(loop)) == 0);
	rc = weir_system_spawn(systm, parent, &being->actor, NULL, &being->ref);
	CHECK(rc == 0 || rc == -ESRCH || rc == -ESHUTDOWN);
	/* whose it would be stops or has ended */
	being->stopped = rc != 0;
	if (rc)
		weir_actor_stop(&being->actor);
}

static size_t parent_of(size_t i)
{
	return i < GRAND ? 0 : FIRST + (i - GRAND) / BELOW;
}

static void make(const struct work *work)
{
	const struct weir_system_options options = {
		.strategy = &work->user,
		.event = weir_supervision_event_ignore};
	size_t i;

	set_ops(work);
	drained = false;
	CHECK(weir_loop_new(&near, NULL) == 0);
	other_does(make_far);
	CHECK(weir_system_new(&systm, weir_loop_executor(near), &options) == 0);
	spawn_on(0, WEIR_ACTOR_ID_NONE, near);
	for (i = 1; i < SPARE; i++)
		spawn_on(i, beings[parent_of(i)].ref, far);
	beings[SPARE] = (struct being){.there = false};
	run_both();
}

static void end(void)
{
	weir_system_stop(systm);
	run_both();
	CHECK(weir_completion_done(weir_system_terminated(systm)));
	CHECK(weir_system_free(systm) == 0);
	systm = NULL;
	other_does(free_far);
	CHECK(weir_loop_free(near) == 0);
}

/* --- What happens meanwhile ----------------------------------------------- */

static void signal_one(size_t i)
{
	struct weir_actor *actor = weir_system_actor(systm, beings[i].ref);

	if (actor)
		weir_actor_signal(actor);
	weir_actor_unref(actor);
}

static void fail_one(size_t i)
{
	beings[i].fails = weir_system_is_alive(systm, beings[i].ref);
	signal_one(i);
}

/* And with it all below. */
static void will_stop(size_t i)
{
	size_t j;

	beings[i].stopped = true;
	for (j = 1; j < SPARE; j++)
		beings[j].stopped |= beings[parent_of(j)].stopped;
}

static void stop_one(size_t i)
{
	(void)weir_system_stop_actor(systm, beings[i].ref);
	will_stop(i);
}

static void stop_all(void)
{
	size_t i;

	for (i = FIRST; i <= LAST; i++)
		stop_one(i);
}

static void finish_all(void)
{
	size_t i;

	for (i = FIRST; i <= LAST; i++) {
		beings[i].finishes = true;
		signal_one(i);
		will_stop(i);
	}
}

/* If it is not on its way already. */
static void refuse_one(size_t i)
{
	to_refuse = &beings[i].actor.task;
	signal_one(i);
	if (!to_refuse)
		will_stop(i);
	to_refuse = NULL;
}

static void do_it(void)
{
	switch (now.deed) {
	case STOPS:
		stop_one(now.victim);
		break;
	case FAILS:
		fail_one(now.victim);
		break;
	case SPAWNS:
		spawn_on(SPARE, beings[now.victim].ref, far);
		break;
	case STOPS_ALL:
		stop_all();
		break;
	case FINISHES_ALL:
		finish_all();
		break;
	case IS_REPLACED:
		stop_one(now.victim);
		run_far();
		spawn_on(SPARE, beings[0].ref, far);
		break;
	case IS_REFUSED:
		/* the walk goes on while its children are still there */
		refuse_one(now.victim);
		return;
	case NOTHING:
	default:
		break;
	}
	run_far();
}

static void other_does_it(void)
{
	other_does(do_it);
}

/* --- What must be --------------------------------------------------------- */

/* Nothing that anybody still has to answer, to hear of or to do. */
static void is_at_rest(const struct being *being)
{
	const struct weir__cell *cell = weir__cell_of(&being->actor);

	CHECK(being->up && !being->released && !being->fails);
	CHECK(cell->state == WEIR__CELL_ALIVE && cell->suspends == 0);
	CHECK(cell->orders == 0 && cell->messages == 0 && cell->part == 0);
	CHECK(cell->work == WEIR__NO_CELL);
}

static void all_is_well(void)
{
	const struct being *being;
	bool alive;

	CHECK(!systm->walks.first);
	CHECK(drained == now.work->over);
	CHECK(drained || weir__system_check(systm));
	for (being = beings; being < beings + N; being++) {
		alive = being->there && weir_system_is_alive(systm, being->ref);
		CHECK(!alive || !being->stopped);
		CHECK(alive || being->released || !being->there);
		CHECK(alive || !being->up);
		if (alive)
			is_at_rest(being);
		if (now.work->lasts && being->there && !being->stopped &&
		    (being != &beings[SPARE] || !beings[now.victim].stopped ||
		     now.deed == IS_REPLACED))
			CHECK(alive);
	}
	/* each is restarted as often as there are reasons */
	for (being = beings; now.deed == NOTHING && being < beings + N; being++)
		CHECK(being->starts <= 2);
	for (being = beings + FIRST + 1; being < beings + GRAND; being++)
		CHECK(!now.work->alone || now.deed == FAILS ||
		      being->starts == 1);
}

static void run_once(const struct work *work)
{
	make(work);
	now.lends = 0;
	at_lend = other_does_it;
	work->begin();
	armed = true;
	run_both();
	armed = false;
	all_is_well();
	end();
}

/* At each place where the lock is lent. */
static void everywhere(const struct work *work, enum deed deed, size_t victim)
{
	now.work = work;
	now.deed = deed;
	now.victim = victim;
	now.place = 0;
	do {
		run_once(work);
		CHECK(now.lends > 0 || work->alone);
	} while (now.place++ < now.lends);
}

static void goes_on_whatever_happens(const struct work *work)
{
	static const size_t victims[] = {0,    FIRST, FIRST + 1,
					 LAST, GRAND, SPARE - 1};
	enum deed deed;
	size_t i;

	for (deed = NOTHING; deed < STOPS; deed++)
		everywhere(work, deed, 0);
	for (deed = STOPS; deed < N_DEEDS; deed++)
		for (i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
			if (deed < IS_REPLACED || victims[i])
				everywhere(work, deed, victims[i]);
}

#endif
