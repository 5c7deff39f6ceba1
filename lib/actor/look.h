/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a look from another thread asks of a port. The registry's lock keeps the
 * port's actor from being released (claim 9 of executor/registry.h), and nothing
 * else: the owner goes on. So a look reads words, each as it is, and follows
 * pointers only to what lives as long as the actor, or is freed behind
 * weir__registry_await_look().
 */
#ifndef WEIR_ACTOR_LOOK_H
#define WEIR_ACTOR_LOOK_H

#include <weir/in.h>
#include <weir/inspect.h>

#include "executor/look.h"

/* What a part of an actor waits for. */
struct weir__asked {
	const char *name; /* NULL: it is not known which one it is */
	enum weir_wait wait;
	uint64_t at_ns;
	int fd;
	short events;
	const struct weir_actor *other_actor;
};

struct weir__look {
	struct weir_seen_port *seen;
	/* A link that ends in the port; of a lane without producer, what comes
	 * from outside. */
	void (*link)(struct weir__look *look, const struct weir__lane *lane,
		     uint32_t capacity);
	/* A part of the port's actor, as an operator of a flow, and what may
	 * wake it. */
	void (*part)(struct weir__look *look, const char *name,
		     enum weir_wait awaits);
	/* The part that the actor waits for while none of its ports takes
	 * part. */
	void (*waits)(struct weir__look *look, const struct weir__asked *part);
	/* What a subscriber has requested, as its publisher knows it (`to_port`
	 * is NULL), or as it knows itself (`from_port` is). */
	void (*demand)(struct weir__look *look,
		       const struct weir_seen_demand *half);
	/* The object that the port is at. */
	void (*object)(struct weir__look *look,
		       const struct weir_seen_object *object);
	/* A pool or a process manager that the actor is; without its
	 * `actor`. */
	void (*pool)(struct weir__look *look,
		     const struct weir_seen_pool *pool);
};

#endif
