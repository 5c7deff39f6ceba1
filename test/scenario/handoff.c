/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * What all else stands on: memory written before it is put into one of CK's
 * rings is seen by who takes it out. Under ThreadSanitizer this also shows that
 * the shim lets it follow CK, or it would report every item.
 */
#include "support.h"

#include <ck_ring.h>
#include <pthread.h>
#include <sched.h>

enum { CAPACITY = 64 };

struct handoff {
	ck_ring_t ring;
	ck_ring_buffer_t slots[CAPACITY];
	uint64_t n_items;
};

static void *produce(void *argument)
{
	struct handoff *handoff = argument;

	for (uint64_t i = 0; i < handoff->n_items; i++) {
		uint64_t *item = malloc(sizeof(*item));

		assert(item);
		*item = i;
		while (!ck_ring_enqueue_spsc(&handoff->ring, handoff->slots,
					     item))
			sched_yield();
	}
	return NULL;
}

static void ring_hands_over_what_was_written_before(void **state)
{
	static struct handoff handoff;
	pthread_t producer;

	handoff.n_items = test_count(1000000);
	ck_ring_init(&handoff.ring, CAPACITY);
	assert_int_equal(pthread_create(&producer, NULL, produce, &handoff), 0);
	for (uint64_t i = 0; i < handoff.n_items; i++) {
		uint64_t *item;

		while (!ck_ring_dequeue_spsc(&handoff.ring, handoff.slots,
					     &item))
			sched_yield();
		assert_int_equal(*item, i);
		free(item);
	}
	assert_int_equal(pthread_join(producer, NULL), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_hands_over_what_was_written_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
