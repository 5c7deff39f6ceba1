#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# elsewhere.sh PROGRAM FILE WHERE: the program ends well and prints exactly that,
# each time, when a part of each of its flows runs on the executor WHERE. In a
# soak it does a thousand times.
set -eu

n=20
[ "${WEIR_SOAK:-}" != 1 ] || n=1000
export ELSEWHERE="$3"
while [ "$n" -gt 0 ]; do
	# shellcheck disable=SC2086 # several words, or none
	out=$(${MESON_EXE_WRAPPER-} "$1")
	printf '%s\n' "$out" | diff "$2" -
	n=$((n - 1))
done
