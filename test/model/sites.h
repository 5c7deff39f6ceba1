/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sites that can be weakened, by number from 1.
 */
#ifndef EXPLORER_SITES_H
#define EXPLORER_SITES_H

#include "explorer_ops.h"

enum { MAX_SITES = 1024 };

struct known_site {
	const struct explorer_site *site;
	int last_run; /* in which it was met */
};

extern struct known_site known_sites[MAX_SITES];
extern int n_known_sites;

/* In the last run. */
bool site_was_met(int id);

#endif
