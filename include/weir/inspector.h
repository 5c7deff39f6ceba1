/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets the command `weir`, or any other program of the same user, look inside
 * this process while it runs: it asks at a socket, and is answered what
 * inspect.h says of all executors of the process.
 *
 * A program needs no line of code for it: with WEIR_INSPECT=1 in its environment
 * the library does what weir_inspector_new() does when the first executor is
 * made, and ends it when the process exits. WEIR_INSPECT may be a path, too. A
 * program with privileges that its user does not have takes no notice of it.
 */
#ifndef WEIR_INSPECTOR_H
#define WEIR_INSPECTOR_H

#include <stdint.h>

#include <weir/allocator.h>
#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_inspector;

struct weir_inspector_options {
	/*
	 * Of the socket. NULL: PID.sock in the folder weir of $XDG_RUNTIME_DIR,
	 * or in /tmp/weir-UID if that is not set; a folder that is not there is
	 * made.
	 */
	const char *path;
	uint64_t reserved[4];
};

/*
 * Listens at a unix socket until weir_inspector_free(), in a thread of its own
 * that sleeps while nobody asks. It answers the process's own user and root,
 * and only reads: nothing in the process can be changed by it. What can be asked
 * is in docs/inspector.md. `options` is copied and may be NULL.
 *
 * The socket has mode 0600. One at which nobody listens any more is replaced,
 * and, in the folder that is the default, those of all processes that are gone
 * are removed; anything else at the path stays as it is.
 *
 * -EADDRINUSE: somebody listens there, or it is no socket of this user's.
 * -EACCES: the default folder is another user's, or open to others.
 * -ENAMETOOLONG: more than 107 bytes. -EINVAL: `inspector` is NULL, reserved
 * fields. -ENOMEM, -EAGAIN: no thread can be started, or what socket(2),
 * bind(2), mkdir(2) report. Then *inspector is NULL, and nothing is left. Any
 * thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_inspector_new(
	struct weir_inspector **inspector,
	const struct weir_inspector_options *options,
	const struct weir_allocator *allocator);

/* Where it listens. Until weir_inspector_free(). */
WEIR_API const char *weir_inspector_path(
	const struct weir_inspector *inspector);

/*
 * Hangs up on who asks, waits for the thread, which takes as long as one
 * snapshot, and removes the socket. NULL is fine. In the child of a fork() only
 * the memory and the descriptors go: there is no thread, and the socket is the
 * parent's. Any thread.
 */
WEIR_API void weir_inspector_free(struct weir_inspector *inspector);

#ifdef __cplusplus
}
#endif

#endif
