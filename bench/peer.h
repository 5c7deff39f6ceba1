/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers: other libraries, each behind a program of its own (peers/), which is
 * built where its package is found. The program is started for its first run,
 * kept for the next ones and asked by a line for each, see peers/peer.hpp; its
 * answer is checked like any result.
 */
#ifndef WEIR_BENCH_PEER_H
#define WEIR_BENCH_PEER_H

#include "bench.h"

/* Says which are not built; false if none is. */
bool peer_any_built(void);

/* For a signal handler, too: ends the programs that run. */
void peer_kill_all(void);

/* Whether it is built and can run the cell. */
bool peer_has_tbb(const struct bench_cell *cell);
bool peer_has_caf(const struct bench_cell *cell);
bool peer_has_caf_stream(const struct bench_cell *cell);
bool peer_has_uv(const struct bench_cell *cell);
bool peer_has_uv_net(const struct bench_cell *cell);
bool peer_has_haproxy(const struct bench_cell *cell);
bool peer_has_erlang(const struct bench_cell *cell);

#endif
