/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other programs as operators: what a flow emits is a child process's standard
 * input, and what the child writes to its standard output is what the operator
 * emits. (node: child_process.spawn(); Go: os/exec.)
 */
#ifndef WEIR_FLOW_CHILD_H
#define WEIR_FLOW_CHILD_H

#include <weir/flow_io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a child's standard error goes. */
enum weir_flow_child_errors {
	/* where that of this process goes */
	WEIR_FLOW_CHILD_ERRORS_INHERIT,
	/* into its standard output */
	WEIR_FLOW_CHILD_ERRORS_OUTPUT,
	/* The last 4 KiB are at the end of the message of the error, if the
	 * child fails. It is always read. */
	WEIR_FLOW_CHILD_ERRORS_MESSAGE,
	/*
	 * options->errors_fd: a file; or a pipe, whose other end is read by a
	 * weir_flow_read(): then that end alone is in non-blocking mode
	 */
	WEIR_FLOW_CHILD_ERRORS_FD,
};

/* 0 or NULL means the default. Strings and arrays are copied. */
struct weir_flow_child_options {
	/* Where the child runs, and from where a relative argv[0] with a slash
	 * counts; NULL: where this process does. */
	const char *directory;
	/* "NAME=value", ended by NULL. NULL: the environment of this process
	 * when the child starts. */
	const char *const *environment;
	enum weir_flow_child_errors errors;
	/* The caller's, who keeps it open as long as the flow runs. */
	int errors_fd;
	size_t block; /* most bytes of an item, at most 1 GiB; 0: 64 KiB */
	/* How long a child that is not wanted any more has between SIGTERM and
	 * SIGKILL; 0: 5 s. */
	uint64_t kill_ns;
	/*
	 * When the child has exited, a process that it has left behind may
	 * still have its output open: how long to wait for that, on the
	 * executor's clock. After that time the flow fails with -ETIMEDOUT as
	 * soon as the pipes are empty. 0: as long as it takes. (Go: WaitDelay.)
	 */
	uint64_t drain_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * Runs the program argv[0], which is looked for in PATH as a shell does, with
 * the arguments `argv`, ended by NULL and copied. `flow` emits bytes, the
 * child's standard input; NULL: its standard input is empty. Each run starts a
 * child, when the first block is asked for.
 *
 * 1. The child has no other descriptors of this process than standard input,
 *    output and error. No signal is blocked or ignored in it, and it has a
 *    process group of its own: an interrupt from the terminal does not reach
 *    it.
 * 2. Demand goes through the child: a block is read when downstream asks for
 *    one, and upstream is asked when the child has taken what it was given.
 *    Both go on side by side, so that neither of two full pipes waits for the
 *    other. The executor waits for the descriptors; an upstream in the same
 *    actor that blocks holds the child up.
 * 3. When upstream completes, the child's standard input ends. When the child
 *    closes it, or exits, upstream is cancelled, and what was not written is
 *    dropped: that is no error, and no SIGPIPE is raised.
 * 4. The flow ends when the child has exited and its output is at its end. If
 *    the child has exited with another status than 0, or by a signal, the error
 *    is -ECHILD: its message says which, and weir_flow_child_status() has it.
 * 5. When downstream cancels, upstream fails, the run is stopped or the
 *    operator itself fails, a child that has not exited gets a SIGTERM, with
 *    its process group. When it has exited, or after options->kill_ns, what is
 *    left of the group gets a SIGKILL. The run, and so the executor, is not
 *    over before the child has been waited for. What a child that has exited by
 *    itself has left behind is left alone; its output is closed.
 * 6. No handler of SIGCHLD is needed, and no other child is waited for. If
 *    SIGCHLD is ignored, or somebody else waits for all children, the status is
 *    lost: that is an error, -ECHILD.
 *
 * If the program cannot be started, the error is that of execve(2) or of what
 * was missing (-EMFILE, -EAGAIN), and names the program. -ENOSYS: a kernel
 * before Linux 5.4. -ENOTSUP: the executor watches no descriptors. The flow
 * fails: -EINVAL, no `argv`, no argv[0] or an empty one, an empty directory, no
 * such `errors`, an errors_fd below 0, a `block` above 1 GiB, something in
 * `reserved`; -ENOMEM.
 *
 * Emits: the bytes of one read, at most options->block. Completes: when the
 * child has exited with 0 and its output has ended. Cancels: when the child
 * takes no more or fails, or when downstream does. Holds: one block, and 64
 * items for the child.
 */
WEIR_API struct weir_flow *weir_flow_child(
	struct weir_flow *flow, const char *const *argv,
	const struct weir_flow_child_options *options);

/*
 * The status that the child of a weir_flow_child() has failed with, as
 * waitpid(2) has it (WIFEXITED() and so on). -ECHILD: its status was lost.
 * -EINVAL: another error, or null. Any thread.
 */
WEIR_API int weir_flow_child_status(const struct weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
