/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simple actors have a slice of their own, which looks at nothing that cannot
 * be (firing.c). Here things happen in such a slice that do not happen in most:
 * it must notice, and do what the general one does. The tests run one slice at
 * a time, under a clock that only turns move.
 */
#include "actor/kit.h"

#include <poll.h>
#include <unistd.h>

#include "actor/in.h"

#define N 64

/* Memory that was freed is kept and may not be written to. */
struct grave {
	struct grave *next;
	size_t size;
	unsigned char memory[];
};

struct hand {
	struct weir_executor executor;
	uint64_t now_ns;
	uint32_t n_looks; /* at the clock */
	uint32_t watched; /* descriptors */
	struct weir_task *head;
	struct weir_allocator allocator;
	struct grave *graves;
};

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_task **link = &((struct hand *)executor)->head;

	while (*link)
		link = &(*link)->next;
	task->next = NULL;
	*link = task;
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	struct hand *hand = (struct hand *)executor;

	hand->n_looks++;
	return hand->now_ns;
}

static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	((struct hand *)executor)->watched++;
	return 0;
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	((struct hand *)executor)->watched--;
	return true;
}

static void *alloc(size_t size, void *context)
{
	struct grave *grave = malloc(sizeof(*grave) + size);

	assert_non_null(grave);
	return grave->memory;
}

static void bury(void *memory, size_t size, void *context)
{
	struct hand *hand = context;
	struct grave *grave = weir_container_of(memory, struct grave, memory);

	memset(memory, 0x5a, size);
	grave->size = size;
	grave->next = hand->graves;
	hand->graves = grave;
}

static void hand_init(struct hand *hand, uint32_t budget_turns)
{
	static const struct weir_executor_ops ops = {
		.submit = submit,
		.now = now,
		.watch_arm = watch_arm,
		.watch_cancel = watch_cancel,
	};
	struct weir_executor_options options = {.budget_turns = budget_turns};

	memset(hand, 0, sizeof(*hand));
	hand->allocator = (struct weir_allocator){alloc, bury, hand};
	options.allocator = &hand->allocator;
	assert_int_equal(weir_executor_init(&hand->executor, &ops, &options),
			 0);
}

static void hand_fini(struct hand *hand)
{
	struct grave *grave;
	size_t i;

	assert_int_equal(weir_executor_fini(&hand->executor), 0);
	while ((grave = hand->graves)) {
		for (i = 0; i < grave->size; i++)
			assert_int_equal(grave->memory[i], 0x5a);
		hand->graves = grave->next;
		free(grave);
	}
}

static bool queued(const struct hand *hand, const struct weir_actor *actor)
{
	const struct weir_task *task = hand->head;

	while (task && task != &actor->task)
		task = task->next;
	return task;
}

/* Runs one slice of the actor, which is queued. */
static void slice(struct hand *hand, struct weir_actor *actor)
{
	struct weir_task **link = &hand->head;

	assert_true(queued(hand, actor));
	while (*link != &actor->task)
		link = &(*link)->next;
	*link = actor->task.next;
	weir_task_run(&actor->task);
}

static void run(struct hand *hand)
{
	while (hand->head)
		slice(hand,
		      weir_container_of(hand->head, struct weir_actor, task));
}

/* --- A stage whose turns do as they are told ------------------------------ */

struct relay {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	uint32_t turns, n;    /* run; asked for, the last time */
	uint32_t takes, puts; /* in each turn */
	uint64_t turn_ns;
	int result;
	void (*act)(struct relay *self); /* in turn `act_at`, once */
	uint32_t act_at;
	uint32_t signals, ended;
	void *puts_at_signal;
	struct fate fate;
};

static struct {
	struct hand hand;
	struct ledger ledger;
	struct source source;
	struct relay relay;
	struct sink sink;
} line;

static inline int relay_turn(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);
	void *item = NULL;
	uint32_t i;

	line.hand.now_ns += self->turn_ns;
	for (i = 0; i < self->takes; i++) {
		void *next = weir_in_take(&self->in);

		if (next && (i || !self->puts))
			ledger_deliver(&line.ledger, next);
		else if (next)
			item = next;
	}
	if (self->puts)
		assert_int_equal(weir_out_put(&self->out, item), 0);
	if (++self->turns != self->act_at)
		return 0;
	if (self->act)
		self->act(self);
	return self->result;
}
WEIR_TURN(relay_turn)

static uint32_t relay_turns(struct weir_actor *actor, uint32_t n)
{
	weir_container_of(actor, struct relay, actor)->n = n;
	return relay_turn_n(actor, n);
}

static int relay_signalled(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	self->signals++;
	if (self->puts_at_signal && weir_port_ready(&self->out.port))
		assert_int_equal(weir_out_put(&self->out, self->puts_at_signal),
				 0);
	return 0;
}

static int relay_ended(struct weir_actor *actor, struct weir_in *in,
		       struct weir_error *error)
{
	weir_container_of(actor, struct relay, actor)->ended++;
	return weir_actor_end(actor);
}

static void relay_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct relay, actor)->fate,
		     error);
}

static void relay_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct relay, actor)->fate);
}

static const struct weir_actor_ops relay_ops = {
	.turns = relay_turns,
	.signalled = relay_signalled,
	.ended = relay_ended,
	.stopped = relay_stopped,
	.released = relay_released,
};

/* The relay has no ports yet; it takes one and puts one in each turn. */
static void line_open(size_t n, size_t capacity, uint32_t budget_turns)
{
	struct weir_executor *executor = &line.hand.executor;

	memset(&line, 0, sizeof(line));
	hand_init(&line.hand, budget_turns);
	ledger_init(&line.ledger, n);
	source_init(&line.source, executor, &line.ledger, 1, n);
	sink_init(&line.sink, executor, &line.ledger, capacity);
	line.relay.takes = line.relay.puts = 1;
	assert_int_equal(
		weir_actor_init(&line.relay.actor, &relay_ops, executor), 0);
}

static void line_add_in(size_t capacity)
{
	assert_int_equal(weir_in_init(&line.relay.in, &line.relay.actor,
				      capacity, NULL),
			 0);
	assert_int_equal(weir_out_link(&line.source.out, &line.relay.in), 0);
}

static void line_add_out(void)
{
	assert_int_equal(weir_out_init(&line.relay.out, &line.relay.actor,
				       &line.ledger.items),
			 0);
	assert_int_equal(weir_out_link(&line.relay.out, &line.sink.in), 0);
}

static void line_start(void)
{
	assert_int_equal(weir_actor_start(&line.source.actor), 0);
	assert_int_equal(weir_actor_start(&line.relay.actor), 0);
	assert_int_equal(weir_actor_start(&line.sink.actor), 0);
}

/* source -> relay -> sink, of which the relay's next slice is a stage's. */
static void line_make(size_t n, size_t capacity)
{
	line_open(n, capacity, 0);
	line_add_in(capacity);
	line_add_out();
	line_start();
}

static uint32_t stage(void)
{
	return line.relay.actor.flags & WEIR__ACTOR_SIMPLE;
}

/*
 * Until the relay has run cheap turns, has `left` tokens to take and room for
 * them; its next slice is the short one and begins with all of them.
 */
static void line_warm(uint32_t left)
{
	while (line.relay.turns < 8) {
		slice(&line.hand, &line.source.actor);
		while (queued(&line.hand, &line.relay.actor))
			slice(&line.hand, &line.relay.actor);
		while (queued(&line.hand, &line.sink.actor))
			slice(&line.hand, &line.sink.actor);
	}
	slice(&line.hand, &line.source.actor);
	weir__thread.runs = 0; /* time no run for now */
	assert_true(stage());
	assert_int_equal(weir__lane_tail(&line.relay.in.lane) -
				 line.relay.in.taker.head,
			 left);
	line.relay.turns = 0;
}

/* A line that is warm and does `act` in a turn of the next slice. */
static void line_act(void (*act)(struct relay *self), uint32_t act_at)
{
	line_make(N, 8);
	line_warm(8);
	line.relay.act = act;
	line.relay.act_at = act_at;
}

static void line_close(void)
{
	run(&line.hand);
	assert_int_equal(line.source.fate.released, 1);
	assert_int_equal(line.relay.fate.released, 1);
	assert_int_equal(line.sink.fate.released, 1);
	ledger_check(&line.ledger);
	ledger_fini(&line.ledger);
	hand_fini(&line.hand);
}

/* --- Who is a stage ------------------------------------------------------- */

static void a_stage_is_known_after_its_first_slice(void **state)
{
	line_make(N, 8);
	slice(&line.hand, &line.source.actor);
	assert_int_equal(stage(), 0);
	slice(&line.hand, &line.relay.actor);
	slice(&line.hand, &line.sink.actor);
	assert_int_equal(stage(), WEIR__ACTOR_SIMPLE);
	assert_int_equal(line.source.actor.flags & WEIR__ACTOR_SIMPLE,
			 WEIR__ACTOR_PUTS);
	assert_int_equal(line.sink.actor.flags & WEIR__ACTOR_SIMPLE,
			 WEIR__ACTOR_TAKES);
	line_close();
	assert_int_equal(line.sink.seen, N);
}

static void an_out_port_may_be_made_before_the_in_port(void **state)
{
	line_open(N, 8, 0);
	line_add_out();
	line_add_in(8);
	line.sink.ordered = true;
	line_start();
	line_warm(8);
	assert_int_equal(stage(), WEIR__ACTOR_SIMPLE);
	line_close();
	assert_int_equal(line.sink.seen, N);
}

static void who_has_a_second_in_port_waits_for_it(void **state)
{
	struct source silent;
	struct weir_in second;

	line_open(N, 8, 0);
	line_add_in(8);
	line_add_out();
	source_init(&silent, &line.hand.executor, &line.ledger, 1, 1);
	assert_int_equal(weir_in_init(&second, &line.relay.actor, 1, NULL), 0);
	assert_int_equal(weir_out_link(&silent.out, &second), 0);
	line_start();
	run(&line.hand);
	assert_int_equal(line.source.next, 9);
	assert_int_equal(line.relay.turns, 0);
	assert_int_equal(stage(), 0);
	weir_actor_stop(&silent.actor);
	line_close();
}

/* Both have found nothing to do, and sleep. */
static void a_stages_slice_wakes_both_neighbours(void **state)
{
	line_make(N, 8);
	line_warm(8);
	slice(&line.hand, &line.source.actor);
	assert_false(queued(&line.hand, &line.source.actor));
	assert_false(queued(&line.hand, &line.sink.actor));
	slice(&line.hand, &line.relay.actor);
	assert_true(queued(&line.hand, &line.source.actor));
	assert_true(queued(&line.hand, &line.sink.actor));
	line_close();
	assert_int_equal(line.sink.seen, N);
}

/* --- What a turn may do --------------------------------------------------- */

static uint32_t other_turns(struct weir_actor *actor, uint32_t n)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	ledger_deliver(&line.ledger, weir_in_take(&self->in));
	return 1;
}

static void become_other(struct relay *self)
{
	struct weir_port *ports[] = {&self->in.port};

	assert_int_equal(weir_actor_become(&self->actor, other_turns, ports, 1),
			 0);
}

static void a_stage_may_become_another_in_a_turn(void **state)
{
	size_t seen;

	line_act(become_other, 2);
	seen = line.sink.seen;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.turns, 2);
	run(&line.hand);
	assert_int_equal(line.sink.seen, seen + 2);
	assert_int_equal(line.relay.turns, 2);
	assert_int_equal(line.relay.ended, 1);
	assert_int_equal(ledger_delivered(&line.ledger), N);
	line_close();
}

static uint32_t relay_others(struct weir_actor *actor, uint32_t n)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	assert_int_equal(weir_out_put(&self->out, weir_in_take(&self->in)), 0);
	return 1;
}

static void become_with_all(struct relay *self)
{
	struct weir_port *ports[] = {&self->in.port, &self->out.port};

	assert_int_equal(
		weir_actor_become(&self->actor, relay_others, ports, 2), 0);
}

static void a_stage_may_become_another_with_the_same_ports(void **state)
{
	line_act(become_with_all, 2);
	line_close();
	assert_int_equal(line.relay.turns, 2);
	assert_int_equal(line.sink.seen, N);
}

static void ignore_out(struct relay *self)
{
	assert_int_equal(weir_port_ignore(&self->out.port), 0);
	self->puts = 0;
}

static void a_full_out_port_that_is_ignored_holds_no_stage_back(void **state)
{
	line_act(ignore_out, 2);
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.turns, 8);
	assert_int_equal(stage(), 0);
	/* more than the sink, which does not run, has room for */
	while (queued(&line.hand, &line.relay.actor) ||
	       queued(&line.hand, &line.source.actor))
		slice(&line.hand, queued(&line.hand, &line.relay.actor)
					  ? &line.relay.actor
					  : &line.source.actor);
	assert_true(line.relay.turns > 16);
	assert_int_equal(line.relay.ended, 1);
	run(&line.hand);
	assert_int_equal(ledger_delivered(&line.ledger), N);
	line_close();
}

static void require_out(struct relay *self)
{
	assert_int_equal(weir_port_require(&self->out.port), 0);
	self->puts = 1;
}

static void a_port_required_in_a_turn_is_looked_at_before_the_next(void **state)
{
	line_open(N, 8, 0);
	line_add_in(8);
	line_add_out();
	assert_int_equal(weir_port_ignore(&line.relay.out.port), 0);
	line.relay.puts = 0;
	line.relay.act = require_out;
	line.relay.act_at = 4;
	line_start();
	line_close();
	assert_int_equal(line.sink.seen, N - 4);
}

static void add_out(struct relay *self)
{
	line_add_out();
	self->puts = 1;
}

static void a_stage_may_grow_an_out_port_in_a_turn(void **state)
{
	line_open(N, 8, 0);
	line_add_in(8);
	line.relay.puts = 0;
	assert_int_equal(weir_actor_start(&line.source.actor), 0);
	assert_int_equal(weir_actor_start(&line.relay.actor), 0);
	line_warm(8);
	assert_int_equal(stage(), WEIR__ACTOR_TAKES);
	line.relay.act = add_out;
	line.relay.act_at = 1;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(stage(), WEIR__ACTOR_SIMPLE);
	assert_int_equal(weir_actor_start(&line.sink.actor), 0);
	line_close();
	/* without the first 8, and the one that came with the port */
	assert_int_equal(line.sink.seen, N - 9);
}

static void suspend(struct relay *self)
{
	weir_actor_suspend(&self->actor);
}

static void a_stage_suspended_in_a_turn_runs_no_further_slice(void **state)
{
	line_act(suspend, 2);
	run(&line.hand);
	assert_in_range(line.relay.turns, 2, 8);
	assert_int_equal(line.relay.fate.stopped, 0);
	weir_actor_resume(&line.relay.actor);
	line_close();
	assert_int_equal(line.sink.seen, N);
}

static void signal_self(struct relay *self)
{
	weir_actor_signal(&self->actor);
}

static void a_signal_from_a_turn_is_handled_in_its_slice(void **state)
{
	line_act(signal_self, 2);
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.signals, 1);
	line_close();
	assert_int_equal(line.sink.seen, N);
}

static void stop_self(struct relay *self)
{
	weir_actor_stop(&self->actor);
}

static void a_stage_stopped_in_a_turn_ends_in_its_slice(void **state)
{
	line_act(stop_self, 2);
	slice(&line.hand, &line.relay.actor);
	assert_in_range(line.relay.turns, 2, 6);
	assert_int_equal(line.relay.fate.stopped, 1);
	line_close();
	fate_check(&line.relay.fate, -ECANCELED);
	assert_int_equal(line.sink.end_code, -ECANCELED);
}

static void end_in_a_turn(int result, int code)
{
	size_t seen;

	line_act(NULL, 3);
	seen = line.sink.seen;
	line.relay.result = result;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.turns, 3);
	line_close();
	fate_check(&line.relay.fate, code);
	assert_int_equal(line.sink.seen, seen + 3);
	assert_int_equal(line.sink.end_code, code);
}

static void a_stage_that_finishes_ends_behind_what_it_has_put(void **state)
{
	end_in_a_turn(WEIR_TURN_END, 0);
}

static void a_stage_that_fails_ends_behind_what_it_has_put(void **state)
{
	end_in_a_turn(-EIO, -EIO);
}

static void a_stage_that_takes_too_much_fails(void **state)
{
	line_make(N, 8);
	line_warm(8);
	line.relay.takes = 2;
	line.relay.puts = 0;
	slice(&line.hand, &line.relay.actor);
	line_close();
	fate_check(&line.relay.fate, -ENODATA);
}

static void take_too_much(struct relay *self)
{
	assert_null(weir_in_take(&self->in));
	self->act = NULL;
}

static void one_token_too_much_in_the_last_turn_fails_a_stage(void **state)
{
	size_t seen;

	line_act(take_too_much, 8);
	seen = line.sink.seen;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.fate.stopped, 1);
	line_close();
	fate_check(&line.relay.fate, -ENODATA);
	/* what it has put stands */
	assert_int_equal(line.sink.seen, seen + 8);
	assert_int_equal(line.sink.end_code, -ENODATA);
}

static void cancel_in(struct relay *self)
{
	assert_int_equal(weir_in_cancel(&self->in), 0);
	self->result = WEIR_TURN_END;
}

static void a_stage_may_cancel_its_input_in_a_turn(void **state)
{
	size_t seen;

	line_act(cancel_in, 3);
	seen = line.sink.seen;
	slice(&line.hand, &line.relay.actor);
	run(&line.hand);
	assert_int_equal(line.sink.seen, seen + 3);
	assert_int_equal(line.relay.fate.code, 0);
	/* of the 8 it had, and what the source put until it knew */
	assert_true(ledger_dropped(&line.ledger) >= 5);
	line_close();
}

/* Nobody holds on to the sink, which was never started, but its actor. */
static void end_out(struct relay *self)
{
	assert_int_equal(weir_out_end(&self->out, NULL), 0);
	self->puts = 0;
	weir_actor_stop(&line.sink.actor);
	assert_int_equal(line.sink.fate.released, 1);
}

static void a_stage_does_not_touch_who_has_gone_in_a_turn(void **state)
{
	line_open(N, 64, 0);
	line_add_in(8);
	line_add_out();
	assert_int_equal(weir_actor_start(&line.source.actor), 0);
	assert_int_equal(weir_actor_start(&line.relay.actor), 0);
	slice(&line.hand, &line.source.actor);
	slice(&line.hand, &line.relay.actor);
	slice(&line.hand, &line.source.actor);
	assert_int_equal(stage(), WEIR__ACTOR_SIMPLE);
	weir__thread.runs = 0;
	line.relay.turns = 0;
	line.relay.act = end_out;
	line.relay.act_at = 3;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(stage(), 0);
	line_close();
	assert_int_equal(line.relay.turns, N - 8);
}

static void count_from_now(struct relay *self)
{
	static struct weir_stats stats;

	memset(&stats, 0, sizeof(stats));
	assert_int_equal(weir_actor_set_stats(&self->actor, &stats), 0);
}

static void a_stage_that_is_counted_is_none(void **state)
{
	struct weir_stats copy;

	line_act(count_from_now, 8);
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(stage(), 0);
	run(&line.hand);
	weir_stats_read(line.relay.actor.u.stats, &copy);
	assert_int_equal(copy.turns, N - 16);
	line_close();
}

/* --- Turns that take or put nothing --------------------------------------- */

static void a_stage_that_puts_nothing_goes_on(void **state)
{
	size_t seen;

	line_make(N, 8);
	line_warm(8);
	seen = line.sink.seen;
	line.relay.puts = 0;
	slice(&line.hand, &line.relay.actor);
	line.relay.puts = 1;
	line_close();
	assert_int_equal(line.sink.seen, N - 8);
	assert_int_equal(seen, 8);
}

static void a_stage_that_takes_nothing_keeps_its_tokens(void **state)
{
	line_make(N, 8);
	line_warm(8);
	line.relay.takes = line.relay.puts = 0;
	slice(&line.hand, &line.relay.actor);
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.turns, 16);
	line.relay.takes = line.relay.puts = 1;
	line_close();
	assert_int_equal(line.sink.seen, N);
}

/* --- How long runs are ---------------------------------------------------- */

static void a_stages_run_is_within_its_budget(void **state)
{
	line_open(N, 8, 3);
	line_add_in(8);
	line_add_out();
	line_start();
	while (line.hand.head) {
		struct weir_task *task = line.hand.head;

		slice(&line.hand,
		      weir_container_of(task, struct weir_actor, task));
		assert_in_range(line.relay.n, 0, 3);
		weir__thread.runs = 0;
	}
	line_close();
}

static void a_stages_run_is_256_turns_at_most(void **state)
{
	uint32_t most = 0;

	line_open(4096, 1024, 1024);
	line_add_in(1024);
	line_add_out();
	line_start();
	while (line.hand.head) {
		struct weir_task *task = line.hand.head;

		slice(&line.hand,
		      weir_container_of(task, struct weir_actor, task));
		if (line.relay.n > most)
			most = line.relay.n;
		weir__thread.runs = 0;
	}
	assert_int_equal(most, 256);
	line_close();
}

/* One token, then two each time, in turns of 1 us: 4 of them fit into 5 us. */
static void runs_are_as_long_as_fits_after_the_first(void **state)
{
	line_make(N, 8);
	line.relay.turn_ns = 1000;
	slice(&line.hand, &line.source.actor);
	slice(&line.hand, &line.relay.actor);
	slice(&line.hand, &line.relay.actor);
	/* 1, not timed; 1, timed; then 4 and 2 that were left */
	assert_int_equal(line.relay.turns, 8);
	slice(&line.hand, &line.sink.actor);
	slice(&line.hand, &line.source.actor);
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(line.relay.n, 4);
	line_close();
}

/* Cheap turns are timed in one run of 251; until then this goes unseen. */
static void a_stage_that_becomes_slow_is_found_out(void **state)
{
	uint32_t i, n = 8;

	line_make(8000, 8);
	line_warm(8);
	line.relay.turn_ns = 2000;
	for (i = 0; i < 3 * WEIR__TIMED_RUNS && n == 8; i++) {
		slice(&line.hand, &line.relay.actor);
		n = line.relay.n;
		slice(&line.hand, &line.sink.actor);
		slice(&line.hand, &line.source.actor);
	}
	assert_in_range(n, 1, 2);
	assert_in_range(i, WEIR__TIMED_RUNS / 3, WEIR__TIMED_RUNS);
	line.relay.turn_ns = 0;
	line_close();
	assert_int_equal(line.sink.seen, 8000);
}

static void a_slice_ends_when_its_time_is_used_up(void **state)
{
	line_make(N, N);
	line.relay.turn_ns = 1000;
	slice(&line.hand, &line.source.actor);
	slice(&line.hand, &line.relay.actor);
	/* 25 us and what began before they were over */
	assert_in_range(line.relay.turns, 25, 29);
	line_close();
	assert_int_equal(line.sink.seen, N);
}

static void runs_of_one_turn_are_not_timed(void **state)
{
	line_make(N, 1);
	line_close();
	assert_int_equal(line.sink.seen, N);
	assert_int_equal(line.hand.n_looks, 0);
}

/* Three times; a run that is timed looks at the clock twice. */
static void one_in_251_runs_is_timed_where_turns_are_cheap(void **state)
{
	uint32_t i;

	line_make(8 * WEIR__TIMED_RUNS + 100, 8);
	line_warm(8);
	line.hand.n_looks = 0;
	for (i = 0; i < WEIR__TIMED_RUNS; i++) {
		slice(&line.hand, &line.relay.actor);
		slice(&line.hand, &line.sink.actor);
		slice(&line.hand, &line.source.actor);
	}
	assert_int_equal(line.relay.turns, 8 * WEIR__TIMED_RUNS);
	assert_int_equal(line.hand.n_looks, 3 * 2);
	line_close();
}

/* --- Where slices that find nothing need not arm -------------------------- */

static bool always(void *worker_state)
{
	return true;
}

/* The source has nothing for the relay. */
static void line_poll(void)
{
	line_open(N, 8, 0);
	line_add_in(8);
	line_add_out();
}

static void what_a_handler_has_put_is_published_though_its_actor_polls(
	void **state)
{
	line_poll();
	weir_actor_suspend(&line.source.actor);
	line_start();
	run(&line.hand);
	line.relay.puts_at_signal = ledger_make(&line.ledger, N);
	weir_actor_signal(&line.relay.actor);
	weir__thread.polls = always;
	slice(&line.hand, &line.relay.actor);
	weir__thread.polls = NULL;
	assert_true(queued(&line.hand, &line.relay.actor));
	assert_true(queued(&line.hand, &line.sink.actor));
	run(&line.hand);
	assert_int_equal(line.sink.seen, 1);
	line.source.last = N - 1;
	weir_actor_resume(&line.source.actor);
	line_close();
}

static uint32_t n_asked;

static bool once(void *worker_state)
{
	return n_asked++ == 0;
}

static void a_slice_that_finds_nothing_asks_once_whether_to_poll(void **state)
{
	line_poll();
	weir_actor_suspend(&line.source.actor);
	line_start();
	run(&line.hand);
	line.relay.puts_at_signal = ledger_make(&line.ledger, N);
	weir_actor_signal(&line.relay.actor);
	n_asked = 0;
	weir__thread.polls = once;
	slice(&line.hand, &line.relay.actor);
	assert_int_equal(n_asked, 1);
	slice(&line.hand, &line.relay.actor);
	weir__thread.polls = NULL;
	assert_int_equal(n_asked, 2);
	assert_false(queued(&line.hand, &line.relay.actor));
	run(&line.hand);
	line.source.last = N - 1;
	weir_actor_resume(&line.source.actor);
	line_close();
}

static void a_descriptor_is_waited_for_where_others_poll(void **state)
{
	struct weir_fd fd;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	line_poll();
	assert_int_equal(weir_fd_init(&fd, &line.relay.actor, ends[0], POLLIN),
			 0);
	line_start();
	weir__thread.polls = always;
	slice(&line.hand, &line.relay.actor);
	weir__thread.polls = NULL;
	assert_int_equal(line.hand.watched, 1);
	weir_actor_stop(&line.relay.actor);
	line_close();
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_is_known_after_its_first_slice),
		cmocka_unit_test(an_out_port_may_be_made_before_the_in_port),
		cmocka_unit_test(who_has_a_second_in_port_waits_for_it),
		cmocka_unit_test(a_stages_slice_wakes_both_neighbours),
		cmocka_unit_test(a_stage_may_become_another_in_a_turn),
		cmocka_unit_test(
			a_stage_may_become_another_with_the_same_ports),
		cmocka_unit_test(
			a_full_out_port_that_is_ignored_holds_no_stage_back),
		cmocka_unit_test(
			a_port_required_in_a_turn_is_looked_at_before_the_next),
		cmocka_unit_test(a_stage_may_grow_an_out_port_in_a_turn),
		cmocka_unit_test(
			a_stage_suspended_in_a_turn_runs_no_further_slice),
		cmocka_unit_test(a_signal_from_a_turn_is_handled_in_its_slice),
		cmocka_unit_test(a_stage_stopped_in_a_turn_ends_in_its_slice),
		cmocka_unit_test(
			a_stage_that_finishes_ends_behind_what_it_has_put),
		cmocka_unit_test(
			a_stage_that_fails_ends_behind_what_it_has_put),
		cmocka_unit_test(a_stage_that_takes_too_much_fails),
		cmocka_unit_test(
			one_token_too_much_in_the_last_turn_fails_a_stage),
		cmocka_unit_test(a_stage_may_cancel_its_input_in_a_turn),
		cmocka_unit_test(a_stage_does_not_touch_who_has_gone_in_a_turn),
		cmocka_unit_test(a_stage_that_is_counted_is_none),
		cmocka_unit_test(a_stage_that_puts_nothing_goes_on),
		cmocka_unit_test(a_stage_that_takes_nothing_keeps_its_tokens),
		cmocka_unit_test(a_stages_run_is_within_its_budget),
		cmocka_unit_test(a_stages_run_is_256_turns_at_most),
		cmocka_unit_test(runs_are_as_long_as_fits_after_the_first),
		cmocka_unit_test(a_slice_ends_when_its_time_is_used_up),
		cmocka_unit_test(runs_of_one_turn_are_not_timed),
		cmocka_unit_test(
			one_in_251_runs_is_timed_where_turns_are_cheap),
		cmocka_unit_test(a_stage_that_becomes_slow_is_found_out),
		cmocka_unit_test(
			what_a_handler_has_put_is_published_though_its_actor_polls),
		cmocka_unit_test(
			a_slice_that_finds_nothing_asks_once_whether_to_poll),
		cmocka_unit_test(a_descriptor_is_waited_for_where_others_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
