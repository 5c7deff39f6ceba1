/* SPDX-License-Identifier: BSD-2-Clause */
#include "command/remains.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/attach.h"
#include "base/memory.h"
#include "inspect/answer.h"

/* Between two looks: what stands still, stands still so long. */
#define SETTLE_NS 10000000u

static const struct weir__reader_options options = {.settle_ns = SETTLE_NS};

/* Frees the snapshot. */
static int answer(struct weir_snapshot *snapshot, const char *line, char **text,
		  char *message)
{
	const struct weir_allocator *allocator = weir_allocator_default();
	struct weir__answer made;
	int rc = weir__answer_snapshot(line, snapshot, allocator, &made);

	weir_snapshot_free(snapshot);
	if (rc == 0) {
		*text = strdup(made.text);
		weir__free(allocator, made.text, made.size);
		rc = *text ? 0 : -ENOMEM;
	}
	if (rc < 0)
		(void)snprintf(message, WEIR__READER_MESSAGE, "no memory");
	return rc;
}

int ask_memory(pid_t pid, const char *line, char **text,
	       char message[WEIR__READER_MESSAGE])
{
	struct weir_snapshot *snapshot;
	int rc = weir__attach_process(&snapshot, pid, &options, message);

	return rc < 0 ? rc : answer(snapshot, line, text, message);
}

int ask_core(const char *core, const char *exe, const char *line, char **text,
	     char message[WEIR__READER_MESSAGE])
{
	struct weir_snapshot *snapshot;
	int rc = weir__attach_core(&snapshot, core, exe, &options, message);

	return rc < 0 ? rc : answer(snapshot, line, text, message);
}
