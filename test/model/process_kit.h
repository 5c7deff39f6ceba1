/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about the process manager are made of: a supervision_kit.h
 * with nobody in it but a manager, and commands that know what has come of
 * them. Their memory is gone once they are replied to, the manager's once it is
 * released: whoever touches them later fails.
 */
#ifndef PROCESS_KIT_H
#define PROCESS_KIT_H

#include <weir/process_manager.h>

#include "supervision_kit.h"

enum { ORDERS = 4 };

struct order {
	struct weir_command command;
	uint32_t i;
};

/* What has come of a command. */
struct course {
	int rc; /* of its offer; 1: not offered */
	uint32_t replies;
	enum weir_outcome outcome;
	uint32_t next; /* of them, offered by its reply; 0: none */
	/* a process that is an actor; NULL: not started */
	struct weir_process *process;
	struct weir_actor_id ref;
	bool fails; /* when told, instead of finishing */
	bool vain;  /* its executor does not take it */
	/* a call */
	bool called, later;
	struct weir_command *handed; /* atomic: goes on, to be ended once */
	uint32_t traces; /* left by who ends it and by who has its place */
};

struct world {
	struct family family;		      /* first */
	struct weir_process_manager *manager; /* gone once it is released */
	struct weir_actor_id ref;
	bool kept;	/* the check has a reference of it */
	uint32_t taken; /* in the setup */
	uint32_t refs;	/* of it, before it is offered anything */
	uint32_t released;
	int cancelled;		      /* what the cancel returned; 1: none */
	struct order *orders[ORDERS]; /* gone once they are replied to */
	struct course courses[ORDERS];
	struct weir_subscription *results; /* of who has subscribed to them */
	uint32_t n_results, n_ends;	   /* that it has got */
};

extern struct world world;

uint32_t order_index(const struct weir_command *command);

/* In a setup: a manager as `options` say, which are completed. */
struct world *orders_open(void *context,
			  struct weir_process_manager_options options);
/* From now on only the threads hold the manager. */
void orders_let_go(struct world *w);

/* What threads do; with the manager, if it is not said. */
void orders_offer(struct world *w, uint32_t i);
void offer_0(void *context);
void offer_1(void *context);
void offer_2(void *context);
/* And lets go of a reference. */
void offer_0_and_let_go(void *context);
void close_manager(void *context);
void stop_manager(void *context);
void kill_manager(void *context);
/* As an actor, without the system. */
void stop_actor(void *context);
void abort_executor(void *context);
/* Cancels the commands with that id; see `cancels`. */
void cancel(void *context);
/* Only one may run from now on, or two. */
void limit_to_1(void *context);
void limit_to_2(void *context);
/* Looks at its figures. */
void look(void *context);

/* Check: all that is left ends; then the system, and with it everything. */
void orders_are_over(void *context);
/* The same, if first so many of commands 0 and 1 were taken. */
void one_was_taken(void *context);
void both_were_taken(void *context);

#define ORDERED(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

extern const struct scene_group processes, more_processes, calls, more_calls,
	results, more_results;

#endif
