/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace of one execution, written only while a failure is replayed, and
 * the names of objects in it.
 */
#include "explorer_state.h"

#include <dlfcn.h>
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

/* The path without what leads out of the build folder. */
const char *trace_file(const char *path)
{
	while (strncmp(path, "../", 3) == 0)
		path += 3;
	return path;
}

const char *trace_object(const void *object)
{
	static char shown[80];
	uintptr_t address = (uintptr_t)object;

	snprintf(shown, sizeof(shown), "0x%" PRIxPTR, address);
	for (int i = 0; i < n_names; i++) {
		uintptr_t offset = address - names[i].address;

		if (offset >= names[i].size)
			continue;
		if (offset == 0)
			snprintf(shown, sizeof(shown), "%s", names[i].name);
		else
			snprintf(shown, sizeof(shown), "%s+%zu", names[i].name,
				 (size_t)offset);
		break;
	}
	return shown;
}

/* A plain access has no site, but its code has an address. */
const char *trace_code(const void *code)
{
	static char shown[128];
	Dl_info info;

	if (dladdr(code, &info) == 0)
		return "unknown code";
	snprintf(shown, sizeof(shown), "addr2line -fie %s %#zx",
		 trace_file(info.dli_fname),
		 (size_t)((uintptr_t)code - (uintptr_t)info.dli_fbase - 1));
	return shown;
}

void trace_op(const struct explorer_site *site, const void *address,
	      const char *format, ...)
{
	va_list arguments;

	add("%4u T%d %s", explorer.steps, explorer.current,
	    site != NULL ? site->operation : "explorer");
	if (address != NULL)
		add(" %s", trace_object(address));
	add(" ");
	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	if (site != NULL)
		add("  [%s:%d %s]", trace_file(site->file), site->line,
		    site->function);
	add("\n");
}
