/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/track.h"

static void put(struct weir__track *track, const struct weir__event *event)
{
	uint64_t seq = track->seq;
	struct weir__event *slot =
		weir__track_slot(track, weir__track_count(seq));

	/* as in weir__track_open() */
	ck_pr_fence_store();
	ck_pr_store_64(&slot->from, event->from);
	ck_pr_store_64(&slot->to, event->to);
	ck_pr_store_64(&slot->actor, event->actor);
	ck_pr_store_64(&slot->what, event->what);
	ck_pr_fence_release();
	ck_pr_store_64(&track->seq, seq + 2);
}

static void lose(struct weir__track *track, const struct weir__event *event)
{
	if (track->lost == track->told)
		track->lost_from = event->from;
	/* relaxed: a figure of its own */
	ck_pr_store_64(&track->lost, track->lost + 1);
}

static void tell_lost(struct weir__track *track, uint64_t to)
{
	const struct weir__event event = {
		.from = track->lost_from,
		.to = to,
		.value = track->lost - track->told,
		.what = weir__event_what(WEIR__EVENT_LOST, 0, 0, 0),
	};

	put(track, &event);
	track->told = track->lost;
}

static void add(struct weir__track *track, const struct weir__event *event)
{
	bool tells = track->lost != track->told;

	if (!weir__track_has_room(track, 1 + tells)) {
		lose(track, event);
		return;
	}
	if (tells)
		tell_lost(track, event->from);
	put(track, event);
}

void weir__track_add(struct weir__track *track, const struct weir__event *event)
{
	uint64_t seq = track->seq;
	struct weir__event open;

	if (!weir__track_is_open(seq)) {
		add(track, event);
		return;
	}
	/* it takes the slot of the open slice, which moves on */
	open = *weir__track_slot(track, weir__track_count(seq));
	ck_pr_store_64(&track->seq, seq - 1);
	add(track, event);
	weir__track_open(track, open.from, open.actor, open.what);
}

void weir__track_split(struct weir__track *track, uint64_t to)
{
	uint64_t seq = track->seq;

	ck_pr_store_64(&weir__track_slot(track, weir__track_count(seq))->to,
		       to);
	/* release: as in weir__track_open() */
	ck_pr_fence_release();
	ck_pr_store_64(&track->seq, seq + 1);
}

bool weir__track_load(const struct weir__track *track, uint64_t index,
		      struct weir__event *event)
{
	const struct weir__event *slot = weir__track_slot(track, index);

	event->from = ck_pr_load_64(&slot->from);
	event->to = ck_pr_load_64(&slot->to);
	event->actor = ck_pr_load_64(&slot->actor);
	event->what = ck_pr_load_64(&slot->what);
	if (track->keeps)
		return true; /* claim 3 */
	/* the words before the seq: claim 2; pairs with the fences of stores
	 * before the words of an event */
	ck_pr_fence_load();
	return weir__track_count(ck_pr_load_64(&track->seq)) <
	       index + WEIR__TRACK_EVENTS;
}

void weir__track_done(struct weir__track *track, uint64_t index)
{
	/* release: we have read; pairs with the acquire in
	 * weir__track_has_room() */
	ck_pr_fence_release();
	ck_pr_store_64(&track->done, index);
}
