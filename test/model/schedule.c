/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who runs: preemptions, switches where a thread cannot go on, and which of
 * them would lead to an execution that has been seen.
 *
 * Two executions that differ only in the order of neighbouring steps which do
 * not conflict (same word, one of them a write) are equal, hence:
 *
 *  R1 A switch before an operation is wasted unless some other thread does a
 *     conflicting one before this thread goes on. If none did, the execution
 *     in which the switch comes later is equal and has no more switches, so
 *     this one is left (pruned).
 *  R2 No switch is offered to a thread that has just been switched to and has
 *     done nothing visible yet: choosing the other at once is equal.
 *  R3 Words that nobody shares are no reason to switch (rule 1).
 */
#include "explorer_state.h"

#include <assert.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { LOCALS_SIZE = 1024 };

/* All thread-local variables of the program: the values of each thread. */
static struct {
	char *block; /* where the current thread's are */
	size_t size;
	const char *initial;
	size_t initial_size; /* the rest is 0 */
	char kept[EXPLORER_THREADS + 1][LOCALS_SIZE];
} locals;

/* It is called for the program first. */
static int find_locals(struct dl_phdr_info *info, size_t size, void *unused)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_TLS)
			continue;
		assert(header->p_memsz <= LOCALS_SIZE);
		locals.block = info->dlpi_tls_data;
		locals.size = header->p_memsz;
		locals.initial = (char *)info->dlpi_addr + header->p_vaddr;
		locals.initial_size = header->p_filesz;
	}
	return 1;
}

static void initialize_locals(char *block)
{
	memset(block, 0, locals.size);
	memcpy(block, locals.initial, locals.initial_size);
}

void schedule_swap_locals(int from, int to)
{
	memcpy(locals.kept[from], locals.block, locals.size);
	memcpy(locals.block, locals.kept[to], locals.size);
}

void schedule_switch(int next)
{
	int from = explorer.current;

	schedule_swap_locals(from, next);
	explorer.current = next;
	explorer.fresh = true;
	fiber_switch(&explorer.threads[from].fiber,
		     &explorer.threads[next].fiber);
}

int schedule_runnable(int except, int *list)
{
	int n = 0;

	for (int i = 0; i < EXPLORER_THREADS; i++)
		if (i != except && explorer.threads[i].state == RUNNABLE)
			list[n++] = i;
	return n;
}

static void describe_deadlock(char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		const struct thread *t = &explorer.threads[i];

		if (t->state == DONE)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s T%d %s at %s:%d",
			used == 0 ? "" : ",", i,
			t->state == WAITING ? "waits" : "stalls",
			trace_file(t->site->file), t->site->line);
		if (used >= size)
			return;
	}
}

static bool time_out(void)
{
	int list[EXPLORER_THREADS];
	int n = 0;
	struct thread *t;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		t = &explorer.threads[i];
		if (t->state == WAITING && t->timed)
			list[n++] = i;
	}
	if (n == 0)
		return false;
	t = &explorer.threads[list[explorer_choose(CHOOSE_TIMEOUT, n)]];
	t->state = RUNNABLE;
	t->futex = NULL;
	t->futex_result = -ETIMEDOUT;
	return true;
}

/* Their loops may count. */
static bool spin_on(void)
{
	bool any = false;

	if (explorer.spins++ == explorer.options.spins)
		return false;
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		if (explorer.threads[i].state != STALLED)
			continue;
		explorer.threads[i].state = RUNNABLE;
		any = true;
	}
	return any;
}

/* Nobody can run: time runs out for one who waits no longer than that, or who
 * stalls looks again. */
static void go_on_or_fail(void)
{
	char text[160] = "";

	if (time_out() || spin_on())
		return;
	describe_deadlock(text, sizeof(text));
	explorer_fail("deadlock:%s", text);
}

static bool all_done(void)
{
	for (int i = 0; i < EXPLORER_THREADS; i++)
		if (explorer.threads[i].state != DONE)
			return false;
	return true;
}

/* The current thread cannot go on: any other may, at no cost. */
void schedule_block(void)
{
	int list[EXPLORER_THREADS];
	int n = schedule_runnable(-1, list);
	int next;

	if (n == 0) {
		if (all_done())
			explorer_leave(FINISHED);
		go_on_or_fail();
		n = schedule_runnable(-1, list);
	}
	next = list[explorer_choose(CHOOSE_THREAD, n)];
	if (next != explorer.current)
		schedule_switch(next);
}

void explorer_conflict_all(void)
{
	for (int i = 0; explorer.n_pending > 0 && i < EXPLORER_THREADS; i++)
		if (i != explorer.current)
			explorer.threads[i].conflict = true;
}

static void mark_conflicts(uintptr_t address, bool write)
{
	if (address == 0) {
		explorer_conflict_all();
		return;
	}
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (i == explorer.current || !t->pending)
			continue;
		if (t->pending_address == 0 || (t->pending_address == address &&
						(write || t->pending_write)))
			t->conflict = true;
	}
}

/* R1: come back only to a world that has changed for this operation. */
static void preempt(int next, uintptr_t address, bool write)
{
	struct thread *t = current_thread();

	explorer.preemptions_left--;
	explorer.n_pending++;
	t->pending = true;
	t->pending_address = address;
	t->pending_write = write;
	t->conflict = false;
	if (explorer.tracing)
		trace_line("   -- T%d preempted", explorer.current);
	schedule_switch(next);
	t->pending = false;
	explorer.n_pending--;
	if (!t->conflict && !choices_replayed() && !explorer.options.exhaustive)
		explorer_leave(PRUNED);
}

/* In a replay everywhere, because what is shared is not known yet. */
static bool may_preempt(bool visible)
{
	if (choices_replayed())
		return true;
	if (explorer.options.exhaustive)
		return explorer.preemptions_left > 0;
	return visible && !explorer.fresh && explorer.preemptions_left > 0;
}

void explorer_point(uintptr_t address, bool write, bool visible)
{
	int list[EXPLORER_THREADS];
	int n, choice;

	if (++explorer.steps > explorer.options.steps)
		explorer_fail("more than %u steps: livelock?",
			      explorer.options.steps);
	if (explorer.current == MAIN)
		return;
	if (may_preempt(visible)) {
		n = 1 + schedule_runnable(explorer.current, list);
		choice = explorer_choose(CHOOSE_PREEMPTION, n);
		if (choice > 0)
			preempt(list[choice - 1], address, write);
	}
	if (visible)
		explorer.fresh = false;
	if (explorer.n_pending > 0)
		mark_conflicts(address, write);
}

void explorer_wrote(void)
{
	explorer.spins = 0;
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (i == explorer.current)
			continue;
		t->progress = true;
		if (t->state == STALLED)
			t->state = RUNNABLE;
	}
}

void explorer_yield(void)
{
	explorer_point(0, true, true);
}

int explorer_thread(void)
{
	return explorer.current;
}

void schedule_reset(void)
{
	if (!locals.block)
		dl_iterate_phdr(find_locals, NULL);
	initialize_locals(locals.block);
	for (int i = 0; i <= EXPLORER_THREADS; i++)
		initialize_locals(locals.kept[i]);
	explorer_ignore(locals.block, locals.size);
}
