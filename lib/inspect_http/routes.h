/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked for, and the answer. */
#ifndef WEIR_INSPECT_HTTP_ROUTES_H
#define WEIR_INSPECT_HTTP_ROUTES_H

#include <microhttpd.h>

#include <weir/inspect.h>

#include "inspect_http/loopback.h"
#include "inspect_http/recording.h"

struct weir_allocator;
struct weir_sampler;

/* A look at the executors, which all share that ask soon after. */
struct weir__http_view {
	const struct weir_allocator *allocator;
	const struct weir__loopback *address;
	struct weir_executor *clock;		/* the one that serves */
	struct weir_executor *const *executors; /* NULL: all there are */
	size_t n_executors;
	struct weir_sampler *sampler; /* looks in place of us; or NULL */
	/* the last one, or NULL; when it was taken, and how many before */
	struct weir_snapshot *snapshot;
	uint64_t at_ns, number;
	struct weir__http_recording recording;
};

/* Nobody asks any more. */
void weir__http_view_forget(struct weir__http_view *view);

/* MHD_AccessHandlerCallback, whose context is a view. */
enum MHD_Result weir__http_answer(void *context,
				  struct MHD_Connection *connection,
				  const char *path, const char *method,
				  const char *version, const char *upload,
				  size_t *n_upload, void **request);

#endif
