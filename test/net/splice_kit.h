/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of two connections that are joined share. */
#ifndef WEIR_TEST_NET_SPLICE_KIT_H
#define WEIR_TEST_NET_SPLICE_KIT_H

#include "net/kit.h"

extern struct spliced {
	struct net net; /* a run, and nothing else */
	struct weir_connection *joined[2];
	int peers[2];
} spliced;

/* Of both, and of one each. */
extern const int spliced_families[3][2];
#define for_each_pair(pair) \
	for (const int(*pair)[2] = spliced_families; \
	     pair < spliced_families + 3; pair++)

/* One of the two, with its peer. */
void spliced_make(int i, int family);
/* Joined by a run that is started, whose references are the only ones. */
void spliced_begin_with(const struct kind *kind, const int *pair,
			const struct weir_connection_pipe_options *options);
void spliced_begin(const struct kind *kind, const int *pair);
void spliced_end(void);
/* The other peer hears of it. */
void spliced_peer_ends(int i);

#endif
