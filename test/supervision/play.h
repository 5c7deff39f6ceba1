/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A *play* is what supervision's tests run: a simulated world with members,
 * which do what a table of steps says, and a log of all that has happened, in
 * words.
 *
 * A *member* is an actor with a name, an in-port for numbered items, and a
 * generation, which is 1 and grows when it is reset. The log says who and which
 * generation of it: "a1.pre_start", "a1.3" (a turn, with item 3), "a2.reset",
 * "a2.dead4" (item 4 is a dead letter). What the system tells of directives
 * stands there as "restart(a)", "limit(a)", "hook(a)".
 */
#ifndef WEIR_TEST_SUPERVISION_PLAY_H
#define WEIR_TEST_SUPERVISION_PLAY_H

#include "kit/world.h"

#include <weir/death_watch.h>
#include <weir/supervision.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

/* The moments of a member's life. */
enum when {
	PRE_START,
	PRE_RESTART,
	RESET,
	POST_RESTART,
	POST_STOP,
	STOPPING,
	TERMINATED,
	CHILD_ENDED,
	SIGNALLED,
	ENDED, /* the stream that its in-port takes from */
	TURN,
};

extern const char *const when_names[];

/* The hooks that a member has if its role does not say. */
#define HOOK(when) (1u << (when))
#define USUAL \
	(HOOK(PRE_START) | HOOK(PRE_RESTART) | HOOK(RESET) | \
	 HOOK(POST_RESTART) | HOOK(POST_STOP))

/* Those of one that restarts as by default: stops its children, post_stop and
 * pre_start. */
#define PLAIN (HOOK(PRE_START) | HOOK(RESET) | HOOK(POST_STOP))

struct member;

/* One line of what members do. It does all that is set, in this order. */
struct step {
	const char *who;
	enum when when;
	size_t item;	     /* at a turn; 0: with any */
	uint32_t generation; /* 0: any */
	const char *spawn;   /* a child of that name */
	const char *stop;    /* somebody of that name */
	const char *watch;
	bool stop_children;
	void (*call)(struct member *self);
	int fail; /* weir_actor_fail(), with a cause */
	bool finish;
	int rc; /* returns that */
};

/* What members of a name are like. */
struct role {
	const char *name;
	uint32_t hooks;			      /* 0: USUAL */
	const struct weir_strategy *strategy; /* NULL: by_code */
	enum weir_restart_type restart;
	uint64_t shutdown_ns;
	bool peeks; /* looks at its items and takes them when it has not failed */
	bool far;   /* runs on the other simulator, if there is one */
};

struct member {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_actor_ops ops;
	struct weir_lifecycle life;
	struct play *play;
	const struct role *role;
	struct member *next;
	const char *name;
	struct weir_actor_id ref;
	uint32_t generation;
	uint32_t seen; /* turns since it was reset */
	int rc;	       /* of its last spawn */
	int cause;     /* of its last restart; 0: it finished */
	bool failed;   /* since it began */
	bool begun;    /* by a hook that went well, and not ended by one */
	struct fate fate;
};

#define LOG_MAX 1024
#define ITEMS 256

struct event {
	const char *who; /* "system": not a member */
	char text[48];
};

struct play {
	struct world base;    /* its system is made with the first member */
	struct weir_sim *far; /* another one, or NULL */
	uint64_t seed;
	/* what the test sets */
	const struct step *steps;
	const struct role *roles;
	size_t n_steps, n_roles;
	const struct weir_strategy *top; /* of /user; NULL: by_code */
	/* what has come of it */
	struct member *members; /* latest first */
	struct event log[LOG_MAX];
	size_t n_log;
	char text[LOG_MAX * 16];
};

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define SCRIPT(play, table) \
	((play)->steps = (table), (play)->n_steps = LENGTH(table))
#define ROLES(play, table) \
	((play)->roles = (table), (play)->n_roles = LENGTH(table))

/* The strategy of most: the error's code names the directive. */
#define RESUME (-EAGAIN)
#define RESTART (-EIO)
#define STOP (-ENOENT)
#define ESCALATE (-EDOM)

extern const struct weir_rule by_code_rules[3];

#define BY_CODE .rules = by_code_rules, .n_rules = LENGTH(by_code_rules)

extern const struct weir_strategy by_code;

/* --- The log -------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) void note(struct play *play,
						const char *who,
						const char *format, ...);

/* All that has happened to `who` (NULL: to all), with spaces between. */
const char *told(struct play *play, const char *who);

#define assert_told(play, who, expected) \
	assert_string_equal(told(play, who), expected)

size_t times(const struct play *play, const char *text);

/* Where in the log it stands, once. */
size_t place(const struct play *play, const char *text);
bool before(const struct play *play, const char *first, const char *second);

/* Begins a new page: what is in the log has been looked at. */
void log_clear(struct play *play);

#endif
