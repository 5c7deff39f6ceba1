/* SPDX-License-Identifier: BSD-2-Clause */
/* The asynchronous semaphore port: a demand with its actor waiting for it. */
#include <weir/permits.h>

#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/port.h"
#include "base/demand.h"

int weir_permits_init(struct weir_permits *sema, struct weir_actor *actor,
		      int64_t permits)
{
	int rc = weir__port_check_init(sema, actor);

	if (rc < 0)
		return rc;
	if (permits < -INT64_MAX)
		return -EINVAL;
	sema->granted = 0;
	sema->used = -permits;
	weir__port_init(&sema->port, actor, WEIR__PORT_SEMA);
	return 0;
}

int weir_permits_release(struct weir_permits *sema, int64_t n)
{
	if (!sema || n <= 0)
		return -EINVAL;
	weir__demand_add(&sema->granted, n);
	/* swap -> load, rule 2; pairs with the fence of the arming */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&sema->port);
	return 0;
}

int weir_permits_use(struct weir_permits *sema, int64_t n)
{
	int rc = weir__port_check_owner(sema ? &sema->port : NULL);

	if (rc < 0)
		return rc;
	if (n <= 0)
		return -EINVAL;
	sema->used = weir__demand_sum(sema->used, n);
	return 0;
}

int weir_permits_set(struct weir_permits *sema, int64_t permits)
{
	int rc = weir__port_check_owner(sema ? &sema->port : NULL);
	int64_t now;

	if (rc < 0)
		return rc;
	now = weir_permits_count(sema);
	if (now == INT64_MAX)
		return 0;
	if (__builtin_sub_overflow(now, permits, &now) ||
	    __builtin_add_overflow(sema->used, now, &now))
		return -EINVAL;
	sema->used = now;
	return 0;
}

int64_t weir_permits_count(const struct weir_permits *sema)
{
	return weir__demand_left(&sema->granted, sema->used);
}

static uint32_t sema_certain(struct weir_port *port)
{
	int64_t permits = weir_permits_count((struct weir_permits *)port);

	if (permits <= 0)
		return 0;
	return permits > WEIR_BUDGET_MAX ? WEIR_BUDGET_MAX : (uint32_t)permits;
}

const struct weir__port_ops weir__sema_ops = {
	.certain = sema_certain,
};
