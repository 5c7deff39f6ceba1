/* SPDX-License-Identifier: BSD-2-Clause */
/* The asynchronous semaphore port: a demand with its actor waiting for it. */
#include <weir/permits.h>

#include <errno.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"
#include "base/demand.h"

WEIR__CHECK_OTHER_PORT(struct weir_permits);

int weir_permits_release(struct weir_permits *permits, int64_t n)
{
	if (!permits || n <= 0)
		return -EINVAL;
	weir__demand_add(&permits->granted, n);
	/* swap -> load, rule 2; pairs with the fence of the arming */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&permits->port);
	return 0;
}

int weir_permits_use(struct weir_permits *permits, int64_t n)
{
	int rc = weir__port_check_owner(permits ? &permits->port : NULL);

	if (rc < 0)
		return rc;
	if (n <= 0)
		return -EINVAL;
	permits->used = weir__demand_sum(permits->used, n);
	return 0;
}

int weir_permits_set(struct weir_permits *permits, int64_t n)
{
	int rc = weir__port_check_owner(permits ? &permits->port : NULL);
	int64_t now;

	if (rc < 0)
		return rc;
	now = weir_permits_count(permits);
	if (now == INT64_MAX)
		return 0;
	if (__builtin_sub_overflow(now, n, &now) ||
	    __builtin_add_overflow(permits->used, now, &now))
		return -EINVAL;
	permits->used = now;
	return 0;
}

int64_t weir_permits_count(const struct weir_permits *permits)
{
	return weir__demand_left(&permits->granted, permits->used);
}

static uint32_t permits_available(struct weir_port *port)
{
	int64_t n = weir_permits_count((struct weir_permits *)port);

	if (n <= 0)
		return 0;
	return n > WEIR_BUDGET_MAX ? WEIR_BUDGET_MAX : (uint32_t)n;
}

static const struct weir__port_ops permits_ops = {
	.awaits = WEIR_WAIT_PERMIT,
	.available = permits_available,
};

int weir_permits_init(struct weir_permits *permits, struct weir_actor *actor,
		      int64_t n)
{
	int rc = weir__port_check_init(permits, actor);

	if (rc < 0)
		return rc;
	if (n < -INT64_MAX)
		return -EINVAL;
	permits->ops = &permits_ops;
	permits->granted = 0;
	permits->used = -n;
	weir__port_init(&permits->port, actor, WEIR__PORT_OTHER);
	return 0;
}
