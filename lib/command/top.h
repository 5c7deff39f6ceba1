/* SPDX-License-Identifier: BSD-2-Clause */
/* A table that is drawn again and again. */
#ifndef WEIR_COMMAND_TOP_H
#define WEIR_COMMAND_TOP_H

#include <stdbool.h>
#include <stdint.h>

struct top {
	const char *whom;
	bool batch;	/* one table behind the other, for scripts */
	uint64_t times; /* 0: without end */
	uint64_t every_ms;
};

/* 0 or what ask() returns. */
int top(const struct top *top);

#endif
