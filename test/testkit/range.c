/* SPDX-License-Identifier: BSD-2-Clause */
#include "testkit/range.h"

bool range_is(const struct range *range, enum broken_publisher broken)
{
	return range->ranges->broken == broken;
}

/* --- Items ---------------------------------------------------------------- */

void ranges_item_drop(void *item, void *context)
{
	ck_pr_dec_32(&((struct ranges_item *)item)->ranges->live);
	free(item);
}

const struct weir_items ranges_items = {.drop = ranges_item_drop};

/* What is item number `i` of the stream. */
static int64_t range_value(const struct range *range, int64_t i)
{
	if (range_is(range, SAME_VALUE))
		return 0;
	if (range_is(range, SWAPS_ITEMS))
		return i ^ 1;
	if (range_is(range, SKIPS_ITEM))
		return i + (i > 1);
	if (range_is(range, REPEATS_ITEM))
		return i - (i > 1);
	return i;
}

struct ranges_item *range_item(struct range *range, int64_t i)
{
	struct ranges_item *item = malloc(sizeof(*item));

	assert_non_null(item);
	item->i = range_value(range, i);
	item->ranges = range->ranges;
	ck_pr_inc_32(&item->ranges->live);
	return item;
}

void range_item_refused(struct range *range, struct ranges_item *item)
{
	if (range_is(range, LEAKS_REFUSED_ITEM) && !range->ranges->leaked)
		range->ranges->leaked = item;
	else if (item)
		ranges_item_drop(item, NULL);
}
