/* SPDX-License-Identifier: BSD-2-Clause */
/* What child processes may leave behind: zombies, processes, descriptors. */
#ifndef WEIR_TEST_KIT_LEFTOVERS_H
#define WEIR_TEST_KIT_LEFTOVERS_H

#include <stddef.h>

struct leftovers {
	size_t n_fds;
};

/* Notes what is open. From now on orphans of a child come to this process. */
void leftovers_note(struct leftovers *leftovers);

/* Nothing more is open, and this process has no child, dead or alive. */
void leftovers_check(const struct leftovers *leftovers);

/* Waits for `n` orphans that have been killed. */
void leftovers_killed(size_t n);

#endif
