/* SPDX-License-Identifier: BSD-2-Clause */
/* What a system writes to stderr, if its user does not listen. */
#include "actor/kit.h"

#include <unistd.h>

#include <weir/tell.h>

struct failing {
	struct weir_actor actor;
	struct weir_in in;
};

static uint32_t fail_n(struct weir_actor *actor, uint32_t n)
{
	struct failing *self = weir_container_of(actor, struct failing, actor);

	(void)weir_actor_fail(
		actor,
		weir_error_format(-EINVAL, "parse", "\"%s\" is no number",
				  (char *)weir_in_take(&self->in)));
	return 1;
}

static const struct weir_actor_ops failing_ops = {.name = "parser",
						  .turns = fail_n};

/* stderr goes into a file from here, until its text is taken. */
static int standard_error;
static FILE *caught;

static void catch (void)
{
	caught = tmpfile();
	assert_non_null(caught);
	standard_error = dup(2);
	assert_int_equal(dup2(fileno(caught), 2), 2);
}

static void assert_caught(const char *expected)
{
	char text[512];
	size_t n;

	assert_int_equal(dup2(standard_error, 2), 2);
	assert_int_equal(close(standard_error), 0);
	rewind(caught);
	n = fread(text, 1, sizeof(text) - 1, caught);
	text[n] = '\0';
	assert_int_equal(fclose(caught), 0);
	assert_string_equal(text, expected);
}

/* One who fails at an item, in a system with these options. */
static void fail_once(const struct weir_system_options *options)
{
	static const struct weir_spawn_options named = {.name = "reader"};
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_system *system;
	struct failing failing;
	struct weir_actor_id id;
	char word[] = "x";

	assert_int_equal(weir_system_new(&system, executor, options), 0);
	weir_actor_init(&failing.actor, &failing_ops, executor);
	weir_in_init(&failing.in, &failing.actor, 1, NULL);
	assert_int_equal(weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
					   &failing.actor, &named, &id),
			 0);
	assert_int_equal(weir_system_tell(system, id, word), 0);
	weir_sim_run(sim);
	weir_system_stop(system);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(system), 0);
	sim_free(sim);
}

static void a_failure_is_a_line_with_path_name_and_cause(void **state)
{
	catch ();
	fail_once(NULL);
	assert_caught("weir: /user/reader (parser): parse: \"x\" is no number; "
		      "it restarts\n");
}

static void a_refused_restart_is_a_line(void **state)
{
	static const struct weir_limit none = {.max = 0};
	static const struct weir_strategy strict = {.each = &none};
	const struct weir_system_options options = {.strategy = &strict};

	catch ();
	fail_once(&options);
	assert_caught("weir: /user/reader (parser): parse: \"x\" is no number; "
		      "its limit refuses a restart\n");
}

static void a_silent_system_writes_nothing(void **state)
{
	const struct weir_system_options options = {
		.event = weir_supervision_event_ignore};

	catch ();
	fail_once(&options);
	assert_caught("");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_a_line_with_path_name_and_cause),
		cmocka_unit_test(a_refused_restart_is_a_line),
		cmocka_unit_test(a_silent_system_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
