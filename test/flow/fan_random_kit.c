/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fan_random_kit.h"

#define WIDTH_MAX 4u

struct random {
	uint64_t state;
};

static uint32_t draw(struct random *random, uint32_t n)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return (uint32_t)(random->state >> 33) % n;
}

int plus_one(void **item, void *context)
{
	struct item *old = *item;

	*item = item_new(old->value + 1);
	item_drop(old, NULL);
	return 0;
}

int sum_up(void *const *items, size_t n, void **result, void *context)
{
	struct item *sum = item_new(0);
	size_t i;

	for (i = 0; i < n; i++) {
		sum->value += ((struct item *)items[i])->value;
		item_drop(items[i], NULL);
	}
	*result = sum;
	return 0;
}

static int by_value(void *item, size_t *outlet, void *context)
{
	*outlet = (size_t)((struct item *)item)->value % *(size_t *)context;
	return 0;
}

static struct known a_range(struct random *random)
{
	int64_t n = draw(random, 300);

	return (struct known){counted(weir_flow_range(1, n)), n,
			      n * (n + 1) / 2};
}

/* It may be asked for less, or more, than a link would hold. */
static struct weir_flow *asked(struct random *random, struct weir_flow *flow)
{
	uint32_t max = 1 + draw(random, draw(random, 4) ? 8 : 400);

	if (draw(random, 3))
		return flow;
	return weir_flow_limit_rate(flow, max, draw(random, max));
}

/* Something that changes neither n nor the order. */
static struct known stretch(struct random *random, struct known known)
{
	switch (draw(random, 4)) {
	case 0:
		known.flow = weir_flow_items(weir_flow_map(known.flow, plus_one,
							   NULL),
					     &counted_items);
		known.sum += known.n;
		break;
	case 1:
		known.flow = weir_flow_async(
			known.flow, (size_t)1 << draw(random, 5), NULL);
		break;
	case 2:
		known.flow = asked(random, known.flow);
		break;
	default:
		break;
	}
	return known;
}

static struct known zipped(struct weir_flow **ups, uint32_t width, int64_t n,
			   int64_t sum)
{
	struct weir_flow *flow = weir_flow_zip(ups, width, sum_up, NULL);

	return (struct known){weir_flow_items(flow, &counted_items), n, sum};
}

/* Several branches of one flow come together again. */
static struct known diamond(struct random *random, struct known known)
{
	static size_t widths[WIDTH_MAX + 1] = {0, 1, 2, 3, 4};
	struct weir_flow_fan_options options = {.capacity = (size_t)1
							    << draw(random, 6)};
	uint32_t width = 1 + draw(random, WIDTH_MAX), way = draw(random, 4), i;
	struct weir_flow *outlets[WIDTH_MAX];
	int64_t n = 0, sum = 0;
	struct known branch;

	options.wait_for_all = way == 0 && draw(random, 2);
	options.shuffle = way == 0 ? draw(random, 3) : 0;
	options.queue = way == 1 ? draw(random, 20) : 0;
	if (way == 0)
		weir_flow_balance(known.flow, width, outlets, &options);
	else if (way == 1)
		weir_flow_partition(known.flow, width, by_value, &widths[width],
				    outlets, &options);
	else
		weir_flow_broadcast(known.flow, width, outlets, &options);
	for (i = 0; i < width; i++) {
		outlets[i] = asked(random, outlets[i]);
		branch = (struct known){outlets[i], known.n, known.sum};
		if (way >= 2)
			branch = stretch(random, branch);
		outlets[i] = branch.flow;
		n += branch.n;
		sum += branch.sum;
	}
	if (way == 3)
		return zipped(outlets, width, known.n, sum);
	if (way < 2)
		return (struct known){weir_flow_merge(outlets, width), known.n,
				      known.sum};
	return (struct known){weir_flow_merge(outlets, width), n, sum};
}

/* Two flows of their own come together. */
static struct known joined(struct random *random, struct known a,
			   struct known b)
{
	struct weir_flow *ups[] = {a.flow, b.flow};

	return (struct known){draw(random, 2) ? weir_flow_merge(ups, 2)
					      : weir_flow_concat(ups, 2),
			      a.n + b.n, a.sum + b.sum};
}

static struct known a_graph(struct random *random, int depth)
{
	struct known known;

	if (depth == 0)
		return a_range(random);
	known = stretch(random, a_graph(random, depth - 1));
	if (draw(random, 3) == 0)
		return joined(random, known, a_graph(random, depth - 1));
	return known.n > 20000 ? known : diamond(random, known);
}

struct known random_graph(uint64_t seed)
{
	struct random random = {seed * 0x9e3779b97f4a7c15u};
	int depth;

	(void)draw(&random, 2);
	depth = 1 + (int)draw(&random, 4);
	return a_graph(&random, depth);
}

int tally_one(void *item, void *context)
{
	struct tally *tally = context;

	tally->n++;
	tally->sum += ((struct item *)item)->value;
	item_drop(item, NULL);
	return 0;
}
