/* SPDX-License-Identifier: BSD-2-Clause */
/* What an inspector answers to a line. */
#ifndef WEIR_INSPECT_ANSWER_H
#define WEIR_INSPECT_ANSWER_H

#include <stddef.h>

#include <weir/allocator.h>

/* A line may have so many bytes, without its end. */
#define WEIR__REQUEST_MAX 255u

struct weir__answer {
	char *text; /* of the allocator, `size` bytes */
	size_t size;
	size_t n; /* bytes of text */
};

struct weir__onlooker;
struct weir_snapshot;

/* 0 or -ENOMEM. A line that asks for nothing we know is answered, too. */
int weir__answer(const char *line, struct weir__onlooker *onlooker,
		 const struct weir_allocator *allocator,
		 struct weir__answer *answer);

/* The same of a snapshot that was taken in another way. */
int weir__answer_snapshot(const char *line,
			  const struct weir_snapshot *snapshot,
			  const struct weir_allocator *allocator,
			  struct weir__answer *answer);

/* That text, which is shorter than a request. 0 or -ENOMEM. */
int weir__answer_text(const char *text, const struct weir_allocator *allocator,
		      struct weir__answer *answer);

#endif
