/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each side waits for the other's answer: an item is made when the one before
 * has come out at the other end, by a call that blocks until then. So whatever
 * keeps an item back while the next call blocks is found out: nothing comes any
 * more. Of all that was made only the last one may be under way.
 */
#include "flow/verify.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 40
#define CAPACITY 16
#define STUCK_S 20 /* a conversation that goes on takes no time */

/* --- The two sides -------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t seen_one;
	int64_t made, seen;
	bool stuck;
} talk = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.seen_one = PTHREAD_COND_INITIALIZER,
};

static struct goods goods;

static void begin(void)
{
	calling.fail_at = 0;
	talk.made = talk.seen = 0;
	talk.stuck = false;
	goods_init(&goods);
}

/* Blocks until all is seen. The number of the first of `n` more; 0: that was
 * all. */
static int64_t next_numbers(int64_t n)
{
	struct timespec until;
	int64_t number = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STUCK_S;
	pthread_mutex_lock(&talk.lock);
	while (talk.seen < talk.made && !talk.stuck)
		talk.stuck = pthread_cond_timedwait(&talk.seen_one, &talk.lock,
						    &until) != 0;
	if (talk.made + n <= ITEMS && !talk.stuck) {
		number = talk.made + 1;
		talk.made += n;
	}
	pthread_mutex_unlock(&talk.lock);
	return number;
}

static int64_t next_number(void)
{
	return next_numbers(1);
}

static void see_one(void)
{
	pthread_mutex_lock(&talk.lock);
	talk.seen++;
	pthread_cond_signal(&talk.seen_one);
	pthread_mutex_unlock(&talk.lock);
}

static int see(void *item, void *context)
{
	see_one();
	goods_drop(item, &goods);
	return 0;
}

static void assert_all_seen(const char *what, int rc)
{
	if (rc != 0 || talk.stuck || talk.seen != ITEMS)
		fail_msg("%s: %d, %s, %d of %d seen, %d made", what, rc,
			 talk.stuck ? "stuck" : "not stuck", (int)talk.seen,
			 ITEMS, (int)talk.made);
	assert_int_equal(goods_live(&goods), 0);
}

/* --- Where ---------------------------------------------------------------- */

struct places {
	struct weir_blocking *blocking;
	struct weir_threads *threads;
	struct weir_executor *blocks, *works;
};

/* Slices that are as long as may be: runs are not short by chance. */
static void places_new(struct places *places)
{
	const struct weir_blocking_options options = {
		.threads_max = 256,
		.executor = {.publish_ns = UINT64_C(1000000000),
			     .budget_ns = UINT64_C(1000000000)},
	};

	assert_int_equal(weir_blocking_new(&places->blocking, &options), 0);
	assert_int_equal(weir_threads_new(&places->threads, NULL), 0);
	places->blocks = weir_blocking_executor(places->blocking);
	places->works = weir_threads_executor(places->threads);
}

/* Of actors the last one of a chain may be over first. */
static void places_free(struct places *places)
{
	while (weir_executor_alive(places->blocks) ||
	       weir_executor_alive(places->works))
		(void)sched_yield();
	assert_int_equal(weir_threads_free(places->threads), 0);
	assert_int_equal(weir_blocking_free(places->blocking), 0);
}

/* Where the flow that is looked at ends, and its consumer begins. */
enum shape {
	FUSED, /* nowhere: one actor, if that is what the flow is */
	CUT,   /* at a boundary, to a pool */
	N_SHAPES,
};

static void converse(const char *what, struct weir_flow *flow,
		     int (*take)(void *item, void *context), enum shape shape)
{
	struct weir_executor *executor;
	struct places places;
	char name[128];
	int rc;

	places_new(&places);
	executor = places.blocks;
	if (shape == CUT) {
		flow = weir_flow_async(flow, CAPACITY, places.blocks);
		executor = places.works;
	}
	flow = weir_flow_for_each(flow, take, NULL);
	rc = weir_flow_run(flow, executor, NULL);
	snprintf(name, sizeof(name), "%s, %s", what,
		 shape == CUT ? "cut" : "fused");
	weir_flow_free(flow);
	places_free(&places);
	assert_all_seen(name, rc);
}

/* --- Sources that block --------------------------------------------------- */

static int next_good(void **state, void **item, void *context)
{
	int64_t number = next_number();

	if (number)
		*item = goods_make(&goods, number);
	return number != 0;
}

static struct weir_flow *unfolded(void)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_good, NULL),
			       &goods.items);
}

static int open_it(void **resource, void *context)
{
	return 0;
}

static int read_it(void *resource, void **item, void *context)
{
	return next_good(NULL, item, NULL);
}

static void close_it(void *resource, void *context)
{
}

static struct weir_flow *of_a_resource(void)
{
	static const struct weir_flow_resource_functions access = {
		open_it, read_it, close_it};

	return weir_flow_items(weir_flow_resource(&access, NULL), &goods.items);
}

/* 0 if there is none: then its flow has been stopped. */
static int make_next(void **item, void *context)
{
	int64_t number = next_number();

	if (!number)
		return -ENODATA;
	*item = goods_make(&goods, number);
	return 0;
}

static struct weir_flow *mapped(void)
{
	return weir_flow_items(weir_flow_map(weir_flow_range(1, ITEMS),
					     make_next, NULL),
			       &goods.items);
}

static int make_next_n(void **items, size_t n, size_t *done, void *context)
{
	int rc = 0;

	for (; *done < n && rc == 0; *done += rc == 0)
		rc = make_next(&items[*done], NULL);
	return rc;
}

static struct weir_flow *mapped_in_arrays(void)
{
	return weir_flow_items(weir_flow_map_n(weir_flow_range(1, ITEMS),
					       make_next_n, NULL),
			       &goods.items);
}

static int make_or_not(void **item, void *context)
{
	return make_next(item, NULL) == 0;
}

static struct weir_flow *filter_mapped(void)
{
	return weir_flow_items(weir_flow_filter_map(weir_flow_range(1, ITEMS),
						    make_or_not, NULL),
			       &goods.items);
}

static int make_all(void *item, uint64_t i, void **out, void *context)
{
	int64_t number = next_number();

	if (number)
		*out = goods_make(&goods, number);
	return number != 0;
}

static struct weir_flow *expanded(void)
{
	return weir_flow_items(weir_flow_map_concat(weir_flow_range(1, 1),
						    make_all, NULL),
			       &goods.items);
}

static int push_next(struct weir_operator *op)
{
	int64_t number = next_number();

	return number ? weir_operator_push(op, goods_make(&goods, number))
		      : weir_operator_end(op, NULL);
}

static struct weir_flow *of_an_operator(void)
{
	static const struct weir_operator_ops ops = {.on_pull = push_next};

	return weir_flow_items(weir_flow_operator_source(&ops, NULL),
			       &goods.items);
}

static struct weir_flow *nested_one(void *item, void *context)
{
	return unfolded();
}

static struct weir_flow *nested(void)
{
	return weir_flow_items(weir_flow_flat_map(weir_flow_range(1, 2), 2,
						  nested_one, NULL),
			       &goods.items);
}

static struct weir_flow *nested_in_order(void)
{
	return weir_flow_items(weir_flow_flat_map_ordered(weir_flow_range(1, 2),
							  2, CAPACITY,
							  nested_one, NULL),
			       &goods.items);
}

/* Several at once: each makes a flow of four. */
#define FOUR INT64_C(4)

static int next_four(void **state, void **item, void *context)
{
	int64_t first = next_numbers(FOUR);

	*item = (void *)(intptr_t)first;
	return first != 0;
}

static int good_of(void **item, void *context)
{
	*item = goods_make(&goods, (intptr_t)*item);
	return 0;
}

static struct weir_flow *four_of(void *item, void *context)
{
	int64_t first = (intptr_t)item;
	struct weir_flow *flow = weir_flow_range(first, first + FOUR - 1);

	return weir_flow_items(weir_flow_map(flow, good_of, NULL),
			       &goods.items);
}

static struct weir_flow *nested_fours_in_order(void)
{
	return weir_flow_items(weir_flow_flat_map_ordered(
				       weir_flow_unfold(NULL, next_four, NULL),
				       2, CAPACITY, four_of, NULL),
			       &goods.items);
}

static struct weir_flow *unfolded_late(void *context)
{
	return unfolded();
}

static struct weir_flow *deferred(void)
{
	return weir_flow_items(weir_flow_defer(unfolded_late, NULL),
			       &goods.items);
}

static struct weir_flow *lazy(void)
{
	return weir_flow_lazy(unfolded());
}

static const struct {
	const char *name;
	struct weir_flow *(*make)(void);
} sources[] = {
	{"unfold", unfolded},
	{"resource", of_a_resource},
	{"map", mapped},
	{"map_n", mapped_in_arrays},
	{"filter_map", filter_mapped},
	{"map_concat", expanded},
	{"operator", of_an_operator},
	{"flat_map", nested},
	{"flat_map_ordered", nested_in_order},
	{"flat_map_ordered of fours", nested_fours_in_order},
	{"defer", deferred},
	{"lazy", lazy},
};

static void what_a_source_has_made_is_seen_before_it_blocks(void **state)
{
	enum shape shape;
	size_t i;

	for (i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		for (shape = FUSED; shape < N_SHAPES; shape++) {
			begin();
			converse(sources[i].name, sources[i].make(), see,
				 shape);
		}
}

/* --- Operators over one --------------------------------------------------- */

static bool is_one_of(const struct way *way, const char *const *names)
{
	for (; *names; names++)
		if (strstr(way->name, *names))
			return true;
	return false;
}

/*
 * What these wait for comes from another thread or another island, while their
 * own one blocks in the source: such a source belongs behind a boundary.
 */
static const char *const wait_elsewhere[] = {
	"buffer", "delay", "map_parallel", "operator that waits", NULL,
};

/* Actors of their own, on the executor of the run. */
static const char *const run_apart[] = {
	"broadcast", "balance", "partition", "graph", "operator_outlets", NULL,
};

static void an_operator_keeps_nothing_back_while_its_source_blocks(void **state)
{
	const struct way *way;
	struct weir_flow *flow;
	enum shape shape;
	size_t i;

	first_number = 1;
	for (i = 0; i < n_ways; i++) {
		way = &ways[i];
		if (way->effect == CHANGES)
			continue;
		for (shape = FUSED; shape < N_SHAPES; shape++) {
			if (shape == CUT && is_one_of(way, run_apart))
				continue;
			begin();
			flow = unfolded();
			if (is_one_of(way, wait_elsewhere))
				flow = weir_flow_async(flow, CAPACITY, NULL);
			flow = way->put_upon(flow, &goods.items);
			converse(way->name, flow, see, shape);
		}
	}
	first_number = 0;
}

/* --- Nested flows that always have an item -------------------------------- */

#define PATIENCE 1000

static int n_opened, n_given;

/* Until the second flow is there; it need not wait for long. */
static int give(void **state, void **item, void *context)
{
	return n_opened < 2 && n_given++ < PATIENCE;
}

static struct weir_flow *giving(void *item, void *context)
{
	n_opened++;
	return weir_flow_unfold(NULL, give, NULL);
}

static int as_it_is(void **item, void *context)
{
	return 0;
}

/* Nobody knows that it does not block. */
static struct weir_flow *two(void)
{
	return weir_flow_map(weir_flow_range(1, 2), as_it_is, NULL);
}

static void one_that_always_gives_keeps_no_other_out(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_flat_map(two(), 2, giving, NULL),
		weir_flow_switch_map(two(), giving, NULL),
	};
	struct places places;
	size_t i;

	places_new(&places);
	for (i = 0; i < 2; i++) {
		n_opened = n_given = 0;
		assert_int_equal(weir_flow_run(flows[i], places.blocks, NULL),
				 0);
		weir_flow_free(flows[i]);
		assert_int_equal(n_opened, 2);
		assert_in_range(n_given, 1, PATIENCE);
	}
	places_free(&places);
}

/* --- Operators of one's own that run ahead -------------------------------- */

static int ask_at_once(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static int keep_and_wake(struct weir_operator *op, void *item)
{
	void **kept = weir_operator_state(op);

	*kept = item;
	weir_operator_wake(op);
	return 0;
}

/* It keeps nothing while it asks for more. */
static int push_kept(struct weir_operator *op)
{
	void **kept = weir_operator_state(op);
	void *item = *kept;

	if (!item || !weir_operator_wanted(op))
		return 0;
	*kept = NULL;
	assert_int_equal(weir_operator_push(op, item), 0);
	return weir_operator_pull(op);
}

static struct weir_flow *woken_operator(void)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(void *),
		.open = ask_at_once,
		.on_push = keep_and_wake,
		.on_wake = push_kept,
		.on_pull = push_kept,
		.ahead = true,
	};

	return weir_flow_same_items(weir_flow_operator(unfolded(), &ops, NULL));
}

static int keep_unwanted(struct weir_operator *op, void *item)
{
	void **kept = weir_operator_state(op);

	if (weir_operator_wanted(op))
		return weir_operator_push(op, item);
	assert_null(*kept);
	*kept = item;
	return 0;
}

/* Asks both, unless it has one: so one at most is asked, and nothing kept, when
 * nothing is wanted. */
static int push_kept_or_ask_both(struct weir_operator *op)
{
	void **kept = weir_operator_state(op);
	void *item = *kept;

	*kept = NULL;
	if (item)
		return weir_operator_push(op, item);
	(void)weir_operator_pull_input(op, 0);
	(void)weir_operator_pull_input(op, 1);
	return 0;
}

/* An end comes when all is seen, so nothing is kept. */
static int end_at_once(struct weir_operator *op, struct weir_error *error)
{
	return weir_operator_end(op, error);
}

static struct weir_flow *of_two_inputs(void)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(void *),
		.on_push = keep_unwanted,
		.on_pull = push_kept_or_ask_both,
		.on_end = end_at_once,
		.ahead = true,
	};
	struct weir_flow *both[] = {unfolded(), unfolded()};

	return weir_flow_same_items(
		weir_flow_operator_inputs(both, 2, &ops, NULL));
}

static void assert_converses(const char *what, struct weir_flow *(*make)(void))
{
	enum shape shape;

	for (shape = FUSED; shape < N_SHAPES; shape++) {
		begin();
		converse(what, make(), see, shape);
	}
}

static void what_runs_ahead_has_given_its_item_before_it_asks(void **state)
{
	assert_converses("woken operator", woken_operator);
}

static void what_one_input_gave_is_seen_before_the_other_blocks(void **state)
{
	assert_converses("operator of two inputs", of_two_inputs);
}

/* --- Actors --------------------------------------------------------------- */

static int produce(void **item, void *context)
{
	return next_good(NULL, item, NULL);
}

static int pass_on(void *item, struct weir_out *out, void *context)
{
	return weir_out_put(out, item);
}

static int consume(void *item, void *context)
{
	return see(item, NULL);
}

static void over(void *context)
{
	(void)weir_completion_complete(context, NULL);
}

static void what_a_producer_has_made_is_seen_before_it_blocks(void **state)
{
	struct weir_completion completion;
	struct weir_producer_options make = {.produce = produce,
					     .makes = &goods.items};
	struct weir_transformer_options pass = {.transform = pass_on,
						.takes = &goods.items,
						.makes = &goods.items};
	struct weir_consumer_options take = {.consume = consume,
					     .takes = &goods.items,
					     .released = over,
					     .context = &completion};
	struct weir_producer producer;
	struct weir_transformer transformer;
	struct weir_consumer consumer;
	struct weir_actor *chain[] = {&producer.actor, &transformer.actor,
				      &consumer.actor};
	struct places places;

	begin();
	places_new(&places);
	weir_completion_init(&completion);
	assert_int_equal(weir_producer_init(&producer, places.blocks, &make),
			 0);
	assert_int_equal(
		weir_transformer_init(&transformer, places.blocks, &pass), 0);
	assert_int_equal(weir_consumer_init(&consumer, places.works, &take), 0);
	assert_int_equal(weir_chain_start(chain, 3), 0);
	assert_int_equal(weir_completion_wait(&completion, WEIR_FOREVER), 0);
	assert_int_equal(weir_completion_fini(&completion), 0);
	places_free(&places);
	assert_all_seen("producer", 0);
}

/* --- Descriptors ---------------------------------------------------------- */

/* The peer's end, whose thread sends a line, and waits for the answer. */
static int peer_fd;

static void *be_a_peer(void *context)
{
	char line[16];
	int64_t i;

	while ((i = next_number())) {
		snprintf(line, sizeof(line), "%d\n", (int)i);
		assert_int_equal(write(peer_fd, line, strlen(line)),
				 strlen(line));
	}
	assert_int_equal(close(peer_fd), 0);
	return NULL;
}

static int see_line(void *item, void *context)
{
	see_one();
	weir_flow_bytes_unref(item);
	return 0;
}

static void a_line_is_seen_before_the_next_is_read(void **state)
{
	enum shape shape;
	pthread_t peer;
	int fds[2];

	for (shape = FUSED; shape < N_SHAPES; shape++) {
		begin();
		assert_int_equal(pipe(fds), 0);
		peer_fd = fds[1];
		assert_int_equal(pthread_create(&peer, NULL, be_a_peer, NULL),
				 0);
		converse("lines of read",
			 weir_flow_lines(weir_flow_read(fds[0], 4096), 100),
			 see_line, shape);
		assert_int_equal(pthread_join(peer, NULL), 0);
		assert_int_equal(close(fds[0]), 0);
	}
}

/* It sees its own lines come back. */
static void *see_the_echo(void *context)
{
	char bytes[64];
	ssize_t n, i;

	while ((n = read(peer_fd, bytes, sizeof(bytes))) > 0)
		for (i = 0; i < n; i++)
			if (bytes[i] == '\n')
				see_one();
	return NULL;
}

static void *send_lines(void *context)
{
	char line[16];
	int64_t i;

	while ((i = next_number())) {
		snprintf(line, sizeof(line), "%d\n", (int)i);
		assert_int_equal(write(peer_fd, line, strlen(line)),
				 strlen(line));
	}
	assert_int_equal(shutdown(peer_fd, SHUT_WR), 0);
	return NULL;
}

static int with_newline(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;
	struct weir_flow_bytes *made;

	assert_int_equal(weir_flow_bytes_new(&made, line->n + 1, NULL), 0);
	memcpy(made->data, line->data, line->n);
	made->data[line->n] = '\n';
	weir_flow_bytes_unref(line);
	*item = made;
	return 0;
}

/* In one actor, or with reading and writing on threads of their own. */
static void echo(bool cut)
{
	pthread_t sender, seer;
	struct places places;
	struct weir_flow *flow;
	int fds[2], rc;

	begin();
	places_new(&places);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer_fd = fds[1];
	assert_int_equal(pthread_create(&sender, NULL, send_lines, NULL), 0);
	assert_int_equal(pthread_create(&seer, NULL, see_the_echo, NULL), 0);
	flow = weir_flow_read(fds[0], 4096);
	if (cut)
		flow = weir_flow_async(flow, CAPACITY, places.blocks);
	flow = weir_flow_same_items(
		weir_flow_map(weir_flow_lines(flow, 100), with_newline, NULL));
	if (cut)
		flow = weir_flow_async(flow, CAPACITY, places.works);
	flow = weir_flow_write(flow, fds[0]);
	rc = weir_flow_run(flow, places.blocks, NULL);
	assert_int_equal(pthread_join(sender, NULL), 0);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(pthread_join(seer, NULL), 0);
	assert_int_equal(close(fds[1]), 0);
	weir_flow_free(flow);
	places_free(&places);
	assert_all_seen(cut ? "echo, cut" : "echo, fused", rc);
}

static void an_answer_is_written_before_the_next_line_is_read(void **state)
{
	echo(false);
	echo(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_a_source_has_made_is_seen_before_it_blocks),
		cmocka_unit_test(
			an_operator_keeps_nothing_back_while_its_source_blocks),
		cmocka_unit_test(one_that_always_gives_keeps_no_other_out),
		cmocka_unit_test(
			what_runs_ahead_has_given_its_item_before_it_asks),
		cmocka_unit_test(
			what_one_input_gave_is_seen_before_the_other_blocks),
		cmocka_unit_test(
			what_a_producer_has_made_is_seen_before_it_blocks),
		cmocka_unit_test(a_line_is_seen_before_the_next_is_read),
		cmocka_unit_test(
			an_answer_is_written_before_the_next_line_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
