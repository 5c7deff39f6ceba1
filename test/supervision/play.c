/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/play.h"

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

void note(struct play *play, const char *who, const char *format, ...)
{
	struct event *event = &play->log[play->n_log++];
	va_list arguments;

	assert_true(play->n_log < LOG_MAX);
	event->who = who;
	va_start(arguments, format);
	vsnprintf(event->text, sizeof(event->text), format, arguments);
	va_end(arguments);
}

const char *told(struct play *play, const char *who)
{
	size_t i, length = 0;

	play->text[0] = 0;
	for (i = 0; i < play->n_log; i++)
		if (!who || !strcmp(play->log[i].who, who))
			length += (size_t)snprintf(play->text + length,
						   sizeof(play->text) - length,
						   "%s%s", length ? " " : "",
						   play->log[i].text);
	assert_true(length < sizeof(play->text));
	return play->text;
}

size_t times(const struct play *play, const char *text)
{
	size_t i, n = 0;

	for (i = 0; i < play->n_log; i++)
		n += !strcmp(play->log[i].text, text);
	return n;
}

size_t place(const struct play *play, const char *text)
{
	size_t i;

	assert_int_equal(times(play, text), 1);
	for (i = 0; strcmp(play->log[i].text, text) != 0; i++)
		;
	return i;
}

bool before(const struct play *play, const char *first, const char *second)
{
	return place(play, first) < place(play, second);
}

void log_clear(struct play *play)
{
	play->n_log = 0;
}
