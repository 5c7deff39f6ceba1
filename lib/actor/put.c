/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The producers' side of put lanes: putting, ending. And how the consumer shuts
 * one.
 */
#include "actor/put.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/fence.h"
#include "executor/registry.h"

static const struct weir_allocator *allocator(const struct weir_in *in)
{
	return in->port.actor->executor->options.allocator;
}

static size_t seqs_size(const struct weir_in *in)
{
	return ((size_t)in->mask + 1) * sizeof(uint32_t);
}

int weir__put_init(struct weir_in *in)
{
	if (!in->mask)
		return 0;
	in->lane.u.seqs = weir__alloc_lines(allocator(in), seqs_size(in));
	return in->lane.u.seqs ? 0 : -ENOMEM;
}

void weir__put_fini(struct weir_in *in)
{
	if (!in->mask)
		return;
	weir__free_lines(allocator(in), in->lane.u.seqs, seqs_size(in));
	in->lane.u.seqs = NULL;
}

static int check_put(const struct weir_in *in)
{
	if (!in || !in->lane.words)
		return -EINVAL;
	if (in->merge ? in->merge->rule != WEIR_MERGE_OPEN
		      : (in->lane_flags &
			 (WEIR__IN_LINKED | WEIR__IN_SUBSCRIBES)) != 0)
		return -EISCONN;
	return 0;
}

/*
 * Reads the put lane's head word, and renews its copy, which later puts read
 * instead of the head word. The copy is renewed by a swap: with a plain store,
 * a thread that is held up here while 2^31 more tokens pass would store a copy
 * that is wrong.
 */
static uint32_t read_head(struct weir_in *in, uint32_t copy)
{
	uint32_t head;

	/* acquire: the head is no older than the copy; pairs with the release
	 * below */
	ck_pr_fence_acquire();
	head = ck_pr_load_32(weir__lane_head(&in->lane));
	/* acquire: the consumer is done with the slots; pairs with the release
	 * in the publish of the head. release: hands this on to those who read
	 * the copy; pairs with the acquire in reserve() */
	ck_pr_fence_acqrel();
	if (head != copy)
		(void)ck_pr_cas_32(weir__lane_head_copy(&in->lane), copy, head);
	return head;
}

/*
 * Reserves the next `n` slots of the put lane: the index of the first, or a
 * negative errno. Linearises at the swap; lock-free, as a failed swap means
 * another's success. A thread that is held up before its swap for exactly a
 * multiple of 2^31 tokens, minutes at the least, would take the tail for the
 * one it knew and might overfill the ring; that is accepted, as a wider word
 * would cost each put.
 */
static inline int64_t reserve(struct weir_in *in, uint32_t n)
{
	uint32_t *tail = weir__lane_tail(&in->lane);
	uint32_t head = ck_pr_load_32(weir__lane_head_copy(&in->lane));
	uint32_t word = ck_pr_load_32(tail), used;

	do {
		if (word & 1)
			return -EPIPE;
		/* a difference above the capacity: our tail is older than the
		 * head, and the swap below fails and reads the tail anew */
		if (weir__index_diff(word >> 1, head) + n > in->mask + 1) {
			head = read_head(in, head);
			used = weir__index_diff(word >> 1, head);
			if (used <= in->mask + 1 && used + n > in->mask + 1)
				return -EAGAIN;
		}
	} while (!ck_pr_cas_32_value(tail, word, word + 2 * n, &word));
	/* acquire: the consumer is done with the slots before we fill them;
	 * pairs with the release in the publish of the head, or in
	 * read_head() */
	ck_pr_fence_acquire();
	return word >> 1;
}

/*
 * Of a put lane that is shut. True: the token of this slot is the caller's now.
 */
static bool claim(struct weir_in *in, uint32_t index)
{
	uint32_t *seq = &weir__put_seqs(in)[index & in->mask];

	return ck_pr_load_32(seq) == weir__put_seq(index) &&
	       ck_pr_cas_32(seq, weir__put_seq(index), WEIR__SEQ_GONE);
}

/*
 * The lane was shut while the caller filled `n` slots. A single token goes back
 * to the caller (-EPIPE) unless the consumer has taken it. Of several tokens
 * those that the consumer has not taken are dropped here, since the others may
 * be taken.
 */
static __attribute__((noinline)) int take_back(struct weir_in *in,
					       uint32_t index, uint32_t n)
{
	uint32_t left = ck_pr_load_32(&in->lane.state) >> WEIR__LANE_LEFT;
	uint32_t first, i, n_dropped = 0;

	/* acquire: the last tail; pairs with the release in weir__put_shut() */
	ck_pr_fence_acquire();
	first = (ck_pr_load_32(weir__lane_tail(&in->lane)) >> 1) - left;
	for (i = 0; i < n; i++) {
		/* slots before `first` were taken while the lane was open */
		if (weir__index_diff(index + i, first) > in->mask ||
		    !claim(in, index + i))
			continue;
		if (n == 1)
			return -EPIPE;
		weir__in_drop_token(
			in, weir__lane_slots(&in->lane)[(index + i) & in->mask]
				    .item);
		n_dropped++;
	}
	weir__registry_dropped(in->port.actor->executor, n_dropped);
	return 0;
}

/* Puts all `n` items, or none. */
static inline int put(struct weir_in *in, void *const *items, uint32_t n)
{
	struct weir__slot *slots = weir__lane_slots(&in->lane);
	uint32_t *seqs = weir__put_seqs(in), index, i;
	int64_t slot = reserve(in, n);

	if (slot < 0)
		return (int)slot;
	index = (uint32_t)slot;
	for (i = 0; i < n; i++)
		slots[(index + i) & in->mask].item = items[i];
	/* release: the items before their sequence numbers; pairs with the
	 * acquire in weir__put_look() */
	ck_pr_fence_release();
	for (i = 0; i < n; i++)
		ck_pr_store_32(&seqs[(index + i) & in->mask],
			       weir__put_seq(index + i));
	/* store -> load, rule 2; pairs with the fence of the arming, and with
	 * that in weir__put_shut() */
	weir__fence_full();
	if (WEIR_UNLIKELY(ck_pr_load_32(&in->lane.state) & WEIR__LANE_SHUT))
		return take_back(in, index, n);
	weir__port_unblock(&in->port);
	return 0;
}

int weir__in_put(struct weir_in *in, void *const *items, uint32_t n)
{
	return put(in, items, n);
}

int weir_in_put(struct weir_in *in, void *item)
{
	int rc = check_put(in);

	if (rc < 0)
		return rc;
	return put(in, &item, 1);
}

/* Ends the put lane, once; the caller has checked that it is one. */
int weir__in_end(struct weir_in *in, struct weir_error *error)
{
	uint32_t state;

	/* Claimed by a swap: the first end counts. */
	do {
		state = ck_pr_load_32(&in->lane.state);
		if (state & WEIR__LANE_ENDING)
			return -EALREADY;
	} while (!ck_pr_cas_32(&in->lane.state, state,
			       state | WEIR__LANE_ENDING));
	in->lane.error = weir_error_ref(error);
	/* release: the error before the end; pairs with the acquire in
	 * weir__put_look() */
	ck_pr_fence_release();
	ck_pr_or_32(weir__lane_tail(&in->lane), 1);
	weir__actor_signal(in->port.actor, WEIR__SIGNAL_PORTS);
	return 0;
}

int weir_in_end(struct weir_in *in, struct weir_error *error)
{
	int rc = check_put(in);

	return rc < 0 ? rc : weir__in_end(in, error);
}

uint64_t weir__put_shut(struct weir_in *in, bool dead)
{
	struct weir__lane *lane = &in->lane;
	uint32_t *tail = weir__lane_tail(lane);
	uint32_t n;
	uint64_t dropped = 0;

	/* no order: the owner has set it, or the last reference sees it */
	if (ck_pr_load_32(&lane->state) & WEIR__LANE_SHUT)
		return 0;
	ck_pr_or_32(tail, 1);
	n = weir__index_diff(ck_pr_load_32(tail) >> 1, in->head);
	assert(n <= in->mask + 1);
	/*
	 * release: the tail before SHUT; pairs with the acquire in take_back()
	 */
	ck_pr_fence_release();
	ck_pr_or_32(&lane->state, WEIR__LANE_SHUT | n << WEIR__LANE_LEFT);
	/* swap -> load; pairs with the fence in put() */
	ck_pr_fence_atomic_load();
	for (; n; n--, in->head++) {
		if (!claim(in, in->head))
			continue;
		/* acquire: the token; pairs with the release in put() */
		ck_pr_fence_acquire();
		weir__in_drop_unread(in, in->head, dead);
		dropped++;
	}
	return dropped;
}
