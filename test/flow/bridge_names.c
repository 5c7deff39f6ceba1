/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors carry the name of where they begin over what is not a flow as well. */
#include "flow/names.h"

#include <weir/testkit.h>

static struct weir_sim *sim;

static int set_up(void **state)
{
	return weir_sim_new(&sim, 1, NULL);
}

static int tear_down(void **state)
{
	weir_sim_run(sim);
	return weir_sim_free(sim);
}

/* Whose items are others. */
static void a_publisher_that_is_refused_has_the_name_of_who_takes_from_it(
	void **state)
{
	struct weir_test_env env = weir_test_env_sim(sim);
	struct weir_publisher_probe *probe;
	struct weir_flow *flow;

	assert_int_equal(weir_publisher_probe_new(&probe, &env, &counted_items),
			 0);
	flow = weir_flow_from_publisher(weir_publisher_probe_base(probe), 0, 0);
	assert_fails(start_on(sim, flow, 0), -EINVAL, "from_publisher");
	weir_flow_free(flow);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void an_error_keeps_its_name_at_publishers(void **state)
{
	struct weir_flow_publisher *publisher;
	struct weir_flow *flow;

	assert_int_equal(weir_flow_publisher_new(&publisher, failing_map(),
						 weir_sim_executor(sim), NULL),
			 0);
	flow = weir_flow_from_publisher(weir_flow_publisher_base(publisher), 0,
					0);
	assert_fails(start_on(sim, flow, 0), -EDOM, "map");
	weir_flow_free(flow);
	weir_flow_publisher_free(publisher);
}

static void and_in_channels(void **state)
{
	struct weir_flow *into, *from;
	struct weir_channel *channel;

	assert_int_equal(weir_channel_new(&channel, 4, NULL, NULL), 0);
	into = weir_flow_into_channel(failing_map(), channel);
	from = weir_flow_from_channel(channel);
	assert_fails(start_on(sim, into, 0), -EDOM, "map");
	assert_fails(start_on(sim, from, 0), -EDOM, "map");
	weir_flow_free(into);
	weir_flow_free(from);
	assert_int_equal(weir_channel_free(channel), 0);
}

/* Fails as its upstream does. */
struct relay {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
};

static inline int relay_turn(struct weir_actor *actor)
{
	struct relay *relay = weir_container_of(actor, struct relay, actor);

	return weir_out_put(&relay->out, weir_in_take(&relay->in));
}
WEIR_TURN(relay_turn)

static int relay_ended(struct weir_actor *actor, struct weir_in *in,
		       struct weir_error *error)
{
	return weir_actor_fail(actor, weir_error_ref(error));
}

static const struct weir_actor_ops relay_ops = {
	.turns = relay_turn_n,
	.ended = relay_ended,
};

static void relay_init(struct relay *relay)
{
	assert_int_equal(weir_actor_init(&relay->actor, &relay_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_in_init(&relay->in, &relay->actor, 4, NULL), 0);
	assert_int_equal(weir_out_init(&relay->out, &relay->actor, NULL), 0);
}

/* Takes over `into`, which sends to the relay. */
static void assert_relays(struct relay *relay, struct weir_flow *into)
{
	struct weir_flow *from = weir_flow_from_out(&relay->out, 4);
	struct weir_flow_run *into_run = start_on(sim, into, 0);
	struct weir_flow_run *from_run = start_on(sim, from, 0);

	assert_int_equal(weir_actor_start(&relay->actor), 0);
	assert_fails(into_run, -EDOM, "map");
	assert_fails(from_run, -EDOM, "map");
	weir_flow_free(into);
	weir_flow_free(from);
	weir_sim_run(sim);
}

static void and_in_actors(void **state)
{
	struct weir_semaphore acks;
	struct relay relay;

	relay_init(&relay);
	assert_relays(&relay, weir_flow_into_in(failing_map(), &relay.in));
	relay_init(&relay);
	assert_int_equal(weir_semaphore_init(&acks, 1), 0);
	assert_relays(&relay, weir_flow_to_actor(failing_map(), &relay.in,
						 &acks, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_publisher_that_is_refused_has_the_name_of_who_takes_from_it,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_error_keeps_its_name_at_publishers, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(and_in_channels, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(and_in_actors, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
