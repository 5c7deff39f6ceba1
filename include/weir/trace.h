/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ran when: the slices of all actors of the process, what actors waited for
 * between them, restarts and requests. Each thread that runs slices writes into
 * a ring of its own of 16384 events. A trace is written as JSON in Chrome's
 * format, which ui.perfetto.dev opens.
 *
 * A *flight recorder* keeps the last events of each thread, to be written when
 * something has gone wrong, or by a crash. A trace with a `path` is written
 * there as it goes. What was lost is counted, and told in what is written.
 *
 * One trace at a time records. While none does, a slice costs what it always
 * costs.
 */
#ifndef WEIR_TRACE_H
#define WEIR_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/allocator.h>
#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_trace;

/* What is recorded. */
enum weir_trace_kind {
	WEIR_TRACE_SLICES = 1,
	WEIR_TRACE_WAITS = 2,	 /* what an actor waited for between slices */
	WEIR_TRACE_RESTARTS = 4, /* of actors in a system */
	WEIR_TRACE_REQUESTS = 8, /* of subscribers to publishers */
	WEIR_TRACE_ALL = 15,
};

/* 0 or NULL means the default. */
struct weir_trace_options {
	uint32_t flags; /* WEIR_TRACE_..., all */
	/*
	 * Threads that can be traced at once, 16 and 2 for each CPU, at most
	 * 4096. What other threads run is lost. A thread costs 512 KiB.
	 */
	size_t threads;
	/*
	 * A file that is made, or made empty, and written while the trace goes
	 * on, by a thread. NULL: a flight recorder. Borrowed for the call.
	 */
	const char *path;
	/*
	 * Of a flight recorder: where it is written if the process gets SIGSEGV,
	 * SIGBUS or SIGABRT, as by a failed assertion of the library. Then the
	 * handler that was there before is called. NULL: nothing is done then.
	 * At most 4095 bytes, copied.
	 */
	const char *crash_path;
	uint64_t reserved[4]; /* zero */
};

/* What has become of the events so far. */
struct weir_trace_counts {
	uint64_t events;      /* recorded */
	uint64_t overwritten; /* of these, by newer ones */
	uint64_t lost;	      /* not recorded: the file was too slow, or there
			       * were too many threads */
};

/*
 * Makes a trace, which records from now on. All its memory is allocated here.
 * -EINVAL: null, an unknown kind, too many threads, both paths, a path that
 * is too long, something in `reserved`. -EBUSY: another trace records, perhaps
 * for a client of an inspector. -ENOMEM. -EAGAIN: no thread, or no key of
 * thread-specific data; the error of opening `path`. Then nothing has changed.
 * Any thread, also in a turn.
 */
WEIR_API WEIR_MUST_CHECK int weir_trace_new(
	struct weir_trace **trace, const struct weir_trace_options *options,
	const struct weir_allocator *allocator);

/*
 * Records no more. A slice that is under way is seen as one that has not ended.
 * With a `path` the file is whole on return: 0, or the error of its first write
 * that has failed. Waits for no slice. -EINVAL: null. -EALREADY: it was stopped
 * before. -ECHILD: in a child process. Any thread, also in a turn.
 */
WEIR_API int weir_trace_stop(struct weir_trace *trace);

/*
 * Writes the last events of a flight recorder to a descriptor, as a whole file.
 * It may go on meanwhile: events that are overwritten before they are read are
 * counted. 0, or the error of write(2), and then some of it is written.
 * -EINVAL: null, a negative descriptor, a trace with a `path`. -ECHILD: in a
 * child process. Any thread; one at a time, others wait.
 */
WEIR_API int weir_trace_write(struct weir_trace *trace, int fd);

/*
 * The same for a handler of a signal: takes no lock, allocates nothing, and ends
 * whatever the other threads do. As these go on, names and waits may be wrong;
 * the file says so (`"unsafe": true`). The slice of the calling thread is its
 * last event. 0, or a negative errno as of weir_trace_write(); -EBUSY: a thread
 * is writing.
 */
WEIR_API int weir_trace_write_unsafe(struct weir_trace *trace, int fd);

/* -EINVAL: null. Any thread. */
WEIR_API int weir_trace_count(const struct weir_trace *trace,
			      struct weir_trace_counts *counts);

/*
 * Stops the trace if it was not stopped, and frees it; NULL is fine. No other
 * thread uses it. In a child process it frees the child's copy.
 */
WEIR_API void weir_trace_free(struct weir_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
