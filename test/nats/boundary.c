/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that are cut by the network: both parts run here, and know of each other
 * by a real nats-server only. */
#include "nats/kit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEYS 10u

/* Bytes with the text of a number. */
static int to_text(void **item, void *context)
{
	uint64_t *n_made = context;
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, 24, NULL);

	if (rc < 0)
		return rc;
	bytes->n =
		(size_t)snprintf(bytes->data, 24, "%" PRIdPTR, (intptr_t)*item);
	*item = bytes;
	if (n_made)
		__atomic_fetch_add(n_made, 1, __ATOMIC_RELEASE);
	return 0;
}

/* That of its number. */
static int id_of(void *item, char *id, size_t size, void *context)
{
	(void)snprintf(id, size, "item.%" PRIu64, number_of(item));
	return 0;
}

/* Its last digit. */
static int key_of(void *item, const void **key, size_t *n, void *context)
{
	struct weir_flow_bytes *bytes = item;

	*key = bytes->data + bytes->n - 1;
	*n = 1;
	return 0;
}

static struct weir_flow *numbers(int64_t first, int64_t last, uint64_t *n_made)
{
	struct weir_flow *flow = weir_flow_range(first, last);

	flow = weir_flow_map(flow, to_text, n_made);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static void begin(struct nats_world *world,
		  const struct weir_nats_boundary *boundary)
{
	nats_begin(world);
	assert_int_equal(weir_nats_boundary_ensure_wait(world->nats, boundary,
							LONG, NULL),
			 0);
}

/* What a member has got. */
struct got {
	uint64_t n, sum, repeated;
	bool in_order; /* of each key */
	uint64_t last[KEYS];
};

static int get(void **item, void *context)
{
	struct got *got = context;
	uint64_t number = number_of(*item), key = number % KEYS;

	got->in_order = (got->n == 0 || got->in_order) &&
			number > got->last[key];
	got->last[key] = number;
	got->sum += number;
	got->repeated += weir_nats_message_deliveries(*item) > 1;
	__atomic_store_n(&got->n, got->n + 1, __ATOMIC_RELEASE);
	return 0;
}

static struct weir_flow *getting(struct nats_world *world,
				 const struct weir_nats_boundary *boundary,
				 struct got *got)
{
	struct weir_flow *flow = weir_flow_nats_take(world->nats, boundary);

	memset(got, 0, sizeof(*got));
	flow = weir_flow_same_items(weir_flow_map(flow, get, got));
	return weir_flow_ignore(weir_flow_nats_done(flow));
}

static void begin_and_give(struct nats_world *world,
			   const struct weir_nats_boundary *boundary, int64_t n)
{
	void *stored = NULL;

	begin(world, boundary);
	assert_int_equal(nats_run(world,
				  weir_flow_nats_give(numbers(1, n, NULL),
						      world->nats, boundary),
				  &stored),
			 0);
	assert_int_equal((uintptr_t)stored, n);
}

/* --- Keys ------------------------------------------------------------------ */

static void partitions_are_those_of_the_server(void **state)
{
	assert_int_equal(weir_nats_partition("", 0, UINT32_MAX), 0x811c9dc5);
	assert_int_equal(weir_nats_partition("a", 1, UINT32_MAX), 0xe40c292c);
	assert_int_equal(weir_nats_partition("foobar", 6, 1000),
			 0xbf9cf968 % 1000);
	assert_int_equal(weir_nats_partition("\xff", 1, 0), 0);
	assert_int_equal(weir_nats_partition(NULL, 3, 7), 0x811c9dc5 % 7);
}

static void each_key_is_in_one_partition_and_in_order(void **state)
{
	struct weir_nats_boundary boundary = {
		.name = "B",
		.partitions = 3,
		.key_of = key_of,
		.members = 2,
	};
	struct nats_world world;
	struct got got[2];
	uint64_t i;

	begin_and_give(&world, &boundary, 300);
	for (boundary.member = 0; boundary.member < 2; boundary.member++)
		assert_int_equal(nats_run(&world,
					  getting(&world, &boundary,
						  &got[boundary.member]),
					  NULL),
				 0);
	assert_int_equal(got[0].n + got[1].n, 300);
	assert_int_equal(got[0].sum + got[1].sum, 300 * 301 / 2);
	assert_true(got[0].n > 0 && got[0].in_order);
	assert_true(got[1].n > 0 && got[1].in_order);
	for (i = 0; i < KEYS; i++)
		assert_true(!got[0].last[i] != !got[1].last[i]);
	nats_end(&world);
}

/* --- Ends ------------------------------------------------------------------- */

static void what_is_given_is_taken_and_both_parts_end(void **state)
{
	const struct weir_nats_boundary boundary = {.name = "B"};
	struct weir_flow_run *below, *above;
	struct weir_flow *take, *give;
	struct nats_world world;
	void *stored = NULL;
	struct got got;

	begin(&world, &boundary);
	take = getting(&world, &boundary, &got);
	give = weir_flow_nats_give(numbers(1, 3000, NULL), world.nats,
				   &boundary);
	below = nats_start(&world, take);
	above = nats_start(&world, give);
	assert_int_equal(nats_wait(above, &stored), 0);
	assert_int_equal((uintptr_t)stored, 3000);
	assert_int_equal(nats_wait(below, NULL), 0);
	assert_int_equal(got.n, 3000);
	assert_int_equal(got.sum, 3000 * 3001 / 2);
	/* who comes later is told, too */
	assert_int_equal(nats_wait(nats_start(&world, take), NULL), 0);
	assert_int_equal(got.n, 3000);
	weir_flow_free(take);
	weir_flow_free(give);
	nats_end(&world);
}

static void a_flow_without_items_ends_in_each_partition(void **state)
{
	const struct weir_nats_boundary boundary = {
		.name = "B",
		.partitions = 4,
	};
	struct nats_world world;
	void *stored = &world;
	struct got got;

	begin(&world, &boundary);
	assert_int_equal(nats_run(&world,
				  weir_flow_nats_give(numbers(1, 0, NULL),
						      world.nats, &boundary),
				  &stored),
			 0);
	assert_null(stored);
	assert_int_equal(
		nats_run(&world, getting(&world, &boundary, &got), NULL), 0);
	assert_int_equal(got.n, 0);
	assert_int_equal(server_count(&world.server, "B"), 4);
	nats_end(&world);
}

static int fail_at_50(void **item, void *context)
{
	return number_of(*item) == 50 ? -EBADMSG : 0;
}

static void an_error_above_is_one_below_behind_the_items(void **state)
{
	const struct weir_nats_boundary boundary = {.name = "B"};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct nats_world world;
	struct got got;

	begin(&world, &boundary);
	flow = weir_flow_map(numbers(1, 100, NULL), fail_at_50, NULL);
	flow = weir_flow_name(weir_flow_same_items(flow), "middle");
	flow = weir_flow_nats_give(flow, world.nats, &boundary);
	assert_int_equal(nats_run(&world, flow, NULL), -EBADMSG);
	flow = getting(&world, &boundary, &got);
	run = nats_start(&world, flow);
	assert_int_equal(weir_flow_run_wait(run, LONG, NULL, &error), 0);
	assert_non_null(error);
	assert_int_equal(error->code, -EBADMSG);
	assert_non_null(strstr(error->message, "middle: "));
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(got.n, 49);
	nats_end(&world);
}

static uint64_t n_unsettled(struct server *server)
{
	jsConsumerInfo *info;
	uint64_t n;

	assert_int_equal(js_GetConsumerInfo(&info, server->js, "B", "p0", NULL,
					    NULL),
			 NATS_OK);
	n = info->NumPending > 0 ? 0 : (uint64_t)info->NumAckPending;
	jsConsumerInfo_Destroy(info);
	return n;
}

/* The end; nothing else is left. */
static bool one_unsettled(void *server)
{
	return n_unsettled(server) == 1;
}

/* The end, and a few of the slow one's. */
static bool all_given(void *server)
{
	uint64_t n = n_unsettled(server);

	return n > 1 && n < 10;
}

static void all_publishers_have_to_end(void **state)
{
	struct weir_nats_boundary boundary = {
		.name = "B",
		.from = "one",
		.publishers = 2,
	};
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct nats_world world;
	struct got got;
	int i;

	begin_and_give(&world, &boundary, 10);
	flow = getting(&world, &boundary, &got);
	run = nats_start(&world, flow);
	await(one_unsettled, &world.server);
	/* it has its chance to be over too early */
	for (i = 0; i < 100; i++)
		(void)server_count(&world.server, "B");
	boundary.from = "two";
	assert_int_equal(nats_run(&world,
				  weir_flow_nats_give(numbers(11, 20, NULL),
						      world.nats, &boundary),
				  NULL),
			 0);
	assert_int_equal(nats_wait(run, NULL), 0);
	assert_int_equal(got.n, 20);
	weir_flow_free(flow);
	nats_end(&world);
}

/* Which comes back when that one is stopped. */
static void an_end_is_behind_what_another_member_has(void **state)
{
	const struct weir_nats_boundary boundary = {.name = "B", .window = 4};
	struct weir_channel *channel;
	struct weir_flow_run *slow, *other;
	struct weir_flow *into, *flow;
	struct nats_world world;
	struct got got;
	void *item;
	int i;

	begin_and_give(&world, &boundary, 20);
	assert_int_equal(weir_channel_new(&channel, 1, weir_flow_bytes_items(),
					  NULL),
			 0);
	into = weir_flow_into_channel(
		weir_flow_nats_take(world.nats, &boundary), channel);
	slow = nats_start(&world, into);
	assert_int_equal(weir_channel_take_wait(channel, &item, LONG), 0);
	flow = getting(&world, &boundary, &got);
	other = nats_start(&world, flow);
	await(all_given, &world.server);
	for (i = 0; i < 100; i++)
		(void)server_count(&world.server, "B");
	weir_flow_bytes_unref(item);
	weir_flow_run_stop(slow, NULL);
	assert_int_equal(nats_wait(slow, NULL), -ECANCELED);
	while (weir_channel_try_take(channel, &item) == 0)
		weir_flow_bytes_unref(item);
	assert_int_equal(nats_wait(other, NULL), 0);
	assert_int_equal(got.n, 20);
	assert_int_equal(got.sum, 20 * 21 / 2);
	weir_flow_free(into);
	weir_flow_free(flow);
	assert_int_equal(weir_channel_free(channel), 0);
	nats_end(&world);
}

/* --- Back-pressure ---------------------------------------------------------- */

#define CAPACITY 100

struct pace {
	uint64_t n_made, n_done, most;
};

static int pace(void *item, void *context)
{
	struct pace *pace = context;
	uint64_t ahead = __atomic_load_n(&pace->n_made, __ATOMIC_ACQUIRE) -
			 pace->n_done;

	if (ahead > pace->most)
		pace->most = ahead;
	pace->n_done++;
	(void)weir_nats_message_done(item);
	weir_flow_bytes_unref(item);
	return 0;
}

static bool is_nearly_full(void *server)
{
	return server_count(server, "B") >= CAPACITY / 4;
}

/* Nobody takes: what is made is bounded. Then somebody does, and it goes on. */
static void without_a_taker_upstream_is_asked_for_nothing(void **state)
{
	const struct weir_nats_boundary boundary = {
		.name = "B",
		.capacity = CAPACITY,
	};
	const uint64_t n = 2000;
	struct weir_flow_run *above;
	struct weir_flow *give, *take;
	struct nats_world world;
	struct pace it = {0};

	begin(&world, &boundary);
	give = weir_flow_nats_give(numbers(1, (int64_t)n, &it.n_made),
				   world.nats, &boundary);
	above = nats_start(&world, give);
	await(is_nearly_full, &world.server);
	assert_true(server_count(&world.server, "B") <= CAPACITY);
	assert_true(__atomic_load_n(&it.n_made, __ATOMIC_ACQUIRE) <= CAPACITY);
	take = weir_flow_for_each(weir_flow_nats_take(world.nats, &boundary),
				  pace, &it);
	assert_int_equal(nats_run(&world, take, NULL), 0);
	assert_int_equal(nats_wait(above, NULL), 0);
	assert_int_equal(it.n_done, n);
	/* and so it was at any time */
	assert_true(it.most <= CAPACITY);
	weir_flow_free(give);
	nats_end(&world);
}

/* --- Coming and going ------------------------------------------------------- */

/* Each is taken over by the next one; none loses or repeats what is done. */
static void takers_come_and_go(void **state)
{
	const struct weir_nats_boundary boundary = {
		.name = "B",
		.ack_wait_ns = SECOND,
	};
	uint64_t n = 0, sum = 0;
	struct weir_flow *flow;
	struct nats_world world;
	struct got got;
	int i;

	begin_and_give(&world, &boundary, 500);
	for (i = 0; i < 4; i++) {
		memset(&got, 0, sizeof(got));
		flow = weir_flow_nats_take(world.nats, &boundary);
		flow = weir_flow_take(flow, 100);
		flow = weir_flow_same_items(weir_flow_map(flow, get, &got));
		flow = weir_flow_ignore(weir_flow_nats_done(flow));
		assert_int_equal(nats_run(&world, flow, NULL), 0);
		assert_int_equal(got.n, 100);
		n += got.n;
		sum += got.sum;
	}
	assert_int_equal(
		nats_run(&world, getting(&world, &boundary, &got), NULL), 0);
	assert_int_equal(n + got.n, 500);
	assert_int_equal(sum + got.sum, 500 * 501 / 2);
	nats_end(&world);
}

struct upper {
	struct nats_world *world;
	uint64_t n;
};

static bool has_stored(void *context)
{
	struct upper *upper = context;

	return server_count(&upper->world->server, "B") >= upper->n;
}

/* The second begins where the first did, and its ids tell what is stored. */
static void givers_come_and_go(void **state)
{
	const struct weir_nats_boundary boundary = {
		.name = "B",
		.id_of = id_of,
	};
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct nats_world world;
	struct upper upper = {&world, 200};
	struct got got;

	begin(&world, &boundary);
	flow = weir_flow_concat(
		(struct weir_flow *[]){
			numbers(1, 200, NULL),
			weir_flow_items(weir_flow_never(),
					weir_flow_bytes_items())},
		2);
	flow = weir_flow_same_items(flow);
	flow = weir_flow_nats_give(flow, world.nats, &boundary);
	run = nats_start(&world, flow);
	await(has_stored, &upper);
	weir_flow_run_stop(run, NULL);
	assert_int_equal(nats_wait(run, NULL), -ECANCELED);
	weir_flow_free(flow);
	assert_int_equal(nats_run(&world,
				  weir_flow_nats_give(numbers(1, 300, NULL),
						      world.nats, &boundary),
				  NULL),
			 0);
	assert_int_equal(
		nats_run(&world, getting(&world, &boundary, &got), NULL), 0);
	assert_int_equal(got.n, 300);
	assert_int_equal(got.sum, 300 * 301 / 2);
	nats_end(&world);
}

/* --- Refused ---------------------------------------------------------------- */

static void assert_refused(struct weir_nats *nats,
			   const struct weir_nats_boundary *boundary)
{
	struct weir_flow *flow = weir_flow_nats_take(nats, boundary);

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_nats_give(numbers(1, 2, NULL), nats, boundary);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	assert_int_equal(weir_nats_boundary_ensure_wait(nats, boundary, 1,
							NULL),
			 -EINVAL);
}

static void bad_descriptions_are_refused(void **state)
{
	static const struct weir_nats_boundary bad[] = {
		{0},
		{.name = "a.b"},
		{.name = "B", .partitions = 1025},
		{.name = "B", .capacity = 1},
		{.name = "B", .members = 2},
		{.name = "B", .partitions = 4, .member = 2, .members = 2},
		{.name = "B", .partitions = 4, .member = 1},
		{.name = "B", .from = "a\nb"},
		{.name = "B", .reserved = {1}},
	};
	const struct weir_nats_boundary good = {.name = "B"};
	struct weir_nats *nats;
	size_t i;

	assert_int_equal(weir_nats_new(&nats, NULL, NULL), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(nats, &bad[i]);
	assert_refused(nats, NULL);
	assert_refused(NULL, &good);
	assert_int_equal(weir_nats_free(nats), 0);
}

static void without_a_stream_both_fail(void **state)
{
	const struct weir_nats_boundary boundary = {.name = "B"};
	struct nats_world world;
	struct got got;

	nats_begin(&world);
	assert_int_equal(nats_run(&world,
				  weir_flow_nats_give(numbers(1, 2, NULL),
						      world.nats, &boundary),
				  NULL),
			 -ENOENT);
	assert_int_equal(nats_run(&world, getting(&world, &boundary, &got),
				  NULL),
			 -ENOENT);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_stream_both_fail),
		cmocka_unit_test(partitions_are_those_of_the_server),
		cmocka_unit_test(bad_descriptions_are_refused),
		cmocka_unit_test(each_key_is_in_one_partition_and_in_order),
		cmocka_unit_test(what_is_given_is_taken_and_both_parts_end),
		cmocka_unit_test(a_flow_without_items_ends_in_each_partition),
		cmocka_unit_test(an_error_above_is_one_below_behind_the_items),
		cmocka_unit_test(all_publishers_have_to_end),
		cmocka_unit_test(an_end_is_behind_what_another_member_has),
		cmocka_unit_test(without_a_taker_upstream_is_asked_for_nothing),
		cmocka_unit_test(takers_come_and_go),
		cmocka_unit_test(givers_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
