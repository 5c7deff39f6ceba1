/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What operators that compress and decompress have in common: an operator of
 * the user's (flow_operator.h), which takes pieces and gives blocks. What is in
 * between is a codec, a table of functions over a library's streams.
 */
#ifndef WEIR_Z_CODER_H
#define WEIR_Z_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/flow_compress.h>
#include <weir/flow_operator.h>

/* What a step is to do. */
enum weir__coding {
	WEIR__CODING_RUN,   /* take what came in */
	WEIR__CODING_FLUSH, /* give all that was taken */
	WEIR__CODING_END,   /* the same, and the end; there is no more input */
};

/* One step: what is there, and what the codec has done. */
struct weir__coder_step {
	enum weir__coding coding;
	const char *in;
	size_t n_in; /* at first; what is left */
	char *out;
	size_t n_out;	     /* room; what is left of it */
	const char *message; /* of an error; lives for ever */
};

struct weir__coder_args;

struct weir__codec {
	const char *name;
	size_t state_size;
	bool decodes;
	/* How many bytes begin a member: more that are none are trailing. */
	size_t magic;
	/* The state is zeroed. 0, or a negative errno: then it holds nothing. */
	int (*open)(void *state, const struct weir__coder_args *args,
		    const struct weir_allocator *allocator);
	void (*close)(void *state);
	/*
	 * Takes and gives as much as there is and as there is room for. 1: a
	 * member, a flush or the end is complete. 0: it is not. A negative
	 * errno, with a message: it has failed, behind the bytes given.
	 * -EILSEQ: no member begins here, and this is not the first one.
	 * Who decodes is not called to flush or to end.
	 */
	int (*step)(void *state, struct weir__coder_step *step);
	/* Begins the next member. NULL: there is one at most. */
	int (*next)(void *state);
};

/* What the user has said; copied with the flow. */
struct weir__coder_args {
	const struct weir__codec *codec;
	size_t block;
	uint64_t quiet_ns, max_bytes, max_ratio;
	bool ignore_trailing;
	int format, level; /* a codec's own */
	bool checksum;
	size_t max_window;
};

/* The operator upon `flow`; `wrong`: what is wrong with the options, or NULL. */
struct weir_flow *weir__coder_new(struct weir_flow *flow,
				  struct weir__coder_args *args,
				  const char *wrong);

/* The default of a block put in. NULL, or what is wrong. */
const char *weir__coder_wrong(struct weir__coder_args *args,
			      const uint64_t *reserved);

#endif
