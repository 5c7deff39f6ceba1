/* SPDX-License-Identifier: BSD-2-Clause */
/* Children that fail with every item, at a time of the virtual clock. */
#ifndef WEIR_TEST_SUPERVISION_FAILING_H
#define WEIR_TEST_SUPERVISION_FAILING_H

#include "supervision/kit.h"

/* Every item is a failure. */
static const struct step all_fail[] = {
	{"a", TURN, .fail = RESTART},
	{"b", TURN, .fail = RESTART},
	{"c", TURN, .fail = RESTART},
};

/* Fails it at that time; true: it has been restarted, or resumed. */
static inline bool survives_at(struct play *play, const char *name,
			       uint64_t at_ns)
{
	run_until(play, at_ns);
	assert_int_equal(put(play, name, 1, 1), 0);
	run_until(play, at_ns);
	return alive(play, name);
}

#endif
