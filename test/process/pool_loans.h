/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of workers that stay build from: a pool "a", workers that end
 * when they are told, actors that hold workers, and a table of those who ask
 * for one. Who asks is told once, and no worker has two holders.
 */
#ifndef WEIR_TEST_PROCESS_POOL_LOANS_H
#define WEIR_TEST_PROCESS_POOL_LOANS_H

#include "process/pool_kit.h"

#define ASKS 60
#define HOLDERS 8

/* A worker that stays. */
struct stayer {
	struct weir_actor actor;
	struct loans *loans;
	const struct ask *holder; /* who had it last */
	bool kept;		  /* and has it, until it checks it in */
};

/* Somebody who asks for a worker. */
struct ask {
	struct weir_pool_check_out request;
	struct loans *loans;
	uint32_t asked, told, cancelled; /* how often */
	int rc;				 /* what it was told last */
	bool has;
	size_t n; /* was told as the n-th */
};

struct holder {
	struct weir_actor actor;
	struct weir_actor_id id;
	bool lives; /* has not been released */
};

struct loans {
	struct pool_world world; /* first */
	struct ask asks[ASKS];
	struct holder holders[HOLDERS];
	size_t n_told;
	uint32_t crash; /* so many workers fail to start */
	int make_rc;	/* of `make` */
	/* called in `done` */
	void (*in_done)(struct ask *ask);
};

extern struct loans the_loans;

void loans_worker_end(struct loans *loans, struct weir_actor_id id);
struct weir_actor_id loans_holder(struct loans *loans, size_t i);
void loans_holder_end(struct loans *loans, size_t i);
int loans_ask_as(struct loans *loans, size_t i, struct weir_actor_id who);
int loans_ask(struct loans *loans, size_t i);
int loans_ask_as_until(struct loans *loans, size_t i, struct weir_actor_id who,
		       uint64_t deadline_ns);
int loans_ask_until(struct loans *loans, size_t i, uint64_t deadline_ns);
int loans_try_as(struct loans *loans, size_t i, struct weir_actor_id who);
int loans_try(struct loans *loans, size_t i);
int loans_wait(struct loans *loans, size_t i, uint64_t timeout_ns);
void loans_is_back(struct ask *ask);
int loans_check_in(struct loans *loans, size_t i);
bool loans_forget(struct loans *loans, size_t i);
struct weir_actor_id loans_worker(const struct loans *loans, size_t i);
void loans_init(struct loans *loans, uint64_t seed);
void loans_members(struct loans *loans, size_t stay, uint32_t limit);
void loans_fini(struct loans *loans);
void loans_over_seeds(void **state);

#define assert_same(a, b) assert_true(weir_actor_id_equal(a, b))

#define assert_members(loans, free_, idle_, queued_) \
	do { \
		struct weir_pool_counts c_ = pool_counts(&(loans)->world); \
\
		assert_int_equal(c_.free, free_); \
		assert_int_equal(c_.idle, idle_); \
		assert_int_equal(c_.queued, queued_); \
	} while (0)

struct loans_rule {
	void (*run)(struct loans *loans);
};

#undef RULE /* of worlds */
#define RULE(name) \
	{ \
#name, loans_over_seeds, NULL, NULL, &(struct loans_rule) \
		{ \
			name \
		} \
	}

#endif
