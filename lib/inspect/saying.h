/* SPDX-License-Identifier: BSD-2-Clause */
/* How texts are written whose length nobody knows before. */
#ifndef WEIR_INSPECT_SAYING_H
#define WEIR_INSPECT_SAYING_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Text that may be longer than there is room for. */
struct saying {
	char *at;
	size_t room, n;
};

static inline __attribute__((format(printf, 2, 3))) void say(
	struct saying *text, const char *format, ...)
{
	size_t left = text->n < text->room ? text->room - text->n : 0;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(left ? text->at + text->n : NULL, left, format,
		      arguments);
	va_end(arguments);
	text->n += n > 0 ? (size_t)n : 0;
}

static inline struct saying text_of(char *at, size_t room)
{
	if (!at)
		room = 0;
	if (room)
		at[0] = '\0';
	return (struct saying){at, room, 0};
}

#endif
