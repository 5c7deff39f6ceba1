/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From begin() to end() the connection is suspended: libmicrohttpd does not look
 * at it, so that it is not seen to be gone. Behind end() its request is asked for
 * again, and take() is the answer.
 */
#include "inspect_http/recording.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/trace.h>

int weir__http_recording_begin(struct weir__http_recording *recording,
			       struct MHD_Connection *connection,
			       uint64_t until_ns,
			       const struct weir_allocator *allocator)
{
	struct weir_trace *trace;
	int rc = weir_trace_new(&trace, NULL, allocator);

	if (rc < 0)
		return rc; /* perhaps as another connection's records */
	*recording = (struct weir__http_recording){
		.trace = trace,
		.connection = connection,
		.until_ns = until_ns,
	};
	MHD_suspend_connection(connection);
	return 0;
}

void weir__http_recording_end(struct weir__http_recording *recording)
{
	if (!recording->trace || recording->over)
		return;
	recording->over = true;
	(void)weir_trace_stop(recording->trace);
	MHD_resume_connection(recording->connection);
}

struct MHD_Response *weir__http_recording_take(
	struct weir__http_recording *recording)
{
	int fd = memfd_create("weir-trace", MFD_CLOEXEC);
	struct MHD_Response *response = NULL;
	struct stat is;

	/* the response's descriptor from then on */
	if (fd >= 0 && weir_trace_write(recording->trace, fd) == 0 &&
	    fstat(fd, &is) == 0)
		response =
			MHD_create_response_from_fd64((uint64_t)is.st_size, fd);
	if (!response && fd >= 0)
		(void)close(fd);
	weir__http_recording_drop(recording, recording->connection);
	return response;
}

void weir__http_recording_drop(struct weir__http_recording *recording,
			       const struct MHD_Connection *connection)
{
	if (!weir__http_recording_is_of(recording, connection))
		return;
	weir_trace_free(recording->trace);
	*recording = (struct weir__http_recording){0};
}
