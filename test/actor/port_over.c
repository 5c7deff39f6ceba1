/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports that are over, of each kind that can be: cancelled or ended, with tokens
 * that were seen, or not yet, or taken in part. Such a port is not ready, there
 * is nothing to take or to put, no turn is called for it; and each token was
 * taken or dropped, once.
 */
#include "executor/places.h"
#include "kit/world.h"

#include <sched.h>

#include <weir/channel.h>

#define CAPACITY 4u
#define TOKENS 12u

/* How the port is fed. */
enum feed { PUTS, LINK, MERGED_PUTS, MERGED_LINKS, STASH, CHANNEL, FEEDS };

/* What the actor had done with the tokens. */
enum seen { UNSEEN, LOOKED, TOOK_ONE, IN_TURN, SEENS };

/* How the port is over. */
enum end { CANCELLED, ENDED_WELL, FAILED, ENDS };

struct probe {
	struct world world;
	enum feed feed;
	enum seen seen;
	enum end end;
	bool grouped; /* in a weir_any, with permits that never come */
	struct weir_actor actor;
	struct weir_permits gate; /* without it no turn is called */
	struct weir_any any;
	struct weir_permits permits;
	struct weir_in in;
	struct weir_channel_in channel_in;
	struct weir_channel *channel;
	struct source sources[2];
	size_t made;
	bool aside;	/* one was put there */
	bool is_over;	/* the port */
	uint32_t turns; /* after that */
	uint32_t looks; /* the same, by handlers */
	uint32_t ended; /* calls of the handler of ends */
};

static struct probe *probe_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct probe, actor);
}

static struct weir_port *port_of(struct probe *p)
{
	return p->feed == CHANNEL ? &p->channel_in.port : &p->in.port;
}

/* --- What the actor does -------------------------------------------------- */

static void *take(struct probe *p)
{
	void *item = NULL;

	if (p->feed != CHANNEL)
		return weir_in_take(&p->in);
	(void)weir_channel_in_take(&p->channel_in, &item);
	return item;
}

static bool take_one(struct probe *p)
{
	void *item = take(p);

	if (item)
		(void)ledger_deliver(&p->world.ledger, item);
	return item;
}

/* In a turn, who takes what is not there has made a mistake. */
static void nothing_is_there(struct probe *p, bool in_turn)
{
	void *item = ledger_make(&p->world.ledger, ++p->made);

	assert_false(weir_port_ready(port_of(p)));
	assert_true(in_turn || !take_one(p));
	assert_false(weir_port_ready(port_of(p)));
	if (p->feed != CHANNEL) {
		assert_int_equal(weir_in_count(&p->in), 0);
		assert_true(in_turn || !weir_in_peek(&p->in));
		assert_int_equal(weir_in_cancel(&p->in), -EALREADY);
		assert_int_equal(weir_in_count(&p->in), 0);
		assert_int_equal(weir_in_stash(&p->in, item),
				 p->feed == STASH ? -EPIPE : -ENOTSUP);
		assert_int_equal(weir_in_unstash_all(&p->in),
				 p->feed == STASH ? -EPIPE : -ENOTSUP);
	}
	if (!p->grouped)
		assert_int_equal(weir_port_require(port_of(p)), -EPIPE);
	ledger_drop(item, &p->world.ledger);
	p->looks++;
}

static void cancel(struct probe *p, bool in_turn)
{
	assert_int_equal(weir_in_cancel(&p->in), 0);
	p->is_over = true;
	nothing_is_there(p, in_turn);
}

/* One is put aside, if there is a stash. */
static void put_aside(struct probe *p)
{
	void *item = p->feed == STASH ? take(p) : NULL;

	if (item)
		assert_int_equal(weir_in_stash(&p->in, item), 0);
}

/* The port is over in a handler, or looked at again. */
static int signalled(struct weir_actor *actor)
{
	struct probe *p = probe_of(actor);

	if (p->is_over) {
		nothing_is_there(p, false);
		return 0;
	}
	if (p->feed == STASH && p->end != CANCELLED)
		return weir_in_unstash_all(&p->in);
	if (p->end != CANCELLED || p->seen == IN_TURN)
		return 0;
	if (p->seen != UNSEEN) {
		/* of a link, perhaps none has come yet */
		if (!weir_port_ready(port_of(p)))
			return 0;
		put_aside(p);
	}
	if (p->seen == TOOK_ONE)
		assert_true(take_one(p));
	cancel(p, false);
	return 0;
}

static uint32_t turns(struct weir_actor *actor, uint32_t n)
{
	struct probe *p = probe_of(actor);

	p->turns += p->is_over;
	if (p->is_over)
		return n;
	if (p->feed == STASH && !p->aside) {
		p->aside = true;
		put_aside(p);
	} else {
		(void)take_one(p);
	}
	/* the rest of the run finds nothing */
	if (p->end == CANCELLED && p->seen == IN_TURN)
		cancel(p, true);
	return 1;
}

static int ended(struct weir_actor *actor, struct weir_in *in,
		 struct weir_error *error)
{
	struct probe *p = probe_of(actor);

	assert_int_equal(error ? error->code : 0,
			 p->end == FAILED ? -EPROTO : 0);
	p->ended++;
	p->is_over = true;
	nothing_is_there(p, false);
	return 0;
}

static int channel_ended(struct weir_channel_in *in, struct weir_error *error)
{
	return ended(in->port.actor, NULL, error);
}

static const struct weir_actor_ops probe_ops = {
	.name = "probe",
	.turns = turns,
	.signalled = signalled,
	.ended = ended,
};

/* --- A world -------------------------------------------------------------- */

/* It is over in a handler, before any turn. */
static bool gated(const struct probe *p)
{
	return p->end == CANCELLED && p->seen != IN_TURN;
}

static void init_in(struct probe *p, struct weir_executor *executor)
{
	struct ledger *ledger = &p->world.ledger;
	size_t i;

	assert_int_equal(
		weir_in_init(&p->in, &p->actor, CAPACITY, &ledger->items), 0);
	if (p->feed == MERGED_PUTS || p->feed == MERGED_LINKS)
		assert_int_equal(weir_in_merge(&p->in,
					       p->feed == MERGED_PUTS
						       ? WEIR_MERGE_OPEN
						       : WEIR_MERGE_ALL),
				 0);
	if (p->feed == STASH)
		assert_int_equal(weir_in_stash_init(&p->in), 0);
	for (i = 0; i < (p->feed == LINK	   ? 1u
			 : p->feed == MERGED_LINKS ? 2u
						   : 0u);
	     i++) {
		source_init(&p->sources[i], executor, ledger, p->made + 1,
			    p->made + CAPACITY);
		p->made += CAPACITY;
		if (p->end == FAILED)
			p->sources[i].fail_at = p->made;
		assert_int_equal(weir_out_link(&p->sources[i].out, &p->in), 0);
	}
}

static void init(struct probe *p)
{
	struct weir_executor *executor = p->world.executor;
	struct weir_port *port = port_of(p);

	assert_int_equal(weir_actor_init(&p->actor, &probe_ops, executor), 0);
	if (p->feed == CHANNEL) {
		assert_int_equal(weir_channel_new(&p->channel, CAPACITY,
						  &p->world.ledger.items, NULL),
				 0);
		assert_int_equal(weir_channel_in_init(&p->channel_in, &p->actor,
						      p->channel),
				 0);
		p->channel_in.ended = channel_ended;
	} else {
		init_in(p, executor);
	}
	if (gated(p))
		assert_int_equal(weir_permits_init(&p->gate, &p->actor, 0), 0);
	if (!p->grouped)
		return;
	assert_int_equal(weir_permits_init(&p->permits, &p->actor, 0), 0);
	assert_int_equal(weir_any_init(&p->any, &p->actor), 0);
	assert_int_equal(weir_any_add(&p->any, port), 0);
	assert_int_equal(weir_any_add(&p->any, &p->permits.port), 0);
}

/* A token that somebody else puts; who refuses it has not got it. */
static void put_one(struct probe *p)
{
	void *item = ledger_make(&p->world.ledger, ++p->made);
	int rc = p->feed == CHANNEL ? weir_channel_try_put(p->channel, item)
				    : weir_in_put(&p->in, item);

	if (rc < 0)
		ledger_drop(item, &p->world.ledger);
}

static void feed(struct probe *p)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (p->sources[i].ledger)
			assert_int_equal(weir_actor_start(&p->sources[i].actor),
					 0);
	if (!p->sources[0].ledger)
		for (i = 0; i < 3; i++)
			put_one(p);
}

static void end_it(struct probe *p)
{
	struct weir_error *error = p->end == FAILED ? weir_error_of(-EPROTO)
						    : NULL;

	if (p->feed == CHANNEL)
		assert_int_equal(weir_channel_end(p->channel, error), 0);
	else if (!p->sources[0].ledger)
		assert_int_equal(weir_in_end(&p->in, error), 0);
	weir_error_unref(error);
}

/* The links end with another error, of their own; and a channel is not
 * cancelled by its port. */
static bool exists(const struct probe *p)
{
	bool links = p->feed == LINK || p->feed == MERGED_LINKS;

	if (p->end == CANCELLED)
		return p->feed != CHANNEL;
	return p->seen == UNSEEN && !(links && p->end == FAILED);
}

static void be_over(struct probe *p, uint64_t seed)
{
	world_init(&p->world, seed, 2 * TOKENS + 8);
	init(p);
	assert_int_equal(weir_actor_start(&p->actor), 0);
	if (p->seen == UNSEEN && seed % 2)
		weir_sim_run(p->world.sim);
	feed(p);
	if (seed % 3)
		weir_sim_run(p->world.sim);
	weir_actor_signal(&p->actor);
	if (p->end != CANCELLED)
		end_it(p);
	weir_sim_run(p->world.sim);
	if (!p->is_over) {
		weir_actor_signal(&p->actor);
		weir_sim_run(p->world.sim);
	}
	assert_true(p->is_over);
	put_one(p);
	weir_actor_signal(&p->actor);
	weir_sim_run(p->world.sim);
	/* alone it would call turns */
	if (p->grouped && gated(p))
		weir_permits_release(&p->gate, 1);
	weir_sim_run(p->world.sim);
	assert_int_equal(p->turns, 0);
	assert_true(p->looks >= 2);
	assert_int_equal(p->ended, p->end != CANCELLED);
	weir_actor_stop(&p->actor);
	weir_sim_run(p->world.sim);
	if (p->channel)
		assert_int_equal(weir_channel_free(p->channel), 0);
	world_fini(&p->world);
}

static void for_each_probe(enum feed feed)
{
	static struct probe probe;
	unsigned seen, end, grouped;

	for_each_seed(seed, 10) {
		for (seen = 0; seen < SEENS; seen++) {
			for (end = 0; end < ENDS; end++) {
				for (grouped = 0; grouped < 2; grouped++) {
					probe = (struct probe){
						.feed = feed,
						.seen = (enum seen)seen,
						.end = (enum end)end,
						.grouped = grouped};
					if (exists(&probe))
						be_over(&probe, seed);
				}
			}
		}
	}
}

static void nothing_is_left_of_what_was_put(void **state)
{
	for_each_probe(PUTS);
}

static void nothing_is_left_of_a_link(void **state)
{
	for_each_probe(LINK);
}

static void nothing_is_left_of_puts_that_merge(void **state)
{
	for_each_probe(MERGED_PUTS);
}

static void nothing_is_left_of_links_that_merge(void **state)
{
	for_each_probe(MERGED_LINKS);
}

static void nothing_is_left_of_what_was_put_aside(void **state)
{
	for_each_probe(STASH);
}

static void nothing_is_left_of_a_channel(void **state)
{
	for_each_probe(CHANNEL);
}

/* --- Ports that take no part for a time ----------------------------------- */

struct pauses {
	struct weir_actor actor;
	struct weir_in in[2];
	struct ledger *ledger;
	uint32_t signals, turns;
	bool peeks;
	int code;
};

static struct pauses *pauses_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct pauses, actor);
}

/* First it looks for a token where there is none. */
static int pause_or_go_on(struct weir_actor *actor)
{
	struct pauses *self = pauses_of(actor);

	if (self->signals++ > 0)
		return weir_port_require(&self->in[0].port);
	assert_int_equal(weir_port_ignore(&self->in[0].port), 0);
	assert_null(self->peeks ? weir_in_peek(&self->in[0])
				: weir_in_take(&self->in[0]));
	return 0;
}

static int take_what_is_there(struct weir_actor *actor)
{
	struct pauses *self = pauses_of(actor);
	size_t i;

	self->turns++;
	for (i = self->signals > 1 ? 0 : 1; i < 2; i++)
		(void)ledger_deliver(self->ledger, weir_in_take(&self->in[i]));
	return 0;
}
WEIR_TURN(take_what_is_there)

static void pauses_stopped(struct weir_actor *actor, struct weir_error *error)
{
	pauses_of(actor)->code = error ? error->code : 0;
}

static const struct weir_actor_ops pauses_ops = {
	.name = "pauses",
	.turns = take_what_is_there_n,
	.signalled = pause_or_go_on,
	.stopped = pauses_stopped,
};

static void look_where_nothing_is(uint64_t seed, bool other_has)
{
	struct pauses self = {.peeks = seed % 2};
	struct world world;
	size_t i;

	world_init(&world, seed, 8);
	self.ledger = &world.ledger;
	assert_int_equal(
		weir_actor_init(&self.actor, &pauses_ops, world.executor), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_in_init(&self.in[i], &self.actor, 4,
					      &world.ledger.items),
				 0);
	assert_int_equal(weir_actor_start(&self.actor), 0);
	weir_actor_signal(&self.actor);
	if (other_has)
		assert_int_equal(weir_in_put(&self.in[1],
					     ledger_make(&world.ledger, 1)),
				 0);
	weir_sim_run(world.sim);
	assert_int_equal(self.turns, other_has);
	weir_actor_signal(&self.actor);
	for (i = 2; i < 8; i++)
		assert_int_equal(weir_in_put(&self.in[i % 2],
					     ledger_make(&world.ledger, i)),
				 0);
	weir_sim_run(world.sim);
	assert_int_equal(self.turns, 3 + other_has);
	assert_int_equal(ledger_delivered(&world.ledger), 6 + other_has);
	weir_actor_stop(&self.actor);
	weir_sim_run(world.sim);
	assert_int_equal(self.code, -ECANCELED);
	world_fini(&world);
}

/* It returns NULL and changes nothing, as of a port that takes part. */
static void a_take_from_a_port_that_is_ignored_changes_nothing(void **state)
{
	for_each_seed(seed, 20)
		look_where_nothing_is(seed, false);
}

static void nor_does_it_where_turns_follow(void **state)
{
	for_each_seed(seed, 20)
		look_where_nothing_is(seed, true);
}

/* --- Where turns may block ------------------------------------------------ */

struct early {
	struct weir_actor actor;
	struct weir_in in;
	uint32_t looked, taken, stopped; /* atomic */
};

static int look_early(struct weir_actor *actor)
{
	struct early *self = weir_container_of(actor, struct early, actor);

	assert(!weir_in_take(&self->in));
	ck_pr_store_32(&self->looked, 1);
	return 0;
}

static int take_number(struct weir_actor *actor)
{
	struct early *self = weir_container_of(actor, struct early, actor);

	ck_pr_store_32(&self->taken,
		       (uint32_t)(uintptr_t)weir_in_take(&self->in));
	return 0;
}
WEIR_TURN(take_number)

static void early_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct early *self = weir_container_of(actor, struct early, actor);

	ck_pr_store_32(&self->stopped, 1);
}

static const struct weir_actor_ops early_ops = {
	.turns = take_number_n,
	.signalled = look_early,
	.stopped = early_stopped,
};

/* There what a handler did is published at once. */
static void a_handler_may_look_early_where_turns_may_block(void **state)
{
	struct early self = {.looked = 0};
	struct place place;

	place_make(&place, &blocking);
	assert_int_equal(
		weir_actor_init(&self.actor, &early_ops, place.executor), 0);
	assert_int_equal(weir_in_init(&self.in, &self.actor, 4, NULL), 0);
	weir_actor_ref(&self.actor);
	assert_int_equal(weir_actor_start(&self.actor), 0);
	weir_actor_signal(&self.actor);
	while (!ck_pr_load_32(&self.looked))
		(void)sched_yield();
	assert_int_equal(weir_in_put(&self.in, (void *)7), 0);
	while (!ck_pr_load_32(&self.taken) && !ck_pr_load_32(&self.stopped))
		(void)sched_yield();
	assert_int_equal(self.taken, 7);
	weir_actor_stop(&self.actor);
	weir_actor_unref(&self.actor);
	while (place.kind->free(&place) == -EBUSY)
		(void)sched_yield();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_of_what_was_put),
		cmocka_unit_test(nothing_is_left_of_a_link),
		cmocka_unit_test(nothing_is_left_of_puts_that_merge),
		cmocka_unit_test(nothing_is_left_of_links_that_merge),
		cmocka_unit_test(nothing_is_left_of_what_was_put_aside),
		cmocka_unit_test(nothing_is_left_of_a_channel),
		cmocka_unit_test(
			a_take_from_a_port_that_is_ignored_changes_nothing),
		cmocka_unit_test(nor_does_it_where_turns_follow),
		cmocka_unit_test(
			a_handler_may_look_early_where_turns_may_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
