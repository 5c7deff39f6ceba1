/* SPDX-License-Identifier: BSD-2-Clause */
/* A process manager makes a call for each command, two at a time. */
#include <stdio.h>
#include <weir/weir.h>

static int call(struct weir_command *command, void *context)
{
	printf("%s\n", command->id);
	return weir_latch_count_down(context, 1);
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	(void)command, (void)outcome, (void)error;
}

int main(void)
{
	struct weir_latch left; /* calls */
	struct weir_command a = {.reply = reply, .id = "a"}, b = a;
	struct weir_process_manager_options options = {
		.run = call, .context = &left, .max = 2, .buffer = 4};
	struct weir_process_manager manager;
	struct weir_system *system;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 || weir_latch_init(&left, 2) < 0 ||
	    weir_system_new(&system, weir_loop_executor(loop), NULL) < 0 ||
	    weir_process_manager_init(&manager, weir_loop_executor(loop),
				      &options) < 0 ||
	    weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
			      NULL) < 0)
		return 1;
	b.id = "b";
	return weir_process_manager_offer(&manager, &a) < 0 ||
	       weir_process_manager_offer(&manager, &b) < 0 ||
	       weir_completion_wait(&left.completion, WEIR_FOREVER) < 0 ||
	       weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	       weir_system_free(system) < 0 || weir_loop_free(loop) < 0;
}
