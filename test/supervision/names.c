/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, paths, and what can be asked about a reference. */
#include "supervision/naming.h"

static void b10_1_the_guardians_have_paths(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_actor_id root = weir_system_root(system), refs[3];

	assert_path(system, root, "/");
	assert_path(system, weir_system_user_guardian(system), "/user");
	assert_path(system, weir_system_system_guardian(system), "/system");
	assert_is(weir_system_parent(system, root), WEIR_ACTOR_ID_NONE);
	assert_is(weir_system_parent(system, weir_system_user_guardian(system)),
		  root);
	assert_int_equal(weir_system_children(system, root, refs, 3), 2);
	assert_is(refs[0], weir_system_user_guardian(system));
	assert_is(refs[1], weir_system_system_guardian(system));
	system_end(system, sim);
	sim_free(sim);
}

static void b10_1_what_is_spawned_from_outside_is_a_child_of_user(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_actor_id user = weir_system_user_guardian(system), ref;
	struct child child;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	weir_sim_run(sim);
	assert_is(weir_system_parent(system, child.ref), user);
	assert_path(system, child.ref, "/user/a");
	assert_int_equal(weir_system_children(system, user, &ref, 1), 1);
	assert_is(ref, child.ref);
	assert_is(child.self, child.ref);
	system_end(system, sim);
	fate_check(&child.fate, -ECANCELED);
	sim_free(sim);
}

static void an_actor_is_known_as_soon_as_it_is_spawned(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child child, below;
	struct weir_actor *actor;
	struct weir_actor_id ref;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	assert_true(weir_system_is_alive(system, child.ref));
	assert_path(system, child.ref, "/user/a");
	assert_is(weir_actor_self(&child.actor), child.ref);
	assert_int_equal(weir_system_children(system,
					      weir_system_user_guardian(system),
					      &ref, 1),
			 1);
	actor = weir_system_actor(system, child.ref);
	assert_ptr_equal(actor, &child.actor);
	weir_actor_unref(actor);
	spawn_new(system, sim, child.ref, &below, "b");
	assert_path(system, below.ref, "/user/a/b");
	system_end(system, sim);
	fate_check(&below.fate, -ECANCELED);
	sim_free(sim);
}

static void siblings_have_names_of_their_own(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child a, b, below;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &a, "a");
	child_init(&b, sim);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &b, "a"),
			 -EEXIST);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &b, "A"), 0);
	weir_sim_run(sim);
	spawn_new(system, sim, a.ref, &below, "a");
	weir_sim_run(sim);
	assert_path(system, a.ref, "/user/a");
	assert_path(system, b.ref, "/user/A");
	assert_path(system, below.ref, "/user/a/a");
	assert_is(weir_system_lookup(system, "/user/A/a"), WEIR_ACTOR_ID_NONE);
	system_end(system, sim);
	sim_free(sim);
}

static void c8_a_name_is_free_again_once_its_actor_has_ended(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child first, second;
	struct weir_actor *kept;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &first, "a");
	weir_sim_run(sim);
	kept = weir_actor_ref(&first.actor);
	assert_int_equal(weir_system_stop_actor(system, first.ref), 0);
	child_init(&second, sim);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &second, "a"),
			 -EEXIST);
	weir_sim_run(sim);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &second, "a"),
			 0);
	weir_sim_run(sim);
	assert_path(system, second.ref, "/user/a");
	assert_false(weir_actor_id_equal(first.ref, second.ref));
	/* It has ended, though somebody holds on to it. */
	assert_int_equal(first.fate.released, 0);
	assert_false(weir_system_is_alive(system, first.ref));
	assert_int_equal(weir_system_path(system, first.ref, NULL, 0), -ESRCH);
	weir_actor_unref(kept);
	fate_check(&first.fate, -ECANCELED);
	system_end(system, sim);
	sim_free(sim);
}

static void a_name_is_copied_and_any_bytes_will_do(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	char name[WEIR_NAME_MAX + 2], path[WEIR_NAME_MAX + 16];
	struct child odd, longest, refused;

	strcpy(name, "a $\xff\n.");
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &odd, name);
	memset(name, 'x', sizeof(name));
	name[WEIR_NAME_MAX + 1] = '\0';
	child_init(&refused, sim);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &refused,
				     name),
			 -EINVAL);
	strcpy(path, "/user/");
	strcat(path, name);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	name[WEIR_NAME_MAX] = '\0';
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &longest, name);
	weir_sim_run(sim);
	strcpy(path, "/user/");
	strcat(path, name);
	assert_path(system, longest.ref, path);
	assert_path(system, odd.ref, "/user/a $\xff\n.");
	weir_actor_stop(&refused.actor);
	system_end(system, sim);
	sim_free(sim);
}

static void an_actor_without_a_name_is_its_slot(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child none, named, below;
	char path[64];

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &none, NULL);
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &named, "named");
	weir_sim_run(sim);
	spawn_new(system, sim, none.ref, &below, "b");
	weir_sim_run(sim);
	snprintf(path, sizeof(path), "/user/$%u", none.ref.slot);
	assert_path(system, none.ref, path);
	snprintf(path, sizeof(path), "/user/$%u/b", none.ref.slot);
	assert_path(system, below.ref, path);
	/* Nor its name by its slot, nor the child of another. */
	snprintf(path, sizeof(path), "/user/$%u", named.ref.slot);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	snprintf(path, sizeof(path), "/system/$%u", none.ref.slot);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	snprintf(path, sizeof(path), "/user/$0%u", none.ref.slot);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	snprintf(path, sizeof(path), "/user/$%ux", none.ref.slot);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	/* its slot and 2^32 */
	snprintf(path, sizeof(path), "/user/$%llu",
		 none.ref.slot + 4294967296ULL);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	/* and 2^64, which is ...551616 */
	assert_in_range(none.ref.slot, 0, 83);
	snprintf(path, sizeof(path), "/user/$184467440737095516%u",
		 16 + none.ref.slot);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	snprintf(path, sizeof(path), "/user/$%u", none.ref.slot);
	assert_int_equal(weir_system_stop_actor(system, none.ref), 0);
	weir_sim_run(sim);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	system_end(system, sim);
	sim_free(sim);
}

static void a_path_that_is_none_is_nobodys(void **state)
{
	static const char *const paths[] = {
		"",
		"user",
		"user/a",
		"//",
		"//user",
		"/user/",
		"/user//a",
		"/user/a/",
		"/user/a//",
		"/nobody",
		"/user/a/$0",
		"/user/aa",
		"/user/$",
		"/user/$-1",
		"/user/$+0",
		"/user/$ 0",
		"/user/$99999999999999999999",
		"/$0",
		"/$",
		"/user/a/a",
		"/user/\xff",
		" /user",
	};
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child child;
	size_t i;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	weir_sim_run(sim);
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_is(weir_system_lookup(system, paths[i]),
			  WEIR_ACTOR_ID_NONE);
	assert_is(weir_system_lookup(system, NULL), WEIR_ACTOR_ID_NONE);
	assert_is(weir_system_lookup(NULL, "/"), WEIR_ACTOR_ID_NONE);
	assert_path(system, child.ref, "/user/a");
	system_end(system, sim);
	sim_free(sim);
}

static void a_path_is_cut_as_by_snprintf(void **state)
{
	static const char path[] = "/user/abc/d";
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	char text[sizeof(path) + 4], right[sizeof(path) + 4];
	struct child abc, d;
	size_t size;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &abc, "abc");
	weir_sim_run(sim);
	spawn_new(system, sim, abc.ref, &d, "d");
	weir_sim_run(sim);
	for (size = 0; size <= sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		memset(right, '#', sizeof(right));
		snprintf(right, size, "%s", path);
		assert_int_equal(weir_system_path(system, d.ref, text, size),
				 sizeof(path) - 1);
		assert_memory_equal(text, right, sizeof(text));
	}
	assert_int_equal(weir_system_path(system, d.ref, NULL, 0),
			 sizeof(path) - 1);
	assert_int_equal(weir_system_path(system, d.ref, NULL, 1), -EINVAL);
	assert_int_equal(weir_system_path(NULL, d.ref, text, 1), -EINVAL);
	assert_int_equal(weir_system_path(system, WEIR_ACTOR_ID_NONE, text, 1),
			 -ESRCH);
	assert_int_equal(
		weir_system_path(system, weir_system_root(system), text, 2), 1);
	assert_string_equal(text, "/");
	assert_int_equal(
		weir_system_path(system, weir_system_root(system), text, 1), 1);
	assert_string_equal(text, "");
	system_end(system, sim);
	sim_free(sim);
}

static void children_come_in_the_order_they_were_spawned(void **state)
{
	enum { N = 100, MAX = 7 };
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_actor_id user = weir_system_user_guardian(system), refs[N];
	struct child *children = calloc(N, sizeof(*children));
	size_t i;

	for (i = 0; i < N; i++)
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], NULL);
	weir_sim_run(sim);
	memset(refs, 0, sizeof(refs));
	assert_int_equal(weir_system_children(system, user, refs, MAX), N);
	assert_is(refs[MAX], WEIR_ACTOR_ID_NONE);
	assert_int_equal(weir_system_children(system, user, refs, N), N);
	for (i = 0; i < N; i++)
		assert_is(refs[i], children[i].ref);
	/* Of 0, 1, 2, ... every odd one goes. */
	for (i = 1; i < N; i += 2)
		assert_int_equal(weir_system_stop_actor(system, refs[i]), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_system_children(system, user, refs, N), N / 2);
	for (i = 0; i < N / 2; i++)
		assert_is(refs[i], children[2 * i].ref);
	assert_int_equal(weir_system_children(system, user, NULL, 0), N / 2);
	assert_int_equal(weir_system_children(system, user, NULL, 1), -EINVAL);
	assert_int_equal(weir_system_children(NULL, user, NULL, 0), -EINVAL);
	assert_int_equal(weir_system_children(system, children[1].ref, NULL, 0),
			 -ESRCH);
	assert_int_equal(weir_system_children(system, children[0].ref, refs, 1),
			 0);
	system_end(system, sim);
	free(children);
	sim_free(sim);
}

static void a_reference_of_the_dead_is_of_nobody_for_ever(void **state)
{
	enum { ROUNDS = 2000 };
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_actor_id *stale = calloc(ROUNDS, sizeof(*stale));
	struct child child, other;
	size_t i, j;

	for (i = 0; i < ROUNDS; i++) {
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child,
			  i % 2 ? "a" : NULL);
		weir_sim_run(sim);
		assert_true(weir_system_is_alive(system, child.ref));
		stale[i] = child.ref;
		/* the one slot, again and again */
		assert_int_equal(stale[i].slot, stale[0].slot);
		if (i)
			assert_dead(system, stale[i - 1]);
		assert_int_equal(weir_system_stop_actor(system, child.ref), 0);
		weir_sim_run(sim);
	}
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	weir_sim_run(sim);
	child_init(&other, sim);
	for (j = 0; j < ROUNDS; j++) {
		assert_dead(system, stale[j]);
		assert_int_equal(spawn_named(system, stale[j], &other, "b"),
				 -ESRCH);
	}
	assert_true(weir_system_is_alive(system, child.ref));
	weir_actor_stop(&other.actor);
	system_end(system, sim);
	free(stale);
	sim_free(sim);
}

static void nobody_is_dead(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);

	assert_dead(system, WEIR_ACTOR_ID_NONE);
	assert_dead(system, (struct weir_actor_id){UINT32_MAX, UINT32_MAX});
	assert_dead(system, (struct weir_actor_id){0, UINT32_MAX});
	assert_false(weir_system_is_alive(NULL, WEIR_ACTOR_ID_NONE));
	assert_null(weir_system_actor(NULL, WEIR_ACTOR_ID_NONE));
	assert_is(weir_system_parent(NULL, WEIR_ACTOR_ID_NONE),
		  WEIR_ACTOR_ID_NONE);
	assert_int_equal(weir_system_restarts(NULL, WEIR_ACTOR_ID_NONE),
			 -ESRCH);
	system_end(system, sim);
	sim_free(sim);
}

static void who_gets_an_actor_keeps_its_memory(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_actor *actor;
	struct child child;
	char path[32];

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, NULL);
	weir_sim_run(sim);
	snprintf(path, sizeof(path), "/user/$%u", child.ref.slot);
	assert_path(system, child.ref, path);
	actor = weir_system_actor(system, child.ref);
	assert_ptr_equal(actor, &child.actor);
	assert_int_equal(weir_system_stop_actor(system, child.ref), 0);
	weir_sim_run(sim);
	assert_int_equal(child.fate.stopped, 1);
	assert_int_equal(child.fate.released, 0);
	assert_dead(system, child.ref);
	assert_is(weir_system_lookup(system, path), WEIR_ACTOR_ID_NONE);
	assert_is(weir_actor_self(actor), child.ref);
	weir_actor_unref(actor);
	fate_check(&child.fate, -ECANCELED);
	system_end(system, sim);
	sim_free(sim);
}

static void an_actor_in_no_system_is_nobody(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct child child;

	child_init(&child, sim);
	assert_is(weir_actor_self(&child.actor), WEIR_ACTOR_ID_NONE);
	assert_null(weir_actor_system(&child.actor));
	assert_is(weir_actor_self(NULL), WEIR_ACTOR_ID_NONE);
	assert_null(weir_actor_system(NULL));
	weir_actor_stop(&child.actor);
	sim_free(sim);
}

static void b4_2_a_restart_keeps_reference_and_name(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child child;
	int i;

	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	weir_sim_run(sim);
	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_system_restarts(system, child.ref), i);
		weir_actor_signal(&child.actor);
		weir_sim_run(sim);
		assert_path(system, child.ref, "/user/a");
		assert_is(weir_actor_self(&child.actor), child.ref);
	}
	assert_int_equal(weir_system_restarts(system, child.ref), 3);
	system_end(system, sim);
	sim_free(sim);
}

static void done(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
}

static void who_cannot_start_leaves_no_trace(void **state)
{
	struct weir_sim *sim = sim_new(1), *over = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct weir_ending drain = {.done = done};
	struct child child;
	size_t used = system->lock.used;

	assert_int_equal(weir_executor_stop_async(weir_sim_executor(over),
						  &drain, WEIR_FOREVER),
			 0);
	child_init(&child, over);
	assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE, &child, "a"),
			 -ESHUTDOWN);
	assert_is(child.ref, WEIR_ACTOR_ID_NONE);
	assert_int_equal(system->lock.used, used);
	assert_int_equal(weir_system_children(system,
					      weir_system_user_guardian(system),
					      NULL, 0),
			 0);
	weir_actor_stop(&child.actor);
	fate_check(&child.fate, -ECANCELED);
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &child, "a");
	weir_sim_run(sim);
	assert_path(system, child.ref, "/user/a");
	system_end(system, sim);
	sim_free(over);
	sim_free(sim);
}

/* An executor that looks who is there, and takes nobody. */
struct nosy {
	struct weir_executor executor;
	struct weir_system *system;
	struct weir_actor_id found;
	int children;
	bool alive;
};

static int nosy_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct nosy *self = weir_container_of(executor, struct nosy, executor);
	struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	struct weir_actor_id ref = weir_actor_self(actor);
	char path[32];

	self->alive = weir_system_is_alive(self->system, ref);
	self->children = weir_system_children(
		self->system, weir_system_user_guardian(self->system), NULL, 0);
	self->found = weir_system_lookup(self->system, "/user/a");
	if (weir_actor_id_equal(self->found, WEIR_ACTOR_ID_NONE)) {
		snprintf(path, sizeof(path), "/user/$%u", ref.slot);
		self->found = weir_system_lookup(self->system, path);
	}
	return -EAGAIN;
}

static uint64_t nosy_now(struct weir_executor *executor)
{
	return 0;
}

static void who_is_not_spawned_yet_is_not_seen(void **state)
{
	static const struct weir_executor_ops ops = {nosy_submit, nosy_now};
	static const char *const names[] = {"a", NULL};
	struct weir_sim *sim = sim_new(1);
	struct nosy nosy = {.system = system_new(sim, NULL)};
	struct child child;
	size_t i;

	assert_int_equal(weir_executor_init(&nosy.executor, &ops, NULL), 0);
	for (i = 0; i < 2; i++) {
		child_init(&child, sim);
		child.actor.executor = &nosy.executor;
		nosy.alive = true;
		nosy.children = 7;
		assert_int_equal(spawn_named(nosy.system, WEIR_ACTOR_ID_NONE,
					     &child, names[i]),
				 -EAGAIN);
		assert_false(nosy.alive);
		assert_int_equal(nosy.children, 0);
		assert_is(nosy.found, WEIR_ACTOR_ID_NONE);
		assert_is(child.ref, WEIR_ACTOR_ID_NONE);
		weir_actor_stop(&child.actor);
	}
	assert_int_equal(weir_executor_fini(&nosy.executor), 0);
	system_end(nosy.system, sim);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b10_1_the_guardians_have_paths),
		cmocka_unit_test(
			b10_1_what_is_spawned_from_outside_is_a_child_of_user),
		cmocka_unit_test(an_actor_is_known_as_soon_as_it_is_spawned),
		cmocka_unit_test(siblings_have_names_of_their_own),
		cmocka_unit_test(
			c8_a_name_is_free_again_once_its_actor_has_ended),
		cmocka_unit_test(a_name_is_copied_and_any_bytes_will_do),
		cmocka_unit_test(an_actor_without_a_name_is_its_slot),
		cmocka_unit_test(a_path_that_is_none_is_nobodys),
		cmocka_unit_test(a_path_is_cut_as_by_snprintf),
		cmocka_unit_test(children_come_in_the_order_they_were_spawned),
		cmocka_unit_test(a_reference_of_the_dead_is_of_nobody_for_ever),
		cmocka_unit_test(nobody_is_dead),
		cmocka_unit_test(who_gets_an_actor_keeps_its_memory),
		cmocka_unit_test(an_actor_in_no_system_is_nobody),
		cmocka_unit_test(b4_2_a_restart_keeps_reference_and_name),
		cmocka_unit_test(who_cannot_start_leaves_no_trace),
		cmocka_unit_test(who_is_not_spawned_yet_is_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
