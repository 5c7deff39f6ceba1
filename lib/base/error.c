/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of streams. Errors that stand for a bare code are static and not
 * counted, so that reporting a failure never needs memory.
 */
#include <weir/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weir/allocator.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "base/words.h"

/* Static errors have no allocator; counted ones have. */
#define BARE(n, words) [n] = {.code = -(n), .origin = "", .message = (words)},

static struct weir_error bare[] = {WEIR__WORDS(BARE)};

#define CODES ((int)(sizeof(bare) / sizeof(bare[0])))

static void set(struct weir_error *error,
		const struct weir_allocator *allocator, int code,
		const char *origin)
{
	error->code = code;
	error->origin = origin ? origin : "";
	error->allocator = allocator;
	error->refs = 1;
}

int weir_error_new(struct weir_error **error, int code, const char *origin,
		   const char *message, void *cause,
		   void (*drop_cause)(void *cause),
		   const struct weir_allocator *allocator)
{
	struct weir_error *made;

	if (!error)
		return -EINVAL;
	*error = NULL;
	if (code >= 0)
		return -EINVAL;
	if (!allocator)
		allocator = weir_allocator_default();
	made = weir__alloc(allocator, sizeof(*made));
	if (!made)
		return -ENOMEM;
	set(made, allocator, code, origin);
	made->message = message ? message : "";
	made->cause = cause;
	made->drop_cause = drop_cause;
	*error = made;
	return 0;
}

struct weir_error *weir_error_of(int code)
{
	if (code >= 0 || code <= -CODES)
		code = -EINVAL;
	return &bare[-code];
}

const char *weir_strerror(int code)
{
	if (code == 0)
		return "Success";
	if (code > 0)
		code = -code;
	return code > -CODES ? bare[-code].message : "Unknown error";
}

/* The text that stands behind an error of weir_error_format(). */
static char *text_of(struct weir_error *error)
{
	return (char *)(error + 1);
}

/* `list` is used up, and `again` is a copy of it. */
static WEIR_PRINTF(4, 0) struct weir_error *format_with(
	const struct weir_allocator *allocator, int code, const char *origin,
	const char *format, va_list list, va_list again)
{
	int n = vsnprintf(NULL, 0, format, list);
	struct weir_error *error = NULL;

	if (code >= 0)
		code = -EINVAL;
	if (n >= 0)
		error = weir__alloc(allocator, sizeof(*error) + (size_t)n + 1);
	if (!error)
		return weir_error_of(code);
	set(error, allocator, code, origin);
	(void)vsnprintf(text_of(error), (size_t)n + 1, format, again);
	error->message = text_of(error);
	return error;
}

struct weir_error *weir__error_format(const struct weir_allocator *allocator,
				      int code, const char *origin,
				      const char *format, ...)
{
	struct weir_error *error;
	va_list list, again;

	va_start(list, format);
	va_start(again, format);
	error = format_with(allocator, code, origin, format, list, again);
	va_end(again);
	va_end(list);
	return error;
}

struct weir_error *weir_error_format(int code, const char *origin,
				     const char *format, ...)
{
	struct weir_error *error;
	va_list list, again;

	va_start(list, format);
	va_start(again, format);
	error = format_with(weir_allocator_default(), code, origin, format,
			    list, again);
	va_end(again);
	va_end(list);
	return error;
}

static size_t size_of(struct weir_error *error)
{
	if (error->message != text_of(error))
		return sizeof(*error);
	return sizeof(*error) + strlen(error->message) + 1;
}

static int is_bare(const struct weir_error *error)
{
	return !error->allocator;
}

struct weir_error *weir_error_ref(struct weir_error *error)
{
	if (error && !is_bare(error))
		weir__ref(&error->refs);
	return error;
}

void weir_error_unref(struct weir_error *error)
{
	if (!error || is_bare(error) || !weir__unref(&error->refs))
		return;
	if (error->drop_cause)
		error->drop_cause(error->cause);
	weir__free(error->allocator, error, size_of(error));
}
