/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that wait, each until a flow that was made for it has completed. */
#include "flow/memory_kit.h"
#include "flow/parts.h"

static struct weir_flow *until_made(struct weir_flow *flow,
				    struct weir_flow *(*of)(void *item,
							    void *context))
{
	return weir_flow_delay_until(flow, of, NULL);
}

/* As many as the value. */
static struct weir_flow *as_many(void *item, void *context)
{
	return weir_flow_range(1, (intptr_t)item);
}

static struct weir_flow *as_many_counted(void *item, void *context)
{
	return counted(weir_flow_range(1, ((struct item *)item)->value));
}

/* --- When it goes out ----------------------------------------------------- */

static void items_go_out_in_order_and_those_of_their_flows_do_not(void **state)
{
	ASSERT_FLOW(until_made(weir_flow_range(0, 5), as_many), 0, 0, 1, 2, 3,
		    4, 5);
	ASSERT_FLOW(until_made(weir_flow_range(999, 1000), as_many), 0, 999,
		    1000);
	ASSERT_FLOW(
		weir_flow_count(until_made(weir_flow_range(1, 300), as_many)),
		0, 300);
	ASSERT_COUNTED_FLOW(until_made(weir_flow_range(1, 3), as_many), 0, 1, 2,
			    3);
}

/* An odd one waits for 30 ms, an even one for 10. */
static struct weir_flow *late(void *item, void *context)
{
	return weir_flow_delay(weir_flow_single(NULL),
			       ((intptr_t)item % 2 ? 30 : 10) * MS, 8);
}

static void one_waits_after_the_other(void **state)
{
	static struct flow_world timed;

	flow_world_init(&timed, NULL);
	timed.flow = until_made(timed.flow, late);
	world_start(&timed, OPEN);
	flow_offer(&timed, 1, 4);
	until(&timed, 29 * MS);
	assert_int_equal(timed.got.n, 0);
	until(&timed, 200 * MS);
	ASSERT_OUT(&timed, 1, 2, 3, 4);
	assert_int_equal(timed.at_ns[0], 30 * MS);
	assert_int_equal(timed.at_ns[1], 40 * MS);
	assert_int_equal(timed.at_ns[2], 70 * MS);
	assert_int_equal(timed.at_ns[3], 80 * MS);
	flow_world_end(&timed, 0);
}

static intptr_t n_made, n_taken;

static int take_note(void **item, void *context)
{
	n_taken++;
	return 0;
}

static struct weir_flow *never(void *item, void *context)
{
	n_made++;
	return weir_flow_never();
}

static void while_one_waits_no_other_is_taken(void **state)
{
	static struct flow_world waiting;

	n_made = n_taken = 0;
	flow_world_init(&waiting, &counted_items);
	waiting.got.counted = true;
	waiting.flow = until_made(weir_flow_same_items(weir_flow_map(
					  waiting.flow, take_note, NULL)),
				  never);
	world_start(&waiting, OPEN);
	flow_offer(&waiting, 1, 8);
	until(&waiting, 0);
	assert_int_equal(n_made, 1);
	assert_int_equal(n_taken, 1);
	assert_int_equal(waiting.got.n, 0);
	weir_flow_run_stop(waiting.run, NULL);
	flow_world_end(&waiting, -ECANCELED);
}

/* Its flow is not run for nobody. */
static void an_item_that_is_not_asked_for_is_not_taken(void **state)
{
	static struct flow_world closed;

	n_made = 0;
	flow_world_init(&closed, NULL);
	closed.flow = until_made(closed.flow, never);
	world_start(&closed, 0);
	flow_offer(&closed, 1, 8);
	until(&closed, 0);
	assert_int_equal(n_made, 0);
	let_pass(&closed, 1);
	until(&closed, 0);
	assert_int_equal(n_made, 1);
	weir_flow_run_stop(closed.run, NULL);
	flow_world_end(&closed, -ECANCELED);
}

/* --- Failures ------------------------------------------------------------- */

/* Behind a few items. */
static struct weir_flow *fails_for_3(void *item, void *context)
{
	intptr_t value = ((struct item *)item)->value;
	struct weir_flow *both[] = {
		weir_flow_range(1, 5),
		value == 3 ? weir_flow_fail(-EDOM, "not 3") : weir_flow_empty(),
	};

	return weir_flow_concat(both, 2);
}

static void a_flow_that_fails_fails_the_stream_behind_the_items(void **state)
{
	static const intptr_t expected[] = {1, 2};

	assert_flow(until_made(counted(weir_flow_range(1, 5)), fails_for_3),
		    true, expected, 2, -EDOM);
}

static void so_does_an_error_of_upstream(void **state)
{
	ASSERT_FLOW(until_made(failing(), as_many), -EPROTO, 1, 2, 3, 4);
	ASSERT_FLOW(until_made(failing(), late), -EPROTO, 1, 2, 3, 4);
}

static struct weir_flow *not_3(void *item, void *context)
{
	return ((struct item *)item)->value == 3 ? NULL : weir_flow_empty();
}

static void an_item_without_a_flow_is_decided_upon(void **state)
{
	static const intptr_t expected[] = {1, 2, 4, 5};
	struct weir_flow *flow =
		until_made(counted(weir_flow_range(1, 5)), not_3);

	assert_flow(weir_flow_supervise(flow, resume, NULL), true, expected, 4,
		    0);
	flow = until_made(counted(weir_flow_range(1, 5)), not_3);
	assert_flow(weir_flow_supervise(flow, restart, NULL), true, expected, 4,
		    0);
	assert_flow(until_made(counted(weir_flow_range(1, 5)), not_3), true,
		    expected, 2, -EINVAL);
}

static struct weir_flow *in_front(void *item, void *context)
{
	return weir_flow_buffer(as_many(item, NULL), 2,
				WEIR_OVERFLOW_DROP_HEAD);
}

static void what_needs_an_actor_is_named(void **state)
{
	struct weir_flow *flow = until_made(weir_flow_range(1, 2), in_front);
	struct weir_error *error = error_of(weir_flow_ignore(flow));

	assert_int_equal(error->code, -ENOTSUP);
	assert_string_equal(error->origin, "buffer");
	weir_error_unref(error);
}

static struct weir_flow *taken;

static struct weir_flow *the_taken(void *item, void *context)
{
	return taken;
}

static void a_flow_of_another_is_refused_and_stays(void **state)
{
	struct weir_flow *other;

	taken = weir_flow_range(1, 3);
	other = weir_flow_count(taken);
	ASSERT_FLOW(until_made(weir_flow_range(1, 2), the_taken), -EBUSY);
	ASSERT_FLOW(other, 0, 3);
}

/* --- Ends ----------------------------------------------------------------- */

static void what_waits_is_dropped_at_a_cancel(void **state)
{
	assert_cancel(weir_flow_ignore(
		until_made(counted(weir_flow_range(1, 9)), as_many_counted)));
	assert_cancel(weir_flow_ignore(
		until_made(counted(weir_flow_range(1, 9)), never)));
}

static void it_ends_with_the_last_item(void **state)
{
	assert_ends_without_demand(until_made(weir_flow_range(1, 3), as_many),
				   3);
}

/* Upstream does while the only item that was asked for waits. */
static void an_end_behind_the_one_that_waits_needs_no_demand(void **state)
{
	static struct flow_world ending;

	flow_world_init(&ending, NULL);
	ending.flow = until_made(ending.flow, late);
	world_start(&ending, 1);
	flow_offer(&ending, 1, 1);
	until(&ending, 10 * MS);
	assert_int_equal(weir_flow_queue_end(ending.queue, NULL), 0);
	until(&ending, 30 * MS);
	ASSERT_OUT(&ending, 1);
	assert_null(ending.gate);
	flow_world_end(&ending, 0);
}

static struct weir_flow *too_late(void *item, void *context)
{
	return weir_flow_initial_timeout(weir_flow_never(), 10 * MS);
}

static void nor_does_the_error_of_what_it_waits_for(void **state)
{
	static struct flow_world failed;

	flow_world_init(&failed, NULL);
	failed.flow = until_made(failed.flow, too_late);
	world_start(&failed, 1);
	flow_offer(&failed, 1, 1);
	until(&failed, 0);
	let_pass(&failed, 0);
	until(&failed, 20 * MS);
	assert_null(failed.gate);
	flow_world_end(&failed, -ETIMEDOUT);
}

static void without_memory_it_fails(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow =
		until_made(counted(weir_flow_range(1, 5)), as_many_counted);

	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow *flows[] = {
		until_made(NULL, as_many),
		until_made(weir_flow_empty(), NULL),
		weir_flow_delay_errors(until_made(weir_flow_empty(), as_many),
				       NULL, NULL),
	};

	assert_refused_all(flows, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			items_go_out_in_order_and_those_of_their_flows_do_not),
		cmocka_unit_test(one_waits_after_the_other),
		cmocka_unit_test(while_one_waits_no_other_is_taken),
		cmocka_unit_test(an_item_that_is_not_asked_for_is_not_taken),
		cmocka_unit_test(
			a_flow_that_fails_fails_the_stream_behind_the_items),
		cmocka_unit_test(so_does_an_error_of_upstream),
		cmocka_unit_test(an_item_without_a_flow_is_decided_upon),
		cmocka_unit_test(what_needs_an_actor_is_named),
		cmocka_unit_test(a_flow_of_another_is_refused_and_stays),
		cmocka_unit_test(what_waits_is_dropped_at_a_cancel),
		cmocka_unit_test(it_ends_with_the_last_item),
		cmocka_unit_test(
			an_end_behind_the_one_that_waits_needs_no_demand),
		cmocka_unit_test(nor_does_the_error_of_what_it_waits_for),
		cmocka_unit_test(without_memory_it_fails),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
