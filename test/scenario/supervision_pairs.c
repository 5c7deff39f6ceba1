/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two things happen to an actor one after the other, any two, in each state of
 * its life: it is stopped, poisoned, killed, it or its parent fails, a child
 * ends, its executor drains. Whatever comes of both, hooks come in pairs, each
 * item is delivered or dropped, who was to end has ended, who waits for that is
 * told once, and nothing is left over.
 *
 * The actor is x: below p, beside y, with a child c, which has a child d. y and
 * c may be on another executor. Between the two things the play makes some
 * steps, or all there are.
 */
#include "supervision/kit.h"

/* The items that make somebody do something; the first of two, or the second. */
enum {
	X_FAILS = 10,
	X_RESUMES = 12,
	X_ESCALATES = 14,
	X_STOPS = 16,
	X_FINISHES = 18,
	P_FAILS = 20,
	P_RESUMES = 22,
	C_FAILS = 24,
	C_ESCALATES = 26,
	/* the end of those who take their time */
	LAST_OF_X = 30,
	LAST_OF_C = 31,
	/* what makes x what it is at first */
	FIRST_OF_X = 32,
};

#define TWICE(who, item, ...) \
	{who, TURN, (item), __VA_ARGS__}, \
	{ \
		who, TURN, (item) + 1, __VA_ARGS__ \
	}

static void act_inside(struct member *x);

static const struct step steps[] = {
	TWICE("x", X_FAILS, .fail = RESTART),
	TWICE("x", X_RESUMES, .fail = RESUME),
	TWICE("x", X_ESCALATES, .fail = ESCALATE),
	TWICE("x", X_STOPS, .fail = STOP),
	TWICE("x", X_FINISHES, .finish = true),
	TWICE("p", P_FAILS, .fail = RESTART),
	TWICE("p", P_RESUMES, .fail = RESUME),
	TWICE("c", C_FAILS, .fail = RESTART),
	TWICE("c", C_ESCALATES, .fail = ESCALATE),
	{"x", TURN, LAST_OF_X, .finish = true},
	{"c", TURN, LAST_OF_C, .finish = true},
	{"x", TURN, FIRST_OF_X, .fail = RESTART},
	{"x", TURN, FIRST_OF_X + 1, .fail = ESCALATE},
	{"x", STOPPING, .rc = 1},
	{"c", STOPPING, .rc = 1},
	{"x", PRE_START, .generation = 2, .call = act_inside},
	{"x", POST_RESTART, .generation = 2, .call = act_inside},
};

/* --- What happens --------------------------------------------------------- */

enum act {
	NOTHING,
	STOP_X,
	STOP_BY_ADDRESS,
	STOP_IN_TIME,
	POISON_X,
	KILL_X,
	FAIL_X,
	RESUME_X,
	ESCALATE_X,
	STOP_FAILING_X,
	FINISH_X,
	STOP_P,
	KILL_P,
	FAIL_P,
	RESUME_P,
	STOP_C,
	FAIL_C,
	ESCALATE_C,
	SPAWN_BELOW_X,
	DRAIN,
	DRAIN_FAR,
	ABORT,
	STOP_SYSTEM,
	ACTS,
};

static const char *const act_names[ACTS] = {
	"nothing",	  "stop x",	 "stop x by its address",
	"stop x in time", "poison x",	 "kill x",
	"fail x",	  "resume x",	 "escalate x",
	"stop failing x", "finish x",	 "stop p",
	"kill p",	  "fail p",	 "resume p",
	"stop c",	  "fail c",	 "escalate c",
	"spawn below x",  "drain",	 "drain far",
	"abort",	  "stop system",
};

/* The item that does it, if an item does. */
static const struct {
	const char *who;
	size_t item;
} items[ACTS] = {
	[FAIL_X] = {"x", X_FAILS},	   [RESUME_X] = {"x", X_RESUMES},
	[ESCALATE_X] = {"x", X_ESCALATES}, [STOP_FAILING_X] = {"x", X_STOPS},
	[FINISH_X] = {"x", X_FINISHES},	   [FAIL_P] = {"p", P_FAILS},
	[RESUME_P] = {"p", P_RESUMES},	   [FAIL_C] = {"c", C_FAILS},
	[ESCALATE_C] = {"c", C_ESCALATES},
};

/* x ends by it, whatever else there is; the system does. */
static const bool ends_x[ACTS] = {
	[STOP_X] = true,   [STOP_BY_ADDRESS] = true, [STOP_IN_TIME] = true,
	[POISON_X] = true, [STOP_P] = true,	     [DRAIN] = true,
	[ABORT] = true,	   [STOP_SYSTEM] = true,
};
static const bool ends_all[ACTS] = {
	[DRAIN] = true,
	[ABORT] = true,
	[STOP_SYSTEM] = true,
};

/* --- The case ------------------------------------------------------------- */

struct plan {
	enum weir__cell_state state; /* in which the first comes */
	enum act acts[2];
	bool far;     /* y and c are on another executor */
	bool ordered; /* p has one child begin anew after the other */
	/* what waits for ends */
	struct weir_graceful_stop stops[2];
	struct weir_ending endings[3];
	struct weir_watcher watcher;
	uint32_t told, done, n_stops, n_endings;
};

static struct plan plan;

static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};
static const struct weir_strategy slow = {BY_CODE, .backoff = &one_second};
static const struct weir_strategy slow_by_turns = {
	BY_CODE,
	.backoff = &one_second,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.ordered = true,
};

static void x_ended(struct weir_watcher *watcher,
		    const struct weir_terminated *notice)
{
	plan.told++;
}

static void stop_done(struct weir_graceful_stop *stop, int rc)
{
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	plan.done++;
}

static void ending_done(struct weir_ending *ending)
{
	assert_int_equal(ending->actors_left, 0);
	plan.done++;
}

static void end_executor(struct weir_sim *sim, bool abort)
{
	struct weir_ending *ending = &plan.endings[plan.n_endings];
	int rc;

	*ending = (struct weir_ending){.done = ending_done};
	rc = (abort ? weir_executor_stop_async : weir_executor_end_async)(
		weir_sim_executor(sim), ending, WEIR_FOREVER);
	assert_int_equal(rc, 0);
	plan.n_endings++;
}

static void stop_in_time(struct play *play)
{
	struct weir_graceful_stop *stop = &plan.stops[plan.n_stops++];

	stop->done = stop_done;
	assert_int_equal(weir_system_stop_actor_async(
				 play->base.system, ref(play, "x"),
				 weir_sim_random(play->base.sim, 2), stop,
				 world_now(&play->base) + SECOND / 2),
			 0);
}

/* A thing comes too late if x or c has ended. */
static void act(struct play *play, size_t i)
{
	struct weir_system *system = play->base.system;
	const enum act what = plan.acts[i];

	if (items[what].who)
		(void)put(play, items[what].who, items[what].item + i,
			  items[what].item + i);
	switch (what) {
	case STOP_X:
		(void)weir_system_stop_actor(system, ref(play, "x"));
		break;
	case STOP_BY_ADDRESS:
		if (alive(play, "x"))
			weir_actor_stop(&member(play, "x")->actor);
		break;
	case STOP_IN_TIME:
		stop_in_time(play);
		break;
	case POISON_X:
		(void)weir_system_poison(system, ref(play, "x"));
		break;
	case KILL_X:
		(void)weir_system_kill(system, ref(play, "x"));
		break;
	case STOP_P:
		(void)weir_system_stop_actor(system, ref(play, "p"));
		break;
	case KILL_P:
		(void)weir_system_kill(system, ref(play, "p"));
		break;
	case STOP_C:
		(void)weir_system_stop_actor(system, ref(play, "c"));
		break;
	case SPAWN_BELOW_X:
		(void)spawn(play, ref(play, "x"), i ? "new" : "newer");
		break;
	case DRAIN:
	case ABORT:
		end_executor(play->base.sim, what == ABORT);
		break;
	case DRAIN_FAR:
		if (play->far)
			end_executor(play->far, false);
		break;
	case STOP_SYSTEM:
		weir_system_stop(system);
		break;
	default:
		break;
	}
}

/* In the only state that is none between slices. */
static void act_inside(struct member *x)
{
	if (plan.state == WEIR__CELL_RENEWING)
		act(x->play, 0);
}

/* --- The states ----------------------------------------------------------- */

static uint8_t state_of_x(struct play *play)
{
	bool held = weir__enter(&play->base.system->lock);
	const struct weir__cell *cell =
		weir__cell_find(play->base.system, ref(play, "x"));
	uint8_t state = cell ? cell->state : WEIR__CELL_ENDED;

	weir__leave(&play->base.system->lock, held);
	return state;
}

/* What has to happen for x to come to that state. */
static void lead(struct play *play)
{
	switch (plan.state) {
	case WEIR__CELL_FAILED:
	case WEIR__CELL_DELAYED:
	case WEIR__CELL_DUE:
	case WEIR__CELL_RESTARTING:
	case WEIR__CELL_HALTED:
	case WEIR__CELL_RENEWING:
		assert_int_equal(put(play, "x", FIRST_OF_X, FIRST_OF_X), 0);
		break;
	case WEIR__CELL_ESCALATED:
		assert_int_equal(put(play, "x", FIRST_OF_X + 1, FIRST_OF_X + 1),
				 0);
		break;
	case WEIR__CELL_FINISHING:
		stop(play, "x");
		break;
	case WEIR__CELL_ENDED:
		assert_int_equal(put(play, "c", LAST_OF_C, LAST_OF_C), 0);
		weir_actor_stop(&member(play, "x")->actor);
		run(play);
		break;
	case WEIR__CELL_STOPPING:
		weir_actor_stop(&member(play, "x")->actor);
		break;
	case WEIR__CELL_DRAINING:
		end_executor(play->base.sim, false);
		break;
	default:
		break;
	}
}

static void set_up(struct play *play)
{
	static const struct weir_strategy *const strategies[] = {
		&slow, &slow_by_turns};
	static struct role roles[5];

	plan.n_stops = plan.n_endings = plan.told = plan.done = 0;
	roles[0] = (struct role){"p", .strategy = strategies[plan.ordered]};
	roles[1] = (struct role){"x", USUAL | HOOK(STOPPING),
				 .peeks = play->seed & 1};
	roles[2] = (struct role){"c", USUAL | HOOK(STOPPING), .far = true};
	roles[3] = (struct role){"y", .far = true};
	roles[4] = (struct role){"d", PLAIN};
	/* its children stop when it restarts, or restart with it */
	if ((play->seed & 2) || plan.state == WEIR__CELL_RESTARTING)
		roles[1].hooks = PLAIN | HOOK(STOPPING);
	ROLES(play, roles);
	SCRIPT(play, steps);
	play->top = &slow;
	if (plan.far)
		play->far = sim_new(play->seed);
	add(play, NULL, "p");
	add(play, "p", "y");
	run(play);
}

/* Makes x what the case says. */
static void reach(struct play *play)
{
	add(play, "p", "x");
	plan.watcher = (struct weir_watcher){.terminated = x_ended};
	assert_int_equal(weir_watcher_add(play->base.system, ref(play, "x"),
					  &plan.watcher),
			 0);
	add(play, "x", "c");
	add(play, "c", "d");
	if (plan.state == WEIR__CELL_STARTING)
		return;
	run(play);
	assert_int_equal(put(play, "x", 1, 3), 0);
	assert_int_equal(put(play, "c", 4, 5), 0);
	lead(play);
	if (plan.state == WEIR__CELL_RENEWING)
		run(play);
	else
		while (state_of_x(play) != plan.state)
			/* what drains waits for those elsewhere */
			assert_true(plan.state == WEIR__CELL_DRAINING
					    ? weir_sim_step(play->base.sim)
					    : play_step(play));
}

/* --- What must hold ------------------------------------------------------- */

/* Those who take their time may end now. */
static void let_go(struct play *play)
{
	run(play);
	(void)put(play, "x", LAST_OF_X, LAST_OF_X);
	(void)put(play, "c", LAST_OF_C, LAST_OF_C);
	run(play);
}

static bool is(const bool *of)
{
	return of[plan.acts[0]] || of[plan.acts[1]];
}

static void check(struct play *play)
{
	if (is(ends_x))
		assert_false(alive(play, "x"));
	if (!alive(play, "x"))
		assert_int_equal(plan.told, 1);
	if (is(ends_all) || plan.state == WEIR__CELL_DRAINING)
		assert_true(weir_completion_done(
			weir_system_terminated(play->base.system)));
	assert_true(times(play, "x1.stopping") + times(play, "x2.stopping") +
			    times(play, "x3.stopping") <=
		    1);
	play_end(play);
	assert_int_equal(plan.told, 1);
	assert_int_equal(plan.done, plan.n_stops + plan.n_endings);
}

static void play(struct play *play)
{
	size_t n;

	set_up(play);
	reach(play);
	if (plan.state != WEIR__CELL_RENEWING)
		act(play, 0);
	n = weir_sim_random(play->base.sim, 12);
	if (n == 11)
		run(play);
	else
		while (n-- && play_step(play))
			;
	act(play, 1);
	let_go(play);
	check(play);
}

static void each_pair_in_the_state(void **state)
{
	const enum weir__cell_state from = *(enum weir__cell_state *)*state;
	size_t first, second;

	for_each_seed(seed, test_count(test_soak() ? 400 : 40)) {
		for (first = 0; first < ACTS; first++)
			for (second = 0; second < ACTS; second++) {
				plan.state = from;
				plan.acts[0] = first;
				plan.acts[1] = second;
				plan.far = from == WEIR__CELL_DRAINING ||
					   (seed & 4);
				plan.ordered = from == WEIR__CELL_HALTED ||
					       (seed & 8);
				play_begin(&the_play, seed);
				play(&the_play);
			}
	}
	the_play.seed = 0;
}

static int tell_pair(void **state)
{
	if (the_play.seed)
		print_message("%s, then %s\n", act_names[plan.acts[0]],
			      act_names[plan.acts[1]]);
	return tell_trace(state);
}

#define IN(state) \
	{ \
		"each_pair_in_" #state, each_pair_in_the_state, NULL, \
			tell_pair, &(enum weir__cell_state) \
		{ \
			WEIR__CELL_##state \
		} \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN(STARTING), IN(ALIVE),    IN(FINISHING), IN(FAILED),
		IN(DELAYED),  IN(DUE),	    IN(ESCALATED), IN(RESTARTING),
		IN(HALTED),   IN(RENEWING), IN(DRAINING),  IN(STOPPING),
		IN(ENDED),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
