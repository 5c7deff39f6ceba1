/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace of one execution, written only while a failure is replayed, and
 * the names of objects in it.
 */
#include "explorer_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 64 * 1024, NAMES = 32 };

static char text[TEXT_SIZE];
static size_t used;

static struct name {
	uintptr_t address;
	size_t size;
	const char *name;
} names[NAMES];
static int n_names;

void trace_reset(void)
{
	used = 0;
	text[0] = '\0';
}

const char *trace_text(void)
{
	return text;
}

static void __attribute__((format(printf, 1, 0)))
append(const char *format, va_list arguments)
{
	int n = vsnprintf(text + used, TEXT_SIZE - used, format, arguments);

	if (n > 0)
		used += (size_t)n;
	if (used >= TEXT_SIZE)
		used = TEXT_SIZE - 1;
}

static void __attribute__((format(printf, 1, 2))) add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
}

void trace_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	add("\n");
}

void trace_names_reset(void)
{
	n_names = 0;
}

void explorer_name(const void *object, size_t size, const char *name)
{
	if (n_names == NAMES)
		return;
	names[n_names].address = (uintptr_t)object;
	names[n_names].size = size;
	names[n_names].name = name;
	n_names++;
}

static void add_address(uintptr_t address)
{
	for (int i = 0; i < n_names; i++) {
		uintptr_t offset = address - names[i].address;

		if (offset >= names[i].size)
			continue;
		add(" %s", names[i].name);
		if (offset > 0)
			add("+%zu", (size_t)offset);
		return;
	}
	add(" 0x%" PRIxPTR, address);
}

/* The path without what leads out of the build folder. */
const char *trace_file(const char *path)
{
	while (strncmp(path, "../", 3) == 0)
		path += 3;
	return path;
}

void trace_op(const struct explorer_site *site, const void *address,
	      const char *format, ...)
{
	va_list arguments;

	add("%4u T%d %s", explorer.steps, explorer.current,
	    site != NULL ? site->operation : "explorer");
	if (address != NULL)
		add_address((uintptr_t)address);
	add(" ");
	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	if (site != NULL)
		add("  [%s:%d %s]", trace_file(site->file), site->line,
		    site->function);
	add("\n");
}
