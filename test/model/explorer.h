/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stateless model checker for code compiled with WEIR_SHIM_MODEL: it runs a
 * scenario of up to three threads again and again, each time with other
 * interleavings and other (old) values seen by loads, until all within the
 * bounds have been seen or one fails.
 *
 * What is modelled, numbered; the sources refer to it.
 *
 *  1 Interleaving. Each ck_pr operation and futex call is a step. A thread
 *    that could go on is switched away from at most `preemptions` times; where
 *    it blocks, stalls or ends, every other may go on. No switch is offered
 *    before an operation on a word that, over all executions, only one thread
 *    touches or none writes; if that turns out wrong the exploration restarts.
 *  2 Each word has a modification order; memory holds its last value. A load
 *    may return an older value, and a store or read-modify-write may take a
 *    place earlier in that order, unless 3 excludes it. Each such choice
 *    counts against `stale` and reaches back at most `older` values.
 *  3 Excluded is what comes before (a) what the thread has read or written of
 *    the same word, whatever the kinds, and (b) what a fence made it see. A
 *    fence X -> Y, X and Y of load, store, atomic, makes later Ys see all that
 *    earlier Xs saw or wrote; what a store or atomic has to see travels with
 *    its value to who reads it, and on through atomics of others.
 *    acquire, lock: load, atomic -> all. release, unlock: all -> store,
 *    atomic. acqrel: both. load_depends: load, atomic -> load.
 *  4 store_load, atomic_load and memory also have one order among each other:
 *    what comes before one is seen after each later one.
 *  5 A read-modify-write is atomic: nothing comes between what it read and
 *    what it wrote. It is no fence. A cas that fails is a load.
 *  6 x86's order instead, by option `tso`: stores drain in order, later than
 *    the thread's own loads run but not later than its atomics and the fences
 *    of 4; nothing else is reordered.
 *  7 Plain accesses run at once and are not reordered. If the code is compiled
 *    with -fsanitize=thread (the explorer answers the calls, ThreadSanitizer
 *    itself is not linked) each must be ordered, by 3, after the accesses it
 *    conflicts with, or it is reported as a race; a free counts as a write.
 *  8 Memory of explorer_alloc() is not reused within an execution and any
 *    modelled or instrumented access after its free is a failure. So is a
 *    crash, a failed assert(), a deadlock and more than `steps` steps.
 *  9 futex_wait compares and sleeps in one step, and both futex calls act as
 *    ck_pr_fence_memory. A wake takes the longest sleeper. A timed wait runs
 *    out only when nobody else can run. ck_pr_stall lets others run, and if
 *    since the last one nobody wrote and this thread read nothing new, until
 *    somebody writes; to look again at once counts as a preemption. When all
 *    wait or stall, those who stall go on, `spins` times.
 *
 * Not modelled: (a) a load that sees a store which comes later in its own
 * thread's or another's program order (load buffering), (b) order by data,
 * address or control dependency (assumed absent, except for load_depends),
 * (c) spurious wakes of the futex, (d) words accessed in different sizes (a
 * failure), (e) stores of two threads to the same words take any order even
 * with fences of stores only (as in C11; hardware is stricter), (f) plain
 * accesses inside libc (a memcpy() that is really called), (g) more than the
 * bounds allow.
 */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORER_THREADS = 3 };

/*
 * A scenario is two or three threads of a few operations each:
 *
 *	static void producer(void *context)
 *	{
 *		struct world *w = context;
 *
 *		w->item = 1;
 *		weir__queue_push(&w->queue, &w->item);
 *	}
 *	static const struct explorer_scenario push_and_pop = {
 *		.name = "push and pop",
 *		.setup = make_queue,
 *		.thread = { producer, consumer },
 *		.check = nothing_is_left,
 *		.context = &world,
 *		.context_size = sizeof(world),
 *	};
 *	assert_int_equal(explorer_run(&push_and_pop, NULL, NULL),
 *			 EXPLORER_PASSED);
 *
 * context is cleared before each execution (context_size bytes), then setup
 * runs alone, then the threads, then check, alone and with all values final.
 * Any of the functions may be NULL. All state must be in the context, on the
 * stack or from explorer_alloc(), or setup must reset it. Each thread has
 * thread-local variables of its own, which are initial before each execution.
 */
struct explorer_scenario {
	const char *name;
	void (*setup)(void *context);
	void (*thread[EXPLORER_THREADS])(void *context);
	void (*check)(void *context);
	void *context;
	size_t context_size;
};

/* A zero is the default, given in brackets; bounds of zero are -1. */
struct explorer_options {
	int preemptions;     /* [2] */
	int stale;	     /* old values and early places per execution [2] */
	int older;	     /* how far back one reaches [4] */
	bool tso;	     /* x86's order */
	bool no_races;	     /* do not judge plain accesses */
	bool exhaustive;     /* leave out no equal execution: slow */
	bool quiet;	     /* print nothing */
	uint64_t executions; /* then the result is incomplete [10 million] */
	uint32_t spins;	     /* rounds of stalls in vain: a deadlock [200] */
	uint32_t steps;	     /* of one execution [5000] */
	const char *replay;  /* explorer_result.choices: this execution only */
};

enum explorer_status {
	EXPLORER_PASSED,
	EXPLORER_FAILED,
	EXPLORER_INCOMPLETE, /* stopped by options.executions */
};

struct explorer_result {
	enum explorer_status status;
	uint64_t executions; /* complete ones, restarts included */
	uint64_t pruned;     /* left early: equal to another */
	uint64_t steps;
	char message[256];
	char choices[1024]; /* for options.replay */
	const char *trace;  /* of the failure; valid until the next run */
};

/* Returns result->status, and prints a failure unless quiet. */
enum explorer_status explorer_run(const struct explorer_scenario *scenario,
				  const struct explorer_options *options,
				  struct explorer_result *result);

/* Fails the execution. */
#define explorer_assert(condition) \
	((condition) \
		 ? (void)0 \
		 : explorer_fail("%s:%d: %s", __FILE__, __LINE__, #condition))
void explorer_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* 0 to 2 in a thread, EXPLORER_THREADS in setup and check. */
int explorer_thread(void);

/*
 * A step of its own that conflicts with every other: a switch may happen here.
 * For ghost state in plain variables, whose accesses are no steps.
 */
void explorer_yield(void);

/* Shown as name+offset in traces. In setup. */
void explorer_name(const void *object, size_t size, const char *name);

/* Plain accesses to it are not judged (rule 7). In setup. */
void explorer_ignore(const void *object, size_t size);

/* For code that is not instrumented: judged as a plain access. */
void explorer_read(const void *object, size_t size);
void explorer_write(void *object, size_t size);

/* Aligned to 16. Cleared, as calloc() does, so that executions are equal. */
void *explorer_alloc(size_t size);
void explorer_free(void *memory);
/* Blocks not freed; in check. */
size_t explorer_allocated(void);

/*
 * Automatic weakening. Each fence and each read-modify-write met in a file
 * below lib/ is weakened in turn, in all scenarios that met it: a fence to
 * nothing, an fas, faa, ... to a load and a store, a cas to a load, a compare
 * and a store. One of them has to fail, or the operation proves nothing and
 * has to be listed with the reason why it stays. Bounds of 1 come first; what
 * survives them is run at the full ones, a listed one only if in doubt.
 */
struct explorer_exception {
	const char *file; /* its basename */
	const char *function;
	const char *operation; /* "ck_pr_fence_release" */
	int nth;	       /* of that operation in that function, from 0 */
	const char *reason;
};

struct explorer_weaken_options {
	struct explorer_options run;
	/* A site counts if its file contains this ["lib/"], or the second. */
	const char *files, *more_files;
	/* Look for what kills a listed one at the full bounds as well. */
	bool doubt;
	/* What runs unweakened has `stale` of 1, if by default. */
	bool shallow;
	bool quiet;
};

struct explorer_weaken_result {
	int sites; /* met and weakened */
	int killed;
	int excepted;	/* survived, and listed */
	int survivors;	/* survived, and not listed */
	int stale;	/* listed, but killed or not met */
	int failed;	/* scenarios that fail unweakened */
	int incomplete; /* runs stopped by the bound, unweakened or surviving */
	uint64_t executions;
};

/* True if nothing survived, nothing is stale, failed or incomplete. */
bool explorer_weaken(const struct explorer_scenario *const *scenarios, size_t n,
		     const struct explorer_weaken_options *options,
		     const struct explorer_exception *exceptions,
		     size_t n_exceptions,
		     struct explorer_weaken_result *result);

#endif
