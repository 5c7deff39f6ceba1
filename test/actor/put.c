/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending to an actor of which a reference is at hand, from one thread. */
#include "actor/kit.h"

struct fixture {
	struct weir_sim *sim;
	struct ledger ledger;
	struct sink sink;
};

static void fixture_init(struct fixture *f, size_t capacity)
{
	f->sim = sim_new(1);
	ledger_init(&f->ledger, 4);
	sink_init(&f->sink, weir_sim_executor(f->sim), &f->ledger, capacity);
}

static void fixture_fini(struct fixture *f)
{
	ledger_check(&f->ledger);
	ledger_fini(&f->ledger);
	sim_free(f->sim);
}

static int tell(struct fixture *f, size_t i)
{
	void *item = ledger_make(&f->ledger, i);
	int rc = weir_actor_tell(&f->sink.actor, item);

	if (rc < 0)
		ledger_drop(item, &f->ledger);
	return rc;
}

static void items_come_in_the_order_in_which_they_were_told(void **state)
{
	struct fixture f;
	size_t i;

	fixture_init(&f, 4);
	f.sink.ordered = true;
	f.sink.stop_at = 3;
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	for (i = 1; i <= 3; i++)
		assert_int_equal(tell(&f, i), 0);
	weir_sim_run(f.sim);
	assert_int_equal(f.sink.seen, 3);
	fixture_fini(&f);
}

static void what_a_full_mailbox_refuses_stays_the_caller_s(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	assert_int_equal(tell(&f, 1), 0);
	assert_int_equal(tell(&f, 2), -EAGAIN);
	assert_int_equal(ledger_dropped(&f.ledger), 1); /* by tell() above */
	weir_actor_stop(&f.sink.actor);
	fixture_fini(&f);
}

static void who_has_ended_is_told_nothing(void **state)
{
	struct fixture f;

	fixture_init(&f, 2);
	assert_int_equal(weir_actor_start(&f.sink.actor), 0);
	(void)weir_actor_ref(&f.sink.actor);
	weir_actor_stop(&f.sink.actor);
	weir_sim_run(f.sim);
	assert_int_equal(tell(&f, 1), -EPIPE);
	weir_actor_unref(&f.sink.actor);
	fixture_fini(&f);
}

/* --- Which in-port -------------------------------------------------------- */

struct two {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_in first, second;
	void *taken[2];
};

static uint32_t two_turns(struct weir_actor *actor, uint32_t n)
{
	struct two *self = weir_container_of(actor, struct two, actor);

	self->taken[0] = weir_in_take(&self->first);
	self->taken[1] = weir_in_take(&self->second);
	(void)weir_actor_end(actor);
	return 1;
}

static const struct weir_actor_ops two_ops = {.turns = two_turns};

static void the_mailbox_is_the_in_port_set_up_first(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct two two = {0};
	int first, second;

	assert_int_equal(weir_actor_init(&two.actor, &two_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_out_init(&two.out, &two.actor, NULL), 0);
	assert_int_equal(weir_in_init(&two.first, &two.actor, 1, NULL), 0);
	assert_int_equal(weir_in_init(&two.second, &two.actor, 1, NULL), 0);
	assert_int_equal(weir_port_ignore(&two.out.port), 0);
	assert_int_equal(weir_actor_start(&two.actor), 0);
	assert_int_equal(weir_actor_tell(&two.actor, &first), 0);
	assert_int_equal(weir_actor_tell(&two.actor, &second), -EAGAIN);
	assert_int_equal(weir_in_put(&two.second, &second), 0);
	weir_sim_run(sim);
	assert_ptr_equal(two.taken[0], &first);
	assert_ptr_equal(two.taken[1], &second);
	sim_free(sim);
}

static void an_actor_without_an_in_port_has_no_mailbox(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_actor actor;

	assert_int_equal(
		weir_actor_init(&actor, &two_ops, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_actor_tell(&actor, NULL), -ENOTSUP);
	assert_int_equal(weir_actor_tell(NULL, NULL), -EINVAL);
	weir_actor_stop(&actor);
	sim_free(sim);
}

static void a_link_is_not_told_into(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct pair pair;

	pair_init(&pair, weir_sim_executor(sim), 3, 2);
	assert_int_equal(weir_actor_tell(&pair.sink.actor, NULL), -EISCONN);
	pair_start(&pair);
	weir_sim_run(sim);
	pair_fini(&pair);
	sim_free(sim);
}

/* --- Cancelled ------------------------------------------------------------- */

struct cancels {
	struct weir_actor actor;
	struct weir_in in;
	size_t dropped;
	bool ready;
	void *taken;
};

static void count_dropped(void *item, void *context)
{
	(void)item;
	++*(size_t *)context;
}

static int cancel_and_look(struct weir_actor *actor)
{
	struct cancels *self = weir_container_of(actor, struct cancels, actor);

	assert_int_equal(weir_in_cancel(&self->in), 0);
	self->ready = weir_port_ready(&self->in.port);
	self->taken = weir_in_take(&self->in);
	return weir_actor_end(actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	fail_msg("a turn");
	return n;
}

static const struct weir_actor_ops cancels_ops = {
	.turns = no_turns,
	.signalled = cancel_and_look,
};

/* The handler runs before the tokens were looked at. */
static void a_port_that_was_cancelled_is_not_ready_for_what_it_has_dropped(
	void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct cancels self = {0};
	const struct weir_items items = {.drop = count_dropped,
					 .context = &self.dropped};
	int i, tokens[3];

	assert_int_equal(weir_actor_init(&self.actor, &cancels_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_in_init(&self.in, &self.actor, 4, &items), 0);
	assert_int_equal(weir_actor_start(&self.actor), 0);
	weir_sim_run(sim);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_in_put(&self.in, &tokens[i]), 0);
	weir_actor_signal(&self.actor);
	weir_sim_run(sim);
	assert_false(self.ready);
	assert_null(self.taken);
	assert_int_equal(self.dropped, 3);
	sim_free(sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			items_come_in_the_order_in_which_they_were_told),
		cmocka_unit_test(
			what_a_full_mailbox_refuses_stays_the_caller_s),
		cmocka_unit_test(who_has_ended_is_told_nothing),
		cmocka_unit_test(the_mailbox_is_the_in_port_set_up_first),
		cmocka_unit_test(an_actor_without_an_in_port_has_no_mailbox),
		cmocka_unit_test(a_link_is_not_told_into),
		cmocka_unit_test(
			a_port_that_was_cancelled_is_not_ready_for_what_it_has_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
