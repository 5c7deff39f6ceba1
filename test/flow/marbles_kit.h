/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures of operators, which are tests: what goes in at which time, and what
 * comes out at which. test/spec/marbles.py draws them, for docs/operators.md.
 *
 * A timeline is a row of LABEL@MS: the label of an item, `|` for the end, or
 * `!` and the name of an errno. An item that is not asked for at its time waits
 * for that, and all behind it do.
 */
#ifndef WEIR_TEST_FLOW_MARBLES_H
#define WEIR_TEST_FLOW_MARBLES_H

#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

#define MS UINT64_C(1000000)

struct picture {
	const char *call; /* as it is written here */
	struct weir_flow *(*compose)(struct weir_flow *const *flows,
				     struct weir_flow **outlets);
	const char *in[2];
	/* A nested flow, from when it is made; x is the item it is made for. */
	const char *made;
	/* When act() is called, which is from outside; set_up() is before. */
	const char *acts;
	void (*act)(void);
	void (*set_up)(void);
	/* When who takes from the outlets asks for one item; NULL: always. */
	const char *asked[2];
	const char *out[2];
	bool lists;	   /* what comes out are lists */
	uint64_t until_ms; /* where it does not end; 0: it does */
	const char *note;  /* for the picture: what the functions do */
};

/* --- What a run has ------------------------------------------------------- */

struct moment {
	char label[16];
	uint64_t at_ns;
};

struct timeline {
	struct moment moments[16];
	size_t n;
};

extern struct marbles {
	const struct picture *picture;
	struct weir_sim *sim;
	struct timeline lines[32];
	size_t n_lines;
	char labels[64][16];
	size_t n_labels;
	char out[2][256];
} marbles;

uint64_t sim_now(void);

/* A label that lives as long as the run: one behind the other. */
char *joined(const char *one, const char *two);

/* --- A source that plays a timeline --------------------------------------- */

/* picture->made, for an item or, if that is NULL, for none. */
struct weir_flow *made_for(const char *item);

/* --- What comes out ------------------------------------------------------- */

/* Lists of labels made labels. */
struct weir_flow *labels(struct weir_flow *flow);

/* --- Running -------------------------------------------------------------- */

/* It is so whatever runs first. */
void assert_picture(const struct picture *picture);

/* The same fused and cut everywhere: for those that are not about demand. */
void assert_pictures(const struct picture *pictures, size_t n);

#define COMPOSE(name, composed) \
	static struct weir_flow *compose_##name( \
		struct weir_flow *const *flows, struct weir_flow **outlets) \
	{ \
		struct weir_flow *flow = flows[0], *other = flows[1]; \
\
		(void)flow; \
		(void)other; \
		return composed; \
	}

#define DRAWN(name, text, ...) \
	static void name##_is_as_drawn(void **state) \
	{ \
		static const struct picture picture = { \
			.call = text, .compose = compose_##name, __VA_ARGS__}; \
\
		assert_picture(&picture); \
	}

/*
 * A picture of `call_`, which makes a flow of `flow`, and `other`, or `flows`.
 */
#define PICTURE(name, call_, ...) \
	COMPOSE(name, call_) \
	DRAWN(name, #call_, __VA_ARGS__)

/* The same, but it makes two `outlets`. */
#define FAN_PICTURE(name, call_, ...) \
	COMPOSE(name, (assert_int_equal(call_, 0), outlets[0])) \
	DRAWN(name, #call_, __VA_ARGS__)

#endif
