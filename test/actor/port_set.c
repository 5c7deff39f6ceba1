/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ports take part in firing: ignoring, requiring, becoming. */
#include "actor/kit.h"

/* Takes from `left` and `right` in turns of its own for each. */
struct switching {
	struct weir_actor actor;
	struct weir_in left, right;
	char log[16];
	size_t n;
};

static inline int left_turn(struct weir_actor *actor);
static inline int right_turn(struct weir_actor *actor);
WEIR_TURN(left_turn)
WEIR_TURN(right_turn)

static int switch_to(struct switching *self, struct weir_in *in,
		     weir_turns *turns, char mark)
{
	struct weir_port *ports[] = {&in->port};

	self->log[self->n++] = mark;
	return weir_actor_become(&self->actor, turns, ports, 1);
}

static inline int left_turn(struct weir_actor *actor)
{
	struct switching *self =
		weir_container_of(actor, struct switching, actor);

	weir_in_take(&self->left);
	return switch_to(self, &self->right, right_turn_n, 'l');
}

static inline int right_turn(struct weir_actor *actor)
{
	struct switching *self =
		weir_container_of(actor, struct switching, actor);

	weir_in_take(&self->right);
	return switch_to(self, &self->left, left_turn_n, 'r');
}

static void become_takes_another_turn_with_other_ports(void **state)
{
	static const struct weir_actor_ops ops = {.turns = left_turn_n};
	struct weir_sim *sim = sim_new(1);
	struct switching one = {0};
	struct weir_port *left = &one.left.port, *none = NULL;
	int i;

	weir_actor_init(&one.actor, &ops, weir_sim_executor(sim));
	weir_in_init(&one.left, &one.actor, 4, NULL);
	weir_in_init(&one.right, &one.actor, 4, NULL);
	assert_int_equal(weir_actor_become(&one.actor, NULL, NULL, 0), -EINVAL);
	assert_int_equal(weir_actor_become(&one.actor, left_turn_n, &none, 1),
			 -EINVAL);
	assert_int_equal(weir_actor_become(&one.actor, left_turn_n, &left, 1),
			 0);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_in_put(&one.left, NULL), 0);
	weir_sim_run(sim);
	assert_string_equal(one.log, "l");
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_in_put(&one.right, NULL), 0);
	weir_sim_run(sim);
	assert_string_equal(one.log, "lrlrlr");
	assert_true(weir__actor_check(&one.actor));
	weir_actor_stop(&one.actor);
	weir_sim_run(sim);
	sim_free(sim);
}

/* Its handler switches ports, as `next` says; turns count. */
struct switched {
	struct weir_actor actor;
	struct weir_in left, right;
	void (*next)(struct switched *self);
	uint32_t turns, signals;
};

static inline int switched_turn(struct weir_actor *actor)
{
	struct switched *self =
		weir_container_of(actor, struct switched, actor);

	if (weir_in_count(&self->left))
		weir_in_take(&self->left);
	self->turns++;
	return 0;
}
WEIR_TURN(switched_turn)

static int switched_signalled(struct weir_actor *actor)
{
	struct switched *self =
		weir_container_of(actor, struct switched, actor);

	self->signals++;
	if (self->next)
		self->next(self);
	return 0;
}

static const struct weir_actor_ops switched_ops = {
	.turns = switched_turn_n,
	.signalled = switched_signalled,
};

static void switched_init(struct switched *self, struct weir_sim *sim)
{
	memset(self, 0, sizeof(*self));
	weir_actor_init(&self->actor, &switched_ops, weir_sim_executor(sim));
	assert_int_equal(weir_in_init(&self->left, &self->actor, 4, NULL), 0);
	assert_int_equal(weir_in_init(&self->right, &self->actor, 4, NULL), 0);
}

static void ignore_right(struct switched *self)
{
	assert_int_equal(weir_port_ignore(&self->right.port), 0);
}

static void require_left(struct switched *self)
{
	assert_int_equal(weir_port_require(&self->left.port), 0);
}

static void end_right(struct switched *self)
{
	struct weir_port *ports[] = {&self->right.port};

	assert_int_equal(weir_in_cancel(&self->right), 0);
	assert_int_equal(weir_port_require(&self->right.port), -EPIPE);
	assert_int_equal(weir_actor_become(&self->actor, switched_turn_n, ports,
					   1),
			 -EINVAL);
}

static void switched_stop(struct switched *self, struct weir_sim *sim)
{
	assert_true(weir__actor_check(&self->actor));
	weir_actor_stop(&self->actor);
	weir_sim_run(sim);
	sim_free(sim);
}

static void an_ignored_port_takes_no_part_and_keeps_its_tokens(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct switched one;

	switched_init(&one, sim);
	/* none takes part: it does not fire at all */
	assert_int_equal(weir_port_ignore(&one.left.port), 0);
	assert_int_equal(weir_port_ignore(&one.right.port), 0);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	assert_int_equal(weir_in_put(&one.left, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(one.turns, 0);
	switched_stop(&one, sim);
}

static void a_blocked_port_that_is_ignored_holds_nobody_back(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct switched one;

	switched_init(&one, sim);
	one.next = ignore_right;
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_sim_run(sim);
	assert_true(weir__actor_check(&one.actor));
	/* both are blocked and counted; one of them is switched off */
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	assert_true(weir__actor_check(&one.actor));
	assert_int_equal(weir_in_put(&one.left, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(one.turns, 1);
	switched_stop(&one, sim);
}

static void a_port_required_again_lets_an_actor_without_ports_fire(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct switched one;

	switched_init(&one, sim);
	one.next = require_left;
	weir_port_ignore(&one.left.port);
	weir_port_ignore(&one.right.port);
	assert_int_equal(weir_actor_start(&one.actor), 0);
	assert_int_equal(weir_in_put(&one.left, NULL), 0);
	weir_sim_run(sim);
	assert_int_equal(one.turns, 0);
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	assert_int_equal(one.turns, 1);
	switched_stop(&one, sim);
}

static void a_port_that_has_ended_stays_out(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct switched one;

	switched_init(&one, sim);
	one.next = end_right;
	assert_int_equal(weir_actor_start(&one.actor), 0);
	weir_actor_signal(&one.actor);
	weir_sim_run(sim);
	assert_int_equal(one.signals, 1);
	switched_stop(&one, sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(become_takes_another_turn_with_other_ports),
		cmocka_unit_test(
			an_ignored_port_takes_no_part_and_keeps_its_tokens),
		cmocka_unit_test(
			a_blocked_port_that_is_ignored_holds_nobody_back),
		cmocka_unit_test(
			a_port_required_again_lets_an_actor_without_ports_fire),
		cmocka_unit_test(a_port_that_has_ended_stays_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
