/* SPDX-License-Identifier: BSD-2-Clause */
/* What an actor's ops say of its life: its hooks and its strategy. */
#include "supervision/lifecycle.h"

static const struct weir_strategy default_strategy;
static const struct weir_lifecycle no_hooks;

const struct weir_lifecycle *weir__lifecycle(const struct weir_actor *actor)
{
	const struct weir_lifecycle *hooks = actor->ops->lifecycle;

	return hooks ? hooks : &no_hooks;
}

const struct weir_strategy *weir__strategy(const struct weir_actor *actor)
{
	const struct weir_strategy *strategy = weir__lifecycle(actor)->strategy;

	return strategy ? strategy : &default_strategy;
}
