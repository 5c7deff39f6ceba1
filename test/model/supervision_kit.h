/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about supervision are made of: the actors of scene.h in a
 * system, on an executor that runs at once, with hooks that count. Each does
 * what the token it takes says. Whatever they do, in the end all that is left
 * goes on and is at rest, and all of it ends when the system does.
 */
#ifndef SUPERVISION_KIT_H
#define SUPERVISION_KIT_H

#include <weir/death_watch.h>
#include <weir/system.h>
#include <weir/tell.h>

#include "scene.h"

enum { USER = SCENE_ACTORS }; /* as a parent: /user */

/* What the one who takes a token does then; LEAVES: fails before it takes it,
 * once. */
enum deed { TAKES, FAILS, FINISHES, WATCHES, UNWATCHES, ADDS_PORT, LEAVES };

/* How often its hooks were called. */
struct life {
	uint32_t pre_start, pre_restart, reset, post_restart;
	uint32_t stopping, post_stop, terminated, child_ended;
	bool up; /* begun by a hook and not ended by one */
	int rc;	 /* of its watch or unwatch, or of its spawn */
};

/* The optional hooks. */
enum {
	PRE_RESTART = 1u << 0, /* its children survive */
	STOPPING = 1u << 1,    /* says 1 */
	TERMINATED = 1u << 2,
	CHILD_ENDED = 1u << 3,
	SIGNALLED_FINISHES = 1u << 4,
	/* With PRE_RESTART, which does that with the failed token, or puts it
	 * into the stash that it has. */
	RETRIES = 1u << 5,
	STASHES = 1u << 6,
};

struct graceful {
	struct weir_graceful_stop stop;
	struct family *family;
};

/* Who takes it keeps it. Gone once both sides have let go. */
struct question {
	struct weir_ask ask;
	struct family *family;
};

/* No one of the system's. Gone once it is released. */
struct asker {
	struct weir_actor actor;
	struct weir_ask_in answers;
	struct family *family;
};

struct family {
	struct scene scene; /* first */
	struct weir_system *system;
	struct weir_actor_id refs[SCENE_ACTORS];
	struct life lives[SCENE_ACTORS];
	uint32_t parents[SCENE_ACTORS], hooks[SCENE_ACTORS];
	enum deed deeds[SCENE_TOKENS];
	uint32_t watched; /* by who is told to watch */
	struct weir_spawn_options options;
	/* Others that watch or wait. */
	struct weir_watcher watcher;
	uint32_t watcher_told;
	bool watcher_removed;
	struct graceful *graceful; /* gone once it is done */
	uint32_t done;
	int done_rc;
	struct question *question, *asked; /* asked: nobody has kept it yet */
	uint32_t let_go;
	struct asker *asker; /* NULL: it is gone */
	uint32_t came_back;
	uint32_t before_end, at_termination;
	struct weir_system_hook end_hook, termination_hook;
};

extern struct family family;

extern const struct weir_strategy resuming, restarting, stopping_all,
	restarting_all, in_order, escalating, waiting;

/* In a setup: this first, with what /user decides by; then the actors. */
struct family *family_open(void *context, const struct weir_strategy *strategy);
/* An actor with an in-port, not yet spawned; NULL: the default strategy. */
struct node *family_node(struct family *f, uint32_t parent, uint32_t hooks,
			 const struct weir_strategy *strategy);
/* The same, spawned. */
struct node *family_child(struct family *f, uint32_t parent, uint32_t hooks,
			  const struct weir_strategy *strategy);
/* Spawns it; one that is refused ends. */
void family_spawn(struct family *f, uint32_t i);
/* What the one takes it sends to the other; both not yet spawned. */
void family_link(struct family *f, uint32_t from, uint32_t to);
/* So many threads will put to it, signal it or stop it as an actor. */
void family_lend(struct family *f, uint32_t i, uint32_t n);

/* What threads do with one that is lent to them; then they let go of it. */
void family_put(struct family *f, uint32_t i, uint32_t token);
void family_signal(struct family *f, uint32_t i);
void family_actor_stop(struct family *f, uint32_t i);

void family_stop(struct family *f, uint32_t i);

/* Checks. How often it has begun, and whether it is alive. */
uint32_t family_begun(const struct family *f, uint32_t i);
bool family_alive(const struct family *f, uint32_t i);
/* All are at rest; then the system ends, and with it everything. */
void family_is_over(void *context);

#define FAMILY(...) \
	{ \
		.context = &family, .context_size = sizeof(family), \
		__VA_ARGS__ \
	}

extern const struct scene_group failures, supervision_trees, deaths, questions,
	pending_messages, walks;

#endif
