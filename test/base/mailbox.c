/* SPDX-License-Identifier: BSD-2-Clause */
/* Mailboxes: what threads push is taken once, in the order of each. */
#include "support.h"

#include <pthread.h>
#include <sched.h>

#include "base/mailbox.h"

enum { N_THREADS = 3 };

struct item {
	struct weir__node node;
	uint64_t number;
	int thread;
};

static struct item *item_of(struct weir__node *node)
{
	return (struct item *)(void *)node;
}

static void what_was_pushed_first_is_taken_first(void **state)
{
	struct weir__mailbox mailbox = {0};
	struct item items[4];
	struct weir__node *node;

	for (size_t n = 0; n <= 4; n++) {
		assert_true(weir__mailbox_empty(&mailbox));
		assert_null(weir__mailbox_take(&mailbox));
		for (size_t i = 0; i < n; i++)
			assert_int_equal(weir__mailbox_push(&mailbox,
							    &items[i].node),
					 i == 0);
		assert_int_equal(weir__mailbox_empty(&mailbox), n == 0);
		node = weir__mailbox_take(&mailbox);
		for (size_t i = 0; i < n; i++, node = node->next)
			assert_ptr_equal(node, &items[i].node);
		assert_null(node);
	}
}

struct pusher {
	struct weir__mailbox *mailbox;
	uint64_t n;
	int thread;
};

static void *push_all(void *argument)
{
	const struct pusher *self = argument;

	for (uint64_t i = 1; i <= self->n; i++) {
		struct item *item = calloc(1, sizeof(*item));

		assert(item);
		item->number = i;
		item->thread = self->thread;
		weir__mailbox_push(self->mailbox, &item->node);
	}
	return NULL;
}

static uint64_t take_some(struct weir__mailbox *mailbox, uint64_t *last)
{
	struct weir__node *node = weir__mailbox_take(mailbox), *next;
	uint64_t n = 0;

	for (; node; node = next, n++) {
		struct item *item = item_of(node);

		next = node->next;
		assert_int_equal(item->number, ++last[item->thread]);
		free(item);
	}
	return n;
}

static void each_is_taken_once_behind_its_push(void **state)
{
	struct weir__mailbox mailbox = {0};
	uint64_t n = test_count(100000), last[N_THREADS] = {0}, taken = 0;
	struct pusher pushers[N_THREADS];
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++) {
		pushers[i] = (struct pusher){&mailbox, n, i};
		assert_int_equal(pthread_create(&threads[i], NULL, push_all,
						&pushers[i]),
				 0);
	}
	while (taken < n * N_THREADS) {
		taken += take_some(&mailbox, last);
		sched_yield();
	}
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_true(weir__mailbox_empty(&mailbox));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_pushed_first_is_taken_first),
		cmocka_unit_test(each_is_taken_once_behind_its_push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
