/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the explorer's files share: the one execution under way. Everything is
 * static memory; nothing is allocated or freed while a scenario is explored,
 * and starting an execution touches only what the last one used.
 */
#ifndef EXPLORER_STATE_H
#define EXPLORER_STATE_H

#include "explorer.h"
#include "explorer_ops.h"
#include "fiber.h"

enum { MAIN = EXPLORER_THREADS };

/* Kinds of access, as fences name them. A plain read is a LOAD, a plain write
 * a STORE, a read-modify-write an ATOMIC and neither of the others. */
enum kind { LOAD, STORE, ATOMIC, KINDS };

/*
 * A view says, for each word, which message of its modification order has been
 * seen at least (by its timestamp, 0 the initial one). The first lanes are
 * clocks instead: how many fence-to-fence stretches of plain writes, and of
 * plain reads, of each thread have been seen.
 */
enum {
	LANES = 128,
	LANES_PER_VECTOR = 8,
	CLOCKS = KINDS * EXPLORER_THREADS,
};

static inline int clock_lane(enum kind kind, int thread)
{
	return (int)kind * EXPLORER_THREADS + thread;
}

typedef int16_t lanes_vector __attribute__((vector_size(16)));

struct view {
	union {
		int16_t lane[LANES];
		lanes_vector vector[LANES / LANES_PER_VECTOR];
	};
};

enum thread_state { RUNNABLE, STALLED, WAITING, DONE };

struct thread {
	struct fiber fiber;
	enum thread_state state;
	const struct explorer_site *site; /* where it blocks, for the report */

	/* Since its last stall another thread has written, or this one has
	 * read an old value or one it had not seen (rule 9). */
	bool progress;

	/* Switched away from before this operation; conflict: another thread
	 * has since done one that does not commute with it. */
	bool pending, pending_write, conflict;
	uintptr_t pending_address; /* 0 conflicts with all */

	const uint32_t *futex;
	bool timed;
	int futex_result;
	uint32_t futex_order;

	/* Rule 3. coherent: (a), any kind. bound[k]: (b), what an access of
	 * kind k must see. seen[k]: what accesses of kind k saw and wrote;
	 * used[k]: there was one since bound[k] last went into seen[k]. */
	int16_t epoch; /* of the clocks: rises at each fence */
	bool used[KINDS];
	struct view coherent, bound[KINDS], seen[KINDS];
};

enum outcome { IDLE, RUNNING, FINISHED, FAILED, PRUNED };

/* A preemption, the next thread where one cannot go on, an old value or early
 * place, whose time runs out. At most one of each in a step. */
enum choice { CHOOSE_PREEMPTION, CHOOSE_THREAD, CHOOSE_OLD, CHOOSE_TIMEOUT };

enum { CHOICES = 4096 };

struct explorer_choice {
	uint32_t step;
	uint8_t kind, chosen, n;
};

struct explorer {
	const struct explorer_scenario *scenario;
	struct explorer_options options;

	/* One execution. */
	enum outcome outcome;
	struct thread threads[EXPLORER_THREADS + 1];
	struct fiber scheduler;
	int current; /* thread, or MAIN */
	int n_pending;
	bool fresh; /* current has done no visible operation since its switch */
	bool tracing;
	int preemptions_left, stale_left;
	uint32_t steps;
	uint32_t spins; /* nobody could run, since the last write */
	uint32_t futex_order;
	uint32_t generation; /* of what static tables hold */

	/* The choices: those of the path so far, then first ones. */
	struct explorer_choice choices[CHOICES];
	uint32_t n_choices, depth;

	bool grew; /* a word turned out shared: start over */
	uint64_t n_executions, n_pruned, n_steps;
	char message[256];

	int weakened; /* site id, 0 none */
};

extern struct explorer explorer;

static inline struct thread *current_thread(void)
{
	return &explorer.threads[explorer.current];
}

/* choices.c */

/* One of n, 0 first; the execution is run again with each. */
int explorer_choose(enum choice kind, int n);
/* To the next execution; false when all have been seen. */
bool choices_next(void);
/* Those that are not the first alternative, as step, kind and number. */
void choices_write(char *text, size_t size);
void choices_read(const char *text); /* NULL: explore */
bool choices_replayed(void);

/* schedule.c */

/* A step before an operation on the word, 0 conflicts with all (rule 1). */
void explorer_point(uintptr_t address, bool write, bool visible);
/* What the current thread does now conflicts with everything pending. */
void explorer_conflict_all(void);
/* The current thread has written: whoever stalls may look again. */
void explorer_wrote(void);
void schedule_reset(void);
/* Thread-local state of one out, of the other in. */
void schedule_swap_locals(int from, int to);
void schedule_switch(int next);
/* The current thread cannot go on: any other may, at no cost. */
void schedule_block(void);
/* Writes the runnable threads but that one, returns how many. */
int schedule_runnable(int except, int *list);

/* faults.c */
void explorer_leave(enum outcome outcome) __attribute__((noreturn));
void faults_catch(void); /* for the time of a run */
void faults_release(void);

/* trace.c */
void trace_reset(void);
const char *trace_text(void);
void trace_name(const void *object, size_t size, const char *name);
void trace_names_reset(void);
void trace_op(const struct explorer_site *site, const void *address,
	      const char *format, ...) __attribute__((format(printf, 3, 4)));
void trace_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *trace_file(const char *path);
/* Both until the next call. */
const char *trace_object(const void *object);
const char *trace_code(const void *code);

/* words.c */
void memory_forget(void); /* all words, at the start of a run */
void memory_reset(void);  /* at the start of an execution */
void memory_finish(void); /* after its threads */
/* Without a step, for what is part of a greater one. */
uint64_t memory_load(const void *target, unsigned int size);
void memory_fence(enum explorer_fence fence);
/* A plain access against the modelled ones: is the last write known to it? */
bool memory_read_is_ordered(uintptr_t address);
/* And are all known that were made in these bytes? */
bool memory_write_is_ordered(uintptr_t address, size_t size);

/* plain.c */
void plain_reset(void);
void plain_check_alive(const void *address, const char *what);
/* A modelled access against earlier plain ones. */
void plain_check_word(const void *address, unsigned int size, enum kind kind);

/* sites.c */
void sites_new_run(void);
int site_meet(struct explorer_site *site);
bool site_is_weakened(struct explorer_site *site);

#endif
