/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_sinks.h"

#include "flow/verify_connections.h"

struct taker *taker_new(struct weir_executor *executor,
			const struct weir_items *items)
{
	struct taker *taker = calloc(1, sizeof(*taker));

	assert_non_null(taker);
	taker->executor = executor;
	taker->items = items;
	taker->fd = -1;
	return taker;
}

void taker_start(struct taker *taker)
{
	taker->first = NULL;
	if (taker->has_actor && weir_actor_start(&taker->actor) < 0)
		weir_actor_stop(&taker->actor);
}

void taker_let_go(struct taker *taker)
{
	assert_int_equal(weir_subscriber_probe_free(taker->probe), 0);
	beside_let_go(&taker->drain);
	weir_connection_unref(taker->connection);
	taker->connection = NULL;
	if (!taker->has_actor)
		return;
	weir_actor_stop(&taker->actor);
	weir_actor_unref(&taker->actor);
}

void taker_free(struct taker *taker)
{
	assert_true(!taker->has_actor || ck_pr_load_32(&taker->gone));
	if (taker->first)
		goods_drop(taker->first, taker->items->context);
	beside_fini(&taker->drain);
	assert_int_equal(weir_channel_free(taker->channel), 0);
	assert_int_equal(weir_hub_free(taker->hub), 0);
	if (taker->fd >= 0)
		(void)close(taker->fd);
	if (taker->path[0])
		(void)unlink(taker->path);
	free(taker);
}

/* --- Functions that take -------------------------------------------------- */

static int take_one(void *item, void *context)
{
	int rc = called();

	if (rc == 0)
		goods_drop(item, context);
	return rc;
}

static struct weir_flow *for_each_upon(struct weir_flow *flow,
				       struct taker *taker)
{
	return weir_flow_for_each(flow, take_one, taker->items->context);
}

static int take_n(void *const *items, size_t n, size_t *done, void *context)
{
	int rc = 0;

	for (*done = 0; *done < n; ++*done) {
		rc = take_one(items[*done], context);
		if (rc < 0)
			break;
	}
	return rc;
}

static struct weir_flow *for_each_n_upon(struct weir_flow *flow,
					 struct taker *taker)
{
	return weir_flow_for_each_n(flow, take_n, taker->items->context);
}

static struct weir_flow *ignore_upon(struct weir_flow *flow,
				     struct taker *taker)
{
	return weir_flow_ignore(flow);
}

static struct weir_flow *fold_upon(struct weir_flow *flow, struct taker *taker)
{
	static const struct weir_flow_fold_functions functions = {zero_good,
								  take_newest};

	return weir_flow_items(weir_flow_fold(flow, &functions,
					      taker->items->context),
			       taker->items);
}

static int drop_into(void **result, void *item, void *context)
{
	return take_one(item, context);
}
WEIR_FLOW_FOLD(drop_into)

static struct weir_flow *fold_n_upon(struct weir_flow *flow,
				     struct taker *taker)
{
	return weir_flow_items(weir_flow_fold_n(flow, drop_into_n,
						taker->items->context),
			       NULL);
}

static struct weir_flow *reduce_upon(struct weir_flow *flow,
				     struct taker *taker)
{
	/* one is there in any case, as without any it fails */
	flow = weir_flow_prepend(flow, to_goods(weir_flow_single(NULL),
						taker->items));
	return weir_flow_reduce(flow, take_newest, taker->items->context);
}

/* Of none: it takes all there is. */
static struct weir_flow *first_upon(struct weir_flow *flow, struct taker *taker)
{
	return weir_flow_first(weir_flow_filter(flow, keep_none, NULL));
}

static struct weir_flow *last_upon(struct weir_flow *flow, struct taker *taker)
{
	return weir_flow_last(flow);
}

static struct weir_flow *count_upon(struct weir_flow *flow, struct taker *taker)
{
	return weir_flow_count(flow);
}

static struct weir_flow *collect_upon(struct weir_flow *flow,
				      struct taker *taker)
{
	return weir_flow_collect(flow, 0);
}

static struct weir_flow *all_upon(struct weir_flow *flow, struct taker *taker)
{
	struct weir_flow *both[] = {flow, weir_flow_empty()};

	return weir_flow_all(both, 2);
}

static struct weir_flow *write_upon(struct weir_flow *flow, struct taker *taker)
{
	taker->fd = open("/dev/null", O_WRONLY);
	assert_true(taker->fd >= 0);
	return weir_flow_write(to_bytes(flow, to_line, taker->items),
			       taker->fd);
}

/* Its peer takes all. */
static struct weir_flow *connection_write_upon(struct weir_flow *flow,
					       struct taker *taker)
{
	taker->connection = connection_with(&taker->fd);
	beside_start(&taker->drain,
		     weir_flow_ignore(weir_flow_read(taker->fd, 4096)),
		     taker->executor);
	return weir_connection_write(to_bytes(flow, to_line, taker->items),
				     taker->connection);
}

static int to_datagram(void **item, void *context)
{
	struct weir_flow_datagram *datagram;
	int rc = called();

	if (rc == 0)
		rc = weir_flow_datagram_new(&datagram, 1, memory);
	if (rc < 0)
		return rc;
	datagram->data[0] = 0;
	goods_drop(*item, context);
	*item = datagram;
	return 0;
}

/* Nobody takes them, and the kernel drops what is too much. */
static struct weir_flow *datagrams_send_upon(struct weir_flow *flow,
					     struct taker *taker)
{
	taker->fd = udp_to_itself();
	flow = weir_flow_map(flow, to_datagram, taker->items->context);
	flow = weir_flow_items(flow, weir_flow_datagram_items());
	return weir_flow_datagrams_send(flow, taker->fd);
}

static struct weir_flow *write_file_upon(struct weir_flow *flow,
					 struct taker *taker)
{
	snprintf(taker->path, sizeof(taker->path), "/tmp/weir-verify-%d-%p",
		 (int)getpid(), (void *)taker);
	return weir_flow_write_file(to_bytes(flow, to_line, taker->items),
				    taker->path, WEIR_FLOW_SYNC_NONE);
}

/* Of what a part is made of: a sink. */
static struct weir_flow *take_part(struct weir_flow *upstream, void *context)
{
	if (called() == 0)
		return weir_flow_for_each(upstream, take_one, context);
	weir_flow_free(upstream);
	return NULL;
}

static struct weir_flow *restart_around_upon(struct weir_flow *flow,
					     struct taker *taker)
{
	return weir_flow_restart_around(flow, take_part, taker->items->context,
					NULL);
}

static struct weir_flow *split_when_upon(struct weir_flow *flow,
					 struct taker *taker)
{
	return weir_flow_split_when(flow, is_third, take_part,
				    taker->items->context);
}

static struct weir_flow *take_group(struct weir_flow *upstream, uintptr_t key,
				    void *context)
{
	return take_part(upstream, context);
}

static struct weir_flow *group_by_upon(struct weir_flow *flow,
				       struct taker *taker)
{
	return weir_flow_group_by(flow, 3, key_of_three, take_group,
				  taker->items->context, NULL);
}

/* --- What is not a flow --------------------------------------------------- */

static struct weir_flow *into_upon(struct weir_flow *flow, struct taker *taker)
{
	const struct weir_subscriber_probe_options options = {
		.request_first = 3,
		.request_each = 1,
		.drops = true,
	};

	assert_int_equal(
		weir_subscriber_probe_new(&taker->probe, NULL, &options), 0);
	return weir_flow_into(flow, weir_subscriber_probe_base(taker->probe));
}

static struct weir_flow *into_channel_upon(struct weir_flow *flow,
					   struct taker *taker)
{
	assert_int_equal(
		weir_channel_new(&taker->channel, 3, taker->items, NULL), 0);
	beside_start(&taker->drain,
		     weir_flow_ignore(weir_flow_from_channel(taker->channel)),
		     taker->executor);
	return weir_flow_into_channel(flow, taker->channel);
}

static struct weir_flow *into_hub_upon(struct weir_flow *flow,
				       struct taker *taker)
{
	const struct weir_hub_options options = {.capacity = 3};

	assert_int_equal(
		weir_hub_new(&taker->hub, taker->items, &options, NULL), 0);
	beside_start(&taker->drain,
		     weir_flow_ignore(weir_flow_from_hub(taker->hub)),
		     taker->executor);
	return weir_flow_into_hub(flow, taker->hub);
}

static int drop_taken(struct weir_actor *actor)
{
	struct taker *taker = weir_container_of(actor, struct taker, actor);

	goods_drop(weir_in_take(&taker->in), taker->items->context);
	return weir_semaphore_release(&taker->acks, 1);
}
WEIR_TURN(drop_taken)

static void taker_gone(struct weir_actor *actor)
{
	ck_pr_store_32(&weir_container_of(actor, struct taker, actor)->gone, 1);
}

static const struct weir_actor_ops taker_ops = {
	.turns = drop_taken_n,
	.released = taker_gone,
};

static void set_up_actor(struct taker *taker)
{
	assert_int_equal(weir_semaphore_init(&taker->acks, 0), 0);
	assert_int_equal(
		weir_actor_init(&taker->actor, &taker_ops, taker->executor), 0);
	assert_int_equal(
		weir_in_init(&taker->in, &taker->actor, 4, taker->items), 0);
	weir_actor_ref(&taker->actor);
	taker->has_actor = true;
}

static struct weir_flow *into_in_upon(struct weir_flow *flow,
				      struct taker *taker)
{
	set_up_actor(taker);
	return weir_flow_into_in(flow, &taker->in);
}

/* The first permit is as if for an item before. */
static struct weir_flow *to_actor_upon(struct weir_flow *flow,
				       struct taker *taker)
{
	set_up_actor(taker);
	assert_int_equal(weir_semaphore_release(&taker->acks, 1), 0);
	return weir_flow_to_actor(flow, &taker->in, &taker->acks, NULL);
}

/* One item comes before all, and its permit is for the next. */
static struct weir_flow *to_actor_behind_first(struct weir_flow *flow,
					       struct taker *taker)
{
	set_up_actor(taker);
	taker->first = goods_make(taker->items->context, -1);
	return weir_flow_to_actor(flow, &taker->in, &taker->acks, taker->first);
}

/* --- The table ------------------------------------------------------------ */

const struct sink_row sinks[] = {
	{"for_each", for_each_upon},
	{"for_each_n", for_each_n_upon},
	{"ignore", ignore_upon},
	{"fold", fold_upon},
	{"fold_n", fold_n_upon},
	{"reduce", reduce_upon},
	{"first of none", first_upon},
	{"last", last_upon},
	{"count", count_upon},
	{"collect", collect_upon},
	{"all", all_upon},
	{"write", write_upon},
	{"write_file", write_file_upon},
	{"connection_write", connection_write_upon},
	{"datagrams_send", datagrams_send_upon},
	{"restart_around of for_each", restart_around_upon},
	{"split_when to for_each", split_when_upon},
	{"group_by to for_each", group_by_upon},
	{"into", into_upon},
	{"into_in", into_in_upon},
	{"to_actor", to_actor_upon},
	{"to_actor behind a first item", to_actor_behind_first},
	{"into_channel", into_channel_upon},
	{"into_hub", into_hub_upon},
};

const size_t n_sinks = sizeof(sinks) / sizeof(*sinks);
