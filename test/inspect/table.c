/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes first in a table, and that it fits a terminal. */
#include "inspect/kit.h"

#include "inspect/snapshot.h"
#include "inspect/table.h"

static char text[65536];

static const char *table_of(const struct weir_snapshot *snapshot, size_t rows)
{
	size_t n = weir__snapshot_table(snapshot, rows, text, sizeof(text));

	assert_int_equal(n, strlen(text));
	return text;
}

static bool comes_before(const char *table, const char *one, const char *other)
{
	const char *first = strstr(table, one), *second = strstr(table, other);

	assert_non_null(first);
	assert_non_null(second);
	return first < second;
}

/* A chain whose last actor waits for an hour, and one that has nothing to do. */
struct chain {
	struct weir_sim *sim;
	struct node idle, first, last;
};

static void chain_begin(struct chain *chain)
{
	struct weir_executor *executor;
	size_t i;

	assert_int_equal(weir_sim_new(&chain->sim, 1, NULL), 0);
	executor = weir_sim_executor(chain->sim);
	node_init(&chain->idle, executor, "idle", 1, 0);
	node_init(&chain->first, executor,
		  "a name that is a good deal longer than any table is wide", 1,
		  1);
	node_init(&chain->last, executor, "last", 1, 0);
	node_waits(&chain->last);
	node_link(&chain->first, 0, &chain->last, 0);
	for (i = 0; i < 4; i++)
		node_put(&chain->first, 0);
	node_start(&chain->idle);
	node_start(&chain->first);
	node_start(&chain->last);
	(void)weir_sim_run_until(chain->sim, 1000, UINT64_MAX);
}

static void chain_end(struct chain *chain)
{
	node_stop(&chain->idle);
	node_stop(&chain->first);
	node_stop(&chain->last);
	(void)weir_sim_run_until(chain->sim, 2000, UINT64_MAX);
	assert_int_equal(weir_sim_free(chain->sim), 0);
}

static void who_holds_others_up_comes_first(void **state)
{
	struct weir_snapshot *snapshot;
	struct chain chain;
	const char *table;

	chain_begin(&chain);
	snapshot = taken(weir_sim_executor(chain.sim));
	table = strstr(table_of(snapshot, 10), "NUMBER");
	assert_non_null(table);
	assert_true(comes_before(table, " last ", " idle "));
	assert_true(comes_before(table, " last ", " a name "));
	weir_snapshot_free(snapshot);
	chain_end(&chain);
}

static void no_line_is_wider_than_a_terminal(void **state)
{
	struct weir_snapshot *snapshot;
	struct chain chain;
	const char *line;
	size_t length;

	chain_begin(&chain);
	snapshot = taken(weir_sim_executor(chain.sim));
	for (line = table_of(snapshot, 10); *line; line += length + 1) {
		length = strcspn(line, "\n");
		assert_int_equal(line[length], '\n');
		assert_in_range(length, 0, 80);
	}
	weir_snapshot_free(snapshot);
	chain_end(&chain);
}

static void rows_that_are_left_out_are_counted(void **state)
{
	struct weir_snapshot *snapshot;
	struct chain chain;

	chain_begin(&chain);
	snapshot = taken(weir_sim_executor(chain.sim));
	assert_non_null(strstr(table_of(snapshot, 1), "       and 2 more\n"));
	assert_non_null(strstr(text, "\nand 2 more\n"));
	assert_null(strstr(table_of(snapshot, 3), "and"));
	weir_snapshot_free(snapshot);
	chain_end(&chain);
}

static void shares_and_times_are_shown_if_they_are_known(void **state)
{
	struct weir_snapshot *snapshot;
	struct weir__snapshot *self;
	struct chain chain;

	chain_begin(&chain);
	snapshot = taken(weir_sim_executor(chain.sim));
	assert_null(strstr(table_of(snapshot, 9), "   2000ms"));
	assert_null(strstr(text, "   25%"));
	self = (struct weir__snapshot *)snapshot;
	self->seen.now_ns = UINT64_C(3000000000);
	self->actors[0].since_ns = UINT64_C(1000000000);
	self->actors[0].busy = 254;
	self->actors[0].held = 746;
	table_of(snapshot, 9);
	assert_non_null(strstr(text, "   2000ms   25%   75%    0%    0%\n"));
	weir_snapshot_free(snapshot);
	chain_end(&chain);
}

static void a_text_that_is_too_long_is_cut(void **state)
{
	struct weir_snapshot *snapshot;
	struct chain chain;
	char some[40];
	size_t n;

	chain_begin(&chain);
	snapshot = taken(weir_sim_executor(chain.sim));
	(void)table_of(snapshot, WEIR__TABLE_ROWS);
	n = weir_snapshot_table(snapshot, some, sizeof(some));
	assert_int_equal(n, strlen(text));
	assert_int_equal(strlen(some), sizeof(some) - 1);
	assert_memory_equal(some, text, sizeof(some) - 1);
	assert_int_equal(weir_snapshot_table(snapshot, NULL, 0), n);
	assert_int_equal(weir_snapshot_table(NULL, some, sizeof(some)), 0);
	assert_string_equal(some, "");
	weir_snapshot_free(snapshot);
	chain_end(&chain);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_holds_others_up_comes_first),
		cmocka_unit_test(no_line_is_wider_than_a_terminal),
		cmocka_unit_test(rows_that_are_left_out_are_counted),
		cmocka_unit_test(shares_and_times_are_shown_if_they_are_known),
		cmocka_unit_test(a_text_that_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
