/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The delay port. Its time has come when the clock says so at a look, or when
 * the timer has fired. An armed timer holds a reference on the actor. The
 * thread that takes the timer out drops it: the owner if cancel returns true,
 * otherwise the firing thread, after its last touch.
 *
 *	a timer is to fire, and looks at `blocked` then  <=>  fired != armed
 *
 * That is why no wake is lost; the clock is no part of the argument. No fence
 * orders the reading of a clock: on aarch64 the owner may read "not yet" while
 * its store to `blocked` is still on its way, and the timer's thread may read
 * "past" and not blocked. The count also covers a timer that fires late, after
 * the owner has failed to cancel it and has armed it again.
 */
#include <weir/delay.h>

#include <errno.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"

WEIR__CHECK_OTHER_PORT(struct weir_delay);

static void delay_fire(struct weir_timer *timer)
{
	struct weir_delay *delay =
		weir_container_of(timer, struct weir_delay, timer);
	struct weir_actor *actor = delay->port.actor;

	ck_pr_inc_32(&delay->fired);
	/* atomic -> load: published before we look at `blocked` (rule 2);
	 * pairs with the fence of the arming, after which the owner looks at
	 * `fired` again. */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&delay->port);
	weir_actor_unref(actor);
}

static void disarm(struct weir_delay *delay)
{
	struct weir_actor *actor = delay->port.actor;

	if (weir_timer_cancel(actor->executor, &delay->timer)) {
		delay->armed--;
		weir_actor_unref(actor);
	}
	delay->at_ns = WEIR_FOREVER;
}

int weir_delay_until(struct weir_delay *delay, uint64_t at_ns)
{
	int rc = weir__port_check_owner(delay ? &delay->port : NULL);
	struct weir_actor *actor;

	if (rc < 0)
		return rc;
	actor = delay->port.actor;
	disarm(delay);
	if (at_ns != WEIR_FOREVER) {
		weir_actor_ref(actor);
		rc = weir_timer_arm(actor->executor, &delay->timer, at_ns);
		if (rc < 0) {
			weir_actor_unref(actor);
			return rc;
		}
		delay->armed++;
	}
	delay->at_ns = at_ns;
	return 0;
}

int weir_delay_for(struct weir_delay *delay, uint64_t delay_ns)
{
	uint64_t now;

	if (!delay)
		return -EINVAL;
	now = weir_executor_now(delay->port.actor->executor);
	return weir_delay_until(delay, delay_ns < WEIR_FOREVER - now
					       ? now + delay_ns
					       : WEIR_FOREVER);
}

static uint32_t delay_available(struct weir_port *port)
{
	struct weir_delay *delay = (struct weir_delay *)port;

	if (delay->at_ns == WEIR_FOREVER)
		return 0;
	/* No acquire: nothing but the count itself is read. */
	return ck_pr_load_32(&delay->fired) == delay->armed ||
	       weir_executor_now(port->actor->executor) >= delay->at_ns;
}

static void delay_close(struct weir_port *port, struct weir_error *error)
{
	(void)error;
	disarm((struct weir_delay *)port);
}

static WEIR__LOOKS void delay_look(const struct weir_port *port,
				   struct weir__look *look)
{
	look->seen->at_ns = ((const struct weir_delay *)port)->at_ns;
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields = {WEIR__FIELD(PORT_AT_NS, struct weir_delay, at_ns), {0}},
};

static const struct weir__port_ops delay_ops = {
	.waits = true,
	.awaits = WEIR_WAIT_TIME,
	.look = delay_look,
	.layout = &layout,
	.available = delay_available,
	.close = delay_close,
};

int weir_delay_init(struct weir_delay *delay, struct weir_actor *actor)
{
	int rc = weir__port_check_init(delay, actor);

	if (rc < 0)
		return rc;
	if (!actor->executor->ops->timer_arm)
		return -ENOTSUP;
	delay->ops = &delay_ops;
	delay->timer = (struct weir_timer){.fire = delay_fire};
	delay->at_ns = WEIR_FOREVER;
	delay->armed = 0;
	ck_pr_store_32(&delay->fired, 0);
	weir__port_init(&delay->port, actor, WEIR__PORT_OTHER);
	return 0;
}
