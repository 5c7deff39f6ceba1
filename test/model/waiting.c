/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that wait: stalls and futexes, rule 9 of explorer.h.
 */
#include "explorer_state.h"

#include <errno.h>

/* Looking again although nobody has done anything since is for loops that
 * count, and counts as a preemption: it is one that leads straight back. */
static bool stays(int n_others)
{
	if (explorer.preemptions_left == 0)
		return false;
	if (explorer_choose(CHOOSE_PREEMPTION, 1 + (n_others > 0)) == 0)
		return false;
	explorer.preemptions_left--;
	return true;
}

void explorer_op_stall(struct explorer_site *site)
{
	struct thread *t = current_thread();
	int list[EXPLORER_THREADS];
	int n;

	explorer_point(1, false, false);
	if (explorer.current == MAIN)
		return;
	if (explorer.tracing)
		trace_op(site, NULL, " ");
	t->site = site;
	n = schedule_runnable(explorer.current, list);
	if (stays(n))
		return;
	if (!t->progress) {
		t->state = STALLED;
		schedule_block();
		return;
	}
	t->progress = false;
	if (n > 0)
		schedule_switch(list[explorer_choose(CHOOSE_THREAD, n)]);
}

int explorer_op_futex_wait(const uint32_t *word, uint32_t expected,
			   uint64_t timeout_ns, struct explorer_site *site)
{
	struct thread *t = current_thread();
	uint32_t value;

	explorer_point(0, true, true);
	memory_fence(EXPLORER_FENCE_MEMORY);
	value = (uint32_t)memory_load(word, sizeof(*word));
	if (explorer.tracing)
		trace_op(site, word, "reads %u, expects %u", value, expected);
	if (value != expected)
		return -EAGAIN;
	if (explorer.current == MAIN) {
		if (timeout_ns != UINT64_MAX)
			return -ETIMEDOUT;
		explorer_fail("futex_wait for ever in setup or check");
	}
	t->state = WAITING;
	t->site = site;
	t->futex = word;
	t->timed = timeout_ns != UINT64_MAX;
	t->futex_order = explorer.futex_order++;
	t->futex_result = 0;
	schedule_block();
	if (explorer.tracing)
		trace_op(site, word, "returns %d", t->futex_result);
	memory_fence(EXPLORER_FENCE_MEMORY);
	return t->futex_result;
}

static struct thread *longest_sleeper(const uint32_t *word)
{
	struct thread *found = NULL;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (t->state == WAITING && t->futex == word &&
		    (found == NULL || t->futex_order < found->futex_order))
			found = t;
	}
	return found;
}

void explorer_op_futex_wake(uint32_t *word, int n, struct explorer_site *site)
{
	struct thread *t;

	/* The address alone is used, as in the kernel: the word's memory may
	 * have been freed by who saw it change. */
	explorer_point(0, true, true);
	memory_fence(EXPLORER_FENCE_MEMORY);
	if (explorer.tracing)
		trace_op(site, word, "at most %d", n);
	while (n-- > 0 && (t = longest_sleeper(word)) != NULL) {
		t->state = RUNNABLE;
		t->futex = NULL;
	}
}
