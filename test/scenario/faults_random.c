/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Servers, proxies, pipes, files, datagrams and children under system calls that
 * are interrupted, would wait, do less or find no descriptor: on a simulator,
 * and on a loop.
 */
#include "scenario/faults_kit.h"

#include "executor/places.h"

/* Each seed has laws of its own, of which some hinder nothing. */
static void carry_many(enum carrier carrier, uint64_t n)
{
	uint64_t hindered = 0;

	for_each_seed(seed, n)
		hindered += carry(carrier, seed, seed % 4 ? &sim : &loop, NULL);
	assert_true(hindered > 0 || n < 40 || test_seed_only());
}

static void what_a_server_echoes_is_what_it_was_sent(void **state)
{
	carry_many(CARRIER_ECHO, test_count(640));
}

static void lines_come_back_whole(void **state)
{
	carry_many(CARRIER_LINES, test_count(640));
}

static void a_proxy_carries_each_byte_once(void **state)
{
	carry_many(CARRIER_PROXY, test_count(640));
}

static void what_is_read_from_a_pipe_is_written_to_another(void **state)
{
	carry_many(CARRIER_PIPES, test_count(640));
}

static void a_copy_is_as_its_file(void **state)
{
	carry_many(CARRIER_COPY, test_count(320));
}

static void what_is_appended_to_a_file_follows(void **state)
{
	carry_many(CARRIER_TAIL, test_count(320));
}

static void datagrams_are_passed_on_in_order(void **state)
{
	carry_many(CARRIER_DATAGRAMS, test_count(640));
}

static void a_child_gives_back_what_it_gets(void **state)
{
	carry_many(CARRIER_CHILD, test_count(192));
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
