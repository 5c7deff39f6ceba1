/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows through child processes, on executors of every kind that watches
 * descriptors; and what they leave behind. */
#ifndef WEIR_TEST_FLOW_CHILD_KIT_H
#define WEIR_TEST_FLOW_CHILD_KIT_H

#include "executor/places.h"
#include "flow/kit.h"
#include "kit/leftovers.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) ARGV("sh", "-c", script)

/* The sum and the order of bytes. */
struct digest {
	uint64_t n, hash;
};

void digest_add(struct digest *digest, const char *bytes, size_t n);

/* Random bytes in blocks of random length; what was made is in `made`. */
struct noise {
	uint64_t left, random;
	size_t block; /* at most */
	struct digest made;
};

struct weir_flow *noise_flow(struct noise *noise);

/* Blocks of "again\n" without an end. */
struct weir_flow *endless(void);

/* A sink that digests bytes, and one that keeps up to 64 KiB of them as a
 * string. */
struct weir_flow *digested(struct weir_flow *flow, struct digest *digest);

struct kept {
	char text[65536];
	size_t n;
};

struct weir_flow *kept(struct weir_flow *flow, struct kept *kept);

/* Runs the flow to its end and frees it: its error, or NULL. Nothing is left
 * behind. */
struct weir_error *end_of(const struct kind *kind, struct weir_flow *flow);
/* The code of the error, or 0. */
int code_of(const struct kind *kind, struct weir_flow *flow);

/* Those that watch descriptors, up to NULL. */
extern const struct kind *const watchers[];

#endif
