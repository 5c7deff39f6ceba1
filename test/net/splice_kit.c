/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/splice_kit.h"

struct spliced spliced;

const int spliced_families[3][2] = {{AF_INET, AF_INET},
				    {AF_UNIX, AF_UNIX},
				    {AF_INET, AF_UNIX}};

void spliced_make(int i, int family)
{
	net_connect(&spliced.net, family, NULL);
	spliced.joined[i] = spliced.net.connection;
	spliced.peers[i] = spliced.net.peer;
	spliced.net.connection = NULL;
	spliced.net.peer = -1;
}

void spliced_begin_with(const struct kind *kind, const int *pair,
			const struct weir_connection_pipe_options *options)
{
	int i;

	net_begin(&spliced.net, kind);
	for (i = 0; i < 2; i++)
		spliced_make(i, pair[i]);
	net_start(&spliced.net,
		  weir_connection_pipe(spliced.joined[0], spliced.joined[1],
				       options));
}

void spliced_begin(const struct kind *kind, const int *pair)
{
	spliced_begin_with(kind, pair, NULL);
}

void spliced_end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		weir_connection_unref(spliced.joined[i]);
		if (spliced.peers[i] >= 0)
			assert_int_equal(close(spliced.peers[i]), 0);
	}
	net_end(&spliced.net);
}

void spliced_peer_ends(int i)
{
	assert_int_equal(shutdown(spliced.peers[i], SHUT_WR), 0);
	expect_end(&spliced.net, spliced.peers[!i]);
}
