/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots for Prometheus, checked by the grammar of its text format 0.0.4:
 * each name has its HELP and TYPE once, before its lines, which stand together;
 * a counter is called _total, and nothing else is; labels are quoted; no two
 * lines have the same name and labels.
 */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { ROOM = 1 << 20, LINES = 4096 };

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_sampler *sampler;
static char text[ROOM];

static int setup(void **state)
{
	const struct weir_sampler_options options = {.by_hand = true};

	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_sampler_free(sampler), 0);
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

/* --- The grammar ---------------------------------------------------------- */

/* Behind a name, or `at` itself: there is none. */
static const char *past_name(const char *at)
{
	if (!isalpha((unsigned char)*at) && *at != '_')
		return at;
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at;
}

/* Behind the quotes; NULL: it is not quoted well. */
static const char *past_value(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if (*at == '\n' || *at == '\0')
			return NULL;
		if (*at == '\\' && !strchr("\\\"n", *++at))
			return NULL;
	}
	return at + 1;
}

/* Behind {a="b",c="d"}, or nothing; NULL. */
static const char *past_labels(const char *at)
{
	const char *begin;

	if (*at != '{')
		return at;
	do {
		begin = ++at;
		at = past_name(at);
		if (at == begin || *at++ != '=')
			return NULL;
		at = past_value(at);
	} while (at && *at == ',');
	return at && *at == '}' ? at + 1 : NULL;
}

/* A finite number, not below 0, and the end of the line. */
static bool is_number(const char *at)
{
	size_t whole = strspn(at, "0123456789");

	at += whole;
	if (*at == '.')
		at += 1 + strspn(at + 1, "0123456789");
	return whole > 0 && *at == '\n';
}

static size_t line_length(const char *line)
{
	return strcspn(line, "\n") + 1;
}

/* What is wrong with the text; NULL: nothing. */
static const char *fault(const char *all)
{
	static const char *seen[LINES], *heads[64];
	static size_t lengths[LINES];
	const char *line, *name, *end;
	size_t n_seen = 0, n_heads = 0, length, i;
	bool counter = false, typed = false;

	if (!*all || all[strlen(all) - 1] != '\n')
		return "no end of line";
	for (line = all; *line; line += line_length(line)) {
		if (strncmp(line, "# HELP ", 7) == 0) {
			name = line + 7;
			length = (size_t)(past_name(name) - name);
			if (length == 0 || name[length] != ' ')
				return "a HELP without a name";
			for (i = 0; i < n_heads; i++)
				if (strncmp(heads[i], name, length + 1) == 0)
					return "a name twice";
			assert_true(n_heads < 64);
			heads[n_heads++] = name;
			typed = false;
			continue;
		}
		if (n_heads == 0)
			return "a line before its HELP";
		name = heads[n_heads - 1];
		length = (size_t)(past_name(name) - name);
		if (strncmp(line, "# TYPE ", 7) == 0) {
			if (strncmp(line + 7, name, length + 1) != 0)
				return "a TYPE of another name";
			end = line + 7 + length + 1;
			counter = strncmp(end, "counter\n", 8) == 0;
			if (!counter && strncmp(end, "gauge\n", 6) != 0)
				return "an unknown type";
			if (counter !=
			    (length > 6 &&
			     strncmp(name + length - 6, "_total", 6) == 0))
				return "a counter is called _total";
			typed = true;
			continue;
		}
		if (!typed)
			return "a line before its TYPE";
		end = past_name(line);
		if ((size_t)(end - line) != length ||
		    strncmp(line, name, length) != 0)
			return "a line of another name";
		end = past_labels(end);
		if (!end || *end != ' ')
			return "labels";
		length = (size_t)(end - line);
		for (i = 0; i < n_seen; i++)
			if (lengths[i] == length &&
			    strncmp(seen[i], line, length) == 0)
				return "a line twice";
		assert_true(n_seen < LINES);
		lengths[n_seen] = length;
		seen[n_seen++] = line;
		if (!is_number(end + 1))
			return "a number";
	}
	return NULL;
}

static void the_grammar_finds_faults(void **state)
{
	static const char head[] = "# HELP a_b Help.\n# TYPE a_b gauge\n";
	static const struct {
		const char *text, *fault;
	} all[] = {
		{"a_b 1\n", NULL},
		{"a_b{c=\"d\"} 1\na_b{c=\"e\"} 0.5\n", NULL},
		{"a_b{c=\"\\\\ \\\" \\n\",d=\"\"} 1\n", NULL},
		{"a_b 1", "no end of line"},
		{"a_c 1\n", "a line of another name"},
		{"a_b{c=d} 1\n", "labels"},
		{"a_b{c=\"d} 1\n", "labels"},
		{"a_b{c=\"\\d\"} 1\n", "labels"},
		{"a_b{c=\"d\",} 1\n", "labels"},
		{"a_b{1=\"d\"} 1\n", "labels"},
		{"a_b 1,5\n", "a number"},
		{"a_b\n", "labels"},
		{"a_b -1\n", "a number"},
		{"a_b 1\na_b 2\n", "a line twice"},
		{"# HELP a_b Again.\n", "a name twice"},
		{"# TYPE a_c gauge\n", "a TYPE of another name"},
		{"# HELP a_c Help.\na_c 1\n", "a line before its TYPE"},
		{"# HELP a_c Help.\n# TYPE a_c counter\n",
		 "a counter is called _total"},
		{"# HELP c_total Help.\n# TYPE c_total gauge\n",
		 "a counter is called _total"},
		{"# HELP a_c Help.\n# TYPE a_c sum\n", "an unknown type"},
	};
	char whole[256];
	size_t i;

	assert_string_equal(fault("a_b 1\n"), "a line before its HELP");
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		(void)snprintf(whole, sizeof(whole), "%s%s", head, all[i].text);
		if (all[i].fault)
			assert_string_equal(fault(whole), all[i].fault);
		else
			assert_null(fault(whole));
	}
}

/* --- What is said --------------------------------------------------------- */

/* As the sampler knows it now. */
static void say(void)
{
	struct weir_snapshot *snapshot;

	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	assert_in_range(weir_snapshot_prometheus(snapshot, text, ROOM), 1,
			ROOM - 1);
	weir_snapshot_free(snapshot);
	if (fault(text))
		fail_msg("%s: %s", fault(text), text);
}

static void assert_said(const char *line)
{
	if (!strstr(text, line))
		fail_msg("no %s in %s", line, text);
}

static size_t n_said(const char *part)
{
	const char *at = text;
	size_t n = 0;

	for (; (at = strstr(at, part)); at++)
		n++;
	return n;
}

/* Two are linked, and the second one waits for an hour. */
static void two_init(struct node pair[static 2], const char *name)
{
	node_init(&pair[0], executor, name, 1, 1);
	node_init(&pair[1], executor, "sink", 1, 0);
	node_waits(&pair[1]);
	node_link(&pair[0], 0, &pair[1], 0);
	node_start(&pair[0]);
	node_start(&pair[1]);
}

static void run_to(uint64_t at_ns)
{
	weir_sim_run_until(sim, at_ns, UINT64_MAX);
	assert_int_equal(weir_sampler_step(sampler), 0);
}

static void two_stop(struct node pair[static 2])
{
	node_stop(&pair[0]);
	node_stop(&pair[1]);
	weir_sim_run(sim);
}

static void actors_and_links_have_lines(void **state)
{
	struct node pair[2];

	two_init(pair, "map");
	node_put(&pair[0], 0);
	node_put(&pair[0], 0);
	node_put(&pair[0], 0);
	run_to(0);
	run_to(250 * MS);
	run_to(1000 * MS);
	run_to(1500 * MS);
	say();
	assert_said("\nweir_settled 1\n");
	assert_said("\nweir_executor_actors{executor=\"0\"} 2\n");
	assert_said("\nweir_actors{wait=\"time\"} 1\n");
	assert_said("\nweir_actors{wait=\"input\"} 1\n");
	assert_said("\nweir_actor_waiting{executor=\"0\",actor=\"map\","
		    "id=\"0.1\",wait=\"input\"} 1\n");
	assert_said("\nweir_actor_waiting_seconds{executor=\"0\","
		    "actor=\"map\",id=\"0.1\"} 1.500000000\n");
	assert_said("\nweir_actor_share_ratio{executor=\"0\",actor=\"map\","
		    "id=\"0.1\",state=\"idle\"} 1.000\n");
	assert_said("\nweir_actor_holds_up_actors{executor=\"0\","
		    "actor=\"sink\",id=\"1.1\"} 1\n");
	assert_said("\nweir_link_items{executor=\"0\",actor=\"sink\","
		    "id=\"1.1\",port=\"0\",link=\"0\",from=\"map\"} 2\n");
	assert_said("\nweir_link_capacity_items{executor=\"0\","
		    "actor=\"map\",id=\"0.1\",port=\"0\",link=\"0\","
		    "from=\"\"} 4\n");
	assert_said("\n# TYPE weir_link_items_total counter\n");
	assert_said("\nweir_link_items_total{executor=\"0\",actor=\"sink\","
		    "id=\"1.1\",port=\"0\",link=\"0\",from=\"map\"} 3\n");
	assert_said("\nweir_link_high_items{executor=\"0\",actor=\"sink\","
		    "id=\"1.1\",port=\"0\",link=\"0\",from=\"map\"} 2\n");
	assert_said("\nweir_rest_actors 0\n");
	two_stop(pair);
}

static void what_is_not_known_is_left_out(void **state)
{
	struct weir_snapshot *snapshot;
	struct node pair[2];

	two_init(pair, "map");
	node_put(&pair[0], 0);
	run_to(0);
	snapshot = taken(executor);
	(void)weir_snapshot_prometheus(snapshot, text, ROOM);
	weir_snapshot_free(snapshot);
	assert_null(fault(text));
	assert_int_equal(n_said("weir_actor_waiting_seconds{"), 0);
	assert_int_equal(n_said("weir_actor_share_ratio{"), 0);
	assert_int_equal(n_said("weir_link_high_items{"), 0);
	assert_int_equal(n_said("weir_link_items_total{"), 2);
	two_stop(pair);
}

static void names_are_quoted_and_utf8(void **state)
{
	static const struct {
		const char *name, *said;
	} all[] = {
		{"a\"b\\c\nd", "actor=\"a\\\"b\\\\c d\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		 "actor=\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"x\xff\xc3y", "actor=\"x??y\""},
		/* longer than need be; a surrogate; above U+10FFFF; cut */
		{"\xc1\x81", "\"??\""},
		{"\xe0\x81\x81", "\"???\""},
		{"\xed\xa0\x80", "\"???\""},
		{"\xf0\x82\x82\xac", "\"??"},
		{"\xf4\x90\x80\x80", "\"??"},
		{"ab\xe2\x82", "actor=\"ab??\""},
	};
	struct node pair[2];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		two_init(pair, all[i].name);
		say();
		assert_said(all[i].said);
		two_stop(pair);
	}
}

static void of_many_a_hundred_are_shown(void **state)
{
	enum { N = 150 };
	static struct node many[N], pair[2];
	size_t i;

	for (i = 0; i < N; i++) {
		node_init(&many[i], executor, "many", 2, 0);
		node_start(&many[i]);
		node_put(&many[i], 0);
	}
	two_init(pair, "map");
	node_put(&pair[0], 0);
	node_put(&pair[0], 0);
	run_to(0);
	for (i = 0; i < N; i++)
		weir_actor_suspend(&many[i].actor);
	say();
	assert_int_equal(n_said("\nweir_actor_waiting{"), 100);
	assert_int_equal(n_said("\nweir_link_items{"), 100);
	assert_said("\nweir_executor_actors{executor=\"0\"} 152\n");
	assert_said("\nweir_rest_actors 52\n");
	/* of 302 links */
	assert_said("\nweir_rest_links 202\n");
	assert_said("\nweir_rest_capacity_items 808\n");
	for (i = 0; i < N; i++)
		node_stop(&many[i]);
	two_stop(pair);
}

static void who_holds_up_is_among_the_hundred(void **state)
{
	enum { N = 150 };
	static struct node many[N], pair[2];
	size_t i;

	for (i = 0; i < N; i++) {
		node_init(&many[i], executor, "many", 1, 0);
		node_start(&many[i]);
	}
	two_init(pair, "map");
	node_put(&pair[0], 0);
	node_put(&pair[0], 0);
	run_to(0);
	say();
	assert_said("\nweir_actor_holds_up_actors{executor=\"0\","
		    "actor=\"sink\",id=\"151.1\"} 1\n");
	for (i = 0; i < N; i++)
		node_stop(&many[i]);
	two_stop(pair);
}

static void text_without_room_is_cut_and_counted(void **state)
{
	static char cut[ROOM];
	struct weir_snapshot *snapshot;
	struct node pair[2];
	size_t n, room;

	two_init(pair, "map");
	run_to(0);
	snapshot = taken(executor);
	n = weir_snapshot_prometheus(snapshot, text, ROOM);
	assert_int_equal(n, strlen(text));
	assert_int_equal(weir_snapshot_prometheus(snapshot, NULL, 0), n);
	for (room = 1; room <= n + 1; room += 61) {
		cut[room] = 'x';
		assert_int_equal(weir_snapshot_prometheus(snapshot, cut, room),
				 n);
		assert_int_equal(strlen(cut), room - 1);
		assert_memory_equal(cut, text, room - 1);
		assert_int_equal(cut[room], 'x');
	}
	assert_int_equal(weir_snapshot_prometheus(NULL, cut, ROOM), 0);
	weir_snapshot_free(snapshot);
	two_stop(pair);
}

/* Prometheus has a checker of its own, which complains about names as well. */
static void promtool_has_no_complaint(void **state)
{
	struct node pair[2];
	FILE *promtool;
	int status;

	if (system("command -v promtool >/dev/null") != 0)
		skip();
	two_init(pair, "map");
	node_put(&pair[0], 0);
	run_to(0);
	run_to(1000 * MS);
	say();
	promtool = popen("promtool check metrics >&2", "w");
	assert_non_null(promtool);
	assert_int_equal(fwrite(text, strlen(text), 1, promtool), 1);
	status = pclose(promtool);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	two_stop(pair);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_grammar_finds_faults),
		test(actors_and_links_have_lines),
		test(what_is_not_known_is_left_out),
		test(names_are_quoted_and_utf8),
		test(of_many_a_hundred_are_shown),
		test(who_holds_up_is_among_the_hundred),
		test(text_without_room_is_cut_and_counted),
		test(promtool_has_no_complaint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
