/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of streams. The ones that stand for a bare code are static and not
 * counted, so that reporting a failure never needs memory.
 */
#include <weir/error.h>

#include <errno.h>

#include <ck_pr.h>

#include <weir/allocator.h>

#include "base/memory.h"

#define CODES 134 /* Linux has errno 1 to 133 */

/* They have no allocator: that is how they are told from counted ones. */
#define ONE(n) [n] = {.code = -(n), .origin = "", .message = ""}
#define FOUR(n) ONE(n), ONE((n) + 1), ONE((n) + 2), ONE((n) + 3)
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)

static struct weir_error bare[CODES] = {
	SIXTEEN(0),  SIXTEEN(16), SIXTEEN(32), SIXTEEN(48),
	SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112),
	FOUR(128),   ONE(132),	  ONE(133),
};

struct weir_error *weir_error_new(const struct weir_allocator *allocator,
				  int code, const char *origin,
				  const char *message, void *cause,
				  void (*drop_cause)(void *cause))
{
	struct weir_error *error;

	if (code >= 0)
		return NULL;
	if (!allocator)
		allocator = weir_allocator_default();
	error = weir__alloc(allocator, sizeof(*error));
	if (!error)
		return NULL;
	error->code = code;
	error->origin = origin ? origin : "";
	error->message = message ? message : "";
	error->cause = cause;
	error->drop_cause = drop_cause;
	error->allocator = allocator;
	error->refs = 1;
	return error;
}

struct weir_error *weir_error_of(int code)
{
	if (code >= 0 || code <= -CODES)
		code = -EINVAL;
	return &bare[-code];
}

static int is_bare(const struct weir_error *error)
{
	return !error->allocator;
}

struct weir_error *weir_error_ref(struct weir_error *error)
{
	/* relaxed: the caller holds a reference */
	if (error && !is_bare(error))
		ck_pr_inc_32(&error->refs);
	return error;
}

void weir_error_unref(struct weir_error *error)
{
	if (!error || is_bare(error))
		return;
	/* release: our reads of it; pairs with the acquire of the last drop */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&error->refs, (uint32_t)-1) != 1)
		return;
	/* acquire: everybody's last use before the memory goes */
	ck_pr_fence_acquire();
	if (error->drop_cause)
		error->drop_cause(error->cause);
	weir__free(error->allocator, error, sizeof(*error));
}
