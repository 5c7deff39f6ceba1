/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the stress tests of connections share: clients of an echo that end, reset
 * or go on, and a thread that stops connections from outside.
 */
#ifndef WEIR_TEST_NET_STRESS_KIT_H
#define WEIR_TEST_NET_STRESS_KIT_H

#include "net/kit.h"

/* Keeps a reference: it may be stopped, or another one takes its place. */
void stress_keep(struct weir_connection *connection, uint32_t i);

/* Clients come to that address, one after the other on each of some threads. What
 * an echo sends to who has ended well is all that was sent, unless it was stopped;
 * some have that. */
void stress_visits(const char *address, size_t rounds);

/* References that are kept are no more. */
void stress_forget(void);

#endif
