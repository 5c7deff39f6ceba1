/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that a request asks for, and waits for: one at a time. */
#ifndef WEIR_INSPECT_HTTP_RECORDING_H
#define WEIR_INSPECT_HTTP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include <weir/executor.h>

#define WEIR__HTTP_RECORDING_S_MAX 60u

struct weir_allocator;
struct weir_trace;

/* Zeroed memory records nothing. */
struct weir__http_recording {
	struct weir_trace *trace; /* NULL: none */
	struct MHD_Connection *connection;
	uint64_t until_ns; /* of the clock that serves */
	bool over;	   /* the connection is suspended no more */
};

/* Suspends the connection. 0, or an error of weir_trace_new(). */
int weir__http_recording_begin(struct weir__http_recording *recording,
			       struct MHD_Connection *connection,
			       uint64_t until_ns,
			       const struct weir_allocator *allocator);

/* It records for that connection, or has. */
static inline bool weir__http_recording_is_of(
	const struct weir__http_recording *recording,
	const struct MHD_Connection *connection)
{
	return recording->trace && recording->connection == connection;
}

/* When it ends; WEIR_FOREVER: it records nothing, or has ended. */
static inline uint64_t weir__http_recording_until(
	const struct weir__http_recording *recording)
{
	return recording->trace && !recording->over ? recording->until_ns
						    : WEIR_FOREVER;
}

/* The connection goes on, and is answered, or sees that it is closed. */
void weir__http_recording_end(struct weir__http_recording *recording);

/* What was recorded, once: NULL: there is no memory, or no descriptor. */
struct MHD_Response *weir__http_recording_take(
	struct weir__http_recording *recording);

/* The request of a connection is over. */
void weir__http_recording_drop(struct weir__http_recording *recording,
			       const struct MHD_Connection *connection);

#endif
