/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mailbox: a list into which any thread pushes, and of which one thread at a
 * time takes all that is there, oldest first. What is pushed has a node in it.
 *
 * 1. A push points its node at the newest one and swaps it for the newest,
 *    which fails if another one is the newest now. A node that was taken and
 *    pushed again meanwhile (ABA) does no harm: it is the newest, so it comes
 *    next.
 * 2. Taking exchanges the head for NULL. It compares nothing, so each node is
 *    taken once, and from then on the list is the taker's alone.
 * 3. What a thread wrote before its push happens before what comes after the
 *    take. Each push has a release in front of its swap. The take reads a head
 *    that the pushes have made, each out of the one before, and has an acquire
 *    behind it.
 * 4. Pushes are in the order of their swaps, newest first. Taking turns them
 *    round.
 */
#ifndef WEIR_BASE_MAILBOX_H
#define WEIR_BASE_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>

#include <ck_pr.h>

#include <weir/private.h>

/*
 * True: the mailbox was empty. Any thread; lock-free; linearises at the swap.
 * The node may be taken, and its memory be gone, before this returns. If the
 * push must be visible before the caller's next load, the caller passes
 * ck_pr_fence_atomic_load in between.
 */
static inline bool weir__mailbox_push(struct weir__mailbox *mailbox,
				      struct weir__node *node)
{
	struct weir__node *newest = ck_pr_load_ptr(&mailbox->newest);

	do {
		/* A node that is alone was mostly alone the last time, too: its
		 * line stays shared. */
		if (node->next != newest)
			node->next = newest;
		/* release: the node and what it is in (claim 3); pairs with the
		 * acquire in weir__mailbox_take() */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr_value(&mailbox->newest, newest, node, &newest));
	return !newest;
}

/* Any thread; a hint, without order. */
static inline bool weir__mailbox_empty(const struct weir__mailbox *mailbox)
{
	return !ck_pr_load_ptr(&mailbox->newest);
}

/* Everything, linked by next, oldest first; NULL: it was empty. One thread at a
 * time; wait-free; linearises at the exchange. */
static inline struct weir__node *weir__mailbox_take(
	struct weir__mailbox *mailbox)
{
	struct weir__node *newest = ck_pr_fas_ptr(&mailbox->newest, NULL);
	struct weir__node *oldest = NULL;

	/* acquire: claim 3; pairs with the release in weir__mailbox_push() */
	ck_pr_fence_acquire();
	while (newest) {
		struct weir__node *next = newest->next;

		if (next != oldest)
			newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

#endif
