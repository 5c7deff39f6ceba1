/* SPDX-License-Identifier: BSD-2-Clause */
/* Blueprints: nodes that are put upon each other, fail, and are claimed. */
#ifndef WEIR_FLOW_ENGINE_BLUEPRINT_H
#define WEIR_FLOW_ENGINE_BLUEPRINT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/in.h>

#include "flow/engine/kind.h"

/*
 * Makes a flow upon `n` flows, which it takes over; `args` is copied behind the
 * node. If one of the `n` flows has failed, the first of these is returned.
 * Else the result is a failed flow if `valid` is false or a flow is NULL
 * (-EINVAL), if a flow is taken over (-EBUSY), or if the chain is too long
 * (-E2BIG). kind->free is called for a flow that was made, but not for a failed
 * flow: then the caller still owns everything that the arguments own.
 */
struct weir_flow *weir__flow_new(const struct weir__kind *kind,
				 struct weir_flow *const *up, uint32_t n,
				 const void *args, size_t size, bool valid);

/* A failed flow: `origin` lives for ever, `message` is copied. Never NULL. */
struct weir_flow *weir__flow_failed(int code, const char *origin,
				    const char *message);

static inline struct weir_flow *weir__flow_source(const struct weir__kind *kind,
						  const void *args, size_t size,
						  bool valid)
{
	return weir__flow_new(kind, NULL, 0, args, size, valid);
}

static inline struct weir_flow *weir__flow_upon(const struct weir__kind *kind,
						struct weir_flow *up,
						const void *args, size_t size,
						bool valid)
{
	return weir__flow_new(kind, &up, 1, args, size, valid);
}

/* As weir__flow_new(), for an array of the user's: -EINVAL if there is none. */
static inline struct weir_flow *weir__flow_upon_many(
	const struct weir__kind *kind, struct weir_flow *const *up, size_t n,
	const void *args, size_t size, bool valid)
{
	if (!up || n == 0 || n > UINT32_MAX)
		return weir__flow_failed(-EINVAL, kind->name,
					 "no flows to be put upon");
	return weir__flow_new(kind, up, (uint32_t)n, args, size, valid);
}

/* As weir_flow_check() of a flow whose other outlets may be yet to come. */
int weir__flow_check(const struct weir_flow *flow, const char **origin,
		     const char **message);

/* The first flow that kind->lacking finds for this node and all nodes above, or
 * NULL. */
const struct weir_flow *weir__flow_lacking(const struct weir_flow *flow);

/* Calls kind->claim of this node and all nodes above. On an error nothing is
 * claimed. */
int weir__flow_claim(struct weir_flow *flow);
void weir__flow_unclaim(struct weir_flow *flow);

/*
 * If `flow` has just failed for a bad argument of the operator `kind`, sets the
 * message that says what is wrong with it; else changes nothing. Returns
 * `flow`.
 */
__attribute__((format(printf, 3, 4))) struct weir_flow *weir__flow_wrong(
	struct weir_flow *flow, const struct weir__kind *kind,
	const char *format, ...);

/* The same with a fixed message; NULL: nothing is wrong. */
struct weir_flow *weir__flow_wrong_as(struct weir_flow *flow,
				      const struct weir__kind *kind,
				      const char *why);
/* The same for a number that must be a size (weir__size_valid()), or a size
 * that is a power of two. */
struct weir_flow *weir__flow_wrong_size(struct weir_flow *flow,
					const struct weir__kind *kind,
					const char *what, size_t n);
struct weir_flow *weir__flow_wrong_power(struct weir_flow *flow,
					 const struct weir__kind *kind,
					 const char *what, size_t n);

/* True: `n` is a size that an operator may be given. */
static inline bool weir__size_valid(size_t n)
{
	return n > 0 && n <= WEIR_CAPACITY_MAX;
}

static inline bool weir__power_valid(size_t n)
{
	return weir__size_valid(n) && (n & (n - 1)) == 0;
}

static inline const char *weir__flow_called(const struct weir_flow *flow)
{
	return flow->name ? flow->name : flow->kind->name;
}

#endif
