/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a thread. */
#include "support.h"

#include "inspect/track.h"

static struct weir__event events[WEIR__TRACK_EVENTS];

static struct weir__track track_of(bool keeps)
{
	return (struct weir__track){.events = events, .keeps = keeps};
}

static struct weir__event event_of(uint64_t n, enum weir__event_kind kind)
{
	return (struct weir__event){
		.from = 2 * n,
		.to = 2 * n + 1,
		.actor = n,
		.what = weir__event_what(kind, 1, 2, (uint32_t)n),
	};
}

static void open_nth(struct weir__track *track, uint64_t n)
{
	weir__track_open(track, 2 * n, n,
			 weir__event_what(WEIR__EVENT_SLICE, 0, 0,
					  (uint32_t)n));
}

static void slice(struct weir__track *track, uint64_t n)
{
	struct weir__event event = event_of(n, WEIR__EVENT_SLICE);

	open_nth(track, n);
	weir__track_close(track, &event);
}

static void is_nth(const struct weir__track *track, uint64_t index, uint64_t n)
{
	struct weir__event event;

	assert_true(weir__track_load(track, index, &event));
	assert_int_equal(event.from, 2 * n);
	assert_int_equal(event.to, 2 * n + 1);
	assert_int_equal(event.actor, n);
	assert_int_equal(weir__event_name(&event), n);
	assert_int_equal(weir__event_wait(&event), 1);
	assert_int_equal(weir__event_place(&event), 2);
}

static uint64_t count_of(const struct weir__track *track)
{
	return weir__track_count(weir__track_seq(track));
}

static void the_last_events_are_there(void **state)
{
	struct weir__track track = track_of(false);
	uint64_t n = WEIR__TRACK_EVENTS + 10, i;
	struct weir__event event;

	for (i = 0; i < n; i++)
		slice(&track, i);
	assert_int_equal(count_of(&track), n);
	/* the slot of the next event is never sure */
	for (i = 0; i <= 10; i++)
		assert_false(weir__track_load(&track, i, &event));
	for (; i < n; i++)
		is_nth(&track, i, i);
	assert_int_equal(track.lost, 0);
}

static void an_open_slice_is_there_without_its_end(void **state)
{
	struct weir__track track = track_of(false);
	struct weir__event event = event_of(1, WEIR__EVENT_SLICE), seen;

	slice(&track, 0);
	open_nth(&track, 1);
	assert_true(weir__track_is_open(weir__track_seq(&track)));
	assert_int_equal(count_of(&track), 1);
	assert_true(weir__track_load(&track, 1, &seen));
	assert_int_equal(seen.from, 2);
	assert_int_equal(seen.actor, 1);
	weir__track_close(&track, &event);
	assert_false(weir__track_is_open(weir__track_seq(&track)));
	is_nth(&track, 1, 1);
}

static void an_event_in_a_slice_comes_before_it(void **state)
{
	struct weir__track track = track_of(false);
	struct weir__event request = event_of(7, WEIR__EVENT_REQUEST),
			   event = event_of(1, WEIR__EVENT_SLICE), seen;

	open_nth(&track, 1);
	weir__track_add(&track, &request);
	assert_true(weir__track_is_open(weir__track_seq(&track)));
	assert_true(weir__track_load(&track, 1, &seen));
	assert_int_equal(seen.actor, 1);
	weir__track_close(&track, &event);
	assert_int_equal(count_of(&track), 2);
	is_nth(&track, 0, 7);
	is_nth(&track, 1, 1);
}

/* A turn that may block runs a loop. */
static void a_slice_in_a_slice_splits_it(void **state)
{
	struct weir__track track = track_of(false);
	struct weir__event outer = event_of(1, WEIR__EVENT_SLICE), seen;

	outer.to = 9;
	open_nth(&track, 1);
	slice(&track, 2);
	weir__track_close(&track, &outer);
	assert_int_equal(count_of(&track), 3);
	assert_true(weir__track_load(&track, 0, &seen));
	assert_int_equal(seen.actor, 1);
	assert_int_equal(seen.to, 4);
	is_nth(&track, 1, 2);
	assert_true(weir__track_load(&track, 2, &seen));
	assert_int_equal(seen.actor, 1);
	assert_int_equal(seen.to, 9);
}

static void what_is_not_read_is_kept_and_the_rest_counted(void **state)
{
	struct weir__track track = track_of(true);
	struct weir__event seen, request = event_of(5, WEIR__EVENT_REQUEST);
	uint64_t i;

	for (i = 0; i < WEIR__TRACK_EVENTS + 3; i++)
		slice(&track, i);
	weir__track_add(&track, &request);
	assert_int_equal(count_of(&track), WEIR__TRACK_EVENTS);
	assert_int_equal(track.lost, 4);
	is_nth(&track, 0, 0);
	/* with room for one, the loss cannot be told */
	weir__track_done(&track, 1);
	slice(&track, i);
	assert_int_equal(track.lost, 5);
	weir__track_done(&track, 3);
	slice(&track, i);
	assert_int_equal(track.lost, 5);
	assert_int_equal(count_of(&track), WEIR__TRACK_EVENTS + 2);
	assert_true(weir__track_load(&track, WEIR__TRACK_EVENTS, &seen));
	assert_int_equal(weir__event_kind(&seen), WEIR__EVENT_LOST);
	assert_int_equal(seen.value, 5);
	assert_int_equal(seen.from, 2 * WEIR__TRACK_EVENTS);
	assert_int_equal(seen.to, 2 * i);
	is_nth(&track, WEIR__TRACK_EVENTS + 1, i);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_events_are_there),
		cmocka_unit_test(an_open_slice_is_there_without_its_end),
		cmocka_unit_test(an_event_in_a_slice_comes_before_it),
		cmocka_unit_test(a_slice_in_a_slice_splits_it),
		cmocka_unit_test(what_is_not_read_is_kept_and_the_rest_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
