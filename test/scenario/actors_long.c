/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ten million tokens through 1, 10 and (in a long run) 100 stages: the sum,
 * the count and the order are right, and neither the stack nor the memory
 * grows with the tokens.
 */
#include "actor/kit.h"

#include <sched.h>

#include "base/futex.h"

#define N 10000000
#define STAGES_MAX 100
#define CAPACITY 256

struct relay {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	uintptr_t low, high; /* of the stack in turns */
};

static inline void note_stack(struct relay *self)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (!self->low || here < self->low)
		self->low = here;
	if (here > self->high)
		self->high = here;
}

static inline int relay_turn(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);
	uintptr_t x = (uintptr_t)weir_in_take(&self->in);

	note_stack(self);
	return weir_out_put(&self->out, (void *)(x + 1));
}
WEIR_TURN(relay_turn)

/* Counts from 0; its `in` is not used. */
struct counter {
	struct weir_actor actor;
	struct weir_out out;
	uintptr_t next, n;
};

static inline int counter_turn(struct weir_actor *actor)
{
	struct counter *self = weir_container_of(actor, struct counter, actor);
	int rc = weir_out_put(&self->out, (void *)self->next);

	if (++self->next == self->n)
		weir_actor_end(actor);
	return rc;
}
WEIR_TURN(counter_turn)

struct adder {
	struct weir_actor actor;
	struct weir_in in;
	uintptr_t n, sum, last;
	bool disordered;
	uint32_t done;
};

static inline int adder_turn(struct weir_actor *actor)
{
	struct adder *self = weir_container_of(actor, struct adder, actor);
	uintptr_t x = (uintptr_t)weir_in_take(&self->in);

	if (self->n && x != self->last + 1)
		self->disordered = true;
	self->last = x;
	self->sum += x;
	self->n++;
	return 0;
}
WEIR_TURN(adder_turn)

static void adder_released(struct weir_actor *actor)
{
	struct adder *self = weir_container_of(actor, struct adder, actor);

	/* release: pairs with the acquire in through() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->done, 1);
	weir__futex_wake(&self->done, 1);
}

static const struct weir_actor_ops relay_ops = {.turns = relay_turn_n};
static const struct weir_actor_ops counter_ops = {.turns = counter_turn_n};
static const struct weir_actor_ops adder_ops = {.turns = adder_turn_n,
						.released = adder_released};

/* Sanitizers keep freed memory and shadows: there it says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_TOLD false
#else
#define MEMORY_TOLD true
#endif

/* Peak resident memory so far, kB. */
static size_t peak_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	size_t kb = 0;

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %zu", &kb) == 1)
			break;
	fclose(status);
	return kb;
}

static struct relay relays[STAGES_MAX];

static void through(size_t stages, uintptr_t n, uint32_t workers)
{
	struct weir_threads_options options = {.workers = workers};
	struct weir_threads *pool;
	struct weir_executor *executor;
	struct counter counter = {.n = n};
	struct adder adder = {0};
	struct weir_out *out = &counter.out;
	size_t i;

	memset(relays, 0, sizeof(relays));
	assert_int_equal(weir_threads_new(&pool, &options), 0);
	executor = weir_threads_executor(pool);
	weir_actor_init(&counter.actor, &counter_ops, executor);
	weir_out_init(&counter.out, &counter.actor, NULL);
	for (i = 0; i < stages; i++) {
		weir_actor_init(&relays[i].actor, &relay_ops, executor);
		weir_in_init(&relays[i].in, &relays[i].actor, CAPACITY, NULL);
		weir_out_init(&relays[i].out, &relays[i].actor, NULL);
		assert_int_equal(weir_out_link(out, &relays[i].in), 0);
		out = &relays[i].out;
	}
	weir_actor_init(&adder.actor, &adder_ops, executor);
	weir_in_init(&adder.in, &adder.actor, CAPACITY, NULL);
	assert_int_equal(weir_out_link(out, &adder.in), 0);
	for (i = 0; i < stages; i++)
		assert_int_equal(weir_actor_start(&relays[i].actor), 0);
	assert_int_equal(weir_actor_start(&adder.actor), 0);
	assert_int_equal(weir_actor_start(&counter.actor), 0);
	while (!ck_pr_load_32(&adder.done))
		(void)weir__futex_wait(&adder.done, 0, UINT64_MAX);
	ck_pr_fence_acquire();
	while (weir_threads_free(pool) == -EBUSY)
		sched_yield(); /* the others are on their last steps */
	assert_int_equal(adder.n, n);
	assert_false(adder.disordered);
	assert_int_equal(adder.sum, n * (n - 1) / 2 + n * stages);
}

static void through_in_bounded_memory(size_t stages)
{
	/* sanitizers take ten times as long */
	uintptr_t n = test_count(MEMORY_TOLD ? N : N / 10);
	size_t before, after, i;

	/* on one thread, so that stack addresses can be compared; a tenth, so
	 * that all that is needed once is there */
	through(stages, n / 10 + 1, 1);
	for (i = 0; i < stages; i++)
		assert_true(relays[i].high - relays[i].low < 1024);
	before = peak_kb();
	through(stages, n, 1);
	for (i = 0; i < stages; i++)
		assert_true(relays[i].high - relays[i].low < 1024);
	through(stages, n, 2);
	after = peak_kb();
	/* an emulator's memory counts, too */
	if (MEMORY_TOLD && !getenv("MESON_EXE_WRAPPER"))
		assert_true(after <= before + 1024);
}

static void ten_million_tokens_through_1_stage(void **state)
{
	through_in_bounded_memory(1);
}

static void ten_million_tokens_through_10_stages(void **state)
{
	through_in_bounded_memory(10);
}

static void ten_million_tokens_through_100_stages(void **state)
{
	if (!test_soak())
		skip();
	through_in_bounded_memory(100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_million_tokens_through_1_stage),
		cmocka_unit_test(ten_million_tokens_through_10_stages),
		cmocka_unit_test(ten_million_tokens_through_100_stages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
