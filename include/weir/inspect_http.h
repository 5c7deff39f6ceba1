/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page for a browser that shows a program from the inside while it runs
 * (inspect.h), and its numbers for Prometheus. A library of its own,
 * libweir-inspect-http, which is there where weir was built with libmicrohttpd:
 * pkg-config weir-inspect-http. weir.h does not include this header.
 *
 *	struct weir_inspect_http *http;
 *
 *	rc = weir_inspect_http_new(&http, executor, NULL, NULL);
 *	if (rc == 0)
 *		printf("http://%s/\n", weir_inspect_http_address(http));
 *
 * 1. Who may look: all users of this machine at a loopback port; at a path only
 *    the user that the program runs as, and root. No other machine: there is no
 *    address for that. A page of another site that is open in a browser gets
 *    nothing: requests for another host than this machine are refused, and
 *    those that a browser says another site has sent.
 * 2. It can be looked at only: GET and HEAD. Who asks for a trace (trace.h) has
 *    the program traced for at most a minute.
 * 3. The server is an actor on an executor of the program's, without a thread.
 *    It looks only when it is asked, and at most five times a second, however
 *    many ask. A turn of it takes as long as a snapshot with its text, about a
 *    microsecond for each actor: on a loop all else waits meanwhile. Snapshots
 *    leave it out.
 */
#ifndef WEIR_INSPECT_HTTP_H
#define WEIR_INSPECT_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_allocator;
struct weir_completion;
struct weir_executor;
struct weir_inspect_http;
struct weir_sampler;

/* 0 or NULL is the default of each. */
struct weir_inspect_http_options {
	/*
	 * "127.0.0.1:8080", "[::1]:8080", "localhost:8080" (which is 127.0.0.1)
	 * or "unix:/run/my.sock"; port 0: any that is free. "127.0.0.1:0".
	 */
	const char *address;
	/* What is shown: `n_executors`, which are borrowed until the end. The
	 * array is copied. NULL: all that are in the process. */
	struct weir_executor *const *executors;
	size_t n_executors;
	/*
	 * Looks in place of the server, at its own executors, and knows since
	 * when each actor waits and how busy it is (sampler.h). Borrowed until
	 * the end. Not together with `executors`.
	 */
	struct weir_sampler *sampler;
	/* Connections at a time; more wait in the kernel. 16. */
	size_t connections_max;
	/* How long a connection may take for a request and its answer, or stay
	 * without one, before it is closed. 30 s. */
	uint64_t idle_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * Serves on `executor`, which watches descriptors and has timers: a pool, a
 * blocking executor or a loop. It is borrowed until the end. `options` is
 * copied and may be NULL; `allocator` NULL means the default one, and lives as
 * long as *http. libmicrohttpd takes its memory from malloc(3).
 *
 * -EINVAL: null, an address that is no loopback port and no path, executors
 * without a number, or with a sampler, more than 65536 connections, something in `reserved`.
 * -EADDRINUSE: also a path that is there. -ENOTSUP: the executor has no timers
 * or watches no descriptors. -ENOMEM, -ESHUTDOWN, what socket(2), bind(2) and
 * listen(2) report. Then *http is NULL and nothing is left. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_inspect_http_new(
	struct weir_inspect_http **http, struct weir_executor *executor,
	const struct weir_inspect_http_options *options,
	const struct weir_allocator *allocator);

/* Where it serves, as options.address has it, with the port that it has got.
 * The text lives as long as *http. NULL: null. Any thread. */
WEIR_API const char *weir_inspect_http_address(
	const struct weir_inspect_http *http);

/*
 * Serves no more: connections are cut off, the port or path is given up. Returns
 * at once; harmless when repeated. An end or a stop of the executor does the
 * same. NULL is fine. Any thread, until weir_inspect_http_free().
 */
WEIR_API void weir_inspect_http_stop(struct weir_inspect_http *http);

/*
 * A completion that is complete when it serves no more: it touches no executor
 * then, and weir_inspect_http_free() does not wait. NULL: null. Any thread; it
 * lives as long as *http.
 */
WEIR_API struct weir_completion *weir_inspect_http_over(
	struct weir_inspect_http *http);

/*
 * Stops it, waits until it is over, and frees it. 0, also for NULL. -EDEADLK: it
 * is not over, and no call may wait here, as in a turn: it was stopped, and is
 * to be freed later. On another thread than the one that runs its executor it
 * waits for that one. No other call may be under way.
 */
WEIR_API WEIR_MUST_CHECK int weir_inspect_http_free(
	struct weir_inspect_http *http);

#ifdef __cplusplus
}
#endif

#endif
