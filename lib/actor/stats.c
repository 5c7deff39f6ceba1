/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time between two slices is booked on what the actor waited for when the
 * first one ended: an in-port before an out-port before anything else.
 */
#include "actor/stats.h"

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/port.h"

enum waiting { WAIT_OTHER, WAIT_IN, WAIT_OUT };

static uint64_t *waited(struct weir_stats *stats)
{
	switch (stats->waiting) {
	case WAIT_IN:
		return &stats->wait_in_ns;
	case WAIT_OUT:
		return &stats->wait_out_ns;
	default:
		return &stats->wait_other_ns;
	}
}

/* Books the time since the last mark on `counter`. */
static void book(struct weir_actor *actor, struct weir_stats *stats,
		 uint64_t *counter)
{
	uint64_t now = weir_executor_now(actor->executor);

	if (stats->since_ns && now > stats->since_ns)
		weir__stats_add(counter, now - stats->since_ns);
	stats->since_ns = now;
}

void weir__stats_begin(struct weir_actor *actor, struct weir_stats *stats)
{
	book(actor, stats, waited(stats));
	weir__stats_add(&stats->slices, 1);
}

static enum waiting reason(const struct weir_actor *actor)
{
	enum waiting reason = WAIT_OTHER;
	const struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		/* a hint: somebody may be unblocking it */
		if (!ck_pr_load_32(&port->blocked))
			continue;
		if (weir__in_of(port))
			return WAIT_IN;
		if (weir__out_of(port))
			reason = WAIT_OUT;
	}
	return reason;
}

void weir__stats_end(struct weir_actor *actor, struct weir_stats *stats)
{
	book(actor, stats, &stats->busy_ns);
	stats->waiting = reason(actor);
}

void weir_stats_read(const struct weir_stats *stats, struct weir_stats *copy)
{
	*copy = (struct weir_stats){
		.turns = ck_pr_load_64(&stats->turns),
		.slices = ck_pr_load_64(&stats->slices),
		.taken = ck_pr_load_64(&stats->taken),
		.put = ck_pr_load_64(&stats->put),
		.busy_ns = ck_pr_load_64(&stats->busy_ns),
		.wait_in_ns = ck_pr_load_64(&stats->wait_in_ns),
		.wait_out_ns = ck_pr_load_64(&stats->wait_out_ns),
		.wait_other_ns = ck_pr_load_64(&stats->wait_other_ns),
	};
}
