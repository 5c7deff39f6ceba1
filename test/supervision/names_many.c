/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by the thousand, without memory, and at random against a list. */
#include "supervision/naming_tree.h"

static void a_hundred_thousand_names_are_found_at_once(void **state)
{
	const size_t n = test_count(100000);
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	struct child *children = calloc(n, sizeof(*children));
	char path[48];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "worker-%zu", i);
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], path);
	}
	weir_sim_run(sim);
	check_names(system);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/user/worker-%zu", i);
		assert_is(weir_system_lookup(system, path), children[i].ref);
	}
	assert_int_equal(weir_system_children(system,
					      weir_system_user_guardian(system),
					      NULL, 0),
			 n);
	system_end(system, sim);
	for (i = 0; i < n; i++)
		fate_check(&children[i].fate, -ECANCELED);
	free(children);
	sim_free(sim);
}

/* FNV-1a, and its upper half: what anybody can compute. */
static uint32_t open_hash(uint32_t parent, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ parent;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
}

static void names_that_were_chosen_to_meet_do_not(void **state)
{
	const uint32_t mask = 1023;
	const uint32_t n = mask + 1;
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, NULL);
	uint32_t parent = weir_system_user_guardian(system).slot, i, at = 0;
	struct child *children = calloc(n, sizeof(*children));
	char name[32];

	for (i = 0; i < n; i++) {
		do {
			snprintf(name, sizeof(name), "worker-%u", at++);
		} while (open_hash(parent, name) & mask);
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], name);
	}
	weir_sim_run(sim);
	check_names(system);
	system_end(system, sim);
	free(children);
	sim_free(sim);
}

/* Refuses what is larger than a chunk of cells. */
static void *small_alloc(size_t size, void *context)
{
	return size <= WEIR__CHUNK_SLOTS * sizeof(struct weir__cell)
		       ? malloc(size)
		       : NULL;
}

static void small_free(void *memory, size_t size, void *context)
{
	free(memory);
}

static void three_thousand_names_need_no_large_memory(void **state)
{
	enum { N = 3000 };
	struct weir_allocator small = {small_alloc, small_free, NULL};
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system = system_new(sim, &small);
	struct child *children = calloc(N, sizeof(*children));
	char path[48];
	size_t i;

	for (i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "%zu", i);
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], path);
	}
	weir_sim_run(sim);
	check_names(system);
	for (i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/user/%zu", i);
		assert_path(system, children[i].ref, path);
	}
	system_end(system, sim);
	free(children);
	sim_free(sim);
}

/* The n-th allocation of a spawn with a name fails. True: none did. */
static bool spawn_short_of_memory(size_t n)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_system *system;
	struct child children[70];
	struct heap heap;
	char name[24];
	size_t i, used;
	int rc;

	heap_init(&heap, 0);
	system = system_new(sim, &heap.allocator);
	/* up to where the next one needs more of everything */
	for (i = 0; system->slots.free != WEIR__NO_CELL; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], name);
	}
	weir_sim_run(sim);
	assert_int_equal(i, 61);
	spawn_new(system, sim, WEIR_ACTOR_ID_NONE, &children[i], "last");
	weir_sim_run(sim);
	assert_int_equal(weir_system_stop_actor(system, children[i].ref), 0);
	weir_sim_run(sim);
	used = heap.live;
	child_init(&children[i], sim);
	heap.calls = 0;
	heap.fail = n;
	rc = spawn_named(system, WEIR_ACTOR_ID_NONE, &children[i], "a");
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		assert_is(weir_system_lookup(system, "/user/a"),
			  WEIR_ACTOR_ID_NONE);
		assert_int_equal(heap.live, used);
		heap.fail = 0;
		assert_int_equal(spawn_named(system, WEIR_ACTOR_ID_NONE,
					     &children[i], "a"),
				 0);
	}
	weir_sim_run(sim);
	assert_path(system, children[i].ref, "/user/a");
	system_end(system, sim);
	fate_check(&children[i].fate, -ECANCELED);
	assert_int_equal(heap.live, 0);
	sim_free(sim);
	return rc == 0 && heap.calls < n;
}

static void a_spawn_without_memory_leaves_no_name(void **state)
{
	size_t n;

	for (n = 1; !spawn_short_of_memory(n); n++)
		assert_in_range(n, 1, 20);
	assert_in_range(n, 3, 20);
}

/* --- At random, against a list -------------------------------------------- */

struct known {
	struct child child;
	char path[256];
	size_t parent;
	bool alive;
};

static void check_known(struct weir_system *system, const struct known *known,
			size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (known[i].alive)
			assert_path(system, known[i].child.ref, known[i].path);
		else
			assert_dead(system, known[i].child.ref);
	}
}

static void kill_known(struct known *known, size_t n, size_t i)
{
	known[i].alive = false;
	for (; i < n; i++)
		if (!known[known[i].parent].alive)
			known[i].alive = false;
}

/* What spawning under that path will say. */
static int expected(const struct known *known, size_t n, size_t parent,
		    const char *path)
{
	size_t i;

	if (!known[parent].alive)
		return -ESRCH;
	for (i = 1; i < n; i++)
		if (known[i].alive && strcmp(known[i].path, path) == 0)
			return -EEXIST;
	return 0;
}

static void spawn_one(struct weir_system *system, struct weir_sim *sim,
		      struct known *known, size_t n)
{
	size_t parent = weir_sim_random(sim, n);
	struct known *one = &known[n];
	char name[2] = {(char)('a' + weir_sim_random(sim, 6)), '\0'};
	bool named = weir_sim_random(sim, 4);

	if (strlen(known[parent].path) > 200 ||
	    weir_actor_id_equal(known[parent].child.ref, WEIR_ACTOR_ID_NONE))
		parent = 0;
	one->parent = parent;
	snprintf(one->path, sizeof(one->path), "%.240s/%s", known[parent].path,
		 named ? name : "$");
	child_init(&one->child, sim);
	assert_int_equal(spawn_named(system, known[parent].child.ref,
				     &one->child, named ? name : NULL),
			 expected(known, n, parent, one->path));
	one->alive = !weir_actor_id_equal(one->child.ref, WEIR_ACTOR_ID_NONE);
	if (!one->alive)
		weir_actor_stop(&one->child.actor);
	else if (!named)
		snprintf(one->path, sizeof(one->path), "%.240s/$%u",
			 known[parent].path, one->child.ref.slot);
	weir_sim_run(sim);
}

static void random_tree(uint64_t seed)
{
	enum { N = 100 };
	struct weir_sim *sim = sim_new(seed);
	struct weir_system *system = system_new(sim, NULL);
	struct known *known = calloc(N, sizeof(*known));
	size_t n, i;

	known[0].alive = true;
	known[0].child.ref = weir_system_user_guardian(system);
	strcpy(known[0].path, "/user");
	for (n = 1; n < N; n++) {
		spawn_one(system, sim, known, n);
		if (weir_sim_random(sim, 3) == 0) {
			i = 1 + weir_sim_random(sim, n);
			assert_int_equal(weir_system_stop_actor(
						 system, known[i].child.ref),
					 known[i].alive ? 0 : -ESRCH);
			kill_known(known, n + 1, i);
			weir_sim_run(sim);
		}
		check_known(system, known, n + 1);
	}
	check_names(system);
	system_end(system, sim);
	free(known);
	sim_free(sim);
}

static void names_of_a_random_tree_are_right(void **state)
{
	for_each_seed(seed, test_count(100))
		random_tree(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hundred_thousand_names_are_found_at_once),
		cmocka_unit_test(names_that_were_chosen_to_meet_do_not),
		cmocka_unit_test(three_thousand_names_need_no_large_memory),
		cmocka_unit_test(a_spawn_without_memory_leaves_no_name),
		cmocka_unit_test(names_of_a_random_tree_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
