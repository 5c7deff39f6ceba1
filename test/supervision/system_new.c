/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a system is made, by executors that take it, refuse it or run it at once.
 */
#include "supervision/ending.h"

#include <weir/loop.h>

#include "supervision/cell.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* --- Chance --------------------------------------------------------------- */

/* What it would first draw for a jitter. */
static uint64_t first_draw(struct weir_executor *executor, uint64_t seed)
{
	const struct weir_system_options options = {.seed = seed};
	struct weir_system *system;
	uint64_t drawn;

	assert_int_equal(weir_system_new(&system, executor, &options), 0);
	drawn = weir__random(system);
	end_system(system);
	return drawn;
}

static void no_two_programs_draw_the_same_jitter(void **state)
{
	struct weir_executor *executor;
	struct weir_loop *loop;

	(void)state;
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	executor = weir_loop_executor(loop);
	assert_int_not_equal(first_draw(executor, 0), first_draw(executor, 0));
	assert_int_equal(first_draw(executor, 7), first_draw(executor, 7));
	assert_int_equal(weir_loop_free(loop), 0);
}

static uint64_t simulated_draw(uint64_t sim_seed, uint64_t seed)
{
	struct weir_sim *sim;
	uint64_t drawn;

	assert_int_equal(weir_sim_new(&sim, sim_seed, NULL), 0);
	drawn = first_draw(weir_sim_executor(sim), seed);
	assert_int_equal(weir_sim_free(sim), 0);
	return drawn;
}

static void a_simulator_repeats_the_jitter_of_its_seed(void **state)
{
	(void)state;
	assert_int_equal(simulated_draw(1, 0), simulated_draw(1, 0));
	assert_int_not_equal(simulated_draw(1, 0), simulated_draw(2, 0));
	assert_int_equal(simulated_draw(1, 7), simulated_draw(2, 7));
}

/* --- Being made ----------------------------------------------------------- */

static void bad_arguments_make_no_system(struct play *play)
{
	static const struct weir_strategy odd = {.scope = 77};
	const struct weir_system_options bad = {.strategy = &odd};
	struct weir_executor *executor = play->base.executor;
	struct weir_executor none = {.ops = NULL};
	struct weir_system_hook hook = {.run = told_run}, empty = {.run = NULL};
	struct weir_system *system = (void *)&hook;

	assert_int_equal(weir_system_new(NULL, executor, NULL), -EINVAL);
	assert_int_equal(weir_system_new(&system, NULL, &silent), -EINVAL);
	assert_null(system);
	assert_int_equal(weir_system_new(&system, &none, &silent), -EINVAL);
	system = (void *)&hook;
	assert_int_equal(weir_system_new(&system, executor, &bad), -EINVAL);
	assert_null(system);
	assert_int_equal(weir_system_before_end(NULL, &hook), -EINVAL);
	assert_int_equal(weir_system_at_termination(NULL, &hook), -EINVAL);
	play_open(play);
	system = play->base.system;
	assert_int_equal(weir_system_before_end(system, NULL), -EINVAL);
	assert_int_equal(weir_system_before_end(system, &empty), -EINVAL);
	assert_int_equal(weir_system_at_termination(system, &empty), -EINVAL);
	weir_system_hook_done(NULL);
	weir_system_stop(NULL);
	assert_int_equal(weir_system_free(NULL), 0);
	assert_null(weir_system_terminated(NULL));
	assert_true(weir_actor_id_equal(weir_system_root(NULL),
					WEIR_ACTOR_ID_NONE));
	assert_true(weir_actor_id_equal(weir_system_user_guardian(NULL),
					WEIR_ACTOR_ID_NONE));
	assert_true(weir_actor_id_equal(weir_system_system_guardian(NULL),
					WEIR_ACTOR_ID_NONE));
}

static void an_executor_that_has_ended_makes_no_system(struct play *play)
{
	struct weir_system *system = (void *)play;
	struct weir_ending drain;
	size_t live;

	drain_begin(play, &drain, play->seed % 2);
	run(play);
	live = play->base.heap.live;
	assert_int_equal(weir_system_new(&system, play->base.executor, &silent),
			 -ESHUTDOWN);
	assert_null(system);
	assert_int_equal(play->base.heap.live, live);
}

/* Each allocation fails once: also behind guardians that run already. */
static void a_system_without_memory_is_none(struct play *play)
{
	struct weir_executor_options options = {
		.allocator = &play->base.heap.allocator,
	};
	struct weir_system *system;
	struct weir_sim *sim;
	size_t n, live = play->base.heap.live;
	int rc;

	for (n = 1;; n++) {
		assert_int_equal(weir_sim_new(&sim, play->seed, &options), 0);
		play->base.heap.calls = 0;
		play->base.heap.fail = n;
		rc = weir_system_new(&system, weir_sim_executor(sim), &silent);
		play->base.heap.fail = 0;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(system);
		weir_sim_run(sim);
		sim_free(sim);
		assert_int_equal(play->base.heap.live, live);
	}
	assert_in_range(n, 6, 40);
	weir_system_stop(system);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(system), 0);
	sim_free(sim);
	assert_int_equal(play->base.heap.live, live);
}

/*
 * An executor that is run by hand, or runs at once, and refuses the
 * `refuse`-th submission (0: none), or all from then on.
 */
struct manual {
	struct weir_executor executor;
	struct weir_task *head, **tail;
	size_t submits, refuse;
	bool for_good, at_once;
	struct weir_system *look; /* at the next submission, for /user/found */
	bool found;
};

static bool is_found(struct weir_system *system, const char *path)
{
	return !weir_actor_id_equal(weir_system_lookup(system, path),
				    WEIR_ACTOR_ID_NONE);
}

static int manual_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct manual *self = (struct manual *)executor;

	if (self->look)
		self->found = is_found(self->look, "/user/found");
	self->look = NULL;
	if (++self->submits == self->refuse ||
	    (self->for_good && self->refuse && self->submits > self->refuse))
		return -EAGAIN;
	if (self->at_once) {
		weir_task_run(task);
		return 0;
	}
	task->next = NULL;
	*self->tail = task;
	self->tail = &task->next;
	return 0;
}

static uint64_t manual_now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops manual_ops = {
	.submit = manual_submit,
	.now = manual_now,
};

static void manual_init(struct manual *self, struct play *play)
{
	const struct weir_executor_options options = {
		.allocator = &play->base.heap.allocator,
	};

	*self = (struct manual){.tail = &self->head};
	assert_int_equal(
		weir_executor_init(&self->executor, &manual_ops, &options), 0);
}

static void manual_run(struct manual *self)
{
	struct weir_task *task;

	while ((task = self->head)) {
		self->head = task->next;
		if (!self->head)
			self->tail = &self->head;
		weir_task_run(task);
	}
}

static void a_system_whose_guardians_cannot_start_is_none(struct play *play)
{
	size_t n, live = play->base.heap.live;
	struct weir_system *system;
	struct manual manual;

	for (n = 1; n <= 3; n++) {
		manual_init(&manual, play);
		manual.refuse = n;
		assert_int_equal(weir_system_new(&system, &manual.executor,
						 &silent),
				 -EAGAIN);
		assert_null(system);
		manual_run(&manual);
		assert_int_equal(weir_executor_fini(&manual.executor), 0);
		assert_int_equal(play->base.heap.live, live);
	}
}

/*
 * Actors without ports, each the child of the one before; they may not start.
 */
struct line {
	struct weir_actor actors[3];
	struct weir_actor_id refs[3];
	uint32_t released;
};

static struct line line;

static uint32_t line_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void line_released(struct weir_actor *actor)
{
	line.released++;
}

static const struct weir_actor_ops line_ops = {
	.turns = line_turns,
	.released = line_released,
};

static void line_spawn(struct weir_system *system, struct manual *manual)
{
	struct weir_actor_id parent = weir_system_user_guardian(system);
	size_t i;
	int rc;

	memset(&line, 0, sizeof(line));
	for (i = 0; i < LENGTH(line.actors); i++) {
		assert_int_equal(weir_actor_init(&line.actors[i], &line_ops,
						 &manual->executor),
				 0);
		rc = weir_system_spawn(system, parent, &line.actors[i], NULL,
				       &line.refs[i]);
		if (rc < 0)
			weir_actor_stop(&line.actors[i]);
		else
			parent = line.refs[i];
	}
}

/*
 * Of a system's whole life, with actors or without; returns the submissions,
 * but for those of weir_system_new().
 */
static size_t refuse_one(struct play *play, size_t n, bool actors)
{
	struct weir_system *system;
	struct manual manual;

	manual_init(&manual, play);
	manual.refuse = n ? n + 3 : 0;
	manual.for_good = play->seed % 2;
	assert_int_equal(weir_system_new(&system, &manual.executor, &silent),
			 0);
	if (actors)
		line_spawn(system, &manual);
	manual_run(&manual);
	if (actors)
		(void)weir_system_stop_actor(system, line.refs[1]);
	manual_run(&manual);
	weir_system_stop(system);
	manual_run(&manual);
	assert_int_equal(weir_system_free(system), 0);
	assert_int_equal(weir_executor_fini(&manual.executor), 0);
	if (actors)
		assert_int_equal(line.released, LENGTH(line.actors));
	return manual.submits - 3;
}

static struct weir_actor_id spawn_named(struct weir_system *system,
					struct manual *manual,
					struct weir_actor_id parent,
					struct weir_actor *actor,
					const char *name)
{
	const struct weir_spawn_options options = {.name = name};
	struct weir_actor_id id;

	assert_int_equal(weir_actor_init(actor, &line_ops, &manual->executor),
			 0);
	assert_int_equal(
		weir_system_spawn(system, parent, actor, &options, &id), 0);
	return id;
}

static void end_by_hand(struct weir_system *system, struct manual *manual)
{
	weir_system_stop(system);
	manual_run(manual);
	assert_int_equal(weir_system_free(system), 0);
	assert_int_equal(weir_executor_fini(&manual->executor), 0);
}

/* Its name is taken, but it might not start. */
static void who_is_being_spawned_is_found_by_nobody(struct play *play)
{
	struct weir_system *system;
	struct weir_actor actor;
	struct manual manual;

	manual_init(&manual, play);
	assert_int_equal(weir_system_new(&system, &manual.executor, &silent),
			 0);
	manual.look = system;
	manual.found = true;
	(void)spawn_named(system, &manual, WEIR_ACTOR_ID_NONE, &actor, "found");
	assert_false(manual.found);
	assert_true(is_found(system, "/user/found"));
	end_by_hand(system, &manual);
}

/* Who gets the parent's cell after it has other children. */
static void who_has_lost_its_parent_is_found_below_no_other(struct play *play)
{
	struct weir_actor_id parent, child, other;
	struct weir_actor actors[3];
	struct weir_system *system;
	struct manual manual;

	manual_init(&manual, play);
	assert_int_equal(weir_system_new(&system, &manual.executor, &silent),
			 0);
	parent = spawn_named(system, &manual, WEIR_ACTOR_ID_NONE, &actors[0],
			     "parent");
	child = spawn_named(system, &manual, parent, &actors[1], "child");
	manual_run(&manual);
	assert_true(is_found(system, "/user/parent/child"));
	manual.refuse = manual.submits + 1;
	weir_actor_stop(&actors[0]);
	assert_false(weir_system_is_alive(system, parent));
	other = spawn_named(system, &manual, WEIR_ACTOR_ID_NONE, &actors[2],
			    "parent");
	assert_int_equal(other.slot, parent.slot);
	assert_true(weir_system_is_alive(system, child));
	assert_false(is_found(system, "/user/parent/child"));
	end_by_hand(system, &manual);
}

/* Whichever submission is refused, all ends and nothing leaks. */
static void whoever_is_refused_the_system_ends(struct play *play)
{
	size_t n, live = play->base.heap.live, all;
	bool actors = play->seed % 4 < 2;

	all = refuse_one(play, 0, actors);
	assert_in_range(all, 3, 60);
	for (n = 1; n <= all; n++) {
		(void)refuse_one(play, n, actors);
		assert_int_equal(play->base.heap.live, live);
	}
}

static void run_out(struct play *play)
{
	while (weir_sim_step(play->base.sim))
		;
}

/* One that fails in its turn, and whose executor runs it no more after that. */
static struct {
	struct weir_actor actor, kid;
	struct weir_in in;
	struct weir_system *system;
	struct weir_actor_id ref;
	const char *told;
	int code, rc;
} outcast;

static int outcast_turn(struct weir_actor *actor)
{
	(void)weir_in_take(&outcast.in);
	return -EIO;
}
WEIR_TURN(outcast_turn)

static int outcast_post_restart(struct weir_actor *actor,
				struct weir_error *cause)
{
	outcast.told = "post_restart";
	return 0;
}

/* Somebody spawns below it. */
static int outcast_post_stop(struct weir_actor *actor, struct weir_error *error)
{
	assert_null(outcast.told);
	outcast.told = "post_stop";
	assert_int_equal(
		weir_actor_init(&outcast.kid, &line_ops, actor->executor), 0);
	outcast.rc = weir_system_spawn(outcast.system, outcast.ref,
				       &outcast.kid, NULL, NULL);
	weir_actor_stop(&outcast.kid);
	return 0;
}

static void outcast_stopped(struct weir_actor *actor, struct weir_error *error)
{
	outcast.code = error ? error->code : 0;
}

static void b5_3_who_is_refused_begins_nothing_and_ends_with_an_error(
	struct play *play)
{
	static const struct weir_lifecycle life = {
		.post_restart = outcast_post_restart,
		.post_stop = outcast_post_stop,
	};
	static const struct weir_actor_ops ops = {
		.turns = outcast_turn_n,
		.stopped = outcast_stopped,
		.lifecycle = &life,
	};
	struct manual manual;

	memset(&outcast, 0, sizeof(outcast));
	manual_init(&manual, play);
	manual.for_good = true;
	assert_int_equal(weir_system_new(&outcast.system, play->base.executor,
					 &silent),
			 0);
	run_out(play);
	assert_int_equal(
		weir_actor_init(&outcast.actor, &ops, &manual.executor), 0);
	assert_int_equal(weir_in_init(&outcast.in, &outcast.actor, 4, NULL), 0);
	assert_int_equal(weir_system_spawn(outcast.system, WEIR_ACTOR_ID_NONE,
					   &outcast.actor, NULL, &outcast.ref),
			 0);
	manual_run(&manual);
	if (play->seed % 2)
		manual.refuse = manual.submits + 1; /* with its token */
	assert_int_equal(weir_in_put(&outcast.in, &manual), 0);
	manual_run(&manual);
	if (play->seed % 2 == 0)
		manual.refuse = manual.submits + 1; /* its restart */
	run_out(play);
	assert_string_equal(outcast.told, "post_stop");
	assert_int_equal(outcast.code, play->seed % 2 ? -EAGAIN : -EIO);
	assert_int_equal(outcast.rc, -ESHUTDOWN);
	assert_false(weir_system_is_alive(outcast.system, outcast.ref));
	weir_system_stop(outcast.system);
	run_out(play);
	assert_int_equal(weir_system_free(outcast.system), 0);
	assert_int_equal(weir_executor_fini(&manual.executor), 0);
}

static void a_system_can_live_where_all_runs_at_once(struct play *play)
{
	struct told_hook hook;
	struct manual manual;
	struct play other = {0};

	manual_init(&manual, play);
	manual.at_once = true;
	assert_int_equal(weir_system_new(&other.base.system, &manual.executor,
					 &silent),
			 0);
	before_end(&other, &hook, "end", true);
	weir_system_stop(other.base.system);
	assert_true(terminated(&other));
	assert_int_equal(weir_system_free(other.base.system), 0);
	assert_int_equal(weir_executor_fini(&manual.executor), 0);
	assert_told(&other, "hook", "end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_two_programs_draw_the_same_jitter),
		cmocka_unit_test(a_simulator_repeats_the_jitter_of_its_seed),
		RULE(bad_arguments_make_no_system),
		RULE(an_executor_that_has_ended_makes_no_system),
		RULE(a_system_without_memory_is_none),
		RULE(a_system_whose_guardians_cannot_start_is_none),
		RULE(whoever_is_refused_the_system_ends),
		RULE(who_is_being_spawned_is_found_by_nobody),
		RULE(who_has_lost_its_parent_is_found_below_no_other),
		RULE(b5_3_who_is_refused_begins_nothing_and_ends_with_an_error),
		RULE(a_system_can_live_where_all_runs_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
