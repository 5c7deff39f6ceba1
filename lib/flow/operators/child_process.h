/* SPDX-License-Identifier: BSD-2-Clause */
/* A child process of an operator: started, waited for, and ended when the
 * operator has gone. */
#ifndef WEIR_FLOW_OPERATORS_CHILD_PROCESS_H
#define WEIR_FLOW_OPERATORS_CHILD_PROCESS_H

#include <sys/types.h>

#include <weir/flow_child.h>

#include "base/lock.h"
#include "flow/engine/op.h"

/* What a child is started with. */
struct weir__child_args {
	struct weir_flow_child_options options;
	char **argv;
	char **environment; /* or NULL */
	void *memory;	    /* where all of that lies */
	size_t size;
	bool has_input;
};

/*
 * A child that has not been waited for. Its watch holds the operator until the
 * child has exited, and then wakes it; or it waits for the child, if the
 * operator has let go of it by then.
 */
struct weir__child_process {
	const struct weir_allocator *allocator;
	struct weir__op *op; /* held as long as this lives */
	struct weir_watch watch;
	struct weir_timer timer; /* for SIGKILL; armed as it is let go of */
	uint64_t kill_ns;
	pid_t pid;	 /* of its group, too */
	int pidfd;	 /* -1: the child has been waited for */
	uint32_t refs;	 /* the watch, the timer if armed, the operator */
	uint32_t exited; /* atomic; written under the lock */
	/* guards the following, and `pidfd` */
	struct weir__lock lock;
	bool let_go;
};

/* Our ends of the child's pipes, not blocking; -1: there is none. */
struct weir__child_pipes {
	int in, out, errors;
};

void weir__child_pipes_close(struct weir__child_pipes *pipes);

/*
 * Starts a child for `op`. Returns 0 with the child in *process and our ends in
 * *pipes; or a negative errno, and nothing is left of it.
 */
int weir__child_process_new(struct weir__child_process **process,
			    struct weir__child_pipes *pipes,
			    struct weir__op *op,
			    const struct weir__child_args *args);

/* True: it has exited. Owner. */
static inline bool weir__child_process_exited(
	const struct weir__child_process *self)
{
	return ck_pr_load_32(&self->exited) != 0;
}

/* Waits for a child that has exited, once: its status, as waitpid(2) has it.
 * -ECHILD: it was lost. Owner. */
int weir__child_process_reap(struct weir__child_process *self);

/* The operator has no more to do with it. If it has not been waited for, its
 * group gets the signals. Owner. */
void weir__child_process_let_go(struct weir__child_process *self);

#endif
