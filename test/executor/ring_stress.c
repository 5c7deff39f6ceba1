/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One owner and two thieves. Each task counts its runs without any atomic
 * operation: the ring alone has to see to it that every push is followed by
 * one pop or steal, and in that order.
 */
#include "support.h"

#include <pthread.h>

#include "executor/ring.h"

#define N_TASKS 8
#define N_THIEVES 2

struct counted {
	struct weir_task task;
	bool queued;
	uint32_t back; /* atomic: may be pushed again */
	uint64_t runs;
};

static struct weir__ring ring;
static struct counted counted[N_TASKS];
static uint32_t stop;

static void run(struct weir_task *task)
{
	struct counted *self = weir_container_of(task, struct counted, task);

	assert(self->queued);
	self->queued = false;
	self->runs++;
	ck_pr_fence_release();
	ck_pr_store_32(&self->back, 1);
}

static void *rob(void *argument)
{
	uint64_t *stolen = argument;
	struct weir_task *tasks[3];
	uint32_t most = 1, n, i;

	while (!ck_pr_load_32(&stop)) {
		n = weir__ring_steal(&ring, tasks, most);
		for (i = 0; i < n; i++)
			run(tasks[i]);
		*stolen += n;
		most = most % 3 + 1;
	}
	return NULL;
}

/* Pushes what is back, up to n; some of it comes out again at once. */
static uint64_t push_some(uint32_t n)
{
	uint64_t pushed = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!ck_pr_load_32(&counted[i].back))
			continue;
		ck_pr_fence_acquire();
		counted[i].back = 0;
		counted[i].queued = true;
		assert_true(weir__ring_push(&ring, &counted[i].task));
		pushed++;
	}
	return pushed;
}

static void owner(uint64_t rounds)
{
	uint64_t pushed = 0, runs = 0, round;
	struct weir_task *task;
	uint32_t i;

	for (i = 0; i < N_TASKS; i++)
		counted[i] = (struct counted){.back = 1};
	for (round = 0; round < rounds; round++) {
		pushed += push_some((uint32_t)round % N_TASKS + 1);
		for (i = 0; i <= round / 3 % N_TASKS; i++) {
			task = weir__ring_pop(&ring);
			if (task)
				run(task);
		}
	}
	while ((task = weir__ring_pop(&ring)))
		run(task);
	for (i = 0; i < N_TASKS; i++) {
		while (!ck_pr_load_32(&counted[i].back))
			ck_pr_stall(); /* a thief still has it */
		ck_pr_fence_acquire();
		runs += counted[i].runs;
	}
	assert_int_equal(runs, pushed);
}

static void rounds(bool remote, uint64_t n)
{
	pthread_t thieves[N_THIEVES];
	uint64_t stolen[N_THIEVES] = {0};
	int i;

	stop = 0;
	ring = (struct weir__ring){.remote = remote};
	for (i = 0; i < N_THIEVES; i++)
		assert_int_equal(
			pthread_create(&thieves[i], NULL, rob, &stolen[i]), 0);
	owner(n);
	ck_pr_store_32(&stop, 1);
	for (i = 0; i < N_THIEVES; i++)
		pthread_join(thieves[i], NULL);
}

static void every_task_comes_out_once_with_fences_by_the_owner(void **state)
{
	rounds(false, test_count(3000000));
}

static void every_task_comes_out_once_with_fences_by_the_thief(void **state)
{
	if (!weir__membarrier_register())
		skip();
	rounds(true, test_count(3000000));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_task_comes_out_once_with_fences_by_the_owner),
		cmocka_unit_test(
			every_task_comes_out_once_with_fences_by_the_thief),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
