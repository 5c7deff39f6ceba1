/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about publishers and subscribers are made of: the actors
 * of scene.h with reactive ports, and the other side of those, made by hand.
 */
#ifndef FLOWS_H
#define FLOWS_H

#include "stream_kit.h"

enum { FLOW_TAKERS = 2 };

struct flow {
	struct scene scene; /* first */
	struct weir_reactive_out *out[SCENE_ACTORS];
	struct weir_reactive_in *in[SCENE_ACTORS];
	struct taking takings[FLOW_TAKERS];
	struct giving giving;
	struct giving second;	  /* another publisher, for the same sink */
	uint32_t first_has_begun; /* atomic, and orders nothing */
	uint32_t cancel_after;
	const struct node *failing; /* with -EIO, at the next signal */
};

extern struct flow flow;

/* In a setup: this first. */
struct flow *flow_open(void *context);
/* scene_source() of tokens 0 to n - 1 with a publisher; fan: for many. */
struct node *flow_source(struct flow *f, uint32_t n, bool fan);
/*
 * Takes a token a turn, of whatever stream, through a subscriber; prefetch 0:
 * the default. After so many tokens it finishes, or cancels.
 */
struct node *flow_sink(struct flow *f, size_t capacity, size_t prefetch);
void flow_fail(struct flow *f, struct node *node);
/* A subscriber by hand; it holds its subscription. */
void flow_taker(struct flow *f, uint32_t i, int64_t first);
/* A publisher by hand, for the sink. */
void flow_giver(struct flow *f, const struct node *sink);

/* Node `node`'s publisher gets that subscriber. */
void flow_subscribe(struct flow *f, uint32_t node,
		    struct weir_subscriber *subscriber);
void flow_subscribe_taker(struct flow *f, uint32_t i);
void flow_let_go(struct flow *f, uint32_t taker);

void flow_begin(struct flow *f);
/* The next token, if it was requested. */
bool flow_give(struct flow *f);
/* The next two at once, which were requested. */
void flow_give_two(struct flow *f);
void flow_complete(struct flow *f);
void flow_giver_let_go(struct flow *f);

/* What threads do: a slice of node i, or slices until it is not queued. */
void slice_0(void *context);
void slice_1(void *context);
void work_0(void *context);
void work_1(void *context);

/* scene_is_over(), and all subscribers and subscriptions are released. */
void flow_is_over(void *context);

#define FLOW(...) \
	{ \
		.context = &flow, .context_size = sizeof(flow), __VA_ARGS__ \
	}

extern const struct scene_group publishers, subscribers, offers;

#endif
