/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting into an in-port without a link, or into that of an actor which is its
 * mailbox, and ending what was put.
 */
#include "actor/in.h"

#include <errno.h>

#include <weir/tell.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"
#include "executor/registry.h"

static int check_put(const struct weir_in *in)
{
	if (!in || !in->lane.words)
		return -EINVAL;
	if (in->merge ? in->merge->rule != WEIR_MERGE_OPEN
		      : (in->taker.flags &
			 (WEIR__IN_LINKED | WEIR__IN_SUBSCRIBES)) != 0)
		return -EISCONN;
	return 0;
}

/*
 * The lane was shut while the caller filled `n` slots. A single token goes back
 * to the caller (-EPIPE) unless the consumer has taken it. Of several tokens
 * those that the consumer has not taken are dropped here, since the others may
 * be taken.
 */
static __attribute__((noinline)) int take_back(struct weir_in *in,
					       uint32_t index, uint32_t n)
{
	uint32_t i, n_dropped = 0;
	void *item;

	for (i = 0; i < n; i++) {
		if (!weir__mpsc_take_back(&in->lane, in->taker.mask, index + i,
					  &item))
			continue;
		if (n == 1)
			return -EPIPE;
		weir__in_drop_token(in, item);
		n_dropped++;
	}
	weir__registry_dropped(in->port.actor->executor, n_dropped);
	return 0;
}

/* Puts all `n` items, or none. */
static inline int put(struct weir_in *in, void *const *items, uint32_t n)
{
	int64_t index = weir__mpsc_push_n(&in->lane, in->taker.mask, items, n);

	if (index < 0)
		return (int)index;
	if (WEIR_UNLIKELY(weir__mpsc_is_shut(&in->lane)))
		return take_back(in, (uint32_t)index, n);
	weir__port_unblock(&in->port);
	return 0;
}

int weir__in_put(struct weir_in *in, void *const *items, uint32_t n)
{
	return put(in, items, n);
}

int weir_in_put(struct weir_in *in, void *item)
{
	int rc = check_put(in);

	if (rc < 0)
		return rc;
	return put(in, &item, 1);
}

/*
 * The first in-port that was set up: in-ports stand in the list in that order.
 * Any thread; ports are only ever added.
 */
static struct weir_in *mailbox(const struct weir_actor *actor)
{
	struct weir_port *port = weir__port_load(&actor->ports);

	while (port && !weir__in_of(port))
		port = weir__port_load(&port->next);
	return port ? weir__in_of(port) : NULL;
}

int weir_actor_tell(struct weir_actor *actor, void *item)
{
	struct weir_in *in;

	if (!actor)
		return -EINVAL;
	in = mailbox(actor);
	return in ? weir_in_put(in, item) : -ENOTSUP;
}

/* Ends the put lane, once; the caller has checked that it is one. */
int weir__in_end(struct weir_in *in, struct weir_error *error)
{
	if (!weir__mpsc_close(&in->lane, error))
		return -EALREADY;
	weir__actor_signal(in->port.actor, WEIR__SIGNAL_PORTS);
	return 0;
}

int weir_in_end(struct weir_in *in, struct weir_error *error)
{
	int rc = check_put(in);

	return rc < 0 ? rc : weir__in_end(in, error);
}
