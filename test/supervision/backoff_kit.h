/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A world for tests of the back-off supervisor: a simulator, a system, one
 * supervisor with a factory of children, and what has become of all of them. A
 * child takes items, each of which tells it what to do then.
 */
#ifndef WEIR_TEST_SUPERVISION_BACKOFF_KIT_H
#define WEIR_TEST_SUPERVISION_BACKOFF_KIT_H

#include "kit/world.h"

#include <weir/backoff_supervisor.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define DAY (24 * 60 * MINUTE)
#define ITEMS 512
#define CHILDREN 128
#define CAPACITY 4

/* What the child does when it has taken the item. */
enum what { TAKE, FINISH, FAIL, FATAL, LAST };

struct backoff_world {
	struct world base;
	enum what what[ITEMS + 1];
	size_t items; /* made so far */
	struct weir_backoff_supervisor_options options;
	struct weir_backoff_supervisor supervisor;
	enum weir_restart_type restart; /* the supervisor's */
	struct weir_actor_id ref;
	struct weir_error *error; /* that it ended with */
	struct fate fate;	  /* its */
	/* its children */
	uint64_t made_ns[CHILDREN];
	uint32_t made, alive, started, released;
	bool slow;	  /* they take their time to stop */
	bool start_fails; /* their pre_start */
	bool no_input;
	struct weir_in *foreign; /* given for the child's in-port */
	bool finishes;		 /* the factory says so meanwhile */
	uint32_t fails;		 /* so many calls of the factory */
	int code;		 /* with that */
	uint32_t
		bad_from; /* from this call on it makes what has been started */
	/* what others have got */
	uint32_t dead;	/* by the system's hook */
	uint32_t asked; /* calls of `absent` */
	int answer;	/* its */
};

struct child {
	struct weir_actor actor;
	struct weir_in in;
	struct backoff_world *world;
};

/* --- The child ------------------------------------------------------------ */

struct child *child_of(struct weir_actor *actor);
int child_turn(struct weir_actor *actor);
void child_stopped(struct weir_actor *actor, struct weir_error *error);
void backoff_child_released(struct weir_actor *actor);

extern const struct weir_lifecycle child_life;

extern const struct weir_actor_ops backoff_child_ops;

/* Its executor's allocator is the failing one, too. */
struct child *child_new(struct backoff_world *world);
int backoff_make(struct weir_actor **actor, struct weir_in **in, void *context);

/* For failures that are to be ends. */
extern const struct weir_strategy stops;

/* --- The world ------------------------------------------------------------ */

void backoff_on_dead_letter(struct weir_system *system, struct weir_actor_id to,
			    void *item, void *context);
int on_absent(void *item, void *context);

/* Options as most tests want them. */
void backoff_world_init(struct backoff_world *world, uint64_t seed,
			size_t fail);
int backoff_system(struct backoff_world *world, uint64_t seed);

/* Spawned under `parent`, and not run yet. */
void supervisor_spawn(struct backoff_world *world, struct weir_actor_id parent);
void backoff_start(struct backoff_world *world);
void backoff_world_begin(struct backoff_world *world, uint64_t seed);

/* The usual world, its supervisor and the first child running. */
void backoff_begin(struct backoff_world *world, uint64_t seed);
void begin_on_failure(struct backoff_world *world, uint64_t seed,
		      const struct weir_strategy *strategy);
void backoff_close(struct backoff_world *world);
void backoff_end(struct backoff_world *world);

/* Is the supervisor's actor in the tree still? */
bool over(const struct backoff_world *world);
struct weir_actor_id child(struct backoff_world *world);
bool has_child(struct backoff_world *world);
uint32_t backoff_count(struct backoff_world *world);

/* A new item, which is dropped again if it is not taken. */
int backoff_put(struct backoff_world *world, enum what what);

/* The child does that, and what follows at once has happened. */
void backoff_tell(struct backoff_world *world, enum what what);

/* The child that there is stops. */
void stop_child(struct backoff_world *world);

/* How long it takes until there is the next child, exactly. */
uint64_t wait_for_child(struct backoff_world *world);

/* The delay after the next end of a child. */
uint64_t next_delay(struct backoff_world *world);

#endif
