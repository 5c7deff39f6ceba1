/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors on several threads at once: what the simulator and the explorer show
 * for small cases, here at full size and under ThreadSanitizer. Every item is
 * accounted for, every actor released once, and no two turns of one actor
 * overlap.
 */
#include "actor/kit.h"

#include <pthread.h>

#include "base/futex.h"

#define PUTTERS 4
#define STAGES 8
#define WORKERS 4

/* Waits on the test's own thread until everything on it has ended. */
struct ending {
	struct weir_ending drain;
	uint32_t done;
};

static void ended(struct weir_ending *drain)
{
	struct ending *ending = weir_container_of(drain, struct ending, drain);

	/* release: the results; pairs with the acquire in wait_for() */
	ck_pr_fence_release();
	ck_pr_store_32(&ending->done, 1);
	weir__futex_wake(&ending->done, 1);
}

static void wait_for(uint32_t *word)
{
	while (!ck_pr_load_32(word))
		(void)weir__futex_wait(word, 0, UINT64_MAX);
	ck_pr_fence_acquire();
}

static struct weir_threads *pool_new(uint32_t workers)
{
	/* take from others at once: more crossings than by default */
	struct weir_threads_options options = {.workers = workers,
					       .steal_ns = 1};
	struct weir_threads *pool;

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	return pool;
}

/* All actors come to their end by themselves, or are stopped. */
static void pool_free(struct weir_threads *pool, bool abort)
{
	struct ending ending = {.drain.done = ended};
	struct weir_executor *executor = weir_threads_executor(pool);
	int rc;

	rc = abort ? weir_executor_stop_async(executor, &ending.drain,
					      WEIR_FOREVER)
		   : weir_executor_end_async(executor, &ending.drain,
					     WEIR_FOREVER);
	assert_int_equal(rc, 0);
	wait_for(&ending.done);
	assert_int_equal(ending.drain.actors_left, 0);
	assert_int_equal(weir_threads_free(pool), 0);
}

/* --- A pipeline ----------------------------------------------------------- */

struct line {
	struct ledger ledger;
	struct source source;
	struct stage stages[STAGES];
	struct sink sink;
};

static void line_init(struct line *line, struct weir_executor *executor,
		      size_t n, size_t capacity)
{
	struct weir_out *out = &line->source.out;
	size_t i;

	ledger_init(&line->ledger, n);
	source_init(&line->source, executor, &line->ledger, 1, n);
	sink_init(&line->sink, executor, &line->ledger, capacity);
	line->sink.ordered = true;
	for (i = 0; i < STAGES; i++) {
		stage_init(&line->stages[i], executor, &line->ledger, capacity);
		assert_int_equal(weir_out_link(out, &line->stages[i].in), 0);
		out = &line->stages[i].out;
	}
	assert_int_equal(weir_out_link(out, &line->sink.in), 0);
}

static void line_start(struct line *line)
{
	size_t i;

	for (i = 0; i < STAGES; i++)
		assert_int_equal(weir_actor_start(&line->stages[i].actor), 0);
	assert_int_equal(weir_actor_start(&line->sink.actor), 0);
	assert_int_equal(weir_actor_start(&line->source.actor), 0);
}

static void line_fini(struct line *line)
{
	size_t i;

	assert_int_equal(line->source.fate.released, 1);
	assert_int_equal(line->sink.fate.released, 1);
	for (i = 0; i < STAGES; i++)
		assert_int_equal(line->stages[i].fate.released, 1);
	ledger_check(&line->ledger);
	ledger_fini(&line->ledger);
}

/* A sink that reports when it is released. */
struct flagged {
	struct sink sink;
	uint32_t done;
};

static void flagged_released(struct weir_actor *actor)
{
	struct flagged *self =
		weir_container_of(actor, struct flagged, sink.actor);

	fate_released(&self->sink.fate);
	/* release: pairs with the acquire in wait_for() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->done, 1);
	weir__futex_wake(&self->done, 1);
}

static const struct weir_actor_ops flagged_ops = {
	.turns = sink_turns,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = flagged_released,
};

static void a_pipeline_over_threads_keeps_order_and_every_item(void **state)
{
	static const size_t capacities[] = {1, 2, 16, 256};
	size_t i, n;

	for (i = 0; i < 4; i++) {
		struct weir_threads *pool = pool_new(WORKERS);
		struct flagged end = {0};
		struct pair pair;
		struct stage stage;

		n = test_count(i ? 1000000 : 100000);
		ledger_init(&pair.ledger, n);
		source_init(&pair.source, weir_threads_executor(pool),
			    &pair.ledger, 1, n);
		stage_init(&stage, weir_threads_executor(pool), &pair.ledger,
			   capacities[i]);
		sink_init(&end.sink, weir_threads_executor(pool), &pair.ledger,
			  capacities[i]);
		end.sink.actor.ops = &flagged_ops;
		end.sink.ordered = true;
		assert_int_equal(weir_out_link(&pair.source.out, &stage.in), 0);
		assert_int_equal(weir_out_link(&stage.out, &end.sink.in), 0);
		assert_int_equal(weir_actor_start(&pair.source.actor), 0);
		assert_int_equal(weir_actor_start(&stage.actor), 0);
		assert_int_equal(weir_actor_start(&end.sink.actor), 0);
		wait_for(&end.done);
		assert_int_equal(end.sink.seen, n);
		pool_free(pool, false);
		pair_fini(&pair);
	}
}

static void stages_pinned_apart_lose_no_wake_up(void **state)
{
	struct weir_threads *pool = pool_new(2);
	size_t n = test_count(200000);
	struct flagged end = {0};
	struct pair pair;

	ledger_init(&pair.ledger, n);
	source_init(&pair.source, weir_threads_worker(pool, 0), &pair.ledger, 1,
		    n);
	sink_init(&end.sink, weir_threads_worker(pool, 1), &pair.ledger, 2);
	end.sink.actor.ops = &flagged_ops;
	end.sink.ordered = true;
	assert_int_equal(weir_out_link(&pair.source.out, &end.sink.in), 0);
	assert_int_equal(weir_actor_start(&end.sink.actor), 0);
	assert_int_equal(weir_actor_start(&pair.source.actor), 0);
	wait_for(&end.done);
	assert_int_equal(end.sink.seen, n);
	pool_free(pool, false);
	pair_fini(&pair);
}

/* --- Puts from threads ---------------------------------------------------- */

struct putting {
	struct flagged *end;
	struct ledger *ledger;
	size_t first, last;
	pthread_t thread;
};

static void *put_all(void *context)
{
	struct putting *self = context;
	struct weir_in *in = &self->end->sink.in;
	size_t i;
	int rc;

	for (i = self->first; i <= self->last; i++) {
		void *item = ledger_make(self->ledger, i);

		while ((rc = weir_in_put(in, item)) == -EAGAIN)
			sched_yield();
		assert_int_equal(rc, 0);
	}
	weir_actor_unref(in->port.actor);
	return NULL;
}

/* The sink checks the order of each producer, and that no turns overlap. */
struct overlap {
	struct flagged end;
	uint32_t inside;
	size_t last[PUTTERS], share;
};

static inline int overlap_turn(struct weir_actor *actor)
{
	struct overlap *self =
		weir_container_of(actor, struct overlap, end.sink.actor);
	size_t i;

	assert_int_equal(ck_pr_faa_32(&self->inside, 1), 0);
	i = ledger_deliver(self->end.sink.ledger,
			   weir_in_take(&self->end.sink.in));
	assert_true(i > self->last[(i - 1) / self->share]);
	self->last[(i - 1) / self->share] = i;
	self->end.sink.seen++;
	assert_int_equal(ck_pr_faa_32(&self->inside, (uint32_t)-1), 1);
	return 0;
}
WEIR_TURN(overlap_turn)

static const struct weir_actor_ops overlap_ops = {
	.turns = overlap_turn_n,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = flagged_released,
};

static void fault_02_and_06_many_threads_put_without_loss_or_overlap(
	void **state)
{
	static const size_t capacities[] = {1, 4, 64};
	size_t i, k, share;

	for (k = 0; k < 3; k++) {
		struct weir_threads *pool = pool_new(2);
		struct putting putting[PUTTERS];
		struct overlap overlap = {0};
		struct ledger ledger;

		share = test_count(capacities[k] == 1 ? 20000 : 100000);
		overlap.share = share;
		ledger_init(&ledger, share * PUTTERS);
		sink_init(&overlap.end.sink, weir_threads_executor(pool),
			  &ledger, capacities[k]);
		overlap.end.sink.actor.ops = &overlap_ops;
		overlap.end.sink.actor.turns = overlap_turn_n;
		assert_int_equal(weir_actor_start(&overlap.end.sink.actor), 0);
		for (i = 0; i < PUTTERS; i++) {
			weir_actor_ref(&overlap.end.sink.actor);
			putting[i] = (struct putting){
				.end = &overlap.end,
				.ledger = &ledger,
				.first = i * share + 1,
				.last = (i + 1) * share,
			};
			pthread_create(&putting[i].thread, NULL, put_all,
				       &putting[i]);
		}
		for (i = 0; i < PUTTERS; i++)
			pthread_join(putting[i].thread, NULL);
		assert_int_equal(weir_in_end(&overlap.end.sink.in, NULL), 0);
		wait_for(&overlap.end.done);
		assert_int_equal(overlap.end.sink.seen, share * PUTTERS);
		pool_free(pool, false);
		ledger_check(&ledger);
		ledger_fini(&ledger);
	}
}

/* --- Disturbances --------------------------------------------------------- */

struct disturbing {
	struct line *line;
	uint64_t random;
	pthread_t thread;
};

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static void *disturb(void *context)
{
	struct disturbing *self = context;
	size_t i;

	for (i = 0; i < 200; i++) {
		uint64_t drawn = draw(&self->random);
		struct weir_actor *actor =
			&self->line->stages[drawn % STAGES].actor;

		switch (drawn >> 8 & 3) {
		case 0:
			weir_actor_signal(actor);
			break;
		case 1:
			weir_actor_suspend(actor);
			break;
		default:
			weir_actor_resume(actor);
			break;
		}
	}
	for (i = 0; i < STAGES; i++)
		weir_actor_resume(&self->line->stages[i].actor);
	weir_actor_stop(&self->line->stages[self->random % STAGES].actor);
	for (i = 0; i < STAGES; i++)
		weir_actor_unref(&self->line->stages[i].actor);
	return NULL;
}

static void stop_suspend_and_signal_from_threads_leave_nothing_behind(
	void **state)
{
	size_t i, k;

	for_each_seed(seed, test_count(200)) {
		struct weir_threads *pool = pool_new(WORKERS);
		struct disturbing disturbing[2];
		struct line line;

		line_init(&line, weir_threads_executor(pool), 20000, 16);
		for (k = 0; k < 2; k++)
			for (i = 0; i < STAGES; i++)
				weir_actor_ref(&line.stages[i].actor);
		line_start(&line);
		for (k = 0; k < 2; k++) {
			disturbing[k] = (struct disturbing){
				.line = &line,
				.random = seed * 2 + k,
			};
			pthread_create(&disturbing[k].thread, NULL, disturb,
				       &disturbing[k]);
		}
		for (k = 0; k < 2; k++)
			pthread_join(disturbing[k].thread, NULL);
		pool_free(pool, false);
		line_fini(&line);
	}
}

static void an_abort_in_the_middle_leaves_nothing_behind(void **state)
{
	size_t round, rounds = test_count(300);

	for (round = 0; round < rounds; round++) {
		struct weir_threads *pool = pool_new(2);
		struct line line;

		line_init(&line, weir_threads_executor(pool), 20000,
			  (size_t)1 << round % 8);
		line_start(&line);
		pool_free(pool, true);
		line_fini(&line);
	}
}

/* --- Timers --------------------------------------------------------------- */

struct ticker {
	struct weir_actor actor;
	struct weir_delay delay;
	uint32_t turns, left;
	struct fate fate;
};

static inline int ticker_turn(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, actor);

	if (++self->turns == self->left)
		return weir_actor_end(actor);
	return weir_delay_for(&self->delay, 1000 * (self->turns % 8));
}
WEIR_TURN(ticker_turn)

static void ticker_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct ticker, actor)->fate,
		     error);
}

static void ticker_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct ticker, actor)->fate);
}

static const struct weir_actor_ops ticker_ops = {
	.turns = ticker_turn_n,
	.stopped = ticker_stopped,
	.released = ticker_released,
};

static void timers_that_fire_while_their_actors_stop_touch_nothing(void **state)
{
	size_t round, i, rounds = test_count(100);
	struct ticker *tickers = calloc(50, sizeof(*tickers));

	for (round = 0; round < rounds; round++) {
		struct weir_threads *pool = pool_new(2);

		memset(tickers, 0, 50 * sizeof(*tickers));
		for (i = 0; i < 50; i++) {
			tickers[i].left = 20 + (uint32_t)i;
			weir_actor_init(&tickers[i].actor, &ticker_ops,
					weir_threads_executor(pool));
			assert_int_equal(weir_delay_init(&tickers[i].delay,
							 &tickers[i].actor),
					 0);
			assert_int_equal(weir_delay_for(&tickers[i].delay, 500),
					 0);
			assert_int_equal(weir_actor_start(&tickers[i].actor),
					 0);
		}
		pool_free(pool, true);
		for (i = 0; i < 50; i++)
			assert_int_equal(tickers[i].fate.released, 1);
	}
	free(tickers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_pipeline_over_threads_keeps_order_and_every_item),
		cmocka_unit_test(stages_pinned_apart_lose_no_wake_up),
		cmocka_unit_test(
			fault_02_and_06_many_threads_put_without_loss_or_overlap),
		cmocka_unit_test(
			stop_suspend_and_signal_from_threads_leave_nothing_behind),
		cmocka_unit_test(an_abort_in_the_middle_leaves_nothing_behind),
		cmocka_unit_test(
			timers_that_fire_while_their_actors_stop_touch_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
