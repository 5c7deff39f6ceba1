/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as faults_random.c on a pool of two threads, where what the kernel
 * tells comes while calls are made; and by operators that are on two executors.
 */
#include "scenario/faults_kit.h"

#include "executor/places.h"

static const struct {
	const struct kind *kind, *other;
} where[] = {
	{&threads, NULL},
	{&threads, &loop},
	{&loop, &threads},
	{&blocking, &threads},
};

static void carry_many(enum carrier carrier, uint64_t n)
{
	uint64_t hindered = 0;

	for_each_seed(seed, test_count(n))
		hindered += carry(carrier, seed, where[seed % 4].kind,
				  where[seed % 4].other);
	/* Each seed has laws of its own, of which some hinder nothing. */
	assert_true(hindered > 0 || test_count(n) < 4 || test_seed_only());
}

static void what_a_server_echoes_is_what_it_was_sent(void **state)
{
	carry_many(CARRIER_ECHO, 120);
}

static void lines_come_back_whole(void **state)
{
	carry_many(CARRIER_LINES, 120);
}

static void a_proxy_carries_each_byte_once(void **state)
{
	carry_many(CARRIER_PROXY, 120);
}

static void what_is_read_from_a_pipe_is_written_to_another(void **state)
{
	carry_many(CARRIER_PIPES, 120);
}

static void a_copy_is_as_its_file(void **state)
{
	carry_many(CARRIER_COPY, 60);
}

static void what_is_appended_to_a_file_follows(void **state)
{
	carry_many(CARRIER_TAIL, 60);
}

static void datagrams_are_passed_on_in_order(void **state)
{
	carry_many(CARRIER_DATAGRAMS, 120);
}

static void a_child_gives_back_what_it_gets(void **state)
{
	carry_many(CARRIER_CHILD, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_server_echoes_is_what_it_was_sent),
		cmocka_unit_test(lines_come_back_whole),
		cmocka_unit_test(a_proxy_carries_each_byte_once),
		cmocka_unit_test(
			what_is_read_from_a_pipe_is_written_to_another),
		cmocka_unit_test(a_copy_is_as_its_file),
		cmocka_unit_test(what_is_appended_to_a_file_follows),
		cmocka_unit_test(datagrams_are_passed_on_in_order),
		cmocka_unit_test(a_child_gives_back_what_it_gets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
