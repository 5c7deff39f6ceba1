/* SPDX-License-Identifier: BSD-2-Clause */
/* The ready-made supervisor and its table of children, without a member. */
#include "actor/kit.h"

#include <weir/supervisor.h>

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

#define N 3

/* A child, which notes when it starts and stops, and fails by a token. */
struct child {
	struct weir_actor actor;
	struct weir_in in;
	uint32_t released;
};

static char notes[256];

static void note(const struct weir_actor *actor, const char *what)
{
	struct weir_actor_id self = weir_actor_self(actor);
	char path[32];

	(void)weir_system_path(weir_actor_system(actor), self, path,
			       sizeof(path));
	snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s%s ",
		 strrchr(path, '/') + 1, what);
}

static int starts(struct weir_actor *actor)
{
	note(actor, "+");
	return 0;
}

static int stops(struct weir_actor *actor, struct weir_error *error)
{
	note(actor, "-");
	return 0;
}

static uint32_t fail_n(struct weir_actor *actor, uint32_t n)
{
	struct child *self = weir_container_of(actor, struct child, actor);

	(void)weir_in_take(&self->in);
	(void)weir_actor_fail_code(actor, -EIO);
	return 1;
}

static void released(struct weir_actor *actor)
{
	weir_container_of(actor, struct child, actor)->released++;
}

static const struct weir_lifecycle child_life = {.pre_start = starts,
						 .post_stop = stops};
static const struct weir_actor_ops child_ops = {.turns = fail_n,
						.released = released,
						.lifecycle = &child_life};

static const struct weir_strategy in_order = {.scope = WEIR_SCOPE_ALL_FOR_ONE,
					      .ordered = true};

struct fixture {
	struct weir_sim *sim;
	struct weir_executor *executor;
	struct weir_system *system;
	struct child children[N];
	struct weir_child_spec specs[N];
	struct weir_supervisor supervisor;
	struct weir_actor_id id;
};

static void open_fixture(struct fixture *f,
			 const struct weir_strategy *strategy)
{
	static const char *const names[N] = {"a", "b", "c"};
	size_t i;

	*f = (struct fixture){.sim = sim_new(1)};
	notes[0] = '\0';
	f->executor = weir_sim_executor(f->sim);
	assert_int_equal(weir_system_new(&f->system, f->executor, &silent), 0);
	for (i = 0; i < N; i++) {
		weir_actor_init(&f->children[i].actor, &child_ops, f->executor);
		weir_in_init(&f->children[i].in, &f->children[i].actor, 1,
			     NULL);
		f->specs[i] = (struct weir_child_spec){&f->children[i].actor,
						       {.name = names[i]}};
	}
	assert_int_equal(weir_supervisor_init(&f->supervisor, f->executor,
					      strategy, f->specs, N),
			 0);
}

static int spawn(struct fixture *f)
{
	return weir_system_spawn(f->system, WEIR_ACTOR_ID_NONE,
				 &f->supervisor.actor, NULL, &f->id);
}

static void fixture_fini(struct fixture *f)
{
	size_t i;

	weir_system_stop(f->system);
	weir_sim_run(f->sim);
	assert_int_equal(weir_system_free(f->system), 0);
	for (i = 0; i < N; i++)
		assert_int_equal(f->children[i].released, 1);
	sim_free(f->sim);
}

static void children_start_in_order_and_stop_in_reverse(void **state)
{
	struct fixture f;

	open_fixture(&f, &in_order);
	assert_int_equal(spawn(&f), 0);
	weir_sim_run(f.sim);
	assert_int_equal(weir_system_children(f.system, f.id, NULL, 0), N);
	assert_int_equal(weir_system_stop_actor(f.system, f.id), 0);
	weir_sim_run(f.sim);
	assert_string_equal(notes + strlen(notes) - 9, "c- b- a- ");
	fixture_fini(&f);
}

static void children_restart_as_the_strategy_says(void **state)
{
	struct fixture f;

	open_fixture(&f, &in_order);
	assert_int_equal(spawn(&f), 0);
	weir_sim_run(f.sim);
	notes[0] = '\0';
	assert_int_equal(weir_actor_tell(&f.children[1].actor, NULL), 0);
	weir_sim_run(f.sim);
	assert_string_equal(notes, "c- b- a- a+ b+ c+ ");
	fixture_fini(&f);
}

static void a_supervisor_that_restarts_keeps_its_children(void **state)
{
	static const struct weir_rule rule = {
		.directive = WEIR_DIRECTIVE_ESCALATE};
	static const struct weir_strategy escalates = {.rules = &rule,
						       .n_rules = 1};
	struct fixture f;

	open_fixture(&f, &escalates);
	assert_int_equal(spawn(&f), 0);
	weir_sim_run(f.sim);
	assert_int_equal(weir_actor_tell(&f.children[0].actor, NULL), 0);
	weir_sim_run(f.sim);
	assert_int_equal(weir_system_restarts(f.system, f.id), 1);
	assert_int_equal(weir_system_children(f.system, f.id, NULL, 0), N);
	assert_int_equal(f.children[0].released, 0);
	fixture_fini(&f);
}

static void what_cannot_be_spawned_is_stopped(void **state)
{
	struct fixture f;

	open_fixture(&f, NULL);
	f.specs[1].options.name = "a";
	assert_int_equal(spawn(&f), 0);
	weir_sim_run(f.sim);
	assert_false(weir_system_is_alive(f.system, f.id));
	fixture_fini(&f);
}

static void one_that_is_never_spawned_stops_its_children(void **state)
{
	struct fixture f;

	open_fixture(&f, NULL);
	weir_actor_stop(&f.supervisor.actor);
	assert_int_equal(f.children[N - 1].released, 1);
	fixture_fini(&f);
}

static void bad_tables_are_refused(void **state)
{
	static const struct weir_strategy bad = {.past_limit = 9};
	struct fixture f;
	struct weir_supervisor other = {.n_children = 7}, before = other;

	open_fixture(&f, NULL);
	assert_int_equal(weir_supervisor_init(NULL, f.executor, NULL, NULL, 0),
			 -EINVAL);
	assert_int_equal(weir_supervisor_init(&other, NULL, NULL, NULL, 0),
			 -EINVAL);
	assert_int_equal(weir_supervisor_init(&other, f.executor, &bad, NULL,
					      0),
			 -EINVAL);
	assert_int_equal(weir_supervisor_init(&other, f.executor, NULL, NULL,
					      1),
			 -EINVAL);
	f.specs[2].actor = NULL;
	assert_int_equal(weir_supervisor_init(&other, f.executor, NULL, f.specs,
					      N),
			 -EINVAL);
	assert_memory_equal(&other, &before, sizeof(other));
	f.specs[2].actor = &f.children[2].actor;
	weir_actor_stop(&f.supervisor.actor);
	fixture_fini(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_start_in_order_and_stop_in_reverse),
		cmocka_unit_test(children_restart_as_the_strategy_says),
		cmocka_unit_test(a_supervisor_that_restarts_keeps_its_children),
		cmocka_unit_test(what_cannot_be_spawned_is_stopped),
		cmocka_unit_test(one_that_is_never_spawned_stops_its_children),
		cmocka_unit_test(bad_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
