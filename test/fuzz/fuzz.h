/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that take any bytes: one function each, as libFuzzer calls it. With
 * clang libFuzzer makes the bytes, led by what they reach; elsewhere drawn.c
 * does, by a seed. What a target finds wrong fails an assert().
 */
#ifndef WEIR_TEST_FUZZ_H
#define WEIR_TEST_FUZZ_H

#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* For drawn.c: bytes that mean something to the target, and how many it begins
 * with that may be any. */
extern const char fuzz_alphabet[];
extern const size_t fuzz_head;

/* The next byte; 0: there is none. */
static inline uint8_t fuzz_byte(const uint8_t **bytes, size_t *n)
{
	return *n ? (--*n, *(*bytes)++) : 0;
}

#endif
