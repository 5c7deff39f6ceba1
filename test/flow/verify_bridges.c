/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_bridges.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct made *made_new(struct weir_executor *executor,
		      const struct weir_items *items, int64_t n)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->executor = executor;
	made->items = items;
	made->n = n;
	made->fds[0] = made->fds[1] = -1;
	return made;
}

void made_let_go(struct made *made)
{
	size_t i;

	weir_flow_publisher_free(made->publisher);
	weir_flow_share_free(made->share);
	beside_let_go(&made->feeder);
	for (i = 0; i < 2; i++) {
		weir_connection_unref(made->connections[i]);
		if (made->fds[i] >= 0)
			(void)close(made->fds[i]);
	}
	if (made->has_actor) {
		weir_actor_stop(&made->actor);
		weir_actor_unref(&made->actor);
	}
}

void made_free(struct made *made)
{
	assert_true(!made->has_actor || ck_pr_load_32(&made->gone));
	beside_fini(&made->feeder);
	assert_int_equal(weir_channel_free(made->channel), 0);
	assert_int_equal(weir_hub_free(made->hub), 0);
	free(made);
}

struct weir_flow *goods_of(struct weir_flow *numbers, struct made *made)
{
	return to_goods(numbers, made->items);
}

struct weir_flow *range_of(struct made *made)
{
	return goods_of(weir_flow_range(0, made->n - 1), made);
}

/* --- Of numbers ----------------------------------------------------------- */

static int grow_next(void *item, uint64_t i, void **out, void *context)
{
	const struct made *made = context;
	int rc = called();

	if (rc < 0 || (int64_t)i == (int64_t)(intptr_t)item)
		return rc;
	*out = goods_make(made->items->context, (int64_t)i);
	return 1;
}

struct weir_flow *grown(struct weir_flow *number, struct made *made)
{
	number = weir_flow_items(number, NULL);
	number = weir_flow_map_concat(number, grow_next, made);
	return ahead(weir_flow_items(number, made->items));
}

/* --- Queues, publishers, channels ----------------------------------------- */

struct weir_flow *queue_of(struct made *made)
{
	struct weir_flow_queue *queue;
	struct weir_flow *flow;
	int64_t i;

	assert_int_equal(weir_flow_queue_new(&queue, 1024,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     made->items),
			 0);
	for (i = 0; i < made->n; i++)
		assert_int_equal(weir_flow_queue_offer(
					 queue,
					 goods_make(made->items->context, i)),
				 0);
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	flow = weir_flow_from_queue(queue);
	weir_flow_queue_free(queue);
	return flow;
}

struct weir_flow *publisher_of(struct made *made)
{
	struct weir_publisher *publisher;

	assert_int_equal(weir_flow_publisher_new(&made->publisher,
						 range_of(made), made->executor,
						 NULL),
			 0);
	publisher = weir_flow_publisher_base(made->publisher);
	return weir_flow_items(weir_flow_from_publisher(publisher, 4, 0),
			       made->items);
}

struct weir_flow *channel_of(struct made *made)
{
	assert_int_equal(weir_channel_new(&made->channel, 3, made->items, NULL),
			 0);
	beside_start(&made->feeder,
		     weir_flow_into_channel(range_of(made), made->channel),
		     made->executor);
	return ahead(weir_flow_from_channel(made->channel));
}

struct weir_flow *hub_of(struct made *made)
{
	const struct weir_hub_options options = {
		.capacity = 3,
		.replay = SOURCE_LONG,
	};

	assert_int_equal(weir_hub_new(&made->hub, made->items, &options, NULL),
			 0);
	beside_start(&made->feeder,
		     weir_flow_into_hub(range_of(made), made->hub),
		     made->executor);
	return ahead(weir_flow_from_hub(made->hub));
}

struct weir_flow *share_of(struct made *made)
{
	const struct weir_flow_share_options options = {
		.hub.capacity = 3,
		.hub.replay = SOURCE_LONG,
	};

	assert_int_equal(weir_flow_share_new(&made->share, range_of(made),
					     made->executor, &options),
			 0);
	return weir_flow_from_share(made->share);
}

/* --- An actor ------------------------------------------------------------- */

static int make_one(struct weir_actor *actor)
{
	struct made *made = weir_container_of(actor, struct made, actor);
	int rc = 0;

	if (made->next < made->n)
		rc = weir_out_put(&made->out, goods_make(made->items->context,
							 made->next++));
	return rc == 0 && made->next == made->n ? WEIR_TURN_END : rc;
}
WEIR_TURN(make_one)

static void maker_gone(struct weir_actor *actor)
{
	ck_pr_store_32(&weir_container_of(actor, struct made, actor)->gone, 1);
}

static const struct weir_actor_ops maker_ops = {
	.turns = make_one_n,
	.released = maker_gone,
};

static void start_maker(void *context)
{
	struct made *made = context;

	if (weir_actor_start(&made->actor) < 0)
		weir_actor_stop(&made->actor);
}

struct weir_flow *out_of(struct made *made)
{
	const struct weir_flow_peek_functions hooks = {.started = start_maker};
	struct weir_flow *flow;

	assert_int_equal(
		weir_actor_init(&made->actor, &maker_ops, made->executor), 0);
	assert_int_equal(weir_out_init(&made->out, &made->actor, made->items),
			 0);
	weir_actor_ref(&made->actor);
	made->has_actor = true;
	flow = weir_flow_from_out(&made->out, 4);
	return weir_flow_peek(weir_flow_items(flow, made->items), &hooks, made);
}

/* --- Files ---------------------------------------------------------------- */

static int from_block(void **item, void *context)
{
	struct weir_flow_bytes *bytes = *item;
	int64_t number;
	int rc = called();

	if (rc < 0)
		return rc;
	assert_int_equal(bytes->n, sizeof(number));
	memcpy(&number, bytes->data, sizeof(number));
	weir_flow_bytes_unref(bytes);
	*item = goods_make(context, number);
	return 0;
}

struct weir_flow *goods_of_blocks(struct weir_flow *blocks, struct made *made)
{
	blocks = weir_flow_map(blocks, from_block, made->items->context);
	return ahead(weir_flow_items(blocks, made->items));
}

static void write_numbers(int fd, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(write(fd, &i, sizeof(i)), sizeof(i));
}

struct weir_flow *read_of(struct made *made)
{
	assert_int_equal(pipe2(made->fds, O_NONBLOCK), 0);
	write_numbers(made->fds[1], made->n);
	(void)close(made->fds[1]);
	made->fds[1] = -1;
	return goods_of_blocks(weir_flow_read(made->fds[0], sizeof(int64_t)),
			       made);
}

static void make_file_of(struct made *made)
{
	made->fds[0] = memfd_create("numbers", 0);
	assert_true(made->fds[0] >= 0);
	write_numbers(made->fds[0], made->n);
	snprintf(made->path, sizeof(made->path), "/proc/self/fd/%d",
		 made->fds[0]);
}

struct weir_flow *read_file_of(struct made *made)
{
	make_file_of(made);
	return goods_of_blocks(weir_flow_read_file(made->path, sizeof(int64_t)),
			       made);
}

struct weir_flow *tail_of(struct made *made)
{
	static const struct weir_flow_tail_options options = {
		.block = sizeof(int64_t), .beginning = true};
	struct weir_flow *flow;

	make_file_of(made);
	flow = weir_flow_take(weir_flow_tail(made->path, &options), made->n);
	return goods_of_blocks(flow, made);
}

static int number_it(void **item, uint64_t index, void *context)
{
	*item = goods_make(context, (int64_t)index);
	return 0;
}

/* It is ready, and stays so. */
struct weir_flow *fd_of(struct made *made)
{
	struct weir_flow *flow;

	made->fds[0] = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(made->fds[0] >= 0);
	flow = weir_flow_take(weir_flow_fd(made->fds[0], POLLIN), made->n);
	flow = weir_flow_index(flow, number_it, made->items->context);
	return weir_flow_items(flow, made->items);
}

int udp_to_itself(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, length), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, length), 0);
	return fd;
}

static int from_datagram(void **item, void *context)
{
	struct weir_flow_datagram *datagram = *item;
	int64_t number;

	assert_int_equal(datagram->n, sizeof(number));
	memcpy(&number, datagram->data, sizeof(number));
	weir_flow_datagram_unref(datagram);
	*item = goods_make(context, number);
	return 0;
}

/* Those that are there, and then the end. */
struct weir_flow *datagrams_of(struct made *made)
{
	struct weir_flow *flow;

	made->fds[0] = udp_to_itself();
	write_numbers(made->fds[0], made->n);
	assert_int_equal(shutdown(made->fds[0], SHUT_RD), 0);
	flow = weir_flow_datagrams(made->fds[0], NULL);
	flow = weir_flow_map(flow, from_datagram, made->items->context);
	return ahead(weir_flow_items(flow, made->items));
}
