/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that a client of the inspector asks for: `trace SECONDS`. */
#ifndef WEIR_INSPECT_TRACE_ANSWER_H
#define WEIR_INSPECT_TRACE_ANSWER_H

#include <stdint.h>

#include "inspect/answer.h"

#define WEIR__TRACE_S_MAX 60u

struct weir_trace;

/*
 * 0: the line asks for a trace of *ns. -ENOENT: it asks for something else.
 * -EINVAL: for no time, one that is too long, or that is no number.
 */
int weir__trace_asked(const char *line, uint64_t *ns);

/* The events that a flight recorder has, which is stopped. 0, -ENOMEM, or what
 * memfd_create(2) reports. */
int weir__trace_answer(struct weir_trace *trace,
		       const struct weir_allocator *allocator,
		       struct weir__answer *answer);

#endif
