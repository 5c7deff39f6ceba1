/* SPDX-License-Identifier: BSD-2-Clause */
/* Out-ports and links: linking, room, cancelling, broadcast, balance. */
#include "actor/kit.h"

#define N 500
#define SINKS 3

static void misuse_of_links_is_refused(void **state)
{
	static const struct weir_items other;
	struct weir_sim *sim = sim_new(1);
	struct pair pair;
	struct sink third;
	struct source source;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	sink_init(&third, weir_sim_executor(sim), &pair.ledger, 4);
	source_init(&source, weir_sim_executor(sim), &pair.ledger, 1, 0);
	assert_int_equal(weir_out_link(NULL, &third.in), -EINVAL);
	assert_int_equal(weir_out_link(&source.out, NULL), -EINVAL);
	/* either end has its link already */
	assert_int_equal(weir_out_link(&pair.source.out, &third.in), -EISCONN);
	assert_int_equal(weir_out_link(&source.out, &pair.sink.in), -EISCONN);
	/* items that differ */
	third.in.items = &other;
	assert_int_equal(weir_out_link(&source.out, &third.in), -EINVAL);
	third.in.items = &pair.ledger.items;
	/* a burst that never fits */
	assert_int_equal(weir_port_set_burst(&source.out.port, 8), 0);
	assert_int_equal(weir_out_link(&source.out, &third.in), -EINVAL);
	assert_int_equal(weir_port_set_burst(&source.out.port, 1), 0);
	assert_int_equal(weir_out_end(&source.out, NULL), 0);
	assert_int_equal(weir_out_end(&source.out, NULL), -EALREADY);
	assert_int_equal(weir_out_link(&source.out, &third.in), -EPIPE);
	assert_null(third.in.lane.out);
	weir_actor_stop(&third.actor);
	weir_actor_stop(&source.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	pair_fini(&pair);
	sim_free(sim);
}

/* Found by test/model/burst.pml: two tokens left are too few for a turn that
 * takes three, and leave too little room for one that puts three. */
static void bursts_that_could_wait_for_each_other_are_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;
	struct source source;
	struct sink sink;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	source_init(&source, weir_sim_executor(sim), &pair.ledger, 1, 0);
	sink_init(&sink, weir_sim_executor(sim), &pair.ledger, 4);
	assert_int_equal(weir_port_set_burst(&source.out.port, 3), 0);
	assert_int_equal(weir_port_set_burst(&sink.in.port, 3), 0);
	assert_int_equal(weir_out_link(&source.out, &sink.in), -EINVAL);
	assert_int_equal(weir_port_set_burst(&sink.in.port, 2), 0);
	assert_int_equal(weir_out_link(&source.out, &sink.in), 0);
	/* nor afterwards, from either end */
	assert_int_equal(weir_port_set_burst(&sink.in.port, 3), -EINVAL);
	assert_int_equal(weir_port_set_burst(&source.out.port, 4), -EINVAL);
	assert_int_equal(weir_port_set_burst(&source.out.port, 2), 0);
	assert_int_equal(weir_port_set_burst(&sink.in.port, 3), 0);
	weir_actor_stop(&source.actor);
	weir_actor_stop(&sink.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

static void a_put_outside_a_turn_is_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), N, 4);
	assert_int_equal(weir_out_put(&pair.source.out, (void *)1), -EAGAIN);
	weir_actor_suspend(&pair.source.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	assert_int_equal(weir_out_put(&pair.source.out, (void *)1), -EAGAIN);
	weir_actor_resume(&pair.source.actor);
	weir_sim_run(sim);
	assert_int_equal(pair.sink.seen, N);
	pair_fini(&pair);
	sim_free(sim);
}

static void an_unlinked_out_port_holds_its_actor_back(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct source source;

	ledger_init(&ledger, 1);
	source_init(&source, weir_sim_executor(sim), &ledger, 1, 1);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(source.next, 1);
	assert_true(weir__actor_check(&source.actor));
	weir_actor_stop(&source.actor);
	weir_sim_run(sim);
	fate_check(&source.fate, -ECANCELED);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Links its out-port to a sink it starts, when signalled. */
static int link_when_signalled(struct weir_actor *actor)
{
	struct source *self = weir_container_of(actor, struct source, actor);
	struct sink *sink = (struct sink *)(self + 1);
	int rc = weir_out_link(&self->out, &sink->in);

	return rc < 0 ? rc : weir_actor_start(&sink->actor);
}

static void an_actor_that_runs_may_link_and_start_others(void **state)
{
	static const struct weir_actor_ops ops = {
		.turns = source_turns,
		.signalled = link_when_signalled,
		.stopped = source_stopped,
		.released = source_released,
	};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct {
		struct source source;
		struct sink sink;
	} two;

	ledger_init(&ledger, N);
	source_init(&two.source, weir_sim_executor(sim), &ledger, 1, N);
	two.source.actor.ops = &ops;
	sink_init(&two.sink, weir_sim_executor(sim), &ledger, 8);
	assert_int_equal(weir_actor_start(&two.source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(two.source.next, 1);
	weir_actor_signal(&two.source.actor);
	weir_sim_run(sim);
	assert_int_equal(two.sink.seen, N);
	fate_check(&two.source.fate, 0);
	fate_check(&two.sink.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Has no room before it has looked. */
static int put_when_signalled(struct weir_actor *actor)
{
	struct stage *self = weir_container_of(actor, struct stage, actor);
	void *item = ledger_make(self->ledger, 2);

	assert_int_equal(weir_out_room(&self->out), 0);
	assert_int_equal(weir_out_put(&self->out, item), -EAGAIN);
	assert_true(weir_port_ready(&self->out.port));
	assert_int_equal(weir_out_room(&self->out), 8);
	assert_int_equal(weir_out_put(&self->out, item), 0);
	return weir_actor_end(actor);
}

static void a_handler_that_has_looked_may_put(void **state)
{
	struct weir_actor_ops ops = stage_ops;
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct stage stage;
	struct sink sink;

	ledger_init(&ledger, 2);
	stage_init(&stage, weir_sim_executor(sim), &ledger, 1);
	ops.signalled = put_when_signalled;
	stage.actor.ops = &ops;
	sink_init(&sink, weir_sim_executor(sim), &ledger, 8);
	assert_int_equal(weir_out_link(&stage.out, &sink.in), 0);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	assert_int_equal(weir_in_put(&stage.in, ledger_make(&ledger, 1)), 0);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 1);
	weir_actor_signal(&stage.actor);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 2);
	fate_check(&stage.fate, 0);
	fate_check(&sink.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* Puts two items, links another sink, puts the third. */
struct linking {
	struct weir_actor actor;
	struct weir_out out;
	struct ledger *ledger;
	struct sink *late;
};

static inline int linking_turn(struct weir_actor *actor)
{
	struct linking *self = weir_container_of(actor, struct linking, actor);
	size_t i;

	for (i = 1; i <= 3; i++) {
		if (i == 3)
			assert_int_equal(
				weir_out_link(&self->out, &self->late->in), 0);
		assert_int_equal(weir_out_put(&self->out,
					      ledger_make(self->ledger, i)),
				 0);
	}
	return WEIR_TURN_END;
}
WEIR_TURN(linking_turn)

static void a_late_link_gets_what_is_put_after_it(void **state)
{
	static const struct weir_actor_ops ops = {.turns = linking_turn_n};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct sink sinks[2];
	struct linking linking = {.ledger = &ledger, .late = &sinks[1]};
	size_t i;

	ledger_init(&ledger, 3);
	weir_actor_init(&linking.actor, &ops, weir_sim_executor(sim));
	weir_out_init(&linking.out, &linking.actor, &ledger.items);
	assert_int_equal(weir_out_fan(&linking.out, WEIR_FAN_BROADCAST, 8), 0);
	assert_int_equal(weir_port_set_burst(&linking.out.port, 3), 0);
	for (i = 0; i < 2; i++)
		sink_init(&sinks[i], weir_sim_executor(sim), &ledger, 4);
	assert_int_equal(weir_out_link(&linking.out, &sinks[0].in), 0);
	assert_int_equal(weir_actor_start(&linking.actor), 0);
	assert_int_equal(weir_actor_start(&sinks[0].actor), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_actor_start(&sinks[1].actor), 0);
	weir_sim_run(sim);
	assert_int_equal(sinks[0].seen, 3);
	assert_int_equal(sinks[1].seen, 1);
	assert_int_equal(sinks[1].last, 3);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* One source and several sinks. */
struct fan {
	struct weir_sim *sim;
	struct ledger ledger;
	struct source source;
	struct sink sinks[SINKS];
};

static void fan_init(struct fan *f, uint64_t seed, enum weir_fan way)
{
	size_t i;

	f->sim = sim_new(seed);
	ledger_init(&f->ledger, N);
	source_init(&f->source, weir_sim_executor(f->sim), &f->ledger, 1, N);
	assert_int_equal(weir_out_fan(&f->source.out, way, 16), 0);
	for (i = 0; i < SINKS; i++) {
		sink_init(&f->sinks[i], weir_sim_executor(f->sim), &f->ledger,
			  (size_t)1 << (2 * i));
		f->sinks[i].ordered = way == WEIR_FAN_BROADCAST;
		assert_int_equal(weir_out_link(&f->source.out, &f->sinks[i].in),
				 0);
	}
}

static void fan_run(struct fan *f)
{
	size_t i;

	for (i = 0; i < SINKS; i++)
		assert_int_equal(weir_actor_start(&f->sinks[i].actor), 0);
	assert_int_equal(weir_actor_start(&f->source.actor), 0);
	weir_sim_run(f->sim);
}

static void fan_fini(struct fan *f)
{
	size_t i;

	assert_int_equal(f->source.fate.released, 1);
	for (i = 0; i < SINKS; i++)
		assert_int_equal(f->sinks[i].fate.released, 1);
	ledger_check(&f->ledger);
	ledger_fini(&f->ledger);
	sim_free(f->sim);
}

static void broadcast_gives_every_token_to_all_in_order(void **state)
{
	struct fan f;
	size_t i;

	for_each_seed(seed, test_count(100)) {
		fan_init(&f, seed, WEIR_FAN_BROADCAST);
		fan_run(&f);
		for (i = 0; i < SINKS; i++) {
			assert_int_equal(f.sinks[i].seen, N);
			assert_int_equal(f.sinks[i].end_code, 0);
		}
		assert_int_equal(ledger_sum(f.ledger.shared, N),
				 N * (SINKS - 1));
		fan_fini(&f);
	}
}

static void broadcast_moves_at_the_slowest(void **state)
{
	struct fan f;

	fan_init(&f, 1, WEIR_FAN_BROADCAST);
	weir_actor_suspend(&f.sinks[1].actor);
	fan_run(&f);
	/* it has room for four */
	assert_int_equal(f.source.next, 5);
	assert_int_equal(f.sinks[0].seen, 4);
	weir_actor_resume(&f.sinks[1].actor);
	weir_sim_run(f.sim);
	assert_int_equal(f.sinks[1].seen, N);
	fan_fini(&f);
}

static void one_of_a_broadcast_may_leave_while_tokens_flow(void **state)
{
	struct fan f;

	for_each_seed(seed, test_count(200)) {
		fan_init(&f, seed, WEIR_FAN_BROADCAST);
		f.sinks[1].stop_at = 1 + seed % N;
		fan_run(&f);
		assert_int_equal(f.sinks[0].seen, N);
		assert_int_equal(f.sinks[1].seen, 1 + seed % N);
		assert_int_equal(f.sinks[2].seen, N);
		fan_fini(&f);
	}
}

/* The slice that learns of it may not run a turn, and rests with a port that is
 * ready and still counted: found by test/scenario/actors_random.c. */
static void a_full_link_that_leaves_lets_the_others_go_on(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct source source;
	struct sink sinks[2];
	size_t i;

	ledger_init(&ledger, N);
	source_init(&source, weir_sim_executor(sim), &ledger, 1, N);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BROADCAST, 16), 0);
	for (i = 0; i < 2; i++) {
		sink_init(&sinks[i], weir_sim_executor(sim), &ledger,
			  i ? 16 : 1);
		assert_int_equal(weir_out_link(&source.out, &sinks[i].in), 0);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	weir_actor_suspend(&sinks[0].actor);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(source.next, 2);
	weir_actor_suspend(&source.actor);
	weir_actor_stop(&sinks[0].actor);
	weir_sim_run(sim);
	weir_actor_resume(&source.actor);
	weir_sim_run(sim);
	assert_int_equal(sinks[1].seen, N);
	fate_check(&source.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void the_source_ends_when_the_last_has_left(void **state)
{
	struct fan f;
	enum weir_fan way;
	size_t i;

	for (way = WEIR_FAN_BROADCAST; way <= WEIR_FAN_BALANCE; way++) {
		fan_init(&f, 1, way);
		for (i = 0; i < SINKS; i++)
			f.sinks[i].stop_at = 10 * (i + 1);
		fan_run(&f);
		for (i = 0; i < SINKS; i++)
			assert_int_equal(f.sinks[i].seen, 10 * (i + 1));
		fate_check(&f.source.fate, 0);
		assert_true(f.source.next <= N);
		fan_fini(&f);
	}
}

static void a_share_that_fails_ends_that_link_alone(void **state)
{
	struct fan f;
	size_t i, failed = 0, whole = 0;

	fan_init(&f, 1, WEIR_FAN_BROADCAST);
	f.ledger.share_fails = 100;
	fan_run(&f);
	for (i = 0; i < SINKS; i++) {
		failed += f.sinks[i].end_code == -ENOMEM;
		whole += f.sinks[i].seen == N;
	}
	assert_int_equal(failed, 1);
	assert_int_equal(whole, SINKS - 1);
	fan_fini(&f);
}

static void items_that_cannot_be_shared_refuse_a_second_link(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct source source;
	struct sink sinks[2];

	ledger_init(&ledger, N);
	ledger.items.share = NULL;
	source_init(&source, weir_sim_executor(sim), &ledger, 1, N);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BROADCAST, 16), 0);
	sink_init(&sinks[0], weir_sim_executor(sim), &ledger, 4);
	sink_init(&sinks[1], weir_sim_executor(sim), &ledger, 4);
	assert_int_equal(weir_out_link(&source.out, &sinks[0].in), 0);
	assert_int_equal(weir_out_link(&source.out, &sinks[1].in), -ENOTSUP);
	weir_actor_stop(&sinks[1].actor);
	assert_int_equal(weir_actor_start(&sinks[0].actor), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(sinks[0].seen, N);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void balance_gives_every_token_to_one(void **state)
{
	struct fan f;
	size_t i, sum;

	for_each_seed(seed, test_count(200)) {
		fan_init(&f, seed, WEIR_FAN_BALANCE);
		fan_run(&f);
		for (sum = 0, i = 0; i < SINKS; i++) {
			assert_true(f.sinks[i].seen > 0);
			sum += f.sinks[i].seen;
		}
		assert_int_equal(sum, N);
		assert_int_equal(ledger_sum(f.ledger.shared, N), 0);
		fan_fini(&f);
	}
}

static void balance_goes_round_one_that_is_stuck(void **state)
{
	struct fan f;

	fan_init(&f, 1, WEIR_FAN_BALANCE);
	weir_actor_suspend(&f.sinks[2].actor);
	fan_run(&f);
	assert_int_equal(f.sinks[0].seen + f.sinks[1].seen, N - 16);
	weir_actor_resume(&f.sinks[2].actor);
	weir_sim_run(f.sim);
	assert_int_equal(f.sinks[2].seen, 16);
	fan_fini(&f);
}

static void one_of_a_balance_may_leave_while_tokens_flow(void **state)
{
	struct fan f;

	for_each_seed(seed, test_count(500)) {
		fan_init(&f, seed, WEIR_FAN_BALANCE);
		f.sinks[seed % SINKS].stop_at = 1 + seed % 50;
		fan_run(&f);
		fan_fini(&f);
	}
}

/* Puts every item to either of two out-ports, in turn. */
struct splitter {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out outs[2];
	size_t n;
};

static inline int splitter_turn(struct weir_actor *actor)
{
	struct splitter *self =
		weir_container_of(actor, struct splitter, actor);
	void *item = weir_in_take(&self->in);

	return weir_out_put(&self->outs[self->n++ & 1], item);
}
WEIR_TURN(splitter_turn)

/* Source -> splitter -> two sinks; one sink leaves after `stop_at`. */
static void split(struct weir_executor *executor, struct weir_sim *sim,
		  size_t stop_at, size_t *whole)
{
	static const struct weir_actor_ops ops = {.turns = splitter_turn_n};
	struct splitter splitter = {0};
	struct ledger ledger;
	struct source source;
	struct sink sinks[2];
	size_t i;

	ledger_init(&ledger, N);
	source_init(&source, executor, &ledger, 1, N);
	weir_actor_init(&splitter.actor, &ops, executor);
	weir_in_init(&splitter.in, &splitter.actor, 4, NULL);
	assert_int_equal(weir_out_link(&source.out, &splitter.in), 0);
	for (i = 0; i < 2; i++) {
		sink_init(&sinks[i], executor, &ledger, 2);
		weir_out_init(&splitter.outs[i], &splitter.actor,
			      &ledger.items);
		assert_int_equal(weir_out_link(&splitter.outs[i], &sinks[i].in),
				 0);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	sinks[0].stop_at = stop_at;
	assert_int_equal(weir_actor_start(&splitter.actor), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	weir_sim_run(sim);
	*whole = sinks[1].seen;
	fate_check(&sinks[0].fate, 0);
	assert_int_equal(sinks[1].fate.released, 1);
	assert_int_equal(source.fate.released, 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

static void what_is_put_to_a_cancelled_port_is_dropped(void **state)
{
	struct weir_sim *sim;
	size_t whole;

	for_each_seed(seed, test_count(200)) {
		sim = sim_new(seed);
		split(weir_sim_executor(sim), sim, 1 + seed % 100, &whole);
		assert_int_equal(whole, N / 2);
		sim_free(sim);
	}
}

/* The ring that takes what is put after a cancel may not be had. */
static void no_memory_when_cancelled_fails_the_actor_without_a_loss(
	void **state)
{
	struct weir_executor_options options = {0};
	struct weir_sim *sim;
	struct heap heap;
	size_t fail, whole;

	heap_init(&heap, 0);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
	split(weir_sim_executor(sim), sim, 10, &whole);
	assert_int_equal(whole, N / 2);
	sim_free(sim);
	/* the last two are for that ring */
	for (fail = heap.calls; fail > heap.calls - 2; fail--) {
		struct heap failing;

		heap_init(&failing, fail);
		options.allocator = &failing.allocator;
		assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
		split(weir_sim_executor(sim), sim, 10, &whole);
		assert_true(whole < N / 2);
		sim_free(sim);
		assert_int_equal(failing.live, 0);
	}
}

static void misuse_of_fans_is_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;
	struct source source;

	pair_init(&pair, weir_sim_executor(sim), 1, 4);
	source_init(&source, weir_sim_executor(sim), &pair.ledger, 1, 0);
	assert_int_equal(weir_out_fan(NULL, WEIR_FAN_BALANCE, 4), -EINVAL);
	assert_int_equal(weir_out_fan(&source.out, (enum weir_fan)5, 4),
			 -EINVAL);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BALANCE, 0),
			 -EINVAL);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BALANCE, 3),
			 -EINVAL);
	assert_int_equal(weir_out_fan(&pair.source.out, WEIR_FAN_BALANCE, 4),
			 -EBUSY);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BALANCE, 4), 0);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BALANCE, 4),
			 -EBUSY);
	weir_actor_stop(&source.actor);
	pair_start(&pair);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misuse_of_links_is_refused),
		cmocka_unit_test(
			bursts_that_could_wait_for_each_other_are_refused),
		cmocka_unit_test(a_put_outside_a_turn_is_refused),
		cmocka_unit_test(an_unlinked_out_port_holds_its_actor_back),
		cmocka_unit_test(an_actor_that_runs_may_link_and_start_others),
		cmocka_unit_test(a_handler_that_has_looked_may_put),
		cmocka_unit_test(a_late_link_gets_what_is_put_after_it),
		cmocka_unit_test(broadcast_gives_every_token_to_all_in_order),
		cmocka_unit_test(broadcast_moves_at_the_slowest),
		cmocka_unit_test(
			one_of_a_broadcast_may_leave_while_tokens_flow),
		cmocka_unit_test(a_full_link_that_leaves_lets_the_others_go_on),
		cmocka_unit_test(the_source_ends_when_the_last_has_left),
		cmocka_unit_test(a_share_that_fails_ends_that_link_alone),
		cmocka_unit_test(
			items_that_cannot_be_shared_refuse_a_second_link),
		cmocka_unit_test(balance_gives_every_token_to_one),
		cmocka_unit_test(balance_goes_round_one_that_is_stuck),
		cmocka_unit_test(one_of_a_balance_may_leave_while_tokens_flow),
		cmocka_unit_test(what_is_put_to_a_cancelled_port_is_dropped),
		cmocka_unit_test(
			no_memory_when_cancelled_fails_the_actor_without_a_loss),
		cmocka_unit_test(misuse_of_fans_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
