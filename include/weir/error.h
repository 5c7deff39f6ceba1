/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error that ends a stream or an actor: a code, where it came from, words
 * for people, and an opaque cause that is passed on unchanged. Reference
 * counted and immutable, so that many streams can carry the same one. Function
 * results are plain negative errnos; a weir_error travels behind tokens.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_allocator;

struct weir_error {
	/* read-only */
	int code;	     /* negative errno */
	const char *origin;  /* the stage's name, never NULL */
	const char *message; /* never NULL */
	void *cause;	     /* yours, may be NULL */
	void (*drop_cause)(void *cause);
	struct {
		const struct weir_allocator *allocator;
		uint32_t refs;
	} WEIR_PRIVATE;
};

/*
 * A new error with one reference in *error. `origin` and `message` are borrowed
 * for ever (string literals, or memory that `cause` keeps alive); NULL means
 * "". On success the error owns `cause` and calls `drop_cause` (may be NULL)
 * when its last reference goes; on failure the cause stays the caller's.
 * `allocator` NULL means the default one. -EINVAL: null, or a `code` that is
 * not negative. -ENOMEM. Then *error is NULL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_error_new(
	struct weir_error **error, int code, const char *origin,
	const char *message, void *cause, void (*drop_cause)(void *cause),
	const struct weir_allocator *allocator);

/*
 * An error with a message as of printf(3), which the error keeps, in memory of
 * the default allocator, and without a cause. Never NULL: if there is no
 * memory, it returns weir_error_of(code). A stage that fails with a message of
 * its own:
 *
 *	weir_actor_fail(actor, weir_error_format(-EBADMSG, "check",
 *						 "item %zu is bad", n));
 *	return -EBADMSG;
 *
 * A `code` that is not negative gives -EINVAL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK struct weir_error *weir_error_format(
	int code, const char *origin, const char *format, ...)
	WEIR_PRINTF(3, 4);

/*
 * The text for a negative or positive errno, as strerror(3). Never NULL; the
 * string exists for ever. Any thread.
 */
WEIR_API const char *weir_strerror(int code);

/*
 * The error that stands for a bare code; never NULL, never fails, not counted.
 * Its message is weir_strerror(code), its origin "". A code that is no negative
 * errno gives the error of -EINVAL. Any thread.
 */
WEIR_API struct weir_error *weir_error_of(int code);

/* One more reference; NULL is fine. Returns its argument. Any thread. */
WEIR_API struct weir_error *weir_error_ref(struct weir_error *error);

/* One reference less; NULL is fine. Any thread. */
WEIR_API void weir_error_unref(struct weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
