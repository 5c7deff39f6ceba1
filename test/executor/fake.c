/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/fake.h"

#include "base/futex.h"

static bool fake_run(struct weir_task *task)
{
	struct fake_task *fake =
		weir_container_of(task, struct fake_task, task);
	bool again = fake->again > 0;

	fake->again -= again;
	fake->runs++;
	fake->run(fake); /* unless it asks again, it may be gone after this */
	return again;
}

static void fake_submit_again(struct weir_task *task)
{
	struct fake_task *fake =
		weir_container_of(task, struct fake_task, task);

	(void)fake->executor->ops->submit(fake->executor, task);
}

static bool fake_tryref(struct weir_task *task)
{
	(void)task;
	return false;
}

/* Behind the actor layer's, should the linker take that, too. */
static __attribute__((constructor)) void fake_hand_over(void)
{
	static const struct weir__task_ops fakes = {
		.run = fake_run,
		.submit = fake_submit_again,
		.tryref = fake_tryref,
	};

	weir__tasks = &fakes;
}

int fake_submit(struct weir_executor *executor, struct fake_task *fake)
{
	fake->executor = executor;
	return executor->ops->submit(executor, &fake->task);
}

void fake_alive(struct weir_executor *executor, bool alive)
{
	static struct weir_task task;
	static uint32_t index;

	if (alive) {
		(void)weir__registry_add(executor, &task, &index);
		return;
	}
	weir__registry_remove(executor, index);
	weir__registry_done(executor);
}

static void *fake_alloc(size_t size, void *context)
{
	struct fake_memory *memory = context;

	if (ck_pr_load_32(&memory->fail) != UINT32_MAX) {
		if (ck_pr_load_32(&memory->fail) == 0)
			return NULL;
		ck_pr_dec_32(&memory->fail);
	}
	ck_pr_inc_32(&memory->blocks);
	return malloc(size);
}

static void fake_free(void *block, size_t size, void *context)
{
	struct fake_memory *memory = context;

	/* The size is right: under a sanitizer, wrong ones are found. */
	memset(block, 0xdd, size);
	ck_pr_dec_32(&memory->blocks);
	free(block);
}

void fake_memory_init(struct fake_memory *memory)
{
	*memory = (struct fake_memory){
		.allocator = {fake_alloc, fake_free, memory},
		.fail = UINT32_MAX,
	};
}

void fake_raise(uint32_t *count)
{
	ck_pr_fence_release();
	ck_pr_inc_32(count);
	weir__futex_wake(count, INT32_MAX);
}

void fake_wait(uint32_t *count, uint32_t value)
{
	uint32_t seen;

	while ((seen = ck_pr_load_32(count)) < value)
		weir__futex_wait(count, seen, UINT64_MAX);
	ck_pr_fence_acquire();
}
