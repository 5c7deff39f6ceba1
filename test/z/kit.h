/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of compression share: texts, the plain libraries that say what
 * is right, flows of pieces, and runs whose every byte of memory is counted.
 */
#ifndef WEIR_TEST_Z_KIT_H
#define WEIR_TEST_Z_KIT_H

#include "actor/kit.h"

#include <weir/flow_compress.h>

/* --- Texts ---------------------------------------------------------------- */

struct text {
	char *bytes;
	size_t n;
};

/* Words, of which few are new: about a third of it is left. */
struct text text_of_words(size_t n, uint64_t seed);
struct text text_of_zeros(size_t n);
struct text text_of_noise(size_t n, uint64_t seed);
struct text text_copy(const char *bytes, size_t n);
/* Both, one behind the other. */
struct text text_join(struct text a, struct text b);
void text_free(struct text text);
void assert_text(struct text a, struct text b);

/* --- The four formats ------------------------------------------------------- */

struct z_limits {
	size_t block;
	uint64_t max_bytes, max_ratio;
	bool ignore_trailing;
};

struct z_format {
	const char *name;
	struct weir_flow *(*pack)(struct weir_flow *flow, size_t block,
				  uint64_t quiet_ns);
	struct weir_flow *(*unpack)(struct weir_flow *flow,
				    const struct z_limits *limits);
	/* By the library alone. */
	struct text (*plain_pack)(struct text text);
	/* The text that `n` bytes make, of one member; NULL bytes: they do
	 * not. */
	struct text (*plain_unpack)(struct text packed);
	bool several; /* members */
};

#define Z_FORMATS 4
extern const struct z_format z_formats[Z_FORMATS];

/* --- Runs --------------------------------------------------------------------- */

struct z_run {
	struct text in;
	size_t piece; /* of the input; 0: random ones, from `seed` */
	uint64_t seed;
	size_t unfused;
	int fails; /* upstream does, behind the text; 0: it ends */
	/* how it went */
	struct text out;
	size_t n_items, longest;
	int code;
	char message[128];
	/* of the run */
	struct heap heap;
	struct weir_sim *sim;
	struct weir_flow *flow;
	struct weir_flow_run *handle;
	size_t at;
	uint64_t random;
};

/* A source of the pieces of run->in. */
struct weir_flow *z_pieces(struct z_run *run);

/* Puts the end upon the flow, and starts it. */
void z_start(struct z_run *run, struct weir_flow *flow);
/* It is over, or was stopped: what it said is in *run. No memory is left. */
void z_finish(struct z_run *run);
/* Both. */
void z_go(struct z_run *run, struct weir_flow *flow);

/* Packs, or unpacks, `in` in pieces: what comes out is the caller's. */
struct text z_packed(const struct z_format *format, struct text in,
		     size_t piece, size_t block);
/* *code is what the run said. */
struct text z_unpacked(const struct z_format *format, struct text in,
		       size_t piece, const struct z_limits *limits, int *code);

#endif
