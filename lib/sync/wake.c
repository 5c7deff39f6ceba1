/* SPDX-License-Identifier: BSD-2-Clause */
/* A list per thread makes waking flat; only its own thread touches it. */
#include "sync/wake.h"

#include <errno.h>

__thread struct weir__fifo *weir__waking;

void weir__wake(struct weir__fifo *granted)
{
	struct weir__waiter *waiter;

	if (weir__waking) {
		weir__fifo_append(weir__waking, granted);
		return;
	}
	if (!granted->head)
		return;
	weir__waking = granted;
	while ((waiter = (struct weir__waiter *)weir__fifo_pop(granted)))
		waiter->wake(waiter);
	weir__waking = NULL;
}

void weir__wake_one(struct weir__waiter *waiter)
{
	struct weir__fifo granted = {0};

	weir__granted_push(&granted, waiter);
	weir__wake(&granted);
}

static void parked_claim_wake(struct weir__waiter *waiter)
{
	struct weir__parked_claim *self = weir_container_of(
		waiter, struct weir__parked_claim, claim.waiter);

	self->parked.waiter.wake(&self->parked.waiter);
}

void weir__parked_claim_init(struct weir__parked_claim *self)
{
	self->claim = (struct weir__claim){.waiter.wake = parked_claim_wake};
	weir__parked_init(&self->parked);
}

int weir__wake_wait_allowed(void)
{
	return weir__waking ? -EDEADLK : weir__wait_allowed();
}
