/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that go from one descriptor of the test through flows of the library to
 * another, while the library's system calls do as little as they may (see
 * kit/calls.h). Each byte arrives once, in its place; nothing is left, and who
 * was told to wait has waited.
 */
#ifndef WEIR_TEST_SCENARIO_FAULTS_KIT_H
#define WEIR_TEST_SCENARIO_FAULTS_KIT_H

#include "support.h"

struct kind;

/* What becomes of the bytes. */
enum carrier {
	CARRIER_ECHO,	   /* a server sends them back */
	CARRIER_LINES,	   /* the same, line by line */
	CARRIER_PROXY,	   /* two connections are joined */
	CARRIER_PIPES,	   /* one pipe is read, another one written */
	CARRIER_COPY,	   /* one file is read, another one written */
	CARRIER_TAIL,	   /* a file is followed, into a pipe */
	CARRIER_DATAGRAMS, /* received from one, and sent to another */
	CARRIER_CHILD,	   /* through `cat` */
	CARRIERS,
};

/*
 * Carries bytes of that seed on an executor of that kind; and, if `other` is
 * not NULL, some of the operators on one of that kind. Returns how many calls
 * were hindered.
 */
uint64_t carry(enum carrier carrier, uint64_t seed, const struct kind *kind,
	       const struct kind *other);

#endif
