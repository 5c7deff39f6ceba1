/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns that take tens of thousands of tokens and fail then: which token they
 * had in hand is kept in few bits, and must not be mistaken (B1.1). Rule
 * numbers like B1.1 are those of docs/conformance/supervision.md.
 */
#include "actor/kit.h"

#include <weir/supervision.h>
#include <weir/system.h>

#define CAPACITY (1u << 17)
#define N (CAPACITY + 1000) /* over a link: it has not ended yet */

/* What a turn has done with a token before it fails. */
enum hand {
	TAKES,		 /* took as many as it is to */
	PEEKS_AND_TAKES, /* the same, and looked at the first one before */
	CONSUMES,	 /* looked at each of them, one by one */
	HOLDS,		 /* the same, and is at another one */
	ASKS,		 /* asked in between whether there are more */
	LAST_HAND = ASKS,
};

struct eater {
	struct sink sink; /* first */
	enum hand hand;
	size_t bite; /* tokens that a turn takes, if there are as many */
	size_t held; /* turns that have failed at a token */
	size_t most; /* that a turn has taken */
	size_t turns;
};

static inline bool looks_at(enum hand hand, size_t n)
{
	return hand == CONSUMES || hand == HOLDS ||
	       (hand == PEEKS_AND_TAKES && n == 0);
}

static inline void eat(struct eater *self)
{
	struct sink *sink = &self->sink;
	struct weir_in *in = &sink->in;
	size_t n;

	for (n = 0; n < self->bite && weir_in_count(in); n++) {
		if (looks_at(self->hand, n))
			(void)weir_in_peek(in);
		if (self->hand == ASKS && weir_in_count(in) == 1)
			assert_true(weir_port_ready(&in->port));
		ledger_deliver(sink->ledger, weir_in_take(in));
	}
	if (n > self->most)
		self->most = n;
	if (self->hand == HOLDS && weir_in_count(in)) {
		(void)weir_in_peek(in);
		self->held++;
	}
}

/* Every second turn takes one and does not fail: runs begin with either. */
static inline int eater_turn(struct weir_actor *actor)
{
	struct eater *self = weir_container_of(actor, struct eater, sink.actor);

	if (self->turns++ % 2) {
		ledger_deliver(self->sink.ledger, weir_in_take(&self->sink.in));
		return 0;
	}
	eat(self);
	return -EIO;
}
WEIR_TURN(eater_turn)

static void eater_init(struct eater *self, struct weir_executor *executor,
		       struct ledger *ledger)
{
	static struct weir_actor_ops ops;

	ops = sink_ops;
	ops.turns = eater_turn_n;
	sink_init(&self->sink, executor, ledger, CAPACITY);
	self->sink.actor.ops = &ops;
	self->sink.actor.turns = ops.turns;
}

static void put_all(struct weir_in *in, struct ledger *ledger)
{
	size_t i;

	for (i = 1; i <= CAPACITY; i++)
		assert_int_equal(weir_in_put(in, ledger_make(ledger, i)), 0);
	assert_int_equal(weir_in_end(in, NULL), 0);
}

/* A system whose actors go on when they have failed. */
static struct weir_system *resuming(struct weir_sim *sim)
{
	static const struct weir_rule resume = {
		.directive = WEIR_DIRECTIVE_RESUME};
	static const struct weir_strategy strategy = {.rules = &resume,
						      .n_rules = 1};
	const struct weir_system_options options = {
		.strategy = &strategy, .event = weir_supervision_event_ignore};
	struct weir_system *system;

	assert_int_equal(
		weir_system_new(&system, weir_sim_executor(sim), &options), 0);
	return system;
}

/* As many as it can hold are there, put or over a link; then it begins. */
static void eat_all_of(struct eater *eater, struct weir_sim *sim, bool linked)
{
	const struct weir_spawn_options plain = {0};
	struct weir_system *system = resuming(sim);
	struct source source;

	if (linked) {
		source_init(&source, weir_sim_executor(sim), eater->sink.ledger,
			    1, N);
		assert_int_equal(weir_out_link(&source.out, &eater->sink.in),
				 0);
		assert_int_equal(weir_actor_start(&source.actor), 0);
	} else {
		put_all(&eater->sink.in, eater->sink.ledger);
	}
	weir_actor_suspend(&eater->sink.actor);
	assert_int_equal(weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
					   &eater->sink.actor, &plain, NULL),
			 0);
	weir_sim_run(sim);
	weir_actor_resume(&eater->sink.actor);
	weir_sim_run(sim);
	assert_int_equal(eater->sink.ended, 1);
	weir_system_stop(system);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(system), 0);
}

static void eat_all(enum hand hand, size_t bite, bool linked)
{
	struct eater eater = {.hand = hand, .bite = bite};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;

	ledger_init(&ledger, N);
	eater_init(&eater, weir_sim_executor(sim), &ledger);
	eat_all_of(&eater, sim, linked);
	assert_in_range(eater.most, 0x7ffe, bite);
	assert_int_equal(ledger_dropped(&ledger), eater.held);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void b1_1_long_runs_that_fail_drop_what_they_hold_and_no_more(
	void **state)
{
	static const size_t bites[] = {0x7ffe, 0x7fff, 0x8000, 0x8001,
				       0xfffe, 0xffff, 0x10000};
	enum hand hand;
	size_t i;

	for (hand = TAKES; hand <= LAST_HAND; hand++)
		for (i = 0; i < sizeof(bites) / sizeof(*bites); i++) {
			eat_all(hand, bites[i], false);
			eat_all(hand, bites[i], true);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			b1_1_long_runs_that_fail_drop_what_they_hold_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
