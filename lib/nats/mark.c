/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *end_alloc(size_t size, void *context)
{
	const struct weir_allocator *allocator = weir_allocator_default();

	return allocator->alloc(size, allocator->context);
}

static void end_free(void *memory, size_t size, void *context)
{
	const struct weir_allocator *allocator = weir_allocator_default();

	allocator->free(memory, size, allocator->context);
}

/* By it they are known. */
static const struct weir_allocator end_allocator = {end_alloc, end_free, NULL};

const struct weir__nats_mark *weir__nats_mark_of(
	const struct weir_flow_bytes *bytes)
{
	return WEIR__OWN(bytes)->allocator == &end_allocator
		       ? (const void *)bytes->data
		       : NULL;
}

struct weir_flow_bytes *weir__nats_mark_new(const char *from,
					    uint32_t partition,
					    const struct weir_error *error)
{
	struct weir_flow_bytes *bytes;
	struct weir__nats_mark *mark;
	char *at;

	if (weir_flow_bytes_new(&bytes, sizeof(*mark), &end_allocator) < 0)
		return NULL;
	mark = (void *)bytes->data;
	memset(mark, 0, sizeof(*mark));
	mark->partition = partition;
	(void)snprintf(mark->from, sizeof(mark->from), "%s", from ? from : "");
	if (error)
		(void)snprintf(mark->error, sizeof(mark->error), "%d; %s; %s",
			       error->code, error->origin,
			       error->message ? error->message : "");
	for (at = mark->error; *at; at++)
		if (*at == '\r' || *at == '\n')
			*at = ' ';
	bytes->n = 0;
	return bytes;
}

natsStatus weir__nats_mark_headers(const struct weir_flow_bytes *bytes,
				   natsMsg *msg)
{
	const struct weir__nats_mark *mark = weir__nats_mark_of(bytes);
	natsStatus s = NATS_OK;

	if (!mark)
		return NATS_OK;
	/* libnats cannot read a header without a value */
	if (mark->from[0] != '\0')
		s = natsMsgHeader_Set(msg, "Weir-From", mark->from);
	if (s == NATS_OK && mark->error[0] == '\0')
		s = natsMsgHeader_Set(msg, "Weir-End", "1");
	else if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Weir-Error", mark->error);
	return s;
}

/* "code; origin; message", as a new error. */
struct weir_error *weir__nats_mark_error(const char *text)
{
	const char *origin = strstr(text, "; "), *message;
	long code = strtol(text, NULL, 10);
	char name[WEIR__NATS_FROM_SIZE];

	origin = origin ? origin + 2 : "";
	message = strstr(origin, "; ");
	(void)snprintf(name, sizeof(name), "%.*s",
		       message ? (int)(message - origin) : 0, origin);
	return weir_error_format(code < 0 && code > -4096 ? (int)code : -EIO,
				 "nats_take", "%s: %s", name,
				 message ? message + 2 : "");
}
