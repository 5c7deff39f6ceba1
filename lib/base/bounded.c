/* SPDX-License-Identifier: BSD-2-Clause */
/* The one place that knows what each policy does: a policy that has no case
 * here does not compile. */
#include "base/bounded.h"

#include <errno.h>

bool weir__overflow_valid(enum weir_overflow overflow)
{
	switch (overflow) {
	case WEIR_OVERFLOW_BACK_PRESSURE:
	case WEIR_OVERFLOW_DROP_HEAD:
	case WEIR_OVERFLOW_DROP_TAIL:
	case WEIR_OVERFLOW_DROP_ALL:
	case WEIR_OVERFLOW_DROP_NEW:
	case WEIR_OVERFLOW_FAIL:
		return true;
	}
	return false;
}

void weir__bounded_spill(struct weir__bounded *queue, void *const *slots,
			 struct weir__dropped *dropped)
{
	size_t most = WEIR__DROPPED_MAX - dropped->n;

	if (most > queue->n_doomed)
		most = queue->n_doomed;
	dropped->n += weir__bounded_take(queue, slots,
					 dropped->items + dropped->n, most);
}

int weir__bounded_overflow(struct weir__bounded *queue, void *const *slots,
			   void *item, struct weir__dropped *dropped)
{
	assert(dropped->n < WEIR__DROPPED_MAX);
	switch (queue->overflow) {
	case WEIR_OVERFLOW_BACK_PRESSURE:
		return -EAGAIN;
	case WEIR_OVERFLOW_DROP_HEAD:
		dropped->items[dropped->n++] =
			slots[weir__deque_pop(&queue->deque)];
		return 1;
	case WEIR_OVERFLOW_DROP_TAIL:
		dropped->items[dropped->n++] =
			slots[weir__deque_pop_last(&queue->deque)];
		return 1;
	case WEIR_OVERFLOW_DROP_ALL:
		queue->n_doomed = queue->deque.n;
		weir__bounded_spill(queue, slots, dropped);
		return 1;
	case WEIR_OVERFLOW_DROP_NEW:
		dropped->items[dropped->n++] = item;
		return -ENOBUFS;
	case WEIR_OVERFLOW_FAIL:
		return -EOVERFLOW;
	}
	assert(!"the queue's maker has checked the policy");
	return -EAGAIN;
}
