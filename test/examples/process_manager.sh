#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# process_manager.sh PROGRAM: what was accepted has finished, the rest has
# overflowed, and no more than 50 ran at a time. How many overflow depends on
# how late the machine is.
set -eu

out=$("$1")
printf '%s\n' "$out"
printf '%s\n' "$out" | tr -d , | awk '
{
	good = NF == 10 && $2 == $4 && $2 + $6 == 1000 && $10 > 0 && $10 <= 50
}
END { exit !(NR == 1 && good) }'
