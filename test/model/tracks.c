/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracks under all interleavings of their writer and their reader: an event that
 * is read is one that was written, whole. And turning off: who has turned it off
 * may free the trace.
 */
#include <stddef.h>
#include <stdint.h>

#define WEIR__TRACK_EVENTS UINT64_C(2)
#include "inspect/track.c"
#include "inspect/tracer.c"

#include "runner.h"

#define N_EVENTS 4

static struct world {
	struct weir__track track;
	struct weir__event events[WEIR__TRACK_EVENTS];
	struct weir__tracers tracers;
	struct weir__tracer tracer[2];
	/* What is on, a word for each tracer; plain: turning off has to order
	 * them. */
	uint32_t *trace;
	uint64_t read;
} world;

static void setup(void *context)
{
	struct world *w = context;

	w->track.events = w->events;
	explorer_name(&w->track.seq, sizeof(w->track.seq), "seq");
	explorer_name(&w->track.done, sizeof(w->track.done), "done");
	explorer_name(w->events, sizeof(w->events), "events");
}

static void setup_kept(void *context)
{
	struct world *w = context;

	setup(context);
	w->track.keeps = true;
}

static struct weir__event nth(uint64_t n)
{
	return (struct weir__event){
		.from = n + 1,
		.to = n + 1,
		.actor = n + 1,
		.what = weir__event_what(WEIR__EVENT_SLICE, 0, 0,
					 (uint32_t)(n + 1)),
	};
}

/* --- Events --------------------------------------------------------------- */

static void slice(struct world *w, uint64_t n)
{
	struct weir__event event = nth(n);

	weir__track_open(&w->track, event.from, event.actor, event.what);
	weir__track_close(&w->track, &event);
}

static void writes_slices(void *context)
{
	uint64_t n;

	for (n = 0; n < N_EVENTS; n++)
		slice(context, n);
}

static void writes_events(void *context)
{
	struct world *w = context;
	struct weir__event event;
	uint64_t n;

	for (n = 0; n < N_EVENTS; n++) {
		event = nth(n);
		weir__track_add(&w->track, &event);
	}
}

/* The second one is told while the slice of the first is open. */
static void writes_inside(void *context)
{
	struct world *w = context;
	struct weir__event outer = nth(1), inner = nth(0);

	inner.what |= WEIR__EVENT_REQUEST;
	weir__track_open(&w->track, outer.from, outer.actor, outer.what);
	weir__track_add(&w->track, &inner);
	weir__track_close(&w->track, &outer);
	slice(w, 2);
}

static bool is_nth(const struct weir__event *event, uint64_t n)
{
	return event->from == n + 1 && event->actor == n + 1 &&
	       weir__event_name(event) == n + 1;
}

static void reads(void *context)
{
	struct world *w = context;
	uint64_t seq = weir__track_seq(&w->track);
	uint64_t n = weir__track_count(seq);
	struct weir__event event;

	if (n > 0 && weir__track_load(&w->track, n - 1, &event))
		explorer_assert(is_nth(&event, n - 1) && event.to == n);
}

static void reads_open(void *context)
{
	struct world *w = context;
	uint64_t seq = weir__track_seq(&w->track);
	uint64_t n = weir__track_count(seq);
	struct weir__event event;

	if (!weir__track_is_open(seq))
		return;
	(void)weir__track_load(&w->track, n, &event);
	if (weir__track_seq(&w->track) == seq)
		explorer_assert(is_nth(&event, n) ||
				/* it has moved on */
				(n == 0 && is_nth(&event, 1)));
}

/* Of a track that keeps its events, which may have lost some. */
static void reads_all(void *context)
{
	struct world *w = context;
	uint64_t n = weir__track_count(weir__track_seq(&w->track));
	struct weir__event event;

	for (; w->read < n; w->read++) {
		explorer_assert(weir__track_load(&w->track, w->read, &event));
		explorer_assert(weir__event_kind(&event) == WEIR__EVENT_LOST ||
				(event.from == event.actor &&
				 event.from == event.to &&
				 weir__event_name(&event) == event.from));
		weir__track_done(&w->track, w->read + 1);
	}
}

static void reads_all_twice(void *context)
{
	reads_all(context);
	reads_all(context);
}

static void nothing_is_missing(void *context)
{
	struct world *w = context;
	uint64_t told = w->track.told, n = weir__track_count(w->track.seq);

	explorer_assert(n + (w->track.lost - told) >= 2);
	explorer_assert(w->track.lost <= N_EVENTS - 2);
}

static void nothing(void *context)
{
	(void)context;
}

/* --- Turning off ---------------------------------------------------------- */

static void setup_on(void *context)
{
	struct world *w = context;

	w->trace = explorer_alloc(2 * sizeof(*w->trace));
	w->trace[0] = w->trace[1] = 0;
	weir__tracers_on(&w->tracers, w->trace);
	explorer_name(&w->tracers, sizeof(w->tracers), "tracers");
	explorer_name(w->tracer, sizeof(w->tracer), "tracer");
}

static void traces(struct world *w, struct weir__tracer *self)
{
	uint32_t *trace = weir__tracer_enter(&w->tracers, self);

	if (!trace)
		return;
	if (!self->listed) {
		if (!weir__tracer_list(&w->tracers, self))
			return;
		weir__unlock(&w->tracers.lock);
	}
	explorer_assert(trace[self - w->tracer] <= 1);
	trace[self - w->tracer] = 1;
	weir__tracer_leave(self);
}

static void traces_twice(void *context)
{
	struct world *w = context;

	traces(w, &w->tracer[0]);
	traces(w, &w->tracer[0]);
}

static void turns_off(void *context)
{
	struct world *w = context;

	weir__lock(&w->tracers.lock);
	weir__tracers_off(&w->tracers);
	weir__unlock(&w->tracers.lock);
	w->trace[0] = w->trace[1] = 2;
	explorer_free(w->trace);
}

static void turns_on(void *context)
{
	struct world *w = context;

	*w->trace = 1;
	weir__lock(&w->tracers.lock);
	weir__tracers_on(&w->tracers, w->trace);
	weir__unlock(&w->tracers.lock);
}

static void setup_off(void *context)
{
	struct world *w = context;

	setup_on(context);
	w->tracers.on = NULL;
}

static void reads_on(void *context)
{
	struct world *w = context;
	uint32_t *trace = weir__tracer_enter(&w->tracers, &w->tracer[0]);

	if (!trace)
		return;
	explorer_assert(*trace == 1);
	weir__tracer_leave(&w->tracer[0]);
}

static void ends(void *context)
{
	struct world *w = context;

	traces(w, &w->tracer[1]);
	weir__lock(&w->tracers.lock);
	weir__tracer_unlist(&w->tracers, &w->tracer[1]);
	weir__unlock(&w->tracers.lock);
}

static void nobody_is_listed(void *context)
{
	struct world *w = context;

	explorer_assert(!w->tracers.first && !w->tracer[0].busy &&
			!w->tracer[1].busy);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "slices", .setup = setup,
		 .thread = {writes_slices, reads}, .check = nothing),
	SCENARIO(.name = "events", .setup = setup,
		 .thread = {writes_events, reads}, .check = nothing),
	SCENARIO(.name = "an open slice", .setup = setup,
		 .thread = {writes_slices, reads_open}, .check = nothing),
	SCENARIO(.name = "an event in a slice", .setup = setup,
		 .thread = {writes_inside, reads_open}, .check = nothing),
	SCENARIO(.name = "kept", .setup = setup_kept,
		 .thread = {writes_slices, reads_all_twice},
		 .check = nothing_is_missing),
	SCENARIO(.name = "turned off", .setup = setup_on,
		 .thread = {traces_twice, turns_off},
		 .check = nobody_is_listed),
	SCENARIO(.name = "turned off while one ends", .setup = setup_on,
		 .thread = {traces_twice, turns_off, ends},
		 .check = nobody_is_listed),
	SCENARIO(.name = "turned on", .setup = setup_off,
		 .thread = {reads_on, turns_on}, .check = nothing),
};

/* Without them a load of the reader might see what the writer stores later, which
 * the explorer has not (explorer.h). */
static const struct explorer_exception exceptions[] = {
	{"track.h", "weir__track_has_room", "ck_pr_fence_acquire", 0,
	 "orders loads of the reader before stores of the writer"},
	{"track.c", "weir__track_done", "ck_pr_fence_release", 0, "the same"},
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "events_are_whole", .groups = GROUPS(&all)},
	{.name = "events_are_whole_on_x86",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/inspect/",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
