/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers and publishers made by hand, for the other side of the library's.
 * Both are freed by `released`, so that a later touch is a failure, and plain,
 * so that signals that do not come one after another are a race.
 */
#ifndef STREAM_KIT_H
#define STREAM_KIT_H

#include "scene.h"

/* What has become of a subscriber. */
struct taking {
	struct weir_subscriber *subscriber; /* until it is released */
	struct weir_subscription *held;	    /* a reference */
	int64_t first;			    /* requested in on_subscribe */
	bool refuses;			    /* any item */
	uint32_t refused;
	uint32_t subscribed, seen, completes, errors, released;
	int code; /* of the error */
};

/* A subscriber; it holds its subscription until it is let go. */
void taker_new(struct taking *taking, int64_t first, const char *name);
void taker_let_go(struct taking *taking);
/* Lets go; it was subscribed and released once, if it is there. */
void taker_is_over(struct taking *taking);

/* What has become of a subscription. */
struct giving {
	struct weir_subscription *subscription; /* set up by giver_begin() */
	struct weir_subscriber *subscriber;	/* a reference */
	const struct weir_items *items;
	struct token *tokens;
	bool begun;
	int64_t requested; /* atomic */
	uint32_t cancels;  /* atomic */
	int64_t sent;
	uint32_t released;
};

/* A subscription, and the scene's tokens to be given. */
void giver_new(struct giving *giving, struct scene *s);
/* The subscriber is there. */
void giver_begin(struct giving *giving);
/* The next token, if it was requested. */
bool giver_give(struct giving *giving);
/* The next one, whether it was requested or not; what on_next says. */
int giver_force(struct giving *giving);
/* The next two at once, which were requested. */
void giver_give_two(struct giving *giving);
void giver_complete(struct giving *giving);
/* Of both, or of what there is of them. */
void giver_let_go(struct giving *giving);

#endif
