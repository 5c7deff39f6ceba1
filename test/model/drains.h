/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about drains, aborts and frees share, whether the registry is used
 * with its lock or by an executor's own threads. All take the scene.
 */
#ifndef DRAINS_H
#define DRAINS_H

#include "scene.h"

/* Setups: node 1 of two sinks has started; a sink is stopped; it is drained. */
void one_of_two(void *context);
void stopped_sink(void *context);
void drained_sink(void *context);

/* What threads do. */
void start_0(void *context);
void drain(void *context);
void abort_all(void *context);
void pass_deadline(void *context);

/*
 * Setups: stopped sinks, one or two, who tell when they are released; one who
 * starts node 1 as well. What then must hold of the free: it waits for them.
 */
void telling_sink(void *context);
void telling_sinks(void *context);
void starting_sink(void *context);
void free_if_told(struct scene *s, uint32_t n, int rc);

/* Checks: drained with nobody left; or one, if the deadline was first. */
void is_drained(void *context);
void is_drained_once(void *context);

#endif
