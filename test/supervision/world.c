/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/world.h"

const char *const when_names[] = {
	"pre_start", "pre_restart", "reset",	   "post_restart", "post_stop",
	"stopping",  "terminated",  "child_ended", "signalled",	   "ended",
};

const struct weir_rule by_code_rules[3] = {
	{.code = RESUME, .directive = WEIR_DIRECTIVE_RESUME},
	{.code = RESTART, .directive = WEIR_DIRECTIVE_RESTART},
	{.code = STOP, .directive = WEIR_DIRECTIVE_STOP},
};

const struct weir_strategy by_code = {BY_CODE};

/* --- The log -------------------------------------------------------------- */

void note(struct world *world, const char *who, const char *format, ...)
{
	struct event *event = &world->log[world->n_log++];
	va_list arguments;

	assert_true(world->n_log < LOG_MAX);
	event->who = who;
	va_start(arguments, format);
	vsnprintf(event->text, sizeof(event->text), format, arguments);
	va_end(arguments);
}

const char *told(struct world *world, const char *who)
{
	size_t i, length = 0;

	world->text[0] = 0;
	for (i = 0; i < world->n_log; i++)
		if (!who || !strcmp(world->log[i].who, who))
			length += (size_t)snprintf(world->text + length,
						   sizeof(world->text) - length,
						   "%s%s", length ? " " : "",
						   world->log[i].text);
	assert_true(length < sizeof(world->text));
	return world->text;
}

size_t times(const struct world *world, const char *text)
{
	size_t i, n = 0;

	for (i = 0; i < world->n_log; i++)
		n += !strcmp(world->log[i].text, text);
	return n;
}

size_t place(const struct world *world, const char *text)
{
	size_t i;

	assert_int_equal(times(world, text), 1);
	for (i = 0; strcmp(world->log[i].text, text) != 0; i++)
		;
	return i;
}

bool before(const struct world *world, const char *first, const char *second)
{
	return place(world, first) < place(world, second);
}

void log_clear(struct world *world)
{
	world->n_log = 0;
}
