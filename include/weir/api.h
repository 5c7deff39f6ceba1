/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every public header needs: export marks, attributes, container_of.
 * Plain C11 and C++17 (with the GNU attributes and __atomic builtins that gcc
 * and clang share); no Concurrency Kit header is ever included from here.
 */
#ifndef WEIR_API_H
#define WEIR_API_H

#include <stddef.h>
#include <stdint.h>

/* Exported from the shared library; everything else is hidden. */
#define WEIR_API __attribute__((visibility("default")))

/* Ignoring the result loses something: the compiler warns. */
#define WEIR_MUST_CHECK __attribute__((warn_unused_result))

/* Parameter number n is a format as of printf(3), from number `first` on are
 * its arguments. */
#define WEIR_PRINTF(n, first) __attribute__((format(printf, n, first)))

#define WEIR_LIKELY(x) __builtin_expect(!!(x), 1)
#define WEIR_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The struct of `type` whose field `member` is at `ptr`. */
#define weir_container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/*
 * What the library keeps for itself in a struct of a program's stands in
 *
 *	struct {
 *		...
 *	} WEIR_PRIVATE;
 *
 * at its end. To a program that is one field, `private_`, whose size alone is
 * its business; what is in there changes without notice. The library's own
 * files are compiled with WEIR_INSIDE, and see an unnamed struct, of which C
 * says that its fields are the outer struct's; the layout is the same.
 * WEIR__OWN() is how functions of the headers reach these fields in both.
 */
#ifdef WEIR_INSIDE
#define WEIR_PRIVATE
#define WEIR__OWN(object) (object)
#else
#define WEIR_PRIVATE private_
#define WEIR__OWN(object) (&(object)->private_)
#endif

/* Private: compiled for ThreadSanitizer, which takes volatile for plain. */
#if defined(__SANITIZE_THREAD__)
#define WEIR__TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR__TSAN
#endif
#endif

/* For timeouts and deadlines in nanoseconds: never. */
#define WEIR_FOREVER UINT64_MAX

#endif
