/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/answer.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/inspect.h>

#include "base/clock.h"
#include "base/memory.h"
#include "inspect/table.h"
#include "inspect/onlooker.h"

#define NAMED_MAX 8u /* actors of the same name are told */

static const char help[] =
	"why [ACTOR]  who holds the others up, or why that actor waits: its\n"
	"             name, a part of it, or its number\n"
	"table [N]    actors and links, each in a line, at most so many\n"
	"             shares and rates are known when it is asked again\n"
	"prometheus   all that Prometheus scrapes\n"
	"json         all of it\n"
	"dot          the graph, for Graphviz\n"
	"trace [S]    the last events of what runs in the next S seconds, at\n"
	"             most 60; of 1 second\n"
	"help         this\n";

/* What fills up to n bytes, and says how many there are. */
struct question {
	size_t (*write)(const struct weir_snapshot *snapshot,
			const char *argument, char *text, size_t n);
	const char *name;
	bool takes_argument;
	bool repeats; /* from then on, for a while */
};

static size_t why_actor(const struct weir_snapshot *snapshot, size_t actor,
			char *text, size_t n, size_t at)
{
	return at + weir_snapshot_why_text(snapshot, actor,
					   at < n ? text + at : NULL,
					   at < n ? n - at : 0);
}

/* Those whose name is that, or has it in it. */
static size_t why_named(const struct weir_snapshot *snapshot, const char *name,
			bool whole, char *text, size_t n)
{
	size_t i, at = 0, found = 0;

	for (i = 0; i < snapshot->n_actors && found < NAMED_MAX; i++) {
		const char *own = snapshot->actors[i].name;

		if (whole ? strcmp(own, name) != 0 : !strstr(own, name))
			continue;
		if (found++) {
			if (at < n)
				(void)snprintf(text + at, n - at, "\n");
			at++;
		}
		at = why_actor(snapshot, i, text, n, at);
	}
	return at;
}

static size_t why(const struct weir_snapshot *snapshot, const char *argument,
		  char *text, size_t n)
{
	char *end;
	unsigned long number;
	size_t said;

	if (!*argument)
		return why_actor(snapshot, WEIR_NOWHERE, text, n, 0);
	number = strtoul(argument, &end, 10);
	if (!*end && isdigit((unsigned char)*argument) &&
	    number < snapshot->n_actors)
		return why_actor(snapshot, number, text, n, 0);
	said = why_named(snapshot, argument, true, text, n);
	if (!said)
		said = why_named(snapshot, argument, false, text, n);
	if (said)
		return said;
	return (size_t)snprintf(text, n, "error: there is no actor %s\n",
				argument);
}

static size_t json(const struct weir_snapshot *snapshot, const char *argument,
		   char *text, size_t n)
{
	(void)argument;
	return weir_snapshot_json(snapshot, text, n);
}

static size_t dot(const struct weir_snapshot *snapshot, const char *argument,
		  char *text, size_t n)
{
	(void)argument;
	return weir_snapshot_dot(snapshot, text, n);
}

static size_t table(const struct weir_snapshot *snapshot, const char *argument,
		    char *text, size_t n)
{
	unsigned long rows = strtoul(argument, NULL, 10);

	return weir__snapshot_table(
		snapshot,
		rows && rows < WEIR__TABLE_ROWS ? rows : WEIR__TABLE_ROWS, text,
		n);
}

static size_t prometheus(const struct weir_snapshot *snapshot,
			 const char *argument, char *text, size_t n)
{
	(void)argument;
	return weir_snapshot_prometheus(snapshot, text, n);
}

static const struct question questions[] = {
	{why, "why", true, false},
	{table, "table", true, true},
	{prometheus, "prometheus", false, true},
	{json, "json", false, false},
	{dot, "dot", false, false},
};

static int room_for(struct weir__answer *answer, size_t n,
		    const struct weir_allocator *allocator)
{
	*answer = (struct weir__answer){
		.text = weir__alloc(allocator, n + 1),
		.size = n + 1,
		.n = n,
	};
	return answer->text ? 0 : -ENOMEM;
}

int weir__answer_text(const char *text, const struct weir_allocator *allocator,
		      struct weir__answer *answer)
{
	size_t n = strlen(text);
	int rc = room_for(answer, n, allocator);

	if (rc == 0)
		memcpy(answer->text, text, n + 1);
	return rc;
}

/* The snapshot is what it is, so it is as long the second time. */
static int write_all(const struct question *question, const char *argument,
		     const struct weir_snapshot *snapshot,
		     const struct weir_allocator *allocator,
		     struct weir__answer *answer)
{
	int rc = room_for(answer, question->write(snapshot, argument, NULL, 0),
			  allocator);

	if (rc == 0)
		(void)question->write(snapshot, argument, answer->text,
				      answer->size);
	return rc;
}

/* NULL: it is none. */
static const struct question *find(const char *line, const char **argument)
{
	size_t word = strcspn(line, " "), i;

	*argument = line + word + strspn(line + word, " ");
	for (i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		if (strncmp(questions[i].name, line, word) == 0 &&
		    questions[i].name[word] == '\0')
			return **argument && !questions[i].takes_argument
				       ? NULL
				       : &questions[i];
	return NULL;
}

static int answer_other(const char *line,
			const struct weir_allocator *allocator,
			struct weir__answer *answer)
{
	return weir__answer_text(
		strcmp(line, "help") == 0
			? help
			: "error: that is not known here; ask for help\n",
		allocator, answer);
}

int weir__answer(const char *line, struct weir__onlooker *onlooker,
		 const struct weir_allocator *allocator,
		 struct weir__answer *answer)
{
	uint64_t now_ns = weir__clock_ns();
	const struct question *question;
	struct weir_snapshot *snapshot;
	const char *argument;
	int rc;

	question = find(line, &argument);
	if (!question)
		return answer_other(line, allocator, answer);
	if (question->repeats)
		weir__onlooker_ask(onlooker, now_ns);
	rc = weir__onlooker_snapshot(onlooker, now_ns, &snapshot);
	if (rc < 0)
		return rc;
	rc = write_all(question, argument, snapshot, allocator, answer);
	weir_snapshot_free(snapshot);
	return rc;
}

int weir__answer_snapshot(const char *line,
			  const struct weir_snapshot *snapshot,
			  const struct weir_allocator *allocator,
			  struct weir__answer *answer)
{
	const char *argument;
	const struct question *question = find(line, &argument);

	return question ? write_all(question, argument, snapshot, allocator,
				    answer)
			: answer_other(line, allocator, answer);
}
