/* SPDX-License-Identifier: BSD-2-Clause */
/* How a system ends, told in the log: its hooks, and who waits for it. */
#ifndef WEIR_TEST_SUPERVISION_ENDING_H
#define WEIR_TEST_SUPERVISION_ENDING_H

#include "supervision/kit.h"

struct told_hook {
	struct weir_system_hook hook;
	struct play *play;
	const char *name;
	bool answers;	/* at once */
	bool shuts;	/* calls weir_system_stop() */
	bool is_system; /* and /system is alive then */
	bool is_user;
};

void told_run(struct weir_system_hook *hook);
void before_end(struct play *play, struct told_hook *self, const char *name,
		bool answers);
void at_termination(struct play *play, struct told_hook *self,
		    const char *name);

struct told_end {
	struct weir_await await;
	struct play *play;
	bool frees;
};

void await_end(struct play *play, struct told_end *self);
bool terminated(const struct play *play);

/* A child of /system. */
void add_system(struct play *play, const char *name);
void drain_begin(struct play *play, struct weir_ending *drain, bool abort);

#endif
