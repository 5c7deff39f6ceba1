/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_sources.h"

#include "flow/verify_connections.h"

/* --- What is known, what is made ------------------------------------------ */

static struct weir_flow *array_of(struct made *made)
{
	for (int64_t i = 0; i < made->n; i++)
		made->array[i] = (void *)(intptr_t)i;
	return goods_of(weir_flow_array(made->array, (size_t)made->n), made);
}

static struct weir_flow *single_of(struct made *made)
{
	return grown(weir_flow_single((void *)(intptr_t)made->n), made);
}

static struct weir_flow *behind(struct weir_flow *flow, struct made *made)
{
	flow = weir_flow_items(flow, made->items);
	return weir_flow_concat((struct weir_flow *[]){flow, range_of(made)},
				2);
}

static struct weir_flow *empty_of(struct made *made)
{
	return behind(weir_flow_empty(), made);
}

static struct weir_flow *before(struct made *made, struct weir_flow *flow)
{
	flow = weir_flow_items(flow, made->items);
	return weir_flow_concat((struct weir_flow *[]){range_of(made), flow},
				2);
}

static struct weir_flow *fail_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_fail(-EIO, "it was to");

	return weir_flow_complete_on_error(before(made, flow), NULL, NULL);
}

static struct weir_flow *never_of(struct made *made)
{
	struct weir_flow *never =
		weir_flow_items(weir_flow_never(), made->items);

	return weir_flow_merge_eager(
		(struct weir_flow *[]){range_of(made), never}, 2);
}

static int unfold_next(void **state, void **item, void *context)
{
	const struct made *made = context;
	int64_t at = (intptr_t)*state;
	int rc = called();

	if (rc < 0 || at == made->n)
		return rc;
	*item = goods_make(made->items->context, at);
	*state = (void *)(intptr_t)(at + 1);
	return 1;
}

static struct weir_flow *unfold_of(struct made *made)
{
	return ahead(weir_flow_items(weir_flow_unfold(NULL, unfold_next, made),
				     made->items));
}

/* The resource is a good, too. */
static int resource_open(void **resource, void *context)
{
	const struct made *made = context;
	int rc = called();

	if (rc == 0)
		*resource = goods_make(made->items->context, 0);
	return rc;
}

static int resource_read(void *resource, void **item, void *context)
{
	const struct made *made = context;
	struct good *at = resource;
	int rc = called();

	if (rc < 0 || at->number == made->n)
		return rc;
	*item = goods_make(made->items->context, at->number++);
	return 1;
}

static void resource_close(void *resource, void *context)
{
	goods_drop(resource, ((struct made *)context)->items->context);
}

static struct weir_flow *resource_of(struct made *made)
{
	static const struct weir_flow_resource_functions functions = {
		resource_open, resource_read, resource_close};

	return ahead(weir_flow_items(weir_flow_resource(&functions, made),
				     made->items));
}

static int number_it(void **item, uint64_t index, void *context)
{
	*item = goods_make(context, (int64_t)index);
	return 0;
}

static struct weir_flow *tick_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_tick(0, 1, NULL);

	flow = weir_flow_index(weir_flow_take(flow, made->n), number_it,
			       made->items->context);
	return weir_flow_items(flow, made->items);
}

/* The first one fails half way, the next one goes on from there. */
static struct weir_flow *make_part(void *context)
{
	struct made *made = context;
	bool first = ck_pr_faa_32(&made->begun, 1) == 0;
	int64_t half = made->n / 2;
	struct weir_flow *flow =
		weir_flow_range(first ? 0 : half, (first ? half : made->n) - 1);

	flow = goods_of(flow, made);
	if (!first)
		return flow;
	return weir_flow_concat(
		(struct weir_flow *[]){
			flow,
			weir_flow_items(weir_flow_fail(-EIO, "half way"),
					made->items),
		},
		2);
}

static bool was_half_way(struct weir_error *error, void *context)
{
	return error->code == -EIO;
}

static struct weir_flow *restart_of(struct made *made)
{
	const struct weir_flow_restart_options options = {
		.restart_on = was_half_way,
	};

	return ahead(weir_flow_items(
		weir_flow_restart(make_part, made, &options), made->items));
}

static struct weir_flow *make_all(void *context)
{
	struct made *made = context;

	if (called() < 0)
		return NULL;
	return goods_of(weir_flow_range(0, made->n - 1), made);
}

static struct weir_flow *defer_of(struct made *made)
{
	return weir_flow_items(weir_flow_defer(make_all, made), made->items);
}

static struct weir_flow *lazy_of(struct made *made)
{
	return weir_flow_lazy(goods_of(weir_flow_range(0, made->n - 1), made));
}

/* The next number is the state. */
static int own_next(struct weir_operator *op)
{
	const struct made *made = weir_operator_context(op);
	int64_t *next = weir_operator_state(op);
	int rc = called();

	if (rc < 0 || *next == made->n)
		return rc < 0 ? rc : weir_operator_end(op, NULL);
	return weir_operator_push(op,
				  goods_make(made->items->context, (*next)++));
}

static struct weir_flow *own_of(struct made *made)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(int64_t),
		.on_pull = own_next,
	};

	return ahead(weir_flow_items(weir_flow_operator_source(&ops, made),
				     made->items));
}

/* --- One of many, many of one --------------------------------------------- */

static struct weir_flow *numbers_to(struct made *made)
{
	return weir_flow_range(0, made->n);
}

static int largest(void **result, void *item, void *context)
{
	int rc = called();

	if (rc == 0 && (intptr_t)*result < (intptr_t)item)
		*result = item;
	return rc;
}

static int count_it(void **result, void *item, void *context)
{
	int rc = called();

	if (rc == 0)
		*result = (void *)((intptr_t)*result + 1);
	return rc;
}
WEIR_FLOW_FOLD(count_it)

static struct weir_flow *fold_of(struct made *made)
{
	static const struct weir_flow_fold_functions functions = {NULL,
								  largest};

	return grown(weir_flow_fold(numbers_to(made), &functions, NULL), made);
}

static struct weir_flow *fold_n_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_range(1, made->n);

	return grown(weir_flow_fold_n(flow, count_it_n, NULL), made);
}

static struct weir_flow *reduce_of(struct made *made)
{
	return grown(weir_flow_reduce(numbers_to(made), largest, NULL), made);
}

static struct weir_flow *first_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_range(made->n, made->n + 5);

	return grown(weir_flow_first(flow), made);
}

static struct weir_flow *last_of(struct made *made)
{
	return grown(weir_flow_last(numbers_to(made)), made);
}

static struct weir_flow *count_of(struct made *made)
{
	return grown(weir_flow_count(range_of(made)), made);
}

static struct weir_flow *conflate_of(struct made *made)
{
	static const struct weir_flow_conflate_functions functions = {NULL,
								      largest};
	struct weir_flow *flow = numbers_to(made);

	flow = weir_flow_conflate(flow, &functions, NULL);
	return grown(weir_flow_last(flow), made);
}

/* The items of a list, one by one: they are taken out of it. */
static int list_next(void *item, uint64_t i, void **out, void *context)
{
	struct weir_flow_list *list = item;
	int rc = called();

	if (rc < 0 || i == list->n)
		return rc;
	(void)goods_share(list->items[i], context);
	*out = list->items[i];
	return 1;
}

static struct weir_flow *unlisted(struct weir_flow *lists, struct made *made)
{
	lists = weir_flow_map_concat(lists, list_next, made->items->context);
	return ahead(weir_flow_items(lists, made->items));
}

static struct weir_flow *collect_of(struct made *made)
{
	return unlisted(weir_flow_collect(range_of(made), 0), made);
}

static struct weir_flow *grouped_of(struct made *made)
{
	return unlisted(weir_flow_grouped(range_of(made), 3), made);
}

static struct weir_flow *grouped_within_of(struct made *made)
{
	return unlisted(weir_flow_grouped_within(range_of(made), 3, HOUR_NS),
			made);
}

static uint64_t weigh_as(void *item, void *context)
{
	return (uint64_t)((struct good *)item)->number;
}

static struct weir_flow *grouped_up_to_of(struct made *made)
{
	struct weir_flow *flow = range_of(made);

	return unlisted(weir_flow_grouped_up_to(flow, 4, weigh_as, NULL, 3,
						HOUR_NS),
			made);
}

static struct weir_flow *grouped_weighted_of(struct made *made)
{
	struct weir_flow *flow = range_of(made);

	return unlisted(weir_flow_grouped_weighted(flow, 9, weigh_as, NULL, 3,
						   HOUR_NS),
			made);
}

static struct weir_flow *ignore_of(struct made *made)
{
	return behind(weir_flow_ignore(range_of(made)), made);
}

static int drop_it(void *item, void *context)
{
	int rc = called();

	if (rc == 0)
		goods_drop(item, context);
	return rc;
}

static struct weir_flow *for_each_of(struct made *made)
{
	return behind(weir_flow_for_each(range_of(made), drop_it,
					 made->items->context),
		      made);
}

static struct weir_flow *all_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_ignore(range_of(made));

	return behind(weir_flow_all(&flow, 1), made);
}

static struct weir_flow *make_range(void *item, void *context)
{
	return called() < 0 ? NULL : range_of(context);
}

static struct weir_flow *switch_map_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_single(NULL);

	flow = weir_flow_switch_map(flow, make_range, made);
	return ahead(weir_flow_items(flow, made->items));
}

static struct weir_flow *flat_map_of(struct made *made)
{
	struct weir_flow *flow = weir_flow_single(NULL);

	flow = weir_flow_flat_map(flow, 2, make_range, made);
	return ahead(weir_flow_items(flow, made->items));
}

/* --- The table ------------------------------------------------------------ */

const struct source_row sources[] = {
	{"range", range_of},
	{"array", array_of, SOURCE_LONG},
	{"single", single_of},
	{"empty", empty_of},
	{"fail", fail_of},
	{"never", never_of},
	{"unfold", unfold_of},
	{"resource", resource_of},
	{"tick", tick_of, 20, EACH_GETS_ALL, true},
	{"restart", restart_of, 0, THEY_SHARE},
	{"defer", defer_of},
	{"lazy", lazy_of},
	{"operator_source", own_of},
	{"from_queue", queue_of, SOURCE_LONG, FIRST_GETS_ALL},
	{"from_publisher", publisher_of},
	{"from_out", out_of, 0, FIRST_GETS_ALL},
	{"from_channel", channel_of, 0, THEY_SHARE},
	{"from_hub", hub_of, SOURCE_LONG},
	{"from_share", share_of, SOURCE_LONG},
	{"read", read_of, SOURCE_LONG, THEY_SHARE},
	{"read_file", read_file_of, SOURCE_LONG},
	{"tail", tail_of, SOURCE_LONG},
	{"fd", fd_of, SOURCE_LONG, .waits = true},
	{"datagrams", datagrams_of, 50, THEY_SHARE, .waits = true},
	{"listen", listen_of, 20, THEY_SHARE, .waits = true},
	{"connect", connect_of, .waits = true},
	{"connection_read", connection_read_of, SOURCE_LONG, FIRST_GETS_ALL,
	 .waits = true},
	{"connection_run", connection_run_of, SOURCE_LONG, FIRST_GETS_ALL,
	 .waits = true},
	{"connection_pipe", connection_pipe_of, SOURCE_LONG, FIRST_GETS_ALL,
	 .waits = true},
	{"each_connection", each_connection_of, 20, .waits = true},
	{"fold", fold_of, SOURCE_LONG},
	{"fold_n", fold_n_of, SOURCE_LONG},
	{"reduce", reduce_of, SOURCE_LONG},
	{"first", first_of, SOURCE_LONG},
	{"last", last_of, SOURCE_LONG},
	{"count", count_of, SOURCE_LONG},
	{"conflate", conflate_of, SOURCE_LONG},
	{"collect", collect_of, SOURCE_LONG},
	{"grouped by three", grouped_of},
	{"grouped_within by three", grouped_within_of},
	{"grouped_weighted to nine", grouped_weighted_of},
	{"grouped_up_to four", grouped_up_to_of},
	{"ignore", ignore_of, SOURCE_LONG},
	{"for_each", for_each_of, SOURCE_LONG},
	{"all", all_of, SOURCE_LONG},
	{"switch_map", switch_map_of},
	{"flat_map of ranges", flat_map_of},
};

const size_t n_sources = sizeof(sources) / sizeof(*sources);
