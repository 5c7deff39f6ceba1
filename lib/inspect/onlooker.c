/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/onlooker.h"

#include <weir/inspect.h>

#include "base/clock.h"

#define PERIOD_NS UINT64_C(20000000)
#define SETTLE_NS UINT64_C(1000000)
#define SHARE 20u /* one of so many nanoseconds is spent with looks */

/* Without memory it has not looked. */
static void look(struct weir__onlooker *self, uint64_t now_ns)
{
	uint64_t began_ns = weir__clock_ns(), pause_ns;
	struct weir__snapshot *oldest = self->before;

	self->before = self->scratch;
	self->scratch = oldest;
	if (weir__snapshot_look(&self->scratch, NULL, 0, false) == 0) {
		weir__snapshot_waits(self->scratch);
		(void)weir__history_feed(&self->history, self->scratch, now_ns);
	}
	pause_ns = SHARE * (weir__clock_ns() - began_ns);
	self->next_ns = now_ns + (pause_ns > PERIOD_NS ? pause_ns : PERIOD_NS);
}

void weir__onlooker_ask(struct weir__onlooker *self, uint64_t now_ns)
{
	bool again = self->asked_ns &&
		     now_ns - self->asked_ns < WEIR__ONLOOKER_KEEP_NS;
	uint64_t until_ns = now_ns + (again ? WEIR__ONLOOKER_KEEP_NS
					    : WEIR__ONLOOKER_ONCE_NS);

	self->asked_ns = now_ns;
	if (self->until_ns == 0) {
		weir__history_init(&self->history, weir_allocator_default(),
				   WEIR__SECOND);
		self->next_ns = now_ns;
	}
	self->until_ns = until_ns;
}

void weir__onlooker_step(struct weir__onlooker *self, uint64_t now_ns)
{
	if (self->until_ns == 0)
		return;
	if (now_ns >= self->until_ns)
		weir__onlooker_fini(self);
	else if (now_ns >= self->next_ns)
		look(self, now_ns);
}

uint64_t weir__onlooker_left_ns(const struct weir__onlooker *self,
				uint64_t now_ns)
{
	uint64_t at_ns = self->next_ns < self->until_ns ? self->next_ns
							: self->until_ns;

	if (self->until_ns == 0)
		return UINT64_MAX;
	return at_ns > now_ns ? at_ns - now_ns : 0;
}

/* A look that others are to see. */
static int look_well(struct weir__onlooker *self, uint64_t now_ns,
		     struct weir__snapshot **at)
{
	const struct weir__history *history = &self->history;
	int rc = weir__snapshot_look(at, NULL, 0, true);

	if (rc == 0)
		rc = weir__snapshot_connect(*at);
	if (rc == 0)
		rc = weir__history_feed(&self->history, *at, now_ns);
	if (rc < 0)
		return rc;
	if (self->before)
		weir__snapshot_stays(*at, &self->before->seen);
	weir__snapshot_due(*at);
	weir__history_tell(history, *at);
	(*at)->seen.settled = history->still &&
			      history->now_ns - history->moved_ns >= SETTLE_NS;
	(*at)->seen.period_ns = PERIOD_NS;
	return weir__snapshot_causes(*at);
}

int weir__onlooker_snapshot(struct weir__onlooker *self, uint64_t now_ns,
			    struct weir_snapshot **snapshot)
{
	struct weir__snapshot *made = NULL;
	int rc;

	*snapshot = NULL;
	if (!self->history.any)
		return weir_snapshot_new(snapshot, NULL, 0, SETTLE_NS);
	rc = look_well(self, now_ns, &made);
	if (rc == 0)
		*snapshot = &made->seen;
	else
		weir_snapshot_free(made ? &made->seen : NULL);
	return rc;
}

void weir__onlooker_fini(struct weir__onlooker *self)
{
	uint64_t asked_ns = self->asked_ns;

	if (self->until_ns)
		weir__history_fini(&self->history);
	weir_snapshot_free(self->scratch ? &self->scratch->seen : NULL);
	weir_snapshot_free(self->before ? &self->before->seen : NULL);
	*self = (struct weir__onlooker){.asked_ns = asked_ns};
}
