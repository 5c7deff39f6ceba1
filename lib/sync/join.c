/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins: several completions made one. A join has no lock of its own.
 *
 * 1  pending = members whose callback may still come + 1 until the join is
 *    closed + 1 for the sweep. The thread that takes pending to 0 completes the
 *    join, and no thread touches the join or a member after its own drop. So
 *    the join completes once, not before the last member was added, and not
 *    while a callback is under way.
 * 2  state is three bits, each set once. DECIDED: set by the thread that writes
 *    the result; the thread that takes pending to 0 reads the result. CLOSED.
 *    SWEEP: members that have not completed are not waited for any more.
 * 3  The thread that sets the second of CLOSED and SWEEP sweeps: it cancels the
 *    members' callbacks, and drops one from pending for each callback that will
 *    not come. One swap decides which thread is second, so one thread sweeps,
 *    and it finds all members in the list.
 */
#include <weir/completion.h>

#include <errno.h>

#include <ck_pr.h>

#include "base/refcount.h"

enum { CLOSED = 1u << 0, DECIDED = 1u << 1, SWEEP = 1u << 2 };

/*
 * Sets bits; returns the bits that were set before. No release: the second
 * thread of rule 3 reads the list, and the lock of the completion that the last
 * member was added to has released the list.
 */
static uint32_t set(struct weir_join *join, uint32_t bits)
{
	uint32_t old = ck_pr_load_32(&join->state);

	while (!ck_pr_cas_32_value(&join->state, old, old | bits, &old))
		;
	/* acquire: the list; pairs with the release in that unlock */
	ck_pr_fence_acquire();
	return old;
}

/* Rule 1. The last touch of the caller. */
static void join_drop(struct weir_join *join)
{
	struct weir_error *error;

	if (!weir__unref(&join->pending))
		return;
	error = join->error;
	if (error)
		(void)weir_completion_fail(&join->completion, error);
	else
		(void)weir_completion_complete(&join->completion, join->value);
	/* the join may be gone; the reference was ours */
	weir_error_unref(error);
}

/* Rule 3. The caller counts in pending. */
static void sweep(struct weir_join *join)
{
	struct weir_member *member;

	for (member = join->members; member; member = member->next)
		if (weir_completion_cancel(member->await.completion,
					   &member->await))
			join_drop(join); /* not the last */
}

/* A member has completed. */
static void arrive(struct weir_await *await, struct weir_completion *completion)
{
	struct weir_join *join =
		weir_container_of(await, struct weir_member, await)->join;
	struct weir_error *error = weir_completion_error(completion);
	uint32_t bits = join->rule == WEIR_JOIN_ANY ? DECIDED | SWEEP : DECIDED;
	uint32_t old = DECIDED;

	if (error || join->rule == WEIR_JOIN_ANY)
		old = set(join, bits);
	if (!(old & DECIDED)) {
		join->first = completion;
		join->value = weir_completion_value(completion);
		join->error = weir_error_ref(error);
	}
	if ((bits & SWEEP) && (old & CLOSED) && !(old & SWEEP))
		sweep(join);
	join_drop(join);
}

int weir_join_init(struct weir_join *join, enum weir_join_rule rule)
{
	if (!join || (unsigned int)rule > WEIR_JOIN_ANY)
		return -EINVAL;
	*join = (struct weir_join){.rule = rule, .pending = 1};
	return weir_completion_init(&join->completion);
}

int weir_join_fini(struct weir_join *join)
{
	if (!join)
		return -EINVAL;
	if (!weir_completion_done(&join->completion))
		return -EBUSY;
	return weir_completion_fini(&join->completion);
}

int weir_join_add(struct weir_join *join, struct weir_member *member,
		  struct weir_completion *completion)
{
	if (!join || !member || !completion)
		return -EINVAL;
	if (ck_pr_load_32(&join->state) & CLOSED)
		return -EALREADY;
	*member = (struct weir_member){
		.await = {.done = arrive},
		.join = join,
		.next = join->members,
	};
	join->members = member;
	/* the caller holds the count that close will drop */
	weir__ref(&join->pending);
	return weir_completion_wait_async(completion, &member->await);
}

int weir_join_end(struct weir_join *join)
{
	uint32_t old;

	if (!join)
		return -EINVAL;
	if (ck_pr_load_32(&join->state) & CLOSED)
		return -EALREADY;
	if (join->rule == WEIR_JOIN_ANY && !join->members)
		return -EINVAL;
	old = set(join, CLOSED);
	if (old & SWEEP)
		sweep(join);
	join_drop(join);
	return 0;
}

int weir_join_cancel(struct weir_join *join)
{
	uint32_t pending, old;

	if (!join)
		return -EINVAL;
	pending = ck_pr_load_32(&join->pending);
	do {
		if (!pending)
			return -EALREADY;
		/* no order: a reference, taken while there are others */
	} while (!ck_pr_cas_32_value(&join->pending, pending, pending + 1,
				     &pending));
	old = set(join, DECIDED | SWEEP);
	if (!(old & DECIDED))
		join->error = weir_error_of(-ECANCELED);
	if ((old & CLOSED) && !(old & SWEEP))
		sweep(join);
	join_drop(join);
	return old & SWEEP ? -EALREADY : 0;
}

struct weir_completion *weir_join_first(const struct weir_join *join)
{
	if (!join || !weir_completion_done(&join->completion))
		return NULL;
	return join->first;
}
