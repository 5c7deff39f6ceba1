/* SPDX-License-Identifier: BSD-2-Clause */
/* Request strategies: pure functions, on the caller's thread. */
#include <weir/request.h>

enum { DEFAULT_BATCH = 5 };

int weir_watermark_init(struct weir_watermark *watermark, int64_t high,
			int64_t low)
{
	if (!watermark || low < 0 || high < low || high < 1)
		return -EINVAL;
	if (low == 0)
		low = high / 2 > 1 ? high / 2 : 1;
	watermark->high = high;
	watermark->low = low;
	return 0;
}

int weir_max_in_flight_init(struct weir_max_in_flight *settings, int64_t max,
			    int64_t batch, int64_t (*in_flight)(void *context),
			    void *context)
{
	if (!settings || max < 0 || batch < 0 || !in_flight)
		return -EINVAL;
	settings->max = max;
	settings->batch = batch ? batch : DEFAULT_BATCH;
	settings->in_flight = in_flight;
	settings->context = context;
	return 0;
}

/*
 * `n` less `used`, at least 0. Unlike a sum of used counts, this never wraps.
 */
static int64_t without(int64_t n, int64_t used)
{
	if (used < 0)
		used = 0;
	return used < n ? n - used : 0;
}

int64_t weir_demand_zero(int64_t remaining, void *context)
{
	(void)context;
	(void)remaining;
	return 0;
}

int64_t weir_demand_one_by_one(int64_t remaining, void *context)
{
	(void)context;
	return without(1, remaining);
}

int64_t weir_demand_watermark(int64_t remaining, void *watermark)
{
	const struct weir_watermark *w = watermark;

	return remaining < w->low ? without(w->high, remaining) : 0;
}

int64_t weir_demand_max_in_flight(int64_t remaining, void *settings)
{
	const struct weir_max_in_flight *s = settings;
	int64_t batch = s->batch < s->max ? s->batch : s->max;
	int64_t room =
		without(without(s->max, remaining), s->in_flight(s->context));

	return room >= batch ? room : 0;
}
