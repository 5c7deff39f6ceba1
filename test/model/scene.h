/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about actors are made of: an executor with a place for
 * each actor, actors with ports of every kind, and tokens that know where they
 * went. All that is plain here is judged by the explorer: two slices of one
 * actor at once are a race.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/weir.h>

#include "executor/registry.h"
#include "runner.h"

enum { SCENE_ACTORS = 3, SCENE_OTHERS = 4, SCENE_TOKENS = 4 };
/* Places: of the actors, of the others, and of one that is told apart. */
enum { SCENE_OVER = SCENE_ACTORS + SCENE_OTHERS, SCENE_PLACES };

struct token {
	enum { NOT_YET, MADE, DELIVERED, DROPPED } value;
	bool accepted;
	/* May have several holders, the last of whom ends it; set in setup. */
	bool shared;
	uint32_t holders; /* atomic */
};

struct fate {
	uint32_t stopped, released;
	int code; /* it was stopped with */
	uint32_t ended, cancelled, signalled;
	int end_code;	  /* the last stream ended with */
	uint32_t seen[2]; /* payloads, by the handler of signals */
	uint32_t delivered;
};

struct scene {
	struct weir_executor executor;
	/* An executor that runs at once, instead of one that queues. */
	bool at_once;
	struct weir_task *refused; /* the one that it does not take */
	/* By so much its clock is read too early: nothing orders that. */
	uint64_t early;
	/* Its clock, and the one timer there is. Atomic. */
	uint64_t now;
	uint64_t armed; /* to fire then, 0 not at all */
	struct weir_timer *timer;
	uint32_t watched; /* atomic: node 0 waits for its descriptor */
	uint32_t bytes;	  /* atomic: in the kernel, to be read */
	uint32_t edge;	  /* atomic: they have not been told of */
	uint32_t came;	  /* bytes in all */

	struct node *nodes[SCENE_ACTORS];
	uint32_t n_nodes;
	/* Of actors that the library has made, as they were first queued. */
	struct weir_task *others[SCENE_OTHERS];
	struct weir_task *over; /* the one told apart, or NULL */
	/* Atomic: to be run; the others behind the actors. */
	uint32_t queued[SCENE_PLACES];

	struct weir_items items;
	struct token tokens[SCENE_TOKENS];
	struct fate fates[SCENE_ACTORS];
	uint32_t payload[2]; /* atomic, without an order of its own */
	bool answers;	     /* the handler of signals does: */
	uint32_t answer;     /* atomic: 2 from there, without a look */
	struct weir_ending drain;
	uint32_t drained;
	struct weir_error *error;
	struct weir__shard shards[2];
	bool tells;    /* actors do when they are released, before it ends */
	uint32_t told; /* atomic: how many have */
	struct node *next; /* started by who has told, if it is not NULL */
};

/* An actor. Its memory is gone once it is released. */
struct node {
	struct weir_actor actor;
	char name[8]; /* for ops that name it so */
	struct scene *scene;
	struct fate *fate;
	uint32_t index;
	struct weir_in in[2];
	struct weir_out out, out2; /* with both it survives a cancel */
	struct weir_permits permits;
	struct weir_any any;
	struct weir_delay delay;
	struct weir_fd fd;
	void (*second_ended)(struct node *node); /* instead of finishing */
	uint32_t first, last; /* tokens a source makes, then it finishes */
	uint32_t stop_after;  /* tokens a sink takes, then it finishes, */
	bool cancels;	      /* or only cancels */
};

extern struct scene scene;

/* In a setup: first this, then the actors, then scene_start(). */
struct scene *scene_open(void *context, bool at_once);
struct node *scene_node(struct scene *s, weir_turns *turns);
/* The same with an in-port; takes a token a turn. */
struct node *scene_sink(struct scene *s, size_t capacity);
/* Puts tokens `first` to `last`, one a turn, then finishes. */
struct node *scene_source(struct scene *s, uint32_t first, uint32_t last);
void scene_start(struct scene *s);

/*
 * In a setup: threads 0 and 1 are the executor's own. Then first in the thread.
 */
void scene_own_threads(struct scene *s);
void scene_use_share(struct scene *s);

/*
 * Runs one slice of the actor if it is queued; SCENE_ACTORS and up: others;
 * SCENE_OVER: the one told apart.
 */
bool scene_run(struct scene *s, uint32_t i);
/* Until nothing is queued. */
void scene_settle(struct scene *s);

/* The clock shows that, and the timer fires if that is its time. */
void scene_pass_time(struct scene *s, uint64_t now);

/*
 * A byte comes to the descriptor of node 0; a poller fires its watch if there is
 * something to tell; the node reads all that is there.
 */
void scene_bytes_come(struct scene *s);
void scene_poll(struct scene *s);
uint32_t scene_read(struct weir_executor *executor);

/* For the scene's drain, to be called in a setup; no deadline if 0. */
void scene_drain(struct scene *s, uint64_t deadline_ns);
void scene_abort(struct scene *s);

/* Puts token `i`; whether the port has accepted it stands in the token. */
void scene_put(struct node *node, uint32_t port, uint32_t i);
/*
 * It was delivered, or dropped. Without any order, unless it is shared: the
 * library has to see to that.
 */
void scene_end_token(struct token *token, uint32_t value);
/* A turn that takes a token of in-port `port`. */
void scene_take(struct node *node, uint32_t port);

/* Checks. All tokens accepted were delivered or dropped. */
void scene_tokens_are_over(const struct scene *s);
/* All tokens accepted were delivered, all actors are at rest. */
void scene_at_rest(void *context);
/* All tokens accepted were delivered or dropped, all actors released once,
 * after they stopped, and all memory is free. */
void scene_is_over(void *context);

#define SCENARIO(...) \
	{ \
		.context = &scene, .context_size = sizeof(scene), __VA_ARGS__ \
	}

extern const struct scene_group firing, links, starts, stops, ports, registry,
	ends;

#endif
