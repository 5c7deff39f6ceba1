/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about drains and aborts share, whether the registry is used
 * with its lock or by an executor's own threads. All take the scene.
 */
#ifndef DRAINS_H
#define DRAINS_H

/* Setups: node 1 of two sinks has started; a sink is stopped; it is drained. */
void one_of_two(void *context);
void stopped_sink(void *context);
void drained_sink(void *context);

/* What threads do. */
void start_0(void *context);
void drain(void *context);
void abort_all(void *context);
void pass_deadline(void *context);

/* Checks: drained with nobody left; or one, if the deadline was first. */
void is_drained(void *context);
void is_drained_once(void *context);

#endif
