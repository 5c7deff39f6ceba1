#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# stalled.sh PROGRAM: it says who holds the others up, and why.
set -eu

said=$("$1")
expected='2 held up by: ignore < acquire waits for a permit in acquire'
if [ "$said" != "$expected" ]; then
	echo "it says: $said"
	exit 1
fi
