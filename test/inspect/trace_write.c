/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is written of events, to the letter. What programs write is read by
 * traced.py.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "inspect/trace.h"

static struct weir_trace *trace;
static struct weir__track *tracks[2];

/* A trace that has stopped after 1000 ticks of a nanosecond, with two tracks. */
static int setup(void **state)
{
	const struct weir_trace_options options = {.threads = 2};
	int i;

	if (weir_trace_new(&trace, &options, NULL) < 0 ||
	    weir_trace_stop(trace) < 0)
		return -1;
	trace->stop_ns = trace->ns + 1000;
	trace->stop_ticks = trace->ticks + 1000;
	for (i = 0; i < 2; i++) {
		trace->riders[i].state = WEIR__RIDER_HERE;
		trace->riders[i].threads = 1;
		trace->riders[i].tid = (uint32_t)(i + 1);
		strcpy(trace->riders[i].name, i ? "two" : "one");
		tracks[i] = &trace->riders[i].track;
	}
	return 0;
}

static int teardown(void **state)
{
	weir_trace_free(trace);
	return 0;
}

static uint32_t name_of(const char *name)
{
	static uint32_t last;
	struct weir__label *label = weir__label_at(trace->labels, ++last);

	label->number = last;
	strcpy(label->text, name);
	return last;
}

static void add(int track, uint64_t from, uint64_t to, uint64_t actor,
		uint64_t what)
{
	const struct weir__event event = {
		.from = trace->ticks + from,
		.to = trace->ticks + to,
		.actor = actor,
		.what = what,
	};

	weir__track_add(tracks[track], &event);
}

static uint64_t slice_of(enum weir_wait wait, uint32_t place, uint32_t name)
{
	return weir__event_what(WEIR__EVENT_SLICE, (uint32_t)wait, place, name);
}

/* All events but those of names, of which each begins a line. */
static void assert_written(const char *expected, const char *foot)
{
	static char text[1 << 16];
	char all[4096];
	FILE *file = tmpfile();
	size_t n;
	const char *at;

	assert_non_null(file);
	assert_int_equal(weir_trace_write(trace, fileno(file)), 0);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	assert_int_equal(fclose(file), 0);
	at = strstr(text, "\"tid\":2,\"args\":{\"name\":\"two\"}}");
	assert_non_null(at);
	at += strlen("\"tid\":2,\"args\":{\"name\":\"two\"}}");
	(void)snprintf(all, sizeof(all),
		       "%s],\n\"otherData\":{\"unsafe\":false,%s}}\n", expected,
		       foot);
	while (strstr(all, "PID")) { /* as long as the number */
		char *pid = strstr(all, "PID"), digits[24], rest[4096];

		(void)snprintf(digits, sizeof(digits), "%u", trace->out.pid);
		strcpy(rest, pid + 3);
		(void)snprintf(pid, sizeof(all) - (size_t)(pid - all), "%s%s",
			       digits, rest);
	}
	assert_string_equal(at, all);
}

#define FOOT(events) \
	"\"events\":" #events ",\"overwritten\":0,\"lost\":0,\"unpaired\":0"

static void a_slice_has_a_thread_and_an_actor(void **state)
{
	add(1, 100, 250, 0xabc, slice_of(WEIR_WAIT_NONE, 0, name_of("a")));
	assert_written(
		",\n{\"name\":\"a\",\"cat\":\"slice\",\"ph\":\"X\",\"ts\":0.100,"
		"\"pid\":PID,\"tid\":2,\"dur\":0.150,\"args\":{\"actor\":"
		"\"0xabc\"}}",
		FOOT(1));
}

static void a_wait_goes_over_threads(void **state)
{
	uint32_t name = name_of("a");

	add(1, 300, 400, 0xa, slice_of(WEIR_WAIT_NONE, 0, name));
	add(0, 100, 200, 0xa, slice_of(WEIR_WAIT_ROOM, 3, name));
	trace->categories = WEIR_TRACE_WAITS;
	assert_written(
		",\n{\"name\":\"a waits for room\",\"cat\":\"wait\",\"ph\":\"b\","
		"\"ts\":0.200,\"pid\":PID,\"id\":\"0xa\",\"args\":{\"port\":3}}"
		",\n{\"name\":\"a waits for room\",\"cat\":\"wait\",\"ph\":\"e\","
		"\"ts\":0.300,\"pid\":PID,\"id\":\"0xa\"}",
		FOOT(2));
}

static void names_are_quoted(void **state)
{
	trace->categories = WEIR_TRACE_RESTARTS;
	add(0, 1, 1, 0,
	    weir__event_what(WEIR__EVENT_RESTART, 0, 0,
			     name_of("\"\\\n\xc3\xa4 \xff\xc0\x80 \xed\xa0\x80 "
				     "\xf0\x9f\x98\x80\xe2\x82")));
	assert_written(
		",\n{\"name\":\"\\\"\\\\ \xc3\xa4 ??? ??? \xf0\x9f\x98\x80?? "
		"restarts\",\"cat\":\"restart\",\"ph\":\"i\",\"ts\":0.001,"
		"\"pid\":PID,\"tid\":1,\"s\":\"t\"}",
		FOOT(1));
}

static void requests_are_counters(void **state)
{
	trace->categories = WEIR_TRACE_REQUESTS;
	add(0, 1, 1, 64,
	    weir__event_what(WEIR__EVENT_REQUEST, 0, 0, name_of("r")));
	assert_written(",\n{\"name\":\"r\",\"cat\":\"request\",\"ph\":\"C\","
		       "\"ts\":0.001,\"pid\":PID,\"args\":{\"requested\":64}}",
		       FOOT(1));
}

/* Nobody knows which was the actor's next slice. */
static void a_loss_makes_waits_uncertain(void **state)
{
	uint32_t name = name_of("a");

	trace->categories = WEIR_TRACE_WAITS;
	add(0, 100, 200, 0xa, slice_of(WEIR_WAIT_TIME, 0, name));
	add(1, 250, 300, 7, weir__event_what(WEIR__EVENT_LOST, 0, 0, 0));
	add(0, 400, 500, 0xa, slice_of(WEIR_WAIT_NONE, 0, name));
	assert_written(
		",\n{\"name\":\"a waits for a time\",\"cat\":\"wait\",\"ph\":"
		"\"b\",\"ts\":0.200,\"pid\":PID,\"id\":\"0xa\",\"args\":{"
		"\"port\":0}}"
		",\n{\"name\":\"events lost\",\"cat\":\"lost\",\"ph\":\"i\","
		"\"ts\":0.250,\"pid\":PID,\"tid\":2,\"s\":\"t\",\"args\":{"
		"\"events\":7,\"until\":0.300}}"
		",\n{\"name\":\"a waits for a time\",\"cat\":\"wait\",\"ph\":"
		"\"e\",\"ts\":0.400,\"pid\":PID,\"id\":\"0xa\",\"args\":{"
		"\"uncertain\":true}}",
		FOOT(3));
}

static void a_wait_that_goes_on_is_open(void **state)
{
	trace->categories = WEIR_TRACE_WAITS;
	add(0, 100, 200, 0xa, slice_of(WEIR_WAIT_FD, 0, name_of("a")));
	assert_written(
		",\n{\"name\":\"a waits for a descriptor\",\"cat\":\"wait\","
		"\"ph\":\"b\",\"ts\":0.200,\"pid\":PID,\"id\":\"0xa\",\"args\":"
		"{\"port\":0}}"
		",\n{\"name\":\"a waits for a descriptor\",\"cat\":\"wait\","
		"\"ph\":\"e\",\"ts\":1.000,\"pid\":PID,\"id\":\"0xa\",\"args\":"
		"{\"open\":true}}",
		FOOT(1));
}

static void a_name_that_is_lost_is_told(void **state)
{
	trace->categories = WEIR_TRACE_SLICES;
	add(0, 1, 2, 0xa, slice_of(WEIR_WAIT_NONE, 0, 12345));
	assert_written(
		",\n{\"name\":\"(name lost)\",\"cat\":\"slice\",\"ph\":\"X\","
		"\"ts\":0.001,\"pid\":PID,\"tid\":1,\"dur\":0.001,\"args\":{"
		"\"actor\":\"0xa\"}}",
		FOOT(1));
}

/* Before what is left of the one track, the other's events pair with some that
 * are not there any more. */
static void waits_begin_where_all_events_are_left(void **state)
{
	uint32_t name = name_of("a");
	uint64_t i;
	char text[64];

	trace->categories = WEIR_TRACE_WAITS;
	add(0, 1, 2, 0xa, slice_of(WEIR_WAIT_FD, 0, name));
	for (i = 0; i < WEIR__TRACK_EVENTS + 100; i++)
		add(1, 10 + i / 100, 10 + i / 100, 0xb,
		    slice_of(WEIR_WAIT_NONE, 0, name));
	i = 100 + 1 + WEIR__TRACK_EVENTS / 16;
	(void)snprintf(text, sizeof(text),
		       "\"events\":%u,\"overwritten\":%u,\"lost\":0,"
		       "\"unpaired\":0",
		       (unsigned)(WEIR__TRACK_EVENTS + 101 - i), (unsigned)i);
	assert_written("", text);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		test(a_slice_has_a_thread_and_an_actor),
		test(a_wait_goes_over_threads),
		test(names_are_quoted),
		test(requests_are_counters),
		test(a_loss_makes_waits_uncertain),
		test(a_wait_that_goes_on_is_open),
		test(a_name_that_is_lost_is_told),
		test(waits_begin_where_all_events_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
