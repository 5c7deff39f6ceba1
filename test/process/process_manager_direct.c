/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager on an executor that runs what it is given at once, inside the
 * submission, and has no timers.
 */
#include "process/kit.h"

#include <errno.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

static struct weir_executor executor;
static struct weir_system *systm;
static struct weir_process_manager manager;
static uint32_t outcomes[WEIR_OUTCOME_COUNT], released;
static int last_code;

static int submit(struct weir_executor *to, struct weir_task *task)
{
	(void)to;
	weir_task_run(task);
	return 0;
}

static uint64_t now(struct weir_executor *of)
{
	(void)of;
	return 0;
}

static const struct weir_executor_ops direct = {.submit = submit, .now = now};

static int call(struct weir_command *command, void *context)
{
	(void)context;
	if (!command->result)
		return 0;
	weir_command_end(command, 0);
	return WEIR_RUN_LATER;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	(void)command;
	outcomes[outcome]++;
	last_code = error ? error->code : 0;
}

static void note_released(void *context)
{
	(void)context;
	released++;
}

static void open_world(struct weir_process_manager_options *options)
{
	int i;

	for (i = 0; i < WEIR_OUTCOME_COUNT; i++)
		outcomes[i] = 0;
	released = 0;
	options->max = 2;
	options->buffer = 2;
	options->released = note_released;
	assert_int_equal(weir_executor_init(&executor, &direct, NULL), 0);
	assert_int_equal(weir_system_new(&systm, &executor, NULL), 0);
	assert_int_equal(
		weir_process_manager_init(&manager, &executor, options), 0);
	assert_int_equal(weir_system_spawn(systm, WEIR_ACTOR_ID_NONE,
					   &manager.actor, NULL, NULL),
			 0);
}

static void close_world(void)
{
	weir_process_manager_end(&manager);
	assert_int_equal(released, 1);
	weir_system_stop(systm);
	assert_int_equal(weir_system_free(systm), 0);
	assert_int_equal(weir_executor_fini(&executor), 0);
}

static void a_process_is_over_when_its_offer_returns(void **state)
{
	struct weir_process_manager_options options = {
		.process = &brief_ops,
		.process_size = sizeof(struct brief),
		.set_up = brief_set_up,
	};
	struct weir_command command = {.reply = reply, .id = "one"};
	uint32_t i;

	(void)state;
	open_world(&options);
	for (i = 1; i <= 1000; i++) {
		assert_int_equal(weir_process_manager_offer(&manager, &command),
				 0);
		assert_int_equal(outcomes[WEIR_OUTCOME_DONE], i);
	}
	close_world();
}

static void so_is_a_call(void **state)
{
	struct weir_process_manager_options options = {.run = call};
	struct weir_command command = {.reply = reply};
	uint32_t i;

	(void)state;
	open_world(&options);
	for (i = 1; i <= 1000; i++) {
		command.result = i % 2 ? &command : NULL;
		assert_int_equal(weir_process_manager_offer(&manager, &command),
				 0);
		assert_int_equal(outcomes[WEIR_OUTCOME_DONE], i);
	}
	close_world();
}

static void e14_without_timers_a_deadline_is_refused(void **state)
{
	struct weir_process_manager_options options = {
		.process = &brief_ops,
		.process_size = sizeof(struct brief),
		.set_up = brief_set_up,
		.max = 1,
		.timeout_ns = 1,
	};
	struct weir_command command = {.reply = reply, .timeout_ns = 1};
	uint32_t i;

	(void)state;
	assert_int_equal(weir_executor_init(&executor, &direct, NULL), 0);
	assert_int_equal(weir_process_manager_init(&manager, &executor,
						   &options),
			 -ENOTSUP);
	assert_int_equal(weir_executor_fini(&executor), 0);
	options.timeout_ns = 0;
	open_world(&options);
	for (i = 1; i <= 10; i++) {
		assert_int_equal(weir_process_manager_offer(&manager, &command),
				 0);
		assert_int_equal(outcomes[WEIR_OUTCOME_REFUSED], i);
		assert_int_equal(last_code, -ENOTSUP);
	}
	command.timeout_ns = 0;
	assert_int_equal(weir_process_manager_offer(&manager, &command), 0);
	assert_int_equal(outcomes[WEIR_OUTCOME_DONE], 1);
	close_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_over_when_its_offer_returns),
		cmocka_unit_test(so_is_a_call),
		cmocka_unit_test(e14_without_timers_a_deadline_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
