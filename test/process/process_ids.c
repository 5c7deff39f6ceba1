/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of processes that somebody outside has chosen. */
#include "process/kit.h"

#include <stdio.h>

#define MANY 512u

static struct process_world world;

/* FNV-1a: what anybody can compute. */
static uint32_t open_hash(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return hash;
}

static uint32_t longest_chain(const struct weir_process_manager *manager)
{
	const struct weir_process *process;
	uint32_t longest = 0, seen = 0, n, i;

	for (i = 0; i < manager->n_ids; i++) {
		n = 0;
		for (process = manager->ids[i]; process;
		     process = process->same_id)
			n++;
		seen += n;
		longest = n > longest ? n : longest;
	}
	assert_int_equal(seen, MANY);
	return longest;
}

static void ids_that_were_chosen_to_meet_do_not(void **state)
{
	static char ids[MANY][16];
	uint32_t i, at = 0;

	(void)state;
	process_world_new(&world, 1, MANY, 0, MANY, SECOND);
	for (i = 0; i < MANY; i++) {
		do {
			(void)snprintf(ids[i], sizeof(ids[i]), "job-%u", at++);
		} while (open_hash(ids[i]) & (MANY - 1));
		world.tasks[i].command.id = ids[i];
	}
	assert_int_equal(offer_all(&world, 0, MANY), MANY);
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	assert_in_range(longest_chain(&world.manager), 1, 12);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), MANY);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_that_were_chosen_to_meet_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
