/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sites: the places in the source where a fence or a read-modify-write is
 * written. Each gets a number when first met, kept for the whole program;
 * static inline functions give one object per translation unit for the same
 * place, which share the number.
 */
#include "explorer_state.h"
#include "sites.h"

#include <string.h>

struct known_site known_sites[MAX_SITES];
int n_known_sites;

static int run;

void sites_new_run(void)
{
	run++;
}

static int number_of(const struct explorer_site *site)
{
	for (int i = 1; i <= n_known_sites; i++) {
		const struct explorer_site *known = known_sites[i].site;

		if (known->line == site->line &&
		    strcmp(known->operation, site->operation) == 0 &&
		    strcmp(known->file, site->file) == 0)
			return i;
	}
	if (n_known_sites == MAX_SITES - 1)
		explorer_fail("too many fences and read-modify-writes");
	known_sites[++n_known_sites].site = site;
	return n_known_sites;
}

int site_meet(struct explorer_site *site)
{
	if (site->id == 0)
		site->id = number_of(site);
	known_sites[site->id].last_run = run;
	return site->id;
}

bool site_was_met(int id)
{
	return known_sites[id].last_run == run;
}

bool site_is_weakened(struct explorer_site *site)
{
	return site_meet(site) == explorer.weakened;
}
